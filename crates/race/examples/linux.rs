//! Compares the sender `linux` with the kernel that it models: goodput on random paths, as a Markdown
//! table.
//!
//! `cargo run --release -p unruffled-race --example linux -- [DRAW [PATHS]]`, as root; twenty minutes. The
//! paths are the first of the draw with one flow, at most 100 Mb/s and at least 1 ms of round trip. Each is
//! raced three times with the kernel's CUBIC, and simulated with twelve seeds. The example fails if the
//! simulator agrees with the kernel on less than four fifths of the paths.

use std::process::ExitCode;
use std::time::Duration;

use rayon::prelude::*;
use unruffled_lab::cancel::never;

use unruffled_lab::record::Comparison;
use unruffled_lab::statistics::Estimate;
use unruffled_lab::{Scenario, compare};
use unruffled_race::{Competitor, Course, Length, Recording};
use unruffled_scenario::random_path;

const DRAW: u64 = 20_261_140;
const PATHS: usize = 40;
const TRANSFER_SECONDS: u64 = 20;
const RACES: u64 = 3;
const SIMULATIONS: u64 = 12;

/// Number of concurrent races.
const CONCURRENT_RACES: usize = 2;

/// The bounds of the paths: rate in bit/s, and round-trip time in seconds.
const MAX_RATE: f64 = 100e6;
const MIN_RTT: f64 = 1e-3;

/// Maximum difference of a path that agrees, as a share of the kernel's goodput.
const MAX_DIFFERENCE: f64 = 0.1;
/// Minimum share of the paths that must agree.
const MIN_AGREEMENT: f64 = 0.8;
/// Ratio of goodputs beyond which a path is counted.
const MAX_RATIO: f64 = 1.5;

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Goodput on one path, in Mb/s.
struct Line {
    name: String,
    title: String,
    kernel: Vec<f64>,
    simulated: f64,
}

impl Line {
    fn ratio(&self) -> f64 {
        self.simulated / Estimate::of(self.kernel.iter().copied()).mean
    }

    /// Returns the smallest and the largest goodput of the kernel.
    fn range(&self) -> (f64, f64) {
        let kernel = self.kernel.iter().copied();
        (kernel.clone().fold(f64::INFINITY, f64::min), kernel.fold(0.0, f64::max))
    }

    fn agrees(&self) -> bool {
        let (low, high) = self.range();
        (self.ratio() - 1.0).abs() <= MAX_DIFFERENCE || (low..=high).contains(&self.simulated)
    }
}

fn main() -> ExitCode {
    match table() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("linux: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the table, and returns whether enough paths agree.
fn table() -> Fallible<bool> {
    let mut arguments = std::env::args().skip(1);
    let draw: u64 = arguments.next().map_or(Ok(DRAW), |text| text.parse())?;
    let wanted: usize = arguments.next().map_or(Ok(PATHS), |text| text.parse())?;
    let names: Vec<String> = (1..=10_000)
        .filter(|&number| can_be_raced(&random_path(draw, number)))
        .map(|number| format!("{draw}-{number}"))
        .take(wanted)
        .collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(CONCURRENT_RACES).build()?;
    let lines: Vec<Fallible<Line>> =
        pool.install(|| names.par_iter().with_max_len(1).map(|name| line(name)).collect());
    println!("| path | in words | kernel: mean (range) | `linux` | ratio | |");
    println!("|---|---|---:|---:|---:|---|");
    let (mut agree, mut beyond) = (0, 0);
    for line in lines {
        let line = line?;
        let (ratio, (low, high)) = (line.ratio(), line.range());
        let mean = Estimate::of(line.kernel.iter().copied()).mean;
        agree += usize::from(line.agrees());
        beyond += usize::from(!(1.0 / MAX_RATIO..=MAX_RATIO).contains(&ratio));
        let note = if line.agrees() { "" } else { "no" };
        println!(
            "| {} | {} | {mean:.2} ({low:.2} to {high:.2}) | {:.2} | {ratio:.2} | {note} |",
            line.name, line.title, line.simulated
        );
    }
    println!("\n{agree} of {} agree, {beyond} are beyond a factor of {MAX_RATIO}.", names.len());
    Ok(agree as f64 >= MIN_AGREEMENT * names.len() as f64)
}

/// Returns whether a race can carry the path: one flow, and a rate and a delay that the emulator keeps.
fn can_be_raced(text: &str) -> bool {
    let value = |key: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        let number: String = line.chars().filter(char::is_ascii_digit).collect();
        number.parse().unwrap_or(0.0)
    };
    let (rate, one_way_us) = (value("rate = "), value("delay = "));
    !text.contains("[[traffic]]") && rate <= MAX_RATE && 2.0 * one_way_us / 1e6 >= MIN_RTT
}

/// Races and simulates one path.
fn line(name: &str) -> Fallible<Line> {
    eprintln!("{name}");
    let load = |seeds: u64| {
        let changes = [format!("duration={TRANSFER_SECONDS}s"), format!("seeds={seeds}")];
        Scenario::load(name, &changes)
    };
    let simulated = load(SIMULATIONS)?;
    let variants = simulated.senders(&["linux".to_owned()], "VARIANTS")?;
    let simulated = goodputs(&compare::compare(&simulated, &variants, never(), || ())?);
    let scenario = load(RACES)?;
    let course = Course {
        scenario: &scenario,
        competitors: &Competitor::kernels(&["cubic".to_owned()])?,
        length: Length::Time(Duration::from_secs(TRANSFER_SECONDS)),
        seeds: RACES,
        together: false,
        reverse: false,
        sysctls: &[],
        resequence: None,
    };
    let raced = course.run(None::<&mut Recording<Vec<u8>>>, |_| ())?;
    if let Some(failure) = raced.failures.first() {
        return Err(failure.to_string().into());
    }
    Ok(Line {
        name: name.to_owned(),
        title: scenario.title.clone(),
        kernel: goodputs(&raced.comparison),
        simulated: Estimate::of(simulated).mean,
    })
}

/// Returns the goodput of each seed of the only variant, in Mb/s.
fn goodputs(comparison: &Comparison) -> Vec<f64> {
    comparison.variants[0].rows.iter().map(|row| row.flow.goodput_bps / 1e6).collect()
}
