//! RFC 8985 rule by rule, as packet traces. Sections are those of the RFC.
//!
//! By default the round trip takes 100 ms, so min_RTT = SRTT = 100 ms and min_RTT/4 = 25 ms, and
//! the retransmission timeout is its minimum of 1 s.

use crate::trace::Trace;

/// Section 6.2, step 4: "it starts with a conservative RACK.reo_wnd of RACK.min_RTT/4"; step 5:
/// lost when Segment.xmit_ts + RACK.rtt + RACK.reo_wnd − now ≤ 0.
#[test]
fn the_reordering_window_is_a_quarter_of_the_minimum_round_trip() {
    let mut t = Trace::of("rack").window(10).start();
    t.sends("1-10");
    // RACK.segment is 2, sent at 0, RACK.rtt = 100: segment 1 is lost at 0 + 100 + 25. Its SACK
    // releases one new segment (limited transmit).
    t.at(100).ack("C0 S2").rack_segment(100, 0).sends("11").timer_at(125);
    t.at(125).timer().reports("fast-retransmit").sends("R1");
    // The window was full with 10; 11 was sent by limited transmit: ssthresh = 10/2.
    t.ssthresh(5.0);
}

/// Section 6.2, step 5: a segment that is late by less than the window is not lost.
#[test]
fn a_segment_late_by_less_than_the_window_is_not_retransmitted() {
    let mut t = Trace::of("rack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    // 10 + 1 outstanding, 2 acknowledged: the window is 10, and slow start makes it 11.
    t.at(124).ack("C2").reports("reordered 1").reo_wnd(true, 1, 0).sends("12 13").cwnd(11.0);
}

/// Section 6.2, step 4: without reordering seen, `RACK.segs_sacked >= DupThresh` makes reo_wnd 0.
#[test]
fn three_sacked_segments_suffice_if_no_reordering_was_seen() {
    let mut t = Trace::of("rack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    // RACK.rtt = 101: 0 + 101 + 25.
    t.at(101).ack("C0 S2-3").sends("12").timer_at(126);
    // RACK.rtt = 102 and reo_wnd = 0: 0 + 102 + 0 − 102 ≤ 0.
    t.at(102).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
}

/// Section 6.2, step 4: "if some reordering has been observed, then RACK does not trigger fast
/// recovery based on DupThresh".
#[test]
fn three_sacked_segments_do_not_suffice_once_reordering_was_seen() {
    let mut t = Trace::of("rack").fixed_window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    t.at(100).ack("C2").reo_wnd(true, 1, 0).sends("12");
    // Now 3 is missing. RACK.rtt = 100, so it is due at 0 + 100 + 25, however many are SACKed.
    t.at(100).ack("C2 S4-9").sends("13-18").timer_at(125);
    t.at(125).timer().reports("fast-retransmit").sends("R3");
}

/// Section 6.2, step 4: "the RACK.reo_wnd is set to 0 both upon entering and during fast recovery",
/// when no reordering has been seen.
#[test]
fn in_recovery_the_window_is_zero_if_no_reordering_was_seen() {
    let mut t = Trace::of("rack").fixed_window(10).start();
    t.sends("1-10");
    // PRR: RecoverFS 10, ssthresh 5, 3 delivered: ⌈3·5/10⌉ = 2 may be sent.
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends("R1 11").pipe(8);
    // 5 was sent at 0, RACK.rtt = 101: 0 + 101 + 0 − 101 ≤ 0, lost at once: 11 outstanding − 4
    // SACKed − 1 lost. Both of ⌈4·5/10⌉ = 2 have been sent.
    t.at(101).ack("C0 S2-4 S6").sends("").pipe(6);
    // The pipe is below ssthresh with the second one after that: 5 − 4.
    t.at(101).ack("C0 S2-4 S6-7").sends("").pipe(5);
    t.at(101).ack("C0 S2-4 S6-8").sends("R5").pipe(5);
}

/// Section 6.2, step 4: `RACK.dsack_round`, `RACK.reo_wnd_mult += 1`.
#[test]
fn a_dsack_widens_the_window_once_per_round() {
    let mut t = Trace::of("rack").fixed_window(4).start();
    t.sends("1-4").reo_wnd(false, 1, 0);
    t.at(100).ack("C1").sends("5");
    // 1 arrived twice, duplicated by the network: "any DSACK option".
    t.at(100).ack("C1 D1").reo_wnd(false, 2, 16).sends("");
    // The round ends when what was sent by then, up to 5, is acknowledged.
    t.at(100).ack("C4 D1").reo_wnd(false, 2, 16).sends("6-8");
    t.at(200).ack("C5").reo_wnd(false, 2, 16).sends("9");
    t.at(200).ack("C6 D2").reo_wnd(false, 3, 16).sends("10");
    // min_RTT·3/4 = 75: segment 7, sent at 100, is due at 100 + 100 + 75.
    t.at(200).ack("C6 S8").sends("11").timer_at(275);
}

/// Section 6.2, step 4: one acknowledgement both ends the round and begins the next.
#[test]
fn the_acknowledgement_that_ends_a_round_may_widen_the_window_again() {
    let mut t = Trace::of("rack").fixed_window(4).start();
    t.sends("1-4");
    t.at(100).ack("C1 D1").reo_wnd(false, 2, 16).sends("5");
    // SND.NXT was after 4 when the DSACK was processed.
    t.at(100).ack("C4 D1").reo_wnd(false, 3, 16).sends("6-8");
}

/// Section 6.2, step 4: `min(RACK.reo_wnd_mult * RACK.min_RTT / 4, SRTT)`.
#[test]
fn the_smoothed_round_trip_bounds_the_window() {
    let mut t = Trace::of("rack").fixed_window(4).start();
    t.sends("1-4");
    let mut last = 4;
    for round in 1..=6 {
        let first = last + 1;
        t.at(100 * round).ack(&format!("C{last} D{last}"));
        last += 4;
        t.sends(&format!("{first}-{last}"));
    }
    t.reo_wnd(false, 7, 16).srtt(100.0);
    // 7 · 25 ms would be 175 ms. 25 was sent at 600 and is due at 600 + 100 + min(175, 100).
    t.at(700).ack("C24 S26").sends("29").timer_at(800);
    t.at(800).timer().reports("fast-retransmit").sends("R25");
}

/// Loses the first of two segments at `ms`, when everything before `first` is acknowledged and the
/// reordering window is `reo_wnd`, and recovers with the acknowledgement `last_ack`.
fn lose_one_of_two(t: &mut Trace, ms: u64, first: u64, reo_wnd: u64, last_ack: &str) {
    let second = first + 1;
    t.at(ms).writes(2).sends(&format!("{first} {second}"));
    t.at(ms + 100).ack(&format!("C{} S{second}", first - 1)).sends("");
    t.timer_at(ms + 100 + reo_wnd);
    // ssthresh is at least 2, so two may always be sent.
    t.at(ms + 100 + reo_wnd).timer().reports("fast-retransmit").sends(&format!("R{first}"));
    t.at(ms + 300).ack(last_ack).reports("recovered").cwnd(2.0);
}

/// Section 6.2, step 4: "RACK persists using the inflated RACK.reo_wnd for up to 16 loss
/// recoveries, after which it resets".
#[test]
fn sixteen_recoveries_without_a_dsack_reset_the_window() {
    let mut t = Trace::of("rack").fixed_window(10).writes(1).start();
    t.sends("1");
    t.at(100).ack("C1 D1").reo_wnd(false, 2, 16).sends("");
    for k in 0..16_u32 {
        t.reo_wnd(false, 2, 16 - k);
        let first = 2 + 2 * u64::from(k);
        let last_ack = format!("C{}", first + 1);
        lose_one_of_two(&mut t, 1000 * u64::from(k + 1), first, 50, &last_ack);
    }
    t.reo_wnd(false, 1, 0);
    lose_one_of_two(&mut t, 17_000, 34, 25, "C35");
}

/// Section 6.2, step 4: "Else if exiting Fast or RTO recovery": the acknowledgement that widens the
/// window does not count as one of the 16 recoveries, even when it ends one.
#[test]
fn a_recovery_whose_last_acknowledgement_widens_the_window_does_not_count() {
    let mut t = Trace::of("rack").fixed_window(10).writes(1).start();
    t.sends("1");
    t.at(100).ack("C1 D1").reo_wnd(false, 2, 16).sends("");
    lose_one_of_two(&mut t, 1000, 2, 50, "C3");
    t.reo_wnd(false, 2, 15);
    // 5 was never retransmitted, so nothing is undone.
    lose_one_of_two(&mut t, 2000, 4, 50, "C5 D5");
    t.reo_wnd(false, 3, 16);
    lose_one_of_two(&mut t, 3000, 6, 75, "C7");
    t.reo_wnd(false, 3, 15);
}

/// Section 6.2, step 3: only "a never-retransmitted segment that's below RACK.fack" is reordering.
#[test]
fn a_retransmitted_segment_is_no_reordering() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
    t.at(150).ack("C4").reo_wnd(false, 1, 0).sends("");
}

/// Section 6.2, step 3: the segment may also arrive below a segment that was only SACKed, and may
/// itself be only SACKed.
#[test]
fn an_original_below_the_forward_acknowledgement_is_reordering() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S4").reo_wnd(false, 1, 0);
    t.at(100).ack("C0 S3-4").reports("reordered 1").reo_wnd(true, 1, 0);
}

/// Section 6.2, step 2, condition 2: "The segment was last retransmitted less than RACK.min_rtt
/// ago" makes it invalid.
#[test]
fn a_retransmission_acknowledged_too_soon_is_ignored() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends("R1").rack_segment(100, 0);
    // The original of 1 is acknowledged, not the retransmission of 99 ms ago.
    t.at(199).ack("C4").rack_segment(100, 0).sends("");
    // All of 5-10 were sent at 0 and due at 0 + 100 + 0, since the window is zero in recovery. That
    // time has passed, but none of them was sent before RACK.segment (2-4, all sent at 0).
    t.pipe(6);
}

/// Section 6.2, step 2: after min_RTT the retransmission counts.
#[test]
fn a_retransmission_acknowledged_after_the_minimum_round_trip_counts() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
    // RACK.segment is R1, sent at 100, so 5-10 sent at 0 are overdue since 0 + 100.
    // PRR: RecoverFS 10, ssthresh 5; delivered 3 + 1 = 4, sent 1; the pipe is 0, and more is lost,
    // so at most max(4 − 1, 1) = 3 may be sent, and 5 − 0 would fit.
    t.at(200).ack("C4").rack_segment(100, 100).sends("R5-7");
}

/// Section 6.2, step 2, condition 1: `ACK.ts_option.echo_reply < Segment.xmit_ts` makes it invalid
/// however long ago the retransmission was.
#[test]
fn a_retransmission_whose_timestamp_is_not_echoed_is_ignored() {
    for (echo, segment) in [(0, (100, 0)), (100, (200, 100))] {
        let mut t = Trace::of("rack").fixed_window(10).writes(10).timestamps().start();
        t.sends("1-10");
        t.at(100).echoing(0).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
        t.at(300).echoing(echo).ack("C4").rack_segment(segment.0, segment.1);
    }
}

/// Section 6.2, step 2, condition 1, applies only to what is acknowledged cumulatively. While a
/// hole is open, acknowledgements echo what arrived last in order (RFC 7323, section 4.3, step 2),
/// so the echo of a SACK is older than the SACKed segment.
#[test]
fn a_sacked_retransmission_counts_although_its_timestamp_is_not_echoed() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).timestamps().start();
    t.sends("1-10");
    // ssthresh 5, the pipe empty, 8 delivered: both holes may be retransmitted. R1 is lost, too.
    t.at(100).echoing(0).ack("C0 S2-4 S6-10").reports("fast-retransmit").sends("R1 R5");
    // R5 was sent when R1 was, and is further on: 1 was due at 100 + 100 + 0.
    t.at(200).ack("C0 S2-10").rack_segment(100, 100).sends("R1");
    t.at(300).echoing(200).ack("C10").reports("recovered").rack_segment(100, 200).sends("");
}

/// Section 6.2, step 2, condition 2, applies to every retransmission.
#[test]
fn a_retransmission_sacked_too_soon_is_ignored() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).timestamps().start();
    t.sends("1-10");
    t.at(100).echoing(0).ack("C0 S2-4 S6-10").reports("fast-retransmit").sends("R1 R5");
    // The original of 5 is SACKed.
    t.at(199).ack("C0 S2-10").rack_segment(100, 0).sends("");
}

/// Section 3.4, figure 1: P0-P3 are segments 1, 2, 3 and 5 here. Segment 4 has arrived, but its
/// acknowledgement is lost. With it two segments are delivered at once, so that PRR-CRB releases
/// both retransmissions.
#[test]
fn the_losses_of_figure_1_are_repaired_as_described() {
    let mut t = Trace::of("rack").window(10).writes(5).start();
    // 1. P1, P2 and P3 are dropped.
    t.sends("1-5");
    // 2. P0 is acknowledged. 3a. The probe's timer, two round trips after that.
    t.at(100).ack("C1").sends("").timer_at(300);
    // 3b.
    t.at(300).timer().reports("probe").sends("P5");
    // 5a, 5b: P5 was sent at 300, RACK.rtt = 100; 2 and 3 were due at 0 + 100 + 25.
    // 5c: ssthresh = 4/2; RecoverFS 4, the pipe is empty, 2 delivered: PRR releases max(2 − 0, 2) =
    // 2, and 2 − 0 fit.
    t.at(400).ack("C1 S4-5").reports("fast-retransmit").rack_segment(100, 300).sends("R2 R3");
    // 7a: R3 was sent when R2 was, and is further on; R2 is due at 400 + 100 + 0. 7b.
    t.at(500).ack("C1 S3-5").rack_segment(100, 400).sends("R2");
    // 8.
    t.at(600).ack("C5").reports("recovered").sends("").no_timer();
}

/// Section 6.2, step 5: "This timer expires at the earliest moment when RACK would conclude that
/// all the unacknowledged segments within the reordering window were lost."
#[test]
fn the_reordering_timer_waits_for_the_last_of_the_segments() {
    let mut t = Trace::of("rack").fixed_window(3).start();
    t.sends("1-3");
    t.at(100).ack("C1").sends("4");
    t.at(110).ack("C2").sends("5");
    t.at(120).ack("C3").sends("6");
    // 4 was sent at 100, 5 at 110, 6 at 120. RACK.rtt = 100: 4 is due at 225, and 5 at 235.
    t.at(220).ack("C3 S6").rack_segment(100, 120).sends("7").timer_at(235);
    t.at(235).timer().reports("fast-retransmit").sends("R4");
}

/// Section 6.2, step 5: an acknowledgement that arrives while the timer runs detects the loss of
/// the first segment.
#[test]
fn an_acknowledgement_detects_overdue_segments_before_the_timer() {
    let mut t = Trace::of("rack").fixed_window(3).writes(6).start();
    t.sends("1-3");
    t.at(100).ack("C1").sends("4");
    t.at(110).ack("C2").sends("5");
    t.at(120).ack("C3").sends("6");
    t.at(220).ack("C3 S6").sends("").timer_at(235);
    // A duplicate of the last one reports nothing new, but 4 was due at 225.
    t.at(226).ack("C3 S6").reports("fast-retransmit").sends("R4");
}

/// Sections 3.5 and 6.3: a timeout loses only the first segment and those that are overdue.
#[test]
fn a_timeout_loses_the_first_segment_and_overdue_ones() {
    let mut t = Trace::of("rack").fixed_window(10).writes(4).start();
    t.sends("1-4");
    // RecoverFS 4, ssthresh 2, the pipe empty, 3 delivered: max(3 − 0, 3) + 1 = 4, but only 2 − 0
    // fit: R1, and one more when there is something to send.
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").ssthresh(2.0).sends("R1");
    // R1 is lost, too. The timer was set when recovery began. Shortly before it expires, the
    // application writes again.
    t.at(1090).writes(3).sends("5").timer_at(1100);
    // RACK.rtt = 100: 5 would be due at 1090 + 100. It stays in the pipe: cwnd = 1 + 1.
    t.at(1100).timer().reports("timeout").cwnd(2.0).sends("T1");
    // R1's acknowledgement arrives late. "Upon receiving the ACK … the RACK sender would not yet
    // retransmit the second": 5 is in flight, and new data is sent. ssthresh is 2, so cwnd grows by
    // 1/2.
    t.at(1110).ack("C4").cwnd(2.5).sends("6").pipe(2);
}

/// Section 6.3: "for all the other segments, … at least the sum of the recent RTT and the
/// reordering window" has elapsed.
#[test]
fn a_timeout_loses_overdue_segments() {
    let mut t = Trace::of("rack").fixed_window(4).writes(4).start();
    t.sends("1-4").timer_at(200);
    // The handshake gave a round-trip time, so a probe is sent after 2·SRTT; then the timer runs
    // from there.
    t.at(200).timer().reports("probe").sends("P4").timer_at(1200);
    // All four were sent long ago. cwnd = 0 + 1.
    t.at(1200).timer().reports("timeout").cwnd(1.0).sends("T1");
    // Slow start sends two for the acknowledgement of one: 2 and 3.
    t.at(1300).ack("C1").cwnd(2.0).sends("T2 T3");
}

/// Section 6.2: a segment that the reordering timer deems lost during recovery is retransmitted in
/// its own place in the pipe, although no acknowledgement releases it.
#[test]
fn a_segment_that_the_reordering_timer_deems_lost_in_recovery_is_retransmitted() {
    for name in ["rack", "rack+cubic", "unruffled"] {
        let mut t = Trace::of(name).fixed_window(6).writes(12).rtt(100).start();
        t.sends("1-6");
        t.at(100).ack("C1").sends("7");
        // Reordering is seen, but no segment is late enough to be suspected.
        t.at(104).ack("C1 S3").sends("8");
        t.at(106).ack("C3").sends("9");
        t.at(110).ack("C4").sends("10");
        t.at(112).ack("C5").sends("11");
        t.at(130).ack("C6").sends("12");
        t.at(204).ack("C6 S8").sends("");
        t.at(206).ack("C6 S8-9").sends("");
        t.at(212).ack("C6 S8-9 S11").sends("");
        // 7 was sent at 100: 230 > 100 + 100 + 25. 10 was sent at 110, and PRR releases R7 only.
        t.at(230).ack("C6 S8-9 S11-12").reports("fast-retransmit").sends("R7");
        t.at(235).timer().reports("").sends("R10");
    }
}
