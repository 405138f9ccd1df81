//! `unruffled compare --all` and `--random`: every sender over many paths.

use unruffled_lab::cancel::never;
use unruffled_lab::{Error, gallery};
use unruffled_scenario::{Place, flags};

use super::arguments::Arguments;
use crate::{Printed, output};

/// Returns the text to print, and the result of writing the report.
pub(super) fn execute(arguments: &Arguments) -> Result<(Printed, Result<(), Error>), Error> {
    let (given, flags) = arguments.overrides()?;
    if given.iter().any(|set| flags::key(set) == "variants") {
        return Err(unruffled_scenario::Error::Key {
            place: Place::CommandLine("--set"),
            key: "variants".to_owned(),
            message: "the same senders run over every path: expected them by --variants".to_owned(),
        }
        .into());
    }
    let paths = &arguments.paths;
    let scenarios = match paths.random {
        Some(count) => gallery::drawn(paths.draw, count, &given),
        None => gallery::built_in(&given),
    };
    let scenarios = scenarios.map_err(|error| error.by_flag(&flags))?;
    let senders = match arguments.variants.as_slice() {
        [] => gallery::senders(),
        names => names.to_vec(),
    };
    let report = arguments.results.report("gallery");
    let files: Vec<_> = report.iter().map(output::Report::output).collect();
    output::check(&[], &files, arguments.results.force)?;
    let runs = gallery::runs(&scenarios, senders.len());
    let bar = output::bar(Some(runs), "[{wide_bar}] {pos}/{len} runs, {eta}");
    let pool = arguments.pool()?;
    let found = pool.install(|| {
        gallery::gallery(&scenarios, &senders, "--variants", &given, never(), || bar.inc(1))
    });
    bar.finish_and_clear();
    let found = found?;
    let written = arguments.results.write(&found, report.as_ref());
    Ok((arguments.results.text(&found), written))
}
