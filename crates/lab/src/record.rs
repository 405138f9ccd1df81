//! What a run leaves behind: one row of numbers, and what the plots draw.

#[cfg(test)]
pub(crate) mod fake;
pub(crate) mod whole;

use serde::{Deserialize, Serialize};
use unruffled_measure::RunRecord;
pub use unruffled_measure::{SendKind, Sent, Trace};
use unruffled_scenario::Episode;

use crate::reference::Reference;
pub use crate::row::RunRow;

/// All runs of one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantRuns {
    /// The variant's name.
    pub name: String,
    /// One line on what it does.
    pub about: String,
    /// One row per seed, in the order of the seeds.
    #[serde(with = "whole")]
    pub rows: Vec<RunRow>,
    /// The time series of the first seed.
    pub trace: Trace,
    /// What was counted of each flow and link, one for each seed; empty where there is one flow.
    pub records: Vec<RunRecord>,
}

/// Where runs take place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Medium {
    /// Virtual time.
    #[default]
    Simulation,
    /// Real packets over an emulated path, between real kernels and our stack.
    Wire,
}

/// Traffic beside that of the compared sender, in runs without the latter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// The name of the `[[traffic]]`.
    pub group: String,
    /// Its goodput in bits per second, for each seed.
    pub alone_bps: Vec<f64>,
}

/// A finished comparison: what the table, the report, `--json` and `--csv` print.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The scenario's name.
    pub scenario: String,
    /// Where the runs took place.
    pub medium: Medium,
    /// What else there is to say of the runs, a line each.
    pub notes: Vec<String>,
    /// Its title, one line.
    pub title: String,
    /// Where it comes from: paper, section, figure.
    pub source: String,
    /// The scenario as TOML, every override applied, and with the senders, seeds and duration that
    /// were run.
    pub scenario_toml: String,
    /// The command that runs it again, with the scenario in `scenario.toml`.
    pub command: String,
    /// `(what, value)`: the path in words, for the report's head.
    pub facts: Vec<(String, String)>,
    /// Times in which impairments are at work, where they are so for a time only.
    pub episodes: Vec<Episode>,
    /// What shares are taken of: the same path, undisturbed.
    pub reference: Reference,
    /// The traffic beside that of the compared sender, in the order of the scenario.
    pub beside: Vec<Beside>,
    /// How many flows there are, other traffic included.
    pub flows: u64,
    /// How many of them the compared sender sends; what is drawn over time is the first.
    pub compared: u64,
    /// One entry per variant, in the order asked for.
    pub variants: Vec<VariantRuns>,
}
