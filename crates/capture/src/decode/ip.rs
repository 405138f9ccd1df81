//! IP headers of both versions, and the protocols within IP that carry IP.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::header::Header;
use super::octets::{Octets, u16_at, u32_at};
use super::udp_tunnels;
use crate::packet::SkipReason;

/// Maximum number of extension headers of one packet.
const MAX_EXTENSIONS: usize = 16;

/// IP protocol number of TCP.
pub(super) const TCP: u8 = 6;

/// IP protocol number of UDP.
pub(super) const UDP: u8 = 17;

/// IP protocol number of GRE.
pub(super) const GRE: u8 = 47;

/// IP protocol number of ESP.
pub(super) const ESP: u8 = 50;

/// IP protocol number of the authentication header.
pub(super) const AUTHENTICATION: u8 = 51;

/// Fields of an IP header, and what it carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct IpPacket<'a> {
    pub(super) from: IpAddr,
    pub(super) to: IpAddr,
    /// Identification of IPv4.
    pub(super) id: Option<u16>,
    /// Time to live, or hop limit.
    pub(super) ttl: u8,
    /// Length of the packet, in octets.
    pub(super) length: u32,
    /// Protocol behind the header and the extension headers.
    pub(super) protocol: u8,
    /// Position in a packet that was cut into fragments.
    pub(super) fragment: Option<Fragment>,
    pub(super) payload: Octets<'a>,
}

/// Position of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fragment {
    pub(super) id: u32,
    /// Offset of the payload in that of the whole packet, in octets.
    pub(super) offset: u32,
    /// Whether more fragments follow.
    pub(super) more: bool,
}

impl<'a> IpPacket<'a> {
    /// Reads an IP header of either version.
    #[inline]
    pub(super) fn read(octets: Octets<'a>) -> Result<Self, SkipReason> {
        match octets.version()? {
            4 => Self::read_v4(octets),
            6 => Self::read_v6(octets),
            _ => Err(SkipReason::Malformed),
        }
    }

    /// Reads an IPv4 header (RFC 791, section 3.1).
    #[inline]
    fn read_v4(octets: Octets<'a>) -> Result<Self, SkipReason> {
        let head = octets.peek::<20>()?;
        let header = usize::from(head[0] & 0x0f) * 4;
        let declared = u32::from(u16_at(head, 2));
        // The length is 0 in a sender's capture before segmentation offload.
        let length = if declared == 0 { octets.length } else { declared.min(octets.length) };
        if header < 20 || (header as u32) > length {
            return Err(SkipReason::Malformed);
        }
        let position = u16_at(head, 6);
        let more = position & 0x2000 != 0;
        let offset = u32::from(position & 0x1fff) * 8;
        let id = u16_at(head, 4);
        let fragment = Fragment { id: u32::from(id), offset, more };
        Ok(Self {
            from: IpAddr::V4(Ipv4Addr::from_bits(u32_at(head, 12))),
            to: IpAddr::V4(Ipv4Addr::from_bits(u32_at(head, 16))),
            id: Some(id),
            ttl: head[8],
            length,
            protocol: head[9],
            fragment: (more || offset > 0).then_some(fragment),
            payload: octets.limit(length).skip(header)?,
        })
    }

    /// Reads an IPv6 header (RFC 8200, section 3) and its extension headers.
    fn read_v6(octets: Octets<'a>) -> Result<Self, SkipReason> {
        let head = octets.peek::<40>()?;
        let address = |at: usize| {
            let mut octets = [0; 16];
            octets.copy_from_slice(&head[at..at + 16]);
            IpAddr::V6(Ipv6Addr::from(octets))
        };
        // The length is 0 in jumbograms, and in a sender's capture before segmentation offload.
        let length = match u32::from(u16_at(head, 4)) {
            0 => octets.length,
            payload => (40 + payload).min(octets.length),
        };
        let mut packet = Self {
            from: address(8),
            to: address(24),
            id: None,
            ttl: head[7],
            length,
            protocol: head[6],
            fragment: None,
            payload: octets.limit(length).skip(40)?,
        };
        packet.read_extensions()?;
        Ok(packet)
    }

    /// Reads extension headers up to the upper layer, or up to the payload of a later fragment.
    fn read_extensions(&mut self) -> Result<(), SkipReason> {
        for _ in 0..MAX_EXTENSIONS {
            let length = match self.protocol {
                // Options for each hop and for the destination, routing, mobility, HIP and Shim6.
                0 | 43 | 60 | 135 | 139 | 140 => 8 + 8 * usize::from(self.payload.peek::<2>()?[1]),
                44 => {
                    let head = self.payload.peek::<8>()?;
                    let position = u16_at(head, 2);
                    let offset = u32::from(position & 0xfff8);
                    let more = position & 1 != 0;
                    // A packet that is its own only fragment is whole (RFC 6946).
                    if offset > 0 || more {
                        let id = u32_at(head, 4);
                        self.fragment = Some(Fragment { id, offset, more });
                    }
                    8
                }
                _ => return Ok(()),
            };
            self.protocol = self.payload.peek::<1>()?[0];
            self.payload = self.payload.skip(length)?;
            if self.fragment.is_some() {
                return Ok(());
            }
        }
        Err(SkipReason::Malformed)
    }
}

/// Returns whether `octets` begin with an IP header whose fields fit together.
pub(super) fn is_likely(octets: Octets<'_>) -> bool {
    match octets.data {
        [first @ 0x45..=0x4f, _, a, b, ..] => {
            let declared = u32::from(u16::from_be_bytes([*a, *b]));
            let header = u32::from(first & 0x0f) * 4;
            declared == 0 || (header..=octets.length).contains(&declared)
        }
        [0x60..=0x6f, _, _, _, a, b, ..] => {
            40 + u32::from(u16::from_be_bytes([*a, *b])) <= octets.length
        }
        _ => false,
    }
}

/// Returns whether `octets` are an IP packet as a whole: the length is exact, and the checksum of an IPv4
/// header is right.
pub(super) fn is_certain(octets: Octets<'_>) -> bool {
    match octets.data.first() {
        Some(0x45..=0x4f) => {
            let header = usize::from(octets.data[0] & 0x0f) * 4;
            let Some(head) = octets.data.get(..header) else { return false };
            let sum: u32 = head.chunks_exact(2).map(|pair| u32::from(u16_at(pair, 0))).sum();
            let folded = (sum & 0xffff) + (sum >> 16);
            u32::from(u16_at(head, 2)) == octets.length
                && (folded & 0xffff) + (folded >> 16) == 0xffff
        }
        Some(0x60..=0x6f) => {
            let Some(head) = octets.data.first_chunk::<40>() else { return false };
            // Upper protocols, extension headers, and protocols that carry further headers (`step`).
            let is_known = matches!(
                head[6],
                TCP | UDP
                    | 58
                    | 132
                    | 0
                    | 43
                    | 44
                    | 60
                    | 135
                    | 139
                    | 140
                    | ESP
                    | AUTHENTICATION
                    | 4
                    | 41
                    | 94
                    | GRE
                    | 97
                    | 115
                    | 137
                    | 143
            );
            is_known && 40 + u32::from(u16_at(head, 4)) == octets.length
        }
        _ => false,
    }
}

/// Reads the header of a protocol that carries further headers.
pub(super) fn step(protocol: u8, octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    match protocol {
        // IPv4 and IPv6 in IP, and the older number of the first.
        4 | 41 | 94 => Ok((Header::Ip, octets)),
        GRE => Ok((Header::Gre, octets)),
        // EtherIP (RFC 3378): a version of 3.
        97 => Ok((Header::Ethernet, octets.skip(2)?)),
        137 => Ok((Header::Mpls, octets)),
        143 => Ok((Header::Ethernet, octets)),
        115 => udp_tunnels::l2tp_session(octets),
        _ => Err(SkipReason::Protocol(protocol)),
    }
}

/// Splits an authentication header (RFC 4302, section 2) off; returns the protocol behind it.
pub(super) fn authentication(octets: Octets<'_>) -> Result<(u8, Octets<'_>), SkipReason> {
    let &[next, length] = octets.peek::<2>()?;
    Ok((next, octets.skip(4 * (usize::from(length) + 2))?))
}
