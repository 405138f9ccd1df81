//! Silent peers: closed windows and idle peers are probed, and a connection whose peer does not
//! answer is given up (RFC 9293, sections 3.8.3, 3.8.4 and 3.8.6.1).

use unruffled_units::{Duration, Instant};

use super::timers::{ConnectionTimer, ConnectionTimers};
use super::transmit::Departure;
use super::{Connection, State};
use crate::KeepAlive;
use crate::observer::Unreachable;

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
    /// The last unreachable report since a segment of the peer arrived.
    pub(super) unreachable: Option<Unreachable>,
}

impl Idle {
    /// Returns whether a window probe or a keep-alive is due.
    pub(super) fn is_probe_due(&self) -> bool {
        self.window_probe_due || self.keep_alive_due
    }

    /// A window probe is due.
    pub(super) fn on_persist_timer(&mut self) {
        self.backoff += 1;
        self.window_probe_due = true;
    }

    /// Starts keep-alives, if there are any.
    pub(super) fn start(
        &mut self,
        keep_alive: Option<KeepAlive>,
        timers: &mut ConnectionTimers,
        now: Instant,
    ) {
        self.last_arrival = now;
        if let Some(keep_alive) = keep_alive {
            timers.set(ConnectionTimer::KeepAlive, now + keep_alive.idle);
        }
    }

    /// An acceptable segment has arrived.
    pub(super) fn on_acceptable(&mut self, now: Instant) {
        self.unreachable = None;
        self.last_arrival = now;
        self.unanswered = 0;
    }

    /// Returns the time at which the peer will have been silent for `span`.
    pub(super) fn silent_until(&self, span: Duration) -> Instant {
        self.last_arrival + span
    }
}

impl Connection {
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

impl<O> Departure<'_, O> {
    /// Stops the user timeout when no answer is outstanding.
    pub(super) fn stop_expecting(&mut self) {
        let Connection { sender, timers, .. } = &mut *self.connection;
        if !sender.stream.outstanding() && !timers.runs(ConnectionTimer::Persist) {
            timers.stop(ConnectionTimer::GiveUp);
        }
    }

    /// Called when nothing more can be sent now. If a closed window is the reason, this starts probes,
    /// because the segment that opens the window can be lost.
    pub(super) fn watch_window(&mut self) {
        let Connection { config, sender, timers, idle, .. } = &mut *self.connection;
        if !sender.stream.blocked_by_window() {
            // Also when the timer has just expired and what fits into the window was sent.
            timers.stop(ConnectionTimer::Persist);
            idle.backoff = 0;
        } else if !timers.runs(ConnectionTimer::Persist) {
            let wait = sender.estimates().rto * (1 << idle.backoff.min(16));
            // A peer must be probed before it can be given up for not answering.
            let give_up = config.timeouts.give_up;
            let limit = give_up.map_or(wait, |timeout| timeout / 2);
            timers.set(ConnectionTimer::Persist, self.now + wait.min(config.rto.max).min(limit));
            timers.expect_answer(give_up, self.now);
        }
    }
}
