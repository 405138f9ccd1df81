//! GRE (RFC 2784, RFC 2890), that of PPTP (RFC 2637), and mirrored frames (ERSPAN).

use super::header::Header;
use super::octets::{Octets, u16_at};
use crate::packet::{Gre, SkipReason};

const CHECKSUM: u16 = 0x8000;
const ROUTING: u16 = 0x4000;
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
const ACKNOWLEDGEMENT: u16 = 0x0080;

/// Reads a GRE header with its optional fields.
pub(super) fn gre(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, rest) = octets.split::<4>()?;
    let flags = u16_at(head, 0);
    let protocol = u16_at(head, 2);
    let version = flags & 7;
    if version > 1 {
        return Err(SkipReason::Malformed);
    }
    let four = |condition: bool| if condition { 4 } else { 0 };
    let mut rest = rest.skip(
        four(version == 0 && flags & (CHECKSUM | ROUTING) != 0)
            + four(flags & KEY != 0)
            + four(flags & SEQUENCE != 0)
            + four(version == 1 && flags & ACKNOWLEDGEMENT != 0),
    )?;
    if version == 0 && flags & ROUTING != 0 {
        // Source routes (RFC 1701): each has its length in the fourth octet; the last one is empty.
        loop {
            let (route, behind) = rest.split::<4>()?;
            rest = behind.skip(usize::from(route[3]))?;
            if route[3] == 0 {
                break;
            }
        }
    }
    match protocol {
        0x88be if flags & SEQUENCE == 0 => Ok((Header::Ethernet, rest)),
        0x88be => erspan2(rest),
        0x22eb => erspan3(rest),
        // WCCP: a redirect header of four octets in version 2.
        0x883e if !matches!(rest.version()?, 4 | 6) => Ok((Header::Ip, rest.skip(4)?)),
        0x883e => Ok((Header::Ip, rest)),
        _ => Ok((Header::EtherType(protocol), rest)),
    }
}

/// Reads the key and the sequence number, if there is one.
pub(super) fn number(octets: Octets<'_>) -> Option<Gre> {
    let (head, rest) = octets.split::<4>().ok()?;
    let flags = u16_at(head, 0);
    let version = flags & 7;
    if flags & SEQUENCE == 0 || flags & ROUTING != 0 || version > 1 {
        return None;
    }
    let checksum = if version == 0 && flags & CHECKSUM != 0 { 4 } else { 0 };
    let mut rest = rest.skip(checksum).ok()?;
    let mut key = 0;
    if flags & KEY != 0 {
        let (octets, behind) = rest.split::<4>().ok()?;
        // PPTP has the length of the payload in the upper half.
        key = if version == 1 { u32::from(u16_at(octets, 2)) } else { u32::from_be_bytes(*octets) };
        rest = behind;
    }
    let (seq, _) = rest.split::<4>().ok()?;
    Some(Gre { key, seq: u32::from_be_bytes(*seq), len: octets.length })
}

/// Reads an ERSPAN header of type II, or none at all if its version is 0 (type I with a sequence number).
fn erspan2(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    match octets.version()? {
        1 => Ok((Header::Ethernet, octets.skip(8)?)),
        _ => Ok((Header::Ethernet, octets)),
    }
}

/// Reads an ERSPAN header of type III, with or without the part that depends on the platform.
fn erspan3(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let (head, rest) = octets.split::<12>()?;
    let last = u16_at(head, 10);
    let rest = if last & 1 != 0 { rest.skip(8)? } else { rest };
    match last >> 10 & 0x1f {
        2 => Ok((Header::Ip, rest)),
        _ => Ok((Header::Ethernet, rest)),
    }
}
