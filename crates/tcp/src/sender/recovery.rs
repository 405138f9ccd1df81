//! When recovery begins, what it does to the window, and how it ends: fast retransmit
//! (RFC 6675, section 5; RFC 6582 without SACK), timeouts (RFC 6298, section 5), and the way back
//! when either proves needless.

use unruffled_units::Instant;

use super::counted_pipe::Pipe;
use super::fast_recovery::halved_as_ns2;
use super::ncr::Ncr;
use super::prr::Told;
use super::retransmissions::Cause;
use super::scoreboard::Delivery;
use super::{Ack, Phase, Sender};
use crate::control::Window;
use crate::observer::{Event, Observer};
use crate::parameter::Parameter;
use crate::timers::Timer;
use crate::variant::{Acks, Reduction, Undo};

/// How the window comes back. RR-TCP says only that DSACKs "permit reinstatement of the previous
/// window value" (section 4.3); the RFC that it builds on slow-starts up to it, and so does AVG-DEV,
/// which has it from Blanton and Allman.
pub(crate) const RESTORE: Parameter = Parameter::choice(
    "restore",
    &["slow-start", "at-once"],
    "how the window comes back after a false fast retransmit",
    "RFC 2883, section 5.2; AVG-DEV, section III-A",
);

impl Sender {
    /// The cumulative point advanced: recovery may be over.
    pub(super) fn on_progress(&mut self, now: Instant, observer: &mut impl Observer) {
        match self.phase {
            Phase::Open => {}
            Phase::Recovery { point, .. } | Phase::Loss { point } => {
                let reno =
                    self.parts.acks == Acks::Reno && matches!(self.phase, Phase::Recovery { .. });
                if self.una >= point || reno {
                    self.end_recovery(now, observer);
                } else if self.parts.acks == Acks::NewReno
                    && matches!(self.phase, Phase::Recovery { .. })
                {
                    self.board.mark_first_lost();
                    self.fast_retransmit_due = true;
                }
            }
        }
    }

    pub(super) fn end_recovery(&mut self, now: Instant, observer: &mut impl Observer) {
        if let (Phase::Recovery { .. }, Reduction::Proportional) =
            (self.phase, self.parts.reduction)
        {
            self.window.cwnd = self.window.ssthresh;
        }
        self.phase = Phase::Open;
        self.dupacks = 0;
        self.fast_retransmit_due = false;
        self.counted_pipe.end();
        self.f_rto.stop();
        let view = self.view(now);
        self.detector.on_recovery_end(&view);
        observer.on_event(now, &Event::Recovered);
    }

    /// An acknowledgement may have told of losses: says whether it told of more with SACK.
    pub(super) fn detect_losses(
        &mut self,
        ack: &Ack<'_>,
        delivery: &Delivery,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        if self.parts.acks == Acks::Sack {
            return self.detect(delivery, now, observer);
        }
        if self.phase == Phase::Open && ack.duplicate {
            let view = self.view(now);
            let dupthresh = self.detector.rule(&view).dupthresh.unwrap_or(u32::MAX);
            let due = self.dupacks >= dupthresh && self.may_begin_recovery();
            if due && self.board.mark_first_lost() {
                self.begin_recovery(delivery, now, observer);
            }
        }
        false
    }

    /// Applies the detector's rule to the scoreboard, after an acknowledgement that delivered
    /// something or nothing; says whether more is held for lost. Only one that selectively covers new
    /// segments is a duplicate in the sense of RFC 6675, section 2.
    pub(super) fn detect(
        &mut self,
        delivery: &Delivery,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        let view = self.view(now);
        let mut rule = self.detector.rule(&view);
        let hole = rule.first_hole_due.map(|due| due.since(now));
        self.patience = rule.overdue.map(|overdue| overdue.wait).or(hole);
        let counting = match self.phase {
            Phase::Open => delivery.sacked > 0,
            Phase::Recovery { .. } => true,
            // RFC 6675, section 5.1: no counting until the timeout's point is acknowledged.
            Phase::Loss { .. } => false,
        };
        if !counting {
            rule.dupthresh = None;
            rule.distance = None;
        }
        if self.phase != Phase::Open {
            rule.first_hole_due = None;
        }
        let verdict = self.board.apply(&rule, now);
        // Reordering is forgotten while something suspected is still to be resent.
        let lapsed = self.doubts() && rule.proof.is_none() && self.board.lost() > 0;
        let believe_at = self.believe(rule.proof, now, observer);
        match verdict.ask_again.into_iter().chain(believe_at).min() {
            Some(at) => self.timers.set(Timer::Detect, at),
            None => self.timers.stop(Timer::Detect),
        }
        let due = verdict.newly_lost > 0 || lapsed;
        if due && self.phase == Phase::Open && rule.proof.is_none() {
            self.begin_recovery(delivery, now, observer);
        }
        verdict.newly_lost > 0
    }

    /// What an acknowledgement delivered, or a timer, has told of the first loss.
    fn begin_recovery(&mut self, delivery: &Delivery, now: Instant, observer: &mut impl Observer) {
        observer.on_event(now, &Event::FastRetransmit);
        let view = self.view(now);
        self.detector.on_recovery(&view);
        self.watch_for_spurious(Cause::FastRetransmit);
        self.begin_episode(Cause::FastRetransmit, now);
        self.reduce(false, now);
        self.phase = Phase::Recovery { point: self.nxt, partial: false };
        self.set_recover();
        self.fast_retransmit_due = true;
        if self.parts.pipe == Pipe::Counted && self.parts.acks == Acks::Sack {
            self.counted_pipe.begin(self.board.outstanding(), self.board.sacked());
        }
        self.rescued_to = self.board.first_end();
        self.idle.cancel();
        self.end_probe();
        self.ncr.iter_mut().for_each(Ncr::end);
        match self.parts.reduction {
            // Westwood may find room for more than the window is.
            Reduction::AtOnce if self.halves_as_ns2() => self.window = halved_as_ns2(self.window),
            Reduction::AtOnce => self.window.cwnd = self.window.cwnd.min(self.window.ssthresh),
            Reduction::Proportional => {
                let (outstanding, sacked) = (self.board.outstanding(), self.board.sacked());
                self.prr.begin(outstanding, sacked, delivery.segments);
                self.prr_budget = 0;
            }
        }
        self.restart_retransmit_timer(now);
    }

    /// The window is about to be reduced because of `cause`.
    fn begin_episode(&mut self, cause: Cause, now: Instant) {
        self.retransmissions.begin(cause, self.window, now);
        if let Some(doubt) = &mut self.doubt {
            doubt.begin_cut(self.window, cause == Cause::Timeout, now);
        }
    }

    /// ssthresh by the congestion control.
    pub(super) fn reduce(&mut self, timeout: bool, now: Instant) {
        let flow = self.flow(now);
        self.window.ssthresh = self.control.on_loss(&self.window, timeout, &flow);
    }

    /// RFC 9937: how much this acknowledgement lets go.
    pub(super) fn proportional_rate_reduction(&mut self, delivery: &Delivery, safe: bool) {
        if self.parts.reduction == Reduction::Proportional {
            let told = Told { delivered: delivery.segments, pipe: self.board.pipe(), safe };
            if let Some(budget) = self.prr.on_ack(told, self.window.ssthresh as u32) {
                self.prr_budget = budget;
                self.window.cwnd = f64::from(told.pipe + budget);
            }
        }
    }

    /// The retransmission timer expired (RFC 6298, 5.4 to 5.7).
    pub(super) fn on_timeout(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.board.outstanding() == 0 {
            return;
        }
        observer.on_event(now, &Event::Timeout);
        let view = self.view(now);
        let first = !matches!(self.phase, Phase::Loss { .. });
        self.detector.on_timeout(first, &view);
        self.watch_for_spurious(Cause::Timeout);
        self.begin_episode(Cause::Timeout, now);
        // RFC 5681, section 3.1: a second timeout for the same data leaves ssthresh alone.
        if first || self.halves_as_ns2() {
            self.reduce(true, now);
        }
        self.phase = Phase::Loss { point: self.nxt };
        self.set_recover();
        self.dupacks = 0;
        self.fast_retransmit_due = false;
        self.counted_pipe.end();
        self.idle.cancel();
        self.end_probe();
        self.ncr.iter_mut().for_each(Ncr::end);
        if self.board.reneged() {
            self.forget_sacks();
        }
        let rule = self.detector.rule(&self.view(now));
        if rule.overdue.is_some() {
            // RFC 8985, section 6.3: the first, and what is overdue besides.
            self.board.mark_first_lost();
            self.board.mark_overdue(&rule, now);
        } else {
            self.board.mark_all_lost();
        }
        self.window.cwnd = f64::from(self.board.pipe()) + 1.0;
        self.rto.back_off();
        self.timers.stop(Timer::Detect);
        self.restart_retransmit_timer(now);
    }

    /// The reduction that `saved` stood before was needless, and none after it is in doubt.
    pub(super) fn undo(&mut self, saved: Window, now: Instant, observer: &mut impl Observer) {
        if self.parts.undo == Undo::None {
            return;
        }
        self.control.on_undo(&self.window, &saved);
        match self.parts.undo {
            Undo::None => {}
            Undo::SlowStart => self.window.ssthresh = saved.cwnd.max(self.window.cwnd),
            Undo::AtOnce => {
                self.window.cwnd = self.window.cwnd.max(saved.cwnd);
                self.window.ssthresh = self.window.ssthresh.max(saved.ssthresh);
            }
        }
        if self.phase != Phase::Open {
            // Nothing was lost: what is still marked is late too.
            let cwnd = self.window.cwnd;
            self.board.forgive();
            self.end_recovery(now, observer);
            self.window.cwnd = cwnd;
        }
    }
}
