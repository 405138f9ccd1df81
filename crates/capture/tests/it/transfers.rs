//! Random transfers with known ground truth.
//!
//! They vary segment boundaries, joined segments, copies at a second capture point, probes of a closed
//! window, identifications, lost handshake packets and coarse clocks.

mod transfer;

use proptest::prelude::*;
use transfer::{Copies, Ids, Opening, Plan, Probes, Transfer, Truth, plans};
use unruffled_capture::{Analysis, Direction};

/// Returns the analysis of the client's data.
fn client_data(analysis: &Analysis) -> &Direction {
    let directions = analysis.connections.iter().flat_map(|connection| &connection.directions);
    directions
        .into_iter()
        .find(|direction| direction.from.port() == 40_000)
        .expect("the client's data is in the capture")
}

/// Returns whether packets show in which order they were sent, or their round trip is known.
fn is_send_order_known(plan: &Plan) -> bool {
    let numbered = matches!(plan.ids, Ids::Counter(_) | Ids::Busy(_));
    // At the sender, nothing is late, but within a step of the clock a packet may be a copy.
    let clear = plan.stamps.is_some() || plan.clock_us < plan.rtt_us * 2;
    numbered || plan.place == 0.0 && clear || is_rtt_known(plan)
}

/// Returns whether the time between packets distinguishes retransmissions.
fn is_rtt_known(plan: &Plan) -> bool {
    let known = plan.opening == Opening::Seen || plan.stamps == Some(1);
    known && plan.clock_us == 1
}

/// Returns whether something distinguishes a copy from a retransmission.
fn are_copies_recognisable(plan: &Plan) -> bool {
    let numbered = matches!(plan.ids, Ids::Counter(_) | Ids::Busy(_) | Ids::Random);
    // A copy must pass the capture point before its packet is acknowledged.
    if let Copies::Bridge(us) | Copies::Routers(_, us) | Copies::Reversed(_, us) = plan.copies
        && u64::from(us) >= plan.rtt_us
    {
        return false;
    }
    let follows_closely = match plan.copies {
        Copies::None => true,
        Copies::Interface(us) => us < 1000 && u64::from(us) < plan.rtt_us / 4,
        Copies::Bridge(us) | Copies::Routers(_, us) | Copies::Reversed(_, us) => {
            u64::from(us) < plan.rtt_us / 2
        }
    };
    plan.copies == Copies::None || numbered || follows_closely && plan.clock_us == 1
}

/// Returns the differences between the truth and the analysis.
fn differences(plan: &Plan, truth: &Truth, found: &Direction) -> Vec<String> {
    let mut differences = Vec::new();
    let mut check = |what: &str, truth: f64, found: f64, within: f64| {
        if (truth - found).abs() > within {
            differences.push(format!("{what}: {truth}, found {found}"));
        }
    };
    // A copy of a probe counts as a copy of data if the receiver accepts the probe before it passes.
    let accepted = f64::from(u8::from(plan.probes == Some(Probes::New(true))));
    let resent = &found.retransmissions;
    let late = found.reordering_here.reordered;
    let guessed = !is_send_order_known(plan);
    if guessed {
        // Each packet is classified as one of late, a copy or retransmitted.
        let all = truth.late + truth.resent + truth.copies;
        let found = late + resent.total + resent.duplicates;
        check("late, copies and retransmitted", all as f64, found as f64, accepted);
    } else {
        check("late", truth.late as f64, late as f64, 0.0);
        check("resent", truth.resent as f64, resent.total as f64, 0.0);
        check("spurious", truth.spurious as f64, resent.spurious as f64, 0.0);
        check("lost", (truth.resent - truth.spurious) as f64, found.losses.lost as f64, 0.0);
        let lost = (truth.resent_octets - truth.spurious_octets) as f64
            / (truth.octets + truth.resent_octets) as f64;
        check("lost share", lost, found.losses.ratio, 1e-9);
    }
    if !guessed {
        check("copies", truth.copies as f64, resent.duplicates as f64, accepted);
    }
    check("probes", truth.probes as f64, found.windows.probes as f64, 0.0);
    check("octets", truth.octets as f64, found.traffic.stream_bytes as f64, 0.0);
    let rtt = plan.rtt_us as f64 / 1000.0;
    let tick = plan.clock_us as f64 / 1000.0;
    let margin = tick * 2.0 + rtt * 0.02 + 0.1;
    if let Some(ms) = found.rtt.min_ms {
        // After a pause of the sender, an echoed timestamp measures more than the round trip.
        let paused = plan.opening != Opening::Seen && plan.stamps.is_some() && ms > rtt;
        let pause = if plan.probes.is_some() { 3500.0 } else { 310.0 } + 4.0 * rtt;
        check("RTT", rtt, ms, if paused { pause + margin } else { margin });
    }
    if plan.opening == Opening::Seen && rtt > 2.0 * tick && plan.copies == Copies::None {
        check("RTT known", 1.0, f64::from(u8::from(found.rtt.min_ms.is_some())), 0.0);
    }
    let closed = truth.closed_us as f64 / 1e6;
    check("closed", closed, found.windows.closed_s, 0.05 + 2.0 * (rtt + tick) / 1000.0);
    if let Some(late) = found.reordering_here.late_time.as_ref().filter(|_| plan.clock_us > 1) {
        check(
            "late by more than a tick",
            1.0,
            f64::from(u8::from(late.percentiles_ms[0] > tick)),
            0.0,
        );
    }
    differences
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_analysis_matches_the_transfer(plan in plans().prop_filter("copies", are_copies_recognisable)) {
        let (truth, analysis) = Transfer::run(&plan);
        prop_assert_eq!(analysis.connections.len(), 1);
        let differences = differences(&plan, &truth, client_data(&analysis));
        prop_assert!(differences.is_empty(), "{}\n{:?}", differences.join("\n"), truth);
    }
}
