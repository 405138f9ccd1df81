//! Which acknowledgements let the window grow: only those that find it used up, or all, as in ns-2.

use super::stream::Stream;
use crate::config::Growth;

impl Growth {
    /// Whether the window grows, which `full` says was used up.
    #[inline]
    pub(super) fn grows(self, full: bool) -> bool {
        full || self == Self::Always
    }

    /// What the window grows to at most, in segments.
    #[inline]
    pub(super) fn most(self, stream: &Stream) -> f64 {
        match self {
            Self::WhenUsed => f64::INFINITY,
            Self::Always => stream.peer_segments(),
        }
    }
}
