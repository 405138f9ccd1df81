//! Reassembly of IP fragments, as far as headers need it, in bounded memory.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use unruffled_units::{Duration, Instant};

use super::ip::{Fragment, IpPacket};

/// Octets kept of the payload of a packet in fragments. The headers of nested tunnels fit.
const HEAD_OCTETS: usize = 512;

/// Number of packets whose fragments are kept at a time. The oldest one is dropped first.
const MAX_PACKETS: usize = 1024;

/// Number of separate ranges that are kept of one packet.
const MAX_RANGES: usize = 64;

/// Time after which the fragments of a packet are dropped (RFC 8200, section 4.5). Its identification may
/// be that of another packet by then.
const LIFETIME: Duration = Duration::from_secs(60);

/// Length of the IPv4 header in front of a reassembled packet, in octets.
const IPV4_OCTETS: usize = 20;

/// Length of the IPv6 header in front of a reassembled packet, in octets.
const IPV6_OCTETS: usize = 40;

/// Fragments of packets that are not complete.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    packets: HashMap<Key, Partial>,
    /// Keys in the order in which their packets began, and those times. A key whose packet is complete
    /// stays until it comes up.
    order: VecDeque<(Key, Instant)>,
    /// Fragments of packets that were dropped before they were complete.
    dropped: u64,
}

/// Fields that all fragments of a packet share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    from: IpAddr,
    to: IpAddr,
    id: u32,
    protocol: Option<u8>,
}

/// A packet with some of its fragments.
#[derive(Debug)]
struct Partial {
    began: Instant,
    fragments: u64,
    /// Payload that has arrived on the network.
    arrived: Ranges,
    /// Length of the payload, once the last fragment has arrived.
    total: Option<u32>,
    /// First octets of the payload; those in `captured` are valid.
    head: Box<[u8]>,
    captured: Ranges,
    /// Protocol that the first fragment names.
    protocol: Option<u8>,
}

/// Sorted ranges of octets that neither overlap nor touch.
#[derive(Debug, Default)]
struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    fn add(&mut self, mut start: u32, mut end: u32) {
        self.0.retain(|&(from, to)| {
            let is_apart = to < start || end < from;
            if !is_apart {
                start = start.min(from);
                end = end.max(to);
            }
            is_apart
        });
        let place = self.0.partition_point(|&(from, _)| from < start);
        self.0.insert(place, (start, end));
    }

    /// Returns the end of the range that begins with the first octet.
    fn reach(&self) -> u32 {
        self.0.first().filter(|(from, _)| *from == 0).map_or(0, |(_, to)| *to)
    }
}

/// A packet whose fragments have all arrived: an IP header without options, and as much of the payload as
/// headers need.
#[derive(Debug)]
pub(super) struct Reassembled {
    pub(super) data: Vec<u8>,
    /// Length on the network, in octets.
    pub(super) length: u32,
}

impl Fragments {
    /// Records a fragment. Returns the packet if it is complete.
    pub(super) fn add(
        &mut self,
        packet: &IpPacket<'_>,
        fragment: Fragment,
        now: Instant,
    ) -> Option<Reassembled> {
        // Later fragments of IPv6 need not name the same protocol as the first one.
        let protocol = packet.id.map(|_| packet.protocol);
        let key = Key { from: packet.from, to: packet.to, id: fragment.id, protocol };
        self.drop_old(now);
        let partial = self.packets.entry(key).or_insert_with(|| {
            self.order.push_back((key, now));
            Partial::new(now)
        });
        partial.add(packet, fragment);
        let complete = partial.complete(packet);
        if complete.is_some() {
            self.packets.remove(&key);
        } else if partial.arrived.0.len() > MAX_RANGES {
            self.dropped += partial.fragments;
            self.packets.remove(&key);
        }
        complete
    }

    /// Returns the number of fragments of packets that did not become complete.
    pub(super) fn incomplete(&self) -> u64 {
        self.dropped + self.packets.values().map(|partial| partial.fragments).sum::<u64>()
    }

    /// Drops packets that are too old or too many.
    fn drop_old(&mut self, now: Instant) {
        while let Some(&(key, began)) = self.order.front() {
            let has_expired = now.since(began) > LIFETIME;
            if !has_expired && self.order.len() < MAX_PACKETS {
                return;
            }
            self.order.pop_front();
            // The identification may belong to a later packet.
            let is_same = self.packets.get(&key).is_some_and(|partial| partial.began == began);
            if is_same && let Some(partial) = self.packets.remove(&key) {
                self.dropped += partial.fragments;
            }
        }
    }
}

impl Partial {
    fn new(began: Instant) -> Self {
        Self {
            began,
            fragments: 0,
            arrived: Ranges::default(),
            total: None,
            head: vec![0; HEAD_OCTETS].into_boxed_slice(),
            captured: Ranges::default(),
            protocol: None,
        }
    }

    fn add(&mut self, packet: &IpPacket<'_>, fragment: Fragment) {
        let Fragment { offset, more, .. } = fragment;
        self.fragments += 1;
        let end = offset + packet.payload.length;
        self.arrived.add(offset, end);
        if !more {
            self.total = Some(end);
        }
        if offset == 0 {
            self.protocol = Some(packet.protocol);
        }
        let from = offset as usize;
        let to = (from + packet.payload.data.len()).min(HEAD_OCTETS);
        if from < to {
            self.head[from..to].copy_from_slice(&packet.payload.data[..to - from]);
            self.captured.add(from as u32, to as u32);
        }
    }

    /// Returns the packet if all of it has arrived.
    fn complete(&self, last: &IpPacket<'_>) -> Option<Reassembled> {
        let total = self.total.filter(|&total| self.arrived.reach() >= total)?;
        let protocol = self.protocol?;
        let payload = &self.head[..self.captured.reach().min(total) as usize];
        let (mut data, length) = match (last.from, last.to) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let mut head = vec![0; IPV4_OCTETS];
                head[0] = 0x45;
                let length = u16::try_from(total + IPV4_OCTETS as u32).ok()?;
                head[2..4].copy_from_slice(&length.to_be_bytes());
                head[4..6].copy_from_slice(&last.id.unwrap_or(0).to_be_bytes());
                head[8] = last.ttl;
                head[9] = protocol;
                head[12..16].copy_from_slice(&from.octets());
                head[16..20].copy_from_slice(&to.octets());
                (head, u32::from(length))
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                let mut head = vec![0; IPV6_OCTETS];
                head[0] = 0x60;
                let length = u16::try_from(total).ok()?;
                head[4..6].copy_from_slice(&length.to_be_bytes());
                head[6] = protocol;
                head[7] = last.ttl;
                head[8..24].copy_from_slice(&from.octets());
                head[24..40].copy_from_slice(&to.octets());
                (head, u32::from(length) + IPV6_OCTETS as u32)
            }
            _ => return None,
        };
        data.extend_from_slice(payload);
        Some(Reassembled { data, length })
    }
}

#[cfg(test)]
mod tests {
    use super::super::octets::Octets;
    use super::*;

    /// Returns a fragment of IPv4 with that payload.
    fn fragment(id: u16, offset: u32, more: bool, payload: &[u8]) -> (IpPacket<'_>, Fragment) {
        let packet = IpPacket {
            from: IpAddr::from([192, 0, 2, 1]),
            to: IpAddr::from([192, 0, 2, 2]),
            id: Some(id),
            ttl: 64,
            length: 20 + payload.len() as u32,
            protocol: 6,
            fragment: None,
            payload: Octets { data: payload, length: payload.len() as u32 },
        };
        (packet, Fragment { id: u32::from(id), offset, more })
    }

    #[test]
    fn fragments_in_any_order_and_with_copies_make_one_packet() {
        let payload: Vec<u8> = (0..40).collect();
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            let mut fragments = Fragments::default();
            let mut complete = Vec::new();
            for (n, piece) in order.into_iter().flat_map(|n| [n, n]).enumerate() {
                let from = [0, 16, 32][piece];
                let to = [16, 32, 40][piece];
                let (packet, at) = fragment(7, from as u32, piece < 2, &payload[from..to]);
                let found = fragments.add(&packet, at, Instant::from_millis(n as u64));
                complete.extend(found.map(|found| found.data[20..].to_vec()));
            }
            assert_eq!(complete, std::slice::from_ref(&payload), "{order:?}");
            // The copy of the last fragment came after the packet was complete.
            assert_eq!(fragments.incomplete(), 1);
        }
    }

    #[test]
    fn a_packet_that_lacks_a_fragment_is_not_complete() {
        let mut fragments = Fragments::default();
        for (offset, more) in [(0, true), (16, false)] {
            let (packet, at) = fragment(7, offset, more, &[0; 8]);
            assert!(fragments.add(&packet, at, Instant::ZERO).is_none());
        }
        assert_eq!(fragments.incomplete(), 2);
    }

    #[test]
    fn fragments_expire_and_their_number_is_bounded() {
        let mut fragments = Fragments::default();
        let (packet, at) = fragment(7, 0, true, &[0; 8]);
        assert!(fragments.add(&packet, at, Instant::ZERO).is_none());
        let (packet, at) = fragment(7, 8, false, &[0; 8]);
        assert!(fragments.add(&packet, at, Instant::from_millis(61_000)).is_none());
        for id in 100..60_100 {
            let (packet, at) = fragment(id, 0, true, &[0; 8]);
            fragments.add(&packet, at, Instant::from_millis(62_000));
        }
        assert!(fragments.packets.len() <= MAX_PACKETS && fragments.order.len() <= MAX_PACKETS);
        assert_eq!(fragments.incomplete(), 60_002);
    }
}
