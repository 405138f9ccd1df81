//! Traces of what was once told wrongly, a sentence each.

mod hand;

use hand::Hand;
use unruffled_capture::{Cause, Direction, judge};

/// Thirty segments, a millisecond apart and from 100 ms on, the last of which fills the receiver.
fn fill(hand: &mut Hand) {
    (0..30).for_each(|n| {
        hand.data(100.0 + f64::from(n), n, 0);
    });
    hand.offer(179.0, 30_000, 0);
}

fn assert_closed(found: &Direction, probes: u64, closed_s: f64) {
    assert_eq!((found.losses.lost, found.retransmissions.total), (0, 0), "{found:?}");
    assert_eq!((found.retransmissions.timeouts, found.windows.probes), (0, probes));
    assert!((found.windows.closed_s - closed_s).abs() < 0.001, "{}", found.windows.closed_s);
    let limits = found.limits.expect("the window was closed for most of the time");
    assert!(limits.receiver > 0.9, "{limits:?}");
    let verdict = judge(found);
    assert_eq!(verdict.cause, Cause::ReceiverWindow);
    assert!(verdict.text.contains("its window was closed for 9"), "{}", verdict.text);
}

/// RFC 9293, section 3.8.6.1, as BSD and Windows do it: with one new octet.
#[test]
fn a_probe_beyond_the_window_is_neither_data_nor_sent_again() {
    for taken in [false, true] {
        let mut hand = Hand::at_sender(false);
        fill(&mut hand);
        for at in [1000.0, 2000.0, 4000.0] {
            hand.octets(at, 30_000, 1).offer(at + 50.0, 30_000, 0);
        }
        let next = 30_000 + u32::from(taken);
        hand.octets(8000.0, 30_000, 1).offer(8050.0, next, 0);
        hand.offer(9000.0, next, 1000).octets(9000.1, next, 1000).offer(9050.1, next + 1000, 1000);
        let found = hand.found();
        assert_closed(&found, 4, 8.8211);
        assert_eq!(found.traffic.stream_bytes, u64::from(next) + 1000);
        assert_eq!(found.traffic.segments, 31 + u64::from(taken));
    }
}

/// As Linux does it: without data, from the last octet that is acknowledged.
#[test]
fn a_probe_without_data_shows_that_the_sender_waits_for_the_window() {
    for place in [Hand::at_sender(false), Hand::at_receiver(false)] {
        let mut hand = place;
        fill(&mut hand);
        for at in [1000.0, 2000.0, 4000.0, 8000.0] {
            hand.octets(at, 29_999, 0).offer(at + 50.0, 30_000, 0);
        }
        hand.offer(9000.0, 30_000, 1000).octets(9000.1, 30_000, 1000).offer(9050.1, 31_000, 1000);
        assert_closed(&hand.found(), 4, 8.8211);
    }
}

/// The application has nothing to send: a closed window keeps nothing from anybody.
#[test]
fn a_window_that_is_closed_while_nothing_is_to_be_sent_limits_nothing() {
    let mut hand = Hand::at_sender(false);
    fill(&mut hand);
    hand.offer(4000.0, 30_000, 1000).octets(9000.0, 30_000, 1000).offer(9050.0, 31_000, 1000);
    let found = hand.found();
    assert_eq!(found.windows.closed_s, 0.0);
    assert!(found.limits.unwrap().application > 0.9, "{:?}", found.limits);
}

/// Some load balancers send a packet as it stands in their memory.
#[test]
fn the_same_identification_later_is_sent_again_and_behind_a_router_a_copy() {
    let mut hand = Hand::at_sender(false);
    for n in 0..20 {
        let (at, id) = (100.0 + f64::from(n), 500 + n as u16);
        // Two routers further, and 7 ms later.
        hand.data_at_hop(at, n, id, 64).data_at_hop(at + 7.0, n, id, 62);
    }
    hand.data_at_hop(430.0, 19, 519, 64).data_at_hop(437.0, 19, 519, 62);
    let resent = hand.found().retransmissions;
    assert_eq!((resent.total, resent.duplicates), (1, 21));
}

/// The answer to the SYN was lost before it came here, and its second was sent 3 s later.
#[test]
fn a_lost_answer_to_the_syn_is_no_round_trip() {
    let mut hand = Hand::answered_after(3370);
    // The client's only data, acknowledged after a round trip of 370 ms.
    hand.data(3380.0, 0, 0).ack(3750.0, 1, 0, &[]);
    let analysis = hand.analysis();
    assert_eq!(analysis.connections[0].handshake_rtt_ms, None);
    for direction in &analysis.connections[0].directions {
        let ms = direction.rtt.min_ms.unwrap();
        assert!((ms - 370.1).abs() < 0.01, "{ms}");
    }
}

/// A counter of all that a host sends: 400 in the time between two packets, and once 2000.
#[test]
fn identifications_tell_the_order_in_long_steps_too() {
    let mut hand = Hand::answered_after(3370);
    let mut id = 60_000_u16;
    for n in 0..20 {
        id = id.wrapping_add(if n % 5 == 0 { 2000 } else { 400 });
        hand.data_with_id(4000.0 + f64::from(n) * 100.0, n, id);
    }
    hand.data_with_id(6000.0, 21, id.wrapping_add(800));
    // As late as no round trip, and sent after what overtook it; then one that was sent before.
    hand.data_with_id(6002.0, 20, id.wrapping_add(1200));
    hand.data_with_id(6100.0, 23, id.wrapping_add(2400)).data_with_id(
        7000.0,
        22,
        id.wrapping_add(2000),
    );
    let found = hand.found();
    assert_eq!((found.retransmissions.total, found.reordering_here.reordered), (1, 1));
    assert_eq!(found.retransmissions.judged_by_time, 0);
}

/// Half of one segment and half of the next.
#[test]
fn a_retransmission_with_other_boundaries_counts_once() {
    let mut hand = Hand::at_sender(false);
    (0..10).for_each(|n| {
        hand.data(100.0 + f64::from(n), n, 0);
    });
    hand.octets(500.0, 500, 1000).octets(501.0, 1500, 1000).offer(551.0, 10_000, 500);
    let found = hand.found();
    assert_eq!((found.retransmissions.total, found.losses.lost_bytes), (2, 2000));
    assert_eq!(found.losses.ratio, 2000.0 / 12_000.0);
}

/// Of a packet that repeats ten small ones, all were there: it is one, and spurious once.
#[test]
fn a_packet_that_repeats_many_is_spurious_once() {
    let mut hand = Hand::at_sender(false);
    (0..10).for_each(|n| {
        hand.octets(100.0 + f64::from(n), n * 100, 100);
    });
    hand.offer(159.0, 1000, 500).octets(160.0, 0, 1000);
    let resent = hand.found().retransmissions;
    assert_eq!((resent.total, resent.spurious, resent.needed), (1, 1, 0));
    assert_eq!(resent.spurious_by_acknowledgement, 1);
}

/// A clock that ticks each 10 ms: what seems late by one tick may be late by a microsecond.
#[test]
fn what_a_coarse_clock_does_not_show_is_not_told() {
    let tick = |ms: f64| (ms / 10.0).floor() * 10.0;
    let mut hand = Hand::at_receiver(true);
    for n in (0..400).step_by(4) {
        let at = 100.0 + f64::from(n);
        for (later, number) in [(0.0, n), (0.9, n + 1), (1.8, n + 3), (2.7, n + 2)] {
            hand.data(tick(at + later), number, 100 + number);
        }
        hand.ack(tick(at + 2.8), n + 4, 100 + n + 3, &[]);
    }
    let analysis = hand.analysis();
    assert_eq!(analysis.totals.clock_step_ms, Some(10.0));
    let found = &analysis.connections[0].directions[0];
    assert_eq!((found.reordering_here.reordered, found.retransmissions.total), (100, 0));
    assert_eq!(found.reordering_here.late_time, None);
    assert_eq!(found.rtt.beyond_ms, None);
}
