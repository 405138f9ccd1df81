//! The row of results of a run.

use unruffled_measure::{FlowRecord, share};

/// The results of one run of one variant with one seed. JSON and CSV have the run, then
/// [`METRICS`](crate::metric::METRICS).
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The scenario's name.
    pub scenario: String,
    /// The full name of the variant (`rr-ta-rtx`).
    pub variant: String,
    /// The seed of all random numbers of the run.
    pub seed: u64,
    /// The record of the flow, or the sum over the flows.
    pub flow: FlowRecord,
    /// The share of the sent data segments that the path dropped.
    pub loss_rate: f64,
    /// The share of the arrived data segments that arrived after a later one.
    pub out_of_order_rate: f64,
}

impl RunRow {
    /// Returns the row of a run of `scenario` with the record `flow`.
    pub fn of(scenario: &str, variant: &str, seed: u64, mut flow: FlowRecord) -> Self {
        flow.means.cwnd_mean.get_or_insert(0.0);
        Self {
            scenario: scenario.to_owned(),
            variant: variant.to_owned(),
            seed,
            loss_rate: share(flow.path.dropped_segments, flow.sending.sent_segments),
            out_of_order_rate: share(flow.path.out_of_order_segments, flow.path.arrived_segments),
            flow,
        }
    }
}
