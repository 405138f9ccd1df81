//! Errors of experiments. Each prints as one line that says where the fault is and what was expected.

use unruffled_units::hint;

/// An error of an experiment, a claim or a scenario. Prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A scenario, a sender, or a key of an experiment's file is wrong.
    #[error(transparent)]
    Scenario(#[from] unruffled_scenario::Error),
    /// A store or a run fails.
    #[error(transparent)]
    Lab(#[from] unruffled_lab::Error),
    /// A list of claims cannot be read.
    #[error("{name}: cannot be read: expected a list of claims ({source})")]
    NoList {
        /// The file.
        name: String,
        /// The error of reading it.
        source: std::io::Error,
    },
    /// No experiment is of that paper.
    #[error(
        "--paper: {paper}: no such paper: expected one of {}{}",
        known.join(", "),
        hint(paper, known.iter().map(String::as_str))
    )]
    NoPaper {
        /// The requested paper.
        paper: String,
        /// The papers that have experiments.
        known: Vec<String>,
    },
    /// None of the requested experiments is of that paper.
    #[error("--paper: {paper}: not what these experiments are of: expected {}", known.join(", "))]
    OtherPaper {
        /// The requested paper.
        paper: String,
        /// The papers of the experiments.
        known: Vec<String>,
    },
    /// The name is neither that of a built-in experiment nor of a file.
    #[error(
        "{name}: no such experiment: expected an id (see unruffled reproduce --list) or a TOML file{hint}"
    )]
    NoExperiment {
        /// The name.
        name: String,
        /// A suggestion, if there is one.
        hint: String,
        /// The error of opening a file of that name.
        source: std::io::Error,
    },
}
