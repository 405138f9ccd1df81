//! What a path whose MTU falls amid a recovery makes of the window: segments have half the size, so
//! that there is room for twice as many, and what a router has dropped is no guess.

use crate::trace::{Setup, Trace};

/// For a path that takes segments of 500 octets in place of 1000.
const HALF: u32 = 540;

fn of(variant: &str) -> Setup {
    Trace::of(variant).min_mss(100)
}

/// `unruffled` with a window of 20, after segment 2 was 40 ms late. It resends what is 41.9 ms late, and
/// believes in a loss after 50 ms.
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

/// Segments 4 to `last` are sent at 200, and 4 is missing at 310, and resent.
fn missing_4(variant: &str, last: u64) -> Trace {
    let mut t = late_by_40(variant);
    t.at(200).writes(last - 3).sends(&format!("4-{last}"));
    t.at(310).ack("C3 S5-10").sends("");
    let due = t.connection().poll_timeout().expect("a timer");
    t.wait_until(due);
    t.timer().reports("").sends("R4");
    t
}

/// The reduction is taken back, the pieces are resent all the same, and the window that slow start
/// leads to is the old one in octets.
#[test]
fn a_reduction_that_is_taken_back_leaves_what_was_too_big_to_be_resent() {
    for (variant, ssthresh) in [("unruffled", 3.5), ("unruffled+cubic", 4.9)] {
        let mut t = missing_4(variant, 10);
        // Of a flight of seven.
        t.at(360).timer().reports("fast-retransmit").sends("").ssthresh(ssthresh);
        t.at(455).ack("C10").reports("recovered").sends("").cwnd(ssthresh);
        t.at(456).writes(3).sends("11-13");
        t.at(460).too_big(HALF, 11).sends_any().cwnd(1.0).ssthresh(2.0 * ssthresh);
        t.at(465).ack("C10 D4").reports("spurious 4, reordered 6, spurious-fast-retransmit");
        t.sends("");
        t.cwnd(1.0).ssthresh(f64::INFINITY).pipe(1);
    }
}

/// Once the rest has arrived, the window comes back as it was, in octets.
#[test]
fn a_window_that_comes_back_is_as_large_as_before_in_octets() {
    let mut t = missing_4("unruffled", 10);
    t.at(360).timer().reports("fast-retransmit").sends("");
    t.at(455).ack("C10").reports("recovered").sends("");
    t.at(456).writes(1).sends("11").at(460).too_big(HALF, 11).sends_any();
    t.at(660).ack("C11").reports("recovered").sends("");
    t.at(700).ack("C11 D4").reports("spurious 4, reordered 7, spurious-fast-retransmit").sends("");
    t.cwnd(40.0);
}

/// It rests on windows in octets: of 40 segments now, with 20 on their way, half is 10 and not 2.
#[test]
fn a_loss_that_is_believed_afterwards_halves_what_was_in_flight_before() {
    let mut t = missing_4("unruffled", 13);
    t.at(359).too_big(HALF, 11).sends_any().cwnd(1.0).ssthresh(f64::INFINITY);
    t.at(370).ack("C3 S5-10").reports("fast-retransmit").ssthresh(10.0);
}

/// With a proportional reduction cwnd is still large when it begins.
#[test]
fn a_reduction_under_way_is_not_cancelled() {
    for variant in ["sack", "rack"] {
        let mut t = of(variant).window(20).start();
        t.sends("1-20");
        t.at(100).ack("C0 S2").sends_any().at(101).ack("C0 S2-3").sends_any();
        t.at(102).ack("C0 S2-4").sends_any();
        t.ssthresh(10.0);
        t.at(130).too_big(HALF, 6).sends_any().ssthresh(20.0);
    }
}

/// The original was late only, as its echo says; but what the router dropped is missing, whatever came.
#[test]
fn eifel_calls_nothing_spurious_that_was_too_big() {
    let mut t = of("sack+eifel").window(10).timestamps().start();
    t.sends("1-10");
    t.at(100).echoing(0).ack("C0 S2").sends("11").at(101).ack("C0 S2-3").sends("12");
    t.at(102).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
    t.at(110).too_big(HALF, 5).sends_any();
    t.at(120).ack("C4").reports("").cwnd(2.0).ssthresh(10.0).sends_any().pipe(2);
}
