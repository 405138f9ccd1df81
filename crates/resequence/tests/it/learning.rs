//! What a path shows, and the hold that follows.

use std::collections::BTreeSet;

use unruffled_resequence::{Config, PathState};
use unruffled_units::Duration;

use crate::trace::{Trace, ms, tcp};

fn path(trace: &Trace) -> PathState {
    trace.resequencer.paths()[0]
}

/// Packets 10 ms apart from number `from`, of which every `every`-th is late by `late` ms, or lost. Returns
/// the number of the next packet. Packet n arrives at 1000 + 10·n ms if it is not late.
fn run(trace: &mut Trace, from: u64, packets: u64, every: u64, late: Option<u64>) -> u64 {
    let mut events: BTreeSet<(u64, u64, bool)> = BTreeSet::new();
    for n in from..from + packets {
        let time = 1000 + 10 * n;
        if n % every != 0 {
            events.insert((time, n, false));
        } else if let Some(late) = late {
            events.insert((time + late, n, false));
        }
    }
    while let Some((time, n, again)) = events.pop_first() {
        // A round trip of 100 ms, of which 50 on the way to here.
        let sent = if again { time - 50 } else { 10 * n };
        for (released, next) in trace.sent(time, n, sent) {
            let lost = late.is_none() && next > from && (next - 1) % every == 0;
            if lost {
                // It is sent again when the one behind it is acknowledged.
                events.insert((released.max(time) + 100, next - 1, true));
            }
        }
    }
    from + packets
}

#[test]
fn the_hold_follows_the_lateness() {
    let mut trace = Trace::new(Config::default());
    trace.handshake(0, 100);
    run(&mut trace, 0, 1100, 10, Some(45));
    // A packet is late by 35 ms from the arrival of the next one on. A twentieth is added.
    let state = path(&trace);
    assert_eq!(state.longest, ms(35));
    assert_eq!(state.hold, Duration::from_micros(36_750));
    assert!((state.late - 0.1).abs() < 0.02, "{}", state.late);
    assert_eq!(state.round_trip, Some(ms(100)));
    assert_eq!(trace.resequencer.counters().too_late, 0);
}

#[test]
fn the_second_connection_knows_the_path_of_the_first() {
    let mut trace = Trace::new(Config::default());
    trace.stamped = true;
    trace.handshake(0, 20);
    let next = run(&mut trace, 0, 500, 10, Some(105));
    assert!(trace.resequencer.counters().too_late > 0, "the first wait is 20 ms");
    let before = trace.resequencer.counters().too_late;
    // Another host in the same network of 24 bits.
    trace.of(tcp(2));
    run(&mut trace, next, 500, 10, Some(105));
    assert_eq!(trace.resequencer.counters().too_late, before);
    // A host of another network starts with its handshake.
    trace.of(tcp(500));
    run(&mut trace, 2 * next + 1, 15, 10, Some(45));
    assert!(trace.resequencer.counters().too_late > before);
    assert_eq!(trace.resequencer.load().paths, 2);
}

#[test]
fn a_path_that_only_loses_is_not_held() {
    for stamped in [true, false] {
        let mut trace = Trace::new(Config::default());
        trace.stamped = stamped;
        trace.handshake(0, 100);
        let next = run(&mut trace, 0, 1000, 50, None);
        let held = trace.resequencer.counters().held_time;
        run(&mut trace, next, 1000, 50, None);
        assert_eq!(path(&trace).hold, Duration::ZERO, "timestamps: {stamped}");
        assert_eq!(trace.resequencer.counters().held_time, held, "timestamps: {stamped}");
        assert_eq!(path(&trace).late, 0.0);
    }
}

#[test]
fn what_is_late_and_what_is_lost_are_told_apart_by_the_sender_s_clock() {
    let mut trace = Trace::new(Config::default());
    trace.stamped = true;
    trace.handshake(0, 100);
    // Late by 1.2 s and so beyond every wait, on a path where nothing is lost.
    run(&mut trace, 0, 1000, 20, Some(1205));
    let state = path(&trace);
    assert_eq!(state.longest, ms(1195));
    assert!((state.late - 0.05).abs() < 0.01, "{}", state.late);
}

#[test]
fn rare_lateness_is_not_waited_for_where_more_is_lost() {
    let mut trace = Trace::new(Config::default());
    trace.stamped = true;
    trace.handshake(0, 100);
    let mut next = 0;
    for _ in 0..4 {
        next = run(&mut trace, next, 1, 1, Some(805));
        next = run(&mut trace, next, 499, 20, None);
    }
    // One in 500 is late by 0.8 s, one in 20 lost. To wait costs 100 · 0.8 s; not to wait, 4 · 1 s.
    assert_eq!(path(&trace).hold, Duration::ZERO);
}

#[test]
fn a_path_that_stops_being_late_is_no_longer_held() {
    let mut trace = Trace::new(Config::default());
    trace.handshake(0, 100);
    let next = run(&mut trace, 0, 1000, 10, Some(45));
    assert!(path(&trace).hold > ms(35));
    // Two generations of ten seconds each must pass.
    let next = run(&mut trace, next, 4200, u64::MAX, None);
    trace.data(1000 + 10 * next, next);
    assert_eq!(path(&trace).hold, Duration::ZERO);
}

/// Every second of ten packets is lost, and then nothing passes. The sender resends the lost ones after the
/// outage, when its timer expires.
#[test]
fn packets_that_are_resent_after_an_outage_are_not_late() {
    for stamped in [true, false] {
        for outage in [300, 600, 1200, 2500, 3900, 5000, 20_000] {
            let mut trace = Trace::new(Config::default());
            trace.stamped = stamped;
            trace.handshake(0, 100);
            let next = run(&mut trace, 0, 1000, 10, Some(45));
            let before = path(&trace);
            let (arrived, lost): (Vec<_>, Vec<_>) = (next..next + 10).partition(|n| n % 2 == 1);
            for n in arrived {
                trace.data(1000 + 10 * n, n);
            }
            let begins = 1000 + 10 * (next + 10) + outage;
            for (n, time) in lost.into_iter().zip((begins..).step_by(10)) {
                trace.sent(time, n, time - 50);
            }
            trace.until(begins + 1000);
            let state = path(&trace);
            assert_eq!(state.longest, before.longest, "{outage} ms, timestamps: {stamped}");
            assert!(state.hold <= before.hold, "{outage} ms, timestamps: {stamped}");
        }
    }
}
