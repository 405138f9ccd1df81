//! The Internet checksum (RFC 1071): the ones' complement of the ones' complement sum of 16-bit
//! words.

use std::net::IpAddr;

/// Octets below which the loop over 32-bit words is the faster one.
const WIDE_MIN_OCTETS: usize = 64;

/// Adds the 16-bit words of `octets` to `sum`. A last octet without a partner is the high half of
/// its word.
#[inline]
pub(super) fn add(sum: u64, octets: &[u8]) -> u64 {
    if octets.len() >= WIDE_MIN_OCTETS {
        return sum + u64::from(sum_of_many(octets));
    }
    let (words, rest) = octets.as_chunks::<4>();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    // Two words at a time: `fold` adds the carries between them later (RFC 1071, section 2).
    words.iter().chain([&last]).fold(sum, |sum, &word| sum + u64::from(u32::from_be_bytes(word)))
}

/// Returns the folded sum of the words of `octets`, eight octets at a time.
///
/// It adds in the byte order of the machine, since the order does not change the sum (RFC 1071,
/// section 2B). Two independent sums of 128 bits need no carries and keep the processor busy.
fn sum_of_many(octets: &[u8]) -> u16 {
    let wide = |octets: &[u8; 8]| u128::from(u64::from_ne_bytes(*octets));
    let (lines, rest) = octets.as_chunks::<32>();
    let (words, rest) = rest.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut even: u128 = words.iter().map(wide).sum::<u128>() + wide(&last);
    let mut odd: u128 = 0;
    for line in lines {
        let (words, _) = line.as_chunks::<8>();
        even += wide(&words[0]);
        odd += wide(&words[1]);
        even += wide(&words[2]);
        odd += wide(&words[3]);
    }
    let sum = even + odd;
    let (high, low) = ((sum >> 64) as u64, sum as u64);
    u16::from_be(fold((low & 0xffff_ffff) + (low >> 32) + high))
}

/// Returns the sum in 16 bits, its carries added.
#[inline]
pub(super) fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

/// Returns the sum over the pseudo header (RFC 9293, section 3.1; RFC 8200, section 8.1).
#[inline]
pub(super) fn pseudo_header(from: IpAddr, to: IpAddr, protocol: u8, len: usize) -> u64 {
    let with = |sum, address: IpAddr| match address {
        IpAddr::V4(v4) => add(sum, &v4.octets()),
        IpAddr::V6(v6) => add(sum, &v6.octets()),
    };
    with(with(u64::from(protocol) + len as u64, from), to)
}

/// Returns the ones' complement of the sum over pseudo header and transport: 0 where the checksum
/// in the transport header is right.
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
        fn sums_equal_those_of_etherparse(
            octets in prop::collection::vec(any::<u8>(), 0..300),
            cut in 0_usize..150,
        ) {
            let sum = Sum16BitWords::new().add_slice(&octets).ones_complement();
            let sum = u16::from_be_bytes(sum.to_ne_bytes());
            prop_assert_eq!(!fold(add(0, &octets)), sum);
            // In two pieces, the first of which consists of whole words.
            let (a, b) = octets.split_at((2 * cut).min(octets.len()));
            prop_assert_eq!(!fold(add(add(0, a), b)), sum);
        }
    }

    #[test]
    fn the_largest_packet_does_not_overflow_the_sum() {
        // 32,768 words of 0xffff: in ones' complement each of them is zero.
        assert_eq!(fold(add(0, &[0xff; 65_536])), 0xffff);
        assert_eq!(fold(add(1, &[0xff; 65_536])), 1);
    }
}
