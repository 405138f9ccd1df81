//! Tunnels over UDP whose packets carry a number in clear, and the order in which these packets arrive.

use std::fmt;

use serde::Serialize;
use unruffled_resequence::{Packet, Protocol, Role, Tunnels, classify};
use unruffled_units::{Duration, Instant};

use crate::reordering::{Arrivals, Reordering, SendIndex};

/// All tunnels that `unruffled resequence` puts in order.
const ALL: Tunnels = Tunnels { wireguard: true, esp: true, openvpn: true };

/// Smallest number of packets of a tunnel. Fewer may look like one by chance.
const MIN_PACKETS: u64 = 10;

/// Smallest share of the datagrams that carry a tunnel's data; the others set it up or keep it alive.
const MIN_SHARE: f64 = 0.9;

/// Largest distance of a number from the next one. The capture lacks packets beyond it, or the number is
/// not a tunnel's.
const MAX_DISTANCE: u64 = 1 << 16;

/// Number of indices below the highest for which it is known whether they have arrived. A packet that is
/// later than that counts as late and not as a copy.
const REMEMBERED: u64 = 2048;

/// Kind of a tunnel over UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Tunnel {
    /// WireGuard.
    WireGuard,
    /// IPsec ESP within UDP (RFC 3948).
    Esp,
    /// OpenVPN, data channel version 2 with AEAD.
    OpenVpn,
}

impl Tunnel {
    /// Returns its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::WireGuard => "WireGuard",
            Self::Esp => "ESP",
            Self::OpenVpn => "OpenVPN",
        }
    }
}

/// Writes the name that `unruffled resequence --tunnel` takes.
impl fmt::Display for Tunnel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WireGuard => "wireguard",
            Self::Esp => "esp",
            Self::OpenVpn => "openvpn",
        })
    }
}

/// Number of a tunnel's packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunnelPacket {
    /// Kind of the tunnel.
    pub tunnel: Tunnel,
    /// Number of the tunnel between its ends: receiver index, SPI, or peer and key.
    pub context: u32,
    /// Number of the packet.
    pub number: u64,
}

impl TunnelPacket {
    /// Reads the number of a UDP packet from its IP header on; `None` if it carries no tunnel's data.
    pub(crate) fn read(ip: &[u8], length: u32) -> Option<Self> {
        let Packet { flow, role, .. } = classify(ip, length, 0, ALL)?;
        let tunnel = match flow.protocol {
            Protocol::WireGuard => Tunnel::WireGuard,
            Protocol::Esp => Tunnel::Esp,
            Protocol::OpenVpn => Tunnel::OpenVpn,
            _ => return None,
        };
        let Role::Data { number, .. } = role else { return None };
        Some(Self { tunnel, context: flow.context, number })
    }
}

/// Packets of a tunnel in one direction.
#[derive(Clone, Debug)]
pub(crate) struct TunnelStream {
    tunnel: Tunnel,
    packets: u64,
    current: Epoch,
    previous: Option<Epoch>,
    arrived: Recent,
    arrivals: Arrivals,
}

/// The indices that have arrived, of the last ones. The capture may have a packet twice, while a tunnel
/// sends each number once.
#[derive(Clone, Debug, Default)]
struct Recent {
    /// One more than the highest index.
    end: u64,
    bits: [u64; (REMEMBERED / 64) as usize],
}

impl Recent {
    /// Records an index. Returns whether it is new.
    fn insert(&mut self, index: u64) -> bool {
        if index + REMEMBERED < self.end {
            return true;
        }
        let from = self.end.max(index.saturating_sub(REMEMBERED - 1));
        for passed in from..index {
            *self.word(passed) &= !bit(passed);
        }
        let is_new = index >= self.end || *self.word(index) & bit(index) == 0;
        *self.word(index) |= bit(index);
        self.end = self.end.max(index + 1);
        is_new
    }

    fn word(&mut self, index: u64) -> &mut u64 {
        &mut self.bits[(index / 64 % (REMEMBERED / 64)) as usize]
    }
}

fn bit(index: u64) -> u64 {
    1 << (index % 64)
}

/// Packets under one key, whose numbers begin anew with the next key.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    context: u32,
    /// First number that arrived, and its index in the order of sending.
    first: (u64, u64),
    /// Highest index that arrived.
    highest: u64,
}

impl Epoch {
    /// Returns the index of a number in the order of sending, if it is near the others.
    fn index(&self, number: u64) -> Option<u64> {
        let (first, index) = self.first;
        let moved = index.checked_add_signed(number.wrapping_sub(first).cast_signed())?;
        (moved.abs_diff(self.highest) <= MAX_DISTANCE).then_some(moved)
    }
}

impl TunnelStream {
    pub(crate) fn new(packet: TunnelPacket) -> Self {
        let TunnelPacket { tunnel, context, number } = packet;
        let current = Epoch { context, first: (number, MAX_DISTANCE), highest: MAX_DISTANCE };
        let arrivals = Arrivals::default();
        let arrived = Recent::default();
        Self { tunnel, packets: 0, current, previous: None, arrived, arrivals }
    }

    /// Records a packet.
    pub(crate) fn record(&mut self, packet: TunnelPacket, now: Instant, clock_step: Duration) {
        let TunnelPacket { tunnel, context, number } = packet;
        if tunnel != self.tunnel {
            return;
        }
        self.packets += 1;
        let previous = self.previous.filter(|epoch| epoch.context == context);
        let known = match previous {
            _ if context == self.current.context => self.current.index(number),
            Some(epoch) => epoch.index(number),
            None => None,
        };
        let index = known.unwrap_or_else(|| {
            let index = self.current.highest + 1;
            let epoch = Epoch { context, first: (number, index), highest: index };
            self.previous = Some(std::mem::replace(&mut self.current, epoch));
            index
        });
        if context == self.current.context {
            self.current.highest = self.current.highest.max(index);
        }
        if self.arrived.insert(index) {
            self.arrivals.arrive(SendIndex::new(index, index), now, clock_step);
        }
    }

    /// Returns the kind of the tunnel, if most of `datagrams` carry its data.
    pub(crate) fn tunnel(&self, datagrams: u64) -> Option<Tunnel> {
        let is_tunnel =
            self.packets >= MIN_PACKETS && self.packets as f64 >= MIN_SHARE * datagrams as f64;
        is_tunnel.then_some(self.tunnel)
    }

    /// Returns the reordering of its packets before the capture point.
    pub(crate) fn reordering(&self) -> Reordering {
        self.arrivals.summary(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(context: u32, number: u64) -> TunnelPacket {
        TunnelPacket { tunnel: Tunnel::WireGuard, context, number }
    }

    /// Records packets a millisecond apart.
    fn stream(packets: &[TunnelPacket]) -> TunnelStream {
        let mut stream = TunnelStream::new(packets[0]);
        for (&packet, ms) in packets.iter().zip(0..) {
            stream.record(packet, Instant::from_millis(ms), Duration::ZERO);
        }
        stream
    }

    #[test]
    fn late_packets_of_the_former_key_are_counted_after_the_key_changed() {
        let former = (1000..1010).filter(|&n| n != 1008).map(|n| packet(7, n));
        let packets: Vec<_> =
            former.chain((0..10).map(|n| packet(9, n))).chain([packet(7, 1008)]).collect();
        let found = stream(&packets).reordering();
        assert_eq!((found.packets, found.reordered), (20, 1));
        // It was overtaken by number 1009, which arrived 11 ms before.
        assert_eq!(found.late_time.map(|time| time.max_ms.round()), Some(11.0));
    }

    #[test]
    fn packets_that_the_capture_lacks_are_not_reordering() {
        let packets: Vec<_> =
            [1, 2, 3, 1 << 40, (1 << 40) + 1, 4, 5].iter().map(|&n| packet(1, n)).collect();
        assert_eq!(stream(&packets).reordering().reordered, 0);
    }

    #[test]
    fn a_packet_that_the_capture_has_twice_counts_once() {
        let twice = (0..5000).flat_map(|n| [packet(1, n), packet(1, n)]);
        let packets: Vec<_> =
            twice.chain([packet(1, 4990), packet(1, 5002), packet(1, 5001)]).collect();
        let found = stream(&packets).reordering();
        assert_eq!((found.packets, found.reordered), (5002, 1));
    }

    #[test]
    fn a_few_packets_that_look_like_a_tunnel_are_none() {
        let few: Vec<_> = (0..9).map(|n| packet(1, n)).collect();
        assert_eq!(stream(&few).tunnel(9), None);
        let more: Vec<_> = (0..90).map(|n| packet(1, n)).collect();
        assert_eq!(stream(&more).tunnel(100), Some(Tunnel::WireGuard));
        assert_eq!(stream(&more).tunnel(101), None);
    }
}
