//! Packets whose data has been resent on suspicion, until each is confirmed as lost or refuted
//! (`docs/senders/unruffled.md`, section 4). Every packet has a number of its own, so its acknowledgement refutes the
//! suspicion, no matter how late it comes.

use alloc::collections::VecDeque;
use core::ops::RangeInclusive;

use unruffled_lateness::two_stage;
use unruffled_units::{Duration, Instant};

use crate::Packet;
use crate::outstanding::positions;
use crate::reductions::{ReductionId, Reductions};

/// Number of refuted entries from which on it pays to close the gaps.
const MIN_GAPS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Pending,
    /// Confirmed; it supports this reduction, if one stood then.
    Confirmed(Option<ReductionId>),
    Refuted,
}

/// The window at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// The window, in octets.
    pub(crate) window: u64,
    pub(crate) slow_start: bool,
}

#[derive(Clone, Copy, Debug)]
struct Suspicion {
    packet: Packet,
    /// Time at which the data was resent.
    resent: Instant,
    /// The load at that time, from which an immediate reduction would have started.
    load: Load,
    state: State,
}

/// The suspicions, in order of their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Suspicions {
    list: VecDeque<Suspicion>,
    /// Length of the prefix of `list` in which none is pending.
    decided: usize,
    /// Number of refuted entries.
    gaps: usize,
    /// Pending suspicions of packets sent after `covered`.
    fresh: u32,
    /// Latest transmission to which the last standing reduction responds.
    covered: Option<Instant>,
    /// Maximum length of `list`.
    max: usize,
}

impl Suspicions {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            list: VecDeque::new(),
            decided: 0,
            gaps: 0,
            fresh: 0,
            covered: None,
            max: max.max(1),
        }
    }

    pub(crate) fn reserve(&mut self, suspicions: usize) {
        self.list.reserve(suspicions.min(self.max));
    }

    pub(crate) fn covered(&self) -> Option<Instant> {
        self.covered
    }

    /// Returns the number of pending suspicions of packets sent after the last reduction.
    pub(crate) fn fresh(&self) -> u32 {
        self.fresh
    }

    pub(crate) fn is_fresh(&self, sent: Instant) -> bool {
        self.covered.is_none_or(|covered| sent > covered)
    }

    /// Makes room for one more, and returns whether there is room. There is none if the oldest is pending.
    pub(crate) fn make_room(&mut self) -> bool {
        if self.list.len() < self.max {
            return true;
        }
        self.close_gaps();
        if self.list.len() >= self.max && self.decided > 0 {
            self.pop_front();
        }
        self.list.len() < self.max
    }

    /// Adds a suspicion.
    pub(crate) fn add(&mut self, packet: Packet, load: Load, now: Instant) {
        self.fresh += u32::from(self.is_fresh(packet.sent));
        self.list.push_back(Suspicion { packet, resent: now, load, state: State::Pending });
    }

    /// Refutes the suspicions of the packets in `range`, and calls `each` for them, with the state in which they
    /// were.
    pub(crate) fn refute(
        &mut self,
        range: &RangeInclusive<u64>,
        mut each: impl FnMut(&Packet, State),
    ) {
        for at in positions(&self.list, range, |suspicion| suspicion.packet.number) {
            let Suspicion { packet, state, .. } = self.list[at];
            if state == State::Refuted {
                continue;
            }
            self.list[at].state = State::Refuted;
            self.gaps += 1;
            if state == State::Pending {
                self.fresh -= u32::from(self.is_fresh(packet.sent));
            }
            each(&packet, state);
        }
    }

    /// Returns the first pending suspicion.
    pub(crate) fn first_pending(&mut self) -> Option<(Packet, Load)> {
        loop {
            let first = self.list.get(self.decided)?;
            if first.state == State::Pending {
                return Some((first.packet, first.load));
            }
            self.decided += 1;
        }
    }

    /// Confirms the first pending suspicion, which then supports the last reduction.
    pub(crate) fn confirm_first<S>(&mut self, reductions: &mut Reductions<S>) -> Option<Packet> {
        let (packet, _) = self.first_pending()?;
        self.fresh -= u32::from(self.is_fresh(packet.sent));
        self.list[self.decided].state = State::Confirmed(reductions.confirm_last());
        self.decided += 1;
        Some(packet)
    }

    fn pending(&self) -> impl Iterator<Item = &Suspicion> {
        self.list.range(self.decided..).filter(|suspicion| suspicion.state == State::Pending)
    }

    /// Returns the pending suspicions of packets sent at `until` or before.
    pub(crate) fn pending_until(&self, until: Instant) -> impl Iterator<Item = &Packet> {
        let packets = self.pending().map(|suspicion| &suspicion.packet);
        packets.take_while(move |packet| packet.sent <= until)
    }

    /// Returns the load at the first suspicion beyond what lateness explains, if the number of pending
    /// suspicions indicates an overflow.
    pub(crate) fn overflow(&self, limit: f64, usual: impl FnOnce() -> f64) -> Option<Load> {
        let explained = two_stage::explained(self.fresh, limit, usual)?;
        let mut fresh = self.pending().filter(|suspicion| self.is_fresh(suspicion.packet.sent));
        fresh.nth(explained).map(|suspicion| suspicion.load)
    }

    /// Records that the window is reduced.
    pub(crate) fn on_reduction(&mut self, now: Instant) {
        self.covered = Some(now);
        self.count_fresh();
    }

    /// Handles the undoing of the last reduction, which restores `window`. The reduction that is now the last
    /// one began at `last`.
    pub(crate) fn on_undo(&mut self, window: u64, last: Option<Instant>) {
        self.covered = last;
        self.count_fresh();
        // Without the reduction, pending suspicions would have arisen under the larger window.
        for suspicion in self.list.range_mut(self.decided..) {
            suspicion.load.window = suspicion.load.window.max(window);
        }
    }

    fn count_fresh(&mut self) {
        let fresh = self.pending().filter(|suspicion| self.is_fresh(suspicion.packet.sent)).count();
        self.fresh = fresh as u32;
    }

    /// Forgets suspicions that are decided. Confirmed ones, which an acknowledgement may still refute, are kept
    /// until `horizon` after the data was resent.
    pub(crate) fn expire(&mut self, horizon: Duration, now: Instant) {
        while let Some(first) = self.list.front() {
            match first.state {
                State::Refuted => {}
                State::Confirmed(_) if now.since(first.resent) > horizon => {}
                _ => break,
            }
            self.pop_front();
        }
        if self.gaps >= MIN_GAPS && self.gaps > self.list.len() / 2 {
            self.close_gaps();
        }
    }

    fn pop_front(&mut self) {
        if let Some(first) = self.list.pop_front() {
            self.gaps -= usize::from(first.state == State::Refuted);
            self.decided = self.decided.saturating_sub(1);
        }
    }

    fn close_gaps(&mut self) {
        self.list.retain(|suspicion| suspicion.state != State::Refuted);
        self.gaps = 0;
        self.decided = 0;
        // Walks to the first pending one.
        let _ = self.first_pending();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packet 0 stays pending. The others are refuted as soon as the next one is suspected.
    #[test]
    fn a_pending_suspicion_does_not_make_the_table_grow() {
        let mut suspicions = Suspicions::new(1000);
        let load = Load { window: 1, slow_start: false };
        let mut refuted = 0;
        for number in 0..500 {
            let now = Instant::from_millis(number);
            suspicions.add(Packet { number, sent: now, octets: 1 }, load, now);
            suspicions.refute(&(1..=number.saturating_sub(1)), |_, state| {
                assert_eq!(state, State::Pending);
                refuted += 1;
            });
            suspicions.expire(Duration::from_secs(2), now);
            assert!(suspicions.list.len() <= 34, "{} at {number}", suspicions.list.len());
        }
        assert_eq!((refuted, suspicions.fresh()), (498, 2));
        assert_eq!(suspicions.first_pending().map(|(packet, _)| packet.number), Some(0));
        let mut reductions: Reductions<()> = Reductions::new();
        let confirmed: [Option<u64>; 3] = core::array::from_fn(|_| {
            suspicions.confirm_first(&mut reductions).map(|packet| packet.number)
        });
        assert_eq!(confirmed, [Some(0), Some(499), None]);
    }
}
