//! What to send next (RFC 6675, NextSeg; RFC 3042; RFC 5681).

use unruffled_units::Instant;

use super::{Acks, Composed, Phase, Reduction};
use crate::observer::Cause;
use crate::parts::control::CongestionControl;
use crate::parts::limited_transmit::LimitedTransmit;
use crate::parts::respond::f_rto::Step;
use crate::sender::stream::{SegNo, Stream, Transmission};

impl Composed {
    /// The next segment that may leave at `now`, if any.
    #[inline(always)]
    pub(in crate::sender) fn poll(
        &mut self,
        stream: &mut Stream,
        now: Instant,
    ) -> Option<Transmission> {
        if self.has_nothing_to_send(stream) { None } else { self.next_transmission(stream, now) }
    }

    /// Returns whether there is nothing to send. That is so at every poll of a receiver, and at every
    /// second one of a sender.
    #[inline(always)]
    fn has_nothing_to_send(&self, stream: &Stream) -> bool {
        self.recovery.window_was_full.is_none()
            && stream.board.lost() == 0
            && matches!(self.recovery.phase, Phase::Open)
            && !self.probe.is_due()
            && (!stream.has_new() || self.window_is_full(stream))
    }

    /// Returns whether as much is in flight as the window and limited transmit permit.
    #[inline(never)]
    fn window_is_full(&self, stream: &Stream) -> bool {
        stream.outstanding()
            && !self.two_stage_active()
            && stream.board.outstanding() >= self.allowed(stream)
            && !self.limited_transmit.may_exceed(stream.pipe())
    }

    /// Returns the number of segments that may be in flight while nothing is deemed lost.
    #[inline]
    fn allowed(&self, stream: &Stream) -> u32 {
        let cwnd = self.limited_transmit.window(self.window.cwnd);
        let duplicates = self.recovery.duplicates(&self.policy, stream);
        cwnd as u32 + self.limited_transmit.allowance(duplicates, cwnd)
    }

    #[inline(never)]
    pub(super) fn next_transmission(
        &mut self,
        stream: &mut Stream,
        now: Instant,
    ) -> Option<Transmission> {
        self.recovery.window_was_full = None;
        if self.policy.paces {
            return self.next_paced(stream, now);
        }
        if let Some(transmission) = self.poll_probe(stream, now) {
            return Some(transmission);
        }
        match self.recovery.phase {
            Phase::Open if self.two_stage_active() => self.poll_two_stage(stream, now),
            Phase::Open => self.poll_open(stream, now),
            Phase::Recovery { point, .. } => self.poll_in_recovery(stream, point, now),
            Phase::Loss { .. } => self.poll_after_timeout(stream, now),
        }
    }

    fn poll_open(&mut self, stream: &mut Stream, now: Instant) -> Option<Transmission> {
        self.restart_after_idle(stream, now);
        if stream.board.outstanding() < self.allowed(stream) {
            return self.new_data(stream, now);
        }
        if !self.limited_transmit.may_exceed(stream.pipe()) {
            return None;
        }
        let transmission = self.new_data(stream, now)?;
        self.limited_transmit.on_exceeded();
        Some(transmission)
    }

    fn poll_in_recovery(
        &mut self,
        stream: &mut Stream,
        point: u64,
        now: Instant,
    ) -> Option<Transmission> {
        let mut cwnd = self.window.cwnd;
        if self.policy.reduction == Reduction::ByControl {
            cwnd = self.with_late(cwnd);
        }
        if !self.recovery.may_send(&self.policy, stream, cwnd) {
            return None;
        }
        let transmission = match self.next_to_resend(stream) {
            Some(number) => {
                self.recovery.high_rxt = self.recovery.high_rxt.max(number);
                Some(self.retransmit(stream, number, Cause::FastRetransmit, now))
            }
            None => self.new_data(stream, now).or_else(|| self.last_resort(stream, point, now)),
        };
        let first = std::mem::take(&mut self.recovery.fast_retransmit_due);
        if transmission.is_none() && self.two_stage_active() {
            self.recovery.fast_retransmit_due = first;
        }
        if transmission.is_some() {
            if !first {
                self.recovery.counted_pipe.on_sent();
            }
            self.recovery.prr.on_sent();
        }
        transmission
    }

    fn poll_after_timeout(&mut self, stream: &mut Stream, now: Instant) -> Option<Transmission> {
        let step = self.responses.f_rto.as_ref().map_or(Step::Idle, |f_rto| f_rto.part.step());
        match step {
            Step::First { .. } | Step::Second { new: 0 } => None,
            Step::Second { .. } => {
                let transmission = self.new_data(stream, now)?;
                if let Some(f_rto) = &mut self.responses.f_rto {
                    f_rto.part.on_sent_new();
                }
                Some(transmission)
            }
            Step::Idle | Step::Resend => {
                // Everything sent before counts as lost already. So without SACK, a duplicate, which
                // reports an arrival, takes nothing out of the pipe.
                let counted = self.policy.fast_recovery.duplicates_after_timeout();
                let pipe = stream.pipe().saturating_sub(self.recovery.dupacks.min(counted));
                if f64::from(pipe) >= self.window.cwnd.floor() {
                    return None;
                }
                match self.next_to_resend(stream) {
                    Some(number) => {
                        let transmission = self.retransmit(stream, number, Cause::Timeout, now);
                        if let Some(f_rto) = &mut self.responses.f_rto {
                            f_rto.part.on_resent(stream.board.entry(number).end());
                        }
                        Some(transmission)
                    }
                    None => self.new_data(stream, now),
                }
            }
        }
    }

    /// Returns the smallest segment deemed lost, unless Linux's recovery sends only new data now.
    fn next_to_resend(&self, stream: &mut Stream) -> Option<SegNo> {
        let holds = self.responses.linux.as_ref().is_some_and(|linux| linux.holds);
        if holds { None } else { stream.board.next_lost() }
    }

    #[inline(always)]
    pub(super) fn new_data(&mut self, stream: &mut Stream, now: Instant) -> Option<Transmission> {
        let len = stream.next_new()?;
        if !stream.outstanding() {
            let flow = self.flow(stream, now);
            self.control.on_limited(&flow);
            if self.pacing.is_some() {
                self.restart_pacing(&flow);
            }
        }
        Some(self.send_new(stream, len, now))
    }

    /// Sends the next `len` octets, whatever the window.
    #[inline(always)]
    pub(in crate::sender) fn send_new(
        &mut self,
        stream: &mut Stream,
        len: u64,
        now: Instant,
    ) -> Transmission {
        let transmission = stream.push_new(len, now);
        self.timers.start_retransmission(stream, self.window.cwnd, now);
        if self.policy.probes {
            self.schedule_probe(stream, now);
        }
        transmission
    }

    pub(super) fn retransmit(
        &mut self,
        stream: &mut Stream,
        number: SegNo,
        cause: Cause,
        now: Instant,
    ) -> Transmission {
        let retransmission = self.suspect(stream, number, cause, now);
        if let Some(pacing) = self.pacing.as_mut().filter(|_| retransmission.suspected) {
            pacing.on_suspected(number);
        }
        let transmission = stream.retransmit(number, cause, retransmission, &mut self.ledger, now);
        if self.pacing.is_some() {
            self.on_paced_sent(stream, number, now);
        }
        if let Some(eifel) = &mut self.responses.eifel {
            eifel.part.on_retransmit(now);
        }
        if let Some(linux) = &mut self.responses.linux {
            linux.on_retransmit(now);
        }
        self.timers.start_retransmission(stream, self.window.cwnd, now);
        transmission
    }

    /// Resends a hole that may not be lost, so that further acknowledgements arrive (NextSeg, rules
    /// 3 and 4).
    fn last_resort(
        &mut self,
        stream: &mut Stream,
        point: u64,
        now: Instant,
    ) -> Option<Transmission> {
        if self.policy.acks != Acks::Sack || self.policy.reduction != Reduction::AtOnce {
            return None;
        }
        if let Some(number) = stream.board.hole_from(self.recovery.high_rxt + 1) {
            self.recovery.high_rxt = number;
            return Some(self.retransmit(stream, number, Cause::FastRetransmit, now));
        }
        let (number, last) = stream.board.last_unsacked()?;
        let retransmitted = last.retransmitted;
        if stream.una() <= self.recovery.rescued_to || retransmitted {
            return None;
        }
        self.recovery.rescued_to = point;
        Some(self.retransmit(stream, number, Cause::FastRetransmit, now))
    }

    /// Restarts from RW = min(IW, cwnd) after an idle period (RFC 5681, section 4.1).
    pub(super) fn restart_after_idle(&mut self, stream: &Stream, now: Instant) {
        if self.policy.restart_window && stream.restarts(|| stream.round_trips.rto(), now) {
            self.window.cwnd = self.window.cwnd.min(f64::from(self.policy.initial_window));
        }
    }
}
