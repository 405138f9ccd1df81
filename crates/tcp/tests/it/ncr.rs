//! RFC 4653 step by step, as packet traces: `ncr-careful` and `ncr-aggressive`. Steps and sections
//! are those of the RFC. By default ten segments are sent at 0.

use crate::trace::Trace;

/// (I.1), (I.3), (E.1) to (E.6), aggressive: FlightSizePrev = 10. With each SACKed segment the pipe
/// is 9 ≤ 10 − 1, and one new segment is sent.
#[test]
fn aggressive_sends_one_for_each_sacked_segment() {
    let mut t = Trace::of("ncr-aggressive").window(10).start();
    t.sends("1-10");
    // DupThresh = 1/2 of what is outstanding when the acknowledgement arrives: 10, 11, 12, 13, 14.
    t.at(100).ack("C0 S2").dupthresh(5).sends("11");
    t.at(101).ack("C0 S2-3").dupthresh(5).sends("12");
    t.at(102).ack("C0 S2-4").dupthresh(6).sends("13").pipe(10);
    t.at(103).ack("C0 S2-5").dupthresh(6).sends("14");
    t.at(104).ack("C0 S2-6").dupthresh(7).sends("15").cwnd(10.0);
    // 1 was late. 7 to 15 are outstanding. (T.1): cwnd = min(9 + 1, 10), and slow start adds one
    // for this acknowledgement; (T.2) leaves ssthresh unchanged; (T.3): 11 − 9.
    t.at(125).ack("C6").reports("reordered 5").cwnd(11.0).ssthresh(f64::INFINITY).sends("16 17");
}

/// (I.2), (E.4), careful: because of Skipped, one for every second SACKed segment.
#[test]
fn careful_sends_one_for_every_second_sacked_segment() {
    let mut t = Trace::of("ncr-careful").window(10).start();
    t.sends("1-10");
    // DupThresh = 2/3 of 10, 11, 11, 12, 12, rounded down.
    t.at(100).ack("C0 S2").dupthresh(6).sends("11");
    t.at(101).ack("C0 S2-3").dupthresh(7).sends("");
    t.at(102).ack("C0 S2-4").dupthresh(7).sends("12");
    t.at(103).ack("C0 S2-5").dupthresh(8).sends("");
    t.at(104).ack("C0 S2-6").dupthresh(8).sends("13").pipe(8);
    // (T.1): 7 to 13 are outstanding, cwnd = min(7 + 1, 10), then slow start: 9. No burst.
    t.at(125).ack("C6").reports("reordered 5").cwnd(9.0).sends("14 15");
}

/// (E.5): lost acknowledgements are compensated as far as SACK blocks report their segments.
#[test]
fn a_lost_acknowledgement_does_not_cost_its_segment() {
    let mut t = Trace::of("ncr-aggressive").window(10).start();
    t.sends("1-10");
    t.at(102).ack("C0 S2-4").sends("11-13").pipe(10);
}

/// (T.4): an acknowledgement that advances and carries SACK information restarts the period with
/// the previous FlightSizePrev.
#[test]
fn progress_with_another_hole_restarts_the_period() {
    let mut t = Trace::of("ncr-aggressive").fixed_window(10).start();
    t.sends("1-10");
    t.at(102).ack("C0 S2-4").sends("11-13");
    t.at(104).ack("C0 S2-6").sends("14 15");
    t.at(105).ack("C0 S8 S2-6").sends("16");
    // 1 was late, 7 is missing; 7 to 16 are outstanding, 8 is SACKed. (T.1): cwnd = min(10 + 1, 10).
    // (I.3): DupThresh = 10/2. (E.2): pipe 9 ≤ 10 − 1.
    t.at(125).ack("C6 S8").cwnd(10.0).dupthresh(5).sends("17").pipe(10);
    t.at(126).ack("C6 S8-9").sends("18");
    t.at(127).ack("C9").cwnd(10.0).sends("19");
}

/// Section 3.4: a loss when DupThresh segments are SACKed; ssthresh = cwnd = FlightSizePrev / 2,
/// and DupThresh is held constant.
#[test]
fn a_hole_is_lost_after_about_a_window_and_halves_the_flight_before_it() {
    let mut t = Trace::of("ncr-aggressive").window(10).start();
    t.sends("1-10");
    // At the k-th SACKed segment 9 + k are outstanding: a loss when k ≥ ⌊(9 + k) / 2⌋, so k = 8.
    for k in 1..=7 {
        t.at(99 + k).ack(&format!("C0 S2-{}", 1 + k)).reports("").sends(&format!("{}", 10 + k));
    }
    t.at(107).ack("C0 S2-9").dupthresh(8).reports("fast-retransmit").sends("R1");
    // 17 were outstanding: without FlightSizePrev it would be 8.5, or 10 by RFC 6675's FlightSize.
    t.ssthresh(5.0).cwnd(5.0).pipe(9);
    t.at(200).ack("C0 S2-14").dupthresh(8).sends("18").pipe(5);
    t.at(201).ack("C0 S2-15").dupthresh(8).sends("19");
    // RecoveryPoint is 17. The acknowledgement that ends recovery carries SACK information: a new
    // period begins with FlightSizePrev = cwnd = 5. 18 and 19 are outstanding: 20 to 22 fill the
    // window, and as 19 is SACKed the pipe is 4 ≤ 5 − 1, which releases 23.
    t.at(207).ack("C17 S19").reports("recovered").dupthresh(3).cwnd(5.0).sends("20-23");
}

/// Careful: two thirds. FlightSize grows by one for two SACKed segments.
#[test]
fn careful_limited_transmit_also_waits_for_about_a_window() {
    let mut t = Trace::of("ncr-careful").window(10).start();
    t.sends("1-10");
    // At the k-th SACKed segment 10 + ⌈(k − 1) / 2⌉ are outstanding: ⌊2/3 · 14⌋ = 9 ≤ 9.
    for k in 1..=8_u64 {
        let new = if k % 2 == 1 { format!("{}", 10 + k.div_ceil(2)) } else { String::new() };
        t.at(99 + k).ack(&format!("C0 S2-{}", 1 + k)).reports("").sends(&new);
    }
    t.at(108).ack("C0 S2-10").dupthresh(9).reports("fast-retransmit").sends("R1");
    t.ssthresh(5.0).cwnd(5.0);
}

/// Section 3: if nothing new can be sent, DupThresh follows what is outstanding, so that enough
/// duplicates still arrive.
#[test]
fn without_new_data_the_threshold_is_a_share_of_what_is_outstanding() {
    let mut t = Trace::of("ncr-aggressive").window(10).writes(10).start();
    t.sends("1-10");
    for last in 2..=5 {
        t.at(100).ack(&format!("C0 S2-{last}")).dupthresh(5).reports("").sends("");
    }
    t.at(100).ack("C0 S2-6").reports("fast-retransmit").sends("R1");
}

/// (I.3), (E.6): never below three.
#[test]
fn the_threshold_is_at_least_three() {
    let mut t = Trace::of("ncr-aggressive").window(4).writes(4).start();
    t.sends("1-4");
    t.at(100).ack("C0 S2").dupthresh(3).sends("");
    t.at(101).ack("C0 S2-3").reports("").sends("");
    t.at(102).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
}

/// Section 3.1: SACK information is required. Plain duplicates, and progress without it, have their
/// usual effect.
#[test]
fn without_sack_information_nothing_is_extended() {
    let mut t = Trace::of("ncr-aggressive").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0").sends("");
    t.at(101).ack("C1").cwnd(11.0).sends("11 12");
}

/// A timeout ends the period: ssthresh is half of FlightSizePrev.
#[test]
fn a_timeout_ends_the_period() {
    let mut t = Trace::of("ncr-aggressive").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends("11").timer_at(1000);
    t.at(1000).timer().reports("timeout").ssthresh(5.0).sends("T1");
    t.at(1100).ack("C2").sends("T3 T4");
}
