//! Comparison of fitted paths with the original ones: over the path that is fitted to a capture, the
//! captured sender has about the same goodput, and packets about the same lateness.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::one_link::scenario;
use super::paths::{CASES, analysed};
use unruffled_capture::Direction;
use unruffled_lab::cancel::never;
use unruffled_lab::capture::Capture;
use unruffled_lab::fit::{self, Fit};
use unruffled_lab::{Scenario, run};
use unruffled_measure::End;
use unruffled_tcp::Variant;

/// The number of fitted paths with a goodput within 15 % of the captured one, and of those whose best
/// sender is within 5 % of the best sender on the original path.
const MIN_CASES: usize = 20;

/// The runs of a sender over a path.
const SEEDS: u64 = 10;

/// The senders that are ranked.
const SENDERS: [&str; 5] = ["sack", "linux-reordering+cubic", "rack+cubic", "rr-ta", "unruffled"];

/// Returns the goodput of each sender over a path: the mean over enough seeds that bursts of losses
/// affect all senders alike.
fn goodputs(scenario: &Scenario) -> [f64; 5] {
    SENDERS.map(|name| {
        let variant = Variant::parse(name).expect("is a sender");
        let run = |seed| {
            run::run(scenario, &variant, seed, None, never()).expect("runs").flow.goodput_bps
        };
        (1..=SEEDS).map(run).sum::<f64>() / SEEDS as f64
    })
}

/// Fits a path to a direction.
fn fitted_to(direction: &Direction, sender: &str) -> Fit {
    let losses = fit::losses(direction);
    fit::fit("case.pcapng", direction, &losses, sender, never()).expect("fits")
}

#[test]
fn the_best_sender_on_a_fitted_path_is_about_the_best_on_the_original_path() {
    let mut wrong = Vec::new();
    for case in &CASES {
        let variant = Variant::parse(case.sender).unwrap();
        let mut octets = Vec::new();
        let mut capture = Capture::at(End::Sender, &mut octets).unwrap();
        let path = scenario(case, false);
        run::run(&path, &variant, 1, Some(&mut capture), never()).unwrap();
        capture.finish().unwrap();
        let fit = fitted_to(&analysed(octets), case.sender);
        let fitted = Scenario::parse("fitted", &fit.toml, &[]).unwrap();
        let truth = goodputs(&path);
        let predicted = goodputs(&fitted);
        let best = |of: &[f64; 5]| (0..5).max_by(|&a, &b| of[a].total_cmp(&of[b])).unwrap();
        let first = best(&predicted);
        let best = best(&truth);
        let share = truth[first] / truth[best];
        println!("{}: first {}, best {}, {share:.3}", case.name, SENDERS[first], SENDERS[best]);
        if share < 0.95 {
            wrong.push(format!("{}: {share:.3}: {predicted:.0?}, in fact {truth:.0?}", case.name));
        }
    }
    assert!(wrong.len() <= CASES.len() - MIN_CASES, "{}", wrong.join("\n"));
}

#[test]
fn the_goodput_over_a_fitted_path_is_that_of_the_capture() {
    let mut within = 0;
    for case in &CASES {
        let variant = Variant::parse(case.sender).unwrap();
        let mut octets = Vec::new();
        let mut capture = Capture::at(End::Sender, &mut octets).unwrap();
        run::run(&scenario(case, false), &variant, 1, Some(&mut capture), never()).unwrap();
        capture.finish().unwrap();
        let found = analysed(octets);
        let fit = fitted_to(&found, case.sender);
        let ratio = fit.simulated_bps / fit.observed_bps;
        println!(
            "{}: {:.2} Mb/s captured, {:.3} times that over the fitted path; late {:.2} %, {:.2} %; \
             distance {:?}",
            case.name,
            fit.observed_bps / 1e6,
            ratio,
            fit.late.0 * 100.0,
            fit.late.1 * 100.0,
            fit.distance
        );
        within += usize::from((ratio - 1.0).abs() <= 0.15);
    }
    println!("{within} of {} within 15 %", CASES.len());
    assert!(within >= MIN_CASES, "{within} within 15 %");
}

/// Returns a random path with late and lost packets, and its sender.
fn late_and_lost(dice: &mut Xoshiro256PlusPlus) -> (Scenario, &'static str) {
    let mbits: f64 = 3.0 * 15_f64.powf(dice.random());
    let delay_ms: f64 = 5.0 * 10_f64.powf(dice.random());
    let in_flight = mbits * 1e6 * delay_ms * 2e-3 / 12_000.0;
    let queue = (in_flight * dice.random_range(0.5..2.0)).max(20.0) as u64;
    let lost = 0.1 * 20_f64.powf(dice.random());
    let late = 1.0 * 15_f64.powf(dice.random());
    let late_ms = delay_ms * 2.0 * 0.2 * 10_f64.powf(dice.random());
    let distribution = match dice.random_range(0..3) {
        0 => format!("distribution = 'exponential', mean = '{late_ms:.2} ms'"),
        1 => format!("distribution = 'uniform', low = '0 ms', high = '{:.2} ms'", 2.0 * late_ms),
        _ => format!("mean = '{late_ms:.2} ms', deviation = '{:.2} ms'", late_ms / 3.0),
    };
    let sender = SENDERS[dice.random_range(0..SENDERS.len())];
    let toml = format!(
        "name = 'case'\nduration = '30 s'\nvariants = ['sack']\n\
         [tcp]\nmss = '1460 B'\nheader = '40 B'\nwindow = 4000\ninitial_window = 10\n\
         min_rto = '200 ms'\ndelayed_ack = '40 ms'\nbyte_counting = 2\n\
         [path]\nhops = ['l']\n\
         [link.l]\nrate = '{mbits:.2} Mbit/s'\ndelay = '{delay_ms:.2} ms'\nqueue = {queue}\n\
         loss = {{ fraction = '{lost:.3} %', packets = 'data' }}\n\
         delayed = {{ fraction = '{late:.2} %', {distribution}, packets = 'data' }}\n"
    );
    (Scenario::parse("case", &toml, &[]).expect("is a scenario"), sender)
}

/// Random paths that lose packets and make others late: a measurement, a few minutes long.
#[test]
#[ignore = "takes minutes; docs/measurements/2026-11-22-analyze-ground-truth.md has the figures"]
fn the_best_sender_on_fitted_paths_with_late_and_lost_packets() {
    let seed = std::env::var("UNRUFFLED_SEED").ok().and_then(|text| text.parse().ok());
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed.unwrap_or(20));
    let best = |of: &[f64; 5]| (0..5).max_by(|&a, &b| of[a].total_cmp(&of[b])).unwrap();
    let mut within = 0;
    for path in 0..20 {
        let (truth, sender) = late_and_lost(&mut dice);
        let mut octets = Vec::new();
        let mut capture = Capture::at(End::Sender, &mut octets).unwrap();
        run::run(&truth, &Variant::parse(sender).unwrap(), 1, Some(&mut capture), never()).unwrap();
        capture.finish().unwrap();
        let fit = fitted_to(&analysed(octets), sender);
        let (likelier, _) = fit.readings();
        let fitted = Scenario::parse("fitted", &likelier.toml, &[]).unwrap();
        let truth = goodputs(&truth);
        let predicted = goodputs(&fitted);
        let first = best(&predicted);
        let share = truth[first] / truth[best(&truth)];
        println!(
            "{path} {sender}: first {}, {share:.3} of {}; {:?}: {predicted:.0?}, in fact {truth:.0?}",
            SENDERS[first],
            SENDERS[best(&truth)],
            fit.losses.decision
        );
        within += usize::from(share >= 0.95);
    }
    println!("{within} of 20 within 5 %");
    assert!(within >= MIN_CASES, "{within} of 20");
}
