//! A packet that waits.

use unruffled_units::Instant;

/// A packet that waits.
#[derive(Debug)]
pub(crate) struct Held<T> {
    pub(crate) token: T,
    /// One more than its last number.
    pub(crate) end: u64,
    pub(crate) arrived: Instant,
    /// Arrival, or that of the first packet that overtook it, which does not decrease along the numbers;
    /// `None` for a packet that was sent again, which keeps no pace.
    pub(crate) nominal: Option<Instant>,
    pub(crate) timestamp: Option<u32>,
    pub(crate) octets: u32,
}
