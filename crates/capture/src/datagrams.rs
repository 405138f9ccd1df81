//! UDP between two ends, and what QUIC shows to those who cannot decrypt it: its version, the round
//! trip of its handshake, and the spin bit.

use std::net::SocketAddr;

use unruffled_units::{Duration, Instant};

use crate::lateness::Spans;
use crate::packet::{Datagram, Packet};

/// Datagrams between two ends.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) first: Instant,
    pub(crate) last: Instant,
    pub(crate) ways: [Way; 2],
    /// QUIC's version, once a long header named one.
    pub(crate) version: Option<u32>,
    handshake: [Option<Instant>; 2],
    pub(crate) opening: Option<Duration>,
}

/// Datagrams one way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    pub(crate) datagrams: u64,
    pub(crate) payload: u64,
    pub(crate) largest: u32,
    last: Option<Instant>,
    /// The longest time without a datagram of this way.
    pub(crate) longest_gap: Duration,
    short_headers: u64,
    spin: Option<bool>,
    edge: Option<Instant>,
    edges: u64,
    spins: Spans,
}

impl Way {
    /// The spin bit's round trips, unless it is left to chance or does not move (RFC 9000, section
    /// 17.4: an endpoint may disable it).
    pub(crate) fn spin(&self) -> Option<&Spans> {
        (self.edges >= 3 && self.edges * 4 < self.short_headers).then_some(&self.spins)
    }
}

/// Versions of QUIC: 1 (RFC 9000), 2 (RFC 9369) and the drafts before them.
fn is_quic(version: u32) -> bool {
    matches!(version, 1 | 0x6b33_43cf) || version >> 8 == 0x00ff_0000
}

impl Datagrams {
    pub(crate) fn new(packet: &Packet) -> Self {
        Self {
            ends: [packet.from, packet.to],
            first: packet.at,
            last: packet.at,
            ways: Default::default(),
            version: None,
            handshake: [None; 2],
            opening: None,
        }
    }

    pub(crate) fn packet(&mut self, packet: &Packet, datagram: &Datagram) {
        let from = usize::from(packet.from != self.ends[0]);
        self.last = self.last.max(packet.at);
        let way = &mut self.ways[from];
        way.datagrams += 1;
        way.payload += u64::from(datagram.len);
        way.largest = way.largest.max(datagram.len);
        if let Some(last) = way.last.replace(packet.at) {
            way.longest_gap = way.longest_gap.max(packet.at.since(last));
        }
        let head = &datagram.head[..usize::from(datagram.captured)];
        match head {
            // A long header (RFC 9000, section 17.2).
            [first, a, b, c, d, ..] if first & 0xc0 == 0xc0 => {
                let version = u32::from_be_bytes([*a, *b, *c, *d]);
                if is_quic(version) {
                    self.version = Some(version);
                }
            }
            // A short one (section 17.3).
            [first, ..] if first & 0xc0 == 0x40 && self.version.is_some() => {
                way.spin_bit(first & 0x20 != 0, packet.at);
            }
            _ => {}
        }
        if self.version.is_some() {
            self.settle_handshake(from, packet.at);
        }
    }

    /// The first there, the first back, and the next there.
    fn settle_handshake(&mut self, from: usize, now: Instant) {
        match (self.handshake, from) {
            ([None, _], 0) => self.handshake[0] = Some(now),
            ([Some(_), None], 1) => self.handshake[1] = Some(now),
            ([Some(sent), Some(_)], 0) if self.opening.is_none() => {
                self.opening = Some(now.since(sent));
            }
            _ => {}
        }
    }
}

impl Way {
    /// An edge of the spin bit comes once per round trip.
    fn spin_bit(&mut self, spin: bool, now: Instant) {
        self.short_headers += 1;
        if self.spin.replace(spin).is_some_and(|before| before != spin) {
            self.edges += 1;
            if let Some(edge) = self.edge.replace(now) {
                self.spins.record(now.since(edge));
            }
        }
    }
}
