//! `unruffled race`.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use unruffled_lab::capture::reason;
use unruffled_lab::comparison_sweep::{ComparisonAt, ComparisonSweep};
use unruffled_lab::{Error, Scenario};
use unruffled_race::{
    Competitor, Course, Entry, Failure, Finished, Length, Recording, Refusal, Resequence,
    ResequencerPlace, check_overrides, dcr_t20,
};
use unruffled_scenario::flags;

use crate::number;
use crate::output::{self, Kind, Report, Rule, Showable, Written};

#[derive(Args)]
pub(crate) struct Arguments {
    /// A built-in scenario (half-late, few-late, in-order, …), a random path (SEED-NUMBER, such as
    /// 7-12) or a TOML file, whose duration and seeds a race does not take; dcr-t20 repeats a paper's
    /// table
    #[arg(default_value = "half-late", value_parser = NonEmptyStringValueParser::new())]
    scenario: String,
    /// Congestion controls of the kernel to run, or none; unruffled and unruffled+bbr are loaded for
    /// the race [default: what it has of cubic, reno, bbr]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    kernel: Vec<String>,
    /// Our senders to run, instead of the scenario's, or none (see `unruffled variants`)
    #[arg(long, value_delimiter = ',', value_name = "NAMES", conflicts_with = "reverse")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    variants: Vec<String>,
    /// Foreign stacks to run, each with its own receiver: quinn, quinn+bbr, quinn:packet_threshold=10;
    /// `make stacks` builds their drivers (peers/stacks)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    stack: Vec<String>,
    /// Folder of the drivers of foreign stacks
    #[arg(long, value_name = "FOLDER", default_value = "target/stacks")]
    stacks: PathBuf,
    /// Let the kernel send to our stack, instead of any sender to the kernel
    #[arg(long)]
    reverse: bool,
    /// Let all send at once and share the path, instead of one after another
    #[arg(long)]
    together: bool,
    /// Let each kernel also send to a receiver whose packets `resequence` puts in order, there or on a
    /// gateway before it
    #[arg(long, value_name = "PLACE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "receiver", conflicts_with_all = ["reverse", "together"])]
    resequence: Option<Place>,
    /// Let another transfer of 10 s over the same path come before each to a resequencer, which learns
    /// from it how late packets are
    #[arg(long, requires = "resequence")]
    warm: bool,
    /// Duration of each transfer, instead of the scenario's [default: 30 s]
    #[arg(long, value_name = "TIME", value_parser = unruffled_units::parse_duration)]
    #[arg(allow_hyphen_values = true)]
    duration: Option<unruffled_units::Duration>,
    /// Send this many octets, however long it takes: 33MB
    #[arg(long, value_name = "OCTETS", value_parser = unruffled_units::parse_bytes)]
    #[arg(allow_hyphen_values = true)]
    #[arg(conflicts_with = "duration")]
    bytes: Option<u64>,
    /// Number of seeds, instead of the scenario's
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(allow_negative_numbers = true)]
    #[arg(value_parser = number::within::<u64>(1..=1000))]
    seeds: u64,
    /// Replace any key of the scenario; its beginning may be left out: alternate.extra=100ms
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Set a sysctl in the network namespace of each sending kernel: net.ipv4.tcp_recovery=0
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    sysctl: Vec<(String, String)>,
    #[command(flatten)]
    results: output::Results,
    /// Write the packets at the left end, first seed, as pcapng: an interface for each heat
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
}

/// Place of a resequencer.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Place {
    /// On the receiver
    Receiver,
    /// On a gateway that forwards to the receiver
    Gateway,
}

impl Arguments {
    fn resequence(&self) -> Option<Resequence> {
        let place = match self.resequence? {
            Place::Receiver => ResequencerPlace::Receiver,
            Place::Gateway => ResequencerPlace::Gateway,
        };
        Some(Resequence { place, warm: self.warm })
    }
}

/// Default length of a transfer.
const DEFAULT_LENGTH: Length = Length::Time(Duration::from_secs(30));

/// Parses a sysctl of TCP, which each network namespace has for itself.
fn setting(text: &str) -> Result<(String, String), String> {
    let error = || {
        format!("expected net.ipv4.tcp_NAME=VALUE, such as net.ipv4.tcp_recovery=0, found {text}")
    };
    let (key, value) = text.split_once('=').ok_or_else(error)?;
    let name = key.strip_prefix("net.ipv4.tcp_").ok_or_else(error)?;
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if name.is_empty() || !plain || value.is_empty() {
        return Err(error());
    }
    Ok((key.to_owned(), value.to_owned()))
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    match execute(arguments) {
        Ok(status) => status,
        Err(error) => crate::refuse(error),
    }
}

fn execute(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    check_overrides(&arguments.set)?;
    let text = flags::text(&arguments.scenario, &arguments.set)?;
    let scenario = Scenario::parse_for_real_packets(&arguments.scenario, &text, &arguments.set)?;
    for (flag, zero) in [
        ("--duration", arguments.duration == Some(unruffled_units::Duration::ZERO)),
        ("--bytes", arguments.bytes == Some(0)),
    ] {
        if zero {
            return Err(format!("{flag}: expected more than none").into());
        }
    }
    let competitors = competitors(arguments, &scenario)?;
    let kernel = |competitor: &Competitor| matches!(competitor, Competitor::Kernel(_));
    if !arguments.sysctl.is_empty() && !competitors.iter().any(kernel) {
        return Err("--sysctl: no kernel sends: expected some by --kernel".into());
    }
    if arguments.pcap.is_some()
        && let Some(competitor) = competitors.iter().find(|competitor| !competitor.is_real())
    {
        return Err(unruffled_race::Error::from(Refusal::StackRecorded(competitor.name())).into());
    }
    let report = arguments.results.report(&format!("race-{}", scenario.name));
    let recording = Written("the recording", arguments.pcap.as_deref(), Rule::Ours(Kind::Capture));
    let files: Vec<Written<'_>> = report.iter().map(Report::output).chain([recording]).collect();
    let kept = [("the scenario", Some(Path::new(&arguments.scenario)))];
    output::check(&kept, &files, arguments.results.force)?;
    let race = |recording: Option<&mut Recording<Output>>| {
        if arguments.scenario == dcr_t20::NAME {
            sweep(arguments, &scenario, &competitors, recording)
        } else {
            let finished = run(arguments, &scenario, &competitors, recording)?;
            Ok(Results::One(finished))
        }
    };
    let results = match &arguments.pcap {
        None => race(None)?,
        Some(path) => {
            let mut results = None;
            let written = output::write(path, |file| {
                let mut recording = Recording::new(file).map_err(reason)?;
                if results.insert(race(Some(&mut recording))).is_err() {
                    // An error here keeps an earlier recording.
                    return Err(std::io::ErrorKind::Other.into());
                }
                recording.finish().map_err(reason)
            });
            let results = results.transpose()?;
            written.map_err(|e| Error::output(path, e))?;
            crate::print_notice(&format!("packets at the left end, seed 1: {}", path.display()));
            results.ok_or("no race")?
        }
    };
    let failures = results.failures();
    failures.iter().for_each(|failure| crate::print_notice(&format!("unruffled: {failure}")));
    let shown: &dyn Showable = match &results {
        Results::One(finished) => &finished.comparison,
        Results::Sweep(sweep, _) => sweep,
    };
    let written = arguments.results.write(shown, report.as_ref());
    let printed = crate::print(arguments.results.text(shown));
    written?;
    Ok(if failures.is_empty() { printed } else { ExitCode::FAILURE })
}

/// Results of one race, or of one for each value of a paper's table.
enum Results {
    One(Finished),
    /// The races, and the failed transfers.
    Sweep(ComparisonSweep, Vec<Failure>),
}

impl Results {
    fn failures(&self) -> &[Failure] {
        match self {
            Self::One(finished) => &finished.failures,
            Self::Sweep(_, failures) => failures,
        }
    }
}

/// Runs the races of table 20 of TCP-DCR.
fn sweep(
    arguments: &Arguments,
    table: &Scenario,
    competitors: &[Competitor],
    mut recording: Option<&mut Recording<Output>>,
) -> Result<Results, Box<dyn std::error::Error>> {
    let mut points = Vec::new();
    let mut failures = Vec::new();
    for deviation in dcr_t20::DEVIATIONS {
        let name = format!("name={}-{deviation}ms", dcr_t20::NAME);
        let mut overrides = vec![name, format!("{}={deviation} ms", dcr_t20::KEY)];
        overrides.extend_from_slice(&arguments.set);
        let scenario = Scenario::load(dcr_t20::NAME, &overrides)?;
        let finished = run(arguments, &scenario, competitors, recording.as_deref_mut())?;
        failures.extend(finished.failures);
        points.push(ComparisonAt { value: deviation, comparison: finished.comparison });
    }
    let sweep = ComparisonSweep {
        name: dcr_t20::NAME.to_owned(),
        title: table.title.clone(),
        source: table.source.clone(),
        quantity: dcr_t20::QUANTITY.to_owned(),
        points,
        paper: Some(dcr_t20::paper()),
    };
    Ok(Results::Sweep(sweep, failures))
}

fn run(
    arguments: &Arguments,
    scenario: &Scenario,
    competitors: &[Competitor],
    recording: Option<&mut Recording<Output>>,
) -> Result<Finished, unruffled_race::Error> {
    let length = match (arguments.bytes.or(scenario.bytes()), arguments.duration) {
        (_, Some(time)) => Length::Time(Duration::from_nanos(time.as_nanos())),
        (Some(octets), None) => Length::Bytes(octets),
        (None, None) => DEFAULT_LENGTH,
    };
    let course = Course {
        scenario,
        competitors,
        length,
        seeds: arguments.seeds,
        together: arguments.together,
        reverse: arguments.reverse,
        sysctls: &arguments.sysctl,
        resequence: arguments.resequence(),
    };
    with_progress(&course, recording)
}

/// Returns the competitors that the flags select.
fn competitors(
    arguments: &Arguments,
    scenario: &Scenario,
) -> Result<Vec<Competitor>, unruffled_race::Error> {
    let entry = Entry {
        scenario: &arguments.scenario,
        set: &arguments.set,
        kernels: &arguments.kernel,
        variants: &arguments.variants,
        stacks: &arguments.stack,
        drivers: &arguments.stacks,
        together: arguments.together,
        reverse: arguments.reverse,
        resequence: arguments.resequence.is_some(),
    };
    entry.competitors(scenario)
}

type Output = BufWriter<std::fs::File>;

fn with_progress(
    course: &Course<'_>,
    recording: Option<&mut Recording<Output>>,
) -> Result<Finished, unruffled_race::Error> {
    let template = "{msg} [{wide_bar}] {pos}/{len} heats, {elapsed}";
    let bar = output::bar(Some(course.heats()), template);
    let mut begun = 0;
    let finished = course.run(recording, |names| {
        bar.set_message(names.to_owned());
        bar.set_position(begun);
        begun += 1;
    });
    bar.finish_and_clear();
    finished
}
