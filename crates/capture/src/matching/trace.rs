//! Packets of a capture, kept to be matched with those of another capture.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _};
use std::net::SocketAddr;

use foldhash::fast::{FixedState, RandomState};
use unruffled_units::Instant;

use crate::decode::Decoder;
use crate::packet::{Datagram, Packet, Segment, Transport};
use crate::reader::Frame;

/// Octets of a segment that fills a packet of Ethernet.
pub(super) const USUAL_SEGMENT: u32 = 1460;

/// Maximum number of flows kept of one capture.
const MAX_FLOWS: usize = 100_000;

/// Packets of a capture by flow, kept to be matched with another capture by
/// [`match_traces`](super::match_traces).
#[derive(Debug)]
pub struct Trace {
    decoder: Decoder,
    places: HashMap<FlowKey, usize, RandomState>,
    pub(super) flows: Vec<Flow>,
    /// Number of segments that may still be kept.
    room: usize,
    dropped: u64,
    /// Time of the first packet.
    pub(super) first: Option<Instant>,
    /// Time of the last packet that was kept.
    pub(super) last: Instant,
}

/// Source and destination of a flow, for one transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FlowKey {
    pub(super) is_tcp: bool,
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
}

impl FlowKey {
    /// Returns the key of the flow in the other direction.
    pub(super) fn reversed(self) -> Self {
        Self { from: self.to, to: self.from, ..self }
    }
}

/// Packets from one end to another, in the order of the capture.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) key: FlowKey,
    pub(super) records: Vec<Record>,
    /// Largest segment that the sender of a SYN in this flow accepts.
    pub(super) mss: Option<u16>,
}

/// Fields of a packet that a router or a NAT leaves unchanged, and where and when it was captured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) at: Instant,
    /// Sequence number, or a digest of the first octets of a datagram.
    pub(super) seq: u32,
    /// Octets of payload.
    pub(super) len: u32,
    /// Acknowledgement number, 0 without one.
    pub(super) ack: u32,
    /// Timestamp value and echo, 0 without them.
    pub(super) stamps: (u32, u32),
    /// Digest of window and SACK blocks.
    pub(super) rest: u32,
    /// Interface on which the packet was captured.
    pub(super) interface: u32,
    /// Identification of the IP header, 0 without one.
    pub(super) id: u16,
    pub(super) ttl: u8,
    /// Bits of [`SYN`], [`FIN`], [`RST`], [`ACK`].
    pub(super) flags: u8,
}

pub(super) const SYN: u8 = 1;
pub(super) const FIN: u8 = 2;
pub(super) const RST: u8 = 4;
pub(super) const ACK: u8 = 8;

impl Record {
    fn of(packet: &Packet, interface: u32) -> Option<Self> {
        let record = Self {
            at: packet.at,
            seq: 0,
            len: 0,
            ack: 0,
            stamps: (0, 0),
            rest: 0,
            interface,
            id: packet.id.unwrap_or(0),
            ttl: packet.ttl,
            flags: 0,
        };
        match &packet.transport {
            Transport::Tcp(segment) => Some(record.with_segment(segment)),
            Transport::Udp(datagram) => Some(record.with_datagram(datagram)),
            Transport::Esp(_) | Transport::Gre(_) => None,
        }
    }

    fn with_segment(self, segment: &Segment) -> Self {
        let mut digest = FixedState::with_seed(0).build_hasher();
        digest.write_u16(segment.window);
        for block in &segment.sack[..usize::from(segment.sack_count)] {
            digest.write_u32(block.0);
            digest.write_u32(block.1);
        }
        let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        Self {
            seq: segment.seq,
            len: segment.len,
            ack: segment.ack.unwrap_or(0),
            stamps: segment.timestamps.unwrap_or((0, 0)),
            rest: digest.finish() as u32,
            flags: bit(segment.syn, SYN)
                | bit(segment.fin, FIN)
                | bit(segment.rst, RST)
                | bit(segment.ack.is_some(), ACK),
            ..self
        }
    }

    fn with_datagram(self, datagram: &Datagram) -> Self {
        let mut digest = FixedState::with_seed(0).build_hasher();
        digest.write(&datagram.head[..usize::from(datagram.captured)]);
        let digest = digest.finish();
        Self { seq: digest as u32, rest: (digest >> 32) as u32, len: datagram.len, ..self }
    }

    /// Returns a digest of what identifies the packet at both captures. Timestamps are left out if
    /// something on the path rewrites them.
    pub(super) fn digest(&self, is_tcp: bool, with_stamps: bool) -> u64 {
        let mut digest = FixedState::with_seed(1).build_hasher();
        digest.write_u32(self.seq);
        digest.write_u32(self.len);
        digest.write_u8(self.flags & !ACK);
        if with_stamps {
            digest.write_u32(self.stamps.0);
        }
        // A card of the sender may cut a segment up, and one of the receiver may join segments; neither
        // joins what differs in these fields, and an empty segment has nothing else.
        if is_tcp && self.len == 0 {
            digest.write_u32(self.ack);
            digest.write_u32(self.rest);
            digest.write_u32(if with_stamps { self.stamps.1 } else { 0 });
        } else if !is_tcp {
            digest.write_u32(self.rest);
        }
        digest.finish()
    }
}

impl Trace {
    /// Creates a trace that keeps the first `limit` segments. A packet that a card cuts up, or has joined,
    /// counts as the segments that cross the network.
    pub fn new(limit: usize) -> Self {
        Self {
            decoder: Decoder::default(),
            places: HashMap::default(),
            flows: Vec::new(),
            room: limit,
            dropped: 0,
            first: None,
            last: Instant::ZERO,
        }
    }

    /// Records the packets of a frame. Frames without TCP or UDP are skipped.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        let mut decoder = std::mem::take(&mut self.decoder);
        // A frame that cannot be read is counted by the analyzer.
        let _ = decoder.decode(frame, &mut |packet| self.packet(packet));
        self.decoder = decoder;
    }

    /// Records a packet.
    pub fn packet(&mut self, packet: &Packet) {
        let Some(record) = Record::of(packet, packet.interface) else { return };
        let is_tcp = matches!(packet.transport, Transport::Tcp(_));
        let key = FlowKey { is_tcp, from: packet.from, to: packet.to };
        let place = self.places.get(&key).copied();
        let segments = if is_tcp { record.len.div_ceil(USUAL_SEGMENT).max(1) } else { 1 };
        let room = self.room.checked_sub(segments as usize);
        let Some(room) = room.filter(|_| place.is_some() || self.flows.len() < MAX_FLOWS) else {
            // What follows is left out as well, so that a gap is no loss.
            self.room = 0;
            self.dropped += 1;
            return;
        };
        self.room = room;
        self.first.get_or_insert(packet.at);
        self.last = self.last.max(packet.at);
        let place = place.unwrap_or_else(|| {
            self.places.insert(key, self.flows.len());
            self.flows.push(Flow { key, records: Vec::new(), mss: None });
            self.flows.len() - 1
        });
        let flow = &mut self.flows[place];
        if let Transport::Tcp(Segment { syn: true, mss: Some(mss), .. }) = packet.transport {
            flow.mss = Some(mss);
        }
        flow.records.push(record);
    }

    /// Returns the number of packets beyond the limit, which were not kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the flow with that key.
    pub(super) fn flow(&self, key: FlowKey) -> Option<usize> {
        self.places.get(&key).copied()
    }
}
