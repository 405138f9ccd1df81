use super::*;

/// A retransmission that replaces no suspected transmission.
const UNSUSPECTED: Retransmission = Retransmission { under: None, suspected: false };
/// A retransmission that replaces a suspected transmission.
const SUSPECTED: Retransmission = Retransmission { under: None, suspected: true };

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn range(number: u64) -> (u64, u64) {
    (number * 1000, number * 1000 + 1000)
}

#[test]
fn one_block_reports_every_segment_in_it_that_was_not_reported_before() {
    let mut r = Retransmissions::default();
    for number in [4, 5, 7, 8] {
        r.on_retransmit(number, range(number), at(0), UNSUSPECTED, at(100));
    }
    let mut next = |left, right| {
        let report = r.on_dsack(left, right, at(200))?;
        Some((report.number, report.end))
    };
    assert_eq!(next(5000, 6000), Some((5, 6000)));
    // 5 was reported before, 6 was never retransmitted, and the last octet of 8 is missing.
    assert_eq!(next(4000, 8999), Some((4, 5000)));
    assert_eq!(next(5000, 8999), Some((7, 8000)));
    assert_eq!(next(8000, 8999), None);
}

#[test]
fn a_segment_resent_twice_can_be_reported_twice() {
    let mut r = Retransmissions::default();
    r.on_retransmit(4, range(4), at(0), SUSPECTED, at(100));
    r.on_retransmit(4, range(4), at(100), SUSPECTED, at(200));
    assert_eq!(r.on_repeated_dsack(4000, 5000), None, "it was not reported before");
    assert!(r.on_dsack(4000, 5000, at(300)).is_some());
    assert_eq!(r.on_repeated_dsack(4000, 5000), Some(4));
    assert_eq!(r.on_repeated_dsack(4000, 5000), None, "both duplicates were reported");
}

#[test]
fn a_suspicion_is_refuted_when_more_copies_arrive_than_were_sent_without_one() {
    let mut r = Retransmissions::default();
    r.on_retransmit(4, range(4), at(0), SUSPECTED, at(100));
    r.on_retransmit(4, range(4), at(100), UNSUSPECTED, at(300));
    // Two of the three copies arrived. The missing one may be the suspected original.
    let report = r.on_dsack(4000, 5000, at(400)).expect("reported for the first time");
    assert!(!report.refutes_suspicion);
    assert_eq!(r.on_repeated_dsack(4000, 5000), Some(4), "all three arrived");
}

#[test]
fn a_dsack_for_a_segment_sent_once_reports_nothing() {
    // The network duplicated the segment.
    let mut r = Retransmissions::default();
    r.on_retransmit(4, range(4), at(0), UNSUSPECTED, at(100));
    assert_eq!(r.on_dsack(5000, 6000, at(200)), None);
}

#[test]
fn the_round_trip_time_is_the_mean_over_both_copies() {
    let mut r = Retransmissions::default();
    r.on_retransmit(4, range(4), at(0), UNSUSPECTED, at(100));
    assert_eq!(r.on_covered(4, false, at(130)), None);
    // 130 − 0 and 210 − 100: mean 120.
    let report = r.on_dsack(4000, 5000, at(210)).expect("reported for the first time");
    assert_eq!(report.rtt, Some(Duration::from_millis(120)));
}

#[test]
fn a_report_names_the_reduction_under_which_the_segment_was_resent_last() {
    use crate::observer::Cause;
    use crate::parts::control::Window;
    use crate::sender::reductions::{Basis, Ledger, Saved};

    let mut r = Retransmissions::default();
    let mut ledger = Ledger::default();
    let mut begin = |ms| {
        let saved = Saved { window: Window { cwnd: 50.0, ssthresh: 20.0 }, rest: () };
        Some(ledger.begin(Cause::FastRetransmit, Basis::Verdict, saved, at(ms)))
    };
    let first = begin(100);
    let second = begin(200);
    let mut resend = |number, under, ms| {
        let retransmission = Retransmission { under, suspected: false };
        r.on_retransmit(number, range(number), at(0), retransmission, at(ms))
    };
    assert_eq!(resend(4, first, 100), None, "for the first time");
    assert_eq!(resend(6, first, 101), None);
    assert_eq!(resend(4, second, 200), Some(first));
    r.set_length(6, 7);
    assert_eq!(first.and_then(|first| r.length_under(first)), Some(7));
    assert_eq!(second.and_then(|second| r.length_under(second)), None, "it was not measured");
    let mut under = |left, right| r.on_dsack(left, right, at(300)).map(|report| report.under);
    assert_eq!(under(4000, 5000), Some(second));
    assert_eq!(under(6000, 7000), Some(first));
    assert_eq!(under(6000, 7000), None, "reported before");
}
