//! Why no path can be fitted to a transfer, or no number told from one.

use pcap_file::PcapError;
use unruffled_tcp::VariantError;

use crate::cancel::RunError;
use crate::rate::in_words;

/// Why no path can be fitted to a transfer. Prints as a part of a line; the capture stands before it,
/// in [`Error::Unfit`](super::Error::Unfit).
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The capture has no such transfer.
    #[error("no transfer {number}: it has {found}")]
    NoTransfer {
        /// What was asked for, counted from 1.
        number: u32,
        /// So many there are.
        found: usize,
    },
    /// It is too short to tell anything.
    #[error("expected a transfer of at least {enough} segments, found {segments}")]
    TooShort {
        /// Its segments.
        segments: u64,
        /// So many tell enough.
        enough: u64,
    },
    /// No round trip can be told.
    #[error("no round trip in it: expected a handshake or timestamps")]
    NoRoundTrip,
    /// The transfer never had packets queue.
    #[error(
        "it never filled its path, whose rate it thus does not tell (write the path with --scenario \
         and compare it with --set link.measured.rate=RATE)"
    )]
    NoRate,
    /// Others use the path.
    #[error(
        "for {:.0} % of its packets the path was full of others' packets, and what those would leave \
         it without the reordering is not seen",
        share * 100.0
    )]
    Crowded {
        /// The share of its packets that waited for those of others.
        share: f64,
    },
    /// No late packet is seen, only what the sender made of them.
    #[error("which packets came late is not seen, since the receiver sends no SACK")]
    NoneSeenLate,
    /// Reordering has no cost where it is not the cause.
    #[error("reordering is not what slowed it")]
    NotReordered,
    /// The fitted path carries something else.
    #[error(
        "the model delivers {} where {} were captured: it lacks something of this path",
        in_words(*model_bps),
        in_words(*captured_bps)
    )]
    TooFar {
        /// Goodput over the fitted path.
        model_bps: f64,
        /// Goodput in the capture.
        captured_bps: f64,
    },
    /// The simulation of the fitted path sent nothing.
    #[error("nothing was sent over it")]
    NothingSent,
    /// Cancellation was requested while the fitted path was simulated.
    #[error("its simulation was interrupted")]
    Cancelled,
    /// None of the paths that were tried fits.
    #[error("no path fits")]
    NoPath,
    /// No such sender.
    #[error(transparent)]
    Sender(#[from] VariantError),
    /// The fitted path is no scenario.
    #[error(transparent)]
    Scenario(Box<unruffled_scenario::Error>),
    /// The simulation's capture could not be written.
    #[error(transparent)]
    Capture(#[from] PcapError),
    /// A link of the fitted path is invalid.
    #[error(transparent)]
    Link(unruffled_path::ConfigError),
    /// The simulation's capture could not be read.
    #[error(transparent)]
    Analysis(#[from] unruffled_capture::Error),
}

impl From<RunError> for FitError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Cancelled => Self::Cancelled,
            RunError::Config(error) => Self::Link(error),
        }
    }
}

impl From<unruffled_scenario::Error> for FitError {
    fn from(error: unruffled_scenario::Error) -> Self {
        Self::Scenario(Box::new(error))
    }
}
