//! UDP between two ends. QUIC shows its version, the round trip of its handshake, and the spin bit without
//! decryption; a tunnel shows the numbers of its packets.

use std::net::SocketAddr;

use unruffled_units::{Duration, Instant};

use crate::analysis::UdpPair;
use crate::histogram::DurationHistogram;
use crate::packet::{Datagram, Packet};
use crate::reordering::Reordering;
use crate::skipped::SkipCounters;
use crate::tunnel::{Tunnel, TunnelStream};

/// QUIC version 1 (RFC 9000).
const QUIC_V1: u32 = 1;

/// QUIC version 2 (RFC 9369).
const QUIC_V2: u32 = 0x6b33_43cf;

/// Edges of the spin bit below which it does not measure round trips.
const MIN_SPIN_EDGES: u64 = 3;

/// Smallest number of packets per edge of the spin bit. A random bit has more edges.
const MIN_PACKETS_PER_EDGE: u64 = 4;

/// Datagrams between two ends.
#[derive(Clone, Debug)]
pub(crate) struct UdpConversation {
    ends: [SocketAddr; 2],
    first: Instant,
    last: Instant,
    directions: [UdpDirection; 2],
    /// QUIC version, once a long header has named one.
    version: Option<u32>,
    handshake: Handshake,
}

/// Packets that measure the round trip of QUIC's handshake.
#[derive(Clone, Copy, Debug, Default)]
struct Handshake {
    /// The client's first packet.
    client: Option<Instant>,
    /// The server's first packet after that.
    server: Option<Instant>,
    rtt: Option<Duration>,
}

/// Datagrams in one direction.
#[derive(Clone, Debug, Default)]
struct UdpDirection {
    datagrams: u64,
    payload: u64,
    largest: u32,
    last: Option<Instant>,
    /// Longest time without a datagram in this direction.
    longest_gap: Duration,
    spin: SpinBit,
    /// The tunnel that its datagrams look like.
    tunnel: Option<Box<TunnelStream>>,
}

/// The spin bit of one end (RFC 9000, section 17.4).
#[derive(Clone, Debug, Default)]
struct SpinBit {
    short_headers: u64,
    value: Option<bool>,
    last_edge: Option<Instant>,
    edges: u64,
    round_trips: DurationHistogram,
}

impl SpinBit {
    /// Records a short header. The bit has one edge per round trip.
    fn record(&mut self, value: bool, now: Instant) {
        self.short_headers += 1;
        if self.value.replace(value).is_some_and(|before| before != value) {
            self.edges += 1;
            if let Some(edge) = self.last_edge.replace(now) {
                self.round_trips.record(now.since(edge));
            }
        }
    }

    /// Returns the round trips, unless the end has disabled the bit: it is then constant or random.
    fn round_trips(&self) -> Option<&DurationHistogram> {
        let spins =
            self.edges >= MIN_SPIN_EDGES && self.edges * MIN_PACKETS_PER_EDGE < self.short_headers;
        spins.then_some(&self.round_trips)
    }
}

/// Returns whether `version` is one of QUIC: 1, 2 or one of the drafts before them.
fn is_quic(version: u32) -> bool {
    matches!(version, QUIC_V1 | QUIC_V2) || version >> 8 == 0x00ff_0000
}

impl UdpConversation {
    pub(crate) fn new(packet: &Packet) -> Self {
        Self {
            ends: [packet.from, packet.to],
            first: packet.at,
            last: packet.at,
            directions: Default::default(),
            version: None,
            handshake: Handshake::default(),
        }
    }

    /// Records a datagram in a capture with a clock of that step, if it is coarse.
    pub(crate) fn packet(&mut self, packet: &Packet, datagram: &Datagram, clock_step: Duration) {
        let from = usize::from(packet.from != self.ends[0]);
        self.last = self.last.max(packet.at);
        let direction = &mut self.directions[from];
        direction.datagrams += 1;
        direction.payload += u64::from(datagram.len);
        direction.largest = direction.largest.max(datagram.len);
        if let Some(last) = direction.last.replace(packet.at) {
            direction.longest_gap = direction.longest_gap.max(packet.at.since(last));
        }
        if let Some(found) = datagram.tunnel {
            let stream = direction.tunnel.get_or_insert_with(|| Box::new(TunnelStream::new(found)));
            stream.record(found, packet.at, clock_step);
        }
        match &datagram.head[..usize::from(datagram.captured)] {
            // A long header (RFC 9000, section 17.2).
            [first, a, b, c, d, ..] if first & 0xc0 == 0xc0 => {
                let version = u32::from_be_bytes([*a, *b, *c, *d]);
                if is_quic(version) {
                    self.version = Some(version);
                }
            }
            // A short header (section 17.3).
            [first, ..] if first & 0xc0 == 0x40 && self.version.is_some() => {
                direction.spin.record(first & 0x20 != 0, packet.at);
            }
            _ => {}
        }
        if self.version.is_some() {
            self.handshake.record(from, packet.at);
        }
    }

    /// Counts the datagrams whose contents are encrypted.
    pub(crate) fn add_to(&self, skipped: &mut SkipCounters) {
        for direction in &self.directions {
            if self.version.is_some() {
                skipped.quic(direction.datagrams);
            } else if let Some(tunnel) = direction.tunnel() {
                skipped.tunnel(tunnel, direction.datagrams);
            }
        }
    }

    /// Returns the octets of payload in both directions.
    pub(crate) fn payload(&self) -> u64 {
        self.directions.iter().map(|direction| direction.payload).sum()
    }

    /// Returns the summary of the conversation in a capture that begins at `start`.
    pub(crate) fn summary(&self, start: Instant) -> UdpPair {
        let [client, server] = &self.directions;
        let is_quic = self.version.is_some();
        let tunnel = [client, server].into_iter().find_map(UdpDirection::tunnel);
        let version = self.version.map(|version| match version {
            QUIC_V1 => "1".to_owned(),
            QUIC_V2 => "2".to_owned(),
            other => format!("{other:08x}"),
        });
        UdpPair {
            client: self.ends[0],
            server: self.ends[1],
            start_s: self.first.since(start).as_secs_f64(),
            duration_s: self.last.since(self.first).as_secs_f64(),
            quic_version: version,
            tunnel: tunnel.filter(|_| !is_quic),
            tunnel_reordering: [client, server]
                .map(|direction| direction.tunnel_reordering().filter(|_| !is_quic)),
            handshake_rtt_ms: self.handshake.rtt.map(Duration::as_millis_f64),
            datagrams: [client.datagrams, server.datagrams],
            payload_bytes: [client.payload, server.payload],
            largest: [client.largest, server.largest],
            longest_gap_s: [client, server].map(|direction| direction.longest_gap.as_secs_f64()),
            spin_rtt: [client, server]
                .map(|direction| direction.spin.round_trips().and_then(DurationHistogram::summary)),
        }
    }
}

impl UdpDirection {
    /// Returns the tunnel that carries its datagrams.
    fn tunnel(&self) -> Option<Tunnel> {
        self.tunnel.as_ref()?.tunnel(self.datagrams)
    }

    /// Returns the reordering of the tunnel's packets.
    fn tunnel_reordering(&self) -> Option<Reordering> {
        self.tunnel()?;
        self.tunnel.as_ref().map(|stream| stream.reordering())
    }
}

impl Handshake {
    /// Records a packet: the round trip ends with the client's first packet after the server's.
    fn record(&mut self, from: usize, now: Instant) {
        match (self.client, self.server, from) {
            (None, _, 0) => self.client = Some(now),
            (Some(_), None, 1) => self.server = Some(now),
            (Some(sent), Some(_), 0) if self.rtt.is_none() => self.rtt = Some(now.since(sent)),
            _ => {}
        }
    }
}
