//! The loop closes: over the path that is fitted to a capture, the sender that was captured delivers
//! about what the capture shows, and packets are as late.

mod paths;

use paths::{CASES, analysed, scenario};
use unruffled_lab::capture::Capture;
use unruffled_lab::{fit, run};
use unruffled_measure::End;
use unruffled_tcp::Variant;

/// How many of the fitted paths give a goodput within 15 % of what was captured.
const WITHIN: usize = 17;

#[test]
fn over_a_fitted_path_a_sender_delivers_what_was_captured() {
    let mut within = 0;
    for case in &CASES {
        let variant = Variant::parse(case.sender).unwrap();
        let mut octets = Vec::new();
        let capture = Capture::at(End::Sender, &mut octets).unwrap();
        let (_, capture) = run::run(&scenario(case, false), &variant, 1, capture).unwrap();
        capture.finish().unwrap();
        let found = analysed(octets);
        let fit = fit::fit("case.pcapng", &found, case.sender).unwrap();
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
