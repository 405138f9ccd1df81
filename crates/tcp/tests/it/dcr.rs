//! `dcr-ack` and `dcr-timer` as packet traces. Sections are those of TCP-DCR. The round trip takes
//! 100 ms, so τ (section 2.1) is 100 ms or a window of duplicates.

use crate::trace::Trace;

/// In slow start nothing is delayed (section 2.2): three SACKed segments are a loss. Segment 1
/// arrives nevertheless, and congestion avoidance follows: cwnd is 5, and 11 to 15 are outstanding,
/// sent at 100 ms. SRTT is 100 ms.
fn in_congestion_avoidance(name: &str) -> Trace {
    let mut t = Trace::of(name).window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").ssthresh(5.0).sends("R1");
    t.ack("C10").reports("recovered").cwnd(5.0).sends("11-15");
    t
}

/// Section 2.2: dupthresh is W · SRTT/RTT at the first duplicate, here 5 · 100/100. Each duplicate
/// releases one new segment, and the window grows meanwhile.
#[test]
fn by_acknowledgements_the_response_waits_for_a_window_of_duplicates() {
    let mut t = in_congestion_avoidance("dcr-ack");
    t.at(200).ack("C10 S12").reports("").dupthresh(5).sends("16");
    t.at(201).ack("C10 S12-13").reports("").sends("17");
    // Three would be a loss for `sack`.
    t.at(202).ack("C10 S12-14").reports("").sends("18");
    // Segments sent during the wait do not raise the threshold.
    t.at(203).ack("C10 S12-15").reports("").dupthresh(5).sends("19");
    // cwnd 5 + 1/5 = 5.2, + 1/5.2 = 5.3923…, and so on with each of the four. The fifth ends the
    // wait with half of that.
    let present = (0..4).fold(5.0, |cwnd, _| cwnd + 1.0 / cwnd);
    t.at(300).ack("C10 S12-16").reports("fast-retransmit").ssthresh(present / 2.0).sends("R11");
}

/// With a timer: one SRTT after the first duplicate, however many arrive.
#[test]
fn by_the_timer_the_response_waits_one_round_trip() {
    let mut t = in_congestion_avoidance("dcr-timer");
    t.at(200).ack("C10 S12").reports("").sends("16").timer_at(300);
    t.at(201).ack("C10 S12-15").reports("").sends_any().timer_at(300);
    t.at(299).ack("C10 S12-16").reports("").sends_any().timer_at(300);
    t.at(300).timer().reports("fast-retransmit").sends("R11");
}

/// A hole that closes within τ was no loss (section 2.1): nothing is retransmitted, and the window
/// has grown as if nothing had been late.
#[test]
fn a_segment_late_by_less_than_a_round_trip_costs_nothing() {
    for name in ["dcr-ack", "dcr-timer"] {
        let mut t = in_congestion_avoidance(name);
        t.at(200).ack("C10 S12").reports("").sends("16");
        t.at(202).ack("C10 S12-14").reports("").sends_any();
        t.at(250).ack("C14").reports("reordered 3").ssthresh(5.0).sends_any();
        assert!(t.connection().window().cwnd > 5.0, "{name}");
    }
}

/// Section 2.2: "W · SRTT / RTT" with a last sample of half the smoothed one would be twice the
/// window. A sample of a hundredth counts as a tenth, a bound that the paper does not have.
#[test]
fn the_threshold_is_scaled_by_at_most_ten() {
    let mut t = in_congestion_avoidance("dcr-ack");
    // 11 is acknowledged 1 ms after it was sent: SRTT is a little less than 100 ms, the sample 1
    // ms.
    t.at(101).ack("C11").sends("16");
    // Flight 5 (12 to 16), scale 10.
    t.at(102).ack("C11 S13").reports("").dupthresh(50).sends("17");
}
