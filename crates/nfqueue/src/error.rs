//! Errors.

use std::io;

/// An error of a resequencer; prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The process lacks the required privileges.
    #[error("queues of packets need root, or CAP_NET_ADMIN ({0})")]
    Rights(#[source] io::Error),
    /// The kernel has no packet queues.
    #[error("expected the kernel to have packet queues: module nfnetlink_queue ({0})")]
    NoQueue(#[source] io::Error),
    /// Neither `nft` nor `iptables` is installed.
    #[error("expected nftables or iptables to be installed: neither nft nor iptables can be run")]
    NoFirewall,
    /// No firewall program could install the rules; the text has the message of each.
    #[error("no rule that queues packets: {0}")]
    Rules(String),
    /// A resequencer runs already. Its process id is not known to other users.
    #[error("a resequencer runs already in this network namespace{}", process(*.0))]
    Running(Option<u32>),
    /// An interface does not exist.
    #[error("--interface: {0}: expected an interface of this machine")]
    NoInterface(String),
    /// Every queue number has another user.
    #[error("all numbers of queues from {0} on are in use")]
    NoQueueNumber(u16),
    /// The worker could not be started, or does not answer.
    #[error("the worker: {0}")]
    Worker(#[source] io::Error),
    /// The worker has ended too often.
    #[error(
        "the worker ended {0} times within {1} s: the rules are removed, and packets pass as they come"
    )]
    WorkerKeepsEnding(usize, u64),
    /// The kernel rejected a system call.
    #[error("{what}: {reason}")]
    Kernel {
        /// The operation that failed.
        what: String,
        /// The error of the system.
        #[source]
        reason: io::Error,
    },
}

impl Error {
    /// Returns whether the machine or the user lacks something that a resequencer needs.
    pub fn is_lack(&self) -> bool {
        matches!(self, Self::Rights(_) | Self::NoQueue(_) | Self::NoFirewall | Self::Rules(_))
    }

    /// Returns the error for a system call that failed while doing `what`: [`Error::Rights`] if the reason
    /// is a lack of privileges.
    pub(crate) fn kernel(what: impl Into<String>, reason: impl Into<io::Error>) -> Self {
        let reason = reason.into();
        match reason.kind() {
            io::ErrorKind::PermissionDenied => Self::Rights(reason),
            _ => Self::Kernel { what: what.into(), reason },
        }
    }
}

fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(": process {pid}")).unwrap_or_default()
}
