//! Packet traces that were once analysed wrongly.

use unruffled_capture::{Cause, Direction, judge};

use crate::trace::Trace;

/// Passes thirty segments, a millisecond apart from 100 ms on, which fill the receiver's window.
fn fill_window(trace: &mut Trace) {
    (0..30).for_each(|n| {
        trace.data(100.0 + f64::from(n), n, 0);
    });
    trace.offer(179.0, 30_000, 0);
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

/// RFC 9293, section 3.8.6.1: BSD and Windows probe with one new octet.
#[test]
fn a_probe_beyond_the_window_is_neither_data_nor_a_retransmission() {
    for taken in [false, true] {
        let mut trace = Trace::at_sender(false);
        fill_window(&mut trace);
        for at in [1000.0, 2000.0, 4000.0] {
            trace.octets(at, 30_000, 1).offer(at + 50.0, 30_000, 0);
        }
        let next = 30_000 + u32::from(taken);
        trace.octets(8000.0, 30_000, 1).offer(8050.0, next, 0);
        trace.offer(9000.0, next, 1000).octets(9000.1, next, 1000).offer(9050.1, next + 1000, 1000);
        let found = trace.found();
        assert_closed(&found, 4, 8.8211);
        assert_eq!(found.traffic.stream_bytes, u64::from(next) + 1000);
        assert_eq!(found.traffic.segments, 31 + u64::from(taken));
    }
}

/// The last acknowledgement is at 179 ms; the receiver answers no probe after that.
#[test]
fn a_window_that_stays_closed_is_closed_for_at_most_all_of_the_time() {
    let mut trace = Trace::at_sender(false);
    fill_window(&mut trace);
    for at in [1000.0, 2000.0, 4000.0] {
        trace.octets(at, 29_999, 0);
    }
    let found = trace.found();
    assert!((found.windows.closed_s - 3.821).abs() < 0.001, "{}", found.windows.closed_s);
    assert!((found.traffic.transfer_s - 0.079).abs() < 0.001, "{}", found.traffic.transfer_s);
    let text = judge(&found).text;
    assert!(text.contains("its window was closed for 100 % of the time (3.8 s)"), "{text}");
}

/// Linux probes without data, from the last acknowledged octet.
#[test]
fn a_probe_without_data_shows_that_the_sender_waits_for_the_window() {
    for place in [Trace::at_sender(false), Trace::at_receiver(false)] {
        let mut trace = place;
        fill_window(&mut trace);
        for at in [1000.0, 2000.0, 4000.0, 8000.0] {
            trace.octets(at, 29_999, 0).offer(at + 50.0, 30_000, 0);
        }
        trace.offer(9000.0, 30_000, 1000).octets(9000.1, 30_000, 1000).offer(9050.1, 31_000, 1000);
        assert_closed(&trace.found(), 4, 8.8211);
    }
}

#[test]
fn a_closed_window_is_no_limit_without_data_to_send() {
    let mut trace = Trace::at_sender(false);
    fill_window(&mut trace);
    trace.offer(4000.0, 30_000, 1000).octets(9000.0, 30_000, 1000).offer(9050.0, 31_000, 1000);
    let found = trace.found();
    assert_eq!(found.windows.closed_s, 0.0);
    assert!(found.limits.unwrap().application > 0.9, "{:?}", found.limits);
}

/// Some load balancers retransmit a packet unchanged, with its identification.
#[test]
fn a_repeated_identification_is_a_copy_after_a_router_and_otherwise_a_retransmission() {
    let mut trace = Trace::at_sender(false);
    for n in 0..20 {
        let at = 100.0 + f64::from(n);
        let id = 500 + n as u16;
        // The second capture point is two routers and 7 ms away.
        trace.data_at_hop(at, n, id, 64).data_at_hop(at + 7.0, n, id, 62);
    }
    trace.data_at_hop(430.0, 19, 519, 64).data_at_hop(437.0, 19, 519, 62);
    let resent = trace.found().retransmissions;
    assert_eq!((resent.total, resent.duplicates), (1, 21));
}

/// The SYN-ACK was lost before the capture point, and retransmitted 3 s later.
#[test]
fn a_retransmitted_syn_ack_does_not_measure_a_round_trip() {
    let mut trace = Trace::answered_after(3370);
    // The client's only data, acknowledged after a round trip of 370 ms.
    trace.data(3380.0, 0, 0).ack(3750.0, 1, 0, &[]);
    let analysis = trace.analysis();
    assert_eq!(analysis.connections[0].handshake_rtt_ms, None);
    for direction in &analysis.connections[0].directions {
        let ms = direction.rtt.min_ms.unwrap();
        assert!((ms - 370.1).abs() < 0.01, "{ms}");
    }
}

/// A counter of a whole host moves by 400 between two packets of a connection, and sometimes by 2000.
#[test]
fn identifications_with_long_steps_show_the_order_too() {
    let mut trace = Trace::answered_after(3370);
    let mut id = 60_000_u16;
    for n in 0..20 {
        id = id.wrapping_add(if n % 5 == 0 { 2000 } else { 400 });
        trace.data_with_id(4000.0 + f64::from(n) * 100.0, n, id);
    }
    trace.data_with_id(6000.0, 21, id.wrapping_add(800));
    // The first passes sooner than a round trip and was sent after what overtook it. The second was
    // sent before.
    trace.data_with_id(6002.0, 20, id.wrapping_add(1200));
    trace.data_with_id(6100.0, 23, id.wrapping_add(2400)).data_with_id(
        7000.0,
        22,
        id.wrapping_add(2000),
    );
    let found = trace.found();
    assert_eq!((found.retransmissions.total, found.reordering_here.reordered), (1, 1));
    assert_eq!(found.retransmissions.judged_by_time, 0);
}

/// Each retransmission covers half of one segment and half of the next.
#[test]
fn a_retransmission_with_other_boundaries_counts_once() {
    let mut trace = Trace::at_sender(false);
    (0..10).for_each(|n| {
        trace.data(100.0 + f64::from(n), n, 0);
    });
    trace.octets(500.0, 500, 1000).octets(501.0, 1500, 1000).offer(551.0, 10_000, 500);
    let found = trace.found();
    assert_eq!((found.retransmissions.total, found.losses.lost_bytes), (2, 2000));
    assert_eq!(found.losses.ratio, 2000.0 / 12_000.0);
}

/// All ten segments had arrived.
#[test]
fn a_retransmission_of_ten_small_segments_is_spurious_once() {
    let mut trace = Trace::at_sender(false);
    (0..10).for_each(|n| {
        trace.octets(100.0 + f64::from(n), n * 100, 100);
    });
    trace.offer(159.0, 1000, 500).octets(160.0, 0, 1000);
    let resent = trace.found().retransmissions;
    assert_eq!((resent.total, resent.spurious, resent.needed), (1, 1, 0));
    assert_eq!(resent.reasons.acknowledgement, 1);
}

/// With a step of 10 ms, a packet that seems late by one step may be late by a microsecond.
#[test]
fn times_below_the_step_of_the_clock_are_not_reported() {
    let tick = |ms: f64| (ms / 10.0).floor() * 10.0;
    let mut trace = Trace::at_receiver(true);
    for n in (0..400).step_by(4) {
        let at = 100.0 + f64::from(n);
        for (later, number) in [(0.0, n), (0.9, n + 1), (1.8, n + 3), (2.7, n + 2)] {
            trace.data(tick(at + later), number, 100 + number);
        }
        trace.ack(tick(at + 2.8), n + 4, 100 + n + 3, &[]);
    }
    let analysis = trace.analysis();
    assert_eq!(analysis.totals.clock_step_ms, Some(10.0));
    let found = &analysis.connections[0].directions[0];
    assert_eq!((found.reordering_here.reordered, found.retransmissions.total), (100, 0));
    assert_eq!(found.reordering_here.late_time, None);
    assert_eq!(found.rtt.beyond_ms, None);
}
