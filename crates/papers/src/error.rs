//! What can be wrong with an experiment, or with what is asked of one: one line that says where, and what
//! was expected.

use unruffled_units::hint;

/// A wrong experiment, claim or scenario. Prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A wrong scenario or sender, or a key of an experiment's file.
    #[error(transparent)]
    Scenario(#[from] unruffled_scenario::Error),
    /// A store or a run that fails.
    #[error(transparent)]
    Lab(#[from] unruffled_lab::Error),
    /// A list of claims cannot be read.
    #[error("{name}: cannot be read: expected a list of claims ({reason})")]
    NoList {
        /// The file.
        name: String,
        /// Why it could not be read.
        reason: std::io::Error,
    },
    /// No experiment is of that paper.
    #[error(
        "--paper: {paper}: no such paper: expected one of {}{}",
        known.join(", "),
        hint(paper, known.iter().map(String::as_str))
    )]
    NoPaper {
        /// What was asked for.
        paper: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// None of the experiments that were asked for is of that paper.
    #[error("--paper: {paper}: not what these experiments are of: expected {}", known.join(", "))]
    OtherPaper {
        /// What was asked for.
        paper: String,
        /// Those that they are of.
        known: Vec<String>,
    },
    /// The experiment is neither built in nor a file.
    #[error(
        "{name}: no such experiment: expected an id (see unruffled reproduce --list) or a TOML file{hint}"
    )]
    NoExperiment {
        /// What was asked for.
        name: String,
        /// What it may have been meant for.
        hint: String,
        /// Why the file could not be read.
        reason: std::io::Error,
    },
}
