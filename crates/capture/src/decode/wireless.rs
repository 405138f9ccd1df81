//! IEEE 802.11 and the headers that capture programs put before it.

use super::header::Header;
use super::octets::Octets;
use crate::link::Link;
use crate::packet::SkipReason;

/// Number of 32-bit words in which a radiotap header may list its fields.
const MAX_PRESENT_WORDS: usize = 16;

/// Length of a Prism header with all of its fields, in octets.
const PRISM_OCTETS: usize = 144;

/// Reads a radiotap header. Its flags state whether the header behind it is padded.
pub(super) fn radiotap(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let head = octets.peek::<8>()?;
    let length = usize::from(u16::from_le_bytes([head[2], head[3]]));
    if head[0] != 0 || length < 8 {
        return Err(SkipReason::Malformed);
    }
    let padded = radiotap_flags(octets.data.get(..length).ok_or(SkipReason::Short)?)
        .is_some_and(|flags| flags & 0x20 != 0);
    Ok((Header::Wireless { padded }, octets.skip(length)?))
}

/// Returns the flags of a radiotap header, if it has them.
fn radiotap_flags(head: &[u8]) -> Option<u8> {
    let word = |n: usize| head.get(4 + 4 * n..8 + 4 * n);
    let continues = |n: usize| word(n).is_some_and(|word| word[3] & 0x80 != 0);
    let words = (0..MAX_PRESENT_WORDS).find(|&n| !continues(n))? + 1;
    let present = word(0)?[0];
    let fields = 4 + 4 * words;
    // The first field is a time of eight octets, the second one the flags.
    let flags = if present & 1 != 0 { fields.next_multiple_of(8) + 8 } else { fields };
    (present & 2 != 0).then(|| head.get(flags).copied()).flatten()
}

/// Reads a Prism header, or the AVS header that some drivers write in its place.
pub(super) fn prism(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let head = octets.peek::<8>()?;
    if head[..3] == [0x80, 0x21, 0x10] {
        return avs(octets);
    }
    // The byte order is that of the host.
    let length = [head[4], head[5], head[6], head[7]];
    let length = u32::from_le_bytes(length).min(u32::from_be_bytes(length)) as usize;
    if !(24..=PRISM_OCTETS).contains(&length) {
        return Err(SkipReason::Malformed);
    }
    Ok((Header::Wireless { padded: false }, octets.skip(length)?))
}

/// Reads an AVS header.
pub(super) fn avs(octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    let head = octets.peek::<8>()?;
    let length = u32::from_be_bytes([head[4], head[5], head[6], head[7]]) as usize;
    if !(8..=1024).contains(&length) {
        return Err(SkipReason::Malformed);
    }
    Ok((Header::Wireless { padded: false }, octets.skip(length)?))
}

/// Reads a per-packet information header, which states the link type behind it.
pub(super) fn per_packet_information(
    octets: Octets<'_>,
) -> Result<(Header, Octets<'_>), SkipReason> {
    let head = octets.peek::<8>()?;
    let length = usize::from(u16::from_le_bytes([head[2], head[3]]));
    if length < 8 {
        return Err(SkipReason::Malformed);
    }
    let link = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    Ok((Header::Link(Link::from_number(link)), octets.skip(length)?))
}

/// Reads an IEEE 802.11 header (section 9.2.4) with data that is not encrypted.
pub(super) fn wireless(
    octets: Octets<'_>,
    padded: bool,
) -> Result<(Header, Octets<'_>), SkipReason> {
    let &[control, flags] = octets.peek::<2>()?;
    // Data frames of version 0 are read, those without a payload are not.
    if control & 0x0f != 0x08 || control & 0x40 != 0 {
        return Err(SkipReason::NotIp);
    }
    let is_qos = control & 0x80 != 0;
    let four_addresses = flags & 0x03 == 0x03;
    let before_qos = if four_addresses { 30 } else { 24 };
    let qos_octets = if is_qos { 2 } else { 0 };
    let ht_octets = if is_qos && flags & 0x80 != 0 { 4 } else { 0 };
    let length: usize = before_qos + qos_octets + ht_octets;
    let length = if padded { length.next_multiple_of(4) } else { length };
    let sequence = octets.peek::<24>()?[22];
    if flags & 0x04 != 0 || sequence & 0x0f != 0 {
        return Err(SkipReason::Fragment);
    }
    let is_aggregate = is_qos && octets.data.get(before_qos).ok_or(SkipReason::Short)? & 0x80 != 0;
    let rest = octets.skip(length)?;
    let next = if is_aggregate { Header::Aggregate } else { Header::Llc };
    if flags & 0x40 == 0 {
        return Ok((next, rest));
    }
    // A driver that decrypts frames may leave the flag, and the eight octets of the vector.
    let is_llc = |data: &[u8]| data.starts_with(&[0xaa, 0xaa, 0x03]);
    match rest.data {
        data if is_llc(data) => Ok((next, rest)),
        [_, _, _, _, _, _, _, _, data @ ..] if is_llc(data) => Ok((next, rest.skip(8)?)),
        _ => Err(SkipReason::Encrypted),
    }
}

/// Splits an aggregate into its first frame and the rest (IEEE 802.11, section 9.3.2.2.2).
pub(super) fn split_aggregate(octets: Octets<'_>) -> Option<(Octets<'_>, Octets<'_>)> {
    let head = octets.peek::<14>().ok()?;
    let length = 14 + u32::from(u16::from_be_bytes([head[12], head[13]]));
    let first = octets.limit(length);
    // The next frame begins at a multiple of four octets.
    let rest = octets.skip(length.next_multiple_of(4) as usize);
    let end = Octets { data: &[], length: 0 };
    Some((first, rest.unwrap_or(end)))
}
