use super::*;

const SAVED: Window = Window { cwnd: 50.0, ssthresh: 20.0 };
const SMALLER: Window = Window { cwnd: 25.0, ssthresh: 25.0 };

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn before(window: Window) -> Saved<()> {
    Saved { window, rest: () }
}

/// Begins a reduction of this window by a fast retransmit at `ms`.
fn begin(ledger: &mut Ledger<()>, window: Window, ms: u64) -> ReductionId {
    ledger.begin(Cause::FastRetransmit, Basis::Verdict, before(window), at(ms))
}

fn resend(ledger: &mut Ledger<()>, id: ReductionId, segments: u32) {
    (0..segments).for_each(|_| ledger.on_retransmit(Some(id)));
}

/// Adds evidence at `ms`. Returns the window before the reduction that it proves spurious, how long
/// the reduction lasted in ms, and whether the window is restored.
fn add(
    ledger: &mut Ledger<()>,
    id: ReductionId,
    evidence: Evidence,
    ms: u64,
) -> Option<(Window, u64, bool)> {
    let Undo { lasted, saved, last, .. } = ledger.add(id, evidence, at(ms))?;
    Some((saved.window, lasted.as_millis_f64() as u64, last))
}

#[test]
fn a_reduction_is_spurious_when_dsacks_report_every_retransmission_under_it() {
    let mut ledger = Ledger::default();
    let id = begin(&mut ledger, SAVED, 100);
    resend(&mut ledger, id, 2);
    assert_eq!(add(&mut ledger, id, Evidence::Duplicate, 200), None);
    assert_eq!(add(&mut ledger, id, Evidence::Duplicate, 202), Some((SAVED, 102, true)));
    assert_eq!(add(&mut ledger, id, Evidence::Duplicate, 203), None, "already spurious");
}

#[test]
fn dsacks_prove_nothing_once_a_segment_was_resent_twice() {
    let mut ledger = Ledger::default();
    let id = begin(&mut ledger, SAVED, 100);
    resend(&mut ledger, id, 1);
    ledger.bar(Some(id));
    assert_eq!(add(&mut ledger, id, Evidence::Duplicate, 400), None);
}

#[test]
fn a_later_reduction_that_stands_inherits_the_larger_window() {
    let mut ledger = Ledger::default();
    let first = begin(&mut ledger, SAVED, 100);
    resend(&mut ledger, first, 1);
    let second = begin(&mut ledger, SMALLER, 150);
    resend(&mut ledger, second, 1);
    assert_eq!(add(&mut ledger, first, Evidence::Duplicate, 200), Some((SAVED, 100, false)));
    let both = Window { cwnd: 50.0, ssthresh: 25.0 };
    assert_eq!(add(&mut ledger, second, Evidence::Duplicate, 250), Some((both, 100, true)));
}

#[test]
fn an_answer_to_an_original_proves_all_reductions_since_spurious() {
    let mut ledger = Ledger::default();
    let earlier = begin(&mut ledger, SAVED, 50);
    let watched = begin(&mut ledger, SAVED, 100);
    resend(&mut ledger, watched, 1);
    begin(&mut ledger, SMALLER, 110);
    assert_eq!(add(&mut ledger, watched, Evidence::Original, 130), Some((SAVED, 30, true)));
    assert_eq!(add(&mut ledger, watched, Evidence::Original, 130), Some((SMALLER, 20, true)));
    assert_eq!(add(&mut ledger, watched, Evidence::Original, 130), None);
    assert_eq!(add(&mut ledger, watched, Evidence::Duplicate, 200), None, "already spurious");
    assert_eq!(add(&mut ledger, earlier, Evidence::Duplicate, 200), Some((SAVED, 150, true)));
}

#[test]
fn a_reduction_is_undone_when_its_last_confirmation_is_refuted() {
    let mut ledger = Ledger::default();
    let cause = Cause::FastRetransmit;
    let id = ledger.begin(cause, Basis::Confirmed, before(SAVED), at(200));
    assert!(ledger.last_is_unconfirmed());
    (0..2).for_each(|_| assert_eq!(ledger.confirm_last(), Some(id)));
    assert!(!ledger.last_is_unconfirmed());
    assert_eq!(add(&mut ledger, id, Evidence::Arrived, 300), None);
    assert_eq!(add(&mut ledger, id, Evidence::Arrived, 310), Some((SAVED, 110, true)));
    assert_eq!(ledger.last_began(), None);
    assert_eq!(ledger.confirm_last(), None);
}

#[test]
fn a_timeout_is_undone_when_dsacks_report_it_and_nothing_confirms_it() {
    let mut ledger = Ledger::default();
    let timeout = ledger.begin(Cause::Timeout, Basis::Verdict, before(SAVED), at(200));
    ledger.confirm_last();
    assert_eq!(add(&mut ledger, timeout, Evidence::Duplicate, 250), Some((SAVED, 50, false)));
    assert_eq!(add(&mut ledger, timeout, Evidence::Arrived, 300), Some((SAVED, 100, true)));
    // The same evidence in the opposite order.
    let timeout = ledger.begin(Cause::Timeout, Basis::Verdict, before(SAVED), at(400));
    ledger.confirm_last();
    assert_eq!(add(&mut ledger, timeout, Evidence::Arrived, 450), None);
    assert_eq!(add(&mut ledger, timeout, Evidence::Duplicate, 500), Some((SAVED, 100, true)));
}

#[test]
fn an_early_reduction_with_one_confirmation_is_weakly_confirmed() {
    let mut ledger = Ledger::default();
    let early = ledger.begin(Cause::FastRetransmit, Basis::Early, before(SAVED), at(100));
    (0..2).for_each(|_| assert_eq!(ledger.confirm_last(), Some(early)));
    assert!(!ledger.has_weakly_confirmed(at(100)), "it has two confirmations");
    assert_eq!(add(&mut ledger, early, Evidence::Arrived, 200), None);
    assert!(ledger.has_weakly_confirmed(at(100)));
    assert!(!ledger.has_weakly_confirmed(at(101)), "it began at 100");
    assert_eq!(ledger.undo_weakly_confirmed(at(101), at(300)), None);
    let undo =
        ledger.undo_weakly_confirmed(at(100), at(300)).expect("the reduction is weakly confirmed");
    assert_eq!((undo.saved.window, undo.last), (SAVED, true));
    assert!(!ledger.has_weakly_confirmed(at(100)));
    assert_eq!(add(&mut ledger, early, Evidence::Arrived, 400), None, "already undone");
}

#[test]
fn only_early_reductions_can_be_weakly_confirmed() {
    for (cause, basis) in
        [(Cause::Timeout, Basis::Verdict), (Cause::FastRetransmit, Basis::Confirmed)]
    {
        let mut ledger = Ledger::default();
        ledger.begin(cause, basis, before(SAVED), at(100));
        ledger.confirm_last();
        assert!(!ledger.has_weakly_confirmed(at(100)));
    }
}

#[test]
fn retransmissions_are_not_made_under_a_reduction_by_confirmed_suspicions() {
    let mut ledger = Ledger::default();
    assert_eq!(ledger.current(), None);
    let verdict = begin(&mut ledger, SAVED, 100);
    ledger.begin(Cause::FastRetransmit, Basis::Confirmed, before(SAVED), at(200));
    assert_eq!(ledger.current(), Some(verdict));
}

#[test]
fn a_suspicion_does_not_confirm_a_reduction_because_of_the_mtu() {
    let mut ledger = Ledger::default();
    ledger.begin(Cause::Timeout, Basis::Mtu, before(SAVED), at(100));
    assert_eq!(ledger.confirm_last(), None);
    assert_eq!(ledger.last_began(), None);
}

#[test]
fn saved_windows_keep_their_octets_when_segments_become_smaller() {
    let mut ledger = Ledger::default();
    let id = begin(&mut ledger, SAVED, 100);
    ledger.on_smaller_segments(2.0, |()| {});
    let twice = Window { cwnd: 100.0, ssthresh: 40.0 };
    assert_eq!(add(&mut ledger, id, Evidence::Original, 200), Some((twice, 100, true)));
}

#[test]
fn the_oldest_reduction_is_dropped_when_the_ledger_is_full() {
    let mut ledger = Ledger::default();
    let ids: Vec<ReductionId> = (0..20).map(|n| begin(&mut ledger, SAVED, n)).collect();
    assert_eq!(ledger.reductions.len(), 8);
    assert_eq!(ledger.last_began(), Some(at(19)));
    assert_eq!(add(&mut ledger, ids[11], Evidence::Duplicate, 100), None, "dropped");
    assert_eq!(add(&mut ledger, ids[12], Evidence::Duplicate, 100), Some((SAVED, 88, false)));
}

#[test]
fn a_reduction_that_a_mark_supports_is_never_undone() {
    for evidence in [Evidence::Duplicate, Evidence::Original, Evidence::Arrived] {
        let mut ledger = Ledger::default();
        let id = begin(&mut ledger, SAVED, 100);
        resend(&mut ledger, id, 1);
        if evidence == Evidence::Arrived {
            assert_eq!(ledger.confirm_last(), Some(id));
        }
        ledger.support_last_by_mark();
        assert_eq!(add(&mut ledger, id, evidence, 200), None, "{evidence:?}");
    }
}

#[test]
fn an_answer_to_an_original_undoes_nothing_if_a_mark_came_later() {
    let mut ledger = Ledger::default();
    let watched = begin(&mut ledger, SAVED, 100);
    resend(&mut ledger, watched, 1);
    let mark = ledger.begin(Cause::FastRetransmit, Basis::Mark, before(SMALLER), at(150));
    assert_eq!(ledger.current(), Some(watched), "nothing is resent because of a mark");
    assert_eq!(add(&mut ledger, watched, Evidence::Original, 200), None);
    // By DSACKs, the earlier reduction proves spurious, but that because of the mark stands.
    assert_eq!(add(&mut ledger, watched, Evidence::Duplicate, 210), Some((SAVED, 110, false)));
    assert_eq!(add(&mut ledger, mark, Evidence::Arrived, 220), None);
}
