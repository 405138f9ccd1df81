//! The machine composed of parts. The parts decide. The machine does what follows from their verdicts in
//! the same way for all of them: fast retransmit and recovery, the reduction of the window and its undo,
//! tail loss probes.

mod acknowledgement;
mod context;
mod counted_pipe;
mod duplicates;
mod ecn;
mod fast_recovery;
mod linux;
mod pacing;
mod path_samples;
mod policy;
mod prr;
mod rate_samples;
mod recovery;
mod spurious;
mod tail_loss_probe;
mod timeout;
mod timers;
mod transmit;
mod two_stage;

use unruffled_units::{Duration, Instant};

pub(super) use context::Step;
use path_samples::Pacing;
use policy::Policy;
pub(crate) use policy::{Acks, Composition, Reduction};
pub(crate) use recovery::Phase;
use recovery::Recovery;
use spurious::Responses;
use tail_loss_probe::TailLossProbe;

use super::marks::Marks;
use super::reductions::{Basis, Ledger, Saved, Suspicions};
use super::round_trips::RoundTrips;
use super::stream::{Renumbered, Stream};
use crate::Config;
use crate::observer::Cause;
use crate::parts::Variable;
use crate::parts::control::{AnyControl, CongestionControl, Flow, Reno, Snapshot, Window};
use crate::parts::detect::fixed::Fixed;
use crate::parts::detect::{AckFacts, Detector, LossDetector, View};
use crate::parts::limited_transmit::rfc3042::Rfc3042;
use crate::parts::limited_transmit::{AnyLimitedTransmit, LimitedTransmit};
use crate::parts::respond::Before;
use timers::{SenderTimer, SenderTimers};

/// A sender's parts and the state of the machine.
#[derive(Debug)]
pub(crate) struct Composed {
    policy: Policy,
    pub(crate) window: Window,
    detector: Detector,
    control: AnyControl,
    limited_transmit: AnyLimitedTransmit,
    responses: Responses,
    recovery: Recovery,
    /// Reductions of the window that may prove spurious.
    ledger: Ledger<Before>,
    /// The last reduction of the window, for marks of the path.
    marks: Marks,
    /// What was resent on suspicion, for two-stage detectors.
    suspicions: Option<Box<Suspicions>>,
    probe: TailLossProbe,
    timers: SenderTimers,
    /// Pacing, and samples of the path, for senders that have either.
    pacing: Option<Box<Pacing>>,
    /// The time limit of the last rule applied, for observers; the maximum if it had none. An `Option`
    /// would take another word of each connection.
    loss_delay: Duration,
}

/// Memory of one suspicion, in octets.
pub(super) const SUSPICION_OCTETS: usize = Suspicions::SUSPICION_OCTETS;

impl Composed {
    pub(super) fn table_octets(&self) -> usize {
        self.suspicions.as_ref().map_or(0, |suspicions| suspicions.table_octets())
            + self.pacing.as_ref().map_or(0, |pacing| pacing.table_octets())
    }

    /// Returns the maximum memory that samples of the path take for an outstanding segment, in octets.
    pub(super) fn sample_octets(&self) -> usize {
        self.pacing.as_ref().map_or(0, |pacing| pacing.segment_octets())
    }

    pub(super) fn shrink(&mut self) {
        if let Some(suspicions) = &mut self.suspicions {
            suspicions.shrink();
        }
        if let Some(pacing) = &mut self.pacing {
            pacing.shrink();
        }
    }

    pub(super) fn new(config: &Config, parts: &Composition) -> Self {
        let mut detector = (parts.detector)(config);
        let control = (parts.control)(config);
        let samples_path = control.samples_path();
        Self {
            policy: Policy::new(config, parts, &control),
            pacing: (config.pacing || samples_path).then(|| Box::new(Pacing::new(samples_path))),
            window: Window { cwnd: f64::from(config.window.initial), ssthresh: f64::INFINITY },
            suspicions: detector.two_stage().is_some().then(|| Box::new(Suspicions::new())),
            detector,
            control,
            limited_transmit: (parts.limited_transmit)(config),
            responses: Responses::new(config, parts),
            recovery: Recovery::default(),
            ledger: Ledger::default(),
            marks: Marks::default(),
            probe: TailLossProbe::default(),
            timers: SenderTimers::new(),
            loss_delay: Duration::MAX,
        }
    }

    /// Switches to recovery as in NewReno, because the peer does not support SACK. RFC 5681
    /// replaces what depends on SACK blocks: loss detection by time or by distance (RFC 8985,
    /// section 4), the tail loss probe (section 7), the proportional reduction, and all of RFC
    /// 4653, which begins with an acknowledgement that has SACK blocks (section 3.1).
    pub(super) fn disable_sack(&mut self, stream: &Stream, now: Instant) {
        if self.policy.acks != Acks::Sack {
            return;
        }
        self.policy.acks = Acks::NewReno;
        self.policy.probes = false;
        if self.policy.reduction == Reduction::Proportional {
            self.policy.reduction = Reduction::AtOnce;
        }
        let rule = self.detector.rule(&self.view(stream, now));
        let ncr = matches!(self.limited_transmit, AnyLimitedTransmit::Ncr(_));
        if ncr {
            self.limited_transmit = AnyLimitedTransmit::Rfc3042(Rfc3042);
        }
        if ncr || rule.overdue.is_some() || rule.distance.is_some() {
            self.detector = Detector::Fixed(Fixed::standard());
            self.suspicions = None;
        }
    }

    pub(super) fn on_handshake(&mut self, _rtt: Duration) {
        self.probe.on_rtt_sample();
    }

    pub(super) fn after_lost_syn(&mut self) {
        self.window.cwnd = 1.0;
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    pub(super) fn phase(&self) -> Phase {
        self.recovery.phase
    }

    pub(super) fn handshake_timeout(&mut self, round_trips: &mut RoundTrips) -> Duration {
        round_trips.start_timeout(self.window.cwnd)
    }

    /// Returns when the next timer is due, that of pacing excluded; the maximum if none runs.
    pub(super) fn next_timer(&self) -> Instant {
        self.timers.next()
    }

    /// Returns whether pacing has to permit each segment.
    pub(super) fn paces(&self) -> bool {
        self.pacing.is_some()
    }

    /// Returns when pacing permits what it holds back; the maximum if it holds nothing back.
    pub(super) fn paced_until(&self) -> Instant {
        self.pacing.as_ref().and_then(|pacing| pacing.due()).unwrap_or(Instant::MAX)
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

    /// Returns whether, with nothing in flight, no recovery, probe or retransmission is undecided.
    pub(super) fn settled(&self, stream: &Stream) -> bool {
        self.recovery.phase == Phase::Open
            && self.probe.is_over()
            && stream.retransmissions.is_empty()
            && self.ledger.is_empty()
            && self.timers.next() == Instant::MAX
    }

    /// Grows the window, which was full, by `acked` acknowledged segments. `before` is the phase before
    /// the acknowledgement.
    fn grow(&mut self, stream: &Stream, acked: u32, before: Phase, now: Instant) {
        // After a timeout an acknowledgement can cover segments that left the network long ago (RFC 3465,
        // section 2.3), above all the one that ends the recovery.
        let timed_out = matches!(before, Phase::Loss { .. });
        let limit = if timed_out { 1 } else { self.policy.byte_counting };
        let counted = acked.min(limit);
        match &mut self.control {
            AnyControl::Reno(_) => Reno::grow_by(&mut self.window, counted),
            _ => {
                let flow = self.flow(stream, now);
                self.control.grow(&mut self.window, acked, counted, &flow);
            }
        }
        let max_cwnd = self.policy.max_cwnd.min(self.policy.growth.max_cwnd(stream));
        self.window.cwnd = self.window.cwnd.min(max_cwnd);
    }

    /// Handles an acknowledgement of new data that arrived while the window was not full.
    fn limited(&mut self, stream: &Stream, now: Instant) {
        // Reno ignores the flow, which costs more to make than all that Reno does.
        if !matches!(self.control, AnyControl::Reno(_)) {
            let flow = self.flow(stream, now);
            self.control.on_limited(&flow);
        }
    }

    /// Returns the number of segments in flight, excluding those that limited transmit sent beyond
    /// cwnd.
    fn flight(&self, stream: &Stream) -> f64 {
        let outstanding = f64::from(stream.board.outstanding());
        match self.recovery.phase {
            // The window is small because it is being refilled, not because little is in flight.
            Phase::Loss { too_big: true, .. } => outstanding,
            _ => outstanding.min(self.window.cwnd),
        }
    }

    fn flow(&self, stream: &Stream, now: Instant) -> Flow {
        let before = self.limited_transmit.flight_before();
        let flight = before.unwrap_or_else(|| self.flight(stream));
        Flow { now, flight, srtt: stream.round_trips.srtt(), min_rtt: stream.min_rtt() }
    }

    /// Passes what an acknowledgement delivered to the detector.
    #[inline(never)]
    fn inform_detector(&mut self, stream: &Stream, facts: &AckFacts, now: Instant) {
        self.detector.on_ack(facts, &self.view(stream, now));
    }

    /// Returns the part of the sender's state that detectors receive.
    #[inline]
    fn view(&self, stream: &Stream, now: Instant) -> View {
        View {
            now,
            cwnd: self.window.cwnd,
            slow_start: self.window.slow_start(),
            flight: stream.board.outstanding(),
            sacked: stream.board.sacked(),
            srtt: stream.round_trips.srtt(),
            latest_rtt: stream.round_trips.latest(),
            min_rtt: stream.min_rtt(),
            rto: stream.round_trips.base_rto(),
            recovering: self.recovery.phase != Phase::Open,
            una: stream.una(),
            nxt: stream.nxt(),
        }
    }

    fn renumber(&mut self, numbers: &Renumbered) {
        self.recovery.renumber(numbers);
        if let Some(suspicions) = &mut self.suspicions {
            suspicions.renumber(numbers);
        }
        if let Some(pacing) = &mut self.pacing {
            pacing.renumber(numbers);
        }
    }

    /// Adapts the state when segments become smaller by the factor `ratio`. The window keeps its
    /// size in octets.
    pub(super) fn on_smaller_segments(&mut self, ratio: f64) {
        self.window.scale(ratio);
        self.control.on_smaller_segments(ratio);
        self.ledger.on_smaller_segments(ratio, |before| before.control.scale(ratio));
        if let Some(linux) = &mut self.responses.linux {
            linux.last.on_smaller_segments(ratio);
        }
        if let Some(suspicions) = &mut self.suspicions {
            suspicions.on_smaller_segments(ratio);
        }
    }

    /// Handles the splitting of segments that were too big for the path and are sent again. It is
    /// no sign of congestion, but slow start fills the window again.
    pub(super) fn on_split(&mut self, stream: &mut Stream, numbers: &Renumbered, now: Instant) {
        self.renumber(numbers);
        let saved = Saved { window: self.window, rest: self.before(stream, Snapshot::default()) };
        self.ledger.begin(Cause::Timeout, Basis::Mtu, saved, now);
        // A reduction in progress continues, although cwnd has not come down yet.
        if !matches!(self.recovery.phase, Phase::Recovery { .. }) {
            self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd);
        }
        self.window.cwnd = f64::from(stream.pipe()) + 1.0;
        self.on_reduction_end(now);
        self.enter_loss(stream, true);
        self.responses.give_up();
        self.timers.stop(SenderTimer::Detect);
        self.timers.restart_retransmission(stream, self.window.cwnd, now);
    }
}
