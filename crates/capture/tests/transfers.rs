//! Transfers drawn at random, of which everything is known: boundaries, joined segments, copies at a
//! second place, probes of a closed window, identifications, lost handshakes, coarse clocks.

mod transfer;

use proptest::prelude::*;
use transfer::{Copies, Ids, Opening, Plan, Probes, Transfer, Truth, plans};
use unruffled_capture::{Analysis, Direction};

/// What the client sent.
fn client(analysis: &Analysis) -> &Direction {
    let directions = analysis.connections.iter().flat_map(|connection| &connection.directions);
    directions
        .into_iter()
        .find(|direction| direction.from.port() == 40_000)
        .expect("it was captured")
}

/// Whether packets tell in which order they were sent, or their round trip is known.
fn is_told(plan: &Plan) -> bool {
    let numbered = matches!(plan.ids, Ids::Counter(_) | Ids::Busy(_));
    // At the sender, nothing is late; but within a tick of the clock, it may be a copy.
    let clear = plan.stamps.is_some() || plan.clock_us < plan.rtt_us * 2;
    numbered || plan.place == 0.0 && clear || timed(plan)
}

/// Whether the time between packets tells what was sent again.
fn timed(plan: &Plan) -> bool {
    let known = plan.opening == Opening::Seen || plan.stamps == Some(1);
    known && plan.clock_us == 1
}

/// Whether something tells a copy from a packet that is sent again.
fn are_copies_told(plan: &Plan) -> bool {
    let numbered = matches!(plan.ids, Ids::Counter(_) | Ids::Busy(_) | Ids::Random);
    // A copy passes on the way: its packet is not answered before.
    if let Copies::Routers(_, us) | Copies::Reversed(_, us) = plan.copies
        && u64::from(us) >= plan.rtt_us
    {
        return false;
    }
    let soon = match plan.copies {
        Copies::None => true,
        Copies::Interface(us) => us < 1000 && u64::from(us) < plan.rtt_us / 4,
        Copies::Routers(_, us) | Copies::Reversed(_, us) => u64::from(us) < plan.rtt_us / 2,
    };
    plan.copies == Copies::None || numbered || soon && plan.clock_us == 1
}

fn wrong(plan: &Plan, truth: &Truth, found: &Direction) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |what: &str, truth: f64, found: f64, within: f64| {
        if (truth - found).abs() > within {
            wrong.push(format!("{what}: {truth}, found {found}"));
        }
    };
    // A copy of a probe is one of data, if the probe is taken before it passes.
    let taken = f64::from(u8::from(plan.probes == Some(Probes::New(true))));
    let resent = &found.retransmissions;
    let late = found.reordering_here.reordered;
    let guessed = !is_told(plan);
    if guessed {
        // What is taken for late or a copy is not taken for sent again.
        let all = truth.late + truth.resent + truth.copies;
        let told = late + resent.total + resent.duplicates;
        check("late, copies and sent again", all as f64, told as f64, taken);
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
        check("copies", truth.copies as f64, resent.duplicates as f64, taken);
    }
    check("probes", truth.probes as f64, found.windows.probes as f64, 0.0);
    check("octets", truth.octets as f64, found.traffic.stream_bytes as f64, 0.0);
    let (rtt, tick) = (plan.rtt_us as f64 / 1000.0, plan.clock_us as f64 / 1000.0);
    let margin = tick * 2.0 + rtt * 0.02 + 0.1;
    if let Some(ms) = found.rtt.min_ms {
        // Timestamps are echoed after a pause: no sooner than in a round trip.
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
    wrong
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_is_what_happened(plan in plans().prop_filter("copies", are_copies_told)) {
        let (truth, analysis) = Transfer::run(&plan);
        prop_assert_eq!(analysis.connections.len(), 1);
        let wrong = wrong(&plan, &truth, client(&analysis));
        prop_assert!(wrong.is_empty(), "{}\n{:?}", wrong.join("\n"), truth);
    }
}
