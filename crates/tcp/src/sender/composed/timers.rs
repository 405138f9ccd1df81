//! The timers of a composed sender: when each is due, or not at all.

use unruffled_units::Instant;

/// What a sender's timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SenderTimer {
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
pub(super) struct SenderTimers {
    due: [Instant; COUNT],
}

impl SenderTimers {
    pub(super) fn new() -> Self {
        Self { due: [Instant::MAX; COUNT] }
    }

    pub(super) fn set(&mut self, timer: SenderTimer, due: Instant) {
        self.due[timer as usize] = due;
    }

    pub(super) fn stop(&mut self, timer: SenderTimer) {
        self.due[timer as usize] = Instant::MAX;
    }

    /// When the timer is due, if it runs.
    pub(super) fn get(&self, timer: SenderTimer) -> Option<Instant> {
        Some(self.due[timer as usize]).filter(|&due| due != Instant::MAX)
    }

    /// When the next timer is due, if any runs.
    pub(super) fn next(&self) -> Option<Instant> {
        self.due.iter().copied().min().filter(|&due| due != Instant::MAX)
    }

    /// Stops `timer` and says yes, if it is due.
    pub(super) fn expired(&mut self, timer: SenderTimer, now: Instant) -> bool {
        let due = self.due[timer as usize] <= now;
        if due {
            self.stop(timer);
        }
        due
    }
}
