//! `unruffled compare`.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use unruffled_lab::capture::Capture;
use unruffled_lab::record::Comparison;
use unruffled_lab::{Error, Scenario, compare, report, run, table};
use unruffled_tcp::Variant;

#[derive(Args)]
pub(crate) struct Arguments {
    /// A built-in scenario (rr-3, dcr-4) or a TOML file
    #[arg(default_value = "rr-3")]
    scenario: String,
    /// Senders to compare, in place of the scenario's (see `unruffled variants`)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    variants: Vec<String>,
    /// How many seeds to run, in place of the scenario's
    #[arg(long, value_name = "N")]
    seeds: Option<String>,
    /// Simulated time, in place of the scenario's, such as "100 s"
    #[arg(long, value_name = "TIME")]
    duration: Option<String>,
    /// Replace any key of the scenario; its beginning may be left out: delayed.fraction=30%
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where the HTML report goes [default: unruffled-SCENARIO.html]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write no report
    #[arg(long, conflicts_with = "report")]
    no_report: bool,
    /// Print one JSON object in place of the table
    #[arg(long)]
    json: bool,
    /// Print one CSV line per run in place of the table
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Write the packets at the first variant's sender, first seed, as pcapng
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Threads to run on [default: all cores]; the result is the same on any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    match execute(arguments) {
        Ok(text) => crate::print(&text),
        Err(error) => crate::refuse(error),
    }
}

fn execute(arguments: &Arguments) -> Result<String, Error> {
    let mut overrides = arguments.set.clone();
    overrides.extend(arguments.seeds.as_ref().map(|n| format!("seeds={n}")));
    overrides.extend(arguments.duration.as_ref().map(|t| format!("duration={t}")));
    let scenario = Scenario::load(&arguments.scenario, &overrides)?;
    let variants = match arguments.variants.as_slice() {
        [] => compare::variants(
            &scenario,
            &scenario.variants,
            &format!("{}: variants", arguments.scenario),
        )?,
        names => compare::variants(&scenario, names, "--variants")?,
    };
    // What cannot be written should be known before the work, not after it.
    let report_path = (!arguments.no_report).then(|| {
        let file_name = || PathBuf::from(format!("unruffled-{}.html", scenario.name));
        arguments.report.clone().unwrap_or_else(file_name)
    });
    for path in [&report_path, &arguments.pcap].into_iter().flatten() {
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .map_err(|e| Error::output(path, e))?;
    }

    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.jobs.map_or(0, usize::from))
        .build()
        .map_err(|e| Error::output(Path::new("threads"), std::io::Error::other(e)))?;
    let comparison = pool.install(|| with_progress(&scenario, &variants))?;
    if let (Some(path), Some(variant)) = (&arguments.pcap, variants.first()) {
        capture(&scenario, variant, path)?;
    }
    if let Some(path) = &report_path {
        std::fs::write(path, report::html(&comparison)).map_err(|e| Error::output(path, e))?;
        eprintln!("report: {}", path.display());
    }
    Ok(if arguments.json {
        table::json(&comparison)
    } else if arguments.csv {
        table::csv(&comparison)
    } else {
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
        let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        table::render(&comparison, width, colour)
    })
}

fn with_progress(scenario: &Scenario, variants: &[Variant]) -> Result<Comparison, Error> {
    let bar = ProgressBar::new(compare::runs(scenario, variants));
    if let Ok(style) = ProgressStyle::with_template("{msg} [{wide_bar}] {pos}/{len} runs, {eta}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(scenario.name.clone());
    // Indicatif draws nothing where standard error is no terminal.
    let comparison = compare::compare(scenario, variants, || bar.inc(1));
    bar.finish_and_clear();
    comparison.map_err(Error::from)
}

fn capture(scenario: &Scenario, variant: &Variant, path: &Path) -> Result<(), Error> {
    let failed =
        |e: &dyn std::fmt::Display| Error::output(path, std::io::Error::other(e.to_string()));
    let file = File::create(path).map_err(|e| Error::output(path, e))?;
    let capture = Capture::new(BufWriter::new(file)).map_err(|e| failed(&e))?;
    let (_, capture) = run::run(scenario, variant, 1, capture)?;
    capture.finish().map_err(|e| failed(&e))?;
    eprintln!("packets of {}, seed 1: {}", variant.name(), path.display());
    std::io::stderr().flush().map_err(|e| Error::output(path, e))
}
