//! Errors of namespaces, devices and emulators.

use std::io;

/// An error of a namespace, a device or an emulator; prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The process lacks the required privileges.
    #[error(
        "network namespaces and TUN devices need root, or CAP_SYS_ADMIN and CAP_NET_ADMIN ({0})"
    )]
    Rights(#[source] io::Error),
    /// A required program cannot be run.
    #[error("{program}: cannot be run: expected {package} to be installed ({reason})")]
    Program {
        /// Name of the program.
        program: &'static str,
        /// Name of the package that usually contains it.
        package: &'static str,
        /// The error of the system.
        #[source]
        reason: io::Error,
    },
    /// The device that creates TUN interfaces cannot be opened.
    #[error("/dev/net/tun: cannot be opened: expected the kernel to have TUN ({0})")]
    NoTun(#[source] io::Error),
    /// `ip` failed; the text is its message.
    #[error("ip: {0}")]
    Ip(String),
    /// The kernel rejected a system call.
    #[error("{what}: {reason}")]
    Kernel {
        /// The operation that failed.
        what: String,
        /// The error of the system.
        #[source]
        reason: io::Error,
    },
    /// The configuration of a link is invalid.
    #[error("link: {0}")]
    Link(#[from] unruffled_path::ConfigError),
}

impl Error {
    /// Returns whether the machine or the user lacks something that real packets need. Tests skip
    /// themselves then.
    pub fn is_lack(&self) -> bool {
        matches!(self, Self::Rights(_) | Self::Program { .. } | Self::NoTun(_))
    }

    /// Returns the error for a system call that failed while doing `what`: [`Error::Rights`] if the
    /// reason is a lack of privileges.
    pub(crate) fn kernel(what: impl Into<String>, reason: impl Into<io::Error>) -> Self {
        let reason = reason.into();
        match reason.kind() {
            io::ErrorKind::PermissionDenied => Self::Rights(reason),
            _ => Self::Kernel { what: what.into(), reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn a_system_error_is_the_source_of_the_error() {
        for (kind, is_lack) in
            [(io::ErrorKind::PermissionDenied, true), (io::ErrorKind::AddrInUse, false)]
        {
            let error = Error::kernel("setns", kind);
            assert_eq!(error.is_lack(), is_lack, "{error}");
            let system = error.source().and_then(|source| source.downcast_ref::<io::Error>());
            assert_eq!(system.map(io::Error::kind), Some(kind));
        }
    }
}
