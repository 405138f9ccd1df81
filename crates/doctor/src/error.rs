//! Errors of the watch.

use std::io;
use std::path::PathBuf;

/// An error; prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel refuses a request.
    #[error("{what}: {reason}: expected a kernel with CONFIG_INET_DIAG")]
    Kernel {
        /// What was requested.
        what: &'static str,
        /// The error of the system.
        #[source]
        reason: io::Error,
    },
    /// A file of the kernel cannot be read.
    #[error("{}: {reason}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        reason: io::Error,
    },
    /// A network namespace cannot be entered.
    #[error("{0}")]
    Namespace(#[from] unruffled_kernel::Error),
}
