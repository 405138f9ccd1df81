//! Any octets decode to a packet or a reason, and a decoded packet can be encoded and decoded
//! again.

use etherparse::checksum::Sum16BitWords;
use unruffled_stack::codec::{Checksums, Malformed, Packet, decode, encode, encode_for_offload};
use unruffled_stack::codec::{header_len, pure_len};
use unruffled_tcp::{Flags, Segment};

/// Plays `bytes`; returns the reason why they are no valid packet, if they are none. The first
/// octet selects the checksums that are corrected first, since the fuzzer can hardly find them.
pub fn run(bytes: &[u8]) -> Option<Malformed> {
    let (&corrected, bytes) = bytes.split_first()?;
    let mut bytes = bytes.to_vec();
    if corrected & 1 == 1 {
        repair_header(&mut bytes);
    }
    if corrected & 2 == 2 {
        repair_transport(&mut bytes);
    }
    let bytes = &bytes[..];
    let trusted = decode(bytes, Checksums::Trust);
    let verified = decode(bytes, Checksums::Verify);
    match verified {
        Ok(packet) => assert_eq!(Ok(packet), trusted),
        Err(reason) => assert!(reason == Malformed::Checksum || trusted == Err(reason)),
    }
    let first = match trusted {
        Ok(Packet::Tcp(first)) => first,
        Ok(_) => return None,
        Err(reason) => return Some(reason),
    };
    assert_eq!(first.payload.len(), first.segment.len as usize);
    let (from, to, payload) =
        (first.from, first.to, first.payload.split_at(first.payload.len() / 2));
    let mut out = Vec::new();
    let written = writable(first.segment);
    let Some(len) = encode(from, to, &written, payload, &mut out) else {
        assert!(out.is_empty() && header_len(to.ip(), &written) + first.payload.len() > 65_000);
        return verified.err();
    };
    assert_eq!(len, out.len());
    assert!(header_len(to.ip(), &written) + first.payload.len() >= len);
    let Ok(Packet::Tcp(second)) = decode(&out, Checksums::Verify) else { panic!("unreadable") };
    assert_eq!((from, to, first.payload), (second.from, second.to, second.payload));
    assert_eq!(written, second.segment);
    // For a device that completes the checksum, everything else is the same.
    let mut partial = Vec::new();
    let (partial_len, tcp) =
        encode_for_offload(from, to, &written, payload, &mut partial).expect("as before");
    assert_eq!((partial_len, tcp + 20), (len, pure_len(to.ip())));
    partial[tcp + 16..tcp + 18].copy_from_slice(&out[tcp + 16..tcp + 18]);
    assert_eq!(partial, out);
    verified.err()
}

/// Returns `segment` without what a header of the engine has no room for.
fn writable(mut segment: Segment) -> Segment {
    let Flags { ack, syn, .. } = segment.flags;
    if !ack {
        segment.ack = Segment::default().ack;
    }
    let max_blocks = if syn {
        0
    } else if segment.timestamps.is_some() {
        3
    } else {
        4
    };
    let blocks = segment.sack;
    segment.sack = Segment::default().sack;
    for block in blocks.as_slice().iter().take(max_blocks) {
        segment.sack.push(block.left, block.right);
    }
    segment
}

/// Corrects the checksum of an IPv4 header.
fn repair_header(bytes: &mut [u8]) {
    let Some(header) = ipv4_header(bytes) else { return };
    bytes[10..12].fill(0);
    let sum = Sum16BitWords::new().add_slice(&bytes[..header]).ones_complement();
    bytes[10..12].copy_from_slice(&sum.to_ne_bytes());
}

/// Returns the length of an IPv4 header; `None` if it is none.
fn ipv4_header(bytes: &[u8]) -> Option<usize> {
    let first = bytes.first().filter(|&first| first >> 4 == 4)?;
    Some(usize::from(first & 15) * 4).filter(|header| (20..=bytes.len()).contains(header))
}

/// Corrects the checksum of TCP or ICMP behind an IP header without extensions.
fn repair_transport(bytes: &mut [u8]) {
    let two = |bytes: &[u8], at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    let (start, end, protocol, addresses) = match ipv4_header(bytes) {
        Some(header) => (header, two(bytes, 2), bytes[9], 12..20),
        None if bytes.len() >= 40 => (40, 40 + two(bytes, 4), bytes[6], 8..40),
        None => return,
    };
    let mut sum = Sum16BitWords::new();
    if protocol != 1 {
        sum = sum.add_slice(&bytes[addresses]).add_2bytes([0, protocol]);
        sum = sum.add_2bytes((end.saturating_sub(start) as u16).to_be_bytes());
    }
    let at = if protocol == 6 { 16 } else { 2 };
    let Some(carried) = bytes.get_mut(start..end) else { return };
    let Some(field) = carried.get_mut(at..at + 2) else { return };
    field.fill(0);
    let sum = sum.add_slice(carried).ones_complement();
    carried[at..at + 2].copy_from_slice(&sum.to_ne_bytes());
}
