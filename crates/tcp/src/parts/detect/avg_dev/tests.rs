//! AVG-DEV's threshold with hand-computed lengths.

use super::super::fixtures::{detector, found_spurious, late, ms, view};
use super::*;
use crate::variant::Variant;

/// Returns the detector after spurious fast retransmits with these lengths. At cwnd 50 and RTO/RTT
/// = 10, bound (11) is (0.7·10 − 2)·50 = 250, which is never reached.
fn after(lengths: &[u32]) -> Box<dyn LossDetector> {
    let mut detector = detector("avg-dev");
    for &length in lengths {
        detector.on_spurious_fast_retransmit(found_spurious(length), &view(0));
    }
    detector
}

#[test]
fn the_threshold_follows_average_and_deviation() {
    let mut detector = detector("avg-dev");
    assert_eq!(detector.rule(&view(0)), Rule::dupthresh(3), "the standard's initially");
    let table = [
        // avg 10, mdev 0: 10.
        (10, 10),
        // err |20 − 10| = 10; avg 0.3·20 + 0.7·10 = 13, mdev 0.3·10 = 3: ⌊13 + 0.9⌋.
        (20, 13),
        // err |4 − 13| = 9; avg 1.2 + 9.1 = 10.3, mdev 2.7 + 2.1 = 4.8: ⌊10.3 + 1.44⌋.
        (4, 11),
        // err |30 − 10.3| = 19.7; avg 9 + 7.21 = 16.21, mdev 5.91 + 3.36 = 9.27: ⌊16.21 + 2.781⌋.
        (30, 18),
        // err |1 − 16.21| = 15.21; avg 0.3 + 11.347 = 11.647, mdev 4.563 + 6.489 = 11.052:
        // ⌊11.647 + 3.3156⌋.
        (1, 14),
    ];
    for (length, expected) in table {
        detector.on_spurious_fast_retransmit(found_spurious(length), &view(0));
        assert_eq!(detector.dupthresh(), Some(expected), "after {length}");
        assert_eq!(detector.rule(&view(0)), Rule::dupthresh(expected + 1), "k > dupthresh");
    }
}

#[test]
fn constant_lengths_cause_no_spurious_fast_retransmit() {
    let detector = after(&[12; 20]);
    // 12 duplicates arrive before the late segment does.
    assert_eq!(detector.rule(&view(0)), Rule::dupthresh(13));
}

#[test]
fn the_threshold_is_at_least_three() {
    // avg 2: ⌊2⌋, but at least 3.
    assert_eq!(after(&[2]).dupthresh(), Some(3));
    // 10, 1, 1, … towards 1.
    let mut lengths = vec![10];
    lengths.resize(30, 1);
    assert_eq!(after(&lengths).dupthresh(), Some(3));
}

/// Returns a view with RTO/RTT = 3 at cwnd 50: (0.7·3 − 2)·50 = 5.
fn tight() -> View {
    View { rto: ms(300), ..view(0) }
}

fn bounded_always() -> Box<dyn LossDetector> {
    let mut sender = Variant::named("avg-dev").expect("a sender");
    sender.set("bound", "always").expect("a choice");
    sender.detector()
}

#[test]
fn a_recovery_must_fit_into_the_timeout() {
    let mut detector = bounded_always();
    detector.on_spurious_fast_retransmit(found_spurious(10), &tight());
    assert_eq!(detector.dupthresh(), Some(5));
    // RTO/RTT = 2.8: −2 < 0, so there is no bound.
    let hopeless = View { rto: ms(280), ..view(0) };
    detector.on_spurious_fast_retransmit(found_spurious(10), &hopeless);
    assert_eq!(detector.dupthresh(), Some(10));
    // cwnd 20: (2.1 − 2)·20 = 2, but at least 3.
    detector.on_spurious_fast_retransmit(found_spurious(10), &View { cwnd: 20.0, ..tight() });
    assert_eq!(detector.dupthresh(), Some(3));
}

#[test]
fn the_bound_lapses_where_a_segment_was_late_by_more() {
    let mut detector = detector("avg-dev");
    // 10 > 5: at 5, each such event would be a spurious fast retransmit.
    detector.on_spurious_fast_retransmit(found_spurious(10), &tight());
    assert_eq!(detector.dupthresh(), Some(10));
    // err |5 − 10| = 5; avg 1.5 + 7 = 8.5, mdev 1.5: ⌊8.95⌋, but 5 does not exceed the bound of 5.
    detector.on_spurious_fast_retransmit(found_spurious(5), &tight());
    assert_eq!(detector.dupthresh(), Some(5));
    // err |6 − 8.5| = 2.5; avg 1.8 + 5.95 = 7.75, mdev 0.75 + 1.05 = 1.8: ⌊7.75 + 0.54⌋.
    detector.on_spurious_fast_retransmit(found_spurious(6), &tight());
    assert_eq!(detector.dupthresh(), Some(8));
}

#[test]
fn only_the_first_of_consecutive_timeouts_lets_the_threshold_decay() {
    // As in the table above after 10 and 20: avg 13, mdev 3.
    let mut detector = after(&[10, 20]);
    detector.on_timeout(true, &view(0));
    // avg 6.5, mdev 0.75: ⌊6.5 + 0.225⌋.
    assert_eq!(detector.dupthresh(), Some(6));
    detector.on_timeout(false, &view(0));
    detector.on_timeout(false, &view(0));
    assert_eq!(detector.dupthresh(), Some(6));
    // avg 3.25, mdev 0.1875: ⌊3.25 + 0.05625⌋; avg 1.625: 3.
    detector.on_timeout(true, &view(0));
    assert_eq!(detector.dupthresh(), Some(3));
    detector.on_timeout(true, &view(0));
    assert_eq!(detector.dupthresh(), Some(3));
}

#[test]
fn the_threshold_that_led_to_a_timeout_bounds_it_until_longer_reordering_is_seen() {
    // At this window bound (11) is (0.7·10 − 2)·1000 = 5000, which is never reached.
    let view = View { cwnd: 1000.0, ..view(0) };
    let mut detector = detector("avg-dev");
    detector.on_spurious_fast_retransmit(found_spurious(1000), &view);
    // avg 1300, mdev 300: 1390, which is the bound after the timeout; then avg 650 and mdev 75.
    detector.on_spurious_fast_retransmit(found_spurious(2000), &view);
    detector.on_timeout(true, &view);
    assert_eq!(detector.dupthresh(), Some(672));
    // The average rises slowly and the deviation lags behind: after 10 of them (4) gives ⌊1396.6⌋,
    // but no segment was late by more than 1390.
    for _ in 0..10 {
        detector.on_spurious_fast_retransmit(found_spurious(1390), &view);
    }
    assert_eq!(detector.dupthresh(), Some(1390));
    // 1391 exceeds the bound, which lapses. The paper would keep 1390 forever.
    detector.on_spurious_fast_retransmit(found_spurious(1391), &view);
    assert_eq!(detector.dupthresh(), Some(1396));
}

#[test]
fn the_bound_of_a_timeout_holds() {
    // avg 20, mdev 0; bounded to 5 when the timer expires.
    let mut detector = bounded_always();
    detector.on_spurious_fast_retransmit(found_spurious(20), &tight());
    assert_eq!(detector.dupthresh(), Some(5));
    detector.on_timeout(true, &view(0));
    // avg 10, mdev 0: 10, but the timeout came at 5.
    assert_eq!(detector.dupthresh(), Some(5));
    // err |5 − 10| = 5; avg 1.5 + 7 = 8.5, mdev 1.5: 8, but no segment was late by more than 5.
    detector.on_spurious_fast_retransmit(found_spurious(5), &view(0));
    assert_eq!(detector.dupthresh(), Some(5));
    // err |6 − 8.5| = 2.5; avg 1.8 + 5.95 = 7.75, mdev 0.75 + 1.05 = 1.8: ⌊7.75 + 0.54⌋.
    detector.on_spurious_fast_retransmit(found_spurious(6), &view(0));
    assert_eq!(detector.dupthresh(), Some(8));
}

#[test]
fn the_samples_are_a_choice() {
    let after_each = |samples: &str| {
        let mut sender = Variant::named("avg-dev").expect("a sender");
        sender.set("samples", samples).expect("a choice");
        let mut detector = sender.detector();
        let mut seen = vec![];
        detector.on_reordering(late(10), &view(0));
        seen.push(detector.dupthresh());
        let reported = Reordering { by_dsack: true, ..late(20) };
        detector.on_reordering(reported, &view(0));
        seen.push(detector.dupthresh());
        detector.on_spurious_fast_retransmit(found_spurious(30), &view(0));
        seen.push(detector.dupthresh());
        seen.into_iter().flatten().collect::<Vec<_>>()
    };
    assert_eq!(after_each("dsack"), [3, 20, 20]);
    // avg 13, mdev 3.
    assert_eq!(after_each("all"), [10, 13, 13]);
    assert_eq!(after_each("false-fast-retransmit"), [3, 3, 30]);
}

#[test]
fn the_hole_is_lost_above_the_threshold_or_at_it() {
    for (trigger, expected) in [("above", 13), ("at", 12)] {
        let mut sender = Variant::named("avg-dev").expect("a sender");
        sender.set("trigger", trigger).expect("a choice");
        let mut detector = sender.detector();
        assert_eq!(detector.rule(&view(0)), Rule::dupthresh(3), "the standard's initially");
        detector.on_spurious_fast_retransmit(found_spurious(12), &view(0));
        assert_eq!(detector.rule(&view(0)), Rule::dupthresh(expected));
    }
}

#[test]
fn the_state_is_small() {
    // Table 3 of the paper.
    assert!(size_of::<AvgDev>() < 200, "{} bytes", size_of::<AvgDev>());
}
