//! `unruffled compare`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use unruffled_lab::capture::{Capture, reason};
use unruffled_lab::record::Comparison;
use unruffled_lab::{Error, Scenario, compare, report, run};
use unruffled_tcp::Variant;

use crate::gallery::Paths;
use crate::output::{self, Results};

#[derive(Args)]
pub(crate) struct Arguments {
    /// A built-in scenario (rr-3, dcr-4, burst) or a TOML file
    #[arg(default_value = "rr-3")]
    scenario: String,
    /// Senders to compare, in place of the scenario's (see `unruffled variants`)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) variants: Vec<String>,
    /// How many seeds to run, in place of the scenario's
    #[arg(long, value_name = "N")]
    pub(crate) seeds: Option<String>,
    /// Simulated time, in place of the scenario's, such as "100 s"
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// Replace any key of the scenario; its beginning may be left out: delayed.fraction=30%
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    pub(crate) paths: Paths,
    #[command(flatten)]
    pub(crate) results: Results,
    /// Write the packets at the first variant's sender, first seed, as pcapng
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "random"])]
    pcap: Option<PathBuf>,
    /// Write what each variant takes for a loss, over time (first seed), as SVG
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "random"])]
    thresholds: Option<PathBuf>,
    /// Threads to run on [default: all cores]; the result is the same on any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

impl Arguments {
    /// The keys that flags replace, and which flag gave which key.
    pub(crate) fn overrides(&self) -> (Vec<String>, Vec<(&'static str, &'static str)>) {
        let mut overrides = self.set.clone();
        overrides.extend(self.seeds.as_ref().map(|n| format!("seeds={n}")));
        overrides.extend(self.duration.as_ref().map(|t| format!("duration={t}")));
        let flags = [
            ("seeds", "--seeds", self.seeds.is_some()),
            ("duration", "--duration", self.duration.is_some()),
        ];
        let given = flags.into_iter().filter_map(|(key, flag, given)| given.then_some((key, flag)));
        (overrides, given.collect())
    }

    /// The threads to run on.
    pub(crate) fn pool(&self) -> Result<rayon::ThreadPool, Error> {
        crate::pool(self.jobs)
    }
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    let several = arguments.paths.several();
    match if several { crate::gallery::execute(arguments) } else { execute(arguments) } {
        Ok((text, report)) => {
            let printed = crate::print(&text);
            // What was found is shown even if the report could not be written.
            report.map_or_else(crate::refuse, |()| printed)
        }
        Err(error) => crate::refuse(error),
    }
}

/// What to print, and what became of the files.
fn execute(arguments: &Arguments) -> Result<(String, Result<(), Error>), Error> {
    let (overrides, flags) = arguments.overrides();
    let scenario =
        Scenario::load(&arguments.scenario, &overrides).map_err(|error| error.by_flag(&flags))?;
    let variants = match arguments.variants.as_slice() {
        [] => compare::variants(
            &scenario,
            &scenario.variants,
            &format!("{}: variants", arguments.scenario),
        )?,
        names => compare::variants(&scenario, names, "--variants")?,
    };
    let report_path = arguments.results.report_path(&scenario.name);
    output::check(
        Path::new(&arguments.scenario),
        &[
            ("the report", report_path.as_deref()),
            ("the capture", arguments.pcap.as_deref()),
            ("the thresholds", arguments.thresholds.as_deref()),
        ],
    )?;

    let pool = arguments.pool()?;
    if let (Some(path), Some(variant)) = (&arguments.pcap, variants.first()) {
        capture(&scenario, variant, path)?;
    }
    let comparison = pool.install(|| with_progress(&scenario, &variants))?;
    let mut written = arguments.results.write(&comparison, report_path.as_deref());
    if let Some(path) = &arguments.thresholds {
        match output::write_text(path, &report::thresholds(&comparison)) {
            Ok(()) => crate::tell(&format!("thresholds: {}", path.display())),
            Err(e) => written = written.and(Err(Error::output(path, e))),
        }
    }
    Ok((arguments.results.text(&comparison), written))
}

fn with_progress(scenario: &Scenario, variants: &[Variant]) -> Result<Comparison, Error> {
    let runs = compare::runs(scenario, variants);
    let bar = output::bar(Some(runs), "{msg} [{wide_bar}] {pos}/{len} runs, {eta}");
    bar.set_message(scenario.name.clone());
    let comparison = compare::compare(scenario, variants, || bar.inc(1));
    bar.finish_and_clear();
    comparison.map_err(Error::from)
}

fn capture(scenario: &Scenario, variant: &Variant, path: &Path) -> Result<(), Error> {
    let written = output::write(path, |file| {
        let capture = Capture::new(file).map_err(reason)?;
        let run = run::run(scenario, variant, 1, capture).map_err(std::io::Error::other)?;
        run.1.finish().map_err(reason)
    });
    written.map_err(|e| Error::output(path, e))?;
    crate::tell(&format!("packets of {}, seed 1: {}", variant.name(), path.display()));
    Ok(())
}
