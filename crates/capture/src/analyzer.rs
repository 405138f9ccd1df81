//! Conversations of a capture, in bounded memory: the least recently active ones are dropped first.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use foldhash::fast::RandomState;

use crate::analysis::{Analysis, DataTotals};
use crate::builder::AnalysisBuilder;
use crate::clock::ClockEstimator;
use crate::connection::TcpConnection;
use crate::conversation::Conversation;
use crate::decode::Decoder;
use crate::interface::DatagramCopies;
use crate::numbered::NumberedFlows;
use crate::packet::{Packet, SkipReason, Transport};
use crate::reader::Frame;
use crate::udp::UdpConversation;

/// Limits on what an analysis keeps in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Conversations followed at a time, at least one.
    pub connections: usize,
    /// Segments kept of one direction of a connection.
    pub segments: usize,
    /// Segments kept of all connections.
    pub all_segments: usize,
    /// Conversations of each transport in the result: those with the most octets.
    pub reported: usize,
    /// Dots of each kind kept for a drawing of one direction; 0 for no drawings. Each connection gets
    /// fewer if many are followed.
    pub dots: usize,
}

/// Dots of each kind kept of all connections together, approximately.
const TOTAL_DOTS: usize = 400_000;

/// Smallest number of dots of each kind that a connection gets.
const MIN_CONNECTION_DOTS: usize = 32;

/// Maximum number of packets kept until the resolution of the clock is known.
const MAX_WAITING_PACKETS: usize = 4096;

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 20_000,
            segments: 131_072,
            all_segments: 2_000_000,
            reported: 1000,
            dots: 0,
        }
    }
}

/// Analyzer of a capture's packets.
///
/// # Examples
///
/// An analyzer accepts packets from any source, not only from a capture file:
///
/// ```
/// use unruffled_capture::{Analyzer, Limits, Packet, Segment, Transport};
/// use unruffled_units::Instant;
///
/// let mut analyzer = Analyzer::new(Limits::default());
/// // Segment 2 of three is late.
/// for (ms, number) in [(0, 0), (1, 2), (2, 1)] {
///     let segment = Segment { seq: number * 1000, len: 1000, ..Segment::default() };
///     analyzer.packet(&Packet {
///         at: Instant::from_millis(ms),
///         from: ([192, 0, 2, 1], 4000).into(),
///         to: ([198, 51, 100, 1], 80).into(),
///         id: None,
///         ttl: 64,
///         interface: 0,
///         length: 1040,
///         transport: Transport::Tcp(segment),
///     });
/// }
/// let analysis = analyzer.finish();
/// let direction = &analysis.connections[0].directions[0];
/// assert_eq!(direction.traffic.segments, 3);
/// assert_eq!(direction.reordering_here.reordered, 1);
/// assert_eq!(direction.retransmissions.total, 0);
/// ```
#[derive(Debug)]
pub struct Analyzer {
    limits: Limits,
    places: HashMap<Key, usize, RandomState>,
    slots: Vec<Slot>,
    /// Places of unused slots.
    free: Vec<usize>,
    /// The most recently active conversation.
    newest: Option<usize>,
    /// The least recently active conversation.
    oldest: Option<usize>,
    /// Segments kept of all connections.
    segments_held: usize,
    decoder: Decoder,
    clock: ClockEstimator,
    /// The first packets, until the resolution of the clock is known.
    waiting: Vec<Packet>,
    numbered: NumberedFlows,
    datagram_copies: DatagramCopies,
    builder: AnalysisBuilder,
}

/// Both ends of a conversation, in an order that does not depend on the direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    is_tcp: bool,
    low: (u128, u16),
    high: (u128, u16),
}

impl Key {
    fn new(packet: &Packet) -> Self {
        let end = |end: SocketAddr| match end.ip() {
            IpAddr::V4(v4) => (v4.to_ipv6_mapped().to_bits(), end.port()),
            IpAddr::V6(v6) => (v6.to_bits(), end.port()),
        };
        let from = end(packet.from);
        let to = end(packet.to);
        let is_tcp = matches!(packet.transport, Transport::Tcp(_));
        Self { is_tcp, low: from.min(to), high: from.max(to) }
    }
}

/// A conversation, in a list by the time of its last packet.
#[derive(Debug)]
struct Slot {
    key: Key,
    conversation: Option<Conversation>,
    newer: Option<usize>,
    older: Option<usize>,
}

impl Analyzer {
    /// Creates an analyzer without packets.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            places: HashMap::default(),
            slots: Vec::new(),
            free: Vec::new(),
            newest: None,
            oldest: None,
            segments_held: 0,
            decoder: Decoder::default(),
            clock: ClockEstimator::default(),
            waiting: Vec::new(),
            numbered: NumberedFlows::default(),
            datagram_copies: DatagramCopies::default(),
            builder: AnalysisBuilder::new(limits.reported),
        }
    }

    /// Records a frame. Frames without TCP or UDP are counted and skipped.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        self.builder.frame(frame);
        let mut decoder = std::mem::take(&mut self.decoder);
        if let Err(reason) = decoder.decode(frame, &mut |packet| self.packet(packet)) {
            self.builder.skip(reason);
        }
        self.decoder = decoder;
    }

    /// Records a packet.
    pub fn packet(&mut self, packet: &Packet) {
        match packet.transport {
            Transport::Esp(_) => self.builder.skip(SkipReason::Protocol(50)),
            // The packet within follows as one of its own.
            Transport::Gre(_) => {}
            _ => self.builder.packet(packet),
        }
        self.clock.record(packet.at);
        if self.clock.is_known() || self.waiting.len() >= MAX_WAITING_PACKETS {
            if !self.waiting.is_empty() {
                self.follow_waiting();
            }
            self.follow(packet);
        } else {
            self.waiting.push(packet.clone());
        }
    }

    fn follow_waiting(&mut self) {
        std::mem::take(&mut self.waiting).iter().for_each(|packet| self.follow(packet));
    }

    /// Records a packet in its conversation.
    fn follow(&mut self, packet: &Packet) {
        let is_tcp = matches!(packet.transport, Transport::Tcp(_));
        let several_interfaces = self.builder.interfaces.are_several();
        let watched = several_interfaces || self.builder.frames() < MAX_WAITING_PACKETS as u64;
        if watched && !is_tcp && self.datagram_copies.has(packet) {
            self.builder.interfaces.copy(packet.interface);
            return;
        }
        self.numbered.packet(packet, self.clock.coarse_step());
        if matches!(packet.transport, Transport::Esp(_) | Transport::Gre(_)) {
            return;
        }
        let key = Key::new(packet);
        // Most packets belong to the same conversation as the one before.
        let newest = self.newest.filter(|&place| self.slots[place].key == key);
        let mut known = newest.or_else(|| self.places.get(&key).copied());
        if let (Some(place), Transport::Tcp(segment)) = (known, &packet.transport)
            && let Some(Conversation::Tcp(connection)) = &self.slots[place].conversation
            && connection.is_ended_by(packet, segment)
        {
            self.end(place);
            known = None;
        }
        let place = match known {
            Some(place) => place,
            None => self.begin(key, packet),
        };
        if self.newest != Some(place) {
            if known.is_some() {
                self.unlink(place);
            }
            self.link(place);
        }
        match (&mut self.slots[place].conversation, &packet.transport) {
            (Some(Conversation::Tcp(connection)), Transport::Tcp(segment)) => {
                let before = connection.segments_held();
                let copies = if several_interfaces { connection.copies() } else { 0 };
                let clock_step = self.clock.coarse_step();
                connection.packet(packet, segment, self.limits.segments, clock_step);
                self.segments_held = self.segments_held + connection.segments_held() - before;
                if several_interfaces && connection.copies() > copies {
                    self.builder.interfaces.copy(packet.interface);
                }
            }
            (Some(Conversation::Udp(udp)), Transport::Udp(datagram)) => {
                udp.packet(packet, datagram, self.clock.coarse_step());
            }
            _ => {}
        }
        while self.segments_held > self.limits.all_segments && self.oldest != Some(place) {
            let Some(oldest) = self.oldest else { break };
            self.builder.evict();
            self.end(oldest);
        }
    }

    /// Returns the frames with their octets, and the data of the connections that have ended.
    pub(crate) fn ended(&self) -> ((u64, u64), DataTotals) {
        self.builder.so_far()
    }

    /// Returns the conversations that are followed.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Conversation> {
        self.slots.iter().filter_map(|slot| slot.conversation.as_ref())
    }

    /// Ends all conversations and returns the analysis.
    pub fn finish(mut self) -> Analysis {
        self.follow_waiting();
        while let Some(oldest) = self.oldest {
            self.end(oldest);
        }
        self.builder.skip_fragments(self.decoder.incomplete_fragments());
        self.builder.finish(self.clock.coarse_step(), &self.numbered)
    }

    /// Begins the conversation of a packet; returns its place.
    fn begin(&mut self, key: Key, packet: &Packet) -> usize {
        if self.places.len() >= self.limits.connections.max(1)
            && let Some(oldest) = self.oldest
        {
            self.builder.evict();
            self.end(oldest);
        }
        let share = (TOTAL_DOTS / (self.places.len() + 1)).max(MIN_CONNECTION_DOTS);
        let dots = self.limits.dots.min(share);
        let conversation = match &packet.transport {
            Transport::Tcp(segment) => {
                Conversation::Tcp(Box::new(TcpConnection::new(packet, segment, dots)))
            }
            Transport::Udp(_) | Transport::Esp(_) | Transport::Gre(_) => {
                Conversation::Udp(Box::new(UdpConversation::new(packet)))
            }
        };
        let slot = Slot { key, conversation: Some(conversation), newer: None, older: None };
        let place = match self.free.pop() {
            Some(place) => {
                self.slots[place] = slot;
                place
            }
            None => {
                self.slots.push(slot);
                self.slots.len() - 1
            }
        };
        self.places.insert(key, place);
        place
    }

    /// Ends the conversation at `place` and adds it to the analysis.
    fn end(&mut self, place: usize) {
        self.unlink(place);
        self.places.remove(&self.slots[place].key);
        self.free.push(place);
        if let Some(conversation) = self.slots[place].conversation.take() {
            self.segments_held -= conversation.segments_held();
            self.builder.end(conversation);
        }
    }

    /// Makes `place` the most recently active.
    fn link(&mut self, place: usize) {
        let newest = self.newest.replace(place);
        self.slots[place].older = newest;
        self.slots[place].newer = None;
        match newest {
            Some(newest) => self.slots[newest].newer = Some(place),
            None => self.oldest = Some(place),
        }
    }

    /// Removes `place` from the list.
    fn unlink(&mut self, place: usize) {
        let newer = self.slots[place].newer.take();
        let older = self.slots[place].older.take();
        match newer {
            Some(newer) => self.slots[newer].older = older,
            None => self.newest = older,
        }
        match older {
            Some(older) => self.slots[older].newer = newer,
            None => self.oldest = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use unruffled_units::Instant;

    use super::*;
    use crate::packet::Segment;

    /// Returns an acknowledgement to the client at `port` of the segments before number `n`.
    fn acknowledgement(port: u16, n: u32) -> Packet {
        Packet {
            at: Instant::from_nanos(u64::from(n) * 1000),
            from: ([192, 0, 2, 1], 80).into(),
            to: ([192, 0, 2, 2], port).into(),
            id: None,
            ttl: 64,
            interface: 0,
            length: 40,
            transport: Transport::Tcp(Segment {
                ack: Some(n * 1460),
                window: 500,
                ..Segment::default()
            }),
        }
    }

    /// Data and its acknowledgements may take different paths.
    #[test]
    fn acknowledgements_alone_are_followed_in_bounded_memory() {
        let limits = Limits { segments: 100, ..Limits::default() };
        let mut analyzer = Analyzer::new(limits);
        for n in 0..10_000 {
            analyzer.packet(&acknowledgement(4000, n));
        }
        assert!(analyzer.segments_held <= limits.segments, "{}", analyzer.segments_held);
        let direction = &analyzer.finish().connections[0].directions[1];
        assert_eq!(direction.traffic.stream_bytes, 9_999 * 1460);
        // The size of segments is not known, so these are segments of Ethernet.
        assert_eq!(direction.losses.not_captured, 9_999);
    }

    #[test]
    fn the_oldest_connections_are_dropped_when_there_are_too_many_segments() {
        let mut analyzer = Analyzer::new(Limits { all_segments: 100, ..Limits::default() });
        for n in 0..=60 {
            analyzer.packet(&acknowledgement(4000, n));
        }
        for n in 0..=60 {
            analyzer.packet(&acknowledgement(4001, n));
        }
        let totals = analyzer.finish().totals;
        assert_eq!((totals.given_up, totals.tcp_connections), (1, 2));
    }

    /// Returns a SYN of the client on port 4000, `ms` milliseconds after the beginning.
    fn syn(ms: u64, seq: u32) -> Packet {
        let packet = acknowledgement(4000, 0);
        let segment = Segment { seq, syn: true, window: 500, ..Segment::default() };
        Packet {
            at: Instant::from_millis(ms),
            from: packet.to,
            to: packet.from,
            transport: Transport::Tcp(segment),
            ..packet
        }
    }

    /// Passes 1000 octets 100 ms after that SYN, and their acknowledgement.
    fn transfer(analyzer: &mut Analyzer, ms: u64, seq: u32) {
        let mut packet = syn(ms + 100, seq);
        let first = seq.wrapping_add(1);
        let segment = Segment { seq: first, len: 1000, ack: Some(1), ..Segment::default() };
        packet.transport = Transport::Tcp(segment);
        analyzer.packet(&packet);
        let mut answer = acknowledgement(4000, 0);
        answer.at = packet.at;
        let ack = Some(first.wrapping_add(1000));
        answer.transport =
            Transport::Tcp(Segment { seq: 1, ack, window: 500, ..Segment::default() });
        analyzer.packet(&answer);
    }

    fn octets(analyzer: Analyzer) -> Vec<u64> {
        let connections = analyzer.finish().connections;
        connections.iter().map(|found| found.directions[0].traffic.stream_bytes).collect()
    }

    /// A client may reuse its port, and many clients may share an address.
    #[test]
    fn a_syn_that_is_never_answered_does_not_hide_the_next_connection() {
        let mut analyzer = Analyzer::new(Limits::default());
        analyzer.packet(&syn(0, 100));
        analyzer.packet(&syn(3000, 3_000_000_000));
        transfer(&mut analyzer, 3000, 3_000_000_000);
        assert_eq!(octets(analyzer), [1000, 0]);
    }

    /// The capture lacks the end of the first connection.
    #[test]
    fn consecutive_connections_between_the_same_ports_are_separate() {
        let mut analyzer = Analyzer::new(Limits::default());
        for (ms, seq) in [(0, 100), (5000, 400_000_000)] {
            analyzer.packet(&syn(ms, seq));
            transfer(&mut analyzer, ms, seq);
        }
        assert_eq!(octets(analyzer), [1000, 1000]);
    }

    /// RFC 5961, section 4: a blind attacker's SYN does not end the connection.
    #[test]
    fn a_syn_within_a_connection_does_not_end_it() {
        let mut analyzer = Analyzer::new(Limits::default());
        analyzer.packet(&syn(0, 100));
        transfer(&mut analyzer, 0, 100);
        analyzer.packet(&syn(200, 7_000_000));
        transfer(&mut analyzer, 300, 1100);
        assert_eq!(octets(analyzer), [2000]);
    }
}
