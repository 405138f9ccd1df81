//! Restoration after a spurious fast retransmit: DSACK-R of RR-TCP (section 2.1; RFC 2883, section
//! 5.2), which accepts a DSACK under the conditions of RFC 3708, section 3.

use crate::trace::Trace;

/// Plays up to the acknowledgement of segment 1 of ten, which is late and was retransmitted.
fn spurious_fast_retransmit(variant: &str) -> Trace {
    let mut t = Trace::of(variant).window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").ssthresh(5.0).cwnd(5.0).sends("R1");
    t.at(103).ack("C4").reports("").sends("").ssthresh(5.0);
    t
}

/// ssthresh becomes the old cwnd, to which slow start leads without a burst.
#[test]
fn the_window_is_restored_by_slow_start() {
    let mut t = spurious_fast_retransmit("dsack-r");
    t.at(200).ack("C4 D1").reports("spurious 1, reordered 3, spurious-fast-retransmit, recovered");
    t.ssthresh(10.0).cwnd(5.0).sends("").pipe(6);
    t.at(201).ack("C5").cwnd(6.0).sends("11");
    t.at(202).ack("C6").cwnd(7.0).sends("12 13");
    t.at(203).ack("C7").cwnd(8.0).sends("14 15");
    t.at(204).ack("C8").cwnd(9.0).sends("16 17");
    t.at(205).ack("C9").cwnd(10.0).sends("18 19");
    // Then congestion avoidance: 1/cwnd.
    t.at(206).ack("C10").cwnd(10.1).sends("20");
}

/// The other reading of RR-TCP, section 4.3: "reinstatement of the previous window value".
#[test]
fn the_window_is_restored_at_once_if_so_chosen() {
    let mut t = Trace::of("dsack-r").set("restore", "at-once").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").cwnd(5.0).sends("R1");
    t.at(103).ack("C4").reports("").sends("");
    t.at(200).ack("C4 D1").reports("spurious 1, reordered 3, spurious-fast-retransmit, recovered");
    t.ssthresh(f64::INFINITY).cwnd(10.0).sends("11-14");
}

/// `sack` does not use DSACK.
#[test]
fn without_the_response_the_window_stays_reduced() {
    let mut t = spurious_fast_retransmit("sack");
    t.at(200).ack("C4 D1").ssthresh(5.0).cwnd(5.0);
}

/// The window is also restored after recovery has ended.
#[test]
fn a_dsack_after_recovery_restores_as_well() {
    let mut t = spurious_fast_retransmit("dsack-r");
    t.at(104).ack("C10").reports("recovered").cwnd(5.0).sends("11-15");
    // The lengths are 4 − 1 and 10 − 1, their mean is 6.
    t.at(200).ack("C10 D1").reports("spurious 1, reordered 6, spurious-fast-retransmit");
    t.ssthresh(10.0).cwnd(5.0);
    t.at(204).ack("C11").cwnd(6.0).sends("16 17");
}

/// The window is never set below its present size.
#[test]
fn a_window_that_has_grown_beyond_the_old_one_stays() {
    let mut t = Trace::of("dsack-r").window(2).min_rto(5000).start();
    t.sends("1 2");
    t.at(100).ack("C0 S2").sends("3");
    t.at(200).ack("C0 S2-3").sends("4");
    // ssthresh = max(2/2, 2).
    t.at(300).ack("C0 S2-4").reports("fast-retransmit").ssthresh(2.0).sends("R1 5");
    t.at(310).ack("C4").reports("recovered").cwnd(2.0).sends("6");
    t.at(400).ack("C5").cwnd(2.5).sends("7");
    t.at(410).ack("C6").cwnd(2.9).sends("8");
    let cwnd = 2.9 + 1.0 / 2.9;
    t.at(500).ack("C7").cwnd(cwnd).sends("9 10");
    // The window was 2 before. (3 + 6)/2, rounded up.
    t.at(501).ack("C7 D1").reports("spurious 1, reordered 5, spurious-fast-retransmit");
    t.ssthresh(cwnd).cwnd(cwnd);
}

/// A later genuine reduction cancels the restoration.
#[test]
fn a_later_loss_cancels_the_restoration() {
    let mut t = spurious_fast_retransmit("dsack-r");
    t.at(104).ack("C10").reports("recovered").sends("11-15");
    t.at(150).ack("C10 S12-14").reports("fast-retransmit").ssthresh(2.5).sends("R11");
    // (3 + 13)/2.
    t.at(200).ack("C10 D1 S12-14").reports("spurious 1, reordered 8, spurious-fast-retransmit");
    t.ssthresh(2.5).cwnd(2.5);
    t.at(250).ack("C15").reports("recovered").ssthresh(2.5).cwnd(2.5);
}

/// If the later reduction proves spurious as well, the window before both is restored.
#[test]
fn two_spurious_reductions_restore_the_first_window() {
    let mut t = spurious_fast_retransmit("dsack-r");
    t.at(104).ack("C10").reports("recovered").sends("11-15");
    t.at(150).ack("C10 S12-14").reports("fast-retransmit").ssthresh(2.5).sends("R11");
    t.at(200).ack("C10 D1 S12-14").ssthresh(2.5).sends("");
    t.at(210).ack("C15").reports("recovered").sends_any();
    // C15 closed two holes, 11 and 15, so there is no length.
    t.at(250).ack("C15 D11").reports("spurious 11, spurious-fast-retransmit");
    t.ssthresh(10.0).cwnd(2.5);
}

/// RFC 3708, section 3: a DSACK of a segment that was never retransmitted reports a duplicate made
/// by the network.
#[test]
fn a_duplicate_from_the_network_changes_nothing() {
    let mut t = spurious_fast_retransmit("dsack-r");
    t.at(110).ack("C4 D2").reports("").ssthresh(5.0);
    t.at(111).ack("C5 D5").reports("").ssthresh(5.0);
}

/// Each retransmission has one report: a second DSACK of the same segment adds nothing.
#[test]
fn a_duplicate_counts_once() {
    let mut t = Trace::of("dsack-r").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4 S6-10").reports("fast-retransmit").sends("R1 R5 11-13").ssthresh(5.0);
    t.at(110).ack("C10").reports("recovered").sends_any();
    t.at(200).ack("C10 D1").reports("spurious 1").ssthresh(5.0);
    t.at(201).ack("C10 D1").reports("").ssthresh(5.0);
    t.at(202).ack("C10 D5").reports("spurious 5, spurious-fast-retransmit").ssthresh(10.0);
}

/// Linux merges duplicates that arrive together, through offload or before an acknowledgement is
/// sent, into one block.
#[test]
fn a_block_over_several_segments_reports_each_of_them() {
    let mut t = Trace::of("dsack-r").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S4-10").reports("fast-retransmit").ssthresh(5.0).sends("R1-3 11 12");
    t.at(110).ack("C10").reports("recovered").sends_any();
    t.at(200).ack("C10 D1-3");
    t.reports("spurious 1, spurious 2, spurious 3, spurious-fast-retransmit");
    t.ssthresh(10.0);
}

/// The parts of such a block that were never retransmitted, or were reported before, have no
/// effect.
#[test]
fn a_block_reports_only_its_new_part() {
    let mut t = Trace::of("dsack-r").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4 S6-10").reports("fast-retransmit").sends("R1 R5 11-13");
    t.at(110).ack("C10").reports("recovered").sends_any();
    t.at(200).ack("C10 D1-4").reports("spurious 1").ssthresh(5.0);
    t.at(201).ack("C10 D1-5").reports("spurious 5, spurious-fast-retransmit").ssthresh(10.0);
}

/// Every retransmission of the recovery must be reported.
#[test]
fn a_reduction_with_one_necessary_retransmission_stays() {
    let mut t = Trace::of("dsack-r").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4 S6-10").reports("fast-retransmit").sends("R1 R5 11-13");
    t.at(110).ack("C4 S6-10").reports("").sends_any();
    t.at(200).ack("C4 D1 S6-10").reports("spurious 1, reordered 9").ssthresh(5.0);
    // R5 was necessary.
    t.at(300).ack("C10").reports("recovered").ssthresh(5.0).cwnd(5.0);
}

/// RFC 3708, section 3 (A.3): a segment that was retransmitted twice proves nothing.
#[test]
fn a_segment_retransmitted_twice_prevents_the_restoration() {
    let mut t = Trace::of("dsack-r").window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").ssthresh(5.0).sends("R1");
    t.at(1100).timer().reports("timeout").sends("T1").ssthresh(2.5);
    // It is unknown which copy was acknowledged, so there is no length either.
    t.at(1105).ack("C4").reports("").sends_any();
    t.at(1110).ack("C10").reports("recovered");
    t.at(1200).ack("C10 D1").reports("spurious 1").ssthresh(2.5);
    t.at(1210).ack("C10 D1").reports("").ssthresh(2.5);
}

/// A report above the cumulative acknowledgement is accepted if it lies inside a SACKed block (RFC
/// 2883, section 4.2).
#[test]
fn a_duplicate_inside_a_sack_block_is_accepted() {
    let mut t = Trace::of("dsack-r").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4 S6-10").reports("fast-retransmit").sends("R1 R5 11-13");
    t.at(110).ack("C0 S2-10").reports("").sends_any();
    // Both copies of 5 have arrived, and none of 1. 10 − 5, twice.
    t.at(200).ack("C0 D5 S2-10").reports("spurious 5, reordered 5").ssthresh(5.0).sends_any();
    t.at(201).ack("C10").reports("recovered").sends_any();
    t.at(202).ack("C10 D1").reports("spurious 1, reordered 9, spurious-fast-retransmit");
    t.ssthresh(10.0);
}

/// A timeout that proves spurious restores the window in the same way.
#[test]
fn a_spurious_timeout_is_undone() {
    let mut t = Trace::of("dsack-r").window(10).writes(20).start();
    t.sends("1-10");
    t.at(1000).timer().reports("timeout").ssthresh(5.0).cwnd(1.0).sends("T1");
    t.at(1001).ack("C10").reports("recovered").cwnd(2.0).sends("11 12");
    t.at(1100).ack("C10 D1").reports("spurious 1, spurious-timeout").ssthresh(10.0);
    t.at(1101).ack("C11").cwnd(3.0).sends("13 14");
}
