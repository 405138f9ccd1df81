//! The monitor of a recording: one flow, its packets, and the queues of the links.

use std::collections::BTreeMap;

use unruffled_measure::{Crossing, End, FlowId, LinkId, Monitor, PacketId, PacketStep, Passage};
use unruffled_scenario::Scenario;
use unruffled_tcp::{Cause, Event, Segment, SeqNr, Unit, Variable};
use unruffled_units::{Duration, Instant};

use super::curves::{CurveInfo, Curves};
use super::events::{EventColumns, EventKind, EventLog};
use super::packets::{Packet, PacketColumns, PacketKind, PacketLog};
use super::ranges::Ranges;

/// Intervals in which goodput is measured.
const GOODPUT_INTERVALS: u64 = 200;

/// Numbers of the curves that every sender has.
#[derive(Clone, Copy, Debug)]
struct Usual {
    cwnd: usize,
    ssthresh: usize,
    dupthresh: usize,
    patience: usize,
    srtt: usize,
    flight: usize,
    goodput: usize,
}

/// Monitor of one flow.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    /// Source of the flow, and the latest flow of that source.
    source: u32,
    flow: Option<FlowId>,
    mss: f64,
    wants_packets: bool,
    window: (Instant, Instant),
    /// Initial sequence numbers of the sender and the receiver.
    origins: [Option<SeqNr>; 2],
    /// First octet that is not acknowledged, and octet after the last that was sent.
    una: u64,
    nxt: u64,
    /// Octets above `una` that were SACKed, and those that have arrived at the receiver.
    sacked: Ranges,
    arrived: Ranges,
    /// Last transmission that the sender reported, whose segment follows.
    sent: Option<(u64, u32)>,
    /// Numbers of retransmissions by first octet.
    resent: BTreeMap<u64, u8>,
    /// Data packet that arrived last at the receiver.
    newest: Option<u64>,
    /// Octets delivered in the current interval, and its number.
    delivered: (u64, u64),
    interval: Duration,
    usual: Usual,
    queues: Vec<usize>,
    curves: Curves,
    events: EventLog,
    packets: PacketLog,
}

impl Probe {
    /// Creates the monitor of the first compared flow.
    pub(super) fn new(
        scenario: &Scenario,
        window: (Instant, Instant),
        until: Instant,
        points: u32,
        wants_packets: bool,
    ) -> Self {
        let length = until.since(Instant::ZERO);
        let mut curves = Curves::new(length, points);
        let mut open = |name: &str, label: &str, unit, step| {
            curves.open(CurveInfo { name: name.to_owned(), label: label.to_owned(), unit, step })
        };
        let usual = Usual {
            cwnd: open("cwnd", "congestion window", "segments", true),
            ssthresh: open("ssthresh", "slow-start threshold", "segments", true),
            dupthresh: open("dupthresh", "duplicate threshold", "segments", true),
            patience: open("patience", "time until a segment counts as lost", "ms", true),
            srtt: open("srtt", "smoothed round-trip time", "ms", true),
            flight: open("flight", "in flight", "segments", true),
            goodput: open("goodput", "goodput", "Mb/s", true),
        };
        let links = scenario.network.links.iter();
        let names = links.flat_map(|link| link.directions().iter().map(|&way| link.name_of(way)));
        let queues = names.map(|name| {
            open(&format!("queue:{name}"), &format!("queue of {name}"), "packets", true)
        });
        let queues = queues.collect();
        Self {
            source: scenario.first_compared(),
            flow: None,
            mss: f64::from(scenario.sender.mss),
            wants_packets,
            window,
            origins: [None; 2],
            una: 0,
            nxt: 0,
            sacked: Ranges::default(),
            arrived: Ranges::default(),
            sent: None,
            resent: BTreeMap::new(),
            newest: None,
            delivered: (0, 0),
            interval: (length / GOODPUT_INTERVALS).max(Duration::from_nanos(1)),
            usual,
            queues,
            curves,
            events: EventLog::new(window),
            packets: PacketLog::new(window),
        }
    }

    /// Returns the latest flow of the source, if there was one.
    pub(super) fn flow(&self) -> Option<FlowId> {
        self.flow
    }

    pub(super) fn window(&self) -> (Instant, Instant) {
        self.window
    }

    pub(super) fn is_truncated(&self) -> bool {
        self.events.truncated || self.packets.truncated
    }

    pub(super) fn curves(&self) -> &Curves {
        &self.curves
    }

    pub(super) fn events(&self) -> EventColumns {
        let (_, index) = self.packets.columns();
        self.events.columns(|number| index.get(&number).copied())
    }

    pub(super) fn packets(&self) -> PacketColumns {
        self.packets.columns().0
    }

    /// Adds the values of the sender's variables at `now`.
    pub(super) fn variables(&mut self, now: Instant, variables: &[Variable]) {
        for variable in variables {
            let (factor, unit) = match variable.unit {
                Unit::Fraction => (100.0, "%"),
                Unit::Segments => (1.0, "segments"),
                Unit::Time => (1000.0, "ms"),
                Unit::Windows => (1.0, "windows"),
                Unit::Number | Unit::Choice(_) => (1.0, ""),
                // A unit that is added later.
                #[allow(unreachable_patterns)]
                _ => (1.0, ""),
            };
            let curve = self.curves.open(CurveInfo {
                name: format!("var:{}", variable.name),
                label: variable.name.replace('_', " "),
                unit,
                step: true,
            });
            self.curves.add(curve, now, variable.value * factor);
        }
    }

    /// Returns the octet of the sender's stream with this sequence number.
    fn octet(&self, number: SeqNr, near: u64) -> Option<u64> {
        number.unwrap(self.origins[0]?.add(1), near)
    }

    /// Handles a segment that leaves `end`.
    fn leaves(&mut self, end: End, now: Instant, segment: &Segment) {
        if segment.flags.syn {
            self.origins[end.index()] = Some(segment.seq);
        }
        let is_control = segment.flags.syn || segment.flags.fin || segment.flags.rst;
        let sent = self.sent.take();
        let packet = match (end, sent) {
            (End::Sender, Some((offset, len))) if segment.len > 0 => {
                let octets = (offset, offset + u64::from(len));
                let mut packet = Packet::new(PacketKind::Data, true, octets, now);
                packet.copy = self.resent.get(&offset).copied().unwrap_or(0);
                packet
            }
            (End::Receiver, _) if !is_control && segment.len == 0 => {
                let to = self.octet(segment.ack, self.una).unwrap_or(0);
                let mut packet = Packet::new(PacketKind::Acknowledgement, false, (to, to), now);
                packet.answers = self.newest;
                packet.sacks = self.blocks(segment, to);
                packet
            }
            _ => Packet::new(PacketKind::Other, end == End::Sender, (0, 0), now),
        };
        let is_data = packet.kind == PacketKind::Data;
        let is_known = is_data && self.arrived.contains(packet.from, packet.to);
        if self.wants_packets
            && let Some(number) = self.packets.leaves(packet, is_known)
            && is_data
        {
            self.events.set_packet(number);
        }
    }

    /// Returns the SACK blocks of a segment as octets of the stream.
    fn blocks(&self, segment: &Segment, near: u64) -> Vec<(u64, u64)> {
        let blocks = segment.sack.as_slice().iter();
        let octets = blocks.filter_map(|block| {
            Some((self.octet(block.left, near)?, self.octet(block.right, near)?))
        });
        octets.filter(|(left, right)| left < right).collect()
    }

    /// Handles an acknowledgement that reaches the sender, before the sender does.
    fn acknowledges(&mut self, now: Instant, segment: &Segment) {
        if !segment.flags.ack || segment.flags.syn {
            return;
        }
        let Some(ack) = self.octet(segment.ack, self.una) else { return };
        if self.wants_packets {
            self.packets.acknowledged(now, 0, ack);
        }
        let blocks = self.blocks(segment, ack);
        for (at, &(left, right)) in blocks.iter().enumerate() {
            // RFC 2883, section 4: the first block is a DSACK if it is below the acknowledgement or within
            // the second.
            let within = |of: &(u64, u64)| of.0 <= left && right <= of.1;
            let is_dsack = at == 0 && (right <= ack || blocks.get(1).is_some_and(within));
            if is_dsack {
                self.events.add(now, EventKind::Dsacked, (left, right), None);
                continue;
            }
            for (from, to) in self.sacked.add(left, right) {
                self.events.add(now, EventKind::Sacked, (from, to), None);
            }
            if self.wants_packets {
                self.packets.acknowledged(now, left, right);
            }
        }
    }

    /// Handles an event of the sender.
    fn sender_event(&mut self, now: Instant, event: &Event) {
        let Usual { cwnd: window, ssthresh: threshold, dupthresh: dupthreshs, .. } = self.usual;
        match *event {
            Event::Sent { offset, len, cause } => {
                self.sent = Some((offset, len));
                if len == 0 {
                    return;
                }
                let end = offset + u64::from(len);
                self.nxt = self.nxt.max(end);
                let kind = match cause {
                    None => EventKind::Sent,
                    Some(Cause::Timeout) => EventKind::RetransmittedByTimeout,
                    Some(Cause::Probe) => EventKind::Probe,
                    Some(_) => EventKind::Retransmitted,
                };
                // A probe may be new data.
                if cause.is_some() {
                    let copies = self.resent.entry(offset).or_default();
                    *copies = copies.saturating_add(1);
                }
                self.events.add(now, kind, (offset, end), None);
            }
            Event::Acknowledged { una, cwnd, ssthresh, dupthresh, patience, srtt } => {
                if una > self.una {
                    self.events.add(now, EventKind::Acknowledged, (self.una, una), None);
                    self.una = una;
                    self.sacked.remove_below(una);
                    self.resent = self.resent.split_off(&una);
                }
                self.curves.add(window, now, cwnd);
                self.curves.add(threshold, now, ssthresh);
                if let Some(dupthresh) = dupthresh {
                    self.curves.add(dupthreshs, now, f64::from(dupthresh));
                }
                if let Some(patience) = patience {
                    self.curves.add(self.usual.patience, now, patience.as_millis_f64());
                }
                if let Some(srtt) = srtt {
                    self.curves.add(self.usual.srtt, now, srtt.as_millis_f64());
                }
                let flight = self.nxt.saturating_sub(self.una) as f64 / self.mss;
                self.curves.add(self.usual.flight, now, flight);
            }
            Event::Timeout { cwnd } => {
                self.curves.add(window, now, cwnd);
                self.mark(now, EventKind::Timeout);
            }
            Event::EcnReduction { cwnd } => {
                self.curves.add(window, now, cwnd);
                self.mark(now, EventKind::EcnReduction);
            }
            Event::Reordered { length, delay } => {
                let values = (f64::from(length), delay.as_secs_f64());
                self.events.add_values(now, EventKind::Reordered, values, None);
            }
            Event::SpuriousRetransmission { offset, .. } => self.events.spurious(offset),
            Event::FastRetransmit => self.mark(now, EventKind::FastRetransmit),
            Event::Recovered => self.mark(now, EventKind::Recovered),
            Event::SpuriousReduction { .. } => self.mark(now, EventKind::SpuriousReduction),
            _ => {}
        }
    }

    /// Adds an event without octets, at SND.UNA.
    fn mark(&mut self, now: Instant, kind: EventKind) {
        self.events.add(now, kind, (self.una, self.una), None);
    }

    /// Handles an event of the receiver.
    fn receiver_event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Arrived { offset, len, duplicate } => {
                let octets = (offset, offset + u64::from(len));
                let kind = match duplicate {
                    true => EventKind::ArrivedDuplicate,
                    false => EventKind::Arrived,
                };
                self.arrived.add(octets.0, octets.1);
                self.events.add(now, kind, octets, self.packets.delivering());
            }
            Event::Delivered { len } => {
                self.count_goodput(now);
                self.delivered.0 += len;
            }
            _ => {}
        }
    }

    /// Closes the intervals of goodput that are over.
    fn count_goodput(&mut self, now: Instant) {
        let current = now.as_nanos() / self.interval.as_nanos();
        let (octets, interval) = self.delivered;
        if current == interval {
            return;
        }
        let begin = |interval: u64| Instant::ZERO + self.interval * interval;
        let mbps = octets as f64 * 8e-6 / self.interval.as_secs_f64();
        let (begun, over) = (begin(interval), begin(interval + 1));
        self.curves.add(self.usual.goodput, begun, mbps);
        if current > interval + 1 {
            self.curves.add(self.usual.goodput, over, 0.0);
        }
        self.delivered = (0, current);
    }
}

impl Monitor for Probe {
    fn opened(&mut self, flow: FlowId, source: u32, _now: Instant) {
        if source != self.source {
            return;
        }
        self.flow = Some(flow);
        self.origins = [None; 2];
        (self.una, self.nxt) = (0, 0);
        self.sacked = Ranges::default();
        self.arrived = Ranges::default();
        self.resent.clear();
        self.newest = None;
        self.packets.restart();
    }

    fn closed(&mut self, flow: FlowId, _now: Instant) {
        if self.flow == Some(flow) {
            self.flow = None;
        }
    }

    fn event(&mut self, flow: FlowId, end: End, now: Instant, event: &Event) {
        if self.flow != Some(flow) {
            return;
        }
        match end {
            End::Sender => self.sender_event(now, event),
            End::Receiver => self.receiver_event(now, event),
        }
    }

    fn segment(
        &mut self,
        flow: FlowId,
        end: End,
        passage: Passage,
        now: Instant,
        segment: &Segment,
    ) {
        if self.flow != Some(flow) {
            return;
        }
        match (passage, end) {
            (Passage::Out, _) => self.leaves(end, now, segment),
            (Passage::In, End::Sender) => self.acknowledges(now, segment),
            (Passage::In, End::Receiver) if segment.len > 0 => {
                self.newest = self.packets.delivering();
            }
            (Passage::In, End::Receiver) => {}
        }
    }

    fn crossed(&mut self, link: LinkId, crossing: &Crossing<'_>) {
        if let Some(&queue) = self.queues.get(link.0 as usize) {
            self.curves.add(queue, crossing.at, crossing.backlog as f64);
        }
        if self.wants_packets {
            self.packets.crossed(link, crossing);
        }
    }

    fn stepped(&mut self, packet: PacketId, now: Instant, step: PacketStep) {
        if self.wants_packets {
            self.packets.stepped(packet, now, step);
        }
    }
}
