//! When the sender's timers are set, and what happens when one expires.

use unruffled_units::Instant;

use super::Sender;
use super::scoreboard::Delivery;
use crate::observer::Observer;
use crate::timers::{Timer, Timers};

impl Sender {
    /// When to call [`Sender::on_timers`] at the latest.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timers.next()
    }

    /// Timers may be due.
    pub(crate) fn on_timers(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.tcp_pr.is_some() {
            return self.on_drop_timer(now, observer);
        }
        if self.timers.expired(Timer::Detect, now) {
            self.detect(&Delivery::default(), now, observer);
        }
        if self.timers.expired(Timer::Probe, now) {
            self.on_probe_timer(now, observer);
        }
        if self.timers.expired(Timer::Retransmit, now) {
            self.on_timeout(now, observer);
        }
    }

    /// RFC 6298, 5.2 and 5.3; RFC 8985, section 7.2.
    #[inline]
    pub(super) fn rearm_after_ack(&mut self, advanced: bool, delivered: bool, now: Instant) {
        if self.board.outstanding() == 0 {
            self.timers = Timers::new();
        } else if advanced {
            if self.restarts_timer() {
                self.restart_retransmit_timer(now);
            }
            if self.parts.probes {
                self.schedule_probe(now);
            }
        } else if delivered && self.doubts() {
            // A hole may be open for longer than the timeout while all goes well behind it.
            self.restart_retransmit_timer(now);
        }
    }

    /// The one place where the retransmission timer is computed.
    #[inline]
    pub(super) fn restart_retransmit_timer(&mut self, now: Instant) {
        let timeout = self.rto.compute(self.window.cwnd, self.latest_rtt);
        self.timers.set(Timer::Retransmit, now + timeout);
    }
}
