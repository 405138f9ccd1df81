//! Settings that may change during a connection. After a change, poll for segments and for the next
//! timeout, as after every other event.

use unruffled_units::{Duration, Instant};

use super::timers::ConnectionTimer;
use super::{Connection, State};
use crate::KeepAlive;

impl Connection {
    /// Sets [`Config::nagle`](crate::Config::nagle).
    pub fn set_nagle(&mut self, nagle: bool) {
        self.config.nagle = nagle;
        self.sender.stream.set_nagle(nagle);
    }

    /// Sets [`TimeoutConfig::give_up`](crate::TimeoutConfig::give_up). The time that a segment
    /// has already waited for an answer counts.
    pub fn set_give_up(&mut self, timeout: Option<Duration>, now: Instant) {
        let before = std::mem::replace(&mut self.config.timeouts.give_up, timeout);
        if self.state == State::Closed {
            return;
        }
        if self.timers.runs(ConnectionTimer::Persist) {
            // The interval of window probes depends on the timeout. The next poll starts the probes
            // again.
            self.timers.stop(ConnectionTimer::Persist);
            self.timers.stop(ConnectionTimer::GiveUp);
            return;
        }
        let waits =
            self.sender.stream.outstanding() || self.timers.runs(ConnectionTimer::Handshake);
        let since = match (before, self.timers.due(ConnectionTimer::GiveUp)) {
            (Some(before), Some(due)) => Some(due - before),
            _ => waits.then_some(now),
        };
        match (timeout, since) {
            (Some(timeout), Some(since)) => {
                self.timers.set(ConnectionTimer::GiveUp, since + timeout)
            }
            _ => self.timers.stop(ConnectionTimer::GiveUp),
        }
    }

    /// Sets [`TimeoutConfig::keep_alive`](crate::TimeoutConfig::keep_alive). Switching
    /// keep-alives on counts as a sign of life of the peer.
    pub fn set_keep_alive(&mut self, keep_alive: Option<KeepAlive>, now: Instant) {
        let keep_alive = keep_alive.map(KeepAlive::bounded);
        let before = std::mem::replace(&mut self.config.timeouts.keep_alive, keep_alive);
        if !self.state.is_synchronised() || self.state == State::TimeWait {
            return;
        }
        match keep_alive {
            None => {
                self.idle.keep_alive_due = false;
                self.timers.stop(ConnectionTimer::KeepAlive);
            }
            Some(_) if before.is_none() => {
                self.idle.on_acceptable(now);
                self.idle.start(keep_alive, &mut self.timers, now);
            }
            Some(keep_alive) => {
                let due = self.idle.silent_until(keep_alive.idle);
                self.timers.set(ConnectionTimer::KeepAlive, due.max(now));
            }
        }
    }

    /// Sets the size of the receive window plus the unread octets, which then no longer grows. The
    /// size is rounded up to units of the window scale, and limited to what the scale can express.
    /// Data within windows already advertised is still accepted. Check [`Connection::receive_room`]
    /// afterwards.
    pub fn set_receive_buffer(&mut self, octets: u64) {
        self.receiver.fix_window(octets, self.state.is_synchronised());
    }
}
