//! Why there is no emulated path; each prints as one line.

use std::io;

/// Why a namespace, a device or an emulator cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process may not do this.
    #[error(
        "network namespaces and TUN devices need root, or CAP_SYS_ADMIN and CAP_NET_ADMIN ({0})"
    )]
    Rights(io::Error),
    /// A program is missing that is needed.
    #[error("{program}: cannot be run: expected {package} to be installed ({reason})")]
    Program {
        /// Its name.
        program: &'static str,
        /// Where it usually comes from.
        package: &'static str,
        /// Why it does not run.
        reason: io::Error,
    },
    /// There is no device to make TUN interfaces with.
    #[error("/dev/net/tun: cannot be opened: expected the kernel to have TUN ({0})")]
    NoTun(io::Error),
    /// `ip` did not do as it was told.
    #[error("ip: {0}")]
    Ip(String),
    /// The kernel refused.
    #[error("{what}: {reason}")]
    Kernel {
        /// What was to be done.
        what: String,
        /// Why it was not.
        reason: io::Error,
    },
    /// A link makes no sense.
    #[error("link: {0}")]
    Link(#[from] unruffled_path::ConfigError),
}

impl Error {
    /// Whether it is this machine or its user who lacks something, and nothing is wrong otherwise.
    pub fn is_lack(&self) -> bool {
        matches!(self, Self::Rights(_) | Self::Program { .. } | Self::NoTun(_))
    }

    /// The kernel refused to do `what`; for lack of rights, if it says so.
    pub(crate) fn kernel(what: impl Into<String>, reason: impl Into<io::Error>) -> Self {
        let reason = reason.into();
        match reason.kind() {
            io::ErrorKind::PermissionDenied => Self::Rights(reason),
            _ => Self::Kernel { what: what.into(), reason },
        }
    }
}
