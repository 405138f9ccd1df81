//! Errors of races.

/// An error of a race; prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The emulated path cannot be created.
    #[error(transparent)]
    Net(#[from] unruffled_net::Error),
    /// The congestion control `unruffled` cannot be loaded for the race.
    #[error("--kernel unruffled: {0}")]
    Kernel(#[from] unruffled_kernel::Error),
    /// No resequencer can be run.
    #[error("--resequence: {0}")]
    Resequencer(#[from] unruffled_nfqueue::Error),
    /// The kernel has no such congestion control.
    #[error("--kernel {name}: not in this kernel: expected names among {available}{hint}")]
    NoCongestionControl {
        /// The requested name.
        name: String,
        /// The names that the kernel has.
        available: String,
        /// A suggestion, or nothing.
        hint: String,
    },
    /// A scenario or sender is invalid.
    #[error(transparent)]
    Scenario(#[from] unruffled_scenario::Error),
    /// A simulation that fails.
    #[error(transparent)]
    Lab(#[from] unruffled_lab::Error),
    /// A foreign stack cannot be used.
    #[error("{place}: {reason}")]
    Stack {
        /// The flag and its value, or the manifest.
        place: String,
        /// The reason.
        reason: Unusable,
    },
    /// The request is not possible in a race.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The scenario has traffic that real senders cannot carry.
    #[error("{file}: {key}: a race has only {expected}")]
    Traffic {
        /// The scenario's file, or its name if it is built in.
        file: String,
        /// The key, dotted.
        key: String,
        /// The values that a race supports.
        expected: Possible,
    },
    /// The system rejected something that every race needs.
    #[error("{what}: {reason}")]
    System {
        /// The operation that failed.
        what: &'static str,
        /// The error of the system.
        #[source]
        reason: std::io::Error,
    },
}

/// Reason for which a foreign stack cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// The manifest cannot be read.
    #[error(transparent)]
    Io(std::io::Error),
    /// The manifest is invalid.
    #[error("{0}")]
    Manifest(String),
    /// There is no driver of this name.
    #[error("no driver in {}, which has {built}: `make stacks` builds them{hint}", folder.display())]
    NotBuilt {
        /// The folder of drivers.
        folder: std::path::PathBuf,
        /// The drivers in it.
        built: String,
        /// A suggestion, or nothing.
        hint: String,
    },
    /// The stack has no such control or setting.
    #[error("{what} {found}: expected {expected}{hint}")]
    Unknown {
        /// What the name stands for.
        what: &'static str,
        /// The requested name.
        found: String,
        /// The names that the stack has.
        expected: String,
        /// A suggestion, or nothing.
        hint: String,
    },
    /// A setting has no value.
    #[error("{0}: expected SETTING=VALUE")]
    Setting(String),
}

/// A request that is not possible in a race.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The scenario's segments are smaller than any that Linux sends.
    #[error("{file}: tcp.mss: expected at least {least} B in a race, found {mss} B")]
    Mss {
        /// The scenario's file, or its name if it is built in.
        file: String,
        /// The smallest segment size of Linux, in octets.
        least: u32,
        /// The scenario's segment size, in octets.
        mss: u32,
    },
    /// A race of all senders at once names no senders.
    #[error("--together: expected --variants, too")]
    NoVariants,
    /// A sender needs information that real packets do not carry.
    #[error("--variants: {0}: for simulation only: expected others")]
    SimulationOnly(String),
    /// The scenario has several flows, and the senders do not run at once.
    #[error("{0}: traffic: expected --together beside it")]
    Alone(String),
    /// An override names a key for which a race has a flag.
    #[error("--set: {key}: not taken by a race: expected --{key} {value}")]
    HasFlag {
        /// The key.
        key: String,
        /// The value of the override.
        value: String,
    },
    /// `warmup` is not supported in races.
    #[error(
        "--set: warmup: not taken by a race, which counts from its beginning: expected other keys"
    )]
    WarmUp,
    /// A resequencer takes part, and no kernel.
    #[error("--resequence: no kernel sends: expected some by --kernel")]
    NoneToResequence,
    /// A foreign stack shares the path with others, or sends to our receiver or to a resequencer.
    #[error("--stack: a foreign stack sends alone, to its own receiver: expected no {0}")]
    StackWith(&'static str),
    /// A recording of packets is requested of a foreign stack in virtual time.
    #[error("--stack: {0} runs in virtual time and sends no real packets: expected no --pcap")]
    StackRecorded(String),
    /// No sender takes part.
    #[error("race: no sender takes part: expected --kernel, --variants or --stack")]
    NoSenders,
}

/// Traffic that a race supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Possible {
    /// Transfers between the ends of the first traffic.
    EndsOfTheFirst,
    /// A single stream for each sender.
    Bulk,
    /// Senders that all start at once and do not stop.
    FromTheBeginning,
    /// At most this number of senders.
    AtMost(u64),
}

impl std::fmt::Display for Possible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::EndsOfTheFirst => f.write_str("the ends of the first traffic"),
            Self::Bulk => f.write_str("bulk"),
            Self::FromTheBeginning => f.write_str("the beginning, and no stop"),
            Self::AtMost(most) => write!(f, "at most {most} senders at once"),
        }
    }
}

impl Error {
    /// Returns a function that makes an error of the system while doing `what`.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |reason| Self::System { what, reason }
    }
}

/// A transfer that failed while the race continued; prints as one line with its sender.
#[derive(Debug, thiserror::Error)]
#[error("{who}: {reason}")]
pub struct Failure {
    /// The sender and the seed.
    pub(crate) who: String,
    #[source]
    pub(crate) reason: Reason,
}

/// Reason for which a transfer failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Reason {
    /// No connection was established, or it broke.
    #[error(transparent)]
    Stream(#[from] std::io::Error),
    /// The receiver has other octets than the sender sent.
    #[error("what arrived is not what was sent")]
    Corrupted,
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;
    use std::io;

    use super::*;

    #[test]
    fn a_system_error_is_the_source_of_the_error() {
        let error = Error::system("connecting")(io::ErrorKind::ConnectionRefused.into());
        let system = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(system.map(io::Error::kind), Some(io::ErrorKind::ConnectionRefused));
        let failure = Failure { who: "sack, seed 1".to_owned(), reason: Reason::Corrupted };
        let reason = failure.source().expect("has a source");
        assert_eq!(reason.to_string(), "what arrived is not what was sent");
    }
}
