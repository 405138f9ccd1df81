//! Sequence numbers as on the wire: 32 bits that wrap (RFC 9293, section 3.4).

use core::fmt;

/// A 32-bit sequence number. Comparison is by signed distance, so there is no total order.
///
/// ```
/// use unruffled_tcp::SeqNr;
///
/// assert_eq!(SeqNr(u32::MAX).add(2), SeqNr(1));
/// assert_eq!(SeqNr(1).distance(SeqNr(u32::MAX)), 2);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SeqNr(pub u32);

impl SeqNr {
    /// Returns the number `n` octets further on.
    pub const fn add(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }

    /// Returns the signed distance from `other` to `self`, which is correct while they are within
    /// 2^31 of each other.
    pub const fn distance(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }

    /// Returns the sequence number of a 64-bit offset counted from this number.
    pub const fn at(self, offset: u64) -> Self {
        Self(self.0.wrapping_add(offset as u32))
    }

    /// Returns the 64-bit offset of `self`, counted from `origin`, that is nearest to `near`, or
    /// `None` if it is before the origin.
    pub fn unwrap(self, origin: Self, near: u64) -> Option<u64> {
        near.checked_add_signed(i64::from(self.distance(origin.at(near))))
    }
}

impl fmt::Debug for SeqNr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_past_the_wrap_is_ahead() {
        assert_eq!(SeqNr(5).distance(SeqNr(u32::MAX)), 6);
        let origin = SeqNr(u32::MAX - 10);
        assert_eq!(SeqNr(9).unwrap(origin, 15), Some(20));
        assert_eq!(origin.at(1 << 33).unwrap(origin, (1 << 33) + 7), Some(1 << 33));
    }

    #[test]
    fn a_number_before_the_origin_has_no_position() {
        assert_eq!(SeqNr(0).unwrap(SeqNr(10), 3), None);
    }
}
