//! `quic` as packet traces: RFC 9002's two thresholds on a TCP sender. The round trip takes 80 ms,
//! so kTimeThreshold = 9/8 is 90 ms.

use crate::trace::Trace;

/// Section 6.1.1, kPacketThreshold = 3: a packet three behind the largest acknowledged one is lost,
/// however few between them are acknowledged.
#[test]
fn three_packets_behind_is_lost_with_two_acknowledged_above() {
    let mut t = Trace::of("quic").rtt(80).window(10).start();
    t.sends("1-10");
    // 4 − 1 = 3: 1 is lost. 3 is one behind. Half of the flight of ten.
    t.at(80).ack("C0 S2 S4").reports("fast-retransmit").ssthresh(5.0).sends("R1");
}

/// Section 6.1.2: max(kTimeThreshold · max(smoothed_rtt, latest_rtt), kGranularity) after it was
/// sent, by a timer, if something sent later is acknowledged.
#[test]
fn a_packet_older_than_nine_eighths_of_a_round_trip_is_lost() {
    let mut t = Trace::of("quic").rtt(80).window(10).start();
    t.sends("1-10");
    t.at(80).ack("C0 S2").reports("").sends("11").timer_at(90);
    t.at(90).timer().reports("fast-retransmit").sends("R1").ssthresh(5.0);
}

/// The larger of the smoothed and the latest round trip: 9/8 · 160 ms, and not of the previous 80
/// ms.
#[test]
fn a_longer_round_trip_counts_at_once() {
    let mut t = Trace::of("quic").rtt(80).window(10).start();
    t.sends("1-10");
    t.at(160).ack("C0 S2").reports("").sends("11").timer_at(180);
    t.at(180).timer().reports("fast-retransmit").sends("R1");
}

/// A packet late by less than both thresholds is not retransmitted.
#[test]
fn a_packet_two_behind_and_a_tenth_of_a_round_trip_late_is_not_lost() {
    let mut t = Trace::of("quic").rtt(80).window(10).start();
    t.sends("1-10");
    t.at(80).ack("C0 S2").sends("11");
    t.at(81).ack("C0 S2-3").reports("").sends("12");
    t.at(88).ack("C3").reports("reordered 2").sends("13 14").cwnd(11.0);
}

/// Nothing adapts and nothing is restored: RFC 9002 leaves open how a sender responds to a spurious
/// loss.
#[test]
fn a_spurious_loss_costs_half_the_window_every_time() {
    let mut t = Trace::of("quic").rtt(80).window(10).start();
    t.sends("1-10");
    t.at(80).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
    // The original, three behind, then all the others: recovery ends with half of ten.
    t.at(81).ack("C4").reports("").sends("");
    t.at(82).ack("C10").reports("recovered").cwnd(5.0).ssthresh(5.0).sends("11-15");
    // The mean of 4 − 1 and 10 − 1, since it is unknown which acknowledgement is the original's.
    t.at(160).ack("C10 D1").reports("spurious 1, reordered 6, spurious-fast-retransmit");
    t.cwnd(5.0).ssthresh(5.0).dupthresh(3).sends("");
    // The same again with the next three.
    t.at(161).ack("C10 S12-14").reports("fast-retransmit").sends("R11").ssthresh(2.5);
}
