//! Errors of loading, attaching and running.

use std::io;
use std::path::PathBuf;

/// An error; prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This build has no BPF programs.
    #[error("{0}")]
    NotBuilt(&'static str),
    /// The kernel or the process lacks something.
    #[error("{found}: expected {expected}")]
    Requirement {
        /// The state that was found.
        found: String,
        /// The state that is required.
        expected: &'static str,
    },
    /// The kernel rejected a program, a map or a link.
    #[error("{what}: {reason}")]
    Program {
        /// The program, map or link, or the operation that failed.
        what: String,
        /// The message of libbpf or of the kernel's verifier.
        reason: String,
        /// The error of libbpf.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// A file cannot be read or written. In most cases it is a file of the kernel's.
    #[error("{}: {reason}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        reason: io::Error,
    },
    /// A step failed after earlier ones had succeeded.
    #[error("{0}; what was attached before stays until `unruffled detach`")]
    Partly(#[source] Box<Self>),
    /// The command of `run` cannot be started.
    #[error("{}: {reason}", .command.display())]
    NotStarted {
        /// Name of the command, as given.
        command: PathBuf,
        /// The error of the system.
        #[source]
        reason: io::Error,
        /// Whether the command does not exist.
        missing: bool,
    },
}

impl Error {
    /// Returns a function that makes an error of the file at `path`.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |reason| Self::File { path, reason }
    }
}

/// Returns the error that names what the build lacked.
#[cfg(not(bpf))]
pub(crate) fn missing<T>() -> Result<T, Error> {
    Err(Error::NotBuilt(if cfg!(feature = "bpf") {
        "this build has no BPF programs, since clang was missing: install clang and build again"
    } else {
        "this build has no BPF programs: build with `make build`, or `cargo build --release \
         --features bpf`, where clang, pkg-config and the headers of libelf and zlib are installed"
    }))
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn a_system_error_is_the_source_of_the_error() {
        let error = Error::file("/sys/fs/bpf")(io::ErrorKind::PermissionDenied.into());
        let partly = Error::Partly(Box::new(error));
        let file = partly.source().expect("has a source");
        assert_eq!(file.to_string(), "/sys/fs/bpf: permission denied");
        let system = file.source().and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(system.map(io::Error::kind), Some(io::ErrorKind::PermissionDenied));
    }
}
