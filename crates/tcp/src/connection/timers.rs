//! Timers of the connection itself. The sender and the receiver have others.

use unruffled_units::{Duration, Instant};

/// Purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionTimer {
    /// Retransmits the SYN or SYN-ACK.
    Handshake,
    /// Probes a closed window (RFC 9293, section 3.8.6.1).
    Persist,
    /// Probes an idle peer (RFC 9293, section 3.8.4).
    KeepAlive,
    /// Gives up after data was sent without an answer for too long (RFC 9293, section 3.8.3).
    GiveUp,
    /// Ends TIME-WAIT.
    TimeWait,
}

const COUNT: usize = 5;

/// Due times of the timers, and the earliest of them.
#[derive(Clone, Debug)]
pub(super) struct ConnectionTimers {
    due: [Instant; COUNT],
    next: Instant,
}

impl ConnectionTimers {
    pub(super) fn new() -> Self {
        Self { due: [Instant::MAX; COUNT], next: Instant::MAX }
    }

    pub(super) fn set(&mut self, timer: ConnectionTimer, due: Instant) {
        self.due[timer as usize] = due;
        self.next = self.due.iter().copied().fold(Instant::MAX, Instant::min);
    }

    pub(super) fn stop(&mut self, timer: ConnectionTimer) {
        if self.runs(timer) {
            self.set(timer, Instant::MAX);
        }
    }

    pub(super) fn runs(&self, timer: ConnectionTimer) -> bool {
        self.due[timer as usize] != Instant::MAX
    }

    /// Starts the user timeout `give_up`, if there is one, when a segment that requires an answer is
    /// sent.
    pub(super) fn expect_answer(&mut self, give_up: Option<Duration>, now: Instant) {
        if let Some(timeout) = give_up
            && !self.runs(ConnectionTimer::GiveUp)
        {
            self.set(ConnectionTimer::GiveUp, now + timeout);
        }
    }

    /// Restarts the user timeout after an answer: progress, or a closed window. A peer may keep the
    /// connection open with a closed window indefinitely.
    #[inline]
    pub(super) fn on_answer(&mut self, give_up: Option<Duration>, now: Instant) {
        if let Some(timeout) = give_up
            && self.runs(ConnectionTimer::GiveUp)
        {
            self.set(ConnectionTimer::GiveUp, now + timeout);
        }
    }

    /// Returns when `timer` is due, if it runs.
    pub(super) fn due(&self, timer: ConnectionTimer) -> Option<Instant> {
        Some(self.due[timer as usize]).filter(|&due| due != Instant::MAX)
    }

    /// Returns when the next timer is due; the maximum if none runs.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Returns whether no timer runs.
    pub(super) fn are_stopped(&self) -> bool {
        self.next == Instant::MAX
    }

    /// Returns whether `timer` is due, and stops it if so.
    pub(super) fn expired(&mut self, timer: ConnectionTimer, now: Instant) -> bool {
        let due = self.runs(timer) && self.due[timer as usize] <= now;
        if due {
            self.stop(timer);
        }
        due
    }
}
