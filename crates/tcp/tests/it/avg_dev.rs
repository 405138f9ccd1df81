//! AVG-DEV (Leung, Ma) as packet traces. Sections, equations and figures are those of the paper.

use crate::trace::Trace;
use crate::trace::late::{back_to_twenty, spurious_fast_retransmit};

/// (1) to (4) after one event: avg 9, mdev 0. Figure 1: "if k > dupthresh". Section IV-D: the first
/// two duplicates release a segment each, and then every second one.
#[test]
fn the_duplicate_above_the_threshold_makes_a_loss() {
    let mut t = spurious_fast_retransmit(Trace::of("avg-dev"));
    t.dupthresh(9);
    back_to_twenty(&mut t);
    let released = ["46", "47", "", "48", "", "49", "", "50", ""];
    for (last, released) in (27..).zip(released) {
        t.at(300).ack(&format!("C25 S27-{last}")).reports("").sends(released).dupthresh(9);
    }
    t.at(300).ack("C25 S27-36").reports("fast-retransmit").cwnd(10.0).sends("R26");
}

/// Section IV-D: "when dupthresh duplicate ACKs have received".
#[test]
fn with_trigger_at_the_duplicate_at_the_threshold_makes_a_loss() {
    let mut t = spurious_fast_retransmit(Trace::of("avg-dev").set("trigger", "at"));
    back_to_twenty(&mut t);
    t.at(300).ack("C25 S27-34").reports("").sends_any();
    t.at(300).ack("C25 S27-35").reports("fast-retransmit").sends("R26");
}

/// Section III-D: "adjust dupthresh when detecting a false fast retransmission"; abstract: "the
/// lengths of the reordering events reported by a TCP receiver with the … DSACK extension". A
/// reordering without a retransmission is no sample, unless all are requested.
#[test]
fn a_late_segment_without_a_retransmission_is_no_sample() {
    for (samples, dupthresh) in [("false-fast-retransmit", 3), ("dsack", 3), ("all", 12)] {
        let mut t = Trace::of("avg-dev").set("samples", samples).fixed_window(20).start();
        t.sends("1-20");
        // A hole with one SACK far above it.
        t.at(100).ack("C0 S13").reports("").sends_any();
        t.at(100).ack("C1 S13").reports("reordered 12").dupthresh(dupthresh);
    }
}

/// The second event, (1) to (4): avg 0.3·15 + 0.7·9 = 10.8, mdev 0.3·|15 − 9| = 1.8, ⌊10.8 + 0.54⌋.
#[test]
fn average_and_deviation_follow_the_lengths() {
    let mut t = spurious_fast_retransmit(Trace::of("avg-dev"));
    back_to_twenty(&mut t);
    t.at(300).ack("C25 S27-36").reports("fast-retransmit").cwnd(10.0).sends("R26");
    t.at(301).ack("C36").reports("").sends_any();
    t.at(301).ack("C45").reports("recovered").sends_any();
    // 36 − 26 when the original arrived, and 45 − 26 with the DSACK: 14.5, rounded up.
    t.at(400).ack("C45 D26").reports("spurious 26, reordered 15, spurious-fast-retransmit");
    t.dupthresh(11);
}

/// (13) and (4): C1 = 0.5 of the average remains, ⌊4.5⌋; and (12): the threshold that led to the
/// timeout, 9, bounds what follows. A second timeout for the same data changes nothing.
#[test]
fn a_timeout_halves_the_average() {
    let mut t = spurious_fast_retransmit(Trace::of("avg-dev"));
    back_to_twenty(&mut t);
    t.dupthresh(9).at(1215).timer().reports("timeout").dupthresh(4).sends("T26");
    t.at(3215).timer().reports("timeout").dupthresh(4).sends("T26");
}

/// (11), at cwnd 10: with RTO = 350 ms and an RTT of 100 to 102 ms, (0.7·RTO/RTT − 2)·10 is between
/// 4.0 and 4.5, if it always holds, although the segment was late by 9. With RTO/RTT = 2.94 it is
/// 0.6, which is no bound.
#[test]
fn a_recovery_must_fit_into_the_timeout() {
    for (bound, min_rto, dupthresh) in
        [("always", 350, 4), ("lapsing", 350, 9), ("always", 10, 9), ("lapsing", 10, 9)]
    {
        let sender = Trace::of("avg-dev").set("bound", bound);
        let mut t = spurious_fast_retransmit(sender.min_rto(min_rto));
        t.dupthresh(dupthresh);
        let rto = t.connection().rto().as_millis_f64();
        let ratio = rto / t.connection().srtt().expect("measured").as_millis_f64();
        match min_rto {
            350 => assert!(rto == 350.0 && (3.43..3.5).contains(&ratio), "{rto} {ratio}"),
            _ => assert!((2.94..2.95).contains(&ratio), "{ratio}"),
        }
    }
}
