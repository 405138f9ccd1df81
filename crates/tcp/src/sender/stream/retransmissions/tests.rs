use super::*;

const RESENT: Resent = Resent { under: None, suspected: false };
const SUSPECTED: Resent = Resent { under: None, suspected: true };

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn range(number: u64) -> (u64, u64) {
    (number * 1000, number * 1000 + 1000)
}

#[test]
fn one_block_reports_every_segment_that_it_covers_and_was_not_reported() {
    let mut r = Retransmissions::default();
    for number in [4, 5, 7, 8] {
        r.on_retransmit(number, range(number), at(0), RESENT, at(100));
    }
    let mut next = |left, right| r.on_dsack(left, right, at(200)).map(|n| (n.number, n.end));
    assert_eq!(next(5000, 6000), Some((5, 6000)));
    // 5 was reported, 6 never retransmitted, and of 8 one octet is missing.
    assert_eq!(next(4000, 8999), Some((4, 5000)));
    assert_eq!(next(5000, 8999), Some((7, 8000)));
    assert_eq!(next(8000, 8999), None);
}

#[test]
fn a_segment_resent_twice_can_be_reported_twice() {
    let mut r = Retransmissions::default();
    r.on_retransmit(4, range(4), at(0), SUSPECTED, at(100));
    r.on_retransmit(4, range(4), at(100), SUSPECTED, at(200));
    assert_eq!(r.on_repeated_dsack(4000, 5000), None, "it was not reported once");
    assert!(r.on_dsack(4000, 5000, at(300)).is_some());
    assert_eq!(r.on_repeated_dsack(4000, 5000), Some(4));
    assert_eq!(r.on_repeated_dsack(4000, 5000), None, "three copies, two of them too many");
}

#[test]
fn a_copy_that_no_suspicion_made_is_the_first_that_may_be_too_many() {
    let mut r = Retransmissions::default();
    r.on_retransmit(4, range(4), at(0), SUSPECTED, at(100));
    r.on_retransmit(4, range(4), at(100), RESENT, at(300));
    // Two of three arrived: the original may be the one that did not.
    assert!(!r.on_dsack(4000, 5000, at(400)).expect("known").disproves);
    assert_eq!(r.on_repeated_dsack(4000, 5000), Some(4), "all three did");
}

#[test]
fn a_segment_never_retransmitted_is_the_networks_duplicate() {
    let mut r = Retransmissions::default();
    r.on_retransmit(4, range(4), at(0), RESENT, at(100));
    assert_eq!(r.on_dsack(5000, 6000, at(200)), None);
}

#[test]
fn both_copies_sample_the_round_trip_whichever_acknowledgement_is_whose() {
    let mut r = Retransmissions::default();
    r.on_retransmit(4, range(4), at(0), RESENT, at(100));
    assert_eq!(r.on_covered(4, false, at(130)), None);
    // 130 − 0 and 210 − 100: mean 120.
    assert_eq!(
        r.on_dsack(4000, 5000, at(210)).expect("known").rtt,
        Some(Duration::from_millis(120))
    );
}

#[test]
fn a_report_names_the_reduction_under_which_the_segment_was_resent_last() {
    use crate::observer::Cause;
    use crate::parts::control::Window;
    use crate::sender::reductions::{Basis, Ledger, Saved};

    let (mut r, mut ledger) = (Retransmissions::default(), Ledger::default());
    let mut begin = |ms| {
        let saved = Saved { window: Window { cwnd: 50.0, ssthresh: 20.0 }, rest: () };
        Some(ledger.begin(Cause::FastRetransmit, Basis::Verdict, saved, at(ms)))
    };
    let (first, second) = (begin(100), begin(200));
    let mut resend = |number, under, ms| {
        r.on_retransmit(number, range(number), at(0), Resent { under, ..RESENT }, at(ms))
    };
    assert_eq!(resend(4, first, 100), None, "for the first time");
    assert_eq!(resend(6, first, 101), None);
    assert_eq!(resend(4, second, 200), Some(first));
    r.set_length(6, 7);
    assert_eq!(first.and_then(|first| r.length_under(first)), Some(7));
    assert_eq!(second.and_then(|second| r.length_under(second)), None, "it was not measured");
    assert_eq!(r.on_dsack(4000, 5000, at(300)).expect("known").under, second);
    assert_eq!(r.on_dsack(6000, 7000, at(300)).expect("known").under, first);
    assert_eq!(r.on_dsack(6000, 7000, at(301)), None, "reported before");
}
