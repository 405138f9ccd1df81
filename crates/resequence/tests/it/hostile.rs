//! Packets that no honest sender or path produces, and rare ones that look like them.

use unruffled_resequence::{Config, Role};

use crate::trace::{Trace, ms};

/// Returns data of 1000 octets, sent at `sent` by the sender's clock.
fn data(number: u64, sent: u32) -> Role {
    Role::Data { number, span: 1000, timestamp: Some(sent) }
}

/// A retransmission in front of another one keeps no pace of its own, since packets that arrived before it wait
/// behind it.
#[test]
fn a_pace_does_not_exceed_the_longest_wait() {
    let mut trace = Trace::new(Config { max_hold: ms(50), ..Config::default() });
    trace.packet(2010, Role::Open { next: 0 }, 0);
    trace.packet(3000, data(0, 219), 1);
    // It was sent at 5 and opens the gap. What follows was sent after it, and so again.
    assert_eq!(trace.packet(3010, data(300_000, 5), 7), []);
    assert_eq!(trace.packet(3010, data(4000, 128), 8), []);
    assert_eq!(trace.packet(3010, data(50_000, 9), 10), []);
    assert_eq!(trace.packet(3015, data(80_000, 66), 11), []);
    let left = trace.until(4000);
    assert_eq!(left.len(), 4);
    assert!(left.iter().all(|&(at, n)| n == 11 || at <= 3060), "{left:?}");
}

#[test]
fn a_gap_that_was_given_up_at_the_beginning_of_the_clock_is_not_waited_for() {
    let mut trace = Trace::new(Config::default());
    trace.packet(0, Role::Open { next: 0 }, 0);
    trace.packet(100, Role::Acknowledgement, 0);
    trace.packet(101, data(0, 1), 1);
    assert_eq!(trace.packet(102, data(3000, 2), 2), []);
    // Sent again, so that the wait for its first transmission is over.
    assert_eq!(trace.packet(103, data(1000, 3), 3), [(103, 2), (103, 3)]);
}

#[test]
fn a_new_connection_has_a_new_clock() {
    let mut trace = Trace::new(Config::default());
    for clock in [1_000_000, 100] {
        let first = u64::from(clock);
        let at = if clock == 100 { 5000 } else { 0 };
        trace.packet(at, Role::Open { next: clock }, 0);
        trace.packet(at + 100, Role::Acknowledgement, 0);
        trace.packet(at + 200, data(first, clock), 1);
        assert_eq!(trace.packet(at + 201, data(first + 2000, clock + 1), 3), []);
        assert_eq!(trace.packet(at + 202, data(first + 4000, clock + 2), 5), []);
        // It was sent again after them, and so they go on before it.
        let mut left = trace.packet(at + 290, data(first + 1000, clock + 90), 2);
        left.extend(trace.until(at + 1000));
        let order: Vec<u64> = left.into_iter().map(|(_, n)| n).collect();
        assert_eq!(order, [3, 5, 2], "{clock}");
    }
}

/// Packets of 1000 octets 10 ms apart from `number` on, of which every second is late by 45 ms. Returns how many
/// go on behind a packet with a higher number.
fn disorder(trace: &mut Trace, ms: u64, number: u64, packets: u64) -> usize {
    let mut arrivals: Vec<(u64, u64)> =
        (0..packets).map(|n| (ms + 10 * n + if n % 2 == 1 { 45 } else { 0 }, n)).collect();
    arrivals.sort_unstable();
    let mut left = Vec::new();
    for (at, n) in arrivals {
        left.extend(trace.packet(at, data(number + 1000 * n, (ms + 10 * n) as u32), n));
    }
    left.extend(trace.until(ms + 10 * packets + 2000));
    let mut highest = 0;
    let mut disordered = 0;
    for (_, n) in left {
        disordered += usize::from(n < highest);
        highest = highest.max(n);
    }
    disordered
}

#[test]
#[ignore = "open: 199 of 400 packets go on in disorder"]
fn a_forged_packet_far_ahead_does_not_end_the_order() {
    let mut trace = Trace::new(Config::default());
    trace.packet(0, Role::Open { next: 0 }, 0);
    trace.packet(100, Role::Acknowledgement, 0);
    let honest = disorder(&mut trace, 1000, 0, 400);
    trace.packet(8000, data(60_000_000, 7999), 0);
    let after = disorder(&mut trace, 8000, 400_000, 400);
    assert_eq!(honest, 0);
    assert!(after < 20, "{after} of 400");
}

#[test]
fn a_late_copy_of_a_syn_does_not_begin_anew() {
    let mut trace = Trace::new(Config::default());
    trace.packet(0, Role::Open { next: 0 }, 0);
    trace.packet(100, Role::Acknowledgement, 0);
    for n in 0..100 {
        trace.packet(200 + n, data(1000 * n, n as u32), n);
    }
    trace.packet(300, Role::Open { next: 0 }, 0);
    assert_eq!(trace.packet(301, data(100_000, 301), 7), [(301, 7)]);
}

#[test]
#[ignore = "open: the path keeps the shortest round trip for good"]
fn a_forged_syn_does_not_shorten_the_round_trip_of_the_path() {
    let mut trace = Trace::new(Config::default());
    trace.packet(0, Role::Open { next: 0 }, 0);
    trace.packet(100, Role::Acknowledgement, 0);
    trace.of(crate::trace::tcp(2));
    trace.packet(200, Role::Open { next: 0 }, 0);
    trace.packet(200, data(0, 1), 0);
    assert_eq!(trace.resequencer.paths()[0].round_trip, Some(ms(100)));
}

#[test]
#[ignore = "open: it counts as sent again, and as lost"]
fn a_packet_with_the_timestamp_of_the_one_that_overtook_it_was_sent_once() {
    let mut trace = Trace::new(Config::default());
    trace.packet(0, Role::Open { next: 0 }, 0);
    trace.packet(100, Role::Acknowledgement, 0);
    trace.packet(1000, data(0, 1000), 1);
    trace.packet(1000, data(2000, 1000), 3);
    trace.packet(1350, data(1000, 1000), 2);
    assert_eq!(trace.resequencer.counters().late, 1);
    assert_eq!(trace.resequencer.paths()[0].longest, ms(350));
}

#[test]
fn acknowledgements_alone_are_no_flows() {
    let mut trace = Trace::new(Config::default());
    for n in 0..1000 {
        trace.of(crate::trace::tcp(n)).packet(1, Role::Acknowledgement, 1);
    }
    assert_eq!(trace.resequencer.load().flows, 0);
}
