//! The states of a connection, and how it can fail.

use core::fmt;

/// The states of RFC 9293, section 3.3.2. Ask [`Connection::state`](super::Connection::state) to learn
/// whether a connection stands, or is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// There is no connection (any more).
    Closed,
    /// Waits for a SYN.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has received a SYN, and sent one.
    SynReceived,
    /// Data flows.
    Established,
    /// This end has finished, and its FIN is not acknowledged.
    FinWait1,
    /// This end has finished, its FIN is acknowledged, and the other may still send.
    FinWait2,
    /// The other end has finished; this one may still send.
    CloseWait,
    /// Both have finished at the same time, and this end's FIN is not acknowledged.
    Closing,
    /// Both have finished, the other one first, and this end's FIN is not acknowledged.
    LastAck,
    /// Both have finished; old segments are given the time to die.
    TimeWait,
}

impl State {
    /// Whether both ends know each other's sequence numbers and the handshake is done.
    pub fn is_synchronised(self) -> bool {
        !matches!(self, Self::Closed | Self::Listen | Self::SynSent | Self::SynReceived)
    }

    /// Whether the peer may still send, as far as this end knows.
    pub(super) fn receives(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }
}

/// Why a connection ended before its time. Ask [`Connection::error`](super::Connection::error) once it
/// is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// The peer reset it.
    Reset,
    /// The peer refused it.
    Refused,
    /// The peer did not answer for too long.
    TimedOut,
    /// The peer did not answer for too long, and something on the way said that it could not be
    /// reached.
    Unreachable,
    /// This end aborted it.
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
