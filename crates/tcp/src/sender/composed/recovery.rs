//! When recovery begins, how it reduces the window, and how it ends (RFC 6675, section 5; RFC 6582
//! without SACK).

use std::num::NonZeroU64;

use unruffled_units::{Duration, Instant};

use super::context::{AckContext, Step};
use super::counted_pipe::CountedPipe;
use super::policy::Policy;
use super::prr::{Delivered, Prr};
use super::timers::SenderTimer;
use super::{Acks, Composed, Reduction};
use crate::config::Pipe;
use crate::observer::{Cause, Event, Observer};
use crate::parts::control::{CongestionControl, Snapshot, Window};
use crate::parts::detect::{Detector, LossDetector};
use crate::parts::limited_transmit::LimitedTransmit;
use crate::sender::reductions::{Basis, Saved};
use crate::sender::stream::{Delivery, Reading, Renumbered, SegNo, Stream};

/// The sender's state with regard to loss. `point` is SND.NXT when the phase began. The
/// acknowledgement of `point` ends the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing is deemed lost; there may be holes.
    #[default]
    Open,
    /// Fast retransmit and fast recovery. `partial` is set once an acknowledgement below the point has
    /// advanced.
    Recovery { point: u64, partial: bool },
    /// Recovery after a retransmission timeout, or after segments proved `too_big` for the path.
    Loss { point: u64, too_big: bool },
}

/// The progress of recovery.
#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    pub(super) phase: Phase,
    /// Duplicate acknowledgements since the last new one, for peers without SACK.
    pub(super) dupacks: u32,
    /// Duplicate acknowledgements since the last new one, with SACK.
    pub(super) run: u32,
    pub(super) counted_pipe: CountedPipe,
    pub(super) prr: Prr,
    /// cwnd before the reduction, rounded up, at least two segments.
    pub(super) reduced_from: u32,
    /// SND.NXT when the last loss was detected (RFC 6582, section 3.2, steps 2 and 4).
    pub(super) recover: Option<NonZeroU64>,
    /// The first segment of a fast retransmit leaves whatever the pipe holds.
    pub(super) fast_retransmit_due: bool,
    /// HighRxt of RFC 6675: the highest segment resent by loss detection.
    pub(super) high_rxt: SegNo,
    /// RescueRxt of RFC 6675: no rescue retransmission before more than this is acknowledged.
    pub(super) rescued_to: u64,
    /// Whether the window was full before the first acknowledgement since the last poll. A driver may
    /// pass many acknowledgements before it polls.
    pub(super) window_was_full: Option<bool>,
}

impl Recovery {
    /// Renumbers segments after some were split.
    pub(super) fn renumber(&mut self, numbers: &Renumbered) {
        self.high_rxt = numbers.first(self.high_rxt);
    }

    /// Begins recovery from the loss of everything sent before `nxt`.
    pub(super) fn enter_loss(&mut self, nxt: u64, too_big: bool) {
        self.stop();
        self.phase = Phase::Loss { point: nxt, too_big };
    }

    fn end(&mut self) {
        self.stop();
        self.phase = Phase::Open;
    }

    fn stop(&mut self) {
        self.dupacks = 0;
        self.fast_retransmit_due = false;
        self.counted_pipe.end();
    }

    /// Returns the number of segments in the pipe during recovery. Without SACK, it excludes those
    /// that duplicates report as arrived.
    fn effective_pipe(&self, stream: &Stream) -> u32 {
        let counted = self.counted_pipe.get();
        counted.unwrap_or_else(|| stream.pipe().saturating_sub(self.dupacks))
    }

    /// Returns whether another segment may be sent in fast recovery.
    pub(super) fn may_send(&self, policy: &Policy, stream: &Stream, cwnd: f64) -> bool {
        self.fast_retransmit_due
            || match policy.reduction {
                Reduction::AtOnce | Reduction::ByControl => {
                    f64::from(self.effective_pipe(stream)) < cwnd.floor()
                }
                Reduction::Proportional => self.prr.budget() > 0,
            }
    }

    /// Returns the window to which a proportional reduction leads. It is at most the window before,
    /// even if Westwood computes a larger ssthresh.
    fn target(&self, ssthresh: f64) -> f64 {
        ssthresh.min(f64::from(self.reduced_from))
    }

    /// Returns whether the third duplicate may begin a recovery, or may result from spurious
    /// retransmissions of the last one (RFC 6582, section 3.2, step 2).
    fn may_begin(&self, policy: &Policy, una: u64) -> bool {
        !policy.is_careful() || self.recover.is_none_or(|recover| una > recover.get())
    }
}

impl<O: Observer> AckContext<'_, '_, O> {
    /// Counts duplicates without SACK, of which each reports that some segment has arrived. Returns how
    /// many segments this acknowledgement reports as arrived, without those that earlier duplicates
    /// reported.
    #[inline]
    pub(super) fn count_dupacks(&mut self) -> u32 {
        let Reading { delivery, advanced, .. } = &self.read;
        if self.sender.policy.acks == Acks::Sack {
            return delivery.segments;
        }
        let passed = delivery.passed;
        let phase = self.sender.recovery.phase;
        let dupacks = &mut self.sender.recovery.dupacks;
        let before = *dupacks;
        if *advanced {
            // Of a partial acknowledgement, one segment was the hole. The others had made duplicates.
            *dupacks = match phase {
                Phase::Recovery { .. } => before.saturating_sub(passed.max(1) - 1),
                _ => 0,
            };
            return passed.saturating_sub(before).max(1);
        }
        if self.ack.duplicate && before + 1 < self.stream.board.outstanding() {
            *dupacks += 1;
        }
        *dupacks - before
    }

    /// Looks for losses. Returns whether the acknowledgement reports more of them by SACK.
    #[inline(always)]
    pub(super) fn detect_losses(&mut self) -> bool {
        let delivery = self.read.delivery;
        if self.sender.policy.acks == Acks::Sack {
            return self.step().detect(&delivery);
        }
        let open = match self.sender.recovery.phase {
            Phase::Open => true,
            Phase::Recovery { .. } => false,
            Phase::Loss { .. } => !self.sender.control.limits(),
        };
        if open && self.ack.duplicate {
            let rule = self.sender.detector.rule(&self.view());
            let dupthresh = rule.dupthresh.unwrap_or(u32::MAX);
            let recovery = &self.sender.recovery;
            let due = recovery.dupacks >= dupthresh
                && recovery.may_begin(&self.sender.policy, self.stream.una());
            if due && self.stream.board.mark_first_lost() {
                self.step().begin_recovery(delivery.segments);
            }
        }
        false
    }
}

impl<O: Observer> Step<'_, O> {
    /// Handles an advance of the cumulative point, which may end recovery.
    #[inline]
    pub(super) fn on_progress(&mut self) {
        let (point, fast) = match self.sender.recovery.phase {
            Phase::Open => return,
            Phase::Recovery { point, .. } => (point, true),
            Phase::Loss { point, .. } => (point, false),
        };
        let acks = self.sender.policy.acks;
        if self.stream.una() >= point || (fast && acks == Acks::Reno) {
            self.end_recovery();
        } else if fast && acks == Acks::NewReno {
            self.stream.board.mark_first_lost();
            self.sender.recovery.fast_retransmit_due = true;
        }
    }

    pub(super) fn end_recovery(&mut self) {
        self.close_recovery(false);
    }

    /// Ends recovery. If it was `spurious`, it does not count for the detector.
    pub(super) fn close_recovery(&mut self, spurious: bool) {
        let fast = matches!(self.sender.recovery.phase, Phase::Recovery { .. });
        if fast && self.sender.policy.reduction == Reduction::Proportional {
            let ssthresh = self.sender.window.ssthresh;
            self.sender.window.cwnd = self.sender.recovery.target(ssthresh);
        } else if fast && self.sender.control.inflation() > 0.0 {
            let Window { cwnd, ssthresh } = self.sender.window;
            self.sender.window.cwnd = cwnd.min(ssthresh);
        }
        self.sender.on_reduction_end(self.now);
        self.sender.recovery.end();
        self.sender.responses.stop();
        if !spurious {
            let view = self.view();
            self.sender.detector.on_recovery_end(&view);
        }
        self.observer.on_event(self.now, &Event::Recovered);
    }

    /// Applies the detector's rule to the scoreboard, after an acknowledgement that delivered
    /// `delivery` or by a timer. Returns whether more is deemed lost.
    #[inline(always)]
    pub(super) fn detect(&mut self, delivery: &Delivery) -> bool {
        // A fixed threshold depends on duplicates alone, which saves making a view.
        let open = matches!(self.sender.recovery.phase, Phase::Open);
        if open && delivery.sacked == 0 && matches!(self.sender.detector, Detector::Fixed(_)) {
            self.sender.loss_delay = Duration::MAX;
            self.sender.timers.stop(SenderTimer::Detect);
            return false;
        }
        // `delivery` is passed by value, so that the fast path keeps its copy in registers.
        self.apply_rule(*delivery)
    }

    #[inline(never)]
    fn apply_rule(&mut self, delivery: Delivery) -> bool {
        let now = self.now;
        let mut rule = self.sender.detector.rule(&self.view());
        let hole = rule.first_hole_due.map(|due| due.since(now));
        let delay = rule.overdue.map(|overdue| overdue.wait).or(hole);
        self.sender.loss_delay = delay.unwrap_or(Duration::MAX);
        let open = self.sender.recovery.phase == Phase::Open;
        let counting = match self.sender.recovery.phase {
            // Only an acknowledgement that selectively covers new segments is a duplicate in the sense
            // of RFC 6675, section 2.
            Phase::Open => delivery.sacked > 0,
            Phase::Recovery { .. } => true,
            // RFC 6675, section 5.1: no counting until the timeout's point is acknowledged.
            Phase::Loss { .. } => false,
        };
        let by_run = self.sender.policy.counts_runs() && rule.dupthresh.is_some();
        if !counting {
            rule.dupthresh = None;
            rule.distance = None;
        }
        if !open {
            rule.first_hole_due = None;
        }
        let first_lost = self.sender.policy.judge_by_run(self.sender.recovery.run, &mut rule, open);
        let mut applied = self.stream.board.apply(&rule, now);
        if first_lost {
            applied.newly_lost += u32::from(self.stream.board.mark_first_lost());
        }
        let confirm_at = self.confirm_due(rule.confirm_after);
        match applied.apply_again.into_iter().chain(confirm_at).min() {
            Some(at) => self.sender.timers.set(SenderTimer::Detect, at),
            None => self.sender.timers.stop(SenderTimer::Detect),
        }
        // Segments deemed lost earlier may not have been resent when the last recovery ended, or when
        // the detector discarded its record of reordering.
        let left = self.stream.board.lost() > 0 && (first_lost || !by_run);
        if (applied.newly_lost > 0 || left)
            && self.sender.recovery.phase == Phase::Open
            && rule.confirm_after.is_none()
        {
            self.begin_recovery(delivery.segments);
        }
        applied.newly_lost > 0
    }

    /// Begins fast recovery when a loss is detected: by an acknowledgement that delivers `delivered`
    /// segments, or by a timer.
    fn begin_recovery(&mut self, delivered: u32) {
        self.observer.on_event(self.now, &Event::FastRetransmit);
        let view = self.view();
        let Step { sender, stream, now, .. } = self;
        sender.detector.on_recovery(&view);
        let reduces = sender.reduce_for_loss(stream, Cause::FastRetransmit, *now);
        sender.recovery.phase = Phase::Recovery { point: stream.nxt(), partial: false };
        sender.recovery.recover = NonZeroU64::new(stream.nxt());
        sender.recovery.fast_retransmit_due = true;
        if sender.policy.pipe == Pipe::Counted && sender.policy.acks == Acks::Sack {
            let left = sender.policy.left_at_recovery(sender.recovery.run, stream.board.sacked());
            sender.recovery.counted_pipe.begin(stream.board.outstanding(), left);
        }
        sender.recovery.rescued_to = stream.board.first_end();
        sender.limited_transmit.on_recovery();
        sender.probe.end(&mut sender.timers);
        if reduces || sender.policy.reduction == Reduction::Proportional {
            sender.begin_reduction(stream, delivered);
        }
        sender.timers.restart_retransmission(stream, sender.window.cwnd, *now);
    }
}

impl Composed {
    /// Reduces the window because of `cause`: the ledger records what stood before, and the congestion
    /// control sets ssthresh.
    pub(super) fn reduce(&mut self, stream: &Stream, cause: Cause, now: Instant) {
        let control = self.control.snapshot();
        self.record_reduction(stream, cause, control, now);
        self.record_as_linux(stream);
        let timeout = cause == Cause::Timeout;
        let flow = self.flow(stream, now);
        self.window.ssthresh = self.control.on_loss(&self.window, timeout, &flow);
        if timeout && self.policy.halves_as_ns2(&self.control) {
            self.window.ssthresh = self.policy.halving.ssthresh_after_timeout(self.window);
        }
    }

    /// Records in the ledger what stands before a reduction that is due at once. `control` are the
    /// variables of the congestion control, if it makes the reduction.
    pub(super) fn record_reduction(
        &mut self,
        stream: &Stream,
        cause: Cause,
        control: Snapshot,
        now: Instant,
    ) {
        let two_stage = self.suspicions.is_some();
        let early = cause == Cause::FastRetransmit && two_stage && !self.two_stage_active();
        let basis = if early { Basis::Early } else { Basis::Verdict };
        let saved = Saved { window: self.window, rest: self.before(stream, control) };
        let reduction = self.ledger.begin(cause, basis, saved, now);
        if cause == Cause::Timeout || !self.marks.answer_loss(stream.una()) {
            self.marks.on_loss(stream.una(), stream.nxt());
        }
        if let Some(suspicions) = &mut self.suspicions {
            suspicions.on_reduction(cause == Cause::Timeout, now);
        }
        let sack = self.policy.acks == Acks::Sack;
        self.responses.watch(stream, cause, reduction, self.recovery.phase, sack);
    }

    /// Lets the window go down to ssthresh, at once or in proportion to what is delivered from now on.
    /// The acknowledgement that begins this has just delivered `delivered` segments.
    pub(super) fn begin_reduction(&mut self, stream: &Stream, delivered: u32) {
        match self.policy.reduction {
            Reduction::AtOnce => {
                let before = self.window.cwnd;
                self.reduce_at_once();
                let inflated = self.window.cwnd + self.control.inflation();
                self.window.cwnd = before.min(inflated);
            }
            Reduction::ByControl => {}
            Reduction::Proportional => {
                self.recovery.reduced_from = self.window.cwnd.max(2.0).ceil() as u32;
                let outstanding = stream.board.outstanding();
                self.recovery.prr.begin(outstanding, stream.board.sacked(), delivered);
            }
        }
    }

    /// Lets the window go down to ssthresh at once, unless the congestion control sets the window.
    pub(super) fn reduce_at_once(&mut self) {
        if self.policy.reduction == Reduction::ByControl {
            return;
        }
        if self.policy.halves_as_ns2(&self.control) {
            self.window = self.policy.halving.halved(self.window);
        } else {
            // Westwood may compute an ssthresh above the window.
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
        }
    }

    /// Sets cwnd to what PRR permits after this acknowledgement (RFC 9937).
    pub(super) fn proportional_rate_reduction(
        &mut self,
        stream: &Stream,
        delivered: u32,
        safe: bool,
    ) {
        if self.policy.reduction == Reduction::Proportional {
            // Two-stage detection finds many losses at a time. A burst that makes up for them would
            // overflow the queue again.
            let catches_up = !self.two_stage_active();
            let delivered =
                Delivered { segments: delivered, pipe: stream.pipe(), safe, catches_up };
            let target = self.with_late(self.recovery.target(self.window.ssthresh)) as u32;
            if let Some(budget) = self.recovery.prr.on_ack(delivered, target) {
                self.window.cwnd = f64::from(delivered.pipe + budget);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::parts::control::Window;
    use crate::parts::detect::{LatenessModel, Rule, View, boxed};
    use crate::sender::{Lengths, Recipe};
    use crate::{Config, Variant};

    /// Of a window 4.8 % are late at a time.
    #[derive(Debug)]
    struct SomeLate;

    impl LossDetector for SomeLate {
        fn about(&self) -> Cow<'static, str> {
            "some are late".into()
        }

        fn rule(&self, _view: &View) -> Rule {
            Rule::default()
        }

        fn two_stage(&mut self) -> Option<&mut dyn LatenessModel> {
            Some(self)
        }
    }

    impl LatenessModel for SomeLate {
        fn late_share(&self) -> f64 {
            0.048
        }
    }

    #[test]
    fn a_reduction_leaves_room_for_what_is_late_of_all_that_it_leads_to() {
        let (config, variant) = (Config::simulated(), Variant::named("unruffled").expect("a row"));
        let Recipe::Composed(parts) = variant.recipe() else { panic!("composed of parts") };
        let mut sender = Composed::new(&config, parts);
        sender.detector = boxed(SomeLate);
        let suspicions = sender.suspicions.as_mut().expect("two-stage detection");
        suspicions.set_confirm_after(Some(Duration::from_millis(100)));
        let stream = Stream::new(&config, true, Lengths::Mean, (parts.timer)(&config));
        sender.window = Window { cwnd: 21.0, ssthresh: 10.5 };
        sender.begin_reduction(&stream, 0);
        sender.proportional_rate_reduction(&stream, 20, false);
        // Of 10.5 segments 0.504 are late at a time, which is one; of ten it would be none.
        assert_eq!(sender.window.cwnd, 11.0);
    }
}
