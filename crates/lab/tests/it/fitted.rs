//! The loop closes: over the path that is fitted to a capture, the sender that was captured delivers
//! about what the capture shows, and packets are as late.

use super::one_link::scenario;
use super::paths::{CASES, analysed};
use unruffled_capture::Direction;
use unruffled_lab::cancel::never;
use unruffled_lab::capture::Capture;
use unruffled_lab::fit::{self, Fit};
use unruffled_lab::{Scenario, run};
use unruffled_measure::End;
use unruffled_tcp::Variant;

/// How many of the fitted paths give a goodput within 15 % of what was captured, and on how many the
/// sender ranked first is within 5 % of the best.
const WITHIN: usize = 20;

/// Runs of a sender over a path.
const SEEDS: u64 = 10;

/// Senders that are ranked.
const SENDERS: [&str; 5] = ["sack", "linux-reordering+cubic", "rack+cubic", "rr-ta", "unruffled"];

/// What each delivers over a path, the mean of so many seeds that bursts of loss are had alike.
fn goodputs(scenario: &Scenario) -> [f64; 5] {
    SENDERS.map(|name| {
        let variant = Variant::parse(name).expect("is a sender");
        let run = |seed| {
            run::run(scenario, &variant, seed, None, never()).expect("runs").flow.goodput_bps
        };
        (1..=SEEDS).map(run).sum::<f64>() / SEEDS as f64
    })
}

fn fitted_to(direction: &Direction, sender: &str) -> Fit {
    let losses = fit::losses(direction);
    fit::fit("case.pcapng", direction, &losses, sender, never()).expect("fits")
}

#[test]
fn the_sender_that_a_fitted_path_ranks_first_is_about_the_best_on_the_path_itself() {
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
        let (truth, told) = (goodputs(&path), goodputs(&fitted));
        let best = |of: &[f64; 5]| (0..5).max_by(|&a, &b| of[a].total_cmp(&of[b])).unwrap();
        let (first, best) = (best(&told), best(&truth));
        let share = truth[first] / truth[best];
        println!("{}: first {}, best {}, {share:.3}", case.name, SENDERS[first], SENDERS[best]);
        if share < 0.95 {
            wrong.push(format!("{}: {share:.3}: {told:.0?}, in fact {truth:.0?}", case.name));
        }
    }
    assert!(wrong.len() <= CASES.len() - WITHIN, "{}", wrong.join("\n"));
}

#[test]
fn over_a_fitted_path_a_sender_delivers_what_was_captured() {
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
    assert!(within >= WITHIN, "{within} within 15 %");
}
