//! When recovery begins, what it does to the window, and how it ends (RFC 6675, section 5; RFC 6582
//! without SACK).

use unruffled_units::Instant;

use super::counted_pipe::CountedPipe;
use super::prr::{Prr, Told};
use super::timers::SenderTimer;
use super::{Acks, Composed, Halving, Pipe, Reduction};
use crate::observer::{Cause, Event, Observer};
use crate::parts::control::{CongestionControl, Snapshot};
use crate::parts::detect::{Detector, LossDetector};
use crate::parts::limited_transmit::LimitedTransmit;
use crate::sender::Ack;
use crate::sender::reductions::{Basis, Saved};
use crate::sender::stream::{Delivery, Reading, Renumbered, SegNo, Stream};

/// Where the sender stands towards loss. `point` is SND.NXT when the phase began: its
/// acknowledgement ends the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing is deemed lost; there may be holes.
    #[default]
    Open,
    /// Fast retransmit and fast recovery; `partial` once an acknowledgement below the point advanced.
    Recovery { point: u64, partial: bool },
    /// After a retransmission timeout; or nothing was lost, but segments were too big for the path.
    Loss { point: u64, too_big: bool },
}

/// How far recovery is.
#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    pub(super) phase: Phase,
    /// Duplicate acknowledgements since the last new one, for peers without SACK.
    pub(super) dupacks: u32,
    /// Duplicate acknowledgements since the last new one, with SACK.
    pub(super) run: u32,
    pub(super) counted_pipe: CountedPipe,
    pub(super) prr: Prr,
    /// cwnd before it, rounded up, two segments at least.
    pub(super) reduced_from: u32,
    /// SND.NXT when the last loss was detected (RFC 6582, section 3.2, steps 2 and 4).
    pub(super) recover: Option<u64>,
    /// Fast retransmit's first segment goes out whatever the pipe holds.
    pub(super) fast_retransmit_due: bool,
    /// HighRxt of RFC 6675: the highest segment resent by loss detection.
    pub(super) high_rxt: SegNo,
    /// RescueRxt of RFC 6675: no rescue before more than this is acknowledged.
    pub(super) rescued_to: u64,
    /// Whether the window was full before the first acknowledgement since the sender was last asked
    /// what it sends: a driver may read many before it asks again.
    pub(super) window_was_full: Option<bool>,
}

impl Recovery {
    /// Segments were split: they have other numbers.
    pub(super) fn renumber(&mut self, numbers: &Renumbered) {
        self.high_rxt = numbers.first(self.high_rxt);
    }

    /// What was sent before `nxt` is recovered from as after a timeout.
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
}

impl Composed {
    /// Without SACK, each duplicate says that one segment, unknown which, has arrived. Gives
    /// how many segments the acknowledgement says have arrived, those of earlier duplicates left out.
    #[inline]
    pub(super) fn count_dupacks(&mut self, stream: &Stream, ack: &Ack<'_>, read: &Reading) -> u32 {
        if self.policy.acks == Acks::Sack {
            return read.delivery.segments;
        }
        let passed = read.delivery.passed;
        let dupacks = &mut self.recovery.dupacks;
        let before = *dupacks;
        if read.advanced {
            // A partial acknowledgement: one segment was the hole, the others had made duplicates.
            *dupacks = match self.recovery.phase {
                Phase::Recovery { .. } => before.saturating_sub(passed.max(1) - 1),
                _ => 0,
            };
            return passed.saturating_sub(before).max(1);
        }
        if ack.duplicate && before + 1 < stream.board.outstanding() {
            *dupacks += 1;
        }
        *dupacks - before
    }

    /// The cumulative point advanced: recovery may be over.
    #[inline]
    pub(super) fn on_progress(
        &mut self,
        stream: &mut Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let (point, fast) = match self.recovery.phase {
            Phase::Open => return,
            Phase::Recovery { point, .. } => (point, true),
            Phase::Loss { point, .. } => (point, false),
        };
        if stream.una() >= point || (fast && self.policy.acks == Acks::Reno) {
            self.end_recovery(stream, now, observer);
        } else if fast && self.policy.acks == Acks::NewReno {
            stream.board.mark_first_lost();
            self.recovery.fast_retransmit_due = true;
        }
    }

    pub(super) fn end_recovery(
        &mut self,
        stream: &Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let fast = matches!(self.recovery.phase, Phase::Recovery { .. });
        if fast && self.policy.reduction == Reduction::Proportional {
            self.window.cwnd = self.target();
        }
        self.on_reduction_end(now);
        self.recovery.end();
        self.responses.stop();
        self.detector.on_recovery_end(&self.view(stream, now));
        observer.on_event(now, &Event::Recovered);
    }

    /// An acknowledgement may have told of losses: says whether it told of more with SACK.
    #[inline(always)]
    pub(super) fn detect_losses(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        delivery: &Delivery,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        if self.policy.acks == Acks::Sack {
            return self.detect(stream, delivery, now, observer);
        }
        if self.recovery.phase == Phase::Open && ack.duplicate {
            let rule = self.detector.rule(&self.view(stream, now));
            let dupthresh = rule.dupthresh.unwrap_or(u32::MAX);
            let due = self.recovery.dupacks >= dupthresh && self.may_begin_recovery(stream.una());
            if due && stream.board.mark_first_lost() {
                self.begin_recovery(stream, delivery.segments, now, observer);
            }
        }
        false
    }

    /// Applies the detector's rule to the scoreboard, after an acknowledgement that delivered
    /// something or nothing; says whether more is deemed lost. Only one that selectively covers new
    /// segments is a duplicate in the sense of RFC 6675, section 2.
    #[inline(always)]
    pub(super) fn detect(
        &mut self,
        stream: &mut Stream,
        delivery: &Delivery,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        // A fixed threshold has no say but on duplicates, which saves the making of a view.
        let open = matches!(self.recovery.phase, Phase::Open);
        if open && delivery.sacked == 0 && matches!(self.detector, Detector::Fixed(_)) {
            self.patience = None;
            self.timers.stop(SenderTimer::Detect);
            return false;
        }
        // By value: it would have to be in memory for all, if it could be referred to.
        self.apply_rule(stream, *delivery, now, observer)
    }

    #[inline(never)]
    fn apply_rule(
        &mut self,
        stream: &mut Stream,
        delivery: Delivery,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        let mut rule = self.detector.rule(&self.view(stream, now));
        let hole = rule.first_hole_due.map(|due| due.since(now));
        self.patience = rule.overdue.map(|overdue| overdue.wait).or(hole);
        let open = self.recovery.phase == Phase::Open;
        let counting = match self.recovery.phase {
            Phase::Open => delivery.sacked > 0,
            Phase::Recovery { .. } => true,
            // RFC 6675, section 5.1: no counting until the timeout's point is acknowledged.
            Phase::Loss { .. } => false,
        };
        let by_run = self.counts_runs() && rule.dupthresh.is_some();
        if !counting {
            rule.dupthresh = None;
            rule.distance = None;
        }
        if !open {
            rule.first_hole_due = None;
        }
        let first_lost = self.judge_by_run(&mut rule, open);
        let mut applied = stream.board.apply(&rule, now);
        if first_lost {
            applied.newly_lost += u32::from(stream.board.mark_first_lost());
        }
        let confirm_at = self.confirm_due(stream, rule.confirm_after, now, observer);
        match applied.ask_again.into_iter().chain(confirm_at).min() {
            Some(at) => self.timers.set(SenderTimer::Detect, at),
            None => self.timers.stop(SenderTimer::Detect),
        }
        // What was deemed lost may be still to be resent when the last recovery ends, or when reordering
        // is forgotten.
        let left = stream.board.lost() > 0 && (first_lost || !by_run);
        if (applied.newly_lost > 0 || left)
            && self.recovery.phase == Phase::Open
            && rule.confirm_after.is_none()
        {
            self.begin_recovery(stream, delivery.segments, now, observer);
        }
        applied.newly_lost > 0
    }

    /// An acknowledgement that `delivered` so many segments, or a timer, has told of the first loss.
    fn begin_recovery(
        &mut self,
        stream: &mut Stream,
        delivered: u32,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        observer.on_event(now, &Event::FastRetransmit);
        self.detector.on_recovery(&self.view(stream, now));
        self.reduce(stream, Cause::FastRetransmit, now);
        self.recovery.phase = Phase::Recovery { point: stream.nxt(), partial: false };
        self.recovery.recover = Some(stream.nxt());
        self.recovery.fast_retransmit_due = true;
        if self.policy.pipe == Pipe::Counted && self.policy.acks == Acks::Sack {
            let (outstanding, sacked) = (stream.board.outstanding(), stream.board.sacked());
            let left = self.left_at_recovery(sacked);
            self.recovery.counted_pipe.begin(outstanding, left);
        }
        self.recovery.rescued_to = stream.board.first_end();
        self.limited_transmit.on_recovery();
        self.end_probe();
        self.begin_reduction(stream, delivered);
        self.restart_retransmission_timer(stream, now);
    }

    /// The window is reduced because of `cause`: the ledger keeps what stood before, and the congestion
    /// control sets ssthresh.
    pub(super) fn reduce(&mut self, stream: &Stream, cause: Cause, now: Instant) {
        let control = self.control.snapshot();
        self.book(stream, cause, control, now);
        let timeout = cause == Cause::Timeout;
        let flow = self.flow(stream, now);
        self.window.ssthresh = self.control.on_loss(&self.window, timeout, &flow);
        if timeout && self.halves_as_ns2() && self.policy.halving == Halving::Whole {
            self.window.ssthresh = self.policy.halving.halved(self.window).ssthresh;
        }
    }

    /// The ledger keeps what stands before a reduction that is due at once. `control` are the variables
    /// of the congestion control, if that makes the reduction.
    pub(super) fn book(&mut self, stream: &Stream, cause: Cause, control: Snapshot, now: Instant) {
        let early =
            cause == Cause::FastRetransmit && self.suspicions.is_some() && !self.two_stage_active();
        let basis = if early { Basis::Early } else { Basis::Verdict };
        let saved = Saved { window: self.window, rest: self.before(stream, control) };
        let reduction = self.ledger.begin(cause, basis, saved, now);
        if let Some(suspicions) = &mut self.suspicions {
            suspicions.on_reduction(cause == Cause::Timeout, now);
        }
        self.watch_for_spurious(stream, cause, reduction);
    }

    /// The window goes down to ssthresh at once, or from now on in proportion to what is delivered; an
    /// acknowledgement that has just delivered `delivered` segments says so.
    pub(super) fn begin_reduction(&mut self, stream: &Stream, delivered: u32) {
        match self.policy.reduction {
            // Westwood may find room for more than the window is.
            Reduction::AtOnce if self.halves_as_ns2() => self.halve_as_ns2(),
            Reduction::AtOnce => self.window.cwnd = self.window.cwnd.min(self.window.ssthresh),
            Reduction::Proportional => {
                self.recovery.reduced_from = self.window.cwnd.max(2.0).ceil() as u32;
                let (outstanding, sacked) = (stream.board.outstanding(), stream.board.sacked());
                self.recovery.prr.begin(outstanding, sacked, delivered);
            }
        }
    }

    /// What a proportional reduction leads to: no more than the window was, though Westwood may find
    /// room for more.
    fn target(&self) -> f64 {
        self.window.ssthresh.min(f64::from(self.recovery.reduced_from))
    }

    /// RFC 9937: how much this acknowledgement lets go.
    pub(super) fn proportional_rate_reduction(
        &mut self,
        stream: &Stream,
        delivered: u32,
        safe: bool,
    ) {
        if self.policy.reduction == Reduction::Proportional {
            // Where losses are found late they are found many at a time, and the burst that makes up for
            // them overflows the queue anew.
            let catches_up = !self.two_stage_active();
            let told = Told { delivered, pipe: stream.pipe(), safe, catches_up };
            let target = self.with_late(self.target()) as u32;
            if let Some(budget) = self.recovery.prr.on_ack(told, target) {
                self.window.cwnd = f64::from(told.pipe + budget);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use unruffled_units::Duration;

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
        let (config, variant) = (Config::default(), Variant::named("unruffled").expect("a row"));
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
