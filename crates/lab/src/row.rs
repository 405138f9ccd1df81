//! The row of results of a run.

use unruffled_measure::{FlowRecord, share};

/// One run: one variant, one seed. JSON and CSV have the run and then
/// [`METRICS`](crate::metric::METRICS).
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The scenario's name.
    pub scenario: String,
    /// The variant's name, flavour and all (`rr-ta-rtx`).
    pub variant: String,
    /// The seed of every random number of the run.
    pub seed: u64,
    /// What was counted of its flow, or of its flows together.
    pub flow: FlowRecord,
    /// Data segments that the path dropped, as a share of those sent.
    pub loss_rate: f64,
    /// Data segments that arrived behind a later one, as a share of those that arrived.
    pub out_of_order_rate: f64,
}

impl RunRow {
    /// The row of a run of `scenario` in which `flow` was counted.
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
