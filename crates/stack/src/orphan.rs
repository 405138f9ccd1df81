//! Orphans: connections that the application has released and that have not ended. Their time is
//! bounded whatever the peer does.

use unruffled_tcp::{Connection, State};
use unruffled_units::{Duration, Instant};

use crate::budget::Limits;

/// The deadlines of an orphan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orphan {
    /// Time of the next check.
    due: Instant,
    end: Instant,
    /// Octets that the peer had acknowledged at the last check.
    acknowledged: u64,
    waits_for_fin: bool,
}

impl Orphan {
    /// Returns the deadlines of a connection released at `now`; the application may have limited
    /// its time to `linger`.
    pub(crate) fn new(
        connection: &Connection,
        linger: Option<Duration>,
        limits: &Limits,
        now: Instant,
    ) -> Self {
        let lifetime = limits.orphan_lifetime;
        let end = now + linger.map_or(lifetime, |span| span.min(lifetime));
        Self {
            due: (now + limits.orphan_timeout).min(end),
            end,
            acknowledged: connection.acknowledged(),
            waits_for_fin: connection.state() == State::FinWait2,
        }
    }

    /// Returns the time of the next check.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Starts the peer's time to close when the state has become FIN-WAIT-2, and returns its end.
    pub(crate) fn on_state(
        &mut self,
        state: State,
        timeout: Duration,
        now: Instant,
    ) -> Option<Instant> {
        if state != State::FinWait2 || self.waits_for_fin {
            return None;
        }
        self.waits_for_fin = true;
        self.due = now + timeout;
        Some(self.due)
    }

    /// Returns the time of the next check, or `None` when the orphan must end. A peer that keeps
    /// its window closed acknowledges probes, but makes no progress.
    pub(crate) fn check(
        &mut self,
        connection: &Connection,
        timeout: Duration,
        now: Instant,
    ) -> Option<Instant> {
        let progress = connection.acknowledged() > self.acknowledged;
        if self.waits_for_fin || !progress || now >= self.end {
            return None;
        }
        self.acknowledged = connection.acknowledged();
        self.due = (now + timeout).min(self.end);
        Some(self.due)
    }
}
