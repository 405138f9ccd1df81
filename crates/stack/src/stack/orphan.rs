//! Connections that no application holds any more: they end in their own time, which is bounded
//! whatever the peer says.

use unruffled_tcp::{Connection, State};
use unruffled_units::{Duration, Instant};

use super::budget::Limits;

/// How an orphan stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Orphan {
    /// When it is looked at next.
    pub(super) due: Instant,
    end: Instant,
    /// What the peer had acknowledged when it was looked at last.
    acknowledged: u64,
    waits_for_fin: bool,
}

impl Orphan {
    /// The application gives it up to `linger`, if it says so.
    pub(super) fn new(
        connection: &Connection,
        linger: Option<Duration>,
        limits: &Limits,
        now: Instant,
    ) -> Self {
        let end = now + linger.map_or(limits.orphan_life, |span| span.min(limits.orphan_life));
        Self {
            due: (now + limits.orphan_patience).min(end),
            end,
            acknowledged: connection.acknowledged(),
            waits_for_fin: connection.state() == State::FinWait2,
        }
    }

    /// When the state has become FIN-WAIT-2, from then on the peer has its time to close: gives its
    /// end.
    pub(super) fn on_state(
        &mut self,
        state: State,
        patience: Duration,
        now: Instant,
    ) -> Option<Instant> {
        if state != State::FinWait2 || self.waits_for_fin {
            return None;
        }
        (self.waits_for_fin, self.due) = (true, now + patience);
        Some(self.due)
    }

    /// Its time has come: says when to look again, or that it is over. A peer that keeps its window
    /// closed acknowledges, but nothing new.
    pub(super) fn look(
        &mut self,
        connection: &Connection,
        patience: Duration,
        now: Instant,
    ) -> Option<Instant> {
        let progress = connection.acknowledged() > self.acknowledged;
        if self.waits_for_fin || !progress || now >= self.end {
            return None;
        }
        self.acknowledged = connection.acknowledged();
        self.due = (now + patience).min(self.end);
        Some(self.due)
    }
}
