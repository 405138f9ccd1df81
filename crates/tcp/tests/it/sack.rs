//! RFC 6675 rule by rule, as packet traces: the variant `sack`. Sections are those of the RFC.

use crate::trace::Trace;

/// Section 5, steps (1) to (4): the third duplicate enters recovery, and the first two release new
/// data (RFC 3042). ssthresh = cwnd = FlightSize/2, without what limited transmit sent.
#[test]
fn the_third_duplicate_enters_recovery() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").reports("").sends("11");
    t.at(101).ack("C0 S2-3").reports("").sends("12").cwnd(10.0);
    // 12 are outstanding, 2 of them by limited transmit: ssthresh = 10/2. The pipe is
    // 12 − 3 − 1, and the retransmission makes it 9.
    t.at(102).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
    t.ssthresh(5.0).cwnd(5.0).pipe(9);
}

/// Section 5 (C): nothing is sent until the pipe is below cwnd by a segment; then one for one.
#[test]
fn recovery_sends_when_the_pipe_has_drained_to_the_window() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    t.at(101).ack("C0 S2-3").sends("12");
    t.at(102).ack("C0 S2-4").sends("R1").pipe(9);
    for (last, pipe) in [(5, 8), (6, 7), (7, 6), (8, 5)] {
        t.at(103).ack(&format!("C0 S2-{last}")).sends("").pipe(pipe);
    }
    t.at(104).ack("C0 S2-9").sends("13").pipe(5);
    t.at(105).ack("C0 S2-10").sends("14").pipe(5);
    // RecoveryPoint is 12: section 5 (A). 13 and 14 are outstanding, the window is 5.
    t.at(202).ack("C11").reports("").sends("15 16").pipe(5);
    t.at(203).ack("C12").reports("recovered").cwnd(5.0).sends("17").pipe(5);
}

/// Section 5, step (2): "If DupAcks < DupThresh but IsLost (HighACK + 1) returns true".
#[test]
fn one_acknowledgement_with_three_sacked_segments_suffices() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends("R1").pipe(7);
}

/// Section 4, IsLost: "DupThresh discontiguous SACKed sequences have arrived above".
#[test]
fn three_sacked_segments_need_not_be_adjacent() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    t.at(101).ack("C0 S4 S2").sends("12");
    // Above 1 there are three, above 3 two, above 5 one: only 1 is lost.
    t.at(102).ack("C0 S6 S4 S2").reports("fast-retransmit").sends("R1").pipe(9);
}

/// Section 2: a duplicate acknowledgement carries SACK information about octets not SACKed before.
#[test]
fn an_acknowledgement_without_new_sacks_is_no_duplicate() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    for _ in 0..5 {
        t.at(101).ack("C0 S2").reports("").sends("");
        t.at(101).ack("C0").reports("").sends("");
    }
    t.at(102).ack("C0 S2-3").reports("").sends("12");
}

/// Section 5: duplicates count above the *current* cumulative acknowledgement. An ACK that advances
/// it and leaves a hole does not restart the count of what is SACKed above.
#[test]
fn sacked_segments_above_a_later_hole_count_for_it() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    t.at(101).ack("C0 S2 S4").sends("12");
    // 1 was late; above 3 there is 4. Slow start makes the window 11. 3-12 are 10 outstanding
    // segments, and 11 + 1 are permitted.
    t.at(102).ack("C2 S4").reports("reordered 3").cwnd(11.0).sends("13 14");
    t.at(103).ack("C2 S4-5").reports("").sends("15");
    t.at(104).ack("C2 S4-6").reports("fast-retransmit").sends("R3").ssthresh(5.5);
}

/// Section 4, NextSeg rules (1) and (2): lost holes, smallest first, then new data.
#[test]
fn lost_holes_come_before_new_data() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    t.at(101).ack("C0 S2-3").sends("12");
    t.at(102).ack("C0 S2-4").sends("R1").pipe(9);
    t.at(103).ack("C0 S2-4 S6").sends("").pipe(8);
    t.at(104).ack("C0 S2-4 S6-7").sends("").pipe(7);
    // Above 5 there are three now: it leaves the pipe.
    t.at(105).ack("C0 S2-4 S6-8").sends("").pipe(5);
    t.at(106).ack("C0 S2-4 S6-9").sends("R5").pipe(5);
    t.at(107).ack("C0 S2-4 S6-10").sends("13").pipe(5);
    // Section 4, (1.a): neither is retransmitted again, whatever is SACKed above.
    t.at(108).ack("C0 S2-4 S6-11").sends("14").pipe(5);
}

/// Section 4, NextSeg rule (3): without new data, a hole that may not be lost is retransmitted. It
/// counts twice in the pipe.
#[test]
fn without_new_data_a_hole_that_may_not_be_lost_is_retransmitted() {
    let mut t = Trace::of("sack").window(10).writes(10).start();
    t.sends("1-10");
    // R1, 8, 9 and 10 are in the pipe; 5 would be permitted. Nothing is lost, nothing is new, there
    // is no hole below a SACK, and no rescue before R1 is acknowledged.
    t.at(100).ack("C0 S2-7").reports("fast-retransmit").cwnd(5.0).sends("R1").pipe(4);
    // 8 is a hole now, but not a lost one: R1, 8, R8, 10.
    t.at(101).ack("C0 S2-7 S9").sends("R8").pipe(4);
}

/// Section 4, NextSeg rule (4), and (4.3): one rescue of the highest segment, after more than the
/// first retransmission is acknowledged.
#[test]
fn the_last_segment_is_rescued_once() {
    let mut t = Trace::of("sack").window(10).writes(6).start();
    t.sends("1-6");
    // ssthresh = 6/2, the pipe holds R1 and 6. "To prevent … a premature rescue retransmission, set
    // both HighRxt and RescueRxt to the highest sequence number in the retransmitted segment."
    t.at(100).ack("C0 S2-5").reports("fast-retransmit").cwnd(3.0).sends("R1").pipe(2);
    // HighACK is 5 > RescueRxt = 1.
    t.at(200).ack("C5").reports("").sends("R6");
    t.at(210).ack("C5").sends("");
    t.at(300).ack("C6").reports("recovered").sends("").no_timer();
}

/// The same with HighACK equal to RescueRxt, which is not enough.
#[test]
fn no_rescue_when_only_the_first_retransmission_is_acknowledged() {
    let mut t = Trace::of("sack").window(10).writes(8).start();
    t.sends("1-8");
    // 1 and 2 are lost. ssthresh 4; the pipe is 8 − 5 − 2 = 1, and 3 with both retransmissions.
    t.at(100).ack("C0 S3-7").cwnd(4.0).sends("R1 R2").pipe(3);
    t.at(200).ack("C1 S3-7").sends("").pipe(2);
    t.at(201).ack("C7").sends("R8").pipe(2);
    // "a single 'rescue' retransmission per entry into loss recovery": the window has room for
    // more, but there is no other rescue.
    t.at(202).writes(1).sends("9").pipe(3);
}

/// Section 5 (A): "Any information contained in the scoreboard for sequence numbers greater than
/// the new value of HighACK SHOULD NOT be cleared when leaving the loss recovery phase."
#[test]
fn sacks_are_kept_after_recovery() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-10").reports("fast-retransmit").sends("R1 11-14").cwnd(5.0);
    // 11 is lost as well; 12 and 13 arrive before R1.
    t.at(200).ack("C0 S2-10 S12").sends("15");
    t.at(201).ack("C0 S2-10 S12-13").sends("16");
    t.at(202).ack("C10 S12-13").reports("recovered").sends("17");
    // The third above 11. 7 are outstanding, but cwnd is 5: ssthresh 2.5.
    t.at(203).ack("C10 S12-14").reports("fast-retransmit").ssthresh(2.5).sends("R11");
}

/// Section 5.1 and RFC 6298, 5.4: a timeout retransmits the first segment, and slow start follows.
/// SACK information is kept and used.
#[test]
fn a_timeout_slow_starts_and_keeps_the_sacks() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S5").sends("11").timer_at(1000);
    // ssthresh = 10/2, cwnd = 1 (RFC 5681, section 3.1).
    t.at(1000).timer().reports("timeout").ssthresh(5.0).cwnd(1.0).sends("T1").pipe(1);
    t.at(1100).ack("C1 S5").cwnd(2.0).sends("T2 T3");
    t.at(1200).ack("C2 S5").cwnd(3.0).sends("T4 T6");
    // Slow start up to ssthresh = 5, then 1/cwnd per acknowledgement.
    t.at(1201).ack("C3 S5").cwnd(4.0).sends("T7 T8");
    t.at(1300).ack("C5").cwnd(5.0).sends("T9 T10");
    t.at(1301).ack("C6").cwnd(5.2).sends("T11");
    // Everything up to 11 was retransmitted; recovery ends there.
    t.at(1400).ack("C10").reports("").cwnd(5.2 + 1.0 / 5.2).sends("12-15");
    let cwnd = 5.2 + 1.0 / 5.2;
    t.at(1401).ack("C11").reports("recovered").cwnd(cwnd + 1.0 / cwnd).sends("16");
}

/// Section 5.1: "a new recovery phase MUST NOT be initiated until HighACK is greater than or equal
/// to the new value of RecoveryPoint."
#[test]
fn after_a_timeout_there_is_no_fast_retransmit_before_the_recovery_point() {
    let mut t = Trace::of("sack").window(10).writes(10).start();
    t.sends("1-10");
    t.at(1000).timer().reports("timeout").sends("T1");
    // Originals, or copies made by the network, arrive.
    for last in 3..=10 {
        t.at(1050).ack(&format!("C0 S3-{last}")).reports("").sends("").ssthresh(5.0);
    }
    t.at(1100).ack("C1 S3-10").reports("").sends("T2");
    t.at(1200).ack("C10").reports("recovered").writes(20).sends("11-13");
    // Now there is a fast retransmit. 3 in flight: ssthresh = max(3/2, 2).
    t.at(1300).ack("C10 S12").sends("14");
    t.at(1301).ack("C10 S12-13").sends("15");
    t.at(1400).ack("C10 S12-14").reports("fast-retransmit").ssthresh(2.0).sends("R11");
}

/// Section 5.1: until then counting deems nothing lost either, not even what was sent since.
#[test]
fn after_a_timeout_duplicates_do_not_count_before_the_recovery_point() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(1000).timer().reports("timeout").sends("T1");
    t.at(1100).ack("C1").cwnd(2.0).sends("T2 T3");
    t.at(1200).ack("C3").cwnd(3.0).sends("T4-6");
    t.at(1300).ack("C6").cwnd(4.0).sends("T7-10");
    t.at(1400).ack("C9").cwnd(5.0).sends("11-14");
    // T10 is lost again; above 11 there are three.
    t.at(1500).ack("C9 S12").sends("15");
    t.at(1500).ack("C9 S12-13").sends("16");
    t.at(1500).ack("C9 S12-14").reports("").sends("17");
}

/// Section 5.1: a timeout in recovery ends it, with the new data in the new recovery point.
#[test]
fn a_timeout_in_recovery_starts_over() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").sends("R1").timer_at(1100);
    t.at(101).ack("C0 S2-7").sends("11").cwnd(5.0);
    // R1 is lost. RFC 5681: ssthresh = 5/2.
    t.at(1100).timer().reports("timeout").ssthresh(2.5).cwnd(1.0).sends("T1");
    // 8, 9, 10 and 11 are deemed lost, too.
    t.at(1200).ack("C7").reports("").cwnd(2.0).sends("T8 T9");
    t.at(1300).ack("C10").reports("").cwnd(3.0).sends("T11 12 13");
    t.at(1400).ack("C11").reports("recovered");
}

/// RFC 2018, section 8: if the first segment is SACKed at a timeout, the receiver has reneged, and
/// everything is retransmitted.
#[test]
fn a_receiver_that_reneged_gets_everything_again() {
    let mut t = Trace::of("sack").window(4).writes(4).start();
    t.sends("1-4");
    t.at(100).ack("C0 S1-2").sends("").pipe(2);
    t.at(1000).timer().reports("timeout").pipe(1).sends("T1");
    t.at(1100).ack("C1").cwnd(2.0).sends("T2 T3");
    t.at(1200).ack("C3").cwnd(2.5).sends("T4");
    t.at(1300).ack("C4").reports("recovered").no_timer();
}

/// Without SACK at the peer, RFC 6582 applies.
#[test]
fn without_the_peers_sack_it_is_newreno() {
    let mut t = Trace::of("sack").window(10).without_sack().start();
    t.sends("1-10");
    t.at(100).ack("C1").sends("11 12");
    t.at(101).ack("C1").sends("13");
    t.at(102).ack("C1").sends("14");
    t.at(103).ack("C1").reports("fast-retransmit").sends("R2").ssthresh(5.5);
    t.at(200).ack("C4").reports("").sends("R5");
}

/// Data never sent cannot have arrived (RFC 9293, section 3.10.7.4).
#[test]
fn an_acknowledgement_of_unsent_data_is_ignored() {
    let mut t = Trace::of("sack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S8-11").sends("").pipe(10);
    t.at(100).ack("C11").sends("").pipe(10);
    assert_eq!(t.connection().acknowledged(), 0);
}

/// RFC 5681, section 3.1: slow start by one per acknowledgement up to ssthresh, then by 1/cwnd, and
/// only while the window limits the sender (RFC 7661).
#[test]
fn the_window_grows_while_it_is_full() {
    let mut t = Trace::of("sack").window(2).writes(7).start();
    t.sends("1 2");
    t.at(100).ack("C1").cwnd(3.0).sends("3 4");
    t.at(100).ack("C2").cwnd(4.0).sends("5 6");
    t.at(200).ack("C3").cwnd(5.0).sends("7");
    // Four are in flight and nothing remains to be sent.
    t.at(200).ack("C4").cwnd(5.0).sends("");
}

/// A driver may deliver many acknowledgements before it polls. They all count if the window was
/// full before the first of them.
#[test]
fn acknowledgements_delivered_together_grow_the_window_like_others() {
    let mut t = Trace::of("sack").window(4).writes(22).start();
    t.sends("1-4");
    t.at(100).receives("C1").receives("C2").ack("C3").cwnd(7.0).sends("5-10");
    t.at(200).receives("C5").receives("C6").ack("C10").cwnd(10.0).sends("11-20");
    t.at(300).ack("C20").cwnd(11.0).sends("21 22");
    t.at(400).receives("C21").ack("C22").cwnd(11.0).sends("");
}

/// A window that was full once does not count as full forever: the sender was polled, and had
/// nothing to send.
#[test]
fn a_window_that_was_full_stops_growing_when_the_data_ends() {
    let mut t = Trace::of("sack").window(4).writes(4).start();
    t.sends("1-4");
    t.at(100).ack("C1").cwnd(5.0).sends("");
    t.at(100).ack("C2").cwnd(5.0).sends("");
    t.writes(1).sends("5");
    t.at(200).receives("C3").ack("C5").cwnd(5.0).sends("");
}

/// The FIN is sent last, and retransmitted like any segment.
#[test]
fn the_fin_is_sent_after_the_data_and_retransmitted() {
    let mut t = Trace::of("sack").window(10).writes(2).start();
    t.sends("1 2").finishes().sends("F");
    t.at(100).ack("C2");
    t.at(1100).timer().reports("timeout").sends("TF");
}

/// ns-2, tcp-sack1.cc: dupacks_ counts, and a new acknowledgement sets it to zero. By RFC 6675 the
/// second of the duplicates after C2 begins recovery: above 3 there are 4, 5 and 6.
#[test]
fn in_ns2_a_hole_that_becomes_the_first_waits_again() {
    let mut t = Trace::of("sack").ns2_counting().window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    t.at(101).ack("C0 S4 S2").sends("12");
    // 1 was late. Slow start: the window is 11; no duplicate of 3 has arrived.
    t.at(102).ack("C2 S4").reports("reordered 3").sends("13").cwnd(11.0);
    t.at(103).ack("C2 S4-5").reports("").sends("14");
    t.at(104).ack("C2 S4-6").reports("").sends("15");
    // 13 are outstanding, 2 of them by limited transmit: 11/2.
    t.at(105).ack("C2 S4-7").reports("fast-retransmit").ssthresh(5.5).sends("R3");
    // ns-2's pipe is 13 − 3, the run alone, so that only the sixth from here finds room in 5.
    for last in 8..=12 {
        t.at(106).ack(&format!("C2 S4-{last}")).sends("");
    }
    t.at(107).ack("C2 S4-13").sends("16");
}

/// ns-2, scoreboard.cc, GetNextRetran: holes neither SACKed nor retransmitted are sent before new
/// data.
#[test]
fn in_ns2_a_recovery_retransmits_every_hole_below_the_highest_sack() {
    let mut t = Trace::of("sack").ns2_counting().window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    t.at(101).ack("C0 S2-3").sends("12");
    t.at(102).ack("C0 S2-4").reports("fast-retransmit").sends("R1").pipe(9);
    for (last, pipe) in [(5, 8), (6, 7), (7, 6), (8, 5)] {
        t.at(103).ack(&format!("C0 S2-{last}")).sends("").pipe(pipe);
    }
    // One SACKed segment above 9 suffices.
    t.at(104).ack("C0 S10 S2-8").sends("R9");
}

/// Section 5, step (2): segments deemed lost above the recovery point, and not retransmitted when
/// recovery ends, begin another recovery with the next duplicate.
#[test]
fn losses_left_over_from_a_recovery_begin_another() {
    let mut t = Trace::of("sack").fixed_window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
    // 11 is lost.
    t.at(101).ack("C0 S2-10").sends("11-14");
    // Both are delivered before the sender is polled.
    t.at(201).receives("C0 S12-14 S2-10");
    t.receives("C10 S12-14").reports("recovered");
    t.polls().sends("15-17");
    t.at(301).ack("C10 S12-15").reports("fast-retransmit").sends("R11");
}

/// Also where duplicates are counted, a detector that works in time requires no number of them.
#[test]
fn with_a_detector_that_works_in_time_left_over_losses_begin_another_recovery_at_once() {
    let mut t = Trace::of("rack").ns2_counting().fixed_window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends("R1 11");
    t.at(101).ack("C0 S2-10").sends("12-14");
    t.at(240).receives("C0 S12-14 S2-10");
    t.receives("C10 S12-14").reports("recovered, fast-retransmit");
    t.polls().sends("R11 15");
}

/// With ns-2's counting: a mark leaves the pipe unchanged, so one of two holes may have to wait,
/// and three more duplicates then show it.
#[test]
fn with_counted_duplicates_left_over_losses_begin_another_recovery() {
    let mut t = Trace::of("sack").ns2_counting().fixed_window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    t.ack("C0 S2-3").sends("12");
    t.ack("C0 S2-4").reports("fast-retransmit").sends("R1");
    for last in 5..=8 {
        t.ack(&format!("C0 S2-{last}")).sends("");
    }
    t.ack("C0 S2-9").sends("13");
    t.ack("C0 S2-10").sends("14");
    t.at(200).ack("C0 S2-11").sends("15");
    t.ack("C0 S2-12").sends("16");
    // 13 and 14 are holes, and there is room for one.
    t.ack("C0 S15 S2-12").sends("R13");
    t.ack("C12 S15").reports("recovered").sends_any();
    t.at(250).ack("C13 S15").sends_any();
    t.at(300).ack("C13 S15-16").reports("").sends_any();
    t.ack("C13 S15-17").reports("").sends_any();
    t.ack("C13 S15-18").reports("fast-retransmit").sends("R14");
}
