//! A peer of the stack, and the packets that it sends.

use std::net::{IpAddr, SocketAddr};

use etherparse::PacketBuilder;
use unruffled_tcp::{Flags, Segment, SeqNr, Timestamps};
use unruffled_units::Instant;
use unruffled_stack::codec::{Arrival, encode};
use unruffled_stack::FourTuple;

use super::{PORT, octet, ours};
use crate::input::Input;
use crate::numbers::{Numbers, syn_options};

/// More than this at once is no packet, and takes time.
const LONGEST: u32 = 20_000;

/// A peer, and what it has heard.
pub(super) struct Peer {
    pub(super) at: SocketAddr,
    /// The port of ours that it speaks to.
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
        SocketAddr::new(ours(self).ip(), self.to)
    }

    /// Whether its packets go to the connection with these ends.
    pub(super) fn speaks_to(&self, ends: FourTuple) -> bool {
        ends.remote == self.at && ends.local == self.local()
    }

    /// A packet for this peer has left.
    pub(super) fn hears(&mut self, said: &Arrival<'_>) {
        let segment = &said.segment;
        if segment.flags.rst {
            return;
        }
        self.to = said.from.port();
        let end = segment.seq.add(segment.sequence_len());
        let numbers = &mut self.numbers;
        if segment.flags.syn {
            (numbers.una, numbers.nxt) = (segment.seq, end);
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
            (self.stamped, self.echoed) = (timestamps.value, timestamps.echo);
        }
    }

    fn numbers(&self, now: Instant) -> Numbers {
        let ms = (now.as_nanos() / 1_000_000) as u32;
        let older = (ms.wrapping_sub(self.echoed) as i32) < 0;
        let value = if older { self.echoed } else { ms };
        Numbers { timestamps: Timestamps { value, echo: self.stamped }, ..self.numbers }
    }

    /// Numbers that may lie in its own window.
    pub(super) fn guesses(&self) -> [SeqNr; 2] {
        let expected = self.numbers.expected;
        [expected, expected.add(u32::MAX)]
    }

    pub(super) fn segment(&mut self, now: Instant, input: &mut Input<'_>) -> Segment {
        let mut segment = self.numbers(now).segment(input);
        segment.len = segment.len.min(LONGEST);
        let una = &mut self.numbers.una;
        if segment.ack.distance(*una) > 0 && segment.ack.distance(self.numbers.nxt) <= 0 {
            *una = segment.ack;
        }
        segment
    }

    /// A SYN: the first one, the answer to one, or one that means something else.
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

    /// The packet that carries `segment`, whose first `lies` octets are others than their numbers
    /// say.
    pub(super) fn packet(&self, segment: &Segment, lies: u32) -> Vec<u8> {
        let payload: Vec<u8> = (0..segment.len)
            .map(|i| {
                let truth = octet(u64::from(segment.seq.add(i).0));
                if i < lies { !truth } else { truth }
            })
            .collect();
        let mut packet = Vec::new();
        let (from, to) = (self.at, self.local());
        let mut segment = *segment;
        // Not all options at once fit.
        if segment.flags.syn {
            segment.sack = Segment::default().sack;
        } else {
            (segment.mss, segment.window_scale, segment.sack_permitted) = (None, None, false);
        }
        encode(from, to, &segment, (&payload, &[]), &mut packet).expect("it fits");
        packet
    }

    /// A router's message about a packet of ours.
    pub(super) fn too_big(&self, input: &mut Input<'_>) -> Vec<u8> {
        let numbers = &self.numbers;
        let quoted = Segment {
            seq: numbers.near(numbers.una, numbers.nxt, input),
            flags: Flags { ack: true, ..Flags::default() },
            ..Segment::default()
        };
        let mtu = input.u16();
        let mut quote = Vec::new();
        encode(self.local(), self.at, &quoted, (&[], &[]), &mut quote).expect("it fits");
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
            _ => unreachable!("both are of one family"),
        }
        .expect("it fits");
        packet
    }
}
