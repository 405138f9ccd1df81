//! RFC 8985 rule by rule, as packet traces. Sections are those of the RFC.
//!
//! Unless a test says otherwise the round trip takes 100 ms, so min_RTT = SRTT = 100 ms and
//! min_RTT/4 = 25 ms, and the retransmission timeout is its minimum of 1 s.

mod trace;

use trace::Trace;

/// Section 6.2, step 4: "it starts with a conservative RACK.reo_wnd of RACK.min_RTT/4"; step 5:
/// lost when Segment.xmit_ts + RACK.rtt + RACK.reo_wnd − now ≤ 0.
#[test]
fn the_reordering_window_is_a_quarter_of_the_least_round_trip() {
    let mut t = Trace::of("rack").window(10).start();
    t.sends("1-10");
    // RACK.segment is 2, sent at 0, RACK.rtt = 100: segment 1 is lost at 0 + 100 + 25. Its SACK
    // lets one new segment go (limited transmit).
    t.at(100).ack("C0 S2").rack_segment(100, 0).sends("11").timer_at(125);
    t.at(125).timer().sees("fast-retransmit").sends("R1");
    // The window before was full with 10, 11 was limited transmit's: ssthresh = 10/2.
    t.ssthresh(5.0);
}

/// Section 6.2, step 5: a segment that is late by less than the window is not lost.
#[test]
fn a_segment_late_by_less_than_the_window_is_not_resent() {
    let mut t = Trace::of("rack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    // 10 + 1 outstanding, 2 acknowledged: the window is 10, and slow start makes it 11.
    t.at(124).ack("C2").sees("reordered 1").reo_wnd(true, 1, 0).sends("12 13").cwnd(11.0);
}

/// Section 6.2, step 4: without reordering seen, `RACK.segs_sacked >= DupThresh` makes reo_wnd 0.
#[test]
fn three_sacked_segments_are_enough_when_no_reordering_was_seen() {
    let mut t = Trace::of("rack").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    // RACK.rtt = 101: 0 + 101 + 25.
    t.at(101).ack("C0 S2-3").sends("12").timer_at(126);
    // RACK.rtt = 102 and reo_wnd = 0: 0 + 102 + 0 − 102 ≤ 0.
    t.at(102).ack("C0 S2-4").sees("fast-retransmit").sends("R1");
}

/// Section 6.2, step 4: "if some reordering has been observed, then RACK does not trigger fast
/// recovery based on DupThresh".
#[test]
fn three_sacked_segments_are_not_enough_once_reordering_was_seen() {
    let mut t = Trace::of("rack").fixed_window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11");
    t.at(100).ack("C2").reo_wnd(true, 1, 0).sends("12");
    // Now 3 is missing. RACK.rtt = 100, so it is due at 0 + 100 + 25, however many are SACKed.
    t.at(100).ack("C2 S4-9").sends("13-18").timer_at(125);
    t.at(125).timer().sees("fast-retransmit").sends("R3");
}

/// Section 6.2, step 4: "the RACK.reo_wnd is set to 0 both upon entering and during fast recovery",
/// when no reordering has been seen.
#[test]
fn in_recovery_the_window_is_zero_when_no_reordering_was_seen() {
    let mut t = Trace::of("rack").fixed_window(10).start();
    t.sends("1-10");
    // PRR: RecoverFS 10, ssthresh 5, 3 delivered: ⌈3·5/10⌉ = 2 go.
    t.at(100).ack("C0 S2-4").sees("fast-retransmit").sends("R1 11").pipe(8);
    // 5 was sent at 0, RACK.rtt = 101: 0 + 101 + 0 − 101 ≤ 0, lost at once: 11 outstanding − 4
    // SACKed − 1 lost. Of ⌈4·5/10⌉ = 2 both have gone.
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
    // 1 came twice, by the network's doing: "any DSACK option".
    t.at(100).ack("C1 D1").reo_wnd(false, 2, 16).sends("");
    // The round ends when what was sent by then, up to 5, is acknowledged.
    t.at(100).ack("C4 D1").reo_wnd(false, 2, 16).sends("6-8");
    t.at(200).ack("C5").reo_wnd(false, 2, 16).sends("9");
    t.at(200).ack("C6 D2").reo_wnd(false, 3, 16).sends("10");
    // min_RTT·3/4 = 75: segment 7, sent at 100, is due at 100 + 100 + 75.
    t.at(200).ack("C6 S8").sends("11").timer_at(275);
}

/// Section 6.2, step 4: the round is over, and the next begins, with one and the same
/// acknowledgement.
#[test]
fn the_acknowledgement_that_ends_a_round_may_widen_the_window_again() {
    let mut t = Trace::of("rack").fixed_window(4).start();
    t.sends("1-4");
    t.at(100).ack("C1 D1").reo_wnd(false, 2, 16).sends("5");
    // SND.NXT was behind 4 when the DSACK was read.
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
    t.at(800).timer().sees("fast-retransmit").sends("R25");
}

/// Loses the first of two segments at `ms`, when all before `first` have been acknowledged and the
/// reordering window is `reo_wnd`, and recovers with `last_ack` for the last acknowledgement.
fn lose_one_of_two(t: &mut Trace, ms: u64, first: u64, reo_wnd: u64, last_ack: &str) {
    let second = first + 1;
    t.at(ms).writes(2).sends(&format!("{first} {second}"));
    t.at(ms + 100).ack(&format!("C{} S{second}", first - 1)).sends("");
    t.timer_at(ms + 100 + reo_wnd);
    // ssthresh is at least 2, so that two may always go.
    t.at(ms + 100 + reo_wnd).timer().sees("fast-retransmit").sends(&format!("R{first}"));
    t.at(ms + 300).ack(last_ack).sees("recovered").cwnd(2.0);
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
    // 5 was never retransmitted, so this takes nothing back.
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
    t.at(100).ack("C0 S2-4").sees("fast-retransmit").sends("R1");
    t.at(150).ack("C4").reo_wnd(false, 1, 0).sends("");
}

/// Section 6.2, step 3: the segment may also arrive below a segment that was only SACKed, and may
/// itself be only SACKed.
#[test]
fn an_original_below_the_forward_acknowledgement_is_reordering() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S4").reo_wnd(false, 1, 0);
    t.at(100).ack("C0 S3-4").sees("reordered 1").reo_wnd(true, 1, 0);
}

/// Section 6.2, step 2, condition 2: "The segment was last retransmitted less than RACK.min_rtt
/// ago" makes it invalid.
#[test]
fn a_retransmission_acknowledged_too_soon_says_nothing() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").sees("fast-retransmit").sends("R1").rack_segment(100, 0);
    // The original of 1, not what was sent 99 ms ago.
    t.at(199).ack("C4").rack_segment(100, 0).sends("");
    // All of 5-10 were sent at 0: due at 0 + 100 + 0, the window being zero in recovery; that is
    // passed, but none of them was sent before RACK.segment (2-4, all sent at 0).
    t.pipe(6);
}

/// Section 6.2, step 2: after min_RTT the retransmission counts.
#[test]
fn a_retransmission_acknowledged_after_the_least_round_trip_counts() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").sees("fast-retransmit").sends("R1");
    // RACK.segment is R1, sent at 100, so 5-10 sent at 0 are overdue since 0 + 100.
    // PRR: RecoverFS 10, ssthresh 5; delivered 3 + 1 = 4, sent 1; pipe is 0, and more is lost, so at
    // most max(4 − 1, 1) = 3 go, and 5 − 0 would fit.
    t.at(200).ack("C4").rack_segment(100, 100).sends("R5-7");
}

/// Section 6.2, step 2, condition 1: `ACK.ts_option.echo_reply < Segment.xmit_ts` makes it invalid
/// however long ago the retransmission was.
#[test]
fn a_retransmission_whose_timestamp_is_not_echoed_says_nothing() {
    for (echo, segment) in [(0, (100, 0)), (100, (200, 100))] {
        let mut t = Trace::of("rack").fixed_window(10).writes(10).timestamps().start();
        t.sends("1-10");
        t.at(100).echoing(0).ack("C0 S2-4").sees("fast-retransmit").sends("R1");
        t.at(300).echoing(echo).ack("C4").rack_segment(segment.0, segment.1);
    }
}

/// Section 6.2, step 2, condition 1, is asked only of what is covered cumulatively: while a hole is
/// open, acknowledgements echo what arrived last in order (RFC 7323, section 4.3, step 2), so the
/// echo of a SACK is older than what it covers.
#[test]
fn a_sacked_retransmission_counts_though_its_timestamp_is_not_echoed() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).timestamps().start();
    t.sends("1-10");
    // ssthresh 5, the pipe empty, 8 delivered: both holes may go. R1 is lost, too.
    t.at(100).echoing(0).ack("C0 S2-4 S6-10").sees("fast-retransmit").sends("R1 R5");
    // R5 was sent when R1 was, and is further on: 1 was due at 100 + 100 + 0.
    t.at(200).ack("C0 S2-10").rack_segment(100, 100).sends("R1");
    t.at(300).echoing(200).ack("C10").sees("recovered").rack_segment(100, 200).sends("");
}

/// Section 6.2, step 2, condition 2, is asked of every retransmission.
#[test]
fn a_retransmission_sacked_too_soon_says_nothing() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).timestamps().start();
    t.sends("1-10");
    t.at(100).echoing(0).ack("C0 S2-4 S6-10").sees("fast-retransmit").sends("R1 R5");
    // The original of 5.
    t.at(199).ack("C0 S2-10").rack_segment(100, 0).sends("");
}

/// Section 3.4, figure 1: P0-P3 are segments 1, 2, 3 and 5 here. Segment 4 has arrived, but its
/// acknowledgement is lost; with it two segments are delivered at once, so that PRR-CRB lets both
/// retransmissions go.
#[test]
fn figure_1() {
    let mut t = Trace::of("rack").window(10).writes(5).start();
    // 1. P1, P2 and P3 are dropped.
    t.sends("1-5");
    // 2. P0 is acknowledged. 3a. The probe's timer, two round trips after that.
    t.at(100).ack("C1").sends("").timer_at(300);
    // 3b.
    t.at(300).timer().sees("probe").sends("P5");
    // 5a, 5b: P5 was sent at 300, RACK.rtt = 100; 2 and 3 were due at 0 + 100 + 25.
    // 5c: ssthresh = 4/2; RecoverFS 4, the pipe is empty, 2 delivered: PRR lets max(2 − 0, 2) = 2
    // go, and 2 − 0 fit.
    t.at(400).ack("C1 S4-5").sees("fast-retransmit").rack_segment(100, 300).sends("R2 R3");
    // 7a: R3 was sent when R2 was, and is further on; R2 is due at 400 + 100 + 0. 7b.
    t.at(500).ack("C1 S3-5").rack_segment(100, 400).sends("R2");
    // 8.
    t.at(600).ack("C5").sees("recovered").sends("").no_timer();
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
    t.at(235).timer().sees("fast-retransmit").sends("R4");
}

/// Section 6.2, step 5: an acknowledgement that comes while the timer runs finds the first lost.
#[test]
fn an_acknowledgement_finds_what_is_overdue_before_the_timer() {
    let mut t = Trace::of("rack").fixed_window(3).writes(6).start();
    t.sends("1-3");
    t.at(100).ack("C1").sends("4");
    t.at(110).ack("C2").sends("5");
    t.at(120).ack("C3").sends("6");
    t.at(220).ack("C3 S6").sends("").timer_at(235);
    // A duplicate of the last one brings nothing new, but 4 was due at 225.
    t.at(226).ack("C3 S6").sees("fast-retransmit").sends("R4");
}

/// Sections 3.5 and 6.3: on a timeout only the first segment is lost, and what is overdue.
#[test]
fn a_timeout_loses_the_first_segment_and_what_is_overdue() {
    let mut t = Trace::of("rack").fixed_window(10).writes(4).start();
    t.sends("1-4");
    // RecoverFS 4, ssthresh 2, the pipe empty, 3 delivered: max(3 − 0, 3) + 1 = 4, but only
    // 2 − 0 fit: R1, and one more when there is something to send.
    t.at(100).ack("C0 S2-4").sees("fast-retransmit").ssthresh(2.0).sends("R1");
    // R1 is lost, too. The timer was set when recovery began. Shortly before, the application
    // writes again.
    t.at(1090).writes(3).sends("5").timer_at(1100);
    // RACK.rtt = 100: 5 would be due at 1090 + 100. It stays in the pipe: cwnd = 1 + 1.
    t.at(1100).timer().sees("timeout").cwnd(2.0).sends("T1");
    // R1's acknowledgement, much delayed. "Upon receiving the ACK … the RACK sender would not yet
    // retransmit the second": 5 is in flight, new data goes. ssthresh is 2, so cwnd grows by 1/2.
    t.at(1110).ack("C4").cwnd(2.5).sends("6").pipe(2);
}

/// Section 6.3: "for all the other segments, … at least the sum of the recent RTT and the
/// reordering window" has elapsed.
#[test]
fn a_timeout_loses_the_segments_that_are_overdue() {
    let mut t = Trace::of("rack").fixed_window(4).writes(4).start();
    t.sends("1-4").timer_at(200);
    // The handshake gave a round-trip time, so a probe goes out after 2·SRTT; then the timer runs
    // from there.
    t.at(200).timer().sees("probe").sends("P4").timer_at(1200);
    // All four were sent an age ago. cwnd = 0 + 1.
    t.at(1200).timer().sees("timeout").cwnd(1.0).sends("T1");
    // Slow start sends two for the acknowledgement of one: 2 and 3.
    t.at(1300).ack("C1").cwnd(2.0).sends("T2 T3");
}

/// Section 7.2: "the default PTO interval is 2*SRTT", restarted "after transmitting new data" and
/// "upon receiving an ACK that cumulatively acknowledges new data".
#[test]
fn the_probe_is_due_two_round_trips_after_the_last_progress() {
    let mut t = Trace::of("rack").fixed_window(4).writes(4).start();
    t.sends("1-4").timer_at(200);
    t.at(100).ack("C1").sends("").timer_at(300);
    t.at(150).writes(1).sends("5").timer_at(350);
    // Data that cannot be sent restarts nothing.
    t.at(160).writes(1).sends("").timer_at(350);
}

/// Section 7.2: `If FlightSize is one segment: PTO += TLP.max_ack_delay`, 200 ms here.
#[test]
fn a_lone_segment_waits_for_a_delayed_acknowledgement() {
    let mut t = Trace::of("rack").writes(2).start();
    t.sends("1 2").timer_at(200);
    t.at(100).ack("C1").timer_at(500);
}

/// Section 7.2: no PTO while "segments have been SACKed" or in recovery.
#[test]
fn there_is_no_probe_while_segments_are_sacked_or_in_recovery() {
    let mut t = Trace::of("rack").fixed_window(4).writes(4).start();
    t.sends("1-4");
    // Only the reordering timer runs after this; 3 could be late.
    t.at(100).ack("C1 S4").sends("").timer_at(125);
    t.at(125).timer().sees("fast-retransmit").sends("R2");
    // Two of three are out (PRR: ssthresh 2, RecoverFS 3); the timer is RFC 6298's.
    t.at(126).writes(1).sends("").timer_at(1125);
}

/// Section 7.2: "If the time at which an RTO would fire is sooner than the computed time for the
/// PTO, then the sender schedules a TLP to be sent at that RTO time."
#[test]
fn the_timeout_bounds_the_probe() {
    // RFC 6298 after the handshake: SRTT 100, RTTVAR 50, RTO 300. The probe for a lone segment
    // would be due after 400.
    let mut t = Trace::of("rack").min_rto(10).writes(1).start();
    t.sends("1").rto(300.0).timer_at(300);
    // A probe, no timeout; then the timer starts again (section 7.3).
    t.at(300).timer().sees("probe").sends("P1").timer_at(600);
    t.at(600).timer().sees("timeout").sends("T1");
}

/// Section 7.2: "when there is no SRTT estimate available, the PTO SHOULD be 1 second" needs a
/// connection without a timed handshake; the engine always has one. Section 7.3: the probe is
/// "a previously unsent data segment, if one exists", one beyond the window.
#[test]
fn a_probe_prefers_new_data() {
    let mut t = Trace::of("rack").fixed_window(2).start();
    t.sends("1 2");
    t.at(200).timer().sees("probe").sends("3").pipe(3);
    // Section 7.4.2: `If not TLP.is_retrans`: its acknowledgement ends the matter. The pipe is
    // empty, and the window is what it was.
    t.at(300).ack("C3").cwnd(2.0).sends("4 5");
    t.at(400).ack("C5").cwnd(2.0).sends("6 7");
}

/// Section 7.3: "the sender SHOULD retransmit the highest-sequence segment sent so far"; "at most
/// one" probe is in flight; then the retransmission timer, not the PTO, runs.
#[test]
fn without_new_data_the_last_segment_is_the_one_probe() {
    let mut t = Trace::of("rack").writes(3).start();
    t.sends("1-3");
    t.at(200).timer().sees("probe").sends("P3").timer_at(1200);
    // New data schedules a probe, two round trips on; but one is in flight. Then "the sender MUST
    // skip sending a loss probe and MUST proceed to re-arm the RTO timer".
    t.at(210).writes(1).sends("4").timer_at(410);
    t.at(410).timer().sees("").sends("").timer_at(1410);
    t.at(1410).timer().sees("timeout").sends("T1");
}

/// Section 7.3: nor is there a second probe with a new round-trip time, while one is in flight.
#[test]
fn there_is_one_probe_at_a_time() {
    let mut t = Trace::of("rack").writes(4).start();
    t.sends("1-4");
    t.at(200).timer().sees("probe").sends("P4");
    // A sample: SRTT = 100 + (220 − 100)/(8·4) = 103.75. Three are left, and the probe.
    t.at(220).ack("C1").srtt(103.75);
    let due = t.connection().poll_timeout();
    t.after_ns(207_500_000);
    assert_eq!(due, t.connection().poll_timeout(), "2·SRTT on");
    t.timer().sees("").sends("");
}

/// Section 7.3: "the sender has obtained an RTT measurement since the last loss probe".
#[test]
fn there_is_no_second_probe_without_a_new_round_trip_time() {
    let mut t = Trace::of("rack").writes(1).start();
    t.sends("1").timer_at(400);
    t.at(400).timer().sees("probe").sends("P1");
    // Ambiguous, so no round-trip time; the DSACK ends the probe (section 7.4.2, case 1).
    t.at(450).ack("C1 D1").no_timer();
    t.at(500).writes(1).sends("2").timer_at(900);
    t.at(900).timer().sees("").sends("").timer_at(1900);
    // With one (of 1000 ms), there is. SRTT = 100 + (1000 − 100)/8 = 212.5.
    t.at(1500).ack("C2").srtt(212.5).no_timer();
    t.at(1600).writes(2).sends("3 4").timer_at(2025);
    t.at(2025).timer().sees("probe").sends("P4");
}

/// Section 7.4.2, case 1: a DSACK of the probe says that there was no loss.
#[test]
fn a_dsack_of_the_probe_says_that_nothing_was_lost() {
    let mut t = Trace::of("rack").fixed_window(10).writes(3).start();
    t.sends("1-3");
    t.at(200).timer().sends("P3");
    t.at(210).ack("C3");
    t.at(300).ack("C3 D3").cwnd(10.0);
    t.at(301).writes(10).sends("4-13");
    t.at(401).ack("C4").cwnd(10.0).ssthresh(f64::INFINITY);
}

/// Section 7.4.2, case 2: so does a duplicate acknowledgement without SACK, of a receiver that has
/// no DSACK.
#[test]
fn a_duplicate_acknowledgement_of_the_probe_says_that_nothing_was_lost() {
    let mut t = Trace::of("rack").fixed_window(10).writes(3).start();
    t.sends("1-3");
    t.at(200).timer().sends("P3");
    t.at(210).ack("C3");
    // Nothing is outstanding.
    t.at(300).ack("C3");
    t.at(301).writes(10).sends("4-13");
    t.at(401).ack("C4").cwnd(10.0).ssthresh(f64::INFINITY);
}

/// Section 7.4.2: "Repaired the single loss": "a congestion control response equivalent to a fast
/// recovery".
#[test]
fn a_loss_that_the_probe_repaired_halves_the_window() {
    let mut t = Trace::of("rack").fixed_window(10).writes(3).start();
    t.sends("1-3");
    t.at(100).ack("C2").timer_at(500);
    t.at(500).timer().sends("P3");
    t.at(600).ack("C3").cwnd(10.0);
    t.at(601).writes(11).sends("4-13");
    // No sign of the original until what came after the probe is acknowledged: it was lost. 10 were
    // in flight, of which 9 are left: ssthresh = 9/2. This acknowledgement already grows the window.
    t.at(701).ack("C4").sees("").ssthresh(4.5).cwnd(4.5 + 1.0 / 4.5).sends("");
}

/// Section 7.1: recovery ends the probe's episode; the loss is reacted to once.
#[test]
fn recovery_ends_the_matter_of_the_probe() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C1").timer_at(300);
    t.at(300).timer().sends("P10");
    // 2-9 were due at 0 + 100 + 25. 9 outstanding: ssthresh 4.5.
    t.at(400).ack("C1 S10").sees("fast-retransmit").ssthresh(4.5).sends("R2");
    t.at(500).ack("C2 S10").ssthresh(4.5).sends("R3 R4");
    t.at(600).ack("C4 S10").ssthresh(4.5).sends("R5-7");
    t.at(700).ack("C7 S10").ssthresh(4.5).sends("R8 R9");
    // PRR had left more: max(7 − 6, 3) + 1 = 4, of which 2 were to be resent.
    t.at(790).writes(1).sends("11");
    t.at(800).ack("C10").sees("recovered").ssthresh(4.5).cwnd(4.5);
    // Beyond the probe; but what it repaired has been reacted to.
    t.at(890).ack("C11").ssthresh(4.5).cwnd(4.5);
}

/// RFC 9937, section 6: PRR sends ssthresh/RecoverFS segments for each one delivered, then keeps the
/// pipe at ssthresh.
#[test]
fn the_window_goes_down_in_proportion() {
    let mut t = Trace::of("rack").fixed_window(20).start();
    t.sends("1-20");
    t.at(100).ack("C0 S2").sends("21");
    t.at(100).ack("C0 S2-3").sends("22");
    // 22 outstanding, of which 2 were SACKed before: RecoverFS = 20, ssthresh = 20/2. After k
    // acknowledgements ⌈k·10/20⌉ may have gone. The pipe is 22 − 3 − 1 + 1 = 19 after the first.
    t.at(100).ack("C0 S2-4").sees("fast-retransmit").ssthresh(10.0).sends("R1").pipe(19);
    let (mut new, mut pipe) = (23, 19);
    for k in 2_u32..=16 {
        t.at(101).ack(&format!("C0 S2-{}", k + 3));
        let go = k.div_ceil(2) - (k - 1).div_ceil(2);
        t.sends(&if go == 1 { new.to_string() } else { String::new() });
        (new, pipe) = (new + go, pipe - 1 + go);
        t.pipe(pipe);
    }
    assert_eq!((new, pipe), (30, 11), "seven new ones, and one to go to ssthresh");
    // The pipe comes down to ssthresh with the next, and stays there.
    t.at(102).ack("C0 S2-20").sends("").pipe(10);
    t.at(103).ack("C0 S2-21").sends("30").pipe(10);
    t.at(104).ack("C0 S2-22").sends("31").pipe(10);
    // Recovery ends with the window at ssthresh: R1 is delivered, 23-31 are in flight.
    t.at(200).ack("C22").sees("recovered").cwnd(10.0).sends("32").pipe(10);
}

/// RFC 9937, section 6, PRR-CRB and PRR-SSRB: when losses take the pipe below ssthresh, as much goes
/// as is delivered, and slow start leads back once the losses have an end.
#[test]
fn heavy_loss_slow_starts_back_to_ssthresh() {
    let mut t = Trace::of("rack").fixed_window(20).writes(20).start();
    t.sends("1-20");
    // 17 of 20 lost. ssthresh 10, pipe 20 − 3 − 17 = 0; 3 delivered: max(3 − 0, 3) = 3.
    t.at(100).ack("C0 S18-20").sees("fast-retransmit").ssthresh(10.0).sends("R1-3").pipe(3);
    // SND.UNA advances: one more goes than is delivered. Delivered 4, sent 3: max(1, 1) + 1 = 2.
    t.at(200).ack("C1 S18-20").sends("R4 R5").pipe(4);
    t.at(200).ack("C2 S18-20").sends("R6 R7").pipe(5);
    t.at(200).ack("C3 S18-20").sends("R8 R9").pipe(6);
    // Delivered 8, sent 9: max(−1, 2) + 1 = 3.
    t.at(300).ack("C5 S18-20").sends("R10-12").pipe(7);
}

/// RFC 9937, section 6: "If (DeliveredData is 0) Return".
#[test]
fn what_delivers_nothing_lets_nothing_go() {
    let mut t = Trace::of("rack").fixed_window(20).writes(20).start();
    t.sends("1-20");
    t.at(100).ack("C0 S18-20").sees("fast-retransmit").sends("R1-3").pipe(3);
    t.at(101).ack("C0 S18-20").sends("").pipe(3);
    t.at(102).ack("C0 D18 S18-20").sends("").pipe(3);
}

/// A budget that one recovery left over is no leave for the next, even when that begins by a timer
/// and not with an acknowledgement.
#[test]
fn a_recovery_that_begins_by_the_timer_resends_one_segment() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    // 9 delivered, the pipe empty: 5 − 0 may go, but there is 1 to resend and nothing else.
    t.at(100).ack("C0 S2-10").sees("fast-retransmit").sends("R1");
    t.at(200).ack("C10").sees("recovered").cwnd(5.0);
    t.at(300).writes(5).sends("11-15");
    // 11-13 are due at 300 + 100 + 25.
    t.at(400).ack("C10 S14").sends("").timer_at(425);
    t.at(425).timer().sees("fast-retransmit").sends("R11");
}

/// Section 9.3 and `Undo` as Linux does it: when every retransmission proves needless, window and
/// threshold are as before.
#[test]
fn a_dsack_takes_the_reduction_back() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").sees("fast-retransmit").ssthresh(5.0).sends("R1");
    // The original was 3 late.
    t.at(103).ack("C4").sees("").sends("");
    t.at(200).ack("C4 D1").sees("needless 1, reordered 3, false-fast-retransmit, recovered");
    t.cwnd(10.0).ssthresh(f64::INFINITY).reo_wnd(false, 2, 16);
}

/// One of two retransmissions was needed: nothing is taken back.
#[test]
fn a_reduction_with_a_needed_retransmission_stays() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    // RecoverFS 10, ssthresh 5, pipe 10 − 4 − 2 = 4 < 5: 5 − 4 may go; then one for each.
    t.at(100).ack("C0 S2-4 S6").sees("fast-retransmit").ssthresh(5.0).sends("R1");
    t.at(101).ack("C0 S2-4 S6-7").sends("R5");
    t.at(103).ack("C4 S6-7").sees("");
    t.at(200).ack("C4 D1 S6-7").sees("needless 1, reordered 6").ssthresh(5.0);
    t.at(201).ack("C10").sees("recovered").cwnd(5.0).ssthresh(5.0);
}
