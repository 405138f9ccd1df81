//! Two-stage detection: when a suspicion is confirmed, what is sent meanwhile and how the window grows
//! (`docs/senders/unruffled.md`, sections 4 and 5). The records are in
//! [`reductions`](crate::sender::reductions).
//!
//! A detector takes part by returning a [`LatenessModel`](crate::parts::detect::LatenessModel). It is *active* while the detector's rule has
//! a `confirm_after`: then a suspicion does not reduce the window at once.

use std::num::NonZeroU64;

use unruffled_lateness::two_stage;
use unruffled_units::{Duration, Instant};

use super::context::Step;
use super::timers::SenderTimer;
use super::{Composed, Phase, Reduction};
use crate::observer::{Cause, Event, Observer};
use crate::parts::control::{CongestionControl, Flow, Window};
use crate::parts::detect::{Detector, DsackOutcome, LossDetector};
use crate::parts::limited_transmit::LimitedTransmit;
use crate::parts::respond::Before;
use crate::sender::Ack;
use crate::sender::reductions::{Basis, Evidence, Load, Saved, Suspicions, Undo};
use crate::sender::stream::{Reading, Retransmission, SegNo, Spurious, Stream, Transmission};

/// Maximum duration of a reduction, in round trips.
const MAX_REDUCTION_ROUND_TRIPS: u64 = 3;

/// The use of the window before an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct PipeBefore {
    /// Segments in flight, without those SACKed.
    pub(super) pipe: u32,
    /// Whether the window limits a sender that paces.
    pub(super) window_is_limit: Option<bool>,
}

/// Reads an acknowledgement into the scoreboard and its latenesses into the model.
///
/// Until a segment has been late, an acknowledgement is ambiguous if it comes less than the minimum
/// round-trip time after a retransmission and no other evidence shows which copy arrived. It counts for
/// the original once an acknowledgement of a segment sent before the retransmission follows.
pub(super) fn acknowledge(
    suspicions: &mut Suspicions,
    detector: &mut Detector,
    stream: &mut Stream,
    ack: &Ack<'_>,
    now: Instant,
    mut on_covered: impl FnMut(SegNo),
) -> Reading {
    let active = suspicions.confirm_after().is_some();
    let arrivals = &mut suspicions.arrivals;
    let mut model = detector.two_stage();
    arrivals.begin();
    let mut earliest: Option<Instant> = None;
    let read = stream.acknowledge(ack, now, |arrival| {
        on_covered(arrival.number);
        let sent = arrival.original?;
        match arrival.resent {
            None => earliest = Some(earliest.map_or(sent, |earliest| earliest.min(sent))),
            Some(resent) if active || arrival.by_timestamp => {
                arrivals.add_certain(arrival.number, resent);
            }
            Some(resent) => {
                arrivals.add_ambiguous(arrival.number, resent);
                return model.as_ref().and_then(|model| model.lateness(sent, now));
            }
        }
        if let Some(model) = &mut model {
            model.on_arrival(sent, now);
        }
        None
    });
    if let Some(earliest) = earliest {
        arrivals.decide(earliest);
        for number in arrivals.certain_segments() {
            if let Some(lateness) = stream.retransmissions.take_lateness(number)
                && let Some(model) = &mut model
            {
                model.on_late(lateness);
            }
        }
    }
    read
}

impl<O: Observer> Step<'_, O> {
    /// Confirms the suspicions that are due: those pending for `confirm_after`, and all of them if too
    /// many are pending. Returns when to check again.
    pub(super) fn confirm_due(&mut self, confirm_after: Option<Duration>) -> Option<Instant> {
        let Step { sender, stream, now, .. } = self;
        let now = *now;
        let suspicions = sender.suspicions.as_mut()?;
        suspicions.set_confirm_after(confirm_after);
        if suspicions.is_empty() {
            return None;
        }
        let horizon = sender.dsack_horizon(stream);
        let suspicions = sender.suspicions.as_mut()?;
        let wait = suspicions.pending_wait();
        let missed = suspicions.take_missed_dsacks(now);
        suspicions.expire(horizon, now);
        if let Some(model) = sender.detector.two_stage() {
            (0..missed).for_each(|_| model.on_dsack(DsackOutcome::Missed));
        }
        while let Some((segment, sent, load)) = self.sender.suspicions.as_mut()?.first_pending() {
            if sent + wait > now {
                return self.confirm_overflow().or(Some(sent + wait));
            }
            let recovering = matches!(self.sender.recovery.phase, Phase::Recovery { .. });
            if self.sender.suspicions.as_ref()?.is_fresh(sent) && !recovering {
                // The segment was delivered. A DSACK that was lost may have reported the original.
                let model = self.sender.detector.two_stage();
                if self.stream.board.is_delivered(segment)
                    && model.is_some_and(|model| model.take_dsack_loss_credit())
                {
                    self.sender.suspicions.as_mut()?.dismiss_first();
                    continue;
                }
                self.reduce_by_suspicion(load);
            }
            let first = self.sender.ledger.last_is_unconfirmed();
            self.confirm_first();
            if first
                && matches!(self.sender.recovery.phase, Phase::Loss { .. })
                && self.sender.policy.reduction != Reduction::ByControl
            {
                // The timeout's reduction, which leaves cwnd at what is in flight, was justified.
                let window = &mut self.sender.window;
                window.cwnd = window.cwnd.min(window.ssthresh);
            }
        }
        None
    }

    /// Confirms all pending suspicions if their number shows that a queue overflows. In that case it
    /// returns [`Instant::MAX`], because no suspicion remains pending.
    fn confirm_overflow(&mut self) -> Option<Instant> {
        if self.sender.recovery.phase != Phase::Open {
            return None;
        }
        let cwnd = self.sender.window.cwnd;
        let view = self.view();
        let suspicions = self.sender.suspicions.as_ref()?;
        let model = self.sender.detector.two_stage()?;
        let limit = cwnd * model.overflow_share();
        let load = suspicions.overflow(limit, || model.suspected_share(&view) * cwnd)?;
        self.reduce_by_suspicion(load);
        while self.sender.suspicions.as_mut()?.first_pending().is_some() {
            self.confirm_first();
        }
        Some(Instant::MAX)
    }

    fn confirm_first(&mut self) {
        let sender = &mut *self.sender;
        if let Some(suspicions) = &mut sender.suspicions {
            let confirmed = suspicions.first_pending().map(|(segment, ..)| segment);
            suspicions.confirm_first(&mut sender.ledger);
            sender.detector.on_confirmed();
            if let Some(segment) = confirmed {
                sender.on_confirmed_loss(self.stream, segment, self.now);
            }
        }
    }

    /// Reduces the window once for everything sent before, starting from the load at the time of the
    /// suspicion.
    fn reduce_by_suspicion(&mut self, load: Load) {
        self.observer.on_event(self.now, &Event::FastRetransmit);
        let view = self.view();
        let Step { sender, stream, now, .. } = self;
        let now = *now;
        sender.detector.on_recovery(&view);
        // A reduction at the time of the suspicion would have prevented the growth of slow start since
        // then, but not that of congestion avoidance.
        let slow_start = load.cwnd < sender.window.ssthresh;
        // A window that is being refilled because segments were too big does not show the load.
        let too_big = matches!(sender.recovery.phase, Phase::Loss { too_big: true, .. });
        let cwnd = if too_big {
            load.cwnd
        } else if slow_start {
            load.cwnd.min(sender.window.cwnd)
        } else {
            sender.window.cwnd
        };
        let flow = sender.flow(stream, now);
        // All data may have been acknowledged since then.
        let flight = flow.flight.max(f64::from(load.flight)).min(cwnd);
        let flow = Flow { flight, ..flow };
        let window = Window { cwnd, ..sender.window };
        // The snapshot belongs to the window that an undo restores.
        let snapshot = (cwnd == sender.window.cwnd).then(|| sender.control.snapshot());
        let rest = sender.before(stream, snapshot.unwrap_or_default());
        let saved = Saved { window: sender.window, rest };
        sender.ledger.begin(Cause::FastRetransmit, Basis::Confirmed, saved, now);
        sender.marks.on_loss(stream.una(), stream.nxt());
        if let Some(suspicions) = &mut sender.suspicions {
            suspicions.on_reduction(false, now);
        }
        sender.window.ssthresh = sender.control.on_loss(&window, false, &flow);
        if too_big {
            // The window is being refilled, up to the new ssthresh.
            sender.on_reduction_end(now);
            return;
        }
        sender.recovery.phase = Phase::Recovery { point: stream.nxt(), partial: false };
        sender.recovery.recover = NonZeroU64::new(stream.nxt());
        // The lost segments may have been resent already. Then new data keeps acknowledgements coming.
        sender.recovery.fast_retransmit_due = true;
        sender.begin_reduction(stream, 0);
        sender.limited_transmit.on_recovery();
        sender.probe.end(&mut sender.timers);
        if !stream.board.reneged() {
            sender.timers.restart_retransmission(stream, sender.window.cwnd, now);
        }
        sender.schedule_probe(stream, now);
    }

    /// Ends the round trip of a reduction: a segment sent after it has arrived, and the segments sent
    /// before it have arrived or are suspected.
    #[inline(always)]
    pub(super) fn end_reduction_round(&mut self, latest_sent: Option<Instant>) {
        let recovering = matches!(self.sender.recovery.phase, Phase::Recovery { .. });
        if !self.sender.two_stage_active() || !recovering {
            return;
        }
        let Some(began) = self.sender.ledger.last_began() else { return };
        let arrived = latest_sent.is_some_and(|sent| sent > began);
        if arrived && self.now >= began + self.suspicion_delay() {
            // Much may still be missing. What ssthresh permits beyond what PRR sent does not leave in
            // one burst; slow start probes for it.
            let share = self.sender.detector.late_share().min(1.0);
            let reached = self.sender.window.cwnd / (1.0 + share);
            self.end_recovery();
            if self.sender.policy.reduction != Reduction::ByControl {
                let window = &mut self.sender.window;
                window.cwnd = window.cwnd.min(reached.max(1.0));
            }
        }
    }

    /// Returns how long after its transmission a segment is suspected, but at most a few round trips.
    fn suspicion_delay(&self) -> Duration {
        let overdue = self.sender.detector.rule(&self.view()).overdue;
        let srtt = self.stream.round_trips.srtt().unwrap_or_default();
        let max_delay = srtt * MAX_REDUCTION_ROUND_TRIPS;
        overdue.map_or(Duration::ZERO, |overdue| overdue.wait.min(max_delay))
    }

    /// Handles the undoing of a reduction in the ledger.
    pub(super) fn on_undo(&mut self, undo: &Undo<Before>) {
        let last = self.sender.ledger.last_began();
        if undo.last {
            self.sender.marks.on_undo(self.stream.una());
        }
        if let Some(suspicions) = self.sender.suspicions.as_mut().filter(|_| undo.last) {
            suspicions.on_undo(undo.saved.window.cwnd, last);
        }
    }

    /// Refutes the suspicions of segments that arrived by the suspected transmission, as this
    /// acknowledgement shows.
    #[inline]
    pub(super) fn refute_arrived(&mut self) {
        while let Some(number) = self
            .sender
            .suspicions
            .as_mut()
            .and_then(|suspicions| suspicions.arrivals.take_certain())
        {
            self.refute(number, false);
        }
        self.review_early_reductions();
    }

    /// Undoes reductions that were made before anything was late, if their one supporting
    /// retransmission more likely replaced a late segment by what is known now.
    fn review_early_reductions(&mut self) {
        // Most connections have no such reduction, which this finds out quickly.
        if !self.sender.two_stage_active()
            || !self.sender.ledger.has_weakly_confirmed(Instant::ZERO)
        {
            return;
        }
        let view = self.view();
        let model = self.sender.detector.two_stage();
        let since = model.and_then(|model| model.likely_reordered_since(&view));
        let ledger = &self.sender.ledger;
        let Some(since) = since.filter(|&since| ledger.has_weakly_confirmed(since)) else { return };
        let event = Event::SpuriousReduction { cause: Cause::FastRetransmit };
        self.observer.on_event(self.now, &event);
        while let Some(undo) = self.sender.ledger.undo_weakly_confirmed(since, self.now) {
            self.undo(undo);
        }
    }

    /// Handles a DSACK that reports a retransmission.
    pub(super) fn on_duplicate(&mut self, spurious: &Spurious) {
        if self.sender.suspicions.is_none() {
            return;
        }
        if let Some(model) = self.sender.detector.two_stage() {
            if let Some(sent) = spurious.original {
                model.on_arrival(sent, self.now);
            }
            if let Some(lateness) = spurious.lateness {
                model.on_late(lateness);
            }
        }
        if let Some(number) = spurious.suspicion {
            self.refute(number, true);
        }
    }

    /// Handles a further DSACK that may report a segment that was resent more than once.
    pub(super) fn on_repeated_duplicate(&mut self, ack: &Ack<'_>) {
        if self.sender.suspicions.is_some()
            && let Some(number) = self.stream.repeated_spurious(ack)
        {
            self.refute(number, true);
        }
    }

    /// Refutes the suspicion of segment `number`, which arrived by the suspected transmission.
    fn refute(&mut self, number: SegNo, by_dsack: bool) {
        let suspicions = self.sender.suspicions.as_mut();
        let found = suspicions.and_then(|suspicions| suspicions.refute(number, by_dsack));
        let Some(refutation) = found else { return };
        if let Some(model) = self.sender.detector.two_stage() {
            if let Some(outcome) = refutation.dsack {
                model.on_dsack(outcome);
            }
            if refutation.confirmed.is_some() {
                model.on_refuted();
            }
        }
        if refutation.confirmed.is_some()
            && let Some(pacing) = &mut self.sender.pacing
        {
            pacing.on_refuted();
        }
        let Some(supported) = refutation.confirmed.flatten() else { return };
        if let Some(undo) = self.sender.ledger.add(supported, Evidence::Arrived, self.now) {
            let event = Event::SpuriousReduction { cause: Cause::FastRetransmit };
            self.observer.on_event(self.now, &event);
            self.undo(undo);
        }
    }
}

impl Composed {
    /// Returns whether suspicions wait for confirmation at present.
    #[inline]
    pub(super) fn two_stage_active(&self) -> bool {
        self.suspicions.as_ref().is_some_and(|suspicions| suspicions.confirm_after().is_some())
    }

    /// Returns whether holes are usual, because their segments may only be late. After the receiver has
    /// reneged they are not, because only a timeout resends what the receiver discarded.
    pub(super) fn holes_are_usual(&self, stream: &Stream) -> bool {
        self.two_stage_active() && !stream.board.reneged()
    }

    /// Records a suspicion of the last transmission of segment `number`, if there is one, before the
    /// segment is resent because of `cause`. Returns the record of the retransmission.
    pub(super) fn suspect(
        &mut self,
        stream: &Stream,
        number: SegNo,
        cause: Cause,
        now: Instant,
    ) -> Retransmission {
        let probe = cause == Cause::Probe;
        let fast = cause == Cause::FastRetransmit;
        let Some(suspicions) = &mut self.suspicions else {
            // A probe does not belong to a reduction of the window.
            let under = self.ledger.current().filter(|_| !probe);
            return Retransmission { under, suspected: false };
        };
        let entry = stream.board.entry(number);
        let too_big = matches!(self.recovery.phase, Phase::Loss { too_big: true, .. });
        let confirm_after = suspicions.confirm_after();
        let suspected = fast || confirm_after.is_some() && (!too_big || entry.retransmitted);
        if suspected {
            let sent = entry.sent;
            let load = Load { cwnd: self.window.cwnd, flight: stream.board.outstanding() };
            suspicions.add(&mut self.ledger, number, sent, load, now);
            match confirm_after {
                None => self.detector.on_confirmed(),
                Some(wait) => {
                    let due = (sent + wait).max(now);
                    let first = self.timers.get(SenderTimer::Detect).map_or(due, |at| at.min(due));
                    self.timers.set(SenderTimer::Detect, first);
                }
            }
        }
        // A retransmission on suspicion does not belong to a reduction either.
        let under = self.ledger.current().filter(|_| !probe && !fast);
        Retransmission { under, suspected }
    }

    /// Handles the end of a reduction: the window is reduced, or another event ends the reduction.
    pub(super) fn on_reduction_end(&mut self, now: Instant) {
        if let Some(suspicions) = &mut self.suspicions {
            suspicions.on_reduction_end(now);
        }
    }

    /// Returns the next segment while nothing is confirmed: suspected segments first, then new data, as
    /// long as the pipe has room.
    pub(super) fn poll_two_stage(
        &mut self,
        stream: &mut Stream,
        now: Instant,
    ) -> Option<Transmission> {
        self.restart_after_idle(stream, now);
        if stream.pipe() >= self.room() {
            return None;
        }
        match stream.board.next_lost() {
            Some(number) => Some(self.retransmit(stream, number, Cause::FastRetransmit, now)),
            None => self.new_data(stream, now),
        }
    }

    /// Grows the window by what is delivered, in any order, if the pipe was full. If some segment is
    /// always late, the cumulative point does not show the rate. After a timeout the pipe is full as long
    /// as there is anything to retransmit, and holes do not count, because everything sent before the
    /// timeout is missing.
    pub(super) fn grow_by_delivery(
        &mut self,
        stream: &Stream,
        delivered: u32,
        before: PipeBefore,
        phase_before: Phase,
        now: Instant,
    ) {
        if delivered == 0 {
            return;
        }
        match (phase_before, self.recovery.phase) {
            (Phase::Loss { .. }, Phase::Loss { .. }) => {
                self.grow(stream, delivered, phase_before, now);
            }
            (Phase::Open, Phase::Open) => {
                let full = match before.window_is_limit {
                    Some(limit) => limit,
                    None => before.pipe >= self.room(),
                };
                let full = *self.recovery.window_was_full.get_or_insert(full);
                if !self.policy.growth.grows(full) {
                    self.limited(stream, now);
                } else if !self.overflows(stream) {
                    self.grow(stream, delivered, phase_before, now);
                }
            }
            _ => {}
        }
    }

    /// Returns how many segments the pipe may hold.
    #[inline(always)]
    pub(super) fn room(&mut self) -> u32 {
        self.with_late(self.window.cwnd).min(self.policy.max_cwnd) as u32
    }

    /// Returns `cwnd` with room for late segments. They do not occupy the bottleneck's queue, so they
    /// may be in flight in addition. The room is at most another cwnd, which bounds the effect of a
    /// receiver's false acknowledgements.
    pub(super) fn with_late(&mut self, cwnd: f64) -> f64 {
        let by_control = self.policy.reduction == Reduction::ByControl;
        if !self.two_stage_active() || (by_control && self.control.holds_back()) {
            return cwnd;
        }
        cwnd + two_stage::room_for_late(self.detector.late_share(), cwnd)
    }

    /// Returns how many segments of a pipe are not late, by the share that is late at any time. Late ones
    /// do not occupy the bottleneck's queue.
    pub(super) fn without_late(&mut self, pipe: u32) -> u32 {
        if !self.two_stage_active() {
            return pipe;
        }
        (f64::from(pipe) / (1.0 + self.detector.late_share())).ceil() as u32
    }

    /// Returns whether slow start is overflowing a queue: there are more holes than twice what lateness
    /// explains plus three, so confirmation is only a matter of time. Holes from before a reduction do
    /// not count, because the reduction responded to them.
    fn overflows(&mut self, stream: &Stream) -> bool {
        let responded = self.window.ssthresh.is_finite()
            && self.recovery.recover.is_some_and(|recover| stream.una() < recover.get());
        if !self.window.slow_start() || responded {
            return false;
        }
        let share = self.detector.late_share();
        two_stage::slow_start_overflows(stream.board.holes(), share, self.window.cwnd)
    }

    /// Returns how long after a retransmission its DSACK may arrive.
    #[inline]
    pub(super) fn dsack_horizon(&self, stream: &Stream) -> Duration {
        let rto = stream.round_trips.base_rto();
        match &self.suspicions {
            None => rto * 2,
            Some(suspicions) => {
                let wait = suspicions.confirm_after().unwrap_or_default();
                two_stage::horizon(rto, wait)
            }
        }
    }
}
