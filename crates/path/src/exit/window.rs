//! Sliding window over the numbers of packets.

use unruffled_units::{Duration, Instant};

use super::{ReplayRule, ReplayWindow};

/// Sliding window over the numbers of packets, which start with 1.
#[derive(Clone, Debug)]
pub(super) struct Window {
    behind: u64,
    rule: ReplayRule,
    /// Highest number accepted, 0 before the first packet.
    newest: u64,
    /// Numbers accepted, each in the slot of its remainder modulo the length of the window. Those that
    /// are behind the window are overwritten or ignored.
    accepted: Vec<u64>,
    /// Times of arrival, in the same slots. Empty unless the age of packets matters.
    arrived: Vec<Instant>,
    /// Number below which all are dropped.
    lowest: u64,
    /// Packets dropped in a row because they were far ahead.
    far_ahead: u32,
}

impl Window {
    pub(super) fn new(window: ReplayWindow) -> Self {
        let slots = window.behind as usize;
        let timed = matches!(window.rule, ReplayRule::MaxAge(_));
        Self {
            behind: u64::from(window.behind),
            rule: window.rule,
            newest: 0,
            accepted: vec![0; slots],
            arrived: if timed { vec![Instant::ZERO; slots] } else { Vec::new() },
            lowest: 0,
            far_ahead: 0,
        }
    }

    /// Returns whether the packet with `number` that arrives at `now` is accepted.
    pub(super) fn accepts(&mut self, number: u64, now: Instant) -> bool {
        let accepted = match number > self.newest {
            true => self.accepts_ahead(number),
            false => self.accepts_late(number, now),
        };
        if !accepted {
            return false;
        }
        self.newest = self.newest.max(number);
        self.far_ahead = 0;
        let slot = self.slot(number);
        self.accepted[slot] = number;
        if let Some(arrived) = self.arrived.get_mut(slot) {
            *arrived = now;
        }
        true
    }

    /// Returns whether a packet is accepted whose number is higher than all before.
    fn accepts_ahead(&mut self, number: u64) -> bool {
        if let ReplayRule::FarAhead { run } = self.rule
            && number - self.newest >= self.behind
        {
            if self.far_ahead < run {
                self.far_ahead += 1;
                return false;
            }
            self.lowest = number;
        }
        true
    }

    /// Returns whether a packet is accepted whose number is not higher than all before.
    fn accepts_late(&self, number: u64, now: Instant) -> bool {
        let is_outside = self.newest - number >= self.behind || number < self.lowest;
        if is_outside || self.has_accepted(number) {
            return false;
        }
        match self.rule {
            ReplayRule::MaxAge(max) => !self.has_newer_before(number, now, max),
            _ => true,
        }
    }

    /// Returns whether a packet above `number` arrived more than `max` before `now`.
    fn has_newer_before(&self, number: u64, now: Instant, max: Duration) -> bool {
        (number + 1..=self.newest)
            .any(|n| self.has_accepted(n) && now.since(self.arrived[self.slot(n)]) > max)
    }

    /// Returns whether a packet within the window was accepted.
    fn has_accepted(&self, number: u64) -> bool {
        self.accepted[self.slot(number)] == number
    }

    fn slot(&self, number: u64) -> usize {
        (number % self.behind) as usize
    }
}
