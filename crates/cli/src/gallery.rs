//! `unruffled compare --all` and `--random`: every sender over many paths.

use std::path::{Path, PathBuf};

use clap::Args;
use unruffled_lab::Error;
use unruffled_lab::gallery;

use crate::compare::Arguments;
use crate::output;

/// Which paths.
#[derive(Args)]
pub(crate) struct Paths {
    /// Run all senders over all built-in scenarios, each for 100 s at most
    #[arg(long, conflicts_with_all = ["scenario", "random"])]
    pub(crate) all: bool,
    /// Run all senders over so many paths drawn at random
    #[arg(long, value_name = "N", conflicts_with = "scenario",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) random: Option<u32>,
    /// What the random paths are drawn from
    #[arg(long, value_name = "SEED", default_value_t = 1, requires = "random")]
    pub(crate) draw: u64,
}

impl Paths {
    /// Whether there are several.
    pub(crate) fn several(&self) -> bool {
        self.all || self.random.is_some()
    }
}

/// What to print, and what became of the report.
pub(crate) fn execute(arguments: &Arguments) -> Result<(String, Result<(), Error>), Error> {
    let (mut overrides, flags) = arguments.overrides();
    if arguments.seeds.is_none() {
        overrides.push("seeds=1".to_owned());
    }
    let paths = &arguments.paths;
    let scenarios = match paths.random {
        Some(count) => gallery::drawn(paths.draw, count, &overrides),
        None => gallery::built_in(&overrides, arguments.duration.is_some()),
    };
    let scenarios = scenarios.map_err(|error| error.by_flag(&flags))?;
    let senders = match arguments.variants.as_slice() {
        [] => gallery::senders(),
        names => names.to_vec(),
    };
    let report: Option<PathBuf> = arguments.results.report_path("gallery");
    output::check(Path::new("unruffled"), &[("the report", report.as_deref())])?;
    let runs = gallery::runs(&scenarios, senders.len());
    let bar = output::bar(Some(runs), "[{wide_bar}] {pos}/{len} runs, {eta}");
    let pool = arguments.pool()?;
    let found =
        pool.install(|| gallery::gallery(&scenarios, &senders, "--variants", || bar.inc(1)));
    bar.finish_and_clear();
    let found = found?;
    let written = arguments.results.write(&found, report.as_deref());
    Ok((arguments.results.text(&found), written))
}
