//! Why a race did not take place.

/// Why there is no race; prints as one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No emulated path is to be had.
    #[error(transparent)]
    Net(#[from] unruffled_net::Error),
    /// The congestion control that is loaded for a race.
    #[error("--kernel unruffled: {0}")]
    Kernel(#[from] unruffled_kernel::Error),
    /// The kernel has no such congestion control.
    #[error("--kernel {name}: not in this kernel: expected names among {available}{hint}")]
    NoCongestionControl {
        /// What was asked for.
        name: String,
        /// What there is.
        available: String,
        /// What may have been meant.
        hint: String,
    },
    /// A wrong scenario or sender.
    #[error(transparent)]
    Scenario(#[from] unruffled_scenario::Error),
    /// A simulation that fails.
    #[error(transparent)]
    Lab(#[from] unruffled_lab::Error),
    /// What was asked for cannot race.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The scenario's traffic is not for real senders.
    #[error("{file}: {key}: a race has only {expected}")]
    Traffic {
        /// The scenario's file, or its name if it is built in.
        file: String,
        /// The key, dotted.
        key: String,
        /// What a race has.
        expected: Possible,
    },
    /// The system refused something that every race needs.
    #[error("{what}: {reason}")]
    System {
        /// What.
        what: &'static str,
        /// Why.
        reason: std::io::Error,
    },
}

/// What cannot race, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Linux sends no segments as small as the scenario's.
    #[error("{file}: tcp.mss: expected at least {least} B in a race, found {mss} B")]
    Mss {
        /// The scenario's file, or its name if it is built in.
        file: String,
        /// The smallest.
        least: u32,
        /// The scenario's.
        mss: u32,
    },
    /// A race of all at once over one path needs to be told whose.
    #[error("--together: expected --variants, too")]
    NoVariants,
    /// A sender needs what real packets do not tell.
    #[error("--variants: {0}: for simulation only: expected others")]
    SimulationOnly(String),
    /// The scenario has traffic of its own.
    #[error("{0}: traffic: expected --together beside it")]
    Alone(String),
    /// A key of the scenario for which a race has an option of its own.
    #[error("--set: {key}: not taken by a race: expected --{key} {value}")]
    NotHeeded {
        /// The key.
        key: String,
        /// What it was set to.
        value: String,
    },
    /// Nothing of a race goes uncounted.
    #[error(
        "--set: warmup: not taken by a race, which counts from its beginning: expected other keys"
    )]
    WarmUp,
    /// Nobody is left.
    #[error("race: no sender takes part: expected --kernel or --variants")]
    Nobody,
}

/// What the traffic of a race may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Possible {
    /// From one end of the path to the other.
    WholePath,
    /// A single stream of each sender.
    Bulk,
    /// Senders that all start at once and do not stop.
    FromTheBeginning,
    /// So many senders.
    AtMost(u64),
}

impl std::fmt::Display for Possible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WholePath => f.write_str("the whole path"),
            Self::Bulk => f.write_str("bulk"),
            Self::FromTheBeginning => f.write_str("the beginning, and no stop"),
            Self::AtMost(most) => write!(f, "at most {most} senders at once"),
        }
    }
}

impl Error {
    /// Tells what the system refused.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |reason| Self::System { what, reason }
    }
}

/// A transfer that failed, while the race went on; prints as one line that says whose it was.
#[derive(Debug, thiserror::Error)]
#[error("{who}: {reason}")]
pub struct Failure {
    /// The sender and the seed.
    pub(crate) who: String,
    pub(crate) reason: Reason,
}

/// Why a transfer failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Reason {
    /// No connection came about, or it broke.
    #[error(transparent)]
    Stream(#[from] std::io::Error),
    /// The receiver has other octets than those sent.
    #[error("what arrived is not what was sent")]
    Corrupted,
}
