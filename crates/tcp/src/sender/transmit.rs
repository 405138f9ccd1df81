//! What to send next (RFC 6675, NextSeg; RFC 3042; RFC 5681).

use unruffled_units::Instant;

use super::f_rto::Step;
use super::retransmissions::Cause;
use super::scoreboard::SegNo;
use super::{Phase, Sender};
use crate::timers::Timer;
use crate::variant::{Acks, Reduction};

/// A data segment to send: where it starts in the stream, how long it is, and whether again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    pub(crate) offset: u64,
    pub(crate) len: u32,
    /// It is the FIN, which has no payload.
    pub(crate) fin: bool,
    /// Why again, if it is a retransmission.
    pub(crate) cause: Option<Cause>,
}

impl Sender {
    /// The next segment that may leave at `now`, if any.
    #[inline]
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Transmission> {
        // Every second poll of a sender and every poll of a receiver ends here.
        if self.phase == Phase::Open
            && self.tcp_pr.is_none()
            && !self.probe.is_due()
            && !self.has_new()
            && self.board.lost() == 0
        {
            return None;
        }
        self.next_transmission(now)
    }

    fn next_transmission(&mut self, now: Instant) -> Option<Transmission> {
        if self.tcp_pr.is_some() {
            return self.flush_cwnd(now);
        }
        if let Some(transmission) = self.poll_probe(now) {
            return Some(transmission);
        }
        match self.phase {
            Phase::Open if self.doubts() => self.poll_in_doubt(now),
            Phase::Open => {
                self.restart_after_idle(now);
                let duplicates = self.board.sacked().max(self.dupacks);
                let cwnd = self.held_window.unwrap_or(self.window.cwnd);
                let allowed = cwnd as u32 + self.parts.limited_transmit.allowance(duplicates, cwnd);
                if self.board.outstanding() >= allowed {
                    return self.extended_limited_transmit(now);
                }
                self.new_data(now)
            }
            Phase::Recovery { .. } => {
                if !self.may_send_in_recovery() {
                    return None;
                }
                let lost = self.board.next_lost();
                let transmission = match lost {
                    Some(number) => {
                        self.high_rxt = self.high_rxt.max(number);
                        Some(self.retransmit(number, Cause::FastRetransmit, now))
                    }
                    None => self.new_data(now).or_else(|| self.last_resort(now)),
                };
                let first = std::mem::take(&mut self.fast_retransmit_due);
                if transmission.is_none() && self.doubts() {
                    self.fast_retransmit_due = first;
                }
                if transmission.is_some() {
                    if !first {
                        self.counted_pipe.on_sent();
                    }
                    self.prr.on_sent();
                    self.prr_budget = self.prr_budget.saturating_sub(1);
                }
                transmission
            }
            Phase::Loss { .. } => self.poll_after_timeout(now),
        }
    }

    fn poll_after_timeout(&mut self, now: Instant) -> Option<Transmission> {
        match self.f_rto.step() {
            Step::First { .. } | Step::Second { new: 0 } => None,
            Step::Second { .. } => {
                let transmission = self.new_data(now)?;
                self.f_rto.on_sent_new();
                Some(transmission)
            }
            Step::Idle | Step::Resend => {
                if f64::from(self.effective_pipe()) >= self.window.cwnd.floor() {
                    return None;
                }
                match self.board.next_lost() {
                    Some(number) => {
                        let transmission = self.retransmit(number, Cause::Timeout, now);
                        self.f_rto.on_resent(self.board.entry(number).end());
                        Some(transmission)
                    }
                    None => self.new_data(now),
                }
            }
        }
    }

    fn may_send_in_recovery(&self) -> bool {
        self.fast_retransmit_due
            || match self.parts.reduction {
                Reduction::AtOnce => f64::from(self.effective_pipe()) < self.window.cwnd.floor(),
                Reduction::Proportional => self.prr_budget > 0,
            }
    }

    /// The pipe, less what duplicates without SACK say has arrived.
    fn effective_pipe(&self) -> u32 {
        let counted = self.counted_pipe.get();
        counted.unwrap_or_else(|| self.board.pipe().saturating_sub(self.dupacks))
    }

    #[inline]
    pub(super) fn new_data(&mut self, now: Instant) -> Option<Transmission> {
        let len = self.next_new()?;
        Some(self.push_new(len, now))
    }

    /// The next `len` octets leave for the first time.
    #[inline]
    pub(super) fn push_new(&mut self, len: u64, now: Instant) -> Transmission {
        let offset = self.nxt;
        self.forget_probe();
        self.board.push(offset, len as u32, now);
        self.nxt += len;
        self.last_sent = Some(now);
        self.start_retransmit_timer(now);
        if self.parts.probes {
            self.schedule_probe(now);
        }
        self.transmission(offset, len as u32, None)
    }

    pub(super) fn retransmit(&mut self, number: SegNo, cause: Cause, now: Instant) -> Transmission {
        let entry = self.board.entry(number);
        let (offset, len, sent) = (entry.start, entry.len, entry.sent);
        let range = (offset, offset + u64::from(len));
        let alone = match cause {
            Cause::Probe => true,
            Cause::FastRetransmit => self.doubts(),
            Cause::Timeout => false,
        };
        if cause == Cause::FastRetransmit || (cause == Cause::Timeout && self.doubts()) {
            self.suspect(number, sent, now);
        }
        self.retransmissions.on_retransmit(number, range, sent, alone, now);
        self.board.retransmit(number, now);
        self.last_sent = Some(now);
        self.eifel.on_retransmit(now);
        self.start_retransmit_timer(now);
        self.transmission(offset, len, Some(cause))
    }

    #[inline]
    fn transmission(&self, offset: u64, len: u32, cause: Option<Cause>) -> Transmission {
        let fin = self.finished && offset == self.written;
        Transmission { offset, len: if fin { 0 } else { len }, fin, cause }
    }

    fn start_retransmit_timer(&mut self, now: Instant) {
        if self.tcp_pr.is_none() && self.timers.get(Timer::Retransmit).is_none() {
            self.restart_retransmit_timer(now);
        }
    }

    /// NextSeg's rules 3 and 4: better a hole that may not be lost than no acknowledgements at all.
    fn last_resort(&mut self, now: Instant) -> Option<Transmission> {
        if self.parts.acks != Acks::Sack || self.parts.reduction == Reduction::Proportional {
            return None;
        }
        if let Some(number) = self.board.hole_from(self.high_rxt + 1) {
            self.high_rxt = number;
            return Some(self.retransmit(number, Cause::FastRetransmit, now));
        }
        let (number, last) = self.board.last_unsacked()?;
        if self.una <= self.rescued_to || last.retransmitted {
            return None;
        }
        let Phase::Recovery { point, .. } = self.phase else { return None };
        self.rescued_to = point;
        Some(self.retransmit(number, Cause::FastRetransmit, now))
    }
}
