//! What can be wrong with what a person gave: one line that says where, and what was expected.

mod fit;
mod store;

use std::path::{Path, PathBuf};

use crate::cancel::RunError;
pub use fit::FitError;
pub use store::StoreError;

/// A wrong scenario, grid, store, capture or file. Prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A wrong scenario or sender.
    #[error(transparent)]
    Scenario(#[from] unruffled_scenario::Error),
    /// A store of runs cannot be used.
    #[error("{}: {reason}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what was expected.
        reason: StoreError,
    },
    /// A run has no result.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Results of runs that were made elsewhere cannot be taken in.
    #[error("runs from elsewhere: {reason}")]
    Parcel {
        /// What they are, and what was expected.
        reason: String,
    },
    /// Nobody draws the Latin hypercube that a grid asks for.
    #[error("{}: sample.method: latin is drawn by SciPy: {reason}", file.display())]
    Latin {
        /// The grid file.
        file: PathBuf,
        /// Why it could not be drawn.
        reason: String,
    },
    /// A capture cannot be read.
    #[error("{name}: {reason}")]
    Capture {
        /// The file.
        name: String,
        /// Why.
        reason: unruffled_capture::Error,
    },
    /// No path can be fitted to a capture.
    #[error("{name}: {reason}")]
    Unfit {
        /// The file.
        name: String,
        /// Why.
        reason: FitError,
    },
    /// A file would take another's place.
    #[error("{}: would replace {what}: expected another file", path.display())]
    Overwrites {
        /// The file.
        path: PathBuf,
        /// What is there, or would be.
        what: &'static str,
    },
    /// A file that somebody else has written would be lost.
    #[error(
        "{}: there already, and not {kind}: expected another file, or --force",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What would be written.
        kind: &'static str,
    },
    /// The threads that were asked for cannot be had.
    #[error("--jobs: expected fewer threads: {reason}")]
    Threads {
        /// Why.
        reason: String,
    },
    /// A file cannot be written.
    #[error("{}: cannot be written: {reason}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
}

impl Error {
    /// The same with the flag that gave a key's value, or the senders, in place of `--set`; `flags` are
    /// keys and their flags.
    #[must_use]
    pub fn by_flag(self, flags: &[(&str, &'static str)]) -> Self {
        match self {
            Self::Scenario(error) => error.by_flag(flags).into(),
            other => other,
        }
    }

    /// The file at `path` cannot be written.
    pub fn output(path: &Path, reason: std::io::Error) -> Self {
        Self::Output { path: path.to_owned(), reason }
    }
}
