//! The errors of a stack.

use std::io;

use unruffled_tcp::Error;

/// The reason why a call failed. Match on it, or convert it into an [`std::io::Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StackError {
    /// The connection ended early.
    #[error(transparent)]
    Connection(#[from] Error),
    /// A listener or a connection between the same two ends uses the address.
    #[error("address in use")]
    InUse,
    /// The stack has no address, or no free port, to reach the peer from.
    #[error("no address to connect from")]
    NoAddress,
    /// The destination cannot exist: it is not the address of a single host, or its port is 0.
    #[error("expected a host's address and a port to connect to")]
    NoHost,
    /// The application wrote after it had finished its stream.
    #[error("the stream has been finished")]
    Finished,
    /// The connection or listener no longer exists.
    #[error("closed")]
    Closed,
    /// A panic in the driver's thread, or during a call, left the stack in an unknown state.
    #[error("the stack has failed")]
    Failed,
    /// There are as many connections as the limits allow.
    #[error("too many connections")]
    NoRoom,
}

impl From<StackError> for io::Error {
    fn from(error: StackError) -> Self {
        use io::ErrorKind;
        let kind = match error {
            StackError::Connection(Error::Reset) => ErrorKind::ConnectionReset,
            StackError::Connection(Error::Refused) => ErrorKind::ConnectionRefused,
            StackError::Connection(Error::Unreachable) => ErrorKind::HostUnreachable,
            StackError::Connection(Error::TimedOut) => ErrorKind::TimedOut,
            StackError::Connection(Error::Aborted) => ErrorKind::ConnectionAborted,
            StackError::Connection(_) => ErrorKind::Other,
            StackError::InUse => ErrorKind::AddrInUse,
            StackError::NoAddress => ErrorKind::AddrNotAvailable,
            StackError::NoHost => ErrorKind::InvalidInput,
            StackError::Finished => ErrorKind::BrokenPipe,
            StackError::Closed => ErrorKind::NotConnected,
            StackError::NoRoom => ErrorKind::OutOfMemory,
            StackError::Failed => ErrorKind::BrokenPipe,
        };
        Self::new(kind, error)
    }
}
