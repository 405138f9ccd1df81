//! MPLS: a stack of labels, then IP or a pseudowire that carries Ethernet.

use super::header::Header;
use super::octets::{Octets, u16_at};
use super::{ethernet, ip};
use crate::packet::SkipReason;

/// Maximum number of labels in one stack.
const MAX_LABELS: usize = 16;

/// Reads a stack of labels (RFC 3032). The last one has a flag; nothing names what follows.
pub(super) fn labels(mut octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    for _ in 0..MAX_LABELS {
        let (label, rest) = octets.split::<4>()?;
        if label[2] & 1 != 0 {
            return behind(rest);
        }
        octets = rest;
    }
    Err(SkipReason::Malformed)
}

/// Finds what a stack of labels carries.
fn behind(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let version = octets.version()?;
    if matches!(version, 4 | 6) && ip::is_likely(octets) {
        return Ok((Header::Ip, octets));
    }
    // A control word (RFC 4385, section 3): four bits of zero, flags, a length and a sequence number.
    let behind_word = octets.data.get(4..).unwrap_or_default();
    if version == 0 && ethernet::is_likely(behind_word) {
        return Ok((Header::Ethernet, octets.skip(4)?));
    }
    if ethernet::is_likely(octets.data) {
        return Ok((Header::Ethernet, octets));
    }
    if octets.data.len() < 18 && !matches!(version, 4 | 6) {
        return Err(SkipReason::Short);
    }
    match version {
        4 | 6 => Ok((Header::Ip, octets)),
        // LLC in Ethernet behind a control word.
        0 if u16_at(octets.data, 16) < 0x0600 => Ok((Header::Ethernet, octets.skip(4)?)),
        _ => Err(SkipReason::NotIp),
    }
}
