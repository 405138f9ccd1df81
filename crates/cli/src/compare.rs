//! `unruffled compare`.

mod arguments;
mod gallery;

use std::path::Path;
use std::process::ExitCode;

use unruffled_lab::cancel::never;
use unruffled_lab::capture::{Capture, reason};
use unruffled_lab::record::Comparison;
use unruffled_lab::{Error, Scenario, compare, report as page, run};
use unruffled_scenario::{flags, place_of_variants};
use unruffled_tcp::Variant;

pub(crate) use arguments::Arguments;

use crate::Printed;
use crate::output::{self, Kind, Report, Rule, Written};

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    let several = arguments.paths.several();
    match if several { gallery::execute(arguments) } else { execute(arguments) } {
        Ok((text, report)) => {
            let printed = crate::print(text);
            // Results are shown even if the report could not be written.
            report.map_or_else(crate::refuse, |()| printed)
        }
        Err(error) => crate::refuse(error),
    }
}

/// Returns the text to print, and the result of writing the files.
fn execute(arguments: &Arguments) -> Result<(Printed, Result<(), Error>), Error> {
    let (overrides, given) = arguments.overrides()?;
    let text = flags::text(&arguments.scenario, &arguments.set)?;
    let scenario = Scenario::parse(&arguments.scenario, &text, &overrides)
        .map_err(|error| error.by_flag(&given))?;
    let variants = match arguments.variants.as_slice() {
        [] => {
            let place = place_of_variants(&arguments.scenario, &arguments.set);
            scenario.senders(&scenario.variants, &place)?
        }
        names => scenario.senders(names, "--variants")?,
    };
    let report = arguments.results.report(&scenario.name);
    let mut files: Vec<Written<'_>> = report.iter().map(Report::output).collect();
    files.extend([
        Written("the capture", arguments.pcap.as_deref(), Rule::Ours(Kind::Capture)),
        Written("the thresholds", arguments.thresholds.as_deref(), Rule::Ours(Kind::Drawing)),
    ]);
    let kept = [("the scenario", Some(Path::new(&arguments.scenario)))];
    output::check(&kept, &files, arguments.results.force)?;

    let pool = arguments.pool()?;
    if let (Some(path), Some(variant)) = (&arguments.pcap, variants.first()) {
        capture(&scenario, variant, path)?;
    }
    let comparison = pool.install(|| with_progress(&scenario, &variants))?;
    let mut written = arguments.results.write(&comparison, report.as_ref());
    if let Some(path) = &arguments.thresholds {
        match output::write_text(path, &page::thresholds(&comparison)) {
            Ok(()) => crate::print_notice(&format!("thresholds: {}", path.display())),
            Err(e) => written = written.and(Err(Error::output(path, e))),
        }
    }
    Ok((arguments.results.text(&comparison), written))
}

fn with_progress(scenario: &Scenario, variants: &[Variant]) -> Result<Comparison, Error> {
    let runs = compare::runs(scenario, variants);
    let bar = output::bar(Some(runs), "{msg} [{wide_bar}] {pos}/{len} runs, {eta}");
    bar.set_message(scenario.name.clone());
    let comparison = compare::compare(scenario, variants, never(), || bar.inc(1));
    bar.finish_and_clear();
    comparison.map_err(Error::from)
}

fn capture(scenario: &Scenario, variant: &Variant, path: &Path) -> Result<(), Error> {
    let bar = output::bar(None, "{msg}");
    bar.set_message("recording packets");
    let written = output::write(path, |file| {
        let mut capture = Capture::new(file).map_err(reason)?.of(scenario.first_compared());
        run::run(scenario, variant, 1, Some(&mut capture), never())
            .map_err(std::io::Error::other)?;
        capture.finish().map_err(reason)
    });
    bar.finish_and_clear();
    written.map_err(|e| Error::output(path, e))?;
    crate::print_notice(&format!("packets of {}, seed 1: {}", variant.name(), path.display()));
    Ok(())
}
