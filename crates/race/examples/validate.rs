//! Compares simulator and wire: goodput of the same scenarios and senders, as a Markdown table.
//!
//! `cargo run --release -p unruffled-race --example validate`, as root; twenty minutes. It fails if a
//! cell differs by more than a tenth, and prints the confidence interval of each difference. With
//! `--features unruffled-kernel/bpf` the last column is the kernel's own TCP under `unruffled attach`,
//! beside its prediction.

use std::process::ExitCode;
use std::time::Duration;

use rayon::prelude::*;
use unruffled_lab::cancel::never;
use unruffled_lab::record::Comparison;
use unruffled_lab::statistics::Estimate;
use unruffled_lab::{Scenario, compare};
use unruffled_race::{Competitor, Course, Length, Recording};

/// A line of the table.
struct Scene {
    /// Name in the table.
    what: &'static str,
    scenario: &'static str,
    /// Overrides of the scenario's keys.
    changes: &'static [&'static str],
    /// Number of seeds: more where chance has more influence.
    seeds: u64,
    /// Whether the cells of our senders must agree.
    held: bool,
    /// Whether the kernel's cell must agree.
    kernel_held: bool,
}

const SCENES: [Scene; 6] = [
    Scene {
        what: "in order",
        scenario: "in-order",
        changes: &[],
        seeds: 1,
        held: true,
        kernel_held: true,
    },
    Scene {
        what: "0.5 % lost",
        scenario: "in-order",
        changes: &["link.bottleneck.loss.fraction=0.5%"],
        seeds: 6,
        held: true,
        // RFC 9438 lets the window grow faster beyond its earlier maximum; Linux does not.
        kernel_held: false,
    },
    Scene {
        what: "10 % late by N(25, 8) ms",
        scenario: "few-late",
        changes: &["delayed.fraction=10%", "delayed.mean=25ms", "delayed.deviation=8ms"],
        seeds: 6,
        held: true,
        kernel_held: true,
    },
    Scene {
        what: "every second 50 ms late",
        scenario: "half-late",
        changes: &["alternate.extra=50ms"],
        seeds: 1,
        held: true,
        kernel_held: true,
    },
    Scene {
        what: "5 % late by N(200, 67) ms",
        scenario: "few-late",
        changes: &[],
        seeds: 6,
        held: true,
        kernel_held: true,
    },
    // With windows of two or three segments, single acknowledgements decide which packet takes which
    // path.
    Scene {
        what: "every second 200 ms late (not held)",
        scenario: "half-late",
        changes: &[],
        seeds: 1,
        held: false,
        kernel_held: true,
    },
];

const VARIANTS: [&str; 5] = ["sack", "rr-ta", "dcr-ack", "tcp-pr-sack", "rack"];

/// Last column: the kernel's own TCP under `unruffled attach`, beside the engine's prediction.
const KERNEL: &str = "the kernel's unruffled";
const PREDICTION: &str = "unruffled+cubic";

/// Duration of each transfer.
const TRANSFER_SECONDS: u64 = 30;

/// Number of concurrent races. A race at 10 Mb/s needs a fifth of a processor.
const CONCURRENT_RACES: usize = 3;

/// Maximum difference of a cell, as a share of the simulated goodput.
const MAX_DIFFERENCE: f64 = 0.1;

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

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Prints the table and returns whether all cells that must agree do.
fn validate() -> Fallible<bool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(CONCURRENT_RACES).build()?;
    // Loaded for all races. If that fails, the column is left out.
    let mut hold = unruffled_kernel::Hold::new(unruffled_kernel::Growth::Cubic);
    let registered = hold.ensure();
    if let Err(reason) = &registered {
        eprintln!("without {KERNEL}: {reason}");
    }
    let columns: Vec<&str> =
        VARIANTS.into_iter().chain(registered.is_ok().then_some(KERNEL)).collect();
    let tasks: Vec<_> = SCENES.iter().flat_map(|s| columns.iter().map(move |c| (s, *c))).collect();
    let cells: Vec<_> = pool.install(|| {
        tasks.par_iter().with_max_len(1).map(|(scene, variant)| cell(scene, variant)).collect()
    });
    println!("| path | seeds | {} |", columns.join(" | "));
    println!("|---|---|{}", "---|".repeat(columns.len()));
    let mut agree = true;
    let mut late = Duration::ZERO;
    let mut cells = cells.into_iter();
    for scene in &SCENES {
        let mut line = format!("| {} | {} |", scene.what, scene.seeds);
        for (column, cell) in columns.iter().zip(cells.by_ref()) {
            let Cell { simulated, difference: Estimate { mean, half_width }, lateness } = cell?;
            let wire = simulated * (1.0 + mean);
            let agrees = mean.abs() <= MAX_DIFFERENCE;
            let bold = if agrees { "" } else { "**" };
            let interval = if scene.seeds > 1 {
                format!(" ± {:.1}", half_width * 100.0)
            } else {
                String::new()
            };
            let percent = mean * 100.0;
            line +=
                &format!(" {simulated:.2} / {wire:.2}, {bold}{percent:+.1}{interval} %{bold} |");
            agree &= agrees || !(if *column == KERNEL { scene.kernel_held } else { scene.held });
            late = late.max(lateness);
        }
        println!("{line}");
    }
    println!("\nThe emulator's p99 of lateness: at most {} us.", late.as_micros());
    Ok(agree)
}

/// A cell of the table.
struct Cell {
    /// Mean goodput of the simulator, in Mb/s.
    simulated: f64,
    /// Difference of the wire's goodput over the same seeds, as a share of `simulated`.
    difference: Estimate,
    /// 99th percentile of the emulator's lateness.
    lateness: Duration,
}

fn cell(scene: &Scene, variant: &str) -> Fallible<Cell> {
    let run = [format!("duration={TRANSFER_SECONDS}s"), format!("seeds={}", scene.seeds)];
    let changes = scene.changes.iter().map(|&change| change.to_owned()).chain(run);
    let scenario = Scenario::load(scene.scenario, &changes.collect::<Vec<_>>())?;
    let simulated = if variant == KERNEL { PREDICTION } else { variant };
    let variants = scenario.senders(&[simulated.to_owned()], "VARIANTS")?;
    let simulated = compare::compare(&scenario, &variants, never(), || ())?;
    let competitors = if variant == KERNEL {
        Competitor::kernels(&["unruffled".to_owned()])?
    } else {
        variants.into_iter().map(|v| Competitor::Ours(Box::new(v))).collect()
    };
    let course = Course {
        scenario: &scenario,
        competitors: &competitors,
        length: Length::Time(Duration::from_secs(TRANSFER_SECONDS)),
        seeds: scene.seeds,
        together: false,
        reverse: false,
        sysctls: &[],
        resequence: None,
    };
    eprintln!("{}: {variant}", scene.what);
    let raced = course.run(None::<&mut Recording<Vec<u8>>>, |_| ())?;
    if let Some(failure) = raced.failures.first() {
        return Err(failure.to_string().into());
    }
    let lateness = Duration::from_nanos(raced.lateness.quantile(0.99).as_nanos());
    let simulated = goodputs(&simulated);
    let wire = goodputs(&raced.comparison);
    let expected = Estimate::of(simulated.iter().copied()).mean;
    let difference = Estimate::of(wire.iter().zip(&simulated).map(|(w, s)| (w - s) / expected));
    Ok(Cell { simulated: expected, difference, lateness })
}

/// Returns the goodput of each seed of the only variant, in Mb/s.
fn goodputs(comparison: &Comparison) -> Vec<f64> {
    comparison.variants[0].rows.iter().map(|row| row.flow.goodput_bps / 1e6).collect()
}
