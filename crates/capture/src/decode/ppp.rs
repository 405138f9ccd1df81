//! Serial lines: PPP, Cisco's HDLC, and frame relay.

use super::header::Header;
use super::octets::{Octets, u16_at};
use crate::packet::SkipReason;

/// Reads PPP (RFC 1661). Address and control may be absent, and a protocol may have one octet.
pub(super) fn ppp(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let octets = match octets.data {
        [0xff, 0x03, ..] => octets.skip(2)?,
        _ => octets,
    };
    // The first octet of a protocol of two octets is even.
    let [first] = octets.peek::<1>()?;
    let (protocol, rest) = if first & 1 != 0 {
        (u16::from(*first), octets.skip(1)?)
    } else {
        let (both, rest) = octets.split::<2>()?;
        (u16::from_be_bytes(*both), rest)
    };
    match protocol {
        0x0021 | 0x0057 => Ok((Header::Ip, rest)),
        0x0281 | 0x0283 => Ok((Header::Mpls, rest)),
        // Bridging (RFC 3518, section 4.2): flags, the kind of the frame, and perhaps the number of a LAN.
        0x0031 => {
            let (head, frame) = rest.split::<2>()?;
            let numbered = head[0] & 0x40 != 0;
            match head[1] {
                1 => Ok((Header::Ethernet, frame.skip(if numbered { 4 } else { 0 })?)),
                _ => Err(SkipReason::NotIp),
            }
        }
        // Multilink (RFC 1990, section 3): a packet in one fragment both begins and ends with it.
        0x003d => {
            let (head, whole) = rest.split::<4>()?;
            if head[0] & 0xc0 == 0xc0 {
                Ok((Header::Ppp, whole))
            } else {
                Err(SkipReason::Fragment)
            }
        }
        _ => Err(SkipReason::NotIp),
    }
}

/// Reads Cisco's HDLC: an address, a zero, and an EtherType. PPP begins with another address.
pub(super) fn cisco_hdlc(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    match octets.peek::<2>()? {
        [0xff, 0x03] => Ok((Header::Ppp, octets)),
        _ => {
            let (head, rest) = octets.split::<4>()?;
            Ok((Header::EtherType(u16_at(head, 2)), rest))
        }
    }
}

/// Reads frame relay (RFC 2427): an address of two to four octets, a control octet, and a protocol.
pub(super) fn frame_relay(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let extended = octets.data.iter().take_while(|&octet| octet & 1 == 0).count();
    if !(1..=3).contains(&extended) {
        return Err(if octets.data.len() < 4 { SkipReason::Short } else { SkipReason::Malformed });
    }
    let behind = octets.skip(extended + 1)?;
    // Cisco's own format has an EtherType in place of the control octet.
    if behind.peek::<1>()? != &[0x03] {
        let (kind, rest) = behind.split::<2>()?;
        return Ok((Header::EtherType(u16::from_be_bytes(*kind)), rest));
    }
    let behind = behind.skip(1)?;
    let behind = if behind.peek::<1>()? == &[0] { behind.skip(1)? } else { behind };
    let ([protocol], rest) = behind.split::<1>()?;
    match protocol {
        0xcc | 0x8e => Ok((Header::Ip, rest)),
        0x80 => Ok((Header::Snap, rest)),
        0xcf => Ok((Header::Ppp, rest)),
        _ => Err(SkipReason::NotIp),
    }
}
