//! Transmissions that were resent on suspicion, until each is proved lost or disproved
//! (`docs/senders/unruffled.md`, section 4).
//!
//! A suspicion is *disproved* when its segment turns out to have arrived by the suspected
//! transmission. It is *proved* when it has not been by a certain time, or when too many are pending
//! at once, unless it is *dismissed*: the report that would have disproved it may have been lost.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use super::arrivals::Arrivals;
use crate::parts::detect::Report;
use crate::parts::detect::fixed::DUPTHRESH;
use crate::sender::reductions::{Inherit, Ledger, ReductionId};
use crate::sender::stream::{Renumbered, SegNo};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Pending,
    /// It confirms this reduction, if one stood.
    Proved(Option<ReductionId>),
    /// Its segment turned out to have arrived by it, so that a DSACK is due for the other.
    Arrived,
    /// Nothing was heard of it, and the DSACK may have been lost.
    Dismissed,
    Disproved,
}

/// One transmission that was given up.
#[derive(Clone, Copy, Debug)]
struct Suspicion {
    segment: SegNo,
    /// When it was sent, and when it was resent.
    sent: Instant,
    resent: Instant,
    /// At the latter time: what would have been reduced if suspicion were proof.
    load: Load,
    state: State,
}

/// How much a sender had on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    pub(super) cwnd: f64,
    /// FlightSize.
    pub(super) flight: u32,
}

/// What a disproof changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Disproof {
    /// What becomes of DSACKs, if one told.
    pub(super) report: Option<Report>,
    /// It had counted as proved, and confirmed this reduction, if one stood.
    pub(super) proved: Option<Option<ReductionId>>,
}

#[derive(Clone, Debug)]
pub(super) struct Doubt {
    /// In the order of resending; each has a number, and `first` is that of the first.
    suspicions: VecDeque<Suspicion>,
    first: u64,
    /// So many of the first suspicions are not pending.
    decided: u32,
    /// So many were resent so long ago that a DSACK that is due would have come.
    awaited: u32,
    /// Pending suspicions of what was sent after the last reduction.
    fresh: u32,
    /// By segment, and of one segment the oldest first.
    by_segment: VecDeque<(SegNo, u64)>,
    /// The last reduction, if one stands, answers what was sent until then: until the window has come
    /// down, the queue is as full as it was.
    answered: Option<Instant>,
    /// Suspicion is not proof at present.
    waits: bool,
    /// How long after its transmission it is, or was when it last was not at once.
    wait: Duration,
    /// Segments that arrived by a suspected transmission.
    pub(super) arrivals: Arrivals,
}

impl Doubt {
    /// What a suspicion takes, in octets.
    pub(super) const SUSPICION_OCTETS: usize = size_of::<Suspicion>() + size_of::<(SegNo, u64)>();

    /// What those that live take, in octets.
    pub(super) fn table_octets(&self) -> usize {
        self.suspicions.capacity() * size_of::<Suspicion>()
            + self.by_segment.capacity() * size_of::<(SegNo, u64)>()
    }

    /// Frees what is not in use.
    pub(super) fn shrink(&mut self) {
        self.suspicions.shrink_to_fit();
        self.by_segment.shrink_to_fit();
    }

    pub(super) fn new() -> Self {
        Self {
            suspicions: VecDeque::new(),
            first: 0,
            decided: 0,
            awaited: 0,
            fresh: 0,
            by_segment: VecDeque::new(),
            answered: None,
            waits: false,
            wait: Duration::ZERO,
            arrivals: Arrivals::default(),
        }
    }

    /// How long after its transmission a suspicion is proof, if not at once.
    #[inline]
    pub(super) fn proof(&self) -> Option<Duration> {
        self.waits.then_some(self.wait)
    }

    /// The same for what is pending: when reordering is forgotten it waits as long as it would have.
    pub(super) fn wait(&self) -> Duration {
        self.wait
    }

    /// From now on a suspicion is proof that long after its transmission, or at once.
    #[inline]
    pub(super) fn set_proof(&mut self, proof: Option<Duration>) {
        self.waits = proof.is_some();
        self.wait = proof.unwrap_or(self.wait);
    }

    /// No suspicion is remembered.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.suspicions.is_empty()
    }

    /// Segment `segment`, sent last at `sent`, is resent at `now` with so much on its way. Where
    /// suspicion is proof, it proves the last reduction.
    pub(super) fn suspect<T: Inherit>(
        &mut self,
        ledger: &mut Ledger<T>,
        segment: SegNo,
        sent: Instant,
        load: Load,
        now: Instant,
    ) {
        let number = self.first + self.suspicions.len() as u64;
        let state = if self.waits {
            self.fresh += u32::from(self.is_fresh(sent));
            State::Pending
        } else {
            State::Proved(ledger.confirm_last())
        };
        self.suspicions.push_back(Suspicion { segment, sent, resent: now, load, state });
        let at = self.by_segment.partition_point(|&entry| entry < (segment, number));
        self.by_segment.insert(at, (segment, number));
    }

    /// Whether what was sent at `sent` was sent after the last reduction.
    pub(super) fn is_fresh(&self, sent: Instant) -> bool {
        self.answered.is_none_or(|answered| sent > answered)
    }

    /// Segment `segment` arrived by a transmission that was given up: the last of them, for which
    /// that is the least late. `told` by a DSACK; else one is due.
    pub(super) fn disprove(&mut self, segment: SegNo, told: bool) -> Option<Disproof> {
        let at = self.by_segment.partition_point(|&(s, _)| s <= segment).checked_sub(1)?;
        let &(_, number) = self.by_segment.get(at).filter(|&&(s, _)| s == segment)?;
        let suspicion = &mut self.suspicions[(number - self.first) as usize];
        let (sent, state) = (suspicion.sent, suspicion.state);
        suspicion.state = if told { State::Disproved } else { State::Arrived };
        if told {
            self.by_segment.remove(at);
        }
        let report = if state == State::Arrived { Report::Came } else { Report::Told };
        let report = told.then_some(report);
        let proved = match state {
            State::Proved(reduction) => Some(reduction),
            State::Pending => {
                self.fresh -= u32::from(self.is_fresh(sent));
                None
            }
            State::Arrived | State::Dismissed | State::Disproved => None,
        };
        Some(Disproof { report, proved })
    }

    /// The last reduction was spurious, and `cwnd` comes back. The one that is the last now began at
    /// `last`.
    pub(super) fn on_taken_back(&mut self, cwnd: f64, last: Option<Instant>) {
        self.answered = last;
        self.count_fresh();
        // What was suspected under the reduced window would have found this one.
        let from = self.decided as usize;
        for pending in self.suspicions.range_mut(from..) {
            pending.load.cwnd = pending.load.cwnd.max(cwnd);
        }
    }

    fn count_fresh(&mut self) {
        self.fresh = self.pending_fresh().count() as u32;
    }

    /// The pending suspicions of what was sent after the last reduction.
    fn pending_fresh(&self) -> impl Iterator<Item = &Suspicion> {
        let from = self.decided as usize;
        let fresh = |s: &&Suspicion| s.state == State::Pending && self.is_fresh(s.sent);
        self.suspicions.range(from..).filter(fresh)
    }

    /// The window is being reduced, at once by a timeout.
    pub(super) fn on_reduction(&mut self, timeout: bool, now: Instant) {
        self.answered = Some(if timeout { now } else { Instant::MAX });
        self.fresh = 0;
    }

    /// The window has come down, as far as it does.
    pub(super) fn end_cut(&mut self, now: Instant) {
        if self.answered == Some(Instant::MAX) {
            self.answered = Some(now);
            self.count_fresh();
        }
    }

    /// The first pending suspicion: its segment, when that was sent, and how much was on its way when it
    /// was resent.
    pub(super) fn first_pending(&mut self) -> Option<(SegNo, Instant, Load)> {
        loop {
            let first = self.suspicions.get(self.decided as usize)?;
            if first.state == State::Pending {
                return Some((first.segment, first.sent, first.load));
            }
            self.decided += 1;
        }
    }

    /// The first pending suspicion is proved: the last reduction was due.
    pub(super) fn prove_first<T: Inherit>(&mut self, ledger: &mut Ledger<T>) {
        if self.first_pending().is_some() {
            self.decide_first(State::Proved(ledger.confirm_last()));
        }
    }

    /// The first pending suspicion is no proof: its DSACK was lost, for all that is known.
    pub(super) fn dismiss_first(&mut self) {
        self.decide_first(State::Dismissed);
    }

    fn decide_first(&mut self, state: State) {
        let Some((_, sent, _)) = self.first_pending() else { return };
        self.fresh -= u32::from(self.is_fresh(sent));
        self.suspicions[self.decided as usize].state = state;
        self.decided += 1;
    }

    /// As many are suspected at a time as are proof, at least three, and more than twice what is
    /// `usual`: gives how much was on its way at the first that can not be usual.
    pub(super) fn too_much(&self, many: f64, usual: impl FnOnce() -> f64) -> Option<Load> {
        let fresh = f64::from(self.fresh);
        if fresh < many.max(f64::from(DUPTHRESH)) {
            return None;
        }
        let usual = 2.0 * usual();
        if fresh <= usual {
            return None;
        }
        self.pending_fresh().nth(usual as usize).map(|suspicion| suspicion.load)
    }

    /// Forgets what was decided; what a DSACK may still tell of, only if it was resent longer than
    /// `horizon` ago.
    pub(super) fn expire(&mut self, horizon: Duration, now: Instant) {
        while let Some(front) = self.suspicions.front() {
            match front.state {
                State::Disproved => {}
                State::Proved(_) | State::Arrived | State::Dismissed
                    if now.since(front.resent) > horizon =>
                {
                    self.unlist(front.segment, self.first);
                }
                _ => break,
            }
            self.suspicions.pop_front();
            self.first += 1;
            self.decided = self.decided.saturating_sub(1);
            self.awaited = self.awaited.saturating_sub(1);
        }
    }

    /// How many DSACKs were due and have not come, since it was asked last.
    pub(super) fn missed(&mut self, now: Instant) -> u32 {
        let mut missed = 0;
        while let Some(suspicion) = self.suspicions.get_mut(self.awaited as usize) {
            // As long as suspicion is proof it is not known how long a DSACK takes.
            if !self.waits || now.since(suspicion.resent) <= self.wait {
                break;
            }
            if suspicion.state == State::Arrived {
                suspicion.state = State::Disproved;
                missed += 1;
                let segment = suspicion.segment;
                self.unlist(segment, self.first + u64::from(self.awaited));
            }
            self.awaited += 1;
        }
        missed
    }

    fn unlist(&mut self, segment: SegNo, number: u64) {
        if let Ok(at) = self.by_segment.binary_search(&(segment, number)) {
            self.by_segment.remove(at);
        }
    }

    /// Segments are smaller by `ratio`: windows stay, in octets.
    pub(super) fn on_smaller_segments(&mut self, ratio: f64) {
        for Suspicion { load, .. } in &mut self.suspicions {
            load.cwnd *= ratio;
            load.flight = (f64::from(load.flight) * ratio) as u32;
        }
    }

    /// Segments were split: they have other numbers, in the same order.
    pub(super) fn renumber(&mut self, numbers: &Renumbered) {
        for (segment, _) in &mut self.by_segment {
            *segment = numbers.first(*segment);
        }
        for suspicion in &mut self.suspicions {
            suspicion.segment = numbers.first(suspicion.segment);
        }
        self.arrivals.renumber(numbers);
    }
}
