//! What happens when a reduction of the window proves needless without a DSACK: detection by
//! timestamps (Eifel) and after timeouts (F-RTO) is asked here, and the Eifel response algorithm
//! (RFC 4015) answers.

use unruffled_units::{Duration, Instant};

use super::eifel::Acceptable;
use super::f_rto::{self, Verdict};
use super::retransmissions::Cause;
use super::scoreboard::Delivery;
use super::{Ack, Phase, Sender};
use crate::detect::FalseFastRetransmit;
use crate::observer::{Event, Observer};
use crate::variant::Acks;

/// What stood before a reduction (RFC 4015, step 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Before {
    /// Number of the reduction.
    pub(crate) episode: u32,
    /// It is a timeout's.
    pub(crate) timeout: bool,
    pub(crate) pipe_prev: f64,
    /// SRTT_prev and RTTVAR_prev, if a round-trip time had been measured.
    pub(crate) rtt: Option<(Duration, Duration)>,
    /// SND.NXT.
    pub(crate) point: u64,
}

impl Sender {
    /// The window is about to be reduced because of `cause`.
    pub(super) fn watch_for_spurious(&mut self, cause: Cause) {
        let before = Before {
            episode: self.retransmissions.next_episode(),
            timeout: cause == Cause::Timeout,
            pipe_prev: self.flight().max(self.window.ssthresh),
            rtt: self.rto.estimators(),
            point: self.nxt,
        };
        if self.phase == Phase::Open {
            self.eifel.begin(before);
        }
        if before.timeout {
            let sack = self.parts.acks == Acks::Sack;
            self.f_rto.on_timeout(self.una, self.phase, sack, before);
        }
    }

    /// Reads one acknowledgement for signs that the last reduction was needless; says whether it
    /// was.
    pub(super) fn detect_spurious(
        &mut self,
        ack: &Ack<'_>,
        delivery: &Delivery,
        advanced: bool,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        let acceptable = Acceptable {
            echo: ack.echo,
            dsack: ack.dsack.is_some(),
            all: self.una == self.nxt,
            advanced,
        };
        if let Some(before) = self.eifel.on_ack(&acceptable) {
            return self.respond(&before, delivery, now, observer);
        }
        if !matches!(self.phase, Phase::Loss { .. }) {
            return false;
        }
        let sack = self.parts.acks == Acks::Sack;
        let right = ack.blocks.iter().map(|&(_, right)| right).max();
        let verdict = self.f_rto.on_ack(&f_rto::AckView {
            sack,
            una: self.una,
            nxt: self.nxt,
            advanced,
            duplicate: ack.duplicate || (sack && delivery.sacked > 0),
            fresh: delivery.segments > 0,
            highest: right.unwrap_or(0).max(self.una),
            can_send_new: self.next_new().is_some(),
        });
        match verdict {
            Verdict::Wait => false,
            Verdict::Conventional { cwnd } => {
                self.window.cwnd = self.window.cwnd.min(cwnd);
                false
            }
            Verdict::Spurious(before) => self.respond(&before, delivery, now, observer),
        }
    }

    /// RFC 4015, steps 8, 9 and 11; there is no ECN here. RFC 4015 speaks of timeouts only; a false
    /// fast retransmit is answered in the same way, but for the timer.
    fn respond(
        &mut self,
        before: &Before,
        delivery: &Delivery,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        let mut saved = None;
        while let Some((reverted, length)) = self.retransmissions.prove_false(before.episode, now) {
            saved.get_or_insert(reverted.saved);
            if let Some(doubt) = &mut self.doubt {
                doubt.forget(now - reverted.lasted);
            }
            observer.on_event(now, &Event::FalseReduction { cause: reverted.cause });
            if reverted.cause == Cause::FastRetransmit {
                let view = self.view(now);
                let window = reverted.saved.cwnd;
                let found = FalseFastRetransmit { lasted: reverted.lasted, window, length };
                self.detector.on_false_fast_retransmit(found, &view);
            }
        }
        // A DSACK has told already.
        let Some(saved) = saved else { return false };
        self.control.on_undo(&self.window, &saved);
        self.forget_recover();
        // Step 8: nothing more of what was held for lost is resent.
        if self.phase != Phase::Open {
            self.board.forgive();
            self.end_recovery(now, observer);
        }
        // Step 9. What limited transmit sent beyond the old window is in flight as well; it must not
        // make the window larger than it was. Octets of less than a segment count as none.
        let acked = delivery.passed.min(self.parts.initial_window);
        let flight = f64::from(self.board.outstanding() + acked);
        self.window.cwnd = flight.min(saved.cwnd).max(1.0);
        self.window.ssthresh = before.pipe_prev;
        // Step 11 waits for a sample.
        self.adapt = Some(*before).filter(|before| before.timeout);
        true
    }

    /// RFC 4015, step 11: the first round-trip time of data that had not been sent when the timer
    /// expired needlessly sets the timer anew.
    #[inline]
    pub(super) fn sample_rto(&mut self, rtt: Duration, flight: u32) {
        let una = self.una;
        match self.adapt.take_if(|before| una > before.point).and_then(|before| before.rtt) {
            Some((srtt, rttvar)) => self.rto.adapt(srtt, rttvar, rtt),
            None => {
                // ExpectedSamples = ceiling(FlightSize / (SMSS * 2)) (RFC 7323, appendix G).
                let expected = flight.div_ceil(self.parts.segments_per_ack).max(1);
                self.rto.sample(rtt, f64::from(expected));
            }
        }
    }
}
