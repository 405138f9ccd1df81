//! Tunnels in clear over UDP.

use super::header::Header;
use super::octets::{Octets, u16_at};
use super::{ethernet, ip};
use crate::packet::SkipReason;

/// Returns the first header within a tunnel, if a datagram with these ports carries one in clear.
///
/// A datagram with the port of a tunnel may be of another protocol. What is found counts only if a
/// packet can be decoded from it.
pub(super) fn first(ports: (u16, u16), payload: Octets<'_>) -> Option<(Header, Octets<'_>)> {
    let by_port = match ports.1 {
        2152 => gtp(payload),
        4789 | 8472 => vxlan(payload),
        4790 => vxlan_gpe(payload),
        6081 => geneve(payload),
        6080 => gue(payload),
        6635 => Ok((Header::Mpls, payload)),
        37008 => tzsp(payload),
        // L2TP, whose server may answer from another port.
        1701 => l2tp(payload),
        3544 => teredo(payload),
        3386 => gtp0(payload),
        4341 => lisp(payload),
        4754 => Ok((Header::Gre, payload)),
        5247 => capwap(payload),
        _ => Err(SkipReason::NotIp),
    };
    let by_source = || match ports.0 {
        1701 => l2tp(payload),
        3544 => teredo(payload),
        5247 => capwap(payload),
        _ => Err(SkipReason::NotIp),
    };
    by_port.or_else(|_| by_source()).ok().or_else(|| on_any_port(payload))
}

/// Returns the IP packet that a datagram consists of (FOU), or the frame within VXLAN on another port. Such
/// packets have to be exact.
fn on_any_port(payload: Octets<'_>) -> Option<(Header, Octets<'_>)> {
    if ip::is_certain(payload) {
        return Some((Header::Ip, payload));
    }
    if let [0x08, 0, 0, 0, _, _, _, 0, ..] = payload.data {
        let frame = payload.skip(8).ok()?;
        let (Header::EtherType(0x0800 | 0x86dd), packet) = ethernet::ethernet(frame).ok()? else {
            return None;
        };
        return ip::is_certain(packet).then_some((Header::Ethernet, frame));
    }
    None
}

/// Reads VXLAN (RFC 7348, section 5): the flag that a network is named, and its number.
fn vxlan(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, rest) = octets.split::<8>()?;
    if head[0] & 0x08 == 0 { Err(SkipReason::NotIp) } else { Ok((Header::Ethernet, rest)) }
}

/// Reads VXLAN-GPE: VXLAN with a flag and the number of the next protocol.
fn vxlan_gpe(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, rest) = octets.split::<8>()?;
    if head[0] & 0x04 == 0 {
        return vxlan(octets);
    }
    ethernet::next_protocol(head[3], rest)
}

/// Reads Geneve (RFC 8926, section 3.4) with its options.
fn geneve(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, rest) = octets.split::<8>()?;
    if head[0] >> 6 != 0 {
        return Err(SkipReason::NotIp);
    }
    let rest = rest.skip(4 * usize::from(head[0] & 0x3f))?;
    Ok((Header::EtherType(u16_at(head, 2)), rest))
}

/// Reads generic UDP encapsulation: a header and optional fields, or in variant 1 the packet alone.
fn gue(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let [first] = octets.peek::<1>()?;
    match first >> 5 {
        0 => {
            let (head, rest) = octets.split::<4>()?;
            ip::step(head[1], rest.skip(4 * usize::from(head[0] & 0x1f))?)
        }
        2 | 3 => Ok((Header::Ip, octets)),
        _ => Err(SkipReason::NotIp),
    }
}

/// Reads a packet of GTP-U (3GPP TS 29.281, section 5.1).
fn gtp(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, mut inner) = octets.split::<8>()?;
    // Version 1, protocol type GTP, and message type G-PDU, which carries a packet.
    if head[0] & 0xf0 != 0x30 || head[1] != 0xff {
        return Err(SkipReason::NotIp);
    }
    if head[0] & 0x07 != 0 {
        // Sequence number, N-PDU number, and the type of the next extension header (section 5.2).
        // The length of an extension header is in units of four octets.
        let (fields, rest) = inner.split::<4>()?;
        let mut next = fields[3];
        inner = rest;
        while next != 0 {
            let length = usize::from(inner.peek::<1>()?[0]) * 4;
            let last = length.checked_sub(1).ok_or(SkipReason::Malformed)?;
            next = *inner.data.get(last).ok_or(SkipReason::Short)?;
            inner = inner.skip(length)?;
        }
    }
    ip_or_ethernet(inner)
}

/// Reads a packet of GTP before version 1 (3GPP TS 09.60, section 6).
fn gtp0(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, inner) = octets.split::<20>()?;
    if head[0] >> 5 != 0 || head[1] != 0xff {
        return Err(SkipReason::NotIp);
    }
    ip_or_ethernet(inner)
}

/// Finds whether a packet or a frame follows.
fn ip_or_ethernet(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    match octets.version()? {
        4 | 6 if ip::is_likely(octets) => Ok((Header::Ip, octets)),
        _ if ethernet::is_likely(octets.data) => Ok((Header::Ethernet, octets)),
        4 | 6 => Ok((Header::Ip, octets)),
        _ => Ok((Header::Ppp, octets)),
    }
}

/// Reads data of L2TP, version 2 (RFC 2661, section 3.1) or 3 (RFC 3931, section 4.1.2).
pub(super) fn l2tp(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, rest) = octets.split::<2>()?;
    let flags = u16_at(head, 0);
    let is_control = flags & 0x8000 != 0;
    match flags & 0x000f {
        _ if is_control => Err(SkipReason::NotIp),
        2 => {
            let mut rest = rest.skip(if flags & 0x4000 != 0 { 2 } else { 0 })?;
            // The numbers of the tunnel and the session, then those of the packet.
            rest = rest.skip(if flags & 0x0800 != 0 { 8 } else { 4 })?;
            if flags & 0x0200 != 0 {
                let (offset, behind) = rest.split::<2>()?;
                rest = behind.skip(usize::from(u16_at(offset, 0)))?;
            }
            Ok((Header::Ppp, rest))
        }
        3 => l2tp_session(rest.skip(2)?),
        _ => Err(SkipReason::NotIp),
    }
}

/// Reads data of an L2TP session, version 3. The lengths of the cookie and of the sublayer are agreed by
/// signalling; the one that leads to a frame is used.
pub(super) fn l2tp_session(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (session, rest) = octets.split::<4>()?;
    if *session == [0; 4] {
        return Err(SkipReason::NotIp);
    }
    for skipped in [0, 4, 8, 12] {
        let inner = rest.skip(skipped)?;
        if ethernet::is_likely(inner.data) {
            return Ok((Header::Ethernet, inner));
        }
        if ip::is_certain(inner) {
            return Ok((Header::Ip, inner));
        }
        if inner.data.starts_with(&[0xff, 0x03, 0x00]) {
            return Ok((Header::Ppp, inner));
        }
    }
    Err(SkipReason::NotIp)
}

/// Reads a frame that a sensor sends in TZSP.
fn tzsp(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, mut rest) = octets.split::<4>()?;
    if head[0] != 1 || head[1] > 1 {
        return Err(SkipReason::NotIp);
    }
    loop {
        let ([kind], behind) = rest.split::<1>()?;
        let is_padding = *kind == 0;
        let is_end = *kind == 1;
        rest = behind;
        if is_end {
            break;
        }
        if !is_padding {
            rest = rest.skip(1 + usize::from(rest.peek::<1>()?[0]))?;
        }
    }
    match u16_at(head, 2) {
        1 => Ok((Header::Ethernet, rest)),
        18 => Ok((Header::Wireless { padded: false }, rest)),
        link @ (119 | 127) => Ok((Header::Link(crate::Link::from_number(u32::from(link))), rest)),
        _ => Err(SkipReason::NotIp),
    }
}

/// Reads LISP (RFC 9300, section 5.1): flags and a locator, then the packet. Since any octets may be flags,
/// the packet has to be exact.
fn lisp(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let packet = octets.skip(8)?;
    if ip::is_certain(packet) { Ok((Header::Ip, packet)) } else { Err(SkipReason::NotIp) }
}

/// Reads Teredo (RFC 4380, section 5.1.1): an authentication and an origin may come first.
fn teredo(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let mut rest = octets;
    if let [0, 1, client, authentication, ..] = *rest.data {
        rest = rest.skip(4 + usize::from(client) + usize::from(authentication) + 9)?;
    }
    if let [0, 0, ..] = rest.data {
        rest = rest.skip(8)?;
    }
    Ok((Header::Ip, rest))
}

/// Reads data of CAPWAP (RFC 5415, section 4.3) that is not encrypted.
fn capwap(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let head = octets.peek::<8>()?;
    if head[0] != 0 {
        return Err(SkipReason::Encrypted);
    }
    let is_fragment = head[3] & 0x80 != 0;
    if is_fragment {
        return Err(SkipReason::Fragment);
    }
    let inner = octets.skip(4 * usize::from(head[1] >> 3))?;
    let is_wireless = head[2] & 0x01 != 0;
    let next = if is_wireless { Header::Wireless { padded: false } } else { Header::Ethernet };
    Ok((next, inner))
}
