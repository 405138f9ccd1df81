//! Octets of a frame from one header on.

use crate::packet::SkipReason;

/// The octets behind the headers that have been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Octets<'a> {
    /// The captured octets.
    pub(super) data: &'a [u8],
    /// Length on the network, in octets; the capture may hold less.
    pub(super) length: u32,
}

impl<'a> Octets<'a> {
    /// Splits off the first `N` octets.
    pub(super) fn split<const N: usize>(self) -> Result<(&'a [u8; N], Self), SkipReason> {
        let (head, data) = self.data.split_first_chunk::<N>().ok_or(SkipReason::Short)?;
        Ok((head, Self { data, length: self.length.saturating_sub(N as u32) }))
    }

    /// Drops the first `count` octets.
    pub(super) fn skip(self, count: usize) -> Result<Self, SkipReason> {
        let data = self.data.get(count..).ok_or(SkipReason::Short)?;
        Ok(Self { data, length: self.length.saturating_sub(count as u32) })
    }

    /// Returns the first `N` octets without dropping them.
    pub(super) fn peek<const N: usize>(self) -> Result<&'a [u8; N], SkipReason> {
        self.data.first_chunk::<N>().ok_or(SkipReason::Short)
    }

    /// Drops everything beyond the first `length` octets on the network.
    pub(super) fn limit(self, length: u32) -> Self {
        let length = length.min(self.length);
        Self { data: &self.data[..self.data.len().min(length as usize)], length }
    }

    /// Returns the upper four bits of the first octet: the version of an IP header.
    pub(super) fn version(self) -> Result<u8, SkipReason> {
        Ok(self.peek::<1>()?[0] >> 4)
    }
}

/// Returns the 16-bit number in network byte order at `at`.
///
/// # Panics
/// When `octets` is shorter than `at + 2`.
pub(super) fn u16_at(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

/// Returns the 32-bit number in network byte order at `at`.
///
/// # Panics
/// When `octets` is shorter than `at + 4`.
pub(super) fn u32_at(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]])
}
