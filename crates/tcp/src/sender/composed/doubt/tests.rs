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
    doubt: Doubt,
    ledger: Ledger<()>,
}

impl std::ops::Deref for Books {
    type Target = Doubt;

    fn deref(&self) -> &Doubt {
        &self.doubt
    }
}

impl std::ops::DerefMut for Books {
    fn deref_mut(&mut self) -> &mut Doubt {
        &mut self.doubt
    }
}

impl Books {
    fn new() -> Self {
        Self { doubt: Doubt::new(), ledger: Ledger::default() }
    }

    fn suspect(&mut self, segment: SegNo, sent: Instant, load: Load, now: Instant) {
        self.doubt.suspect(&mut self.ledger, segment, sent, load, now);
    }

    fn prove_first(&mut self) {
        self.doubt.prove_first(&mut self.ledger);
    }

    fn reduce(&mut self, window: Window, now: Instant) {
        let saved = Saved { window, rest: () };
        self.ledger.begin(Cause::FastRetransmit, Basis::Confirmed, saved, now);
        self.doubt.on_reduction(false, now);
    }

    /// A disproof, and whether the reduction that it confirmed is taken back.
    fn refute(&mut self, segment: SegNo, now: Instant) -> (Option<Disproof>, Option<Window>) {
        let disproof = self.doubt.disprove(segment, true);
        let id = disproof.and_then(|disproof| disproof.proved).flatten();
        let undo = id.and_then(|id| self.ledger.add(id, Evidence::Arrived, now));
        let window = undo.filter(|undo| undo.last).map(|undo| undo.saved.window);
        if let Some(window) = window {
            self.doubt.on_taken_back(window.cwnd, self.ledger.last_began());
        }
        (disproof, window)
    }
}

fn doubt() -> Books {
    let mut d = Books::new();
    d.set_proof(Some(Duration::from_millis(200)));
    d
}

/// Segments 0, 1, 2 … sent at 0, 1, 2 … ms and suspected 100 ms later.
fn suspecting(segments: u64) -> Books {
    let mut d = doubt();
    (0..segments).for_each(|n| d.suspect(n, at(n), load(50.0), at(100 + n)));
    d
}

const NOTHING: Option<Disproof> = Some(Disproof { report: Some(Report::Told), proved: None });

#[test]
fn what_is_disproved_in_time_costs_nothing() {
    let mut d = suspecting(3);
    assert_eq!(d.disprove(1, true), NOTHING);
    assert_eq!(d.disprove(1, true), None, "it is known already");
    assert_eq!(d.disprove(7, true), None, "it was never suspected");
    assert_eq!(d.first_pending(), Some((0, at(0), load(50.0))));
    d.reduce(window(50.0), at(200));
    d.prove_first();
    assert_eq!(d.first_pending(), Some((2, at(2), load(50.0))), "the second one is decided");
}

#[test]
fn where_suspicion_is_proof_it_confirms_the_reduction_at_once() {
    let mut d = Books::new();
    d.reduce(window(50.0), at(100));
    d.suspect(0, at(0), load(50.0), at(100));
    d.suspect(0, at(100), load(50.0), at(200));
    assert_eq!(d.first_pending(), None);
    // Resent twice, and both copies arrived after the first.
    assert_eq!(d.refute(0, at(300)).1, None);
    assert_eq!(d.refute(0, at(310)).1, Some(window(50.0)));
    assert_eq!(d.ledger.last_began(), None);
}

#[test]
fn of_a_segment_suspected_twice_the_last_suspicion_is_disproved_first() {
    let mut d = suspecting(1);
    let first = d.first_pending();
    d.suspect(0, at(100), load(40.0), at(200));
    assert_eq!(d.disprove(0, true), NOTHING);
    assert_eq!(d.first_pending(), first);
    assert_eq!(d.disprove(0, true), NOTHING);
    assert_eq!(d.first_pending(), None);
}

/// As many are pending as are proof, where none is usual.
fn too_much(d: &Books, many: f64) -> bool {
    d.too_much(many, || 0.0).is_some()
}

#[test]
fn three_or_a_tenth_of_the_window_is_proof_if_sent_after_the_last_reduction() {
    let mut d = suspecting(4);
    assert!(too_much(&d, 4.0) && !too_much(&d, 4.05) && too_much(&d, 0.1));
    d.disprove(0, true);
    d.disprove(1, true);
    assert!(!too_much(&d, 0.1), "two are left");
    d.reduce(window(50.0), at(200));
    d.end_cut(at(200));
    for n in 10..13 {
        assert!(!too_much(&d, 0.1));
        d.suspect(n, at(200 + n), load(25.0), at(300 + n));
    }
    assert!(too_much(&d, 0.1));
}

#[test]
fn too_much_began_with_the_first_that_can_not_be_usual() {
    let mut d = doubt();
    for n in 0..6 {
        d.suspect(n, at(n), load(50.0 + n as f64), at(100 + n));
    }
    d.disprove(1, true);
    // Two are usual, so four may be of segments that are only late.
    assert_eq!(d.too_much(5.0, || 2.0), Some(load(55.0)));
    assert_eq!(d.too_much(5.0, || 2.5), None);
}

#[test]
fn a_reduction_answers_what_was_sent_until_the_window_has_come_down() {
    let mut d = suspecting(1);
    d.reduce(window(50.0), at(200));
    d.prove_first();
    d.suspect(7, at(250), load(40.0), at(350));
    assert!(!d.is_fresh(at(250)), "it is under way");
    d.end_cut(at(300));
    d.end_cut(at(400));
    assert!(!d.is_fresh(at(300)) && d.is_fresh(at(301)));
    // Its round is that of the reduction before, once it is taken back.
    assert_eq!(d.refute(0, at(450)).1, Some(window(50.0)));
    assert!(d.is_fresh(at(250)));
}

#[test]
fn what_is_decided_is_forgotten_in_time() {
    let mut d = suspecting(3);
    d.reduce(window(50.0), at(200));
    d.prove_first();
    d.expire(Duration::from_millis(1000), at(1100));
    assert_eq!((d.suspicions.len(), d.by_segment.len()), (3, 3));
    d.disprove(1, true);
    d.expire(Duration::from_millis(1000), at(1101));
    assert_eq!((d.suspicions.len(), d.by_segment.len()), (1, 1), "the third is pending");
    assert_eq!(d.disprove(0, true), None);
    assert_eq!(d.disprove(2, true), NOTHING);
}

#[test]
fn what_is_pending_when_a_window_comes_back_was_suspected_under_that_window() {
    let mut d = suspecting(1);
    d.reduce(window(50.0), at(50));
    d.prove_first();
    d.suspect(5, at(60), load(25.0), at(100));
    assert_eq!(d.first_pending(), Some((5, at(60), load(25.0))));
    assert_eq!(d.refute(0, at(150)).1, Some(window(50.0)));
    assert_eq!(d.first_pending(), Some((5, at(60), load(50.0))));
}

#[test]
fn a_report_that_is_due_comes_or_is_missed() {
    let mut d = suspecting(3);
    for n in 0..3 {
        assert_eq!(d.disprove(n, false), Some(Disproof { report: None, ..NOTHING.expect("one") }));
    }
    assert_eq!(d.disprove(1, true).and_then(|disproof| disproof.report), Some(Report::Came));
    // Resent at 100, 101 and 102, and 200 ms are enough for a report.
    assert_eq!((d.missed(at(300)), d.missed(at(301)), d.missed(at(301))), (0, 1, 0));
    assert_eq!(d.disprove(0, true), None, "it is too late");
    assert_eq!((d.missed(at(400)), d.missed(at(500))), (1, 0));
    d.expire(Duration::ZERO, at(500));
    assert!(d.is_empty() && d.by_segment.is_empty());
}

#[test]
fn a_report_that_is_not_awaited_any_more_is_forgotten_in_time() {
    let mut d = suspecting(2);
    d.reduce(window(50.0), at(200));
    (0..2).for_each(|_| d.prove_first());
    assert_eq!(d.missed(at(400)), 0);
    // The original comes after all, and its copy never.
    assert!(d.disprove(0, false).is_some());
    assert_eq!(d.missed(at(1101)), 0);
    d.expire(Duration::from_millis(1000), at(1101));
    assert_eq!((d.suspicions.len(), d.by_segment.len()), (1, 1));
    d.expire(Duration::from_millis(1000), at(1102));
    assert!(d.is_empty() && d.by_segment.is_empty());
}

#[test]
fn as_long_as_suspicion_is_proof_no_report_is_missed() {
    let mut d = Books::new();
    d.suspect(0, at(0), load(50.0), at(100));
    assert!(d.disprove(0, false).is_some());
    assert_eq!(d.missed(at(10_000)), 0);
    d.set_proof(Some(Duration::from_millis(200)));
    assert_eq!((d.missed(at(300)), d.missed(at(10_000))), (0, 1));
}

#[test]
fn what_is_dismissed_proves_nothing_and_may_still_be_reported() {
    let mut d = suspecting(2);
    assert!(d.is_fresh(at(0)));
    d.dismiss_first();
    assert_eq!(d.first_pending(), Some((1, at(1), load(50.0))));
    assert!(!too_much(&d, 0.0), "one is left");
    assert_eq!(d.disprove(0, true), NOTHING);
    d.dismiss_first();
    d.dismiss_first();
    d.expire(Duration::from_secs(2), at(2101));
    assert!(!d.is_empty(), "it was resent at 101");
    d.expire(Duration::from_secs(2), at(2102));
    assert!(d.is_empty() && d.by_segment.is_empty());
}
