//! The machine composed of parts. It asks them what they make of what happens, and does what follows
//! for all of them alike: fast retransmit and recovery, the reduction of the window and its return,
//! tail loss probes.
//!
//! One acknowledgement passes through [`Composed::on_ack`] in this order: the stream turns it into a
//! delivery; from that come round-trip times, reordering lengths and spurious retransmissions; the
//! detector learns from them; then recovery starts, goes on or ends, and the window grows.

mod arrivals;
mod counted_pipe;
mod doubt;
mod duplicates;
mod fast_recovery;
mod policy;
mod prr;
mod recovery;
mod round_trips;
mod spurious;
mod suspicion;
mod tail_loss_probe;
mod timeout;
mod timers;
mod transmit;

use unruffled_units::{Duration, Instant};

pub use counted_pipe::Pipe;
use doubt::Doubt;
pub use duplicates::Duplicates;
pub use fast_recovery::{FastRecovery, Halving};
use policy::Policy;
pub(crate) use policy::{Acks, Composition, Reduction};
pub(crate) use recovery::Phase;
use recovery::Recovery;
use round_trips::RoundTrips;
use spurious::Responses;
use tail_loss_probe::TailLossProbe;

use super::Ack;
use super::stream::{Reading, Renumbered, Stream};
use crate::Config;
use crate::observer::{Cause, Event, Observer};
use crate::parts::Variable;
use crate::parts::control::{AnyControl, CongestionControl, Flow, Window};
use crate::parts::detect::fixed::Fixed;
use crate::parts::detect::{AckFacts, Detector, LossDetector, View};
use crate::parts::limited_transmit::{AnyLimitedTransmit, LimitedTransmit, Progress, Wait};
use timers::{SenderTimer, SenderTimers};

/// A sender's parts and where they stand.
#[derive(Debug)]
pub(crate) struct Composed {
    policy: Policy,
    pub(crate) window: Window,
    detector: Detector,
    control: AnyControl,
    limited_transmit: AnyLimitedTransmit,
    responses: Responses,
    round_trips: RoundTrips,
    recovery: Recovery,
    /// What was resent on suspicion, for detectors that doubt.
    doubt: Option<Box<Doubt>>,
    probe: TailLossProbe,
    timers: SenderTimers,
    /// The time limit of the last rule applied, for observers.
    patience: Option<Duration>,
}

impl Composed {
    pub(super) fn new(config: &Config, parts: &Composition) -> Self {
        let detector = (parts.detector)(config);
        Self {
            policy: Policy::new(config, parts),
            window: Window { cwnd: f64::from(config.window.initial), ssthresh: f64::INFINITY },
            doubt: detector.doubts().map(|_| Box::new(Doubt::new())),
            detector,
            control: (parts.control)(config),
            limited_transmit: (parts.limited_transmit)(config),
            responses: Responses::new(config, parts),
            round_trips: RoundTrips::new(config, (parts.timer)(config)),
            recovery: Recovery::default(),
            probe: TailLossProbe::default(),
            timers: SenderTimers::new(),
            patience: None,
        }
    }

    /// The peer turned out not to know SACK: recover as NewReno does. What works by SACK blocks alone
    /// gives way to RFC 5681: loss detection in time or by distance (RFC 8985, section 4), the tail
    /// loss probe (section 7) and the proportional reduction.
    pub(super) fn without_sack(&mut self, stream: &Stream, now: Instant) {
        if self.policy.acks != Acks::Sack {
            return;
        }
        self.policy.acks = Acks::NewReno;
        let rule = self.detector.rule(&self.view(stream, now));
        if rule.overdue.is_some() || rule.distance.is_some() {
            self.detector = Detector::Fixed(Fixed::standard());
            self.doubt = None;
            self.policy.probes = false;
            self.policy.reduction = Reduction::AtOnce;
        }
    }

    pub(super) fn on_handshake(&mut self, rtt: Duration) {
        self.round_trips.on_handshake(rtt);
        self.probe.on_rtt_sample();
    }

    pub(super) fn after_lost_syn(&mut self) {
        self.window.cwnd = 1.0;
        self.round_trips.rto.after_lost_syn();
    }

    pub(super) fn back_off(&mut self) {
        self.round_trips.rto.back_off();
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    pub(super) fn phase(&self) -> Phase {
        self.recovery.phase
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        self.round_trips.rto.srtt()
    }

    pub(super) fn rttvar(&self) -> Option<Duration> {
        self.round_trips.rto.rttvar()
    }

    pub(super) fn handshake_timeout(&mut self) -> Duration {
        self.round_trips.timeout(self.window.cwnd)
    }

    pub(super) fn rto(&self) -> Duration {
        self.round_trips.rto.current()
    }

    pub(super) fn dupthresh(&self) -> Option<u32> {
        self.detector.dupthresh()
    }

    pub(super) fn variables(&self, stream: &Stream, now: Instant, show: &mut dyn FnMut(Variable)) {
        if let Some(dupthresh) = self.detector.dupthresh() {
            show(Variable::segments("dupthresh", f64::from(dupthresh)));
        }
        self.detector.variables(&self.view(stream, now), show);
        self.control.variables(show);
    }

    pub(super) fn on_ack(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        // Header prediction (V. Jacobson): a third of the instructions of a run in order.
        match self.is_predicted(stream, ack) {
            true => self.read_ack::<true>(stream, ack, now, observer),
            false => self.read_any_ack(stream, ack, now, observer),
        }
    }

    #[inline(never)]
    fn read_any_ack(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        self.read_ack::<false>(stream, ack, now, observer);
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
            && self.doubt.as_ref().is_none_or(|doubt| !doubt.arrivals.are_ambiguous())
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
        let read = match &mut self.doubt {
            None if PREDICTED => stream.acknowledge_in_order(ack.una, now, |_| {}),
            Some(_) if PREDICTED => stream.acknowledge_in_order(ack.una, now, |sent| {
                self.detector.on_arrival(sent, now);
            }),
            None => stream.acknowledge(ack, now, |_| None),
            Some(doubt) => suspicion::acknowledge(doubt, &mut self.detector, stream, ack, now),
        };
        let Reading { delivery, advanced, flight_before, .. } = read;
        let arrived = self.count_dupacks(stream, ack, &read);
        self.count_run(&read);
        self.measure_rtt(stream, ack, &read, now);
        if !PREDICTED && let Some(sample) = stream.measure_reordering(ack, &read, now, observer) {
            self.detector.on_reordering(sample, &self.view(stream, now));
        }
        // A view takes longer to make than a fixed detector needs for all it does.
        if !matches!(self.detector, Detector::Fixed(_)) {
            self.tell_detector(stream, ack, &read, now);
        }
        if !PREDICTED {
            self.disprove_arrived(stream, now, observer);
        }
        if arrived > 0 && self.control.counts_deliveries() {
            let flow = self.flow(stream, now);
            self.control.on_delivered(arrived, &flow);
        }
        if !PREDICTED {
            self.heed_dsack(stream, ack, &read, now, observer);
        }
        stream.retransmissions.expire(now, || self.dsack_horizon());

        let phase_before = self.recovery.phase;
        let mut reversed = false;
        if !PREDICTED {
            self.recovery.counted_pipe.on_ack(advanced);
            reversed = self.detect_spurious(stream, ack, &read, now, observer);
            if advanced {
                self.on_progress(stream, now, observer);
            }
            self.end_round(stream, delivery.latest_sent, now, observer);
        }
        if PREDICTED || self.recovery.phase == Phase::Open {
            let sack = !ack.blocks.is_empty();
            let flight = stream.board.outstanding();
            let progress = Progress { advanced, sack, flight_before, flight };
            self.limited_transmit.on_progress(&progress, &mut self.window);
        }
        if self.policy.probes {
            self.on_ack_of_probe(stream, ack, now);
        }
        let newly_lost = self.detect_losses(stream, ack, &delivery, now, observer);
        // Even of a predicted one the detector may have learnt that something was late.
        if self.doubting() {
            let open = phase_before == Phase::Open;
            self.grow_by_delivery(stream, &delivery, pipe_before, open, now);
        } else {
            let may_grow = advanced && !reversed && self.grows_after(phase_before);
            self.grow_and_wait(stream, ack, &read, may_grow, now);
        }
        if matches!(self.recovery.phase, Phase::Recovery { .. }) {
            self.proportional_rate_reduction(stream, &delivery, advanced && !newly_lost);
        }
        self.rearm_after_ack(stream, advanced, delivery.segments > 0, now);
        let Window { cwnd, ssthresh } = self.window;
        let dupthresh = self.detector.dupthresh();
        let (una, srtt, patience) = (stream.una(), self.srtt(), self.patience);
        let event = Event::Acknowledged { una, cwnd, ssthresh, dupthresh, patience, srtt };
        observer.on_event(now, &event);
    }

    /// Whether, nothing being on its way, no recovery, probe or retransmission awaits its outcome.
    pub(super) fn settled(&self, stream: &Stream) -> bool {
        self.recovery.phase == Phase::Open
            && self.probe.is_over()
            && stream.retransmissions.is_empty()
            && self.timers.next().is_none()
    }

    /// The acknowledgement was read into the scoreboard.
    #[inline(never)]
    fn tell_detector(&mut self, stream: &Stream, ack: &Ack<'_>, read: &Reading, now: Instant) {
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
        self.detector.on_ack(&facts, &self.view(stream, now));
    }

    /// The window grows on new acknowledgements outside fast recovery, and only while it is what
    /// limits the sender (RFC 5681, section 3.1; RFC 7661); and as limited transmit has it while a
    /// hole waits.
    #[inline(always)]
    fn grow_and_wait(
        &mut self,
        stream: &Stream,
        ack: &Ack<'_>,
        read: &Reading,
        may_grow: bool,
        now: Instant,
    ) {
        let Reading { delivery, advanced, flight_before, .. } = read;
        let full = *flight_before >= self.window.cwnd as u32;
        let window_was_full = *self.recovery.window_was_full.get_or_insert(full);
        if may_grow {
            if window_was_full {
                self.grow(stream, delivery.passed, now);
            } else {
                let flow = self.flow(stream, now);
                self.control.on_limited(&flow);
            }
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
            self.grow(stream, segments, now);
        }
        if let Some(idle) = self.limited_transmit.idle(&wait, &self.window) {
            self.detector.on_idle(idle, &self.view(stream, now));
        }
    }

    /// The window was full, and `acked` segments were acknowledged.
    fn grow(&mut self, stream: &Stream, acked: u32, now: Instant) {
        // After a timeout an acknowledgement can cover what left the network long ago (RFC 3465,
        // section 2.3).
        let open = self.recovery.phase == Phase::Open;
        let limit = if open { self.policy.byte_counting } else { 1 };
        let (counted, flow) = (acked.min(limit), self.flow(stream, now));
        self.control.grow(&mut self.window, acked, counted, &flow);
        self.window.cwnd = self.window.cwnd.min(self.policy.max_cwnd);
    }

    /// Segments in flight, without what limited transmit sent beyond cwnd.
    fn flight(&self, stream: &Stream) -> f64 {
        f64::from(stream.board.outstanding()).min(self.window.cwnd)
    }

    fn flow(&self, stream: &Stream, now: Instant) -> Flow {
        let before = self.limited_transmit.flight_before();
        let flight = before.unwrap_or_else(|| self.flight(stream));
        Flow { now, flight, srtt: self.srtt(), min_rtt: stream.min_rtt() }
    }

    #[inline]
    fn view(&self, stream: &Stream, now: Instant) -> View {
        View {
            now,
            cwnd: self.window.cwnd,
            slow_start: self.window.slow_start(),
            flight: stream.board.outstanding(),
            sacked: stream.board.sacked(),
            srtt: self.srtt(),
            latest_rtt: self.round_trips.latest,
            min_rtt: stream.min_rtt(),
            rto: self.round_trips.rto.base(),
            recovering: self.recovery.phase != Phase::Open,
            una: stream.una(),
            nxt: stream.nxt(),
        }
    }

    fn renumber(&mut self, numbers: &Renumbered) {
        self.recovery.renumber(numbers);
        if let Some(doubt) = &mut self.doubt {
            doubt.renumber(numbers);
        }
    }

    /// `ratio` segments fit into one of before: the window stays, in octets.
    pub(super) fn on_smaller_segments(&mut self, ratio: f64) {
        self.window.cwnd *= ratio;
        self.window.ssthresh *= ratio;
    }

    /// What was too big for the path is sent again, in pieces: that says nothing of congestion, but
    /// the window is filled again by slow start.
    pub(super) fn on_split(&mut self, stream: &mut Stream, numbers: &Renumbered, now: Instant) {
        self.renumber(numbers);
        stream.retransmissions.begin(Cause::Timeout, self.window, now);
        self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd);
        self.window.cwnd = f64::from(stream.pipe()) + 1.0;
        self.enter_loss(stream);
        self.responses.stop();
        self.timers.stop(SenderTimer::Detect);
        self.restart_retransmission_timer(now);
    }
}
