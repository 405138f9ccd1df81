//! Which acknowledgements let the window grow: only those that find it used up, or all, as in ns-2.

use super::stream::Stream;

/// Which new acknowledgements let the window grow. Use it for
/// [`WindowConfig::growth`](crate::WindowConfig::growth), to compare with ns-2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// Those that come while the window is what limits the sender (RFC 5681, section 3.1; RFC 7661).
    #[default]
    WhenUsed,
    /// All, up to the peer's window, as ns-2's TcpAgent::opencwnd has it. ns-2's cwnd grows on beyond
    /// the peer's window, but counts no higher when it is halved (TcpAgent::windowd).
    Always,
}

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
