//! The results of runs: rows of numbers, and the data of plots.

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
    /// One line that describes the variant.
    pub about: String,
    /// A row for each seed, in the order of the seeds.
    #[serde(with = "whole")]
    pub rows: Vec<RunRow>,
    /// The time series of the first seed.
    pub trace: Trace,
    /// The records of flows and links for each seed; empty if there is one flow.
    pub records: Vec<RunRecord>,
}

impl VariantRuns {
    /// Adds a run. The trace of the first one is kept.
    pub fn add(&mut self, row: RunRow, trace: Trace) {
        if self.rows.is_empty() {
            self.trace = trace;
        }
        self.rows.push(row);
    }
}

/// The kind of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Medium {
    /// Simulations in virtual time.
    #[default]
    Simulation,
    /// Races with real packets over an emulated path, between kernels and the stack of this
    /// project.
    Wire,
}

/// A group of other traffic, with its goodput in runs without the compared sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// The name of the `[[traffic]]`.
    pub group: String,
    /// The goodput without the compared sender, in bits per second, for each seed.
    pub alone_bps: Vec<f64>,
}

/// A comparison: the data of the table, the report, `--json` and `--csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The scenario's name.
    pub scenario: String,
    /// The kind of the runs.
    pub medium: Medium,
    /// Notes on the runs, a line each.
    pub notes: Vec<String>,
    /// The title, one line.
    pub title: String,
    /// The origin: paper, section, figure.
    pub source: String,
    /// The scenario as TOML with every override, and with the senders, seeds and duration of the
    /// runs.
    pub scenario_toml: String,
    /// The command that repeats the comparison, with the scenario in `scenario.toml`.
    pub command: String,
    /// Names and descriptions of the path and the ends, for the head of the report.
    pub facts: Vec<(String, String)>,
    /// The time spans of impairments that are active for a part of the run.
    pub episodes: Vec<Episode>,
    /// The reference of shares: the undisturbed path.
    pub reference: Reference,
    /// The other traffic, in the order of the scenario.
    pub beside: Vec<Beside>,
    /// The number of flows, including other traffic.
    pub flows: u64,
    /// The number of flows of the compared sender. Plots over time show the first of them.
    pub compared: u64,
    /// The runs of each variant, in the requested order.
    pub variants: Vec<VariantRuns>,
}
