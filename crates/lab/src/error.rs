//! Errors of runs, sweeps, stores, captures and files. Each prints as one line that says where the fault
//! is and what was expected.

#[cfg(feature = "captures")]
mod fit;
#[cfg(feature = "store")]
mod store;

use std::path::{Path, PathBuf};

use crate::cancel::RunError;
#[cfg(feature = "captures")]
pub use fit::FitError;
#[cfg(feature = "store")]
pub use store::StoreError;

/// An error of a scenario, a sweep, a store, a capture or a file. Prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A scenario or a sender is wrong.
    #[error(transparent)]
    Scenario(#[from] unruffled_scenario::Error),
    /// A run has no result.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A store of runs cannot be used.
    #[cfg(feature = "store")]
    #[error("{}: {source}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what was expected.
        source: StoreError,
    },
    /// Runs that were made by another process cannot be used.
    #[error("runs from elsewhere: {0}")]
    Parcel(#[from] ParcelError),
    /// The Latin hypercube of a grid cannot be drawn.
    #[error("{}: sample.method: latin is drawn by SciPy: {message}", file.display())]
    Latin {
        /// The grid file.
        file: PathBuf,
        /// What Python reports, or what was expected.
        message: String,
    },
    /// A capture cannot be read.
    #[cfg(feature = "captures")]
    #[error("{name}: {source}")]
    Capture {
        /// The file.
        name: String,
        /// The error of reading it.
        source: unruffled_capture::Error,
    },
    /// No path can be fitted to a capture.
    #[cfg(feature = "captures")]
    #[error("{name}: {source}")]
    Unfit {
        /// The file.
        name: String,
        /// Why not.
        source: FitError,
    },
    /// Writing a file would replace another one.
    #[error("{}: would replace {what}: expected another file", path.display())]
    Overwrites {
        /// The file.
        path: PathBuf,
        /// What it would replace.
        what: &'static str,
    },
    /// Writing a file would replace one that this program has not written.
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
    /// The requested threads cannot be started.
    #[cfg(feature = "threads")]
    #[error("--jobs: expected fewer threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A file cannot be written.
    #[error("{}: cannot be written: {source}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// The error of writing it.
        source: std::io::Error,
    },
}

/// Why runs that were made by another process cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParcelError {
    /// They are of another version of the model.
    #[error("version {found} of the model: expected {expected}: the same unruffled everywhere")]
    OtherModel {
        /// Their version.
        found: String,
        /// The version of this program.
        expected: &'static str,
    },
    /// The octets are neither runs nor results.
    #[error("not runs, nor their results")]
    NotRuns,
    /// The octets are no sweep.
    #[error("no sweep of this version of unruffled")]
    NotSweep,
    /// The results are of runs that the plan does not have.
    #[error("runs of another plan")]
    OtherPlan,
    /// A sender with parts from outside the program is absent.
    #[error("a sender with parts from outside is missing")]
    MissingSender,
}

impl Error {
    /// Names the flag that gave a key's value, or the senders, in place of `--set`. `flags` are keys with
    /// their flags.
    #[must_use]
    pub fn by_flag(self, flags: &[(&str, &'static str)]) -> Self {
        match self {
            Self::Scenario(error) => error.by_flag(flags).into(),
            other => other,
        }
    }

    /// Returns the error of writing the file at `path`.
    pub fn output(path: &Path, source: std::io::Error) -> Self {
        Self::Output { path: path.to_owned(), source }
    }
}
