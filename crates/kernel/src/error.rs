//! Why the congestion control is not in the kernel.

use std::io;
use std::path::PathBuf;

/// Why something was refused; prints as one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The programs were not compiled.
    #[error("{0}")]
    NotBuilt(&'static str),
    /// The kernel or the process cannot have it.
    #[error("{found}: expected {expected}")]
    Requirement {
        /// What there is.
        found: String,
        /// What it takes.
        expected: &'static str,
    },
    /// The kernel did not take a program, or what was asked with one.
    #[error("{what}: {reason}")]
    Program {
        /// What was to be done.
        what: String,
        /// What libbpf and the kernel say.
        reason: String,
    },
    /// A file, most of them the kernel's.
    #[error("{}: {reason}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        reason: io::Error,
    },
    /// A step was refused when others had been made.
    #[error("{0}; what was attached before stays until `unruffled detach`")]
    Partly(Box<Self>),
    /// The command of `run` was not started.
    #[error("{}: {reason}", .command.display())]
    NotStarted {
        /// Its name, as it was given.
        command: PathBuf,
        /// Why not.
        reason: io::Error,
        /// Whether there is no such file.
        missing: bool,
    },
}

impl Error {
    /// Something went wrong with the file.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |reason| Self::File { path, reason }
    }
}
