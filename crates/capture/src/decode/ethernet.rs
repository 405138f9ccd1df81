//! Ethernet and what may stand between it and IP: tags, LLC, and Ethernet within Ethernet.

use super::header::Header;
use super::octets::{Octets, u16_at};
use crate::packet::SkipReason;

/// Smallest EtherType. A smaller number is the length of a frame with LLC (IEEE 802.3, section 3.2.6).
const MIN_ETHER_TYPE: u16 = 0x0600;

/// Beginnings of the destination addresses of Cisco's ISL.
const ISL_DESTINATIONS: [[u8; 5]; 2] = [[0x01, 0, 0x0c, 0, 0], [0x03, 0, 0x0c, 0, 0]];

/// Length of Cisco's ISL header, in octets.
const ISL_OCTETS: usize = 26;

/// Reads an Ethernet header.
pub(super) fn ethernet(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, rest) = octets.split::<14>()?;
    let kind = u16_at(head, 12);
    let is_isl = || ISL_DESTINATIONS.iter().any(|start| head.starts_with(start));
    match kind {
        MIN_ETHER_TYPE.. => Ok((Header::EtherType(kind), rest)),
        _ if is_isl() => Ok((Header::Ethernet, octets.skip(ISL_OCTETS)?)),
        _ => Ok((Header::Llc, rest)),
    }
}

/// Returns whether `octets` begin with an Ethernet header whose EtherType leads to an IP packet.
pub(super) fn is_likely(octets: &[u8]) -> bool {
    let Some(head) = octets.first_chunk::<14>() else { return false };
    // A sender's address is that of one host.
    let is_unicast = head[6] & 1 == 0;
    let is_read = matches!(
        u16_at(head, 12),
        0x0800 | 0x86dd | 0x8100 | 0x88a8 | 0x9100 | 0x9200 | 0x8847 | 0x8848 | 0x8864 | 0x88e7
    );
    is_unicast && is_read
}

/// Reads what an EtherType announces.
pub(super) fn ether_type(
    kind: u16,
    octets: Octets<'_>,
) -> Result<(Header, Octets<'_>), SkipReason> {
    match kind {
        0x0800 | 0x86dd => Ok((Header::Ip, octets)),
        // 802.1Q, 802.1ad, and the numbers in use before 802.1ad.
        0x8100 | 0x88a8 | 0x9100 | 0x9200 | 0x9300 => tag(octets, 2),
        // VN-Tag, the redundancy tags of IEEE 802.1CB and of HSR (IEC 62439-3).
        0x8926 | 0xf1c1 | 0x892f => tag(octets, 4),
        // E-Tag (IEEE 802.1BR), Cisco metadata with a security group, and the tag of a DSA switch.
        0x893f | 0x8909 | 0xdada => tag(octets, 6),
        0x8847 | 0x8848 => Ok((Header::Mpls, octets)),
        // A PPPoE session (RFC 2516, section 4): six octets, then PPP's protocol.
        0x8864 => Ok((Header::Ppp, octets.skip(6)?)),
        0x880b => Ok((Header::Ppp, octets)),
        0x6558 => Ok((Header::Ethernet, octets)),
        0x6559 => Ok((Header::FrameRelay, octets)),
        // Provider backbone bridging (IEEE 802.1ah): the tag of the service.
        0x88e7 => Ok((Header::Ethernet, octets.skip(4)?)),
        // FabricPath: a tree and a hop count.
        0x8903 => Ok((Header::Ethernet, octets.skip(2)?)),
        // TRILL (RFC 6325, section 3.1): options in units of four octets.
        0x22f3 => {
            let options = u16_at(octets.peek::<6>()?, 0) >> 6 & 0x1f;
            Ok((Header::Ethernet, octets.skip(6 + 4 * usize::from(options))?))
        }
        0x88e5 => macsec(octets),
        0x894f => Ok((Header::Nsh, octets)),
        0x4305 => batman(octets),
        // LLC in frames longer than 1500 octets.
        0x8870 => Ok((Header::Llc, octets)),
        _ => Err(SkipReason::EtherType(kind)),
    }
}

/// Reads a tag of `length` octets, which an EtherType or the length of a frame with LLC follows.
fn tag(octets: Octets<'_>, length: usize) -> Result<(Header, Octets<'_>), SkipReason> {
    let (kind, rest) = octets.skip(length)?.split::<2>()?;
    match u16::from_be_bytes(*kind) {
        kind @ MIN_ETHER_TYPE.. => Ok((Header::EtherType(kind), rest)),
        _ => Ok((Header::Llc, rest)),
    }
}

/// Reads an LLC header.
pub(super) fn llc(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, rest) = octets.split::<3>()?;
    match head {
        [0xaa, 0xaa, 0x03] => Ok((Header::Snap, rest)),
        // The service access point of IP.
        [0x06, 0x06, 0x03] => Ok((Header::Ip, rest)),
        // Protocols with a number of ISO's; that of IP is 0xcc.
        [0xfe, 0xfe, 0x03] if rest.peek::<1>()? == &[0xcc] => Ok((Header::Ip, rest.skip(1)?)),
        _ => Err(SkipReason::NotIp),
    }
}

/// Reads the organization and the protocol of SNAP.
pub(super) fn snap(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, rest) = octets.split::<5>()?;
    let protocol = u16_at(head, 3);
    match head[..3] {
        // EtherTypes, also those that a bridge translated (IEEE 802.1H).
        [0, 0, 0] | [0, 0, 0xf8] => Ok((Header::EtherType(protocol), rest)),
        // Bridged Ethernet, with and without its check sequence (RFC 2684, RFC 2427). ATM pads it.
        [0, 0x80, 0xc2] if matches!(protocol, 1 | 7) => match rest.data {
            [0, 0, frame @ ..] if is_likely(frame) => Ok((Header::Ethernet, rest.skip(2)?)),
            _ => Ok((Header::Ethernet, rest)),
        },
        _ => Err(SkipReason::NotIp),
    }
}

/// Reads the security tag of MACsec (IEEE 802.1AE, section 9.3), if the frame is not encrypted.
fn macsec(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let [control] = octets.peek::<1>()?;
    if control & 0x0c != 0 {
        return Err(SkipReason::EtherType(0x88e5));
    }
    let has_channel = control & 0x20 != 0;
    tag(octets, if has_channel { 14 } else { 6 })
}

/// Reads a network service header (RFC 8300, section 2.2).
pub(super) fn nsh(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let head = octets.peek::<8>()?;
    let length = usize::from(head[1] & 0x3f) * 4;
    if length < 8 {
        return Err(SkipReason::Malformed);
    }
    next_protocol(head[3], octets.skip(length)?)
}

/// Reads a protocol number that NSH and VXLAN-GPE share.
pub(super) fn next_protocol(
    protocol: u8,
    octets: Octets<'_>,
) -> Result<(Header, Octets<'_>), SkipReason> {
    match protocol {
        1 | 2 => Ok((Header::Ip, octets)),
        3 => Ok((Header::Ethernet, octets)),
        4 => Ok((Header::Nsh, octets)),
        5 => Ok((Header::Mpls, octets)),
        _ => Err(SkipReason::NotIp),
    }
}

/// Reads a packet of the mesh protocol B.A.T.M.A.N. advanced, version 15.
fn batman(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    match octets.peek::<2>()? {
        [0x40, 15] => Ok((Header::Ethernet, octets.skip(10)?)),
        [0x42, 15] => Ok((Header::Ethernet, octets.skip(18)?)),
        [0x01, 15] => Ok((Header::Ethernet, octets.skip(14)?)),
        [0x41, 15] => Err(SkipReason::Fragment),
        _ => Err(SkipReason::EtherType(0x4305)),
    }
}
