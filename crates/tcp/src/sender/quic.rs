//! The sender of a QUIC stack (RFC 9002): each transmission is a packet with a number of its own.
//!
//! Acknowledgements report packet numbers, so that the sender knows which transmission of a segment has
//! arrived. A lost retransmission is found as any other packet, and a spurious loss is known without DSACK.
//! A probe timeout takes the place of the retransmission timeout (section 6.2). The parts decide which
//! packets are lost, how the window grows and shrinks, and when it is restored.
//!
//! The numbers come from the simulator ([`Segment::packet`](crate::Segment::packet)). A peer without them
//! is acknowledged by octets, and then only probe timeouts find losses.

mod again;
mod cuts;
mod rate;
mod sent;
mod settings;

use unruffled_units::{Duration, Instant};

pub(crate) use settings::{Composition, Recovery, Room};

use super::marks::Marks;
use super::reductions::Ledger;
use super::round_trips::RoundTrips;
use super::stream::{Entry, Renumbered, Retransmission, SegNo, Stream, Transmission};
use super::{Ack, Phase};
use crate::Config;
use crate::observer::{Cause, Event, Observer};
use crate::parts::Variable;
use crate::parts::control::{AnyControl, CongestionControl, Flow, RoundTripSample, Window};
use crate::parts::detect::{Detector, LossDetector, Rule, SpuriousLoss, View};
use crate::parts::respond::packets::{Restoration, Undo};
use again::Again;
use cuts::{Cuts, Prior};
use rate::Rate;
use sent::{Sent, SentPackets};

/// Maximum of a receiver's delay of an acknowledgement (max_ack_delay; RFC 9000, section 18.2).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
/// kGranularity (RFC 9002, section 6.1.2).
const GRANULARITY: Duration = Duration::from_millis(1);
/// kPersistentCongestionThreshold (section 7.6.1).
const PERSISTENT: u64 = 3;
/// kMinimumWindow (section 7.2), in packets.
const MIN_WINDOW: f64 = 2.0;
/// Packets of a probe timeout (section 6.2.4: "MAY send up to two").
const PROBES: u32 = 2;
/// Maximum number of doublings of the probe timeout.
const MAX_BACKOFF: u32 = 16;
/// Rate of pacing, in windows per round trip (section 7.7: N of 1.25).
const PACING_GAIN: f64 = 1.25;
/// Packets by which the flight may fall short of a window that grows, as a burst.
const BURST: f64 = 3.0;

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

/// The part of the stream that a packet carries.
#[derive(Clone, Copy, Debug)]
struct Carried {
    segment: SegNo,
    start: u64,
    len: u32,
}

impl Carried {
    /// Returns what a packet with this outstanding segment carries.
    fn by(stream: &Stream, segment: SegNo) -> Self {
        let &Entry { start, len, .. } = stream.board.entry(segment);
        Self { segment, start, len }
    }
}

/// Packets that left together.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    at: Instant,
    packets: f64,
    /// When the next burst may leave.
    next: Instant,
    /// Whether it held back a packet.
    waits: bool,
}

/// Proportional rate reduction (RFC 6937), counted in packets.
#[derive(Clone, Copy, Debug, Default)]
struct Prr {
    delivered: f64,
    flight: f64,
    out: f64,
    more: f64,
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

    /// Returns the probe timeout without backoff (section 6.2.1).
    fn probe_timeout(stream: &Stream) -> Duration {
        let estimates = stream.round_trips.estimates();
        match (estimates.srtt, estimates.rttvar) {
            (Some(srtt), Some(rttvar)) => srtt + (rttvar * 4).max(GRANULARITY) + MAX_ACK_DELAY,
            _ => estimates.rto,
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

    fn memory(&self, stream: &Stream) -> Duration {
        let srtt = stream.round_trips.srtt().unwrap_or(GRANULARITY);
        self.restoration.memory(srtt, Self::probe_timeout(stream))
    }

    /// Takes the packets that an acknowledgement covers for the first time. Returns the time of transmission
    /// of the highest, if that is the highest number acknowledged and so measures the round trip (section
    /// 5.1).
    fn take_ranges(&mut self, stream: &Stream, ack: &Ack<'_>) -> Option<Instant> {
        let Self { acked, spurious, sent, .. } = self;
        let mut take = |packet: Sent| match packet.cut {
            None => acked.push(packet),
            Some(_) => spurious.push(packet),
        };
        let end = stream.last_packet().saturating_add(1);
        let plausible = |block: &&crate::SackBlock| block.right.0 <= end && block.left.0 > 0;
        let mut highest = 0;
        for block in ack.packets.iter().filter(plausible) {
            sent.acknowledge(block.left.0, block.right.0, &mut take);
            highest = highest.max(block.right.0 - 1);
        }
        if highest == 0 && ack.una > stream.una() {
            // The peer has no packet numbers.
            let below = stream.board.covered_by(ack.una);
            sent.acknowledge_segments(below, &mut take);
            highest = acked.iter().map(|packet| packet.number).max().unwrap_or(0);
        }
        acked.sort_unstable_by_key(|packet| packet.number);
        spurious.sort_unstable_by_key(|packet| packet.number);
        let newest = acked.last().filter(|packet| packet.number == highest);
        newest.map(|packet| packet.sent)
    }

    /// Passes the segments of these packets to the stream.
    fn deliver(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        for &Sent { segment, start, len, .. } in &self.spurious {
            // It was sent again, unless its turn had not come.
            let waits = self.rules.cancels
                && !stream.board.is_delivered(segment)
                && stream.board.entry(segment).is_lost();
            if !waits {
                let event = Event::SpuriousRetransmission { offset: start, len };
                observer.on_event(now, &event);
            }
        }
        self.blocks.clear();
        for packet in self.acked.iter().chain(&self.spurious) {
            self.blocks.push((packet.start, packet.start + u64::from(packet.len)));
        }
        let una = if self.rules.cancels { self.known_una(stream, ack) } else { ack.una };
        let blocks = &self.blocks;
        let read = stream.acknowledge(&Ack { una, blocks, dsack: None, ..*ack }, now, |_| None);
        if read.advanced {
            stream.round_trips.on_progress(self.window.cwnd);
        }
        stream.expire_retransmissions(now, |_| Duration::ZERO);
    }

    /// Returns the end of what is known to have arrived in order. A QUIC acknowledgement reports packets, so
    /// that the data of one that is forgotten has to be sent again although it has arrived.
    fn known_una(&self, stream: &Stream, ack: &Ack<'_>) -> u64 {
        if ack.packets.is_empty() {
            return ack.una;
        }
        let board = &stream.board;
        let mut una = stream.una();
        for segment in board.first()..board.end() {
            let &Entry { start, len, .. } = board.entry(segment);
            let end = start + u64::from(len);
            let reported = |&(left, right): &(u64, u64)| left <= start && end <= right;
            if !board.is_delivered(segment) && !self.blocks.iter().any(reported) {
                break;
            }
            una = end;
        }
        una
    }

    /// Takes a round-trip time. The receiver's delay counts in latest_rtt alone, unless the rest would be
    /// below the minimum (section 5.3).
    fn measure(&mut self, stream: &mut Stream, sent: Instant, delay: Duration, now: Instant) {
        let rtt = now.since(sent);
        stream.min_rtt.sample(rtt, now);
        let least = stream.min_rtt().unwrap_or_default();
        let delay = delay.min(MAX_ACK_DELAY);
        let adjusted = if rtt >= least + delay { rtt - delay } else { rtt };
        let una = stream.una();
        stream.round_trips.measure(adjusted, una, 1);
        stream.round_trips.set_latest(rtt);
        if self.control.measures_round_trips() {
            let sample = RoundTripSample { now, rtt, una, nxt: stream.nxt() };
            self.control.on_round_trip(&sample, &mut self.window);
        }
    }

    /// Reports late packets, and lets the detector adapt to those that were deemed lost.
    fn adapt(&mut self, stream: &Stream, now: Instant, observer: &mut impl Observer) {
        let highest = self.acked.last().map_or(0, |packet| packet.number);
        let newest = self.largest.max(highest);
        for packet in self.acked.iter().chain(&self.spurious) {
            if packet.number < self.largest {
                let length = self.largest - packet.number;
                let delay = now.since(self.largest_at);
                observer.on_event(now, &Event::Reordered { length, delay });
            }
        }
        let view = self.view(stream, now);
        for packet in &self.spurious {
            let packets = newest.saturating_sub(packet.number);
            let loss = SpuriousLoss { packets, sent: packet.sent };
            self.detector.on_spurious_loss(loss, &view);
        }
        if highest > self.largest {
            self.largest = highest;
            self.largest_at = now;
        }
        for packet in &self.spurious {
            if packet.cut.is_some_and(|cut| self.cuts.count_spurious(cut)) {
                let cause = Cause::FastRetransmit;
                observer.on_event(now, &Event::SpuriousReduction { cause });
            }
        }
    }

    /// Restores the window if the spurious losses of this acknowledgement are the evidence for it.
    fn undo(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.spurious.is_empty() {
            return;
        }
        match self.restoration.undo {
            Undo::Never => {}
            Undo::Any => {
                let prior = self.cuts.roll_back(self.window);
                self.reinstate(prior);
            }
            Undo::NoneLost if self.sent.remembered() == 0 => {
                let prior = self.cuts.restore(self.window);
                self.reinstate(prior);
            }
            Undo::NoneLost => {}
            Undo::AllOfCut => {
                for at in 0..self.spurious.len() {
                    let prior = self.cuts.on_spurious(self.spurious[at].number, self.window);
                    self.reinstate(prior);
                }
            }
        }
        self.leave(observer, now);
    }

    fn reinstate(&mut self, prior: Option<Prior>) {
        if let Some(Prior { window, control, .. }) = prior {
            self.control.on_undo(&self.window, &control);
            self.window = window;
        }
    }

    /// Deems packets lost (section 6.1), and reduces the window for those that were sent after it was last
    /// reduced. `flight` is what was in flight before.
    fn detect(
        &mut self,
        stream: &mut Stream,
        flight: f64,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        self.loss_time = Instant::MAX;
        let rule = self.detector.rule(&self.view(stream, now));
        let limit = self.memory_limit(&rule);
        let mut run: Option<(Sent, Sent)> = None;
        let mut persistent = false;
        let lost = self.cuts.lost();
        let period = Self::probe_timeout(stream) * PERSISTENT;
        while let Some(packet) = self.sent.first_in_flight() {
            if packet.number > self.largest {
                break;
            }
            let due = rule.overdue.map_or(Instant::MAX, |overdue| packet.sent + overdue.wait);
            let behind = self.largest - packet.number;
            if due > now && rule.distance.is_none_or(|distance| behind < distance) {
                self.loss_time = due;
                break;
            }
            if !self.cuts.covers(packet.number) {
                self.reduce(stream, flight, lost, now, observer);
            }
            self.cuts.count(packet.number);
            self.sent.lose(packet.number, self.cuts.id(), limit, now);
            self.lose_segment(stream, &packet);
            run = match run {
                Some((first, last)) if last.number + 1 == packet.number => Some((first, packet)),
                _ => Some((packet, packet)),
            };
            let span = run.map_or(Duration::ZERO, |(first, last)| last.sent.since(first.sent));
            persistent |= span > period;
        }
        if persistent && self.rules.persistent_congestion {
            self.window.cwnd = MIN_WINDOW;
            self.cuts.end();
        }
    }

    /// Returns how many lost packets are remembered. ngtcp2 remembers as many as its packet threshold.
    fn memory_limit(&self, rule: &Rule) -> u32 {
        let limit = self.restoration.remembered_packets;
        match self.restoration.undo {
            Undo::NoneLost => rule.distance.map_or(limit, |distance| limit.min(distance)),
            _ => limit,
        }
    }

    /// Plans to send the octets of a lost packet again. A stack that cancels does so through the scoreboard,
    /// unless another packet delivered them.
    fn lose_segment(&mut self, stream: &mut Stream, packet: &Sent) {
        let &Sent { segment, start, len, .. } = packet;
        if !self.rules.cancels {
            self.again.add(start, len, matches!(self.rules.room, Room::Cut { .. }));
        } else if !stream.board.is_delivered(segment) && !stream.board.entry(segment).is_lost() {
            stream.board.mark_lost(segment);
        }
    }

    /// Reduces the window once for the packets sent so far.
    fn reduce(
        &mut self,
        stream: &Stream,
        flight: f64,
        lost: u32,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        observer.on_event(now, &Event::FastRetransmit);
        let (window, control) = (self.window, self.control.snapshot());
        self.cuts.begin(&self.restoration, stream.last_packet(), lost, window, control, now);
        self.shrink_window(stream, flight, now);
        self.marks.on_loss(stream.nxt());
        self.phase = Phase::Recovery { point: stream.nxt(), partial: false };
    }

    fn shrink_window(&mut self, stream: &Stream, flight: f64, now: Instant) {
        let flow = self.flow(stream, now);
        let ssthresh = self.control.on_loss(&self.window, false, &flow).max(MIN_WINDOW);
        self.window = Window { cwnd: ssthresh, ssthresh };
        self.prr = Prr { flight, ..Prr::default() };
    }

    /// Responds to ECE as to a loss, once for each window of data (section 7.1).
    fn on_echo(&mut self, stream: &Stream, now: Instant, observer: &mut impl Observer) {
        if self.marks.are_answered(stream.una()) {
            return;
        }
        self.shrink_window(stream, self.flight(stream), now);
        self.marks.on_mark(stream.nxt());
        let cwnd = self.window.cwnd;
        observer.on_event(now, &Event::EcnReduction { cwnd });
    }

    /// Grows the window by each packet that was sent after the window was last reduced.
    fn grow(&mut self, stream: &Stream, flight_before: f64, marked: bool, now: Instant) {
        let mut flow = self.flow(stream, now);
        if !self.acked.is_empty() && self.control.counts_deliveries() {
            self.control.on_delivered(self.acked.len() as u32, &flow);
        }
        // What was in flight when the acknowledgement came, without what it showed to be lost.
        let octets = self.acked.iter().map(|packet| u64::from(packet.len)).sum();
        let pipe = self.flight(stream) + self.part(stream, octets, self.acked.len() as u32);
        for at in 0..self.acked.len() {
            let packet = self.acked[at];
            if self.cuts.covers(packet.number) {
                self.on_delivered_in_recovery(stream, packet.len, pipe);
                continue;
            }
            let Window { cwnd, .. } = self.window;
            let slow = self.window.slow_start() && flight_before > cwnd / 2.0;
            let unused = self.rules.grows_unused;
            if marked || !(unused || slow || flight_before + BURST >= cwnd) {
                self.control.on_limited(&flow);
                continue;
            }
            if self.cuts.is_small(&self.restoration, cwnd)
                && let Some(prior) = self.cuts.roll_back(self.window)
            {
                self.reinstate(Some(prior));
                continue;
            }
            flow.flight = self.window.cwnd;
            let part = self.part(stream, packet.len.into(), 1);
            if self.control.grow_by_packet(&mut self.window, part, &flow) {
                self.window.cwnd = self.window.cwnd.min(self.max_cwnd);
                continue;
            }
            // Octets count (section 7.3): of packets that are cut, only full ones in sum.
            self.counted += part;
            if self.counted >= 1.0 {
                self.counted -= 1.0;
                self.control.grow(&mut self.window, 1, 1, &flow);
            }
            self.window.cwnd = self.window.cwnd.min(self.max_cwnd);
        }
    }

    /// Passes the rate of delivery to the control.
    fn sample_rate(&mut self, stream: &Stream, now: Instant) {
        let Self { spurious, acked, rate, .. } = self;
        for packet in spurious.iter().chain(acked.iter()) {
            rate.on_acknowledged(&packet.before, packet.len, packet.sent, now);
        }
        if let Some(octets) = rate.sample(stream.min_rtt()) {
            let segments = octets * self.rules.share / f64::from(stream.mss());
            self.control.on_delivery_rate(segments, &self.flow(stream, now));
        }
    }

    /// Lets proportional rate reduction permit packets (RFC 6937, section 3), if the stack has it.
    fn on_delivered_in_recovery(&mut self, stream: &Stream, octets: u32, pipe: f64) {
        if !self.rules.prr {
            return;
        }
        let part = self.part(stream, octets.into(), 1);
        let Prr { delivered, flight, out, .. } = &mut self.prr;
        *delivered += part;
        let ssthresh = self.window.ssthresh;
        self.prr.more = if pipe > ssthresh {
            if *flight > 0.0 { *delivered * ssthresh / *flight - *out } else { 0.0 }
        } else {
            (ssthresh - pipe).min((*delivered - *out).max(part) + 1.0)
        }
        .max(0.0);
    }

    /// Ends the recovery once a packet sent after its beginning was acknowledged.
    fn leave(&mut self, observer: &mut impl Observer, now: Instant) {
        if self.phase != Phase::Open && !self.cuts.covers(self.largest) {
            self.phase = Phase::Open;
            observer.on_event(now, &Event::Recovered);
        }
    }

    /// Sets the timer of the next probe.
    fn arm(&mut self, stream: &Stream, now: Instant) {
        if !stream.outstanding() {
            self.probe_time = Instant::MAX;
            return;
        }
        let timeout = Self::probe_timeout(stream) * (1 << self.backoff.min(MAX_BACKOFF));
        self.probe_time = (self.last_sent + timeout).max(now + GRANULARITY);
    }

    pub(super) fn on_timers(
        &mut self,
        stream: &mut Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if self.loss_time <= now {
            self.detect(stream, self.flight(stream), now, observer);
            self.arm(stream, now);
            return;
        }
        if self.probe_time > now {
            return;
        }
        if stream.board.outstanding() == stream.board.sacked() && stream.board.reneged() {
            // The receiver has discarded what it had acknowledged.
            if let Some(numbers) = stream.discard_sacks() {
                self.renumber(&numbers);
            }
            stream.board.mark_all_lost();
        }
        self.backoff += 1;
        self.probes = self.backoff.min(PROBES);
        let cwnd = self.window.cwnd;
        observer.on_event(now, &Event::Timeout { cwnd });
        self.arm(stream, now);
        self.probe_time = self.probe_time.max(now + Self::probe_timeout(stream));
    }

    /// Returns the next packet to send.
    pub(super) fn poll(&mut self, stream: &mut Stream, now: Instant) -> Option<Transmission> {
        self.burst.waits = false;
        let (carried, transmission) = if self.probes > 0 {
            self.probes -= 1;
            self.probe(stream, now)?
        } else {
            let room = self.room(stream)?;
            self.burst.waits = self
                .rules
                .paces
                .is_some_and(|early| now + early < self.burst.next && now != self.burst.at);
            if self.burst.waits {
                return None;
            }
            self.next(stream, room, now)?
        };
        self.pace(stream, now);
        let part = self.part(stream, u64::from(carried.len), 1);
        self.prr.out += part;
        self.prr.more = (self.prr.more - part).max(0.0);
        self.on_sent(stream, carried, now);
        Some(transmission)
    }

    /// Counts a packet of a burst.
    fn pace(&mut self, stream: &Stream, now: Instant) {
        let Some(srtt) = stream.round_trips.srtt().filter(|_| self.rules.paces.is_some()) else {
            return;
        };
        if self.burst.at != now {
            self.burst = Burst { at: now, ..Burst::default() };
        }
        self.burst.packets += self.rules.share;
        self.burst.next = now + srtt.mul_f64(self.burst.packets / (PACING_GAIN * self.window.cwnd));
    }

    /// Returns `octets` in `packets`, with their headers, as a number of full packets.
    fn part(&self, stream: &Stream, octets: u64, packets: u32) -> f64 {
        let header = match self.rules.room {
            Room::Cut { header, .. } => f64::from(header),
            Room::Any => 0.0,
        };
        let full = f64::from(stream.mss()) + header;
        (octets as f64 + f64::from(packets) * header) * self.rules.share / full
    }

    /// Returns what is in flight as a number of full packets.
    fn flight(&self, stream: &Stream) -> f64 {
        self.part(stream, self.sent.octets_in_flight(), self.sent.in_flight())
    }

    /// Returns the maximum number of octets of a packet that may leave now.
    fn room(&self, stream: &Stream) -> Option<u64> {
        let more = (self.window.cwnd - self.flight(stream)).max(0.0) + self.prr.more;
        match self.rules.room {
            Room::Any => (more > 0.0).then_some(u64::MAX),
            Room::Cut { header, least } => {
                let octets = more * f64::from(stream.mss() + header);
                let enough = octets >= f64::from(least);
                enough.then(|| (octets as u64).saturating_sub(u64::from(header)).max(1))
            }
        }
    }

    fn on_sent(&mut self, stream: &Stream, carried: Carried, now: Instant) {
        let number = stream.last_packet();
        let Carried { segment, start, len } = carried;
        let before = self.rate.on_sent(self.sent.in_flight() == 0, now);
        self.sent.push(Sent { number, segment, start, len, sent: now, before, cut: None });
        if self.rules.recovers_by_time {
            self.cuts.on_sent(number, now);
        }
        self.last_sent = now;
        self.arm(stream, now);
    }

    /// Sends what was lost, or else a new segment with at most `room` octets.
    fn next(
        &mut self,
        stream: &mut Stream,
        room: u64,
        now: Instant,
    ) -> Option<(Carried, Transmission)> {
        if let Some((start, len)) = self.again.take(room.min(stream.mss().into())) {
            let transmission = stream.send_again(start, len, now);
            return Some((Carried { segment: stream.board.first(), start, len }, transmission));
        }
        if let Some(segment) = stream.board.next_lost() {
            return Some(self.resend(stream, segment, Cause::FastRetransmit, now));
        }
        let segment = stream.board.end();
        let len = stream.next_new()?.min(room);
        let transmission = stream.push_new(len, now);
        Some((Carried::by(stream, segment), transmission))
    }

    /// Sends a probe (section 6.2.4): a lost segment, or else the oldest one that is not acknowledged.
    fn probe(&mut self, stream: &mut Stream, now: Instant) -> Option<(Carried, Transmission)> {
        if !self.rules.cancels {
            if let Some(packet) = self.sent.first_in_flight().filter(|_| self.again.is_empty()) {
                self.again.add(packet.start, packet.len, false);
            }
            return self.next(stream, u64::MAX, now);
        }
        let oldest = self.sent.first_in_flight().map(|packet| packet.segment);
        let oldest = oldest.filter(|&segment| !stream.board.is_delivered(segment));
        match stream.board.next_lost().or(oldest) {
            Some(segment) => Some(self.resend(stream, segment, Cause::Probe, now)),
            None => self.next(stream, u64::MAX, now),
        }
    }

    fn resend(
        &mut self,
        stream: &mut Stream,
        segment: SegNo,
        cause: Cause,
        now: Instant,
    ) -> (Carried, Transmission) {
        let retransmission = Retransmission { under: None, suspected: false };
        let carried = Carried::by(stream, segment);
        (carried, stream.retransmit(segment, cause, retransmission, &mut self.ledger, now))
    }

    /// Sends the next `len` octets, whatever the window.
    pub(super) fn send_new(&mut self, stream: &mut Stream, len: u64, now: Instant) -> Transmission {
        let segment = stream.board.end();
        let transmission = stream.push_new(len, now);
        self.on_sent(stream, Carried::by(stream, segment), now);
        transmission
    }

    /// Records that the peer accepted the octet of a window probe, which was sent at `sent`.
    pub(super) fn on_window_probe_accepted(&mut self, stream: &Stream, sent: Instant) {
        self.on_sent(stream, Carried::by(stream, stream.board.end() - 1), sent);
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
