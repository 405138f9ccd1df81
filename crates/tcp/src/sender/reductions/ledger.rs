//! The one record of each reduction of the window: what stood before it, and the evidence for and
//! against it.
//!
//! A reduction *stands* until evidence shows that nothing was lost. Evidence against it are DSACKs for
//! its retransmissions (RFC 3708, section 3), an acknowledgement that answers an original (RFC 3522, RFC
//! 5682), and the arrival of transmissions that it rests on (`docs/senders/unruffled.md`, section 4).

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use crate::observer::Cause;
use crate::parts::control::Window;

/// Reductions that are remembered.
const CAPACITY: usize = 8;

/// Names a reduction; a later one has a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReductionId(u32);

/// What stood before a reduction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Saved<T> {
    /// The window.
    pub(crate) window: Window,
    /// What else the sender goes back to.
    pub(crate) rest: T,
}

/// What a later reduction may inherit from one that was spurious.
pub(crate) trait Inherit: Clone {
    /// Goes back to before `earlier` as well.
    fn inherit(&mut self, earlier: &Self);
}

impl Inherit for () {
    fn inherit(&mut self, (): &Self) {}
}

impl<T: Inherit> Saved<T> {
    /// An earlier reduction proves spurious while this one stands: should this one prove spurious as
    /// well, the sender goes back to before both.
    fn inherit(&mut self, earlier: &Self) {
        let Window { cwnd, ssthresh } = self.window;
        self.window.ssthresh = ssthresh.max(earlier.window.ssthresh);
        if earlier.window.cwnd > cwnd {
            self.window.cwnd = earlier.window.cwnd;
            self.rest.inherit(&earlier.rest);
        }
    }
}

/// What a reduction rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// The verdict of loss detection, or the retransmission timer.
    Verdict,
    /// The verdict of a two-stage detector before anything was late: each suspicion is confirmed at once.
    Early,
    /// Suspicions that were confirmed. Retransmissions are made before it, and not under it.
    Confirmed,
    /// Nothing was lost: segments were too large for the path.
    Mtu,
}

/// Evidence that a reduction is spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A DSACK reports a retransmission made under it.
    Duplicate,
    /// The first acknowledgement after it answers an original, so that it and all since are spurious.
    Original,
    /// A suspected transmission that confirmed it has arrived.
    Arrived,
}

/// A reduction that proves spurious.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Undo<T> {
    pub(crate) id: ReductionId,
    pub(crate) cause: Cause,
    /// From its beginning to the evidence.
    pub(crate) lasted: Duration,
    /// What stood before it.
    pub(crate) saved: Saved<T>,
    /// No later reduction stands, and nothing confirms this one: the sender goes back to `saved`.
    pub(crate) last: bool,
}

#[derive(Clone, Debug)]
struct Reduction<T> {
    id: ReductionId,
    cause: Cause,
    basis: Basis,
    began: Instant,
    saved: Saved<T>,
    /// Retransmissions made under it, and those of them that DSACKs report.
    resent: u32,
    reported: u32,
    /// RFC 3708 (A.1), (A.3): DSACKs cannot prove it spurious.
    barred: bool,
    /// Its retransmissions prove it spurious: DSACKs for all of them, or what answers an original.
    spurious: bool,
    /// Suspicions that confirm it.
    confirmed: u32,
    /// It does not stand: it was spurious, and nothing confirms it. Evidence may still name it.
    taken_back: bool,
}

impl<T> Reduction<T> {
    /// It was made because of a loss.
    fn is_for_loss(&self) -> bool {
        self.basis != Basis::Mtu
    }

    /// It stands, and was made because of a loss.
    fn counts(&self) -> bool {
        !self.taken_back && self.is_for_loss()
    }

    /// It was made before anything was late, not before `since`, and one suspicion is all that confirms
    /// it.
    fn is_weak(&self, since: Instant) -> bool {
        let early = self.basis == Basis::Early && !self.taken_back;
        early && self.confirmed == 1 && self.began >= since
    }

    /// Nothing is left that it rests on. A timeout's needs DSACKs for all that it resent as well.
    fn is_baseless(&self) -> bool {
        self.confirmed == 0 && (self.cause != Cause::Timeout || self.spurious)
    }
}

/// The last reductions, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Ledger<T> {
    reductions: VecDeque<Reduction<T>>,
    next: ReductionId,
    /// The one under which retransmissions are made.
    current: Option<ReductionId>,
}

impl<T> Default for Ledger<T> {
    fn default() -> Self {
        Self { reductions: VecDeque::new(), next: ReductionId(0), current: None }
    }
}

impl<T: Inherit> Ledger<T> {
    /// No reduction is remembered.
    pub(crate) fn is_empty(&self) -> bool {
        self.reductions.is_empty()
    }

    /// The window, `saved` until now, is reduced.
    pub(crate) fn begin(
        &mut self,
        cause: Cause,
        basis: Basis,
        saved: Saved<T>,
        now: Instant,
    ) -> ReductionId {
        if self.reductions.len() == CAPACITY {
            self.reductions.pop_front();
        }
        let id = self.next;
        self.next = ReductionId(id.0 + 1);
        if basis != Basis::Confirmed {
            self.current = Some(id);
        }
        self.reductions.push_back(Reduction {
            id,
            cause,
            basis,
            began: now,
            saved,
            resent: 0,
            reported: 0,
            barred: false,
            spurious: false,
            confirmed: 0,
            taken_back: false,
        });
        id
    }

    /// The cause of reduction `id` and what stood before it, if it is remembered.
    pub(crate) fn get(&self, id: ReductionId) -> Option<(Cause, &Saved<T>)> {
        let found = self.reductions.iter().find(|reduction| reduction.id == id)?;
        Some((found.cause, &found.saved))
    }

    /// The reduction under which retransmissions are made.
    pub(crate) fn current(&self) -> Option<ReductionId> {
        self.current
    }

    /// A segment is resent under this reduction.
    pub(crate) fn on_retransmit(&mut self, under: Option<ReductionId>) {
        if let Some(reduction) = under.and_then(|id| self.find(id)) {
            reduction.resent += 1;
        }
    }

    /// A segment resent under this reduction is resent more than once (RFC 3708, A.3).
    pub(crate) fn bar(&mut self, under: Option<ReductionId>) {
        if let Some(reduction) = under.and_then(|id| self.find(id)) {
            reduction.barred = true;
        }
    }

    /// Adds evidence that reduction `id` is spurious: gives it if that proves it. After
    /// [`Evidence::Original`], ask until none is left.
    pub(crate) fn add(
        &mut self,
        id: ReductionId,
        evidence: Evidence,
        now: Instant,
    ) -> Option<Undo<T>> {
        let at = self.reductions.iter().position(|reduction| match evidence {
            Evidence::Original => {
                reduction.id >= id && reduction.basis != Basis::Confirmed && !reduction.spurious
            }
            Evidence::Duplicate | Evidence::Arrived => reduction.id == id,
        })?;
        let reduction = &mut self.reductions[at];
        match evidence {
            Evidence::Original => reduction.spurious = true,
            Evidence::Duplicate => {
                reduction.reported += 1;
                let all = reduction.reported >= reduction.resent;
                if reduction.barred || reduction.spurious || !all {
                    return None;
                }
                reduction.spurious = true;
                if reduction.confirmed > 0 {
                    return Some(self.undo(at, false, now));
                }
            }
            Evidence::Arrived => {
                reduction.confirmed = reduction.confirmed.saturating_sub(1);
                if reduction.taken_back || !reduction.is_baseless() {
                    return None;
                }
            }
        }
        if self.reductions[at].taken_back {
            return Some(self.undo(at, false, now));
        }
        Some(match evidence {
            Evidence::Duplicate => self.take_back(at, now, |_| true),
            // The later ones are spurious as well, except those that rest on suspicions.
            Evidence::Original => self.take_back(at, now, |later| later.basis == Basis::Confirmed),
            Evidence::Arrived => self.take_back(at, now, Reduction::is_for_loss),
        })
    }

    /// Takes back the reduction at this place. Later ones that stand, and that `stay`, inherit what stood
    /// before it.
    fn take_back(
        &mut self,
        at: usize,
        now: Instant,
        stay: impl Fn(&Reduction<T>) -> bool,
    ) -> Undo<T> {
        self.reductions[at].taken_back = true;
        let undo = self.undo(at, false, now);
        let later = self.reductions.range_mut(at + 1..);
        let mut last = true;
        for heir in later.filter(|later| !later.taken_back && stay(later)) {
            heir.saved.inherit(&undo.saved);
            last = false;
        }
        Undo { last, ..undo }
    }

    /// The reduction at this place was spurious; `last` if the sender goes back to before it.
    fn undo(&self, at: usize, last: bool, now: Instant) -> Undo<T> {
        let Reduction { id, cause, began, ref saved, .. } = self.reductions[at];
        Undo { id, cause, lasted: now.since(began), saved: saved.clone(), last }
    }

    /// One more suspicion confirms the last reduction: gives that, if one stands.
    pub(crate) fn confirm_last(&mut self) -> Option<ReductionId> {
        let last = self.reductions.iter_mut().rfind(|reduction| reduction.counts())?;
        last.confirmed += 1;
        Some(last.id)
    }

    /// When the last reduction began.
    pub(crate) fn last_began(&self) -> Option<Instant> {
        self.last().map(|last| last.began)
    }

    /// Nothing confirms the last reduction.
    pub(crate) fn last_is_unconfirmed(&self) -> bool {
        self.last().is_some_and(|last| last.confirmed == 0)
    }

    /// The last that counts.
    fn last(&self) -> Option<&Reduction<T>> {
        self.reductions.iter().rfind(|reduction| reduction.counts())
    }

    /// A reduction stands that was made before anything was late, not before `since`, and that one
    /// suspicion confirms.
    pub(crate) fn has_weak(&self, since: Instant) -> bool {
        self.reductions.iter().any(|reduction| reduction.is_weak(since))
    }

    /// Takes back the first of these.
    pub(crate) fn take_back_weak(&mut self, since: Instant, now: Instant) -> Option<Undo<T>> {
        let at = self.reductions.iter().position(|reduction| reduction.is_weak(since))?;
        Some(self.take_back(at, now, Reduction::is_for_loss))
    }

    /// Segments are smaller by `ratio`: windows stay, in octets; `rest` scales what else was saved.
    pub(crate) fn on_smaller_segments(&mut self, ratio: f64, mut rest: impl FnMut(&mut T)) {
        for reduction in &mut self.reductions {
            reduction.saved.window.scale(ratio);
            rest(&mut reduction.saved.rest);
        }
    }

    fn find(&mut self, id: ReductionId) -> Option<&mut Reduction<T>> {
        self.reductions.iter_mut().find(|reduction| reduction.id == id)
    }
}
