//! All that speak in a capture: at most so many at a time, the least recently heard going first.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use crate::analysis::{Analysis, Gathered};
use crate::clock::Clock;
use crate::connection::Talk;
use crate::datagrams::Datagrams;
use crate::decode::decode;
use crate::packet::{Packet, Transport};
use crate::reader::Frame;
use crate::speakers::Speakers;

/// What an analysis may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections that are followed at a time.
    pub connections: usize,
    /// Segments that are remembered of one direction.
    pub segments: usize,
    /// Segments that are remembered of all.
    pub all_segments: usize,
    /// Connections that are told one by one: those with the most octets.
    pub told: usize,
    /// Dots of each kind that are kept for a drawing of one direction; 0 for no drawings. Where many
    /// connections are followed, each gets fewer.
    pub dots: usize,
}

/// Dots of each kind that are kept of all connections together, about.
const ALL_DOTS: usize = 400_000;

/// The minimum that a connection gets.
const FEW_DOTS: usize = 32;

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 20_000,
            segments: 131_072,
            all_segments: 2_000_000,
            told: 1000,
            dots: 0,
        }
    }
}

/// Follows the connections of a capture.
#[derive(Debug)]
pub struct Analyzer {
    limits: Limits,
    places: HashMap<Key, usize>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    /// The most and the least recently heard.
    newest: Option<usize>,
    oldest: Option<usize>,
    remembered: usize,
    clock: Clock,
    /// The first packets, until it is known how coarse the clock is.
    waiting: Vec<Packet>,
    gathered: Gathered,
}

/// So many packets wait until the clock is known.
const WAITING: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    tcp: bool,
    low: (u128, u16),
    high: (u128, u16),
}

impl Key {
    fn new(packet: &Packet) -> Self {
        let end = |end: SocketAddr| match end.ip() {
            IpAddr::V4(v4) => (v4.to_ipv6_mapped().to_bits(), end.port()),
            IpAddr::V6(v6) => (v6.to_bits(), end.port()),
        };
        let (from, to) = (end(packet.from), end(packet.to));
        let tcp = matches!(packet.transport, Transport::Tcp(_));
        Self { tcp, low: from.min(to), high: from.max(to) }
    }
}

#[derive(Debug)]
struct Slot {
    key: Key,
    speakers: Option<Speakers>,
    newer: Option<usize>,
    older: Option<usize>,
}

impl Analyzer {
    /// Nothing has been heard yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            places: HashMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            newest: None,
            oldest: None,
            remembered: 0,
            clock: Clock::default(),
            waiting: Vec::new(),
            gathered: Gathered::new(limits.told),
        }
    }

    /// Takes in one frame.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        self.gathered.frame(frame);
        match decode(frame) {
            Ok(packet) => self.packet(&packet),
            Err(reason) => self.gathered.skip(reason),
        }
    }

    /// Takes in one packet.
    pub fn packet(&mut self, packet: &Packet) {
        self.gathered.packet(packet);
        self.clock.pass(packet.at);
        if self.clock.is_known() || self.waiting.len() >= WAITING {
            self.take_waiting();
            self.follow(packet);
        } else {
            self.waiting.push(packet.clone());
        }
    }

    fn take_waiting(&mut self) {
        std::mem::take(&mut self.waiting).iter().for_each(|packet| self.follow(packet));
    }

    /// Follows the connection that a packet belongs to.
    fn follow(&mut self, packet: &Packet) {
        let key = Key::new(packet);
        let mut at = self.places.get(&key).copied();
        if let (Some(place), Transport::Tcp(segment)) = (at, &packet.transport)
            && let Some(Speakers::Tcp(talk)) = &self.slots[place].speakers
            && talk.is_over(packet, segment)
        {
            self.end(place);
            at = None;
        }
        let place = match at {
            Some(place) => {
                self.unlink(place);
                place
            }
            None => self.begin(key, packet),
        };
        self.link(place);
        match (&mut self.slots[place].speakers, &packet.transport) {
            (Some(Speakers::Tcp(talk)), Transport::Tcp(segment)) => {
                let before = talk.remembered();
                talk.packet(packet, segment, self.limits.segments, self.clock.tick());
                self.remembered = self.remembered + talk.remembered() - before;
            }
            (Some(Speakers::Udp(datagrams)), Transport::Udp(datagram)) => {
                datagrams.packet(packet, datagram);
            }
            _ => {}
        }
        while self.remembered > self.limits.all_segments && self.oldest != Some(place) {
            let Some(oldest) = self.oldest else { break };
            self.gathered.evicted();
            self.end(oldest);
        }
    }

    /// The end of the capture.
    pub fn finish(mut self) -> Analysis {
        self.take_waiting();
        while let Some(oldest) = self.oldest {
            self.end(oldest);
        }
        self.gathered.finish(self.clock.tick())
    }

    fn begin(&mut self, key: Key, packet: &Packet) -> usize {
        if self.places.len() >= self.limits.connections.max(1)
            && let Some(oldest) = self.oldest
        {
            self.gathered.evicted();
            self.end(oldest);
        }
        let share = (ALL_DOTS / (self.places.len() + 1)).max(FEW_DOTS);
        let dots = self.limits.dots.min(share);
        let speakers = match &packet.transport {
            Transport::Tcp(segment) => Speakers::Tcp(Box::new(Talk::new(packet, segment, dots))),
            Transport::Udp(_) => Speakers::Udp(Box::new(Datagrams::new(packet))),
        };
        let slot = Slot { key, speakers: Some(speakers), newer: None, older: None };
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

    fn end(&mut self, place: usize) {
        self.unlink(place);
        self.places.remove(&self.slots[place].key);
        self.free.push(place);
        if let Some(speakers) = self.slots[place].speakers.take() {
            if let Speakers::Tcp(talk) = &speakers {
                self.remembered -= talk.remembered();
            }
            self.gathered.end(speakers);
        }
    }

    /// Makes `place` the most recently heard.
    fn link(&mut self, place: usize) {
        let newest = self.newest.replace(place);
        (self.slots[place].older, self.slots[place].newer) = (newest, None);
        match newest {
            Some(newest) => self.slots[newest].newer = Some(place),
            None => self.oldest = Some(place),
        }
    }

    /// Takes `place` out of the order.
    fn unlink(&mut self, place: usize) {
        let (newer, older) = (self.slots[place].newer.take(), self.slots[place].older.take());
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

    /// To a client at `port`, of the segments before number `n`.
    fn acknowledgement(port: u16, n: u32) -> Packet {
        Packet {
            at: Instant::from_nanos(u64::from(n) * 1000),
            from: ([192, 0, 2, 1], 80).into(),
            to: ([192, 0, 2, 2], port).into(),
            id: None,
            ttl: 64,
            length: 40,
            transport: Transport::Tcp(Segment {
                ack: Some(n * 1460),
                window: 500,
                ..Segment::default()
            }),
        }
    }

    /// As where data takes another way than its acknowledgements.
    #[test]
    fn acknowledgements_alone_are_followed_in_bounded_memory() {
        let limits = Limits { segments: 100, ..Limits::default() };
        let mut analyzer = Analyzer::new(limits);
        for n in 0..10_000 {
            analyzer.packet(&acknowledgement(4000, n));
        }
        assert!(analyzer.remembered <= limits.segments, "{}", analyzer.remembered);
        let direction = &analyzer.finish().connections[0].directions[1];
        assert_eq!(direction.traffic.stream_bytes, 9_999 * 1460);
        // In segments of Ethernet, since nobody said how large they are.
        assert_eq!(direction.losses.not_captured, 9_999);
    }

    #[test]
    fn connections_that_make_room_for_the_segments_of_others_are_given_up() {
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

    /// A SYN of the client on port 4000, `ms` after the beginning.
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

    /// A thousand octets behind that SYN, 100 ms later, and their acknowledgement.
    fn transfer(analyzer: &mut Analyzer, ms: u64, seq: u32) {
        let mut packet = syn(ms + 100, seq);
        let (first, at) = (seq.wrapping_add(1), packet.at);
        let segment = Segment { seq: first, len: 1000, ack: Some(1), ..Segment::default() };
        packet.transport = Transport::Tcp(segment);
        analyzer.packet(&packet);
        let mut answer = acknowledgement(4000, 0);
        answer.at = at;
        let ack = Some(first.wrapping_add(1000));
        answer.transport =
            Transport::Tcp(Segment { seq: 1, ack, window: 500, ..Segment::default() });
        analyzer.packet(&answer);
    }

    fn octets(analyzer: Analyzer) -> Vec<u64> {
        let connections = analyzer.finish().connections;
        connections.iter().map(|found| found.directions[0].traffic.stream_bytes).collect()
    }

    /// As of a bound port, or of many clients behind one address.
    #[test]
    fn a_syn_that_nobody_answered_does_not_hide_the_next_connection() {
        let mut analyzer = Analyzer::new(Limits::default());
        analyzer.packet(&syn(0, 100));
        analyzer.packet(&syn(3000, 3_000_000_000));
        transfer(&mut analyzer, 3000, 3_000_000_000);
        assert_eq!(octets(analyzer), [1000, 0]);
    }

    /// The capture lacks the end of the first.
    #[test]
    fn two_connections_between_the_same_ports_are_two() {
        let mut analyzer = Analyzer::new(Limits::default());
        for (ms, seq) in [(0, 100), (5000, 400_000_000)] {
            analyzer.packet(&syn(ms, seq));
            transfer(&mut analyzer, ms, seq);
        }
        assert_eq!(octets(analyzer), [1000, 1000]);
    }

    /// RFC 5961, section 4: somebody guesses, and the connection goes on.
    #[test]
    fn a_syn_in_the_middle_of_a_connection_ends_nothing() {
        let mut analyzer = Analyzer::new(Limits::default());
        analyzer.packet(&syn(0, 100));
        transfer(&mut analyzer, 0, 100);
        analyzer.packet(&syn(200, 7_000_000));
        transfer(&mut analyzer, 300, 1100);
        assert_eq!(octets(analyzer), [2000]);
    }
}
