use super::*;
use crate::observer::Cause;
use crate::parts::control::Window;
use crate::sender::reductions::{Basis, Evidence, Saved};

const fn load(cwnd: f64) -> Load {
    Load { cwnd, flight: 10 }
}

const fn window(cwnd: f64) -> Window {
    Window { cwnd, ssthresh: 20.0 }
}

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// Suspicions, and the reductions that they confirm.
struct Books {
    suspicions: Suspicions,
    ledger: Ledger<()>,
}

impl std::ops::Deref for Books {
    type Target = Suspicions;

    fn deref(&self) -> &Suspicions {
        &self.suspicions
    }
}

impl std::ops::DerefMut for Books {
    fn deref_mut(&mut self) -> &mut Suspicions {
        &mut self.suspicions
    }
}

impl Books {
    fn new() -> Self {
        Self { suspicions: Suspicions::new(), ledger: Ledger::default() }
    }

    fn suspect(&mut self, segment: SegNo, sent: Instant, load: Load, now: Instant) {
        self.suspicions.add(&mut self.ledger, segment, sent, load, now);
    }

    fn confirm_first(&mut self) {
        self.suspicions.confirm_first(&mut self.ledger);
    }

    fn reduce(&mut self, window: Window, now: Instant) {
        let saved = Saved { window, rest: () };
        self.ledger.begin(Cause::FastRetransmit, Basis::Confirmed, saved, now);
        self.suspicions.on_reduction(false, now);
    }

    /// Refutes a suspicion by DSACK; returns the refutation and the window that is restored, if any.
    fn refute_and_undo(
        &mut self,
        segment: SegNo,
        now: Instant,
    ) -> (Option<Refutation>, Option<Window>) {
        let refutation = self.suspicions.refute(segment, true);
        let id = refutation.and_then(|found| found.confirmed).flatten();
        let undo = id.and_then(|id| self.ledger.add(id, Evidence::Arrived, now));
        let window = undo.filter(|undo| undo.last).map(|undo| undo.saved.window);
        if let Some(window) = window {
            self.suspicions.on_undo(window.cwnd, self.ledger.last_began());
        }
        (refutation, window)
    }
}

fn active() -> Books {
    let mut d = Books::new();
    d.set_confirm_after(Some(Duration::from_millis(200)));
    d
}

/// Returns suspicions of segments 0, 1, 2 … sent at 0, 1, 2 … ms and suspected 100 ms later.
fn suspecting(segments: u64) -> Books {
    let mut d = active();
    (0..segments).for_each(|n| d.suspect(n, at(n), load(50.0), at(100 + n)));
    d
}

const NOTHING: Option<Refutation> =
    Some(Refutation { dsack: Some(DsackOutcome::Informative), confirmed: None });

#[test]
fn a_suspicion_refuted_in_time_has_no_effect() {
    let mut d = suspecting(3);
    assert_eq!(d.refute(1, true), NOTHING);
    assert_eq!(d.refute(1, true), None, "refuted already");
    assert_eq!(d.refute(7, true), None, "never suspected");
    assert_eq!(d.first_pending(), Some((0, at(0), load(50.0))));
    d.reduce(window(50.0), at(200));
    d.confirm_first();
    assert_eq!(d.first_pending(), Some((2, at(2), load(50.0))), "the second one is decided");
}

#[test]
fn an_immediate_confirmation_supports_the_last_reduction() {
    let mut d = Books::new();
    d.reduce(window(50.0), at(100));
    d.suspect(0, at(0), load(50.0), at(100));
    d.suspect(0, at(100), load(50.0), at(200));
    assert_eq!(d.first_pending(), None);
    // The segment was resent twice, and both copies arrived after the original.
    assert_eq!(d.refute_and_undo(0, at(300)).1, None);
    assert_eq!(d.refute_and_undo(0, at(310)).1, Some(window(50.0)));
    assert_eq!(d.ledger.last_began(), None);
}

#[test]
fn the_last_of_two_suspicions_of_a_segment_is_refuted_first() {
    let mut d = suspecting(1);
    let first = d.first_pending();
    d.suspect(0, at(100), load(40.0), at(200));
    assert_eq!(d.refute(0, true), NOTHING);
    assert_eq!(d.first_pending(), first);
    assert_eq!(d.refute(0, true), NOTHING);
    assert_eq!(d.first_pending(), None);
}

/// Returns whether the pending suspicions indicate an overflow, if none is usual.
fn overflows(d: &Books, limit: f64) -> bool {
    d.overflow(limit, || 0.0).is_some()
}

#[test]
fn three_suspicions_or_the_limit_overflow_if_sent_after_the_last_reduction() {
    let mut d = suspecting(4);
    assert!(overflows(&d, 4.0) && !overflows(&d, 4.05) && overflows(&d, 0.1));
    d.refute(0, true);
    d.refute(1, true);
    assert!(!overflows(&d, 0.1), "two are left");
    d.reduce(window(50.0), at(200));
    d.on_reduction_end(at(200));
    for n in 10..13 {
        assert!(!overflows(&d, 0.1));
        d.suspect(n, at(200 + n), load(25.0), at(300 + n));
    }
    assert!(overflows(&d, 0.1));
}

#[test]
fn an_overflow_starts_with_the_first_suspicion_beyond_the_usual() {
    let mut d = active();
    for n in 0..6 {
        d.suspect(n, at(n), load(50.0 + n as f64), at(100 + n));
    }
    d.refute(1, true);
    // With two usual, four may be of segments that are only late.
    assert_eq!(d.overflow(5.0, || 2.0), Some(load(55.0)));
    assert_eq!(d.overflow(5.0, || 2.5), None);
}

#[test]
fn a_reduction_covers_what_was_sent_until_it_has_ended() {
    let mut d = suspecting(1);
    d.reduce(window(50.0), at(200));
    d.confirm_first();
    d.suspect(7, at(250), load(40.0), at(350));
    assert!(!d.is_fresh(at(250)), "the reduction is under way");
    d.on_reduction_end(at(300));
    d.on_reduction_end(at(400));
    assert!(!d.is_fresh(at(300)) && d.is_fresh(at(301)));
    // Once it is undone, the previous reduction is the last one.
    assert_eq!(d.refute_and_undo(0, at(450)).1, Some(window(50.0)));
    assert!(d.is_fresh(at(250)));
}

#[test]
fn decided_suspicions_expire() {
    let mut d = suspecting(3);
    d.reduce(window(50.0), at(200));
    d.confirm_first();
    d.expire(Duration::from_millis(1000), at(1100));
    assert_eq!((d.list.len(), d.by_segment.len()), (3, 3));
    d.refute(1, true);
    d.expire(Duration::from_millis(1000), at(1101));
    assert_eq!((d.list.len(), d.by_segment.len()), (1, 1), "the third is pending");
    assert_eq!(d.refute(0, true), None);
    assert_eq!(d.refute(2, true), NOTHING);
}

#[test]
fn pending_suspicions_take_over_a_restored_window() {
    let mut d = suspecting(1);
    d.reduce(window(50.0), at(50));
    d.confirm_first();
    d.suspect(5, at(60), load(25.0), at(100));
    assert_eq!(d.first_pending(), Some((5, at(60), load(25.0))));
    assert_eq!(d.refute_and_undo(0, at(150)).1, Some(window(50.0)));
    assert_eq!(d.first_pending(), Some((5, at(60), load(50.0))));
}

#[test]
fn a_due_dsack_is_expected_or_missed() {
    let mut d = suspecting(3);
    for n in 0..3 {
        assert_eq!(d.refute(n, false), Some(Refutation { dsack: None, ..NOTHING.expect("one") }));
    }
    assert_eq!(d.refute(1, true).and_then(|found| found.dsack), Some(DsackOutcome::Expected));
    // Resent at 100, 101 and 102; a DSACK takes at most 200 ms.
    assert_eq!(
        (
            d.take_missed_dsacks(at(300)),
            d.take_missed_dsacks(at(301)),
            d.take_missed_dsacks(at(301))
        ),
        (0, 1, 0)
    );
    assert_eq!(d.refute(0, true), None, "it is too late");
    assert_eq!((d.take_missed_dsacks(at(400)), d.take_missed_dsacks(at(500))), (1, 0));
    d.expire(Duration::ZERO, at(500));
    assert!(d.is_empty() && d.by_segment.is_empty());
}

#[test]
fn a_dsack_that_is_no_longer_awaited_expires() {
    let mut d = suspecting(2);
    d.reduce(window(50.0), at(200));
    (0..2).for_each(|_| d.confirm_first());
    assert_eq!(d.take_missed_dsacks(at(400)), 0);
    // The original arrives after all, and the copy never does.
    assert!(d.refute(0, false).is_some());
    assert_eq!(d.take_missed_dsacks(at(1101)), 0);
    d.expire(Duration::from_millis(1000), at(1101));
    assert_eq!((d.list.len(), d.by_segment.len()), (1, 1));
    d.expire(Duration::from_millis(1000), at(1102));
    assert!(d.is_empty() && d.by_segment.is_empty());
}

#[test]
fn no_dsack_is_missed_while_confirmation_is_immediate() {
    let mut d = Books::new();
    d.suspect(0, at(0), load(50.0), at(100));
    assert!(d.refute(0, false).is_some());
    assert_eq!(d.take_missed_dsacks(at(10_000)), 0);
    d.set_confirm_after(Some(Duration::from_millis(200)));
    assert_eq!((d.take_missed_dsacks(at(300)), d.take_missed_dsacks(at(10_000))), (0, 1));
}

#[test]
fn a_dismissed_suspicion_supports_nothing_and_may_still_be_refuted() {
    let mut d = suspecting(2);
    assert!(d.is_fresh(at(0)));
    d.dismiss_first();
    assert_eq!(d.first_pending(), Some((1, at(1), load(50.0))));
    assert!(!overflows(&d, 0.0), "one is left");
    assert_eq!(d.refute(0, true), NOTHING);
    d.dismiss_first();
    d.dismiss_first();
    d.expire(Duration::from_secs(2), at(2101));
    assert!(!d.is_empty(), "it was resent at 101");
    d.expire(Duration::from_secs(2), at(2102));
    assert!(d.is_empty() && d.by_segment.is_empty());
}
