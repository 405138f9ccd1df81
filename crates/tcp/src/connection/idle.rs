//! Silent peers: closed windows and idle peers are probed, and a connection whose peer does not
//! answer is given up (RFC 9293, sections 3.8.3, 3.8.4 and 3.8.6.1).

use unruffled_units::{Duration, Instant};

use super::timers::ConnectionTimer;
use super::{Connection, State};

/// State of window probes and keep-alives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Idle {
    /// Number of times that the interval between window probes was doubled.
    backoff: u32,
    /// Whether a window probe is due.
    pub(super) window_probe_due: bool,
    /// Whether a keep-alive is due.
    pub(super) keep_alive_due: bool,
    /// Time of the last acceptable segment.
    last_arrival: Instant,
    /// Keep-alives without an answer so far.
    unanswered: u32,
}

impl Idle {
    /// Returns whether a window probe or a keep-alive is due.
    pub(super) fn is_probe_due(&self) -> bool {
        self.window_probe_due || self.keep_alive_due
    }

    /// Returns the time at which the peer will have been silent for `span`.
    pub(super) fn silent_until(&self, span: Duration) -> Instant {
        self.last_arrival + span
    }
}

impl Connection {
    /// Starts the user timeout when a segment that requires an answer is sent.
    pub(super) fn expect_answer(&mut self, now: Instant) {
        if let Some(timeout) = self.config.timeouts.give_up
            && !self.timers.runs(ConnectionTimer::GiveUp)
        {
            self.timers.set(ConnectionTimer::GiveUp, now + timeout);
        }
    }

    /// Restarts the user timeout after an answer: progress, or a closed window. A peer may keep the
    /// connection open with a closed window indefinitely.
    #[inline]
    pub(super) fn on_answer(&mut self, now: Instant) {
        if let Some(timeout) = self.config.timeouts.give_up
            && self.timers.runs(ConnectionTimer::GiveUp)
        {
            self.timers.set(ConnectionTimer::GiveUp, now + timeout);
        }
    }

    /// Stops the user timeout when no answer is outstanding.
    pub(super) fn stop_expecting(&mut self) {
        if !self.sender.stream.outstanding() && !self.timers.runs(ConnectionTimer::Persist) {
            self.timers.stop(ConnectionTimer::GiveUp);
        }
    }

    /// Called when nothing more can be sent now. If a closed window is the reason, this starts
    /// probes, because the segment that opens the window can be lost.
    pub(super) fn watch_window(&mut self, now: Instant) {
        if !self.sender.stream.blocked_by_window() {
            // Also when the timer has just expired and what fits into the window was sent.
            self.timers.stop(ConnectionTimer::Persist);
            self.idle.backoff = 0;
        } else if !self.timers.runs(ConnectionTimer::Persist) {
            let wait = self.sender.estimates().rto * (1 << self.idle.backoff.min(16));
            // A peer must be probed before it can be given up for not answering.
            let limit = self.config.timeouts.give_up.map_or(wait, |timeout| timeout / 2);
            self.timers
                .set(ConnectionTimer::Persist, now + wait.min(self.config.rto.max).min(limit));
            self.expect_answer(now);
        }
    }

    /// Called when a window probe is due.
    pub(super) fn on_persist_timer(&mut self) {
        self.idle.backoff += 1;
        self.idle.window_probe_due = true;
    }

    pub(super) fn start_keep_alive(&mut self, now: Instant) {
        self.idle.last_arrival = now;
        if let Some(keep_alive) = self.config.timeouts.keep_alive {
            self.timers.set(ConnectionTimer::KeepAlive, now + keep_alive.idle);
        }
    }

    /// Called when an acceptable segment arrived.
    pub(super) fn on_acceptable(&mut self, now: Instant) {
        self.unreachable = None;
        self.idle.last_arrival = now;
        self.idle.unanswered = 0;
    }

    pub(super) fn on_keep_alive_timer(&mut self, now: Instant) {
        let Some(keep_alive) = self.config.timeouts.keep_alive else { return };
        if !self.state.is_synchronised() || self.state == State::TimeWait {
            return;
        }
        let due = self.idle.last_arrival + keep_alive.idle;
        if due > now {
            self.timers.set(ConnectionTimer::KeepAlive, due);
        } else if self.sender.stream.outstanding() || self.timers.runs(ConnectionTimer::Persist) {
            // Data in flight and window probes already require an answer.
            self.timers.set(ConnectionTimer::KeepAlive, now + keep_alive.idle);
        } else if self.idle.unanswered >= keep_alive.count {
            self.give_up();
        } else {
            self.idle.unanswered += 1;
            self.idle.keep_alive_due = true;
            self.timers.set(ConnectionTimer::KeepAlive, now + keep_alive.interval);
        }
    }
}
