//! Transmissions that were replaced on suspicion, until each is confirmed as lost or refuted
//! (`docs/senders/unruffled.md`, section 4).
//!
//! A suspicion is *refuted* when its segment turns out to have arrived by the suspected transmission.
//! It is *confirmed* when that has not happened within a given time, or when too many suspicions are
//! pending at once. It is *dismissed* when the DSACK that would have refuted it was probably lost.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use unruffled_lateness::two_stage;
use unruffled_units::{Duration, Instant};

use super::arrivals::Arrivals;
use super::{Inherit, Ledger, ReductionId};
use crate::parts::detect::DsackOutcome;
use crate::sender::numbers::{Renumbered, SegNo};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Pending,
    /// Confirmed; it supports this reduction, if one stood then.
    Confirmed(Option<ReductionId>),
    /// The segment arrived by the suspected transmission, so the other copy causes a DSACK.
    Arrived,
    /// The segment was delivered by some copy, and the DSACK was probably lost.
    Dismissed,
    Refuted,
}

/// One transmission that is suspected to be lost.
#[derive(Clone, Copy, Debug)]
struct Suspicion {
    segment: SegNo,
    /// Time of the suspected transmission.
    sent: Instant,
    /// Time at which the segment was sent again.
    resent: Instant,
    /// The load at that time, from which an immediate reduction would have started.
    load: Load,
    state: State,
}

/// The load of a sender at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Load {
    /// Congestion window, in segments.
    pub(crate) cwnd: f64,
    /// FlightSize, in segments.
    pub(crate) flight: u32,
}

/// Effect of the refutation of a suspicion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Refutation {
    /// The outcome of the DSACK, if a DSACK refuted it.
    pub(crate) dsack: Option<DsackOutcome>,
    /// Set if the suspicion had been confirmed, to the reduction that it supported, if one stood then.
    pub(crate) confirmed: Option<Option<ReductionId>>,
}

/// The suspicions of one sender, and how long each waits for confirmation.
#[derive(Clone, Debug)]
pub(crate) struct Suspicions {
    /// Suspicions in the order of retransmission. Each has a number; that of the front is `first`.
    list: VecDeque<Suspicion>,
    first: u64,
    /// Length of the prefix of `list` in which no suspicion is pending.
    decided: u32,
    /// Length of the prefix of `list` whose DSACKs, if any were due, would have come.
    awaited: u32,
    /// Pending suspicions of segments sent after the last reduction.
    fresh: u32,
    /// Segment and number of each suspicion, sorted.
    by_segment: VecDeque<(SegNo, u64)>,
    /// Latest transmission to which the last standing reduction responds. It is `Instant::MAX` while the
    /// window is still being reduced, because the queue is as full as before until then.
    covered_until: Option<Instant>,
    /// Whether suspicions wait for confirmation at present.
    active: bool,
    /// Time from the suspected transmission to confirmation, now or when `active` was last true.
    wait: Duration,
    /// Segments that arrived by a suspected transmission.
    pub(crate) arrivals: Arrivals,
}

impl Suspicions {
    /// Memory that one suspicion takes, in octets.
    pub(crate) const SUSPICION_OCTETS: usize = size_of::<Suspicion>() + size_of::<(SegNo, u64)>();

    /// Returns the memory that the tables take, in octets.
    pub(crate) fn table_octets(&self) -> usize {
        self.list.capacity() * size_of::<Suspicion>()
            + self.by_segment.capacity() * size_of::<(SegNo, u64)>()
    }

    /// Frees memory that is not in use.
    pub(crate) fn shrink(&mut self) {
        self.list.shrink_to_fit();
        self.by_segment.shrink_to_fit();
    }

    pub(crate) fn new() -> Self {
        Self {
            list: VecDeque::new(),
            first: 0,
            decided: 0,
            awaited: 0,
            fresh: 0,
            by_segment: VecDeque::new(),
            covered_until: None,
            active: false,
            wait: Duration::ZERO,
            arrivals: Arrivals::default(),
        }
    }

    /// Returns how long after its transmission a suspicion is confirmed, or `None` if it is confirmed at
    /// once.
    #[inline]
    pub(crate) fn confirm_after(&self) -> Option<Duration> {
        self.active.then_some(self.wait)
    }

    /// Returns how long after its transmission a suspicion that is already pending is confirmed. It keeps
    /// the last wait when the detector has discarded its record of reordering.
    pub(crate) fn pending_wait(&self) -> Duration {
        self.wait
    }

    /// Sets [`Self::confirm_after`].
    #[inline]
    pub(crate) fn set_confirm_after(&mut self, wait: Option<Duration>) {
        self.active = wait.is_some();
        self.wait = wait.unwrap_or(self.wait);
    }

    /// Returns whether there is no suspicion.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a suspicion: segment `segment`, last sent at `sent`, is sent again at `now` under this load.
    /// If suspicions are confirmed at once, this one supports the last reduction.
    pub(crate) fn add<T: Inherit>(
        &mut self,
        ledger: &mut Ledger<T>,
        segment: SegNo,
        sent: Instant,
        load: Load,
        now: Instant,
    ) {
        let number = self.first + self.list.len() as u64;
        let state = if self.active {
            self.fresh += u32::from(self.is_fresh(sent));
            State::Pending
        } else {
            State::Confirmed(ledger.confirm_last())
        };
        self.list.push_back(Suspicion { segment, sent, resent: now, load, state });
        let at = self.by_segment.partition_point(|&entry| entry < (segment, number));
        self.by_segment.insert(at, (segment, number));
    }

    /// Returns whether a transmission at `sent` came after what the last reduction responds to.
    pub(crate) fn is_fresh(&self, sent: Instant) -> bool {
        self.covered_until.is_none_or(|covered| sent > covered)
    }

    /// Refutes the last suspicion of segment `segment`, which arrived by a suspected transmission. The
    /// last one implies the least lateness. If `by_dsack`, a DSACK reports the arrival; otherwise a DSACK
    /// is due. Returns `None` if there is no such suspicion.
    pub(crate) fn refute(&mut self, segment: SegNo, by_dsack: bool) -> Option<Refutation> {
        let at = self.by_segment.partition_point(|&(s, _)| s <= segment).checked_sub(1)?;
        let &(_, number) = self.by_segment.get(at).filter(|&&(s, _)| s == segment)?;
        let suspicion = &mut self.list[(number - self.first) as usize];
        let sent = suspicion.sent;
        let state = suspicion.state;
        suspicion.state = if by_dsack { State::Refuted } else { State::Arrived };
        if by_dsack {
            self.by_segment.remove(at);
        }
        let outcome = match state {
            State::Arrived => DsackOutcome::Expected,
            _ => DsackOutcome::Informative,
        };
        let confirmed = match state {
            State::Confirmed(reduction) => Some(reduction),
            State::Pending => {
                self.fresh -= u32::from(self.is_fresh(sent));
                None
            }
            State::Arrived | State::Dismissed | State::Refuted => None,
        };
        Some(Refutation { dsack: by_dsack.then_some(outcome), confirmed })
    }

    /// Handles the undoing of the last reduction, which restores `cwnd`. The reduction that is now the
    /// last one began at `last`.
    pub(crate) fn on_undo(&mut self, cwnd: f64, last: Option<Instant>) {
        self.covered_until = last;
        self.count_fresh();
        // Without the reduction, pending suspicions would have arisen under the larger window.
        let from = self.decided as usize;
        for pending in self.list.range_mut(from..) {
            pending.load.cwnd = pending.load.cwnd.max(cwnd);
        }
    }

    fn count_fresh(&mut self) {
        self.fresh = self.pending_fresh().count() as u32;
    }

    /// Returns the pending suspicions of segments sent after the last reduction.
    fn pending_fresh(&self) -> impl Iterator<Item = &Suspicion> {
        let from = self.decided as usize;
        let fresh = |s: &&Suspicion| s.state == State::Pending && self.is_fresh(s.sent);
        self.list.range(from..).filter(fresh)
    }

    /// Records that a reduction of the window begins: `at_once`, after a timeout or a mark, otherwise over a
    /// round trip.
    pub(crate) fn on_reduction(&mut self, at_once: bool, now: Instant) {
        self.covered_until = Some(if at_once { now } else { Instant::MAX });
        self.fresh = 0;
    }

    /// Records that the reduction of the window has ended.
    pub(crate) fn on_reduction_end(&mut self, now: Instant) {
        if self.covered_until == Some(Instant::MAX) {
            self.covered_until = Some(now);
            self.count_fresh();
        }
    }

    /// Returns the first pending suspicion: its segment, the time of the suspected transmission, and the
    /// load when the segment was sent again.
    pub(crate) fn first_pending(&mut self) -> Option<(SegNo, Instant, Load)> {
        loop {
            let first = self.list.get(self.decided as usize)?;
            if first.state == State::Pending {
                return Some((first.segment, first.sent, first.load));
            }
            self.decided += 1;
        }
    }

    /// Confirms the first pending suspicion, which then supports the last reduction.
    pub(crate) fn confirm_first<T: Inherit>(&mut self, ledger: &mut Ledger<T>) {
        if self.first_pending().is_some() {
            self.decide_first(State::Confirmed(ledger.confirm_last()));
        }
    }

    /// Dismisses the first pending suspicion: its DSACK was probably lost.
    pub(crate) fn dismiss_first(&mut self) {
        self.decide_first(State::Dismissed);
    }

    fn decide_first(&mut self, state: State) {
        let Some((_, sent, _)) = self.first_pending() else { return };
        self.fresh -= u32::from(self.is_fresh(sent));
        self.list[self.decided as usize].state = state;
        self.decided += 1;
    }

    /// Returns the load at the first suspicion beyond what lateness explains, if the number of pending
    /// suspicions indicates an overflow: at least `limit`, at least three, and more than twice `usual`,
    /// the number that lateness alone leads to.
    pub(crate) fn overflow(&self, limit: f64, usual: impl FnOnce() -> f64) -> Option<Load> {
        let explained = two_stage::explained(self.fresh, limit, usual)?;
        self.pending_fresh().nth(explained).map(|suspicion| suspicion.load)
    }

    /// Discards decided suspicions. Those that a DSACK may still refute are kept until `horizon` after
    /// the retransmission.
    pub(crate) fn expire(&mut self, horizon: Duration, now: Instant) {
        while let Some(front) = self.list.front() {
            match front.state {
                State::Refuted => {}
                State::Confirmed(_) | State::Arrived | State::Dismissed
                    if now.since(front.resent) > horizon =>
                {
                    self.unlist(front.segment, self.first);
                }
                _ => break,
            }
            self.list.pop_front();
            self.first += 1;
            self.decided = self.decided.saturating_sub(1);
            self.awaited = self.awaited.saturating_sub(1);
        }
    }

    /// Returns how many DSACKs were due and have not come since the last call.
    pub(crate) fn take_missed_dsacks(&mut self, now: Instant) -> u32 {
        let mut missed = 0;
        while let Some(suspicion) = self.list.get_mut(self.awaited as usize) {
            // While suspicions are confirmed at once, it is unknown how long a DSACK takes.
            if !self.active || now.since(suspicion.resent) <= self.wait {
                break;
            }
            if suspicion.state == State::Arrived {
                suspicion.state = State::Refuted;
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

    /// Rescales the loads when segments become smaller by the factor `ratio`. Windows keep their size in
    /// octets.
    pub(crate) fn on_smaller_segments(&mut self, ratio: f64) {
        for Suspicion { load, .. } in &mut self.list {
            load.cwnd *= ratio;
            load.flight = (f64::from(load.flight) * ratio) as u32;
        }
    }

    /// Renumbers the suspected segments after some were split. The order stays the same.
    pub(crate) fn renumber(&mut self, numbers: &Renumbered) {
        for (segment, _) in &mut self.by_segment {
            *segment = numbers.first(*segment);
        }
        for suspicion in &mut self.list {
            suspicion.segment = numbers.first(suspicion.segment);
        }
        self.arrivals.renumber(numbers);
    }
}
