//! The sender's timers: when they are set, and what happens when the retransmission timer expires
//! (RFC 6298, section 5).

use std::num::NonZeroU64;

use unruffled_units::Instant;

use super::context::Step;
use super::timers::{SenderTimer, SenderTimers};
use super::{Composed, Phase};
use crate::observer::{Cause, Event, Observer};
use crate::parts::control::{CongestionControl, Snapshot};
use crate::parts::detect::LossDetector;
use crate::parts::limited_transmit::LimitedTransmit;
use crate::sender::stream::{Delivery, Stream};

impl<O: Observer> Step<'_, O> {
    /// Handles the timers that have expired.
    pub(in crate::sender) fn on_timers(&mut self) {
        // The poll that follows sends what pacing held back.
        if let Some(pacing) = &mut self.sender.pacing {
            pacing.expire(self.now);
        }
        if self.sender.timers.expired(SenderTimer::Detect, self.now) {
            self.detect_by_timer();
        }
        if self.sender.timers.expired(SenderTimer::Probe, self.now) {
            self.on_probe_timer();
        }
        if self.sender.timers.expired(SenderTimer::Retransmit, self.now) {
            self.on_retransmission_timeout();
        }
    }

    /// Detects losses when the reordering timer expires, as for an acknowledgement (RFC 8985,
    /// section 6.2, step 5).
    fn detect_by_timer(&mut self) {
        let recovering = matches!(self.sender.recovery.phase, Phase::Recovery { .. });
        let before = self.stream.board.lost();
        self.detect(&Delivery::default());
        // The pipe is smaller by the lost segments, and the window is the same. Their replacements leave
        // now, since no acknowledgement may come to permit them. Where segments may only be late, they
        // wait for an acknowledgement or for the tail loss probe.
        if recovering && !self.sender.two_stage_active() {
            let lost = self.stream.board.lost().saturating_sub(before);
            self.sender.recovery.prr.make_up_for(lost);
        }
    }

    /// Handles the expiry of the retransmission timer (RFC 6298, 5.4 to 5.7).
    fn on_retransmission_timeout(&mut self) {
        if !self.stream.outstanding() {
            return;
        }
        let first = !matches!(self.sender.recovery.phase, Phase::Loss { too_big: false, .. });
        let view = self.view();
        let Step { sender, stream, now, .. } = self;
        let now = *now;
        let phase = sender.recovery.phase;
        let mut reduced = false;
        if let Some(linux) = &mut sender.responses.linux {
            linux.on_timeout(phase, stream.board.sacked(), now);
            // Linux reduces the window once for the data of a recovery.
            reduced = matches!(phase, Phase::Recovery { point, .. } if stream.una() < point);
        }
        sender.detector.on_timeout(first, &view);
        // RFC 5681, section 3.1: a second timeout for the same data leaves ssthresh alone. So does the
        // first one after a mark in the same window of data (RFC 3168, section 6.1.2).
        if sender.policy.halves_as_ns2(&sender.control) {
            sender.reduce(stream, Cause::Timeout, now);
        } else if first && !reduced {
            sender.reduce_for_loss(stream, Cause::Timeout, now);
        } else {
            sender.record_reduction(stream, Cause::Timeout, Snapshot::default(), now);
        }
        sender.enter_loss(stream, false);
        sender.recovery.recover = NonZeroU64::new(stream.nxt());
        if stream.board.reneged()
            && let Some(numbers) = stream.discard_sacks()
        {
            sender.renumber(&numbers);
        }
        let rule = sender.detector.rule(&sender.view(stream, now));
        if rule.overdue.is_some() {
            // RFC 8985, section 6.3: the first segment and all that are overdue.
            stream.board.mark_first_lost();
            stream.board.mark_overdue(&rule, now);
        } else {
            stream.board.mark_all_lost();
        }
        if sender.control.limits() {
            sender.window.cwnd = f64::from(stream.pipe()) + 1.0;
        }
        if let Some(pacing) = &mut sender.pacing {
            pacing.on_timeout();
        }
        self.observer.on_event(now, &Event::Timeout { cwnd: sender.window.cwnd });
        stream.round_trips.back_off();
        sender.timers.stop(SenderTimer::Detect);
        sender.timers.restart_retransmission(stream, sender.window.cwnd, now);
    }
}

impl Composed {
    /// Restarts or stops the timers after an acknowledgement (RFC 6298, 5.2 and 5.3; RFC 8985,
    /// section 7.2).
    #[inline(always)]
    pub(super) fn rearm_after_ack(
        &mut self,
        stream: &mut Stream,
        advanced: bool,
        delivered: bool,
        now: Instant,
    ) {
        if !stream.outstanding() {
            self.timers = SenderTimers::new();
        } else if advanced {
            if self.recovery.restarts_timer(&self.policy) {
                self.timers.restart_retransmission(stream, self.window.cwnd, now);
            }
            if self.policy.probes {
                self.schedule_probe(stream, now);
            }
        } else if delivered && self.holes_are_usual(stream) {
            // A hole may stay open for longer than the timeout while segments behind it arrive.
            self.timers.restart_retransmission(stream, self.window.cwnd, now);
            self.schedule_probe(stream, now);
        }
    }

    /// Begins recovery from the loss of everything sent so far.
    pub(super) fn enter_loss(&mut self, stream: &Stream, too_big: bool) {
        self.recovery.enter_loss(stream.nxt(), too_big);
        self.limited_transmit.on_recovery();
        self.probe.end(&mut self.timers);
    }
}
