//! RACK's tail loss probes (RFC 8985, section 7) as packet traces.

use crate::trace::Trace;

/// Section 7.2: "the default PTO interval is 2*SRTT", restarted "after transmitting new data" and
/// "upon receiving an ACK that cumulatively acknowledges new data".
#[test]
fn the_probe_is_due_two_round_trips_after_the_last_progress() {
    let mut t = Trace::of("rack").fixed_window(4).writes(4).start();
    t.sends("1-4").timer_at(200);
    t.at(100).ack("C1").sends("").timer_at(300);
    t.at(150).writes(1).sends("5").timer_at(350);
    // Data that cannot be sent does not restart the timer.
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
    t.at(125).timer().reports("fast-retransmit").sends("R2");
    // Two of three are outstanding (PRR: ssthresh 2, RecoverFS 3); the timer is that of RFC 6298.
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
    // A probe and no timeout; then the timer starts again (section 7.3).
    t.at(300).timer().reports("probe").sends("P1").timer_at(600);
    t.at(600).timer().reports("timeout").sends("T1");
}

/// RFC 3522: an echo earlier than the first retransmission proves a timeout spurious, and the first
/// retransmission was the probe. The receiver has reported a duplicate; otherwise nothing would be
/// proved here.
#[test]
fn an_answer_to_the_probe_does_not_prove_the_timeout_spurious() {
    let timed_out = || {
        let mut t = Trace::of("rack+eifel").timestamps().fixed_window(4).writes(1).start();
        t.sends("1").at(100).echoing(0).ack("C1").at(150).ack("C1 D1");
        t.at(200).writes(1).sends("2").at(600).timer().reports("probe").sends("P2");
        t.at(1600).timer().reports("timeout").sends("T2");
        t
    };
    timed_out().at(1610).echoing(600).ack("C2").reports("recovered");
    timed_out().at(1610).echoing(200).ack("C2").reports("spurious-timeout, recovered");
}

/// Section 7.2: "when there is no SRTT estimate available, the PTO SHOULD be 1 second" requires a
/// connection without a timed handshake; the engine always has one. Section 7.3: the probe is "a
/// previously unsent data segment, if one exists", one beyond the window.
#[test]
fn a_probe_prefers_new_data() {
    let mut t = Trace::of("rack").fixed_window(2).start();
    t.sends("1 2");
    t.at(200).timer().reports("probe").sends("3").pipe(3);
    // Section 7.4.2: `If not TLP.is_retrans`: the acknowledgement of the probe ends its episode.
    // The pipe is empty, and the window is unchanged.
    t.at(300).ack("C3").cwnd(2.0).sends("4 5");
    t.at(400).ack("C5").cwnd(2.0).sends("6 7");
}

/// Section 7.3: "the sender SHOULD retransmit the highest-sequence segment sent so far"; "at most
/// one" probe is in flight; then the retransmission timer, not the PTO, runs.
#[test]
fn without_new_data_the_last_segment_is_the_one_probe() {
    let mut t = Trace::of("rack").writes(3).start();
    t.sends("1-3");
    t.at(200).timer().reports("probe").sends("P3").timer_at(1200);
    // New data schedules a probe two round trips later, but one is in flight. Then "the sender MUST
    // skip sending a loss probe and MUST proceed to re-arm the RTO timer", for its previous time.
    t.at(210).writes(1).sends("4").timer_at(410);
    t.at(410).timer().reports("").sends("").timer_at(1200);
    t.at(1200).timer().reports("timeout").sends("T1");
}

/// Section 7.3: "This ensures RTO recovery remains the last resort if TLP fails." The path is dead,
/// and the application writes a segment every 250 ms.
#[test]
fn new_data_does_not_postpone_the_timeout() {
    let mut t = Trace::of("rack").window(100).writes(1).start();
    t.sends("1").timer_at(400);
    t.at(250).writes(1).sends("2").timer_at(450);
    t.at(450).timer().reports("probe").sends("P2").timer_at(1450);
    for n in 2..6 {
        t.at(250 * n).writes(1).sends(&(n + 1).to_string()).timer_at(250 * n + 200);
        t.at(250 * n + 200).timer();
        if n < 5 {
            t.reports("").sends("");
        }
    }
    t.reports("timeout").sends("T1").rto(2000.0);
}

/// Section 7.3: there is no second probe with a new round-trip time either, while one is in flight.
#[test]
fn there_is_one_probe_at_a_time() {
    let mut t = Trace::of("rack").writes(4).start();
    t.sends("1-4");
    t.at(200).timer().reports("probe").sends("P4");
    // A sample: SRTT = 100 + (220 − 100)/(8·4) = 103.75. Three remain, and the probe.
    t.at(220).ack("C1").srtt(103.75);
    let due = t.connection().poll_timeout();
    t.after_ns(207_500_000);
    assert_eq!(due, t.connection().poll_timeout(), "2·SRTT later");
    t.timer().reports("").sends("");
}

/// Section 7.3: "the sender has obtained an RTT measurement since the last loss probe".
#[test]
fn there_is_no_second_probe_without_a_new_round_trip_time() {
    let mut t = Trace::of("rack").writes(1).start();
    t.sends("1").timer_at(400);
    t.at(400).timer().reports("probe").sends("P1");
    // Ambiguous, so there is no round-trip time; the DSACK ends the probe (section 7.4.2, case 1).
    t.at(450).ack("C1 D1").no_timer();
    t.at(500).writes(1).sends("2").timer_at(900);
    t.at(900).timer().reports("").sends("").timer_at(1500);
    // With a new round-trip time (of 900 ms), there is one. SRTT = 100 + (900 − 100)/8 = 200.
    t.at(1400).ack("C2").srtt(200.0).no_timer();
    t.at(1600).writes(2).sends("3 4").timer_at(2000);
    t.at(2000).timer().reports("probe").sends("P4");
}

/// Section 7.4.2, case 1: a DSACK of the probe shows that there was no loss.
#[test]
fn a_dsack_of_the_probe_shows_that_nothing_was_lost() {
    let mut t = Trace::of("rack").fixed_window(10).writes(3).start();
    t.sends("1-3");
    t.at(200).timer().sends("P3");
    t.at(210).ack("C3");
    t.at(300).ack("C3 D3").cwnd(10.0);
    t.at(301).writes(10).sends("4-13");
    t.at(401).ack("C4").cwnd(10.0).ssthresh(f64::INFINITY);
}

/// Section 7.4.2, case 2: so does a duplicate acknowledgement without SACK, from a receiver without
/// DSACK.
#[test]
fn a_duplicate_acknowledgement_of_the_probe_shows_that_nothing_was_lost() {
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
    // The original counts as lost when data sent after the probe is acknowledged without any sign
    // of it. This acknowledgement already grows the window.
    t.at(701).ack("C4").reports("").ssthresh(5.0).cwnd(5.0 + 1.0 / 5.0).sends("");
}

/// The same when nothing is in flight any more at that time.
#[test]
fn a_loss_that_the_probe_repaired_halves_the_window_after_a_pause_too() {
    for name in ["rack", "unruffled"] {
        let mut t = Trace::of(name).fixed_window(10).writes(10).start();
        t.sends("1-10");
        t.at(100).ack("C9").sends("").timer_at(500);
        t.at(500).timer().sends("P10");
        t.at(600).ack("C10").cwnd(10.0);
        t.at(1000).writes(1).sends("11");
        t.at(1100).ack("C11").reports("").ssthresh(5.0).cwnd(5.0);
    }
}

/// Section 7.1: recovery ends the probe's episode, so the loss reduces the window once.
#[test]
fn recovery_ends_the_episode_of_the_probe() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C1").timer_at(300);
    t.at(300).timer().sends("P10");
    // 2-9 were due at 0 + 100 + 25. 9 outstanding: ssthresh 4.5.
    t.at(400).ack("C1 S10").reports("fast-retransmit").ssthresh(4.5).sends("R2");
    t.at(500).ack("C2 S10").ssthresh(4.5).sends("R3 R4");
    t.at(600).ack("C4 S10").ssthresh(4.5).sends("R5-7");
    t.at(700).ack("C7 S10").ssthresh(4.5).sends("R8 R9");
    // PRR had released more: max(7 − 6, 3) + 1 = 4, of which 2 were to be retransmitted.
    t.at(790).writes(1).sends("11");
    t.at(800).ack("C10").reports("recovered").ssthresh(4.5).cwnd(4.5);
    // Beyond the probe, but the window was already reduced for what it repaired.
    t.at(890).ack("C11").ssthresh(4.5).cwnd(4.5);
}
