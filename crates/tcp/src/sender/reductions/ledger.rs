//! The ledger of reductions of the window: the state before each, and the evidence for and against
//! it.
//!
//! A reduction *stands* until evidence shows that nothing was lost. It is then *undone*. The
//! evidence against a reduction consists of DSACKs for its retransmissions (RFC 3708, section 3),
//! of an acknowledgement that answers an original (RFC 3522, RFC 5682), and of the arrival of
//! suspected transmissions that confirmed it (`docs/senders/unruffled.md`, section 4).

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use crate::observer::Cause;
use crate::parts::control::Window;
use crate::ring;

/// Number of reductions that the ledger keeps.
const MAX_REDUCTIONS: usize = 8;

/// The identity of a reduction. A later reduction has a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReductionId(u32);

/// The sender's state before a reduction, which an undo restores.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Saved<T> {
    /// The window.
    pub(crate) window: Window,
    /// The rest of the state.
    pub(crate) rest: T,
}

/// Saved state that a later reduction can inherit from a spurious one.
pub(crate) trait Inherit: Clone {
    /// Replaces the state by the one before `earlier`.
    fn inherit(&mut self, earlier: &Self);
}

impl Inherit for () {
    fn inherit(&mut self, (): &Self) {}
}

impl<T: Inherit> Saved<T> {
    /// Takes over the state before an earlier reduction that proves spurious while this one stands.
    /// If this one proves spurious as well, the sender restores the state before both.
    fn inherit(&mut self, earlier: &Self) {
        let Window { cwnd, ssthresh } = self.window;
        self.window.ssthresh = ssthresh.max(earlier.window.ssthresh);
        if earlier.window.cwnd > cwnd {
            self.window.cwnd = earlier.window.cwnd;
            self.rest.inherit(&earlier.rest);
        }
    }
}

/// The grounds for a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// The verdict of loss detection, or the retransmission timer.
    Verdict,
    /// The verdict of a two-stage detector while nothing has been late yet: each suspicion is
    /// confirmed at once.
    Early,
    /// Confirmed suspicions. Their retransmissions were made before the reduction, not under it.
    Confirmed,
    /// Segments were too large for the path. Nothing was lost to congestion.
    Mtu,
    /// A mark of the path (ECN). Nothing is retransmitted under it.
    Mark,
}

/// Evidence that a reduction is spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A DSACK reports a retransmission made under it.
    Duplicate,
    /// The first acknowledgement after it answers an original. It and all later ones are spurious.
    Original,
    /// A suspected transmission that confirmed it has arrived.
    Arrived,
}

/// The undoing of a spurious reduction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Undo<T> {
    pub(crate) id: ReductionId,
    pub(crate) cause: Cause,
    /// Time from the reduction to the evidence.
    pub(crate) lasted: Duration,
    /// The state before the reduction.
    pub(crate) saved: Saved<T>,
    /// Whether no later reduction stands and nothing confirms this one, so that the sender restores
    /// `saved`.
    pub(crate) last: bool,
}

#[derive(Clone, Debug)]
struct Reduction<T> {
    id: ReductionId,
    cause: Cause,
    basis: Basis,
    began: Instant,
    saved: Saved<T>,
    /// Number of retransmissions made under it.
    resent: u32,
    /// Number of retransmissions under it that DSACKs report.
    reported: u32,
    /// Whether DSACKs are excluded as proof that it is spurious (RFC 3708, A.1 and A.3).
    barred: bool,
    /// Whether its retransmissions prove it spurious: DSACKs report all of them, or an
    /// acknowledgement answers an original.
    spurious: bool,
    /// Number of suspicions that confirm it.
    confirmations: u32,
    /// Whether a mark of the path reports congestion in its window of data. Then it is never undone.
    marked: bool,
    /// Whether it no longer stands, because it was spurious and nothing confirms it. Evidence may
    /// still refer to it.
    undone: bool,
}

impl<T> Reduction<T> {
    /// Returns whether it responds to a loss.
    fn is_for_loss(&self) -> bool {
        self.basis != Basis::Mtu
    }

    /// Returns whether it responds to a loss and still stands.
    fn stands_for_loss(&self) -> bool {
        !self.undone && self.is_for_loss()
    }

    /// Returns whether it stands, was made at `since` or later while nothing had been late, and has
    /// only one confirmation.
    fn is_weakly_confirmed(&self, since: Instant) -> bool {
        let early = self.basis == Basis::Early && !self.undone;
        early && self.confirmations == 1 && !self.marked && self.began >= since
    }

    /// Returns whether no grounds for it are left. For a timeout, DSACKs must also report all of its
    /// retransmissions.
    fn is_unsupported(&self) -> bool {
        self.confirmations == 0 && !self.marked && (self.cause != Cause::Timeout || self.spurious)
    }
}

/// The latest reductions, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Ledger<T> {
    reductions: VecDeque<Reduction<T>>,
    /// The identity of the next reduction.
    next: ReductionId,
    /// The reduction under which retransmissions are made.
    current: Option<ReductionId>,
}

impl<T> Default for Ledger<T> {
    fn default() -> Self {
        Self { reductions: VecDeque::new(), next: ReductionId(0), current: None }
    }
}

impl<T: Inherit> Ledger<T> {
    /// Returns whether there is no reduction in the ledger.
    pub(crate) fn is_empty(&self) -> bool {
        self.reductions.is_empty()
    }

    /// Records a reduction made at `now`; `saved` is the state before it. The oldest reduction is
    /// dropped when the ledger is full.
    pub(crate) fn begin(
        &mut self,
        cause: Cause,
        basis: Basis,
        saved: Saved<T>,
        now: Instant,
    ) -> ReductionId {
        if self.reductions.len() == MAX_REDUCTIONS {
            self.reductions.pop_front();
        }
        // Most of a million flows need few entries, and a `VecDeque` begins with four.
        ring::reserve(&mut self.reductions, 1, 2);
        let id = self.next;
        self.next = ReductionId(id.0 + 1);
        if !matches!(basis, Basis::Confirmed | Basis::Mark) {
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
            confirmations: 0,
            marked: basis == Basis::Mark,
            undone: false,
        });
        id
    }

    /// Returns the cause of reduction `id` and the state before it, if it is still in the ledger.
    pub(crate) fn get(&self, id: ReductionId) -> Option<(Cause, &Saved<T>)> {
        let found = self.reductions.iter().find(|reduction| reduction.id == id)?;
        Some((found.cause, &found.saved))
    }

    /// Returns the reduction under which retransmissions are made.
    pub(crate) fn current(&self) -> Option<ReductionId> {
        self.current
    }

    /// Counts a retransmission made under this reduction.
    pub(crate) fn on_retransmit(&mut self, under: Option<ReductionId>) {
        if let Some(reduction) = under.and_then(|id| self.find(id)) {
            reduction.resent += 1;
        }
    }

    /// Excludes DSACKs as evidence against this reduction, because a segment resent under it was
    /// resent more than once (RFC 3708, A.3).
    pub(crate) fn bar(&mut self, under: Option<ReductionId>) {
        if let Some(reduction) = under.and_then(|id| self.find(id)) {
            reduction.barred = true;
        }
    }

    /// Adds evidence that reduction `id` is spurious. If that proves it, returns what to undo. With
    /// [`Evidence::Original`], must be called until it returns none, because later reductions are
    /// spurious as well.
    pub(crate) fn add(
        &mut self,
        id: ReductionId,
        evidence: Evidence,
        now: Instant,
    ) -> Option<Undo<T>> {
        let later_is_marked = || self.reductions.iter().any(|later| later.id >= id && later.marked);
        if evidence == Evidence::Original && later_is_marked() {
            return None;
        }
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
                if reduction.barred || reduction.marked || reduction.spurious || !all {
                    return None;
                }
                reduction.spurious = true;
                if reduction.confirmations > 0 {
                    return Some(self.undo_value(at, now));
                }
            }
            Evidence::Arrived => {
                reduction.confirmations = reduction.confirmations.saturating_sub(1);
                if reduction.undone || !reduction.is_unsupported() {
                    return None;
                }
            }
        }
        if self.reductions[at].undone {
            return Some(self.undo_value(at, now));
        }
        Some(match evidence {
            Evidence::Duplicate => self.undo(at, now, |_| true),
            // Later ones are spurious as well, except those whose grounds are confirmed suspicions.
            Evidence::Original => self.undo(at, now, |later| later.basis == Basis::Confirmed),
            Evidence::Arrived => self.undo(at, now, Reduction::is_for_loss),
        })
    }

    /// Undoes the reduction at this index. Later ones that stand, and for which `stays` holds,
    /// inherit the state before it.
    fn undo(&mut self, at: usize, now: Instant, stays: impl Fn(&Reduction<T>) -> bool) -> Undo<T> {
        self.reductions[at].undone = true;
        let undo = self.undo_value(at, now);
        let later = self.reductions.range_mut(at + 1..);
        let mut last = true;
        for heir in later.filter(|later| !later.undone && stays(later)) {
            heir.saved.inherit(&undo.saved);
            last = false;
        }
        Undo { last, ..undo }
    }

    /// Returns the value that describes the undoing of the reduction at this index, with `last`
    /// unset.
    fn undo_value(&self, at: usize, now: Instant) -> Undo<T> {
        let Reduction { id, cause, began, ref saved, .. } = self.reductions[at];
        Undo { id, cause, lasted: now.since(began), saved: saved.clone(), last: false }
    }

    /// Adds a confirmation to the last reduction that responds to a loss and still stands. Returns
    /// that reduction, if there is one.
    pub(crate) fn confirm_last(&mut self) -> Option<ReductionId> {
        let last = self.reductions.iter_mut().rfind(|reduction| reduction.stands_for_loss())?;
        last.confirmations += 1;
        Some(last.id)
    }

    /// Records that a mark of the path supports the last reduction that stands.
    pub(crate) fn support_last_by_mark(&mut self) {
        let last = self.reductions.iter_mut().rfind(|reduction| reduction.stands_for_loss());
        if let Some(last) = last {
            last.marked = true;
        }
    }

    /// Returns the time of the last reduction that responds to a loss and still stands.
    pub(crate) fn last_began(&self) -> Option<Instant> {
        self.last().map(|last| last.began)
    }

    /// Returns whether the last reduction that responds to a loss and still stands has no
    /// confirmation.
    pub(crate) fn last_is_unconfirmed(&self) -> bool {
        self.last().is_some_and(|last| last.confirmations == 0)
    }

    /// Returns the last reduction that responds to a loss and still stands.
    fn last(&self) -> Option<&Reduction<T>> {
        self.reductions.iter().rfind(|reduction| reduction.stands_for_loss())
    }

    /// Returns whether a reduction stands that was made at `since` or later while nothing had been
    /// late, and that has only one confirmation.
    pub(crate) fn has_weakly_confirmed(&self, since: Instant) -> bool {
        self.reductions.iter().any(|reduction| reduction.is_weakly_confirmed(since))
    }

    /// Undoes the first reduction that [`Self::has_weakly_confirmed`] finds.
    pub(crate) fn undo_weakly_confirmed(
        &mut self,
        since: Instant,
        now: Instant,
    ) -> Option<Undo<T>> {
        let at = self.reductions.iter().position(|r| r.is_weakly_confirmed(since))?;
        Some(self.undo(at, now, Reduction::is_for_loss))
    }

    /// Adapts the windows when segments become smaller by the factor `ratio`. Windows keep their
    /// size in octets. `rest` scales the rest of the saved state.
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
