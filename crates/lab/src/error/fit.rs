//! Errors of fitting a path to a transfer, and of computing what reordering cost it.

use pcap_file::PcapError;
use unruffled_tcp::VariantError;

use crate::cancel::RunError;
use crate::rate::in_words;

/// Why no path can be fitted to a transfer. Prints as a part of a line; the name of the capture precedes
/// it in [`Error::Unfit`](super::Error::Unfit).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The capture has no such transfer.
    #[error("no transfer {number}: it has {found}")]
    NoTransfer {
        /// The requested number, counted from 1.
        number: u32,
        /// The number of transfers.
        found: usize,
    },
    /// The transfer is too short.
    #[error("expected a transfer of at least {enough} segments, found {segments}")]
    TooShort {
        /// The number of its segments.
        segments: u64,
        /// The smallest sufficient number.
        enough: u64,
    },
    /// The capture shows no round-trip time.
    #[error("no round trip in it: expected a handshake or timestamps")]
    NoRoundTrip,
    /// None of its packets waited in a queue.
    #[error(
        "it never filled its path, so it does not show the path's rate (write the path with --scenario \
         and compare it with --set link.measured.rate=RATE)"
    )]
    NoRate,
    /// Other transfers use the path.
    #[error(
        "for {:.0} % of its packets the path was full of others' packets, and what those would leave \
         it without the reordering is not seen",
        share * 100.0
    )]
    Crowded {
        /// The share of its packets that waited for packets of others.
        share: f64,
    },
    /// The capture shows no late packet, only how the sender reacted to them.
    #[error("which packets came late is not seen, since the receiver sends no SACK")]
    NoneSeenLate,
    /// Reordering is not what slowed the transfer.
    #[error("reordering is not what slowed it")]
    NotReordered,
    /// The goodput over the fitted path differs too much.
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
    /// The sender sent nothing over the fitted path.
    #[error("nothing was sent over it")]
    NothingSent,
    /// Cancellation was requested while the fitted path was simulated.
    #[error("its simulation was interrupted")]
    Cancelled,
    /// None of the candidate paths fits.
    #[error("no path fits")]
    NoPath,
    /// The sender is unknown.
    #[error(transparent)]
    Sender(#[from] VariantError),
    /// The fitted path is not a valid scenario.
    #[error(transparent)]
    Scenario(Box<unruffled_scenario::Error>),
    /// The simulation's capture could not be written.
    #[error(transparent)]
    Capture(#[from] PcapError),
    /// A link of the fitted path is invalid.
    #[error(transparent)]
    Link(unruffled_path::ConfigError),
    /// The simulation has no result.
    #[error(transparent)]
    Run(RunError),
}

impl From<RunError> for FitError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Cancelled => Self::Cancelled,
            RunError::Config(error) => Self::Link(error),
            error @ RunError::TooManyPackets { .. } => Self::Run(error),
        }
    }
}

impl From<unruffled_scenario::Error> for FitError {
    fn from(error: unruffled_scenario::Error) -> Self {
        Self::Scenario(Box::new(error))
    }
}
