//! The sender's timers: when each is due, or not at all.

use unruffled_units::Instant;

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// Retransmission timeout (RFC 6298).
    Retransmit,
    /// Loss detection wants to look again (RFC 8985's reordering timer).
    Detect,
    /// Tail loss probe (RFC 8985, section 7).
    Probe,
}

const COUNT: usize = 3;

/// A due time per timer.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    due: [Instant; COUNT],
}

impl Timers {
    pub(crate) fn new() -> Self {
        Self { due: [Instant::MAX; COUNT] }
    }

    pub(crate) fn set(&mut self, timer: Timer, due: Instant) {
        self.due[timer as usize] = due;
    }

    pub(crate) fn stop(&mut self, timer: Timer) {
        self.due[timer as usize] = Instant::MAX;
    }

    /// When the timer is due, if it runs.
    pub(crate) fn get(&self, timer: Timer) -> Option<Instant> {
        Some(self.due[timer as usize]).filter(|&due| due != Instant::MAX)
    }

    /// When the next timer is due, if any runs.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.due.iter().copied().min().filter(|&due| due != Instant::MAX)
    }

    /// Stops `timer` and says yes, if it is due.
    pub(crate) fn expired(&mut self, timer: Timer, now: Instant) -> bool {
        let due = self.due[timer as usize] <= now;
        if due {
            self.stop(timer);
        }
        due
    }
}
