use super::*;

const UNDER_IT: Resent = Resent { alone: false, suspected: false };
const SUSPECTED: Resent = Resent { alone: true, suspected: true };

const SAVED: Window = Window { cwnd: 50.0, ssthresh: 20.0 };

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn range(number: u64) -> (u64, u64) {
    (number * 1000, number * 1000 + 1000)
}

#[test]
fn a_reduction_is_false_when_every_retransmission_under_it_is_reported() {
    let mut r = Retransmissions::default();
    r.begin(Cause::FastRetransmit, SAVED, at(100));
    r.on_retransmit(4, range(4), at(0), UNDER_IT, at(100));
    r.on_retransmit(6, range(6), at(0), UNDER_IT, at(101));
    assert_eq!(r.on_dsack(4000, 5000, at(200)).expect("known").reduction, None);
    let last = r.on_dsack(6000, 7000, at(202)).expect("known").reduction.expect("all reported");
    assert_eq!((last.saved, last.lasted), (SAVED, Duration::from_millis(102)));
    assert!(last.latest);
    assert_eq!(r.on_dsack(6000, 7000, at(203)), None, "reported before");
}

#[test]
fn one_block_reports_every_segment_that_it_covers_and_was_not_reported() {
    let mut r = Retransmissions::default();
    r.begin(Cause::FastRetransmit, SAVED, at(100));
    for number in [4, 5, 7, 8] {
        r.on_retransmit(number, range(number), at(0), UNDER_IT, at(100));
    }
    let mut next = |left, right| r.on_dsack(left, right, at(200)).map(|n| (n.number, n.end));
    assert_eq!(next(5000, 6000), Some((5, 6000)));
    // 5 was reported, 6 never retransmitted, and of 8 one octet is missing.
    assert_eq!(next(4000, 8999), Some((4, 5000)));
    assert_eq!(next(5000, 8999), Some((7, 8000)));
    assert_eq!(next(8000, 8999), None);
}

#[test]
fn a_reduction_proved_false_otherwise_is_not_found_again_by_its_dsack() {
    let mut r = Retransmissions::default();
    r.begin(Cause::FastRetransmit, SAVED, at(100));
    r.on_retransmit(4, range(4), at(0), UNDER_IT, at(100));
    r.set_length(4, 7);
    let (found, length) = r.prove_spurious(0, at(130)).expect("in doubt until now");
    assert_eq!((found.saved, found.lasted), (SAVED, Duration::from_millis(30)));
    assert_eq!(length, Some(7));
    assert_eq!(r.prove_spurious(0, at(130)), None);
    assert_eq!(r.on_dsack(4000, 5000, at(200)).expect("known").reduction, None);
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
    r.on_retransmit(4, range(4), at(100), UNDER_IT, at(300));
    // Two of three arrived: the original may be the one that did not.
    assert!(!r.on_dsack(4000, 5000, at(400)).expect("known").disproves);
    assert_eq!(r.on_repeated_dsack(4000, 5000), Some(4), "all three did");
}

#[test]
fn a_segment_never_retransmitted_is_the_networks_duplicate() {
    let mut r = Retransmissions::default();
    r.begin(Cause::FastRetransmit, SAVED, at(100));
    r.on_retransmit(4, range(4), at(0), UNDER_IT, at(100));
    assert_eq!(r.on_dsack(5000, 6000, at(200)), None);
}

#[test]
fn a_segment_retransmitted_twice_bars_the_reversal() {
    let mut r = Retransmissions::default();
    r.begin(Cause::FastRetransmit, SAVED, at(100));
    r.on_retransmit(4, range(4), at(0), UNDER_IT, at(100));
    r.on_retransmit(4, range(4), at(100), UNDER_IT, at(300));
    assert_eq!(r.on_dsack(4000, 5000, at(400)).expect("known").reduction, None);
}

#[test]
fn both_copies_sample_the_round_trip_whichever_acknowledgement_is_whose() {
    let mut r = Retransmissions::default();
    r.begin(Cause::FastRetransmit, SAVED, at(100));
    r.on_retransmit(4, range(4), at(0), UNDER_IT, at(100));
    assert_eq!(r.on_covered(4, false, at(130)), None);
    // 130 − 0 and 210 − 100: mean 120.
    assert_eq!(
        r.on_dsack(4000, 5000, at(210)).expect("known").rtt,
        Some(Duration::from_millis(120))
    );
}

#[test]
fn the_window_of_a_false_reduction_passes_to_a_later_one_in_doubt() {
    let mut r = Retransmissions::default();
    r.begin(Cause::FastRetransmit, SAVED, at(100));
    r.on_retransmit(4, range(4), at(0), UNDER_IT, at(100));
    r.begin(Cause::FastRetransmit, Window { cwnd: 25.0, ssthresh: 25.0 }, at(150));
    r.on_retransmit(9, range(9), at(0), UNDER_IT, at(150));
    assert!(!r.on_dsack(4000, 5000, at(200)).expect("known").reduction.expect("false").latest);
    let second = r.on_dsack(9000, 10000, at(250)).expect("known").reduction.expect("false");
    assert_eq!(second.saved.cwnd, 50.0);
}
