//! The packets of the path: which of them it carries, and what a resequencer reads from them.
//!
//! Kernels send packets of their own, such as multicast listener reports and router solicitations. On an
//! emulated path these would occupy the queue, and shift an impairment of every second packet. So the path
//! carries only unicast IP packets whose addresses are not link-local.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{Ipv4Addr, Ipv6Addr};

use unruffled_resequence::{Packet as Facts, Tunnels, classify};

use crate::Carried;

/// Returns whether the path carries this packet.
pub(crate) fn is_carried(packet: &[u8]) -> bool {
    match packet.first().map(|octet| octet >> 4) {
        Some(4) => destination(packet, 16, 20).is_some_and(|to: [u8; 4]| {
            let to = Ipv4Addr::from(to);
            !(to.is_multicast() || to.is_broadcast() || to.is_unspecified() || to.is_link_local())
        }),
        Some(6) => destination(packet, 24, 40).is_some_and(|to: [u8; 16]| {
            let to = Ipv6Addr::from(to);
            !(to.is_multicast() || to.is_unspecified() || to.is_unicast_link_local())
        }),
        _ => false,
    }
}

/// Returns the address at `offset` of a packet that has at least `header` octets.
fn destination<const N: usize>(packet: &[u8], offset: usize, header: usize) -> Option<[u8; N]> {
    if packet.len() < header {
        return None;
    }
    packet.get(offset..offset + N)?.try_into().ok()
}

impl Carried for Box<[u8]> {
    fn facts(&self) -> Option<Facts> {
        classify(self, self.len() as u32, 0, Tunnels::default())
    }

    fn is_ect(&self) -> bool {
        ecn_field(self) != 0
    }

    fn mark(&mut self) {
        mark(self);
    }

    fn flow(&self) -> u32 {
        flow(self)
    }
}

/// Returns a hash of the addresses, the protocol and the ports of an IP packet.
fn flow(packet: &[u8]) -> u32 {
    let (protocol, addresses, ports) = match packet.first().map(|octet| octet >> 4) {
        Some(4) => {
            let header = usize::from(packet[0] & 15) * 4;
            (packet.get(9), packet.get(12..20), packet.get(header..header + 4))
        }
        Some(6) => (packet.get(6), packet.get(8..40), packet.get(40..44)),
        _ => (None, None, None),
    };
    let mut hasher = DefaultHasher::new();
    (protocol, addresses, ports).hash(&mut hasher);
    hasher.finish() as u32
}

/// CE, as the two bits of the ECN field (RFC 3168, section 5).
const CE: u8 = 3;

/// Returns the ECN field of an IP packet, and 0 for anything else.
fn ecn_field(packet: &[u8]) -> u8 {
    match packet {
        [first, second, ..] if first >> 4 == 4 => second & CE,
        // The traffic class begins in the middle of the first octet.
        [first, second, ..] if first >> 4 == 6 => second >> 4 & CE,
        _ => 0,
    }
}

/// Marks an ECN-capable packet with CE. The checksum of an IPv4 header changes by as much as the word that
/// holds the field (RFC 1624, equation 3).
fn mark(packet: &mut [u8]) {
    if ecn_field(packet) == 0 {
        return;
    }
    if packet[0] >> 4 == 6 {
        packet[1] |= CE << 4;
        return;
    }
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let before = word(packet, 0);
    packet[1] |= CE;
    if packet.len() < 12 {
        return;
    }
    let sum = u32::from(!word(packet, 10)) + u32::from(!before) + u32::from(word(packet, 0));
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    packet[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(to: [u8; 4]) -> Vec<u8> {
        let mut packet = vec![0; 28];
        packet[0] = 0x45;
        packet[16..20].copy_from_slice(&to);
        packet
    }

    fn v6(to: &str) -> Vec<u8> {
        let mut packet = vec![0; 48];
        packet[0] = 0x60;
        let to: Ipv6Addr = to.parse().unwrap();
        packet[24..40].copy_from_slice(&to.octets());
        packet
    }

    #[test]
    fn unicast_is_carried() {
        assert!(is_carried(&v4([10, 0, 0, 2])));
        assert!(is_carried(&v6("fd00::2")));
    }

    #[test]
    fn addresses_of_the_link_alone_are_not_carried() {
        for to in [[224, 0, 0, 22], [255, 255, 255, 255], [0, 0, 0, 0], [169, 254, 1, 1]] {
            assert!(!is_carried(&v4(to)), "{to:?}");
        }
        for to in ["ff02::2", "ff02::16", "fe80::1", "::"] {
            assert!(!is_carried(&v6(to)), "{to}");
        }
    }

    /// Returns the ones' complement sum over an IPv4 header, 0xffff if its checksum is right.
    fn header_sum(packet: &[u8]) -> u32 {
        let words = packet[..20].chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
        let sum: u32 = words.sum();
        (sum & 0xffff) + (sum >> 16)
    }

    #[test]
    fn a_mark_sets_ce_in_ecn_capable_packets_and_keeps_the_header_checksum() {
        for field in 0..4_u8 {
            for dscp in [0, 0xb8_u8] {
                let mut packet: Box<[u8]> = v4([10, 0, 0, 2]).into();
                packet[1] = dscp | field;
                let checksum = !(header_sum(&packet) as u16);
                packet[10..12].copy_from_slice(&checksum.to_be_bytes());
                assert_eq!(header_sum(&packet), 0xffff);
                assert_eq!(packet.is_ect(), field != 0);
                packet.mark();
                assert_eq!(packet[1], dscp | if field == 0 { 0 } else { 3 });
                assert_eq!(header_sum(&packet), 0xffff, "{field}, {dscp}");
            }
            let mut packet: Box<[u8]> = v6("fd00::2").into();
            packet[1] = 0x80 | field << 4 | 0x05;
            packet.mark();
            assert_eq!(packet[1], 0x85 | if field == 0 { 0 } else { 0x30 });
        }
    }

    #[test]
    fn packets_that_are_not_ip_are_not_carried() {
        assert!(!is_carried(&[]));
        assert!(!is_carried(&[0x45; 19]));
        assert!(!is_carried(&[0x60; 39]));
        assert!(!is_carried(&[0x00; 60]));
    }
}
