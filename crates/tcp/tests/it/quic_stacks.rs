//! The rows of QUIC stacks as packet traces. `N` numbers the packets with data, retransmissions too, from 1.
//! The round trip takes 100 ms, so 9/8 of it are 112.5 ms.

use crate::trace::Trace;

/// quiche begins with ten packets. Three behind the largest acknowledged is lost, and seven tenths of the
/// window remain. Packet 1, late, is then 8 behind: the threshold grows to 8 + 1.
#[test]
fn quiche_counts_further_after_a_spurious_loss() {
    let mut t = Trace::of("quiche").rtt(100).start();
    t.sends("1-10");
    t.at(100).ack("C0 N2").sends_any();
    t.at(101).ack("C0 N3").sends_any();
    t.at(102).ack("C0 N4").reports("fast-retransmit").sends_any().dupthresh(3);
    t.at(103).ack("C0 N5-9").sends_any();
    t.at(110).ack("C9 N1").sends_any().dupthresh(9);
}

/// ngtcp2 forgets a lost packet after a probe timeout, here 100 + 4 · 50 + 25 ms. Packet 1 arrives after that:
/// all is in order up to 11 then, but nothing in the acknowledgement reports segment 1. So it is sent again
/// when packet 12, which carries it, is lost as well.
#[test]
fn ngtcp2_sends_the_data_of_a_forgotten_packet_again() {
    let mut t = Trace::of("ngtcp2").rtt(100).start();
    t.sends("1-11");
    t.at(100).ack("C0 N2-11").reports("fast-retransmit").sends("R1 12-18");
    t.at(375).timer().sends("P1");
    t.at(440).ack("C11 N1").reports("").sends_any();
    // Packet 13 carried segment 12, and was lost together with packet 12.
    t.at(441).ack("C11 N14-17").sends("R1 R12 19 20 21");
}
