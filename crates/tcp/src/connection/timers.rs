//! The connection's own timers, beside the sender's and the receiver's.

use unruffled_units::Instant;

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionTimer {
    /// SYN or SYN-ACK is to be sent again.
    Handshake,
    /// A closed window is to be probed (RFC 9293, section 3.8.6.1).
    Persist,
    /// An idle peer is to be asked whether it is there (RFC 9293, section 3.8.4).
    KeepAlive,
    /// What was sent has been without an answer for too long (RFC 9293, section 3.8.3).
    GiveUp,
    /// TIME-WAIT ends.
    TimeWait,
}

const COUNT: usize = 5;

/// A due time per timer, and the earliest of them.
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

    /// When `timer` is due, if it runs.
    pub(super) fn due(&self, timer: ConnectionTimer) -> Option<Instant> {
        Some(self.due[timer as usize]).filter(|&due| due != Instant::MAX)
    }

    /// When the next timer is due, if any runs.
    pub(super) fn next(&self) -> Option<Instant> {
        Some(self.next).filter(|&next| next != Instant::MAX)
    }

    /// Stops `timer` and says yes, if it is due.
    pub(super) fn expired(&mut self, timer: ConnectionTimer, now: Instant) -> bool {
        let due = self.runs(timer) && self.due[timer as usize] <= now;
        if due {
            self.stop(timer);
        }
        due
    }
}
