//! The Internet checksum (RFC 1071): the ones' complement of the ones' complement sum of 16-bit words.

use std::net::IpAddr;

/// Below this many octets what tun-rs's sum asks of the processor first takes longer than the sum.
const SHORT: usize = 128;

/// Adds the words of `octets` to `to`; the last one may be half a word. Long stretches are summed up by
/// tun-rs, in less than half the time that etherparse takes (benches/codec.rs).
#[inline]
pub(super) fn add(to: u64, octets: &[u8]) -> u64 {
    if octets.len() >= SHORT {
        return u64::from(tun_rs::checksum(octets, to));
    }
    let (words, rest) = octets.as_chunks::<4>();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    // Two words at a time: what one carries to the other is folded later (RFC 1071, section 2).
    words.iter().chain([&last]).fold(to, |sum, &word| sum + u64::from(u32::from_be_bytes(word)))
}

/// The sum in 16 bits.
#[inline]
pub(super) fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

/// The sum over the pseudo header (RFC 9293, section 3.1; RFC 8200, section 8.1).
#[inline]
pub(super) fn pseudo_header(from: IpAddr, to: IpAddr, protocol: u8, len: usize) -> u64 {
    let with = |sum, address: IpAddr| match address {
        IpAddr::V4(v4) => add(sum, &v4.octets()),
        IpAddr::V6(v6) => add(sum, &v6.octets()),
    };
    with(with(u64::from(protocol) + len as u64, from), to)
}

/// The ones' complement of the sum over pseudo header and transport: 0 where the checksum is right.
#[inline]
pub(super) fn transport(from: IpAddr, to: IpAddr, protocol: u8, transport: &[u8]) -> u16 {
    !fold(add(pseudo_header(from, to, protocol, transport.len()), transport))
}

#[cfg(test)]
mod tests {
    use etherparse::checksum::Sum16BitWords;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_are_etherparses(octets in prop::collection::vec(any::<u8>(), 0..300), cut in 0_usize..150) {
            let sum = u16::from_be_bytes(Sum16BitWords::new().add_slice(&octets).ones_complement().to_ne_bytes());
            prop_assert_eq!(!fold(add(0, &octets)), sum);
            // In two pieces, of which the first has whole words.
            let (a, b) = octets.split_at((2 * cut).min(octets.len()));
            prop_assert_eq!(!fold(add(add(0, a), b)), sum);
        }
    }
}
