//! The sender of a QUIC stack (RFC 9002): each transmission is a packet with a number of its own.
//!
//! Acknowledgements report packet numbers, so that the sender knows which transmission of a segment has
//! arrived. A lost retransmission is found as any other packet, and a spurious loss is known without DSACK.
//! A probe timeout takes the place of the retransmission timeout (section 6.2). The parts decide which
//! packets are lost, how the window grows and shrinks, and when it is restored.
//!
//! The numbers come from the simulator ([`Segment::packet`](crate::Segment::packet)). A peer without them
//! is acknowledged by octets, and then only probe timeouts find losses.

mod acknowledgement;
mod again;
mod cuts;
mod growth;
mod loss;
mod probe;
mod rate;
mod sent;
mod settings;
mod transmit;
mod undo;

use unruffled_units::{Duration, Instant};

pub(crate) use settings::{Composition, Recovery, Room};

use super::marks::Marks;
use super::reductions::Ledger;
use super::round_trips::RoundTrips;
use super::stream::{Renumbered, Stream};
use super::{Ack, Phase};
use crate::Config;
use crate::observer::{Event, Observer};
use crate::parts::Variable;
use crate::parts::control::{AnyControl, CongestionControl, Flow, Window};
use crate::parts::detect::{Detector, LossDetector, View};
use crate::parts::respond::packets::{Restoration, Undo};
use again::Again;
use cuts::Cuts;
use growth::Prr;
use rate::Rate;
use sent::{Sent, SentPackets};
use transmit::Burst;

/// Maximum of a receiver's delay of an acknowledgement (max_ack_delay; RFC 9000, section 18.2).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
/// kGranularity (RFC 9002, section 6.1.2).
const GRANULARITY: Duration = Duration::from_millis(1);
/// kMinimumWindow (section 7.2), in packets.
const MIN_WINDOW: f64 = 2.0;
/// The machine of a QUIC stack.
#[derive(Debug)]
pub(crate) struct Quic {
    sent: SentPackets,
    detector: Detector,
    restoration: Restoration,
    control: AnyControl,
    rules: Recovery,
    window: Window,
    max_cwnd: f64,
    cuts: Cuts,
    phase: Phase,
    /// Whether the peer has acknowledged packets by number.
    is_numbered: bool,
    /// Highest number acknowledged, and when that was.
    largest: u32,
    largest_at: Instant,
    /// Time of the last packet that must be acknowledged.
    last_sent: Instant,
    /// When the first packet in flight will be lost by time.
    loss_time: Instant,
    /// When a probe is due.
    probe_time: Instant,
    backoff: u32,
    /// Probes that may leave whatever the window.
    probes: u32,
    /// The present burst, and until when the next one waits, for stacks that pace.
    burst: Burst,
    /// Packets that proportional rate reduction permits beyond the window, for stacks that have it.
    prr: Prr,
    rate: Rate,
    /// Parts of packets acknowledged since the window last grew.
    counted: f64,
    /// Unused, but retransmissions are recorded in one.
    ledger: Ledger<()>,
    marks: Marks,
    /// Packets of the present acknowledgement; empty between two.
    acked: Vec<Sent>,
    spurious: Vec<Sent>,
    /// What is sent again whatever arrives meanwhile, for stacks that do so.
    again: Again,
    /// Segments of these, as runs of octets.
    blocks: Vec<(u64, u64)>,
}

impl Quic {
    pub(super) fn new(config: &Config, parts: &Composition) -> Self {
        let initial = parts.recovery.initial_window.unwrap_or(config.window.initial);
        Self {
            sent: SentPackets::default(),
            detector: (parts.detector)(config),
            restoration: (parts.restoration)(config),
            control: (parts.control)(config),
            rules: parts.recovery,
            window: Window { cwnd: f64::from(initial), ssthresh: f64::INFINITY },
            max_cwnd: config.window.max.map_or(f64::INFINITY, f64::from),
            cuts: Cuts::default(),
            phase: Phase::Open,
            is_numbered: false,
            largest: 0,
            largest_at: Instant::ZERO,
            last_sent: Instant::ZERO,
            loss_time: Instant::MAX,
            probe_time: Instant::MAX,
            backoff: 0,
            probes: 0,
            burst: Burst::default(),
            prr: Prr::default(),
            rate: Rate::default(),
            counted: 0.0,
            ledger: Ledger::default(),
            marks: Marks::default(),
            acked: Vec::new(),
            spurious: Vec::new(),
            again: Again::default(),
            blocks: Vec::new(),
        }
    }

    pub(super) fn take_cwr(&mut self) -> bool {
        self.marks.take_cwr()
    }

    pub(super) fn after_lost_syn(&mut self) {
        self.window.cwnd = MIN_WINDOW;
    }

    pub(super) fn table_octets(&self) -> usize {
        self.sent.octets()
            + (self.acked.capacity() + self.spurious.capacity()) * size_of::<Sent>()
            + self.blocks.capacity() * size_of::<(u64, u64)>()
            + self.again.octets()
    }

    /// Memory of an outstanding segment in the tables, in octets. A segment may be in several packets that
    /// are remembered.
    pub(super) const SEGMENT_OCTETS: usize =
        4 * (SentPackets::PACKET_OCTETS + size_of::<Sent>() + size_of::<(u64, u64)>());

    pub(super) fn shrink(&mut self) {
        self.sent.shrink();
        self.acked.shrink_to_fit();
        self.spurious.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.again.shrink();
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn handshake_timeout(&mut self, round_trips: &mut RoundTrips) -> Duration {
        round_trips.start_timeout(self.window.cwnd)
    }

    pub(super) fn dupthresh(&self) -> Option<u32> {
        self.detector.dupthresh()
    }

    pub(super) fn variables(&self, stream: &Stream, now: Instant, show: &mut dyn FnMut(Variable)) {
        self.detector.variables(&self.view(stream, now), show);
        self.control.variables(show);
    }

    /// Returns whether nothing is in flight or remembered, so that no acknowledgement matters.
    pub(super) fn settled(&self) -> bool {
        self.sent.in_flight() == 0 && self.sent.remembered() == 0
    }

    pub(super) fn next_timer(&self) -> Instant {
        // "The loss detection timer is set to the earliest loss time", and for a probe only without one.
        if self.loss_time == Instant::MAX { self.probe_time } else { self.loss_time }
    }

    /// Returns whether bursts are followed by pauses.
    pub(super) fn paces(&self) -> bool {
        self.rules.paces.is_some()
    }

    /// Returns when pacing permits what it holds back; the maximum if it holds nothing back.
    pub(super) fn paced_until(&self) -> Instant {
        if self.burst.waits { self.burst.next } else { Instant::MAX }
    }

    fn view(&self, stream: &Stream, now: Instant) -> View {
        View {
            now,
            cwnd: self.window.cwnd,
            slow_start: self.window.slow_start(),
            flight: (f64::from(self.sent.in_flight()) * self.rules.share) as u32,
            sacked: stream.board.sacked(),
            srtt: stream.round_trips.srtt(),
            latest_rtt: stream.round_trips.latest(),
            min_rtt: stream.min_rtt(),
            rto: stream.round_trips.base_rto(),
            recovering: self.phase != Phase::Open,
            una: stream.una(),
            nxt: stream.nxt(),
        }
    }

    /// The loss of a packet counts against the whole window (section 7.3.2), not against the flight.
    fn flow(&self, stream: &Stream, now: Instant) -> Flow {
        Flow {
            now,
            flight: self.window.cwnd,
            srtt: stream.round_trips.srtt(),
            min_rtt: stream.min_rtt(),
        }
    }

    pub(super) fn on_ack(
        &mut self,
        stream: &mut Stream,
        ack: Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        // ngtcp2 forgets by a timer, the others when an acknowledgement has been processed.
        let by_timer = self.restoration.undo == Undo::NoneLost;
        if by_timer {
            self.sent.forget(now - self.memory(stream));
        }
        let flight_before = self.flight(stream);
        let sample = self.take_ranges(stream, &ack);
        self.deliver(stream, &ack, now, observer);
        if let Some(sent) = sample {
            self.measure(stream, sent, ack.ack_delay, now);
        }
        self.adapt(stream, now, observer);
        let undo_before = self.restoration.undo != Undo::AllOfCut;
        if undo_before {
            self.undo(now, observer);
        }
        if !self.acked.is_empty() || !self.spurious.is_empty() {
            self.detect(stream, flight_before, now, observer);
        }
        if !undo_before {
            self.undo(now, observer);
        }
        self.grow(stream, flight_before, ack.ece, now);
        self.sample_rate(stream, now);
        if ack.ece {
            self.on_echo(stream, now, observer);
        }
        if !self.acked.is_empty() {
            self.backoff = 0;
            self.probes = 0;
        }
        self.acked.clear();
        self.spurious.clear();
        self.leave(observer, now);
        if !by_timer {
            self.sent.forget(now - self.memory(stream));
        }
        self.arm(stream, now);
        let Window { cwnd, ssthresh } = self.window;
        let rule = self.detector.rule(&self.view(stream, now));
        let event = Event::Acknowledged {
            una: stream.una(),
            cwnd,
            ssthresh,
            dupthresh: self.detector.dupthresh(),
            patience: rule.overdue.map(|overdue| overdue.wait),
            srtt: stream.round_trips.srtt(),
        };
        observer.on_event(now, &event);
    }

    /// Adapts the windows when packets become smaller by the factor `ratio`.
    pub(super) fn on_smaller_segments(&mut self, ratio: f64) {
        self.window.scale(ratio);
        self.control.on_smaller_segments(ratio);
        self.cuts.on_smaller_segments(ratio);
    }

    pub(super) fn on_split(&mut self, stream: &Stream, numbers: &Renumbered, now: Instant) {
        self.renumber(numbers);
        self.arm(stream, now);
    }

    fn renumber(&mut self, numbers: &Renumbered) {
        self.sent.renumber(|segment| numbers.first(segment));
    }
}
