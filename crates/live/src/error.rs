//! Errors.

use std::io;

/// An error of a live capture; prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The process lacks the required privileges.
    #[error("capturing packets needs root, or CAP_NET_RAW ({0})")]
    Rights(#[source] io::Error),
    /// The interface does not exist.
    #[error("{name}: expected an interface of this machine, or any{hint}")]
    NoInterface {
        /// The name.
        name: String,
        /// A similar name, as the end of the message.
        hint: String,
    },
    /// The interface is down.
    #[error("{0} is down: expected an interface that is up")]
    Down(String),
    /// The interface was removed during the capture.
    #[error("the interface was removed")]
    Removed,
    /// The kernel rejected a system call.
    #[error("{what}: {reason}")]
    Kernel {
        /// The operation that failed.
        what: &'static str,
        /// The error of the system.
        #[source]
        reason: io::Error,
    },
}

impl Error {
    /// Returns the error for a system call that failed while doing `what`: [`Error::Rights`] if the reason
    /// is a lack of privileges.
    pub(crate) fn kernel(what: &'static str, reason: impl Into<io::Error>) -> Self {
        let reason = reason.into();
        match reason.kind() {
            io::ErrorKind::PermissionDenied => Self::Rights(reason),
            _ => Self::Kernel { what, reason },
        }
    }
}
