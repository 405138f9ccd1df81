//! The states of a connection, and the errors that end it.

use core::fmt;

/// State of a connection (RFC 9293, section 3.3.2), as
/// [`Connection::state`](super::Connection::state) returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// There is no connection.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and one was sent.
    SynReceived,
    /// Both directions are open.
    Established,
    /// This end has finished. Its FIN is not acknowledged.
    FinWait1,
    /// This end has finished and its FIN is acknowledged. The peer may still send.
    FinWait2,
    /// The peer has finished. This end may still send.
    CloseWait,
    /// Both ends have finished simultaneously. This end's FIN is not acknowledged.
    Closing,
    /// Both ends have finished, the peer first. This end's FIN is not acknowledged.
    LastAck,
    /// Both ends have finished. Old segments are given time to leave the network.
    TimeWait,
}

impl State {
    /// Returns whether the handshake is complete, so that both ends have each other's sequence
    /// numbers.
    pub fn is_synchronised(self) -> bool {
        !matches!(self, Self::Closed | Self::Listen | Self::SynSent | Self::SynReceived)
    }

    /// Returns whether the peer may still send.
    pub(super) fn receives(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }
}

/// Reason why a connection ended early, as [`Connection::error`](super::Connection::error) returns
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The peer reset the connection.
    Reset,
    /// The peer refused the connection.
    Refused,
    /// The peer did not answer in time.
    TimedOut,
    /// The peer did not answer in time, and a node on the path reported it as unreachable.
    Unreachable,
    /// This end aborted the connection.
    Aborted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reset => "connection reset by peer",
            Self::Refused => "connection refused",
            Self::TimedOut => "connection timed out",
            Self::Unreachable => "host unreachable",
            Self::Aborted => "connection aborted",
        })
    }
}

impl core::error::Error for Error {}
