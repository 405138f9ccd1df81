//! When nothing comes from the peer: closed windows are probed, idle peers asked, and silent ones
//! given up (RFC 9293, sections 3.8.3, 3.8.4 and 3.8.6.1).

use unruffled_units::{Duration, Instant};

use super::timers::ConnectionTimer;
use super::{Connection, State};

/// The state of probing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Idle {
    /// Doublings of the time between window probes.
    backoff: u32,
    /// A window probe is to leave; a keep-alive is.
    pub(super) window_probe_due: bool,
    pub(super) keep_alive_due: bool,
    /// When the peer was last heard.
    heard: Instant,
    /// Keep-alives without an answer.
    unanswered: u32,
}

impl Idle {
    /// A probe of the window or of the peer is to leave.
    pub(super) fn is_probe_due(&self) -> bool {
        self.window_probe_due || self.keep_alive_due
    }

    /// When the peer has been silent for `span`.
    pub(super) fn silent_until(&self, span: Duration) -> Instant {
        self.heard + span
    }
}

impl Connection {
    /// Something that calls for an answer leaves.
    pub(super) fn expect_answer(&mut self, now: Instant) {
        if let Some(patience) = self.config.patience.give_up
            && !self.timers.runs(ConnectionTimer::GiveUp)
        {
            self.timers.set(ConnectionTimer::GiveUp, now + patience);
        }
    }

    /// The peer has answered: with progress, or with a closed window, which keeps the connection for
    /// as long as it likes.
    #[inline]
    pub(super) fn answered(&mut self, now: Instant) {
        if let Some(patience) = self.config.patience.give_up
            && self.timers.runs(ConnectionTimer::GiveUp)
        {
            self.timers.set(ConnectionTimer::GiveUp, now + patience);
        }
    }

    /// Stops waiting for an answer once there is nothing to be answered.
    pub(super) fn rest(&mut self) {
        if !self.sender.stream.outstanding() && !self.timers.runs(ConnectionTimer::Persist) {
            self.timers.stop(ConnectionTimer::GiveUp);
        }
    }

    /// Nothing more may leave now: when that is for want of a window, it must be asked for, since
    /// the segment that opens it can get lost.
    pub(super) fn watch_window(&mut self, now: Instant) {
        if !self.sender.stream.blocked_by_window() {
            // Also when the timer has just expired, and what fits into the window has left.
            self.timers.stop(ConnectionTimer::Persist);
            self.idle.backoff = 0;
        } else if !self.timers.runs(ConnectionTimer::Persist) {
            let wait = self.sender.estimates().rto * (1 << self.idle.backoff.min(16));
            // A peer that answers must be asked before it is given up for not answering.
            let patience = self.config.patience.give_up.map_or(wait, |patience| patience / 2);
            self.timers
                .set(ConnectionTimer::Persist, now + wait.min(self.config.rto.max).min(patience));
            self.expect_answer(now);
        }
    }

    pub(super) fn on_persist_timer(&mut self) {
        self.idle.backoff += 1;
        self.idle.window_probe_due = true;
    }

    pub(super) fn start_keep_alive(&mut self, now: Instant) {
        self.idle.heard = now;
        if let Some(keep_alive) = self.config.patience.keep_alive {
            self.timers.set(ConnectionTimer::KeepAlive, now + keep_alive.idle);
        }
    }

    /// An acceptable segment arrived.
    pub(super) fn heard(&mut self, now: Instant) {
        self.unreachable = None;
        self.idle.heard = now;
        self.idle.unanswered = 0;
    }

    pub(super) fn on_keep_alive_timer(&mut self, now: Instant) {
        let Some(keep_alive) = self.config.patience.keep_alive else { return };
        if !self.state.is_synchronised() || self.state == State::TimeWait {
            return;
        }
        let due = self.idle.heard + keep_alive.idle;
        if due > now {
            self.timers.set(ConnectionTimer::KeepAlive, due);
        } else if self.sender.stream.outstanding() || self.timers.runs(ConnectionTimer::Persist) {
            // What is on its way asks as well.
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
