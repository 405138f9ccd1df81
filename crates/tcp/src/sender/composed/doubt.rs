//! Transmissions that were resent on suspicion, until each is proved lost or disproved, and the
//! reductions of the window that rest on the proofs (`docs/senders/unruffled.md`, section 4).
//!
//! A suspicion is *disproved* when its segment turns out to have arrived by the suspected
//! transmission. It is *proved* when it has not been by a certain time, or when too many are pending
//! at once, unless it is *dismissed*: the report that would have disproved it may have been lost. A
//! reduction without a proof left is taken back.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use super::arrivals::Arrivals;
use crate::parts::control::Window;
use crate::parts::detect::Report;
use crate::parts::detect::fixed::DUPTHRESH;
use crate::sender::stream::{Renumbered, SegNo};

/// Reductions that can be waiting for disproof at a time.
const CUTS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Pending,
    /// It is one of the proofs of the reduction of this number.
    Proved(u32),
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

/// A reduction of the window.
#[derive(Clone, Copy, Debug)]
struct Cut {
    number: u32,
    /// The window before.
    saved: Window,
    began: Instant,
    /// Suspicions that prove it and are not disproved.
    proofs: u32,
    /// A timeout made it: it is taken back only if its own retransmissions prove spurious as well.
    timeout: bool,
    reverted: bool,
    /// Suspicion was proof: nothing had been late yet.
    blind: bool,
}

impl Cut {
    /// It was made before anything had been late, and `since` then, and one segment of which nothing more
    /// was heard is all that it rests on.
    fn is_doubtful(&self, since: Instant) -> bool {
        self.blind && self.proofs == 1 && self.began >= since
    }

    /// Nothing is left that it rests on.
    fn is_baseless(&self) -> bool {
        self.proofs == 0 && (!self.timeout || self.reverted)
    }
}

/// What a disproof changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Disproof {
    /// What becomes of DSACKs, if one told.
    pub(super) report: Option<Report>,
    /// It had counted as proved.
    pub(super) proved: bool,
    /// A reduction has no proof left.
    pub(super) reverted: bool,
    /// The window to go back to: no reduction after that one is left.
    pub(super) restored: Option<Window>,
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
    cuts: Vec<Cut>,
    /// The last of them answers what was sent until then: until the window has come down, the queue is
    /// as full as it was.
    answered: Instant,
    next_cut: u32,
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
            cuts: Vec::new(),
            answered: Instant::ZERO,
            next_cut: 0,
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
    pub(super) fn suspect(&mut self, segment: SegNo, sent: Instant, load: Load, now: Instant) {
        let number = self.first + self.suspicions.len() as u64;
        let state = if self.waits {
            self.fresh += u32::from(self.is_fresh(sent));
            State::Pending
        } else {
            self.proved()
        };
        self.suspicions.push_back(Suspicion { segment, sent, resent: now, load, state });
        let at = self.by_segment.partition_point(|&entry| entry < (segment, number));
        self.by_segment.insert(at, (segment, number));
    }

    /// Whether what was sent at `sent` was sent after the last reduction.
    pub(super) fn is_fresh(&self, sent: Instant) -> bool {
        self.cuts.is_empty() || sent > self.answered
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
        let mut disproof = Disproof { report, proved: false, reverted: false, restored: None };
        match state {
            State::Pending => self.fresh -= u32::from(self.is_fresh(sent)),
            State::Proved(cut) => {
                disproof.proved = true;
                if let Some(at) = self.cuts.iter().position(|c| c.number == cut) {
                    self.cuts[at].proofs -= 1;
                    disproof.reverted = self.cuts[at].is_baseless();
                    if disproof.reverted {
                        disproof.restored = self.take_back(at);
                    }
                }
            }
            State::Arrived | State::Dismissed | State::Disproved => {}
        }
        Some(disproof)
    }

    /// Takes back the reduction at this place: gives the window before it, if it is the last.
    fn take_back(&mut self, at: usize) -> Option<Window> {
        let cut = self.cuts.remove(at);
        if let Some(next) = self.cuts.get_mut(at) {
            // Should that one prove spurious as well, it is this one's window that comes back.
            next.saved.cwnd = next.saved.cwnd.max(cut.saved.cwnd);
            next.saved.ssthresh = next.saved.ssthresh.max(cut.saved.ssthresh);
            return None;
        }
        self.answered = self.cuts.last().map_or(Instant::ZERO, |cut| cut.began);
        self.count_fresh();
        // What was suspected under the reduced window would have found this one.
        let from = self.decided as usize;
        for pending in self.suspicions.range_mut(from..) {
            pending.load.cwnd = pending.load.cwnd.max(cut.saved.cwnd);
        }
        Some(cut.saved)
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

    /// The retransmissions of the timeout at `began` all proved spurious: gives the window to go back
    /// to, unless a proof bars that.
    pub(super) fn revert(&mut self, began: Instant, saved: Window) -> Option<Window> {
        let at = self.cuts.iter().rposition(|cut| cut.timeout && cut.began == began);
        let Some(at) = at else { return Some(saved) };
        self.cuts[at].reverted = true;
        if self.cuts[at].is_baseless() { self.take_back(at) } else { None }
    }

    /// The reduction at `began` was taken back for a reason of its own.
    pub(super) fn forget(&mut self, began: Instant) {
        if let Some(at) = self.cuts.iter().rposition(|cut| cut.began == began) {
            self.take_back(at);
        }
    }

    /// A reduction `since` then is left that would not have been made, had it been known how late
    /// segments are.
    pub(super) fn has_doubtful_cut(&self, since: Instant) -> bool {
        self.cuts.iter().any(|cut| cut.is_doubtful(since))
    }

    /// Its segment was late, for all that is known by now: gives the window to go back to, if no
    /// reduction after it is left.
    pub(super) fn take_back_doubtful(&mut self, since: Instant) -> Option<Window> {
        let mut restored = None;
        while let Some(at) = self.cuts.iter().position(|cut| cut.is_doubtful(since)) {
            restored = self.take_back(at);
        }
        restored
    }

    /// The window, `saved` until now, is reduced.
    pub(super) fn begin_cut(&mut self, saved: Window, timeout: bool, now: Instant) {
        if self.cuts.len() == CUTS {
            self.cuts.remove(0);
        }
        let number = self.next_cut;
        self.next_cut += 1;
        let (proofs, reverted, blind) = (0, false, !self.waits && !timeout);
        self.cuts.push(Cut { number, saved, began: now, proofs, timeout, reverted, blind });
        self.answered = if timeout { now } else { Instant::MAX };
        self.fresh = 0;
    }

    /// The window has come down, as far as it does.
    pub(super) fn end_cut(&mut self, now: Instant) {
        if self.answered == Instant::MAX {
            self.answered = now;
            self.count_fresh();
        }
    }

    /// When the last reduction began.
    pub(super) fn last_cut(&self) -> Option<Instant> {
        self.cuts.last().map(|cut| cut.began)
    }

    /// Nothing has proved the last reduction yet.
    pub(super) fn last_cut_is_unproved(&self) -> bool {
        self.cuts.last().is_some_and(|cut| cut.proofs == 0)
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
    pub(super) fn prove_first(&mut self) {
        if self.first_pending().is_some() {
            let proved = self.proved();
            self.decide_first(proved);
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

    /// One more proof of the last reduction; without one to prove, its number is nobody's.
    fn proved(&mut self) -> State {
        State::Proved(self.cuts.last_mut().map_or(u32::MAX, |cut| {
            cut.proofs += 1;
            cut.number
        }))
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
        for cut in &mut self.cuts {
            cut.saved.scale(ratio);
        }
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
