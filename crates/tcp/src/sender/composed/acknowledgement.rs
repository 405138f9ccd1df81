//! The steps in which a composed sender processes an acknowledgement.
//!
//! The stream converts the acknowledgement into a delivery. Round-trip times, reordering lengths and
//! spurious retransmissions follow from the delivery, and the detector receives them. Then recovery
//! begins, continues or ends, and the window grows.

use unruffled_units::{Duration, Instant};

use super::context::AckContext;
use super::two_stage::PipeBefore;
use super::{Acks, Composed, Phase, two_stage};
use crate::observer::{Event, Observer};
use crate::parts::control::{CongestionControl, RoundTripSample, Window};
use crate::parts::detect::{AckFacts, Detector, LossDetector};
use crate::parts::limited_transmit::{LimitedTransmit, Progress, Wait};
use crate::sender::Ack;
use crate::sender::stream::{Reading, SegNo, Stream};

/// What few senders and acknowledgements have. A predicted acknowledgement has nothing of it, which the
/// compiler knows.
#[derive(Clone, Copy, Debug, Default)]
struct Rare {
    /// Whether any of it is there.
    present: bool,
    /// Whether the acknowledgement has ECE.
    ece: bool,
    /// For a sender that paces, whether the window is what limits it.
    window_is_limit: Option<bool>,
}

impl Composed {
    /// Processes an acknowledgement that is [predicted](Self::predicts). Header prediction (V. Jacobson)
    /// saves a third of the instructions of a run in order.
    #[inline]
    pub(in crate::sender) fn on_predicted_ack(
        &mut self,
        stream: &mut Stream,
        una: u64,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let read = self.deliver_in_order(stream, una, now);
        let ack = &Ack::of_new_data(una);
        AckContext { sender: self, stream, ack, read, now, observer }.process_predicted();
    }

    /// Processes any acknowledgement.
    #[inline(never)]
    pub(in crate::sender) fn on_ack(
        &mut self,
        stream: &mut Stream,
        ack: Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let pipe_before = stream.board.outstanding() - stream.board.sacked();
        let read = if self.pacing.is_some() {
            self.deliver_paced(stream, &ack, now)
        } else {
            self.deliver(stream, &ack, now, |_| {})
        };
        AckContext { sender: self, stream, ack: &ack, read, now, observer }.process(pipe_before);
    }

    /// Returns whether nothing but growth and timers depends on a cumulative acknowledgement up to `una`,
    /// without SACK blocks and ECE. It covers segments that were sent once, no hole is open, and no
    /// recovery is in progress. It refutes no suspicion, because suspected segments were sent more than
    /// once, and no acknowledged segment is ambiguous. A sender that paces predicts none.
    #[inline]
    pub(in crate::sender) fn predicts(&self, stream: &Stream, una: u64) -> bool {
        matches!(self.recovery.phase, Phase::Open)
            && self.recovery.dupacks == 0
            && !self.policy.paces
            && self.responses.are_idle()
            && self.suspicions.as_ref().is_none_or(|s| !s.arrivals.has_ambiguous())
            && stream.is_in_order(una)
    }

    /// Reads a predicted acknowledgement into the stream. The model of lateness receives each
    /// segment in it.
    #[inline(always)]
    fn deliver_in_order(&mut self, stream: &mut Stream, una: u64, now: Instant) -> Reading {
        if self.suspicions.is_none() {
            return stream.acknowledge_in_order(una, now, |_| {});
        }
        let mut model = self.detector.two_stage();
        stream.acknowledge_in_order(una, now, |sent| {
            if let Some(model) = &mut model {
                model.on_arrival(sent, now);
            }
        })
    }

    /// The stream turns the acknowledgement into a delivery. Calls `on_covered` for each segment in it.
    #[inline(always)]
    fn deliver(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        now: Instant,
        mut on_covered: impl FnMut(SegNo),
    ) -> Reading {
        match &mut self.suspicions {
            None => stream.acknowledge(ack, now, |arrival| {
                on_covered(arrival.number);
                None
            }),
            Some(suspicions) => {
                let detector = &mut self.detector;
                two_stage::acknowledge(suspicions, detector, stream, ack, now, on_covered)
            }
        }
    }

    /// [`Self::deliver`] for a sender that paces.
    #[inline(never)]
    fn deliver_paced(&mut self, stream: &mut Stream, ack: &Ack<'_>, now: Instant) -> Reading {
        self.begin_paced_ack(stream);
        let mut pacing = self.pacing.take();
        let read = self.deliver(stream, ack, now, |number| {
            if let Some(pacing) = &mut pacing {
                pacing.on_delivered(number);
            }
        });
        self.pacing = pacing;
        read
    }
}

impl<O: Observer> AckContext<'_, '_, O> {
    /// Processes an acknowledgement that is [predicted](Composed::predicts).
    #[inline(always)]
    fn process_predicted(mut self) {
        let pipe_before = self.read.flight_before;
        let arrived = self.count_dupacks();
        self.sender.recovery.count_run(&self.read);
        self.measure_rtt();
        self.inform_detector();
        self.inform_control(arrived);
        self.expire_retransmissions();
        self.report_progress();
        self.settle_probe();
        self.detect_and_grow(pipe_before, Phase::Open, false, Rare::default());
        self.finish();
    }

    /// Processes any acknowledgement. `pipe_before`: segments in flight before it, those SACKed left out.
    #[inline(always)]
    fn process(mut self, pipe_before: u32) {
        let arrived = self.count_dupacks();
        self.sender.recovery.count_run(&self.read);
        self.measure_rtt();
        let sample = self.stream.measure_reordering(self.ack, &self.read, self.now, self.observer);
        if let Some(sample) = sample {
            let view = self.view();
            self.sender.detector.on_reordering(sample, &view);
        }
        self.inform_detector();
        self.step().refute_arrived();
        self.inform_control(arrived);
        self.on_dsack();
        self.expire_retransmissions();
        if self.sender.responses.linux.is_some() {
            return self.process_as_linux();
        }
        let phase_before = self.sender.recovery.phase;
        let undone = self.advance_recovery();
        if self.sender.recovery.phase == Phase::Open {
            self.report_progress();
        }
        self.settle_probe();
        let is_rare = self.ack.ece || self.sender.pacing.is_some();
        let rare = if is_rare { self.rare() } else { Rare::default() };
        self.detect_and_grow(pipe_before, phase_before, undone, rare);
        if rare.present {
            self.finish_rare();
        }
        self.finish();
    }

    /// Processes the rest of any acknowledgement as Linux does.
    #[inline(never)]
    fn process_as_linux(mut self) {
        self.sender.recovery.counted_pipe.on_ack(self.read.advanced);
        self.advance_as_linux();
        let latest_sent = self.read.delivery.latest_sent;
        self.step().end_reduction_round(latest_sent);
        if self.sender.recovery.phase == Phase::Open {
            self.report_progress();
        }
        self.settle_probe();
        self.detect_and_grow_as_linux();
        self.finish_rare();
        self.finish();
    }

    /// Returns what the acknowledgement or the sender has that is rare.
    #[inline(never)]
    fn rare(&self) -> Rare {
        let pacing = self.sender.pacing.as_ref();
        let window_is_limit = pacing.map(|pacing| pacing.window_is_limit(&self.sender.window));
        Rare { present: true, ece: self.ack.ece, window_is_limit }
    }

    /// Responds to a mark, and takes a sample of the path for a sender that paces.
    #[inline(never)]
    fn finish_rare(&mut self) {
        if self.ack.ece {
            let segments = self.read.delivery.segments;
            self.step().on_echo(segments);
        }
        if self.sender.pacing.is_some() {
            self.sender.sample_path(self.stream, &self.read, self.now);
        }
    }

    /// Takes a round-trip time by this end's own clock, which is finer than timestamps. A segment sent
    /// more than once is timed by its timestamp, if it has one (RFC 7323, section 4.1).
    #[inline(always)]
    fn measure_rtt(&mut self) {
        let Reading { delivery, advanced, flight_before, .. } = &self.read;
        let una = self.stream.una();
        // A segment sent once is timed (Karn's rule; RFC 6298, section 3). Without SACK, segments behind
        // a resent one may have arrived long before the acknowledgement.
        let waited = self.sender.policy.acks != Acks::Sack && delivery.any_retransmitted;
        let timed = delivery.original_sent.filter(|_| !waited);
        if let Some(sent) = timed {
            let rtt = self.now.since(sent);
            self.stream.round_trips.measure(rtt, una, *flight_before);
            self.stream.min_rtt.sample(rtt, self.now);
            self.sender.probe.on_rtt_sample();
            if self.sender.control.measures_round_trips() {
                let sample = RoundTripSample { now: self.now, rtt, una, nxt: self.stream.nxt() };
                self.sender.control.on_round_trip(&sample, &mut self.sender.window);
            }
        }
        if *advanced {
            self.stream.round_trips.on_progress(self.sender.window.cwnd);
        }
        if let Some(echo) = self.ack.echo.filter(|_| *advanced && timed.is_none()) {
            self.stream.round_trips.sample(self.now.since(echo), una, *flight_before);
        }
    }

    /// Passes what the acknowledgement delivered to the detector.
    #[inline(always)]
    fn inform_detector(&mut self) {
        // A view costs more to make than all that a fixed detector does.
        if matches!(self.sender.detector, Detector::Fixed(_)) {
            return;
        }
        let delivery = &self.read.delivery;
        let (late, dsack) = self.late_or_duplicate_as_linux();
        let facts = AckFacts {
            delivered: delivery.segments,
            sacked: delivery.sacked,
            advanced: self.read.advanced,
            dsack,
            reordered: delivery.reordered || late,
            latest_sent: delivery.latest_sent,
            latest_sent_once: delivery.original_sent,
        };
        self.sender.inform_detector(self.stream, &facts, self.now);
    }

    /// Passes the number of segments that `arrived` to a congestion control that counts them.
    #[inline(always)]
    fn inform_control(&mut self, arrived: u32) {
        if arrived > 0 && self.sender.control.counts_deliveries() {
            let flow = self.sender.flow(self.stream, self.now);
            self.sender.control.on_delivered(arrived, &flow);
        }
    }

    #[inline(always)]
    fn expire_retransmissions(&mut self) {
        let sender = &*self.sender;
        self.stream.expire_retransmissions(self.now, |stream| sender.dsack_horizon(stream));
    }

    /// Recovery continues or ends. Returns whether a reduction proved spurious.
    #[inline(always)]
    fn advance_recovery(&mut self) -> bool {
        self.sender.recovery.counted_pipe.on_ack(self.read.advanced);
        let undone = self.detect_spurious();
        if self.read.advanced {
            self.step().on_progress();
        }
        let latest_sent = self.read.delivery.latest_sent;
        self.step().end_reduction_round(latest_sent);
        undone
    }

    /// Passes progress outside recovery to limited transmit.
    #[inline(always)]
    fn report_progress(&mut self) {
        let progress = Progress {
            advanced: self.read.advanced,
            sack: !self.ack.blocks.is_empty(),
            flight_before: self.read.flight_before,
            flight: self.stream.board.outstanding(),
        };
        self.sender.limited_transmit.on_progress(&progress, &mut self.sender.window);
    }

    #[inline(always)]
    fn settle_probe(&mut self) {
        if self.sender.policy.probes {
            self.sender.on_ack_of_probe(self.stream, *self.ack, self.now);
        }
    }

    /// Looks for losses, then grows the window. An acknowledgement with ECE does not grow it (RFC 3168,
    /// section 6.1.2).
    #[inline(always)]
    fn detect_and_grow(&mut self, pipe_before: u32, phase_before: Phase, undone: bool, rare: Rare) {
        let Rare { ece, window_is_limit, .. } = rare;
        let newly_lost = self.detect_losses();
        let delivered = self.read.delivery.segments;
        let advanced = self.read.advanced;
        // A detector can find out about lateness even by a predicted acknowledgement.
        if self.sender.two_stage_active() {
            if !ece {
                let sender = &mut *self.sender;
                let pipe = PipeBefore { pipe: pipe_before, window_is_limit };
                sender.grow_by_delivery(self.stream, delivered, pipe, phase_before, self.now);
            }
        } else {
            let may_grow = advanced && !undone && !ece && {
                let policy = &self.sender.policy;
                self.sender.recovery.grows_after(policy, phase_before)
            };
            self.grow_and_wait(may_grow.then_some(phase_before), rare);
        }
        if matches!(self.sender.recovery.phase, Phase::Recovery { .. }) {
            let safe = advanced && !newly_lost;
            self.sender.proportional_rate_reduction(self.stream, delivered, safe);
        }
    }

    /// Grows the window by a new acknowledgement outside fast recovery, if [`Growth`] permits, and as
    /// limited transmit has it while a hole is open. `may_grow` is the phase before, if growth is due.
    ///
    /// [`Growth`]: crate::Growth
    #[inline(always)]
    fn grow_and_wait(&mut self, may_grow: Option<Phase>, rare: Rare) {
        let Rare { ece, window_is_limit, .. } = rare;
        let sender = &mut *self.sender;
        let Reading { delivery, advanced, flight_before, .. } = &self.read;
        let full = window_is_limit.unwrap_or(*flight_before >= sender.window.cwnd as u32);
        let window_was_full = *sender.recovery.window_was_full.get_or_insert(full);
        let window_was_full = sender.policy.growth.grows(window_was_full);
        if let Some(before) = may_grow {
            if window_was_full {
                sender.grow(self.stream, delivery.passed, before, self.now);
            } else {
                sender.limited(self.stream, self.now);
            }
        }
        if !sender.limited_transmit.uses_waits() {
            return;
        }
        let wait = Wait {
            now: self.now,
            open: sender.recovery.phase == Phase::Open,
            advanced: *advanced,
            duplicate: delivery.sacked > 0 || self.ack.duplicate,
            sacked: delivery.sacked,
            duplicates: sender.recovery.duplicates(&sender.policy, self.stream),
            window_was_full,
        };
        let segments = sender.limited_transmit.grow_while_waiting(&wait, &sender.window);
        if segments > 0 && !ece {
            sender.grow(self.stream, segments, Phase::Open, self.now);
        }
        if let Some(idle) = sender.limited_transmit.idle(&wait, &sender.window) {
            let view = sender.view(self.stream, self.now);
            sender.detector.on_idle(idle, &view);
        }
    }

    /// Sets the timers and reports the sender's state to the observer.
    #[inline(always)]
    fn finish(self) {
        let delivered = self.read.delivery.segments > 0;
        self.sender.rearm_after_ack(self.stream, self.read.advanced, delivered, self.now);
        let Window { cwnd, ssthresh } = self.sender.window;
        let event = Event::Acknowledged {
            una: self.stream.una(),
            cwnd,
            ssthresh,
            dupthresh: self.sender.detector.dupthresh(),
            patience: Some(self.sender.loss_delay).filter(|&delay| delay != Duration::MAX),
            srtt: self.stream.round_trips.srtt(),
        };
        self.observer.on_event(self.now, &event);
    }
}
