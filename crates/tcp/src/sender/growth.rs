//! Which acknowledgements let the window grow: those that arrive while it is full, or all, as in
//! ns-2.

use super::stream::Stream;
use crate::config::Growth;

impl Growth {
    /// Returns whether the window grows; `full`: it was full.
    #[inline]
    pub(super) fn grows(self, full: bool) -> bool {
        full || self == Self::Always
    }

    /// Returns the maximum to which the window grows, in segments.
    #[inline]
    pub(super) fn max_cwnd(self, stream: &Stream) -> f64 {
        match self {
            Self::WhenUsed => f64::INFINITY,
            Self::Always => stream.peer_segments(),
        }
    }
}
