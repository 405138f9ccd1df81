//! The thresholds of each stack after late packets. The round trip takes 100 ms.

use super::super::fixtures::{detector, ms, view};
use super::*;

/// Returns the packet threshold and the wait in a flight of `flight`.
fn thresholds(detector: &dyn LossDetector, flight: u32) -> (Option<u32>, Duration) {
    let rule = detector.rule(&View { flight, ..view(1000) });
    (rule.distance, rule.overdue.expect("a time threshold").wait)
}

/// Returns a spurious loss of a packet sent `age` milliseconds before 1000 ms.
fn spurious(packets: u32, age: u64) -> SpuriousLoss {
    SpuriousLoss { packets, sent: Instant::from_millis(1000 - age) }
}

#[test]
fn all_begin_with_the_thresholds_of_rfc_9002() {
    for name in ["quiche", "ngtcp2", "quic-go"] {
        let start = thresholds(&*detector(name), 4);
        assert_eq!(start, (Some(3), Duration::from_micros(112_500)), "{name}");
    }
}

#[test]
fn quiche_covers_the_packets_that_were_late_up_to_twenty_and_waits_five_quarters() {
    let mut quiche = detector("quiche");
    quiche.on_spurious_loss(spurious(7, 120), &view(1000));
    assert_eq!(thresholds(&*quiche, 50), (Some(8), ms(125)), "7 behind, and itself");
    quiche.on_spurious_loss(spurious(4, 120), &view(1000));
    assert_eq!(thresholds(&*quiche, 50).0, Some(8), "it never shrinks");
    quiche.on_spurious_loss(spurious(40, 300), &view(1000));
    assert_eq!(thresholds(&*quiche, 50), (Some(20), ms(125)), "the maxima");
}

#[test]
fn ngtcp2_waits_for_half_of_what_is_in_flight_between_3_and_256_packets() {
    let mut ngtcp2 = detector("ngtcp2");
    let packets = |flight| thresholds(&*ngtcp2, flight).0;
    assert_eq!([7, 8, 51, 600].map(packets), [Some(3), Some(4), Some(25), Some(256)]);
    let before = thresholds(&*ngtcp2, 20);
    ngtcp2.on_spurious_loss(spurious(40, 300), &view(1000));
    assert_eq!(thresholds(&*ngtcp2, 20), before, "what was late changes nothing");
}

#[test]
fn quic_go_counts_no_packets_after_the_first_spurious_loss() {
    let mut quic_go = detector("quic-go");
    quic_go.on_spurious_loss(spurious(4, 110), &view(1000));
    let after = thresholds(&*quic_go, 50);
    assert_eq!(after, (None, Duration::from_micros(112_500)), "110 ms are within the wait");
}

#[test]
fn quic_go_doubles_the_excess_for_packets_sent_since_it_last_did() {
    let mut quic_go = detector("quic-go");
    let mut wait_after = |age, at: u64| {
        let sent = Instant::from_millis(at - age);
        quic_go.on_spurious_loss(SpuriousLoss { packets: 9, sent }, &view(at));
        thresholds(&*quic_go, 50).1
    };
    // 9/8, 10/8, 12/8 and 2 of 100 ms.
    assert_eq!(wait_after(120, 1000), ms(125));
    assert_eq!(wait_after(400, 1300), ms(125), "sent at 900 ms, before the threshold grew");
    assert_eq!(wait_after(200, 1300), ms(150));
    assert_eq!(wait_after(200, 1600), ms(200));
    assert_eq!(wait_after(300, 2000), ms(200), "the maximum");
}

#[test]
fn a_user_can_fix_the_thresholds_or_bound_them_otherwise() {
    let mut variant = crate::Variant::named("quiche").expect("a row");
    variant.set("max_packet_threshold", "5").expect("a parameter");
    variant.set("time", "fixed").expect("a parameter");
    let mut quiche = variant.detector();
    quiche.on_spurious_loss(spurious(7, 120), &view(1000));
    assert_eq!(thresholds(&*quiche, 50), (Some(5), Duration::from_micros(112_500)));
}
