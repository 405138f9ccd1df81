//! The packets of the path: which of them it carries, and what a resequencer reads from them.
//!
//! Kernels send packets of their own, such as multicast listener reports and router solicitations. On an
//! emulated path these would occupy the queue, and shift an impairment of every second packet. So the path
//! carries only unicast IP packets whose addresses are not link-local.

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

    #[test]
    fn packets_that_are_not_ip_are_not_carried() {
        assert!(!is_carried(&[]));
        assert!(!is_carried(&[0x45; 19]));
        assert!(!is_carried(&[0x60; 39]));
        assert!(!is_carried(&[0x00; 60]));
    }
}
