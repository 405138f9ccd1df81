//! A peer of the stack, and the packets that it sends.

use std::net::{IpAddr, SocketAddr};

use etherparse::PacketBuilder;
use unruffled_stack::FourTuple;
use unruffled_stack::codec::{Arrival, encode};
use unruffled_tcp::{Flags, Segment, SeqNr, Timestamps};
use unruffled_units::Instant;

use super::{PORT, local, octet};
use crate::input::Input;
use crate::numbers::{Numbers, syn_options};

/// Maximum payload in octets, which keeps runs short.
const MAX_PAYLOAD: u32 = 20_000;

/// A peer, and what it has received.
pub(super) struct Peer {
    pub(super) at: SocketAddr,
    /// The port of the stack that it sends to.
    to: u16,
    numbers: Numbers,
    scale: u8,
    stamped: u32,
    echoed: u32,
}

impl Peer {
    pub(super) fn new(at: SocketAddr) -> Self {
        let numbers = Numbers {
            expected: SeqNr(0),
            edge: SeqNr(0),
            una: SeqNr(0),
            nxt: SeqNr(0),
            mss: 1000,
            timestamps: Timestamps { value: 0, echo: 0 },
        };
        Self { at, to: PORT, numbers, scale: 0, stamped: 0, echoed: 0 }
    }

    fn local(&self) -> SocketAddr {
        SocketAddr::new(local(self).ip(), self.to)
    }

    /// Returns whether its packets go to the connection with these ends.
    pub(super) fn is_peer_of(&self, ends: FourTuple) -> bool {
        ends.remote == self.at && ends.local == self.local()
    }

    /// Receives a packet of the stack.
    pub(super) fn receive(&mut self, sent: &Arrival<'_>) {
        let segment = &sent.segment;
        if segment.flags.rst {
            return;
        }
        self.to = sent.from.port();
        let end = segment.seq.add(segment.sequence_len());
        let numbers = &mut self.numbers;
        if segment.flags.syn {
            numbers.una = segment.seq;
            numbers.nxt = end;
            self.scale = segment.window_scale.unwrap_or(0);
        } else if end.distance(numbers.nxt) > 0 {
            numbers.nxt = end;
        }
        if segment.flags.ack {
            numbers.expected = segment.ack;
            let scale = if segment.flags.syn { 0 } else { self.scale };
            numbers.edge = segment.ack.add(u32::from(segment.window) << scale);
        }
        numbers.mss = numbers.mss.max(segment.len).min(1500);
        if let Some(timestamps) = segment.timestamps {
            self.stamped = timestamps.value;
            self.echoed = timestamps.echo;
        }
    }

    fn numbers(&self, now: Instant) -> Numbers {
        let ms = (now.as_nanos() / 1_000_000) as u32;
        let older = (ms.wrapping_sub(self.echoed) as i32) < 0;
        let value = if older { self.echoed } else { ms };
        Numbers { timestamps: Timestamps { value, echo: self.stamped }, ..self.numbers }
    }

    /// Returns sequence numbers that may lie in the stack's window for this peer's data.
    pub(super) fn guesses(&self) -> [SeqNr; 2] {
        let expected = self.numbers.expected;
        [expected, expected.add(u32::MAX)]
    }

    pub(super) fn segment(&mut self, now: Instant, input: &mut Input<'_>) -> Segment {
        let mut segment = self.numbers(now).segment(input);
        segment.len = segment.len.min(MAX_PAYLOAD);
        let una = &mut self.numbers.una;
        if segment.ack.distance(*una) > 0 && segment.ack.distance(self.numbers.nxt) <= 0 {
            *una = segment.ack;
        }
        segment
    }

    /// Returns a SYN or a SYN-ACK.
    pub(super) fn syn(&mut self, kind: usize, now: Instant, input: &mut Input<'_>) -> Segment {
        let numbers = self.numbers(now);
        if kind == 0 {
            self.to = PORT;
        }
        let mut syn = Segment {
            seq: SeqNr(u32::from(input.byte()) << 24),
            flags: Flags { syn: true, ack: kind == 1, ..Flags::default() },
            ..numbers.honest()
        };
        syn_options(&mut syn, input);
        syn
    }

    /// Returns the packet that carries `segment`, with its first `false_octets` octets falsified.
    pub(super) fn packet(&self, segment: &Segment, false_octets: u32) -> Vec<u8> {
        let payload: Vec<u8> = (0..segment.len)
            .map(|i| {
                let octet = octet(u64::from(segment.seq.add(i).0));
                if i < false_octets { !octet } else { octet }
            })
            .collect();
        let mut packet = Vec::new();
        let (from, to) = (self.at, self.local());
        let mut segment = *segment;
        // A header has no room for all options.
        if segment.flags.syn {
            segment.sack = Segment::default().sack;
        } else {
            segment.mss = None;
            segment.window_scale = None;
            segment.sack_permitted = false;
        }
        encode(from, to, &segment, (&payload, &[]), &mut packet).expect("the packet fits");
        packet
    }

    /// Returns a router's message about a packet of the stack.
    pub(super) fn too_big(&self, input: &mut Input<'_>) -> Vec<u8> {
        let numbers = &self.numbers;
        let quoted = Segment {
            seq: numbers.near(numbers.una, numbers.nxt, input),
            flags: Flags { ack: true, ..Flags::default() },
            ..Segment::default()
        };
        let mtu = input.u16();
        let mut quote = Vec::new();
        encode(self.local(), self.at, &quoted, (&[], &[]), &mut quote).expect("the packet fits");
        let mut packet = Vec::new();
        match (self.at.ip(), self.local().ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let [high, low] = mtu.to_be_bytes();
                PacketBuilder::ipv4(from.octets(), to.octets(), 64)
                    .icmpv4_raw(3, 4, [0, 0, high, low])
                    .write(&mut packet, &quote)
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                PacketBuilder::ipv6(from.octets(), to.octets(), 64)
                    .icmpv6_raw(2, 0, u32::from(mtu).to_be_bytes())
                    .write(&mut packet, &quote)
            }
            _ => unreachable!("both addresses are of one family"),
        }
        .expect("the packet fits");
        packet
    }
}
