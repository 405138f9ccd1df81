//! A path MTU that falls during a recovery: segments have half the size, so there is room for twice
//! as many, and the loss of a packet that a router has dropped is certain.

use crate::trace::{Setup, Trace};

/// MTU of a path that takes segments of 500 octets instead of 1000.
const HALVED_MTU: u32 = 540;

fn of(variant: &str) -> Setup {
    Trace::of(variant).min_mss(100)
}

/// Returns `unruffled` with a window of 20, after segment 2 was 40 ms late. A segment is
/// retransmitted when it is 41.9 ms late, and its loss is confirmed after 50 ms.
fn late_by_40(variant: &str) -> Trace {
    let mut t = of(variant).window(20).writes(1).start();
    t.sends("1");
    t.at(10).writes(1).sends("2");
    t.at(20).writes(1).sends("3");
    t.at(100).ack("C1").sends("");
    t.at(120).ack("C1 S3").sends("").at(135).timer().sends("R2");
    t.at(150).ack("C3").sends("").at(199).ack("C3 D2").sends("").cwnd(20.0);
    t
}

/// Sends segments 4 to `last` at 200. At 310, 4 is missing and is retransmitted.
fn missing_4(variant: &str, last: u64) -> Trace {
    let mut t = late_by_40(variant);
    t.at(200).writes(last - 3).sends(&format!("4-{last}"));
    t.at(310).ack("C3 S5-10").sends("");
    let due = t.connection().poll_timeout().expect("a timer");
    t.wait_until(due);
    t.timer().reports("").sends("R4");
    t
}

/// The reduction is undone, the pieces are retransmitted nevertheless, and slow start leads to the
/// old window in octets.
#[test]
fn an_undone_reduction_does_not_prevent_the_retransmission_of_what_was_too_big() {
    for (variant, ssthresh) in [("unruffled", 3.5), ("unruffled+cubic", 4.9)] {
        let mut t = missing_4(variant, 10);
        // Half of a flight of seven.
        t.at(360).timer().reports("fast-retransmit").sends("").ssthresh(ssthresh);
        t.at(455).ack("C10").reports("recovered").sends("").cwnd(ssthresh);
        t.at(456).writes(3).sends("11-13");
        t.at(460).too_big(HALVED_MTU, 11).sends_any().cwnd(1.0).ssthresh(2.0 * ssthresh);
        t.at(465).ack("C10 D4").reports("spurious 4, reordered 6, spurious-fast-retransmit");
        t.sends("");
        t.cwnd(1.0).ssthresh(f64::INFINITY).pipe(1);
    }
}

/// After the rest has arrived, the window is restored to its old size in octets.
#[test]
fn a_restored_window_is_as_large_as_before_in_octets() {
    let mut t = missing_4("unruffled", 10);
    t.at(360).timer().reports("fast-retransmit").sends("");
    t.at(455).ack("C10").reports("recovered").sends("");
    t.at(456).writes(1).sends("11").at(460).too_big(HALVED_MTU, 11).sends_any();
    t.at(660).ack("C11").reports("recovered").sends("");
    t.at(700).ack("C11 D4").reports("spurious 4, reordered 7, spurious-fast-retransmit").sends("");
    t.cwnd(40.0);
}

/// Windows are in octets: of 40 segments now, with 20 in flight, half is 10 and not 2.
#[test]
fn a_loss_confirmed_later_halves_what_was_in_flight_before() {
    let mut t = missing_4("unruffled", 13);
    t.at(359).too_big(HALVED_MTU, 11).sends_any().cwnd(1.0).ssthresh(f64::INFINITY);
    t.at(370).ack("C3 S5-10").reports("fast-retransmit").ssthresh(10.0);
}

/// With a proportional reduction cwnd is still large when the reduction begins.
#[test]
fn a_reduction_under_way_is_not_cancelled() {
    for variant in ["sack", "rack"] {
        let mut t = of(variant).window(20).start();
        t.sends("1-20");
        t.at(100).ack("C0 S2").sends_any().at(101).ack("C0 S2-3").sends_any();
        t.at(102).ack("C0 S2-4").sends_any();
        t.ssthresh(10.0);
        t.at(130).too_big(HALVED_MTU, 6).sends_any().ssthresh(20.0);
    }
}

/// The original was only late, as its echo shows. The packet that the router dropped is missing
/// nevertheless.
#[test]
fn eifel_does_not_count_a_packet_that_was_too_big_as_spurious() {
    let mut t = of("sack+eifel").window(10).timestamps().start();
    t.sends("1-10");
    t.at(100).echoing(0).ack("C0 S2").sends("11").at(101).ack("C0 S2-3").sends("12");
    t.at(102).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
    t.at(110).too_big(HALVED_MTU, 5).sends_any();
    t.at(120).ack("C4").reports("").cwnd(2.0).ssthresh(10.0).sends_any().pipe(2);
}
