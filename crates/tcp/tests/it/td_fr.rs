//! TD-FR, time-delayed fast recovery, as packet traces (TCP-PR, section 2: fast retransmit waits
//! until duplicates have persisted for max(RTT/2, DT), where DT is the time from the first to the
//! third).

use crate::trace::Trace;

/// Returns a sender with ten segments in flight, and a round trip of 100 ms.
fn ten() -> Trace {
    let mut t = Trace::of("td-fr").window(10).start();
    t.sends("1-10");
    t
}

/// DT = 0 is less than RTT/2: 50 ms after the first duplicate.
#[test]
fn the_third_duplicate_starts_the_wait_which_counts_from_the_first() {
    let mut t = ten();
    t.at(100).ack("C0 S2").reports("").sends("11");
    t.at(100).ack("C0 S2-3").reports("").sends("12");
    t.at(100).ack("C0 S2-4").reports("").sends("").timer_at(150);
    t.at(150).timer().reports("fast-retransmit").ssthresh(5.0).cwnd(5.0).sends("R1");
}

/// DT = 70 ms is more than RTT/2: the wait ends when the third duplicate arrives.
#[test]
fn duplicates_far_apart_have_persisted_long_enough() {
    let mut t = ten();
    t.at(100).ack("C0 S2").reports("").sends("11");
    t.at(130).ack("C0 S2-3").reports("").sends("12");
    t.at(170).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
}

/// A segment late by less than the wait is not retransmitted, and the window stays.
#[test]
fn a_late_segment_ends_the_wait() {
    let mut t = ten();
    t.at(100).ack("C0 S2-7").reports("").sends("11-14").timer_at(150);
    t.at(149).ack("C7").reports("reordered 6").cwnd(11.0).sends("15-18");
    // Only the retransmission timer remains.
    t.timer_at(1149);
    t.at(300).ack("C18").reports("").sends_any();
}

/// The next hole has its own wait, from its own first duplicate.
#[test]
fn the_next_hole_has_its_own_wait() {
    let mut t = ten();
    t.at(100).ack("C0 S2-4").reports("").sends("11 12").timer_at(150);
    t.at(110).ack("C5 S7").reports("").sends_any();
    t.at(120).ack("C5 S7-8").reports("").sends_any();
    // One arrived with the advance: these are the second and the third. RTT/2 from 110.
    t.at(130).ack("C5 S7-9").reports("").sends_any();
    let half = t.connection().srtt().expect("measured").as_millis_f64() / 2.0;
    assert!(half > 50.0 && half < 51.0, "{half}");
    let due = t.connection().poll_timeout().expect("a wait").as_secs_f64() * 1000.0;
    assert!((due - 100_110.0 - half).abs() < 1e-3, "{due}");
}

/// "Fast retransmit when duplicates persist": two are too few, however long the wait is.
#[test]
fn two_duplicates_leave_it_to_the_timeout() {
    let mut t = ten();
    t.at(100).ack("C0 S2").sends("11");
    t.at(100).ack("C0 S2-3").sends("12").timer_at(1000);
    t.at(1000).timer().reports("timeout").sends("T1");
}

/// Only fast retransmit waits: in recovery, three segments above a further hole make it a loss.
#[test]
fn further_holes_of_a_recovery_do_not_wait() {
    let mut t = ten();
    t.at(100).ack("C0 S2-4").sends("11 12");
    t.at(150).timer().reports("fast-retransmit").sends("R1");
    t.at(151).ack("C0 S2-4 S6-7").reports("").sends("");
    // Of twelve segments, 1, which was retransmitted, 11 and 12 are in the pipe: two more make
    // five.
    t.at(151).ack("C0 S2-4 S6-10").reports("").sends("R5 13");
}

/// DSACK is not used: a spurious fast retransmit costs half the window.
#[test]
fn a_spurious_fast_retransmit_costs_half_the_window() {
    let mut t = ten();
    t.at(100).ack("C0 S2-4").sends("11 12");
    t.at(150).timer().reports("fast-retransmit").cwnd(5.0).sends("R1");
    t.at(151).ack("C4").reports("").sends_any();
    t.at(250).ack("C4 D1").reports("spurious 1, reordered 3, spurious-fast-retransmit");
    t.ssthresh(5.0).cwnd(5.0);
}
