//! The sender's timers: when they are set, and what happens when the retransmission timer expires
//! (RFC 6298, section 5).

use unruffled_units::Instant;

use super::timers::{SenderTimer, SenderTimers};
use super::{Composed, Phase};
use crate::observer::{Cause, Event, Observer};
use crate::parts::control::Snapshot;
use crate::parts::detect::LossDetector;
use crate::parts::limited_transmit::LimitedTransmit;
use crate::sender::stream::{Delivery, Stream};

impl Composed {
    pub(in crate::sender) fn next_timer(&self) -> Option<Instant> {
        self.timers.next()
    }

    pub(in crate::sender) fn on_timers(
        &mut self,
        stream: &mut Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if self.timers.expired(SenderTimer::Detect, now) {
            self.detect_by_timer(stream, now, observer);
        }
        if self.timers.expired(SenderTimer::Probe, now) {
            self.on_probe_timer(stream, now, observer);
        }
        if self.timers.expired(SenderTimer::Retransmit, now) {
            self.on_retransmission_timeout(stream, now, observer);
        }
    }

    /// RFC 8985, section 6.2, step 5: the reordering timer finds losses as an acknowledgement does.
    fn detect_by_timer(&mut self, stream: &mut Stream, now: Instant, observer: &mut impl Observer) {
        let recovering = matches!(self.recovery.phase, Phase::Recovery { .. });
        let lost = stream.board.lost();
        self.detect(stream, &Delivery::default(), now, observer);
        // The pipe is smaller by what is lost, and the window as it was: no acknowledgement may come that
        // lets it go. What may only be late waits for one, or for the tail loss probe.
        if recovering && !self.two_stage_active() {
            self.recovery.prr.make_up_for(stream.board.lost().saturating_sub(lost));
        }
    }

    /// RFC 6298, 5.2 and 5.3; RFC 8985, section 7.2.
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
            if self.restarts_timer() {
                self.restart_retransmission_timer(stream, now);
            }
            if self.policy.probes {
                self.schedule_probe(stream, now);
            }
        } else if delivered && self.holes_are_usual(stream) {
            // A hole may be open for longer than the timeout while all goes well behind it.
            self.restart_retransmission_timer(stream, now);
            self.schedule_probe(stream, now);
        }
    }

    /// The one place where the retransmission timer is computed.
    #[inline]
    pub(super) fn restart_retransmission_timer(&mut self, stream: &mut Stream, now: Instant) {
        let timeout = stream.round_trips.start_timeout(self.window.cwnd);
        self.timers.set(SenderTimer::Retransmit, now + timeout);
    }

    pub(super) fn start_retransmission_timer(&mut self, stream: &mut Stream, now: Instant) {
        if self.timers.get(SenderTimer::Retransmit).is_none() {
            self.restart_retransmission_timer(stream, now);
        }
    }

    /// The retransmission timer expired (RFC 6298, 5.4 to 5.7).
    fn on_retransmission_timeout(
        &mut self,
        stream: &mut Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if !stream.outstanding() {
            return;
        }
        let first = !matches!(self.recovery.phase, Phase::Loss { too_big: false, .. });
        self.detector.on_timeout(first, &self.view(stream, now));
        // RFC 5681, section 3.1: a second timeout for the same data leaves ssthresh alone.
        if first || self.halves_as_ns2() {
            self.reduce(stream, Cause::Timeout, now);
        } else {
            self.book(stream, Cause::Timeout, Snapshot::default(), now);
        }
        self.enter_loss(stream, false);
        self.recovery.recover = Some(stream.nxt());
        if stream.board.reneged()
            && let Some(numbers) = stream.forget_sacks()
        {
            self.renumber(&numbers);
        }
        let rule = self.detector.rule(&self.view(stream, now));
        if rule.overdue.is_some() {
            // RFC 8985, section 6.3: the first, and what is overdue besides.
            stream.board.mark_first_lost();
            stream.board.mark_overdue(&rule, now);
        } else {
            stream.board.mark_all_lost();
        }
        self.window.cwnd = f64::from(stream.pipe()) + 1.0;
        observer.on_event(now, &Event::Timeout { cwnd: self.window.cwnd });
        stream.round_trips.back_off();
        self.timers.stop(SenderTimer::Detect);
        self.restart_retransmission_timer(stream, now);
    }

    /// What was sent before now is recovered from as after a timeout.
    pub(super) fn enter_loss(&mut self, stream: &Stream, too_big: bool) {
        self.recovery.enter_loss(stream.nxt(), too_big);
        self.limited_transmit.on_recovery();
        self.end_probe();
    }
}
