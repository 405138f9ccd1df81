//! What an acknowledgement does to a composed sender, step by step.
//!
//! One acknowledgement passes through [`Composed::on_ack`] in this order: the stream turns it into a
//! delivery; from that come round-trip times, reordering lengths and spurious retransmissions; the
//! detector learns from them; then recovery starts, goes on or ends, and the window grows.

use unruffled_units::Instant;

use super::{Acks, Composed, Phase, two_stage};
use crate::observer::{Event, Observer};
use crate::parts::control::{CongestionControl, Window};
use crate::parts::detect::{AckFacts, Detector, LossDetector};
use crate::parts::limited_transmit::{LimitedTransmit, Progress, Wait};
use crate::sender::Ack;
use crate::sender::stream::{Delivery, Reading, Stream};

impl Composed {
    pub(in crate::sender) fn on_ack(
        &mut self,
        stream: &mut Stream,
        ack: Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        // Header prediction (V. Jacobson): a third of the instructions of a run in order.
        match self.is_predicted(stream, &ack) {
            true => self.read_ack::<true>(stream, &ack, now, observer),
            false => self.read_any_ack(stream, ack, now, observer),
        }
    }

    // By value: it would have to be in memory for all, if it could be referred to.
    #[inline(never)]
    fn read_any_ack(
        &mut self,
        stream: &mut Stream,
        ack: Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        self.read_ack::<false>(stream, &ack, now, observer);
    }

    /// Whether the acknowledgement is what most are: it covers segments that were sent once, no hole is
    /// open, and nothing is being recovered from. It disproves no suspicion, for those are of segments
    /// that were sent again, and none was acknowledged of which it could tell by which transmission.
    #[inline]
    fn is_predicted(&self, stream: &Stream, ack: &Ack<'_>) -> bool {
        matches!(self.recovery.phase, Phase::Open)
            && self.recovery.dupacks == 0
            && self.responses.are_idle()
            && ack.blocks.is_empty()
            && ack.dsack.is_none()
            && self
                .suspicions
                .as_ref()
                .is_none_or(|suspicions| !suspicions.arrivals.has_ambiguous())
            && stream.is_in_order(ack.una)
    }

    /// Reads an acknowledgement; of a `PREDICTED` one only what can change anything.
    #[inline(always)]
    fn read_ack<const PREDICTED: bool>(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let pipe_before = stream.board.outstanding() - stream.board.sacked();
        let read = self.deliver::<PREDICTED>(stream, ack, now);
        let Reading { delivery, advanced, flight_before, .. } = read;
        self.learn::<PREDICTED>(stream, ack, &read, now, observer);

        let phase_before = self.recovery.phase;
        let reversed = !PREDICTED && self.go_on(stream, ack, &read, now, observer);
        if PREDICTED || self.recovery.phase == Phase::Open {
            let sack = !ack.blocks.is_empty();
            let flight = stream.board.outstanding();
            let progress = Progress { advanced, sack, flight_before, flight };
            self.limited_transmit.on_progress(&progress, &mut self.window);
        }
        if self.policy.probes {
            self.on_ack_of_probe(stream, *ack, now);
        }
        let newly_lost = self.detect_losses(stream, ack, &delivery, now, observer);
        // Even of a predicted one the detector may have learnt that something was late.
        if self.two_stage_active() {
            self.grow_by_delivery(stream, delivery.segments, pipe_before, phase_before, now);
        } else {
            let may_grow = advanced && !reversed && self.grows_after(phase_before);
            self.grow_and_wait(stream, ack, &read, may_grow.then_some(phase_before), now);
        }
        if matches!(self.recovery.phase, Phase::Recovery { .. }) {
            let safe = advanced && !newly_lost;
            self.proportional_rate_reduction(stream, delivery.segments, safe);
        }
        self.rearm_after_ack(stream, advanced, delivery.segments > 0, now);
        self.tell_acknowledged(stream, now, observer);
    }

    /// The stream turns the acknowledgement into a delivery. Those that doubt hear of each segment in it.
    #[inline(always)]
    fn deliver<const PREDICTED: bool>(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        now: Instant,
    ) -> Reading {
        let Some(suspicions) = &mut self.suspicions else {
            return match PREDICTED {
                true => stream.acknowledge_in_order(ack.una, now, |_| {}),
                false => stream.acknowledge(ack, now, |_| None),
            };
        };
        if !PREDICTED {
            return two_stage::acknowledge(suspicions, &mut self.detector, stream, ack, now);
        }
        let mut model = self.detector.two_stage();
        stream.acknowledge_in_order(ack.una, now, |sent| {
            if let Some(model) = &mut model {
                model.on_arrival(sent, now);
            }
        })
    }

    /// Round-trip times, reordering lengths and spurious retransmissions come from the delivery; timer,
    /// detector and congestion control learn from them.
    #[inline(always)]
    fn learn<const PREDICTED: bool>(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        read: &Reading,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let arrived = self.count_dupacks(stream, ack, read);
        self.count_run(read);
        self.measure_rtt(stream, ack, read, now);
        if !PREDICTED && let Some(sample) = stream.measure_reordering(ack, read, now, observer) {
            self.detector.on_reordering(sample, &self.view(stream, now));
        }
        // A view takes longer to make than a fixed detector needs for all it does.
        if !matches!(self.detector, Detector::Fixed(_)) {
            let delivery = &read.delivery;
            let facts = AckFacts {
                delivered: delivery.segments,
                sacked: delivery.sacked,
                advanced: read.advanced,
                dsack: ack.dsack.is_some(),
                reordered: delivery.reordered,
                latest_sent: delivery.latest_sent,
                latest_sent_once: delivery.original_sent,
            };
            self.tell_detector(stream, &facts, now);
        }
        if !PREDICTED {
            self.refute_arrived(stream, now, observer);
        }
        if arrived > 0 && self.control.counts_deliveries() {
            let flow = self.flow(stream, now);
            self.control.on_delivered(arrived, &flow);
        }
        if !PREDICTED {
            self.on_dsack(stream, ack, read, now, observer);
        }
        stream.expire_retransmissions(now, |stream| self.dsack_horizon(stream));
    }

    /// The acknowledgement was read into the scoreboard.
    #[inline(never)]
    fn tell_detector(&mut self, stream: &Stream, facts: &AckFacts, now: Instant) {
        self.detector.on_ack(facts, &self.view(stream, now));
    }

    /// Recovery goes on or ends by what was delivered. Says whether a reduction proved spurious by it.
    #[inline(always)]
    fn go_on(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        read: &Reading,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        self.recovery.counted_pipe.on_ack(read.advanced);
        let reversed = self.detect_spurious(stream, ack, read, now, observer);
        if read.advanced {
            self.on_progress(stream, now, observer);
        }
        self.end_reduction_round(stream, read.delivery.latest_sent, now, observer);
        reversed
    }

    /// The window grows on new acknowledgements outside fast recovery, those that [`Growth`] names; and
    /// as limited transmit has it while a hole waits.
    ///
    /// [`Growth`]: crate::Growth
    #[inline(always)]
    fn grow_and_wait(
        &mut self,
        stream: &Stream,
        ack: &Ack<'_>,
        read: &Reading,
        may_grow: Option<Phase>,
        now: Instant,
    ) {
        let Reading { delivery, advanced, flight_before, .. } = read;
        let full = *flight_before >= self.window.cwnd as u32;
        let window_was_full = *self.recovery.window_was_full.get_or_insert(full);
        let window_was_full = self.policy.growth.grows(window_was_full);
        if let Some(before) = may_grow {
            if window_was_full {
                self.grow(stream, delivery.passed, before, now);
            } else {
                self.limited(stream, now);
            }
        }
        if !self.limited_transmit.uses_waits() {
            return;
        }
        let wait = Wait {
            now,
            open: self.recovery.phase == Phase::Open,
            advanced: *advanced,
            duplicate: delivery.sacked > 0 || ack.duplicate,
            sacked: delivery.sacked,
            duplicates: self.duplicates(stream),
            window_was_full,
        };
        let segments = self.limited_transmit.grow_while_waiting(&wait, &self.window);
        if segments > 0 {
            self.grow(stream, segments, Phase::Open, now);
        }
        if let Some(idle) = self.limited_transmit.idle(&wait, &self.window) {
            self.detector.on_idle(idle, &self.view(stream, now));
        }
    }

    /// Tells the observer where the sender stands.
    #[inline(always)]
    fn tell_acknowledged(&self, stream: &Stream, now: Instant, observer: &mut impl Observer) {
        let Window { cwnd, ssthresh } = self.window;
        let dupthresh = self.detector.dupthresh();
        let (una, srtt, patience) = (stream.una(), stream.round_trips.srtt(), self.patience);
        let event = Event::Acknowledged { una, cwnd, ssthresh, dupthresh, patience, srtt };
        observer.on_event(now, &event);
    }

    /// Returns when the segment was sent whose round trip a delivery measures: a segment sent once
    /// (Karn's rule; RFC 6298, section 3). Without SACK, segments behind a resent one may have arrived
    /// long before the acknowledgement.
    fn timed(&self, delivery: &Delivery) -> Option<Instant> {
        let waited = self.policy.acks != Acks::Sack && delivery.any_retransmitted;
        delivery.original_sent.filter(|_| !waited)
    }

    /// Takes a round-trip time by this end's own clock, which is finer than timestamps. A segment sent
    /// more than once is timed by its timestamp, if it has one (RFC 7323, section 4.1).
    #[inline(always)]
    fn measure_rtt(&mut self, stream: &mut Stream, ack: &Ack<'_>, read: &Reading, now: Instant) {
        let Reading { delivery, advanced, flight_before, .. } = read;
        let una = stream.una();
        let timed = self.timed(delivery);
        if let Some(sent) = timed {
            let rtt = now.since(sent);
            stream.round_trips.measure(rtt, una, *flight_before);
            stream.min_rtt.sample(rtt, now);
            self.probe.on_rtt_sample();
        }
        if *advanced {
            stream.round_trips.on_progress(self.window.cwnd);
        }
        if let Some(echo) = ack.echo.filter(|_| *advanced && timed.is_none()) {
            stream.round_trips.sample(now.since(echo), una, *flight_before);
        }
    }
}
