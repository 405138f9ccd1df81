//! Simulator against wire: the same scenarios and senders, goodput of both, as a Markdown table.
//!
//! `cargo run --release -p unruffled-race --example validate`, as root; some minutes. It fails if a
//! cell differs by more than a tenth.

use std::process::ExitCode;
use std::time::Duration;

use rayon::prelude::*;
use unruffled_lab::record::{Comparison, VariantRuns};
use unruffled_lab::{Scenario, compare};
use unruffled_race::{Competitor, Course, Length, Recording};

/// The scenarios: what the table calls them, their names, and what is changed in them.
const SCENARIOS: [(&str, &str, &[&str]); 6] = [
    ("in order", "in-order", &[]),
    ("0.5 % lost", "in-order", &["link.bottleneck.loss.fraction=0.5%"]),
    (
        "10 % late by N(25, 8) ms",
        "few-late",
        &["delayed.fraction=10%", "delayed.mean=25ms", "delayed.deviation=8ms"],
    ),
    ("every second 50 ms late", "half-late", &["alternate.extra=50ms"]),
    ("every second 200 ms late", "half-late", &[]),
    ("5 % late by N(200, 67) ms", "few-late", &[]),
];

const VARIANTS: [&str; 5] = ["sack", "rr-ta", "dcr-ack", "tcp-pr-sack", "rack"];

/// What goes in this time, once for each of so many seeds.
const SECONDS: u64 = 30;
const SEEDS: u64 = 2;

/// Scenarios that run side by side; a race at 10 Mb/s needs a fifth of a processor.
const AT_ONCE: usize = 3;

/// Cells may differ by so much.
const TOLERABLE: f64 = 0.1;

fn main() -> ExitCode {
    match validate() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("validate: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the table; whether all cells agree.
fn validate() -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
    println!("| path | {} |\n|---|{}", VARIANTS.join(" | "), "---|".repeat(VARIANTS.len()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(AT_ONCE).build()?;
    let lines: Vec<_> = pool.install(|| SCENARIOS.par_iter().map(line).collect());
    let (mut agree, mut late) = (true, Duration::ZERO);
    for line in lines {
        let (text, agrees, lateness) = line?;
        println!("{text}");
        agree &= agrees;
        late = late.max(lateness);
    }
    println!("\nThe emulator's p99 of lateness: at most {} us.", late.as_micros());
    Ok(agree)
}

/// A scenario's line, whether all of it agrees, and how late the emulator was.
fn line(
    &(what, name, changes): &(&str, &str, &[&str]),
) -> Result<(String, bool, Duration), Box<dyn std::error::Error + Send + Sync>> {
    let run = [format!("duration={SECONDS}s"), format!("seeds={SEEDS}")];
    let changes = changes.iter().map(|&change| change.to_owned()).chain(run);
    let scenario = Scenario::load(name, &changes.collect::<Vec<_>>())?;
    let variants = compare::variants(&scenario, &VARIANTS.map(str::to_owned), "VARIANTS")?;
    let simulated = compare::compare(&scenario, &variants, || ())?;
    let ours = variants.into_iter().map(|v| Competitor::Ours(Box::new(v)));
    let course = Course {
        scenario: &scenario,
        competitors: &ours.collect::<Vec<_>>(),
        length: Length::Time(Duration::from_secs(SECONDS)),
        seeds: SEEDS,
        together: false,
        reverse: false,
    };
    let started = |name: &str| eprintln!("{what}: {name}");
    let raced = course.run(None::<&mut Recording<Vec<u8>>>, started)?;
    if let Some(failure) = raced.failures.first() {
        return Err(failure.clone().into());
    }
    let (mut text, mut agree) = (format!("| {what} |"), true);
    for (simulated, wire) in goodputs(&simulated).zip(goodputs(&raced.comparison)) {
        let apart = wire / simulated - 1.0;
        let agrees = apart.abs() <= TOLERABLE;
        let (bold, percent) = (if agrees { "" } else { "**" }, apart * 100.0);
        let (simulated, wire) = (simulated / 1e6, wire / 1e6);
        text += &format!(" {simulated:.2} / {wire:.2}, {bold}{percent:+.1} %{bold} |");
        agree &= agrees;
    }
    Ok((text, agree, Duration::from_nanos(raced.lateness.quantile(0.99).as_nanos())))
}

/// The mean goodput of each variant, in bits per second.
fn goodputs(comparison: &Comparison) -> impl Iterator<Item = f64> {
    let mean = |v: &VariantRuns| {
        v.rows.iter().map(|row| row.goodput_bps).sum::<f64>() / v.rows.len() as f64
    };
    comparison.variants.iter().map(mean)
}
