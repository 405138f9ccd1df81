//! The timers of a composed sender.

use unruffled_units::Instant;

use crate::sender::stream::Stream;

/// The purposes of a sender's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SenderTimer {
    /// Retransmission timeout (RFC 6298).
    Retransmit,
    /// Next run of loss detection (RFC 8985's reordering timer).
    Detect,
    /// Tail loss probe (RFC 8985, section 7).
    Probe,
}

const TIMERS: usize = 3;

/// The due time of each timer.
#[derive(Clone, Debug)]
pub(super) struct SenderTimers {
    due: [Instant; TIMERS],
}

impl SenderTimers {
    pub(super) fn new() -> Self {
        Self { due: [Instant::MAX; TIMERS] }
    }

    pub(super) fn set(&mut self, timer: SenderTimer, due: Instant) {
        self.due[timer as usize] = due;
    }

    /// Restarts the retransmission timer with the current timeout.
    #[inline]
    pub(super) fn restart_retransmission(&mut self, stream: &mut Stream, cwnd: f64, now: Instant) {
        let timeout = stream.round_trips.start_timeout(cwnd);
        self.set(SenderTimer::Retransmit, now + timeout);
    }

    /// Starts the retransmission timer if it does not run.
    pub(super) fn start_retransmission(&mut self, stream: &mut Stream, cwnd: f64, now: Instant) {
        if self.get(SenderTimer::Retransmit).is_none() {
            self.restart_retransmission(stream, cwnd, now);
        }
    }

    pub(super) fn stop(&mut self, timer: SenderTimer) {
        self.due[timer as usize] = Instant::MAX;
    }

    /// Returns when the timer is due, if it runs.
    pub(super) fn get(&self, timer: SenderTimer) -> Option<Instant> {
        Some(self.due[timer as usize]).filter(|&due| due != Instant::MAX)
    }

    /// Returns when the next timer is due; the maximum if none runs.
    pub(super) fn next(&self) -> Instant {
        self.due.iter().copied().fold(Instant::MAX, Instant::min)
    }

    /// Returns whether `timer` is due, and stops it in that case.
    pub(super) fn expired(&mut self, timer: SenderTimer, now: Instant) -> bool {
        let due = self.due[timer as usize] <= now;
        if due {
            self.stop(timer);
        }
        due
    }
}
