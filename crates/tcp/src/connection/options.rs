//! Settings that may change while the connection lasts. Poll for segments and ask for the next
//! timeout afterwards, as after anything that happens.

use unruffled_units::{Duration, Instant};

use super::timers::ConnectionTimer;
use super::{Connection, State};
use crate::KeepAlive;

impl Connection {
    /// [`Config::nagle`](crate::Config::nagle) from now on.
    pub fn set_nagle(&mut self, nagle: bool) {
        self.config.nagle = nagle;
        self.sender.stream.set_nagle(nagle);
    }

    /// [`PatienceConfig::give_up`](crate::PatienceConfig::give_up) from now on. What waits for an answer already
    /// has waited since it began to.
    pub fn set_give_up(&mut self, patience: Option<Duration>, now: Instant) {
        let before = std::mem::replace(&mut self.config.patience.give_up, patience);
        if self.state == State::Closed {
            return;
        }
        if self.timers.runs(ConnectionTimer::Persist) {
            // How often the window is asked for depends on the patience: with the next poll that
            // begins again.
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
        match (patience, since) {
            (Some(patience), Some(since)) => {
                self.timers.set(ConnectionTimer::GiveUp, since + patience)
            }
            _ => self.timers.stop(ConnectionTimer::GiveUp),
        }
    }

    /// [`PatienceConfig::keep_alive`](crate::PatienceConfig::keep_alive) from now on. A peer counts as heard of when
    /// probing is switched on.
    pub fn set_keep_alive(&mut self, keep_alive: Option<KeepAlive>, now: Instant) {
        let keep_alive = keep_alive.map(KeepAlive::bounded);
        let before = std::mem::replace(&mut self.config.patience.keep_alive, keep_alive);
        if !self.state.is_synchronised() || self.state == State::TimeWait {
            return;
        }
        match keep_alive {
            None => {
                self.idle.keep_alive_due = false;
                self.timers.stop(ConnectionTimer::KeepAlive);
            }
            Some(_) if before.is_none() => {
                self.heard(now);
                self.start_keep_alive(now);
            }
            Some(keep_alive) => {
                let due = self.idle.silent_until(keep_alive.idle);
                self.timers.set(ConnectionTimer::KeepAlive, due.max(now));
            }
        }
    }

    /// The receive window, less what has not been read, is `octets` from now on and grows no more:
    /// rounded up to units of its scale, and up to what the scale can tell. What has been promised
    /// already is still accepted. Ask for [`Connection::receive_room`] again.
    pub fn set_receive_buffer(&mut self, octets: u64) {
        self.receiver.fix_window(octets, self.state.is_synchronised());
    }
}
