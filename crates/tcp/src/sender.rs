//! The sending half of a connection: reads acknowledgements, decides what to send next.
//!
//! One acknowledgement passes through here in this order: the scoreboard turns it into a delivery;
//! from that come round-trip times, reordering lengths and needless retransmissions; the detector
//! learns from them; then recovery starts, goes on or ends, and the window grows.

mod counted_pipe;
pub(crate) mod doubt;
mod eifel;
mod f_rto;
mod facts;
mod fast_recovery;
mod flow_control;
mod limited_transmit;
mod min_rtt;
mod ncr;
mod path_mtu;
mod probe;
mod prr;
mod recovery;
mod response;
mod restart;
mod retransmissions;
mod rto;
mod scoreboard;
mod suspicion;
pub(crate) mod tcp_pr;
mod time_order;
mod timers;
mod transmit;
mod waiting;
pub(crate) mod wb_rto;

use unruffled_units::{Duration, Instant};

pub use counted_pipe::Pipe;
pub use fast_recovery::FastRecovery;
pub use limited_transmit::LimitedTransmit;
pub(crate) use recovery::RESTORE;
pub use retransmissions::Cause;
pub(crate) use transmit::Transmission;

use crate::Config;
use crate::control::{CongestionControl, Flow, Window};
use crate::detect::fixed::Fixed;
use crate::detect::{AckFacts, LossDetector, RackState, View};
use crate::observer::{Event, Observer};
use crate::timers::Timers;
use crate::variant::{Acks, Flavour, Reduction, Undo, Variant};
use counted_pipe::CountedPipe;
use doubt::Doubt;
use eifel::Eifel;
use f_rto::FRto;
use flow_control::FlowControl;
use limited_transmit::IdleWatch;
use min_rtt::MinRtt;
use ncr::Ncr;
use probe::Probe;
use prr::Prr;
use response::Before;
use retransmissions::Retransmissions;
use rto::Rto;
use scoreboard::{Scoreboard, SegNo};
use tcp_pr::TcpPr;

/// Where the sender stands towards loss. `point` is SND.NXT when the phase began: its
/// acknowledgement ends the phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing is held for lost; there may be holes.
    Open,
    /// Fast retransmit and fast recovery; `partial` once an acknowledgement below the point advanced.
    Recovery { point: u64, partial: bool },
    /// After a retransmission timeout.
    Loss { point: u64 },
}

/// An acknowledgement, in stream offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack<'a> {
    /// Cumulative: the first octet that is still expected.
    pub(crate) una: u64,
    /// SACK blocks above it.
    pub(crate) blocks: &'a [(u64, u64)],
    /// What was received twice.
    pub(crate) dsack: Option<(u64, u64)>,
    /// The first octet beyond the peer's window.
    pub(crate) window_end: u64,
    /// It repeats the last acknowledgement and carries nothing else.
    pub(crate) repeated: bool,
    /// It does so while data is outstanding (RFC 5681, section 2).
    pub(crate) duplicate: bool,
    /// A retransmission triggered it (in simulation).
    pub(crate) rtx: bool,
    /// No segment sent after this instant can have triggered it, by its timestamp's echo.
    pub(crate) echo: Option<Instant>,
}

/// The fixed parts of a sender.
#[derive(Clone, Copy, Debug)]
struct Parts {
    acks: Acks,
    undo: Undo,
    limited_transmit: LimitedTransmit,
    reduction: Reduction,
    pipe: Pipe,
    fast_recovery: FastRecovery,
    flavour: Flavour,
    enhanced_sampling: bool,
    grows_while_waiting: bool,
    probes: bool,
    initial_window: u32,
    restart_window: bool,
    segments_per_ack: u32,
}

/// The sending half.
#[derive(Debug)]
pub(crate) struct Sender {
    parts: Parts,
    mss: u32,
    max_cwnd: f64,
    byte_counting: u32,
    board: Scoreboard,
    /// SND.UNA and SND.NXT as stream offsets.
    una: u64,
    nxt: u64,
    /// First octet beyond the peer's window.
    window_end: u64,
    flow_control: FlowControl,
    /// First octet that the application has not written yet.
    written: u64,
    /// The application has written its last: a FIN follows, which takes one octet of the stream.
    finished: bool,
    window: Window,
    control: Box<dyn CongestionControl>,
    detector: Box<dyn LossDetector>,
    rto: Rto,
    min_rtt: MinRtt,
    latest_rtt: Option<Duration>,
    phase: Phase,
    retransmissions: Retransmissions,
    idle: IdleWatch,
    prr: Prr,
    /// Segments that PRR lets go now.
    prr_budget: u32,
    probe: Probe,
    /// Duplicate acknowledgements since the last new one, for peers without SACK.
    dupacks: u32,
    counted_pipe: CountedPipe,
    /// SND.NXT when the last loss was detected (RFC 6582).
    recover: Option<u64>,
    /// When a segment left last.
    last_sent: Option<Instant>,
    /// Fast retransmit's first segment goes out whatever the pipe holds.
    fast_retransmit_due: bool,
    /// HighRxt of RFC 6675: the highest segment resent by loss detection.
    high_rxt: SegNo,
    /// RescueRxt of RFC 6675: no rescue before more than this is acknowledged.
    rescued_to: u64,
    /// When the highest delivered segment was delivered.
    highest_at: Instant,
    eifel: Eifel,
    f_rto: FRto,
    /// What stood before a needless timeout whose round-trip time is still to be learnt from.
    adapt: Option<Before>,
    timers: Timers,
    /// The window that new data may fill while a hole waits, if the window itself grows meanwhile.
    held_window: Option<f64>,
    /// The time limit of the last rule applied, for observers.
    patience: Option<Duration>,
    /// TCP-NCR's state, for the senders that use it.
    ncr: Option<Ncr>,
    /// TCP-PR's machine, for the senders that live by it.
    tcp_pr: Option<Box<TcpPr>>,
    /// What was resent on suspicion, for the senders that do so.
    doubt: Option<Box<Doubt>>,
}

impl Sender {
    pub(crate) fn new(config: &Config, variant: &Variant) -> Self {
        let row = variant.row();
        let rtt_percentile = variant.values().find("rtt_percentile");
        Self {
            parts: Parts {
                acks: row.acks,
                undo: variant.undo(),
                limited_transmit: variant.limited_transmit(),
                reduction: row.reduction,
                pipe: config.pipe,
                fast_recovery: config.fast_recovery,
                flavour: row.flavour,
                enhanced_sampling: rtt_percentile.is_some(),
                grows_while_waiting: row.grows_while_waiting,
                probes: row.probes,
                initial_window: config.initial_window,
                restart_window: config.restart_window,
                segments_per_ack: config.segments_per_ack.max(1),
            },
            mss: config.mss,
            max_cwnd: config.max_cwnd.map_or(f64::INFINITY, f64::from),
            byte_counting: config.byte_counting,
            board: Scoreboard::new(),
            una: 0,
            nxt: 0,
            window_end: 0,
            flow_control: FlowControl::new(config.nagle),
            written: 0,
            finished: false,
            window: Window { cwnd: f64::from(config.initial_window), ssthresh: f64::INFINITY },
            control: variant.congestion_control(),
            detector: variant.detector(),
            rto: Rto::new(config.min_rto, config.max_rto, rtt_percentile)
                .doubtful_after(config.fast_recovery.doubts_rtt_after())
                .with_wb(variant.wb_rto(config)),
            min_rtt: MinRtt::default(),
            latest_rtt: None,
            phase: Phase::Open,
            retransmissions: Retransmissions::default(),
            idle: IdleWatch::default(),
            prr: Prr::default(),
            prr_budget: 0,
            probe: Probe::default(),
            dupacks: 0,
            counted_pipe: CountedPipe::default(),
            recover: None,
            last_sent: None,
            fast_retransmit_due: false,
            high_rxt: 0,
            rescued_to: 0,
            highest_at: Instant::ZERO,
            eifel: Eifel::new(variant.eifel()),
            f_rto: FRto::new(variant.f_rto()),
            adapt: None,
            timers: Timers::new(),
            held_window: None,
            patience: None,
            ncr: Ncr::new(variant.limited_transmit()),
            tcp_pr: variant.tcp_pr(config).map(Box::new),
            doubt: row.doubts.then(|| Box::new(Doubt::build(&variant.values()))),
        }
    }

    /// The peer turned out not to know SACK: recover as NewReno does. What works by SACK blocks alone
    /// gives way to RFC 5681: loss detection in time or by distance (RFC 8985, section 4), the tail
    /// loss probe (section 7) and the proportional reduction.
    pub(crate) fn without_sack(&mut self, now: Instant) {
        if self.parts.acks != Acks::Sack {
            return;
        }
        self.parts.acks = Acks::NewReno;
        let rule = self.detector.rule(&self.view(now));
        if rule.overdue.is_some() || rule.distance.is_some() {
            self.detector = Box::new(Fixed::standard());
            self.parts.probes = false;
            self.parts.reduction = Reduction::AtOnce;
        }
    }

    /// The application writes `octets` more.
    pub(crate) fn write(&mut self, octets: u64) {
        self.written = self.written.saturating_add(octets);
    }

    /// The application writes no more: a FIN follows the last octet.
    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }

    /// Whether the application writes no more.
    pub(crate) fn finished(&self) -> bool {
        self.finished
    }

    /// A round trip was timed outside the stream (by the handshake).
    pub(crate) fn sample_rtt(&mut self, rtt: Duration, now: Instant) {
        self.rto.sample(rtt, 1.0);
        self.min_rtt.sample(rtt, now);
        self.probe.on_rtt_sample();
        if let Some(pr) = &mut self.tcp_pr {
            pr.on_handshake(rtt);
        }
    }

    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// All that was written has been acknowledged, and the FIN if there is one.
    pub(crate) fn done(&self) -> bool {
        self.una == self.written + u64::from(self.finished)
    }

    pub(crate) fn window(&self) -> Window {
        self.window
    }

    pub(crate) fn pipe(&self) -> u32 {
        self.board.pipe()
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.tcp_pr.as_ref().map_or(self.rto.srtt(), |pr| pr.srtt())
    }

    /// None for TCP-PR, whose timer knows none.
    pub(crate) fn rttvar(&self) -> Option<Duration> {
        if self.tcp_pr.is_some() { None } else { self.rto.rttvar() }
    }

    pub(crate) fn rto(&self) -> Duration {
        self.tcp_pr_wait().unwrap_or_else(|| self.rto.current())
    }

    pub(crate) fn back_off(&mut self) {
        self.rto.back_off();
    }

    pub(crate) fn dupthresh(&self) -> Option<u32> {
        self.detector.dupthresh()
    }

    pub(crate) fn fa_ratio(&self) -> Option<f64> {
        self.detector.fa_ratio()
    }

    pub(crate) fn rack(&self) -> Option<RackState> {
        self.detector.rack()
    }

    /// An acceptable acknowledgement arrived: none before una, none beyond what was sent.
    pub(crate) fn on_ack(&mut self, ack: &Ack<'_>, now: Instant, observer: &mut impl Observer) {
        if self.tcp_pr.is_some() {
            return self.on_ack_by_tcp_pr(ack, now, observer);
        }
        let advanced = ack.una > self.una;
        let flight_before = self.board.outstanding();
        let pipe_before = self.board.outstanding() - self.board.sacked();
        let highest_before = self.board.highest_delivered();
        let delivery = self.read_into_scoreboard(ack, now);
        self.una = ack.una;
        self.window_end = ack.window_end;
        let arrived = self.count_dupacks(ack, &delivery, advanced);
        self.measure_rtt(&delivery, advanced, flight_before, now);
        self.measure_rtt_by_timestamp(ack, &delivery, advanced, flight_before, now);
        self.measure_reordering(ack, &delivery, highest_before, now, observer);
        if delivery.segments > 0 && self.board.highest_delivered() > highest_before {
            self.highest_at = now;
        }
        let facts = AckFacts {
            delivered: delivery.segments,
            sacked: delivery.sacked,
            advanced,
            dsack: ack.dsack.is_some(),
            reordered: delivery.reordered,
            latest_sent: delivery.latest_sent,
        };
        let view = self.view(now);
        self.detector.on_ack(&facts, &view);
        self.disprove_arrived(now, observer);
        if arrived > 0 {
            let flow = self.flow(now);
            self.control.on_delivered(arrived, &flow);
        }
        if let Some((left, right)) = ack.dsack {
            self.on_dsack(left, right, ack.rtx, highest_before, now, observer);
        }
        self.retransmissions.expire(now, self.dsack_horizon());

        let phase_before = self.phase;
        self.counted_pipe.on_ack(advanced);
        let reversed = self.detect_spurious(ack, &delivery, advanced, now, observer);
        if advanced {
            self.on_progress(now, observer);
        }
        self.end_round(delivery.latest_sent, now, observer);
        self.on_ack_by_ncr(ack, advanced, flight_before);
        if self.parts.probes {
            self.on_ack_of_probe(ack, now);
        }
        let newly_lost = self.detect_losses(ack, &delivery, now, observer);
        // The window grows on new acknowledgements outside fast recovery, and only while it is what
        // limits the sender (RFC 5681, section 3.1; RFC 7661).
        let window_was_full = flight_before >= self.window.cwnd as u32;
        if self.doubts() {
            let pipe_was_full = pipe_before >= self.window.cwnd as u32;
            self.grow_by_delivery(&delivery, pipe_was_full, phase_before, now);
        } else if advanced && !reversed && self.grows_after(phase_before) {
            if window_was_full {
                self.grow(delivery.passed, now);
            } else {
                let flow = self.flow(now);
                self.control.on_limited(&flow);
            }
        }
        self.grow_while_waiting(delivery.sacked, advanced, window_was_full, now);
        if matches!(self.phase, Phase::Recovery { .. }) {
            self.proportional_rate_reduction(&delivery, advanced && !newly_lost);
        }
        self.watch_idle(ack, &delivery, advanced, now);
        self.rearm_after_ack(advanced, delivery.segments > 0, now);
        self.tell_state(self.detector.dupthresh(), self.patience, now, observer);
    }

    /// The window was full, and `acked` segments were acknowledged.
    fn grow(&mut self, acked: u32, now: Instant) {
        // After a timeout an acknowledgement can cover what left the network long ago (RFC 3465,
        // section 2.3).
        let most = if self.phase == Phase::Open { self.byte_counting } else { 1 };
        let (counted, flow) = (acked.min(most), self.flow(now));
        self.control.grow(&mut self.window, acked, counted, &flow);
        self.window.cwnd = self.window.cwnd.min(self.max_cwnd);
    }

    /// Tells how the sender stands after an acknowledgement.
    #[inline]
    fn tell_state(
        &self,
        dupthresh: Option<u32>,
        patience: Option<Duration>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let Window { cwnd, ssthresh } = self.window;
        let (una, srtt) = (self.una, self.srtt());
        let event = Event::Acknowledged { una, cwnd, ssthresh, dupthresh, patience, srtt };
        observer.on_event(now, &event);
    }

    /// Segments in flight, without what limited transmit sent beyond cwnd.
    fn flight(&self) -> f64 {
        f64::from(self.board.outstanding()).min(self.window.cwnd)
    }

    fn flow(&self, now: Instant) -> Flow {
        let flight = match self.ncr.and_then(|ncr| ncr.flight_prev()) {
            // RFC 4653, section 3.4: ssthresh = cwnd = (FlightSizePrev / 2).
            Some(flight_prev) => flight_prev,
            None => self.flight(),
        };
        Flow { now, flight, srtt: self.rto.srtt(), min_rtt: self.min_rtt.get() }
    }

    fn view(&self, now: Instant) -> View {
        View {
            now,
            cwnd: self.window.cwnd,
            slow_start: self.window.slow_start(),
            flight: self.board.outstanding(),
            sacked: self.board.sacked(),
            srtt: self.rto.srtt(),
            latest_rtt: self.latest_rtt,
            min_rtt: self.min_rtt.get(),
            rto: self.rto.base(),
            recovering: self.phase != Phase::Open,
            una: self.una,
            nxt: self.nxt,
        }
    }
}
