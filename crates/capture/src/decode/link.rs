//! The first header of each link type.

use super::ethernet;
use super::header::Header;
use super::octets::{Octets, u16_at};
use super::wireless;
use crate::erf;
use crate::link::Link;
use crate::packet::SkipReason;

/// Length of Linux's cooked header, in octets.
const COOKED_OCTETS: usize = 16;

/// Length of Linux's cooked header of version 2, in octets.
const COOKED2_OCTETS: usize = 20;

/// Type of a header in Linux's cooked frames: hardware of a GRE tunnel (`ARPHRD_IPGRE`).
const HARDWARE_GRE: u16 = 778;

/// Type of a header in Linux's cooked frames: IEEE 802.11 with radiotap (`ARPHRD_IEEE80211_RADIOTAP`).
const HARDWARE_RADIOTAP: u16 = 803;

/// Returns the IP packet of a frame in which nothing but Ethernet's header precedes it: a short cut for
/// nearly all frames.
#[inline]
pub(super) fn direct_ip(link: Link, octets: Octets<'_>) -> Option<Octets<'_>> {
    match link {
        Link::RAW | Link::IPV4 => Some(octets),
        Link::ETHERNET => {
            let head = octets.peek::<14>().ok()?;
            match u16_at(head, 12) {
                0x0800 | 0x86dd => octets.skip(14).ok(),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Reads the first header of a frame.
#[inline]
pub(super) fn first(link: Link, octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    match link.number() {
        0 | 108 => loopback(octets),
        1 => Ok((Header::Ethernet, octets)),
        6 => token_ring(octets),
        10 => {
            // Frame control and two addresses; frames with LLC have the number 5 in the upper bits.
            let (head, rest) = octets.split::<13>()?;
            if head[0] & 0xf0 == 0x50 { Ok((Header::Llc, rest)) } else { Err(SkipReason::NotIp) }
        }
        // RFC 2684: LLC, or a packet without one.
        11 | 100 => llc_or_ip(octets),
        12 | 14 | 101 | 228 | 229 => Ok((Header::Ip, octets)),
        // Cisco's HDLC begins with its own addresses.
        9 | 50 => match octets.peek::<1>()? {
            [0x0f | 0x8f] => Ok((Header::CiscoHdlc, octets)),
            _ => Ok((Header::Ppp, octets)),
        },
        51 => Ok((Header::EtherType(0x8864), octets)),
        104 => Ok((Header::CiscoHdlc, octets)),
        105 => Ok((Header::Wireless { padded: false }, octets)),
        107 => Ok((Header::FrameRelay, octets)),
        // OpenBSD's IPsec interface: a family, an index and flags.
        109 => Ok((Header::Ip, octets.skip(12)?)),
        113 => cooked(octets),
        117 => {
            // The packet filter log of BSD: the length of the header, padded to four octets.
            let length = usize::from(octets.peek::<1>()?[0]).next_multiple_of(4);
            Ok((Header::Ip, octets.skip(length)?))
        }
        119 => wireless::prism(octets),
        122 => Ok((Header::Llc, octets.skip(16)?)),
        123 => llc_or_ip(octets.skip(4)?),
        127 => wireless::radiotap(octets),
        // IP over IEEE 1394: two addresses of eight octets.
        138 => ether_type_at(octets, 16, 18),
        163 => wireless::avs(octets),
        // PPP with the direction in place of the address.
        166 => Ok((Header::Ppp, octets.skip(2)?)),
        192 => wireless::per_packet_information(octets),
        197 => erf(octets),
        // PPP, HDLC and frame relay behind an octet with the direction.
        204 => Ok((Header::Ppp, octets.skip(1)?)),
        205 => Ok((Header::CiscoHdlc, octets.skip(1)?)),
        206 => Ok((Header::FrameRelay, octets.skip(1)?)),
        // Solaris: the header of its IP network interfaces.
        226 => Ok((Header::Ip, octets.skip(24)?)),
        239 => netfilter_log(octets),
        // Hilscher's analyzer: four octets, and eight of preamble in the second of the types.
        240 => Ok((Header::Ethernet, octets.skip(4)?)),
        241 => Ok((Header::Ethernet, octets.skip(12)?)),
        242 => infiniband(octets),
        // Apple's PKTAP, and the number that it had before.
        149 | 258 => packet_tap(link, octets),
        // Ethernet with its preamble.
        274 => Ok((Header::Ethernet, octets.skip(8)?)),
        276 => cooked2(octets),
        number => Err(SkipReason::UnknownLink(number)),
    }
}

/// Reads the EtherType at offset `at` of a header of `length` octets.
fn ether_type_at(
    octets: Octets<'_>,
    at: usize,
    length: usize,
) -> Result<(Header, Octets<'_>), SkipReason> {
    let rest = octets.skip(length)?;
    Ok((Header::EtherType(u16_at(octets.data, at)), rest))
}

/// Reads the header of IP over InfiniBand (RFC 4391, section 6): an EtherType and two octets of zero. A
/// global routing header or an address may precede, whose octets can look like an EtherType. So one of IP
/// at any of the three places has precedence, then one that is read.
fn infiniband(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let ether_type = |at: usize| match octets.data.get(at..at + 4) {
        Some(&[a, b, 0, 0]) => u16::from_be_bytes([a, b]),
        _ => 0,
    };
    let is_ip = |at: &usize| matches!(ether_type(*at), 0x0800 | 0x0806 | 0x86dd);
    let is_read = |at: &usize| {
        octets.skip(at + 4).is_ok_and(|rest| ethernet::ether_type(ether_type(*at), rest).is_ok())
    };
    let is_header = |at: &usize| ether_type(*at) >= 0x0600;
    let places = [0, 40, 20];
    let at = places.into_iter().find(is_ip);
    let at = at.or_else(|| places.into_iter().find(is_read));
    let at = at.or_else(|| places.into_iter().find(is_header)).ok_or(SkipReason::Short)?;
    ether_type_at(octets, at, at + 4)
}

/// Reads BSD's loopback header: a protocol family in the byte order of the host or of the network.
fn loopback(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (family, rest) = octets.split::<4>()?;
    // 2 is IPv4 on every system; the number of IPv6 differs between systems.
    match u32::from_le_bytes(*family).min(u32::from_be_bytes(*family)) {
        2 | 10 | 24 | 28 | 30 => Ok((Header::Ip, rest)),
        _ => Err(SkipReason::NotIp),
    }
}

/// Reads a token ring header, with the route that it may have.
fn token_ring(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, rest) = octets.split::<14>()?;
    let is_routed = head[8] & 0x80 != 0;
    let route = if is_routed { usize::from(rest.peek::<1>()?[0] & 0x1f) } else { 0 };
    Ok((Header::Llc, rest.skip(route)?))
}

/// Reads LLC, or finds that the IP packet stands alone.
fn llc_or_ip(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    match octets.version()? {
        4 | 6 => Ok((Header::Ip, octets)),
        _ => Ok((Header::Llc, octets)),
    }
}

/// Reads Linux's cooked header.
fn cooked(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let rest = octets.skip(COOKED_OCTETS)?;
    cooked_protocol(u16_at(octets.data, 2), u16_at(octets.data, 14), rest)
}

/// Reads Linux's cooked header of version 2.
fn cooked2(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let rest = octets.skip(COOKED2_OCTETS)?;
    cooked_protocol(u16_at(octets.data, 8), u16_at(octets.data, 0), rest)
}

/// Reads the protocol of Linux's cooked frames. Its meaning depends on the hardware.
fn cooked_protocol(
    hardware: u16,
    protocol: u16,
    octets: Octets<'_>,
) -> Result<(Header, Octets<'_>), SkipReason> {
    match (hardware, protocol) {
        (HARDWARE_RADIOTAP, _) => wireless::radiotap(octets),
        // `ETH_P_802_2`.
        (_, 4) => Ok((Header::Llc, octets)),
        // A GRE interface may give the protocol of an inner packet as 0.
        (HARDWARE_GRE, 0) => Ok((Header::Ip, octets)),
        (_, 0..0x0600) => Err(SkipReason::NotIp),
        _ => Ok((Header::EtherType(protocol), octets)),
    }
}

/// Reads the header of Linux's NFLOG: fields with lengths and types. One of them is the packet.
fn netfilter_log(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    const PAYLOAD: u16 = 9;
    let mut rest = octets.skip(4)?;
    loop {
        let head = rest.peek::<4>()?;
        // The byte order is that of the host. A length below 256 distinguishes them, and most others
        // are longer than the frame in the wrong order.
        let little = u16::from_le_bytes([head[0], head[1]]);
        let big = u16_at(head, 0);
        let fits = |length: u16| (4..=rest.length.max(4)).contains(&u32::from(length));
        let is_little = match (u16::from_le_bytes([head[2], head[3]]), u16_at(head, 2)) {
            (0..=0xff, 0x0100..) => fits(little),
            (0x0100.., 0..=0xff) => !fits(big),
            _ => fits(little),
        };
        let length = if is_little { little } else { big };
        let kind = if is_little { u16::from_le_bytes([head[2], head[3]]) } else { u16_at(head, 2) };
        if length < 4 {
            return Err(SkipReason::Malformed);
        }
        if kind & 0x7fff == PAYLOAD {
            return Ok((Header::Ip, rest.limit(u32::from(length)).skip(4)?));
        }
        rest = rest.skip(usize::from(length).next_multiple_of(4))?;
    }
}

/// Reads a header of Apple's PKTAP, which states the link type behind it.
fn packet_tap(link: Link, octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    const PACKET: u32 = 1;
    let head = octets.peek::<12>()?;
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let length = word(0) as usize;
    if !(12..=1024).contains(&length) || word(4) != PACKET {
        // The older number is one for private use.
        let unknown = link.number() == 149;
        return Err(if unknown { SkipReason::UnknownLink(149) } else { SkipReason::NotIp });
    }
    Ok((Header::Link(Link::from_number(word(8))), octets.skip(length)?))
}

/// Reads the header of an ERF record, with its extension headers.
fn erf(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let head = octets.peek::<16>()?;
    let record = erf::link(octets.data).ok_or(SkipReason::Record(head[8] & 0x7f))?;
    let rest = octets.skip(record.header)?;
    let length = record.length.max(rest.data.len() as u32);
    Ok((Header::Link(record.link), Octets { length, ..rest }))
}
