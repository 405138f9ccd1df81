//! What a run leaves behind: one row of numbers, and what the plots draw.

use serde::Serialize;
use unruffled_measure::{FlowRecord, RunRecord, share};
pub use unruffled_measure::{SendKind, Sent, Trace};

/// One run: one variant, one seed. The field names are those of `--json` and `--csv`, and stable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The scenario's name.
    pub scenario: String,
    /// The variant's name, flavour and all (`rr-ta-rtx`).
    pub variant: String,
    /// The seed of every random number of the run.
    pub seed: u64,
    /// Measured time: the run without its warm-up, in seconds.
    pub duration_s: f64,
    /// Segments that reached the receiving application in order, once each.
    pub delivered_segments: u64,
    /// Payload delivered in order over the measured time, in bits per second.
    pub goodput_bps: f64,
    /// Data segments sent, retransmissions included.
    pub sent_segments: u64,
    /// Retransmissions of any cause.
    pub retransmits: u64,
    /// Times that loss detection entered recovery (not timeouts).
    pub fast_retransmits: u64,
    /// Those of which every retransmission proved needless.
    pub false_fast_retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Those of which every retransmission proved needless.
    pub false_timeouts: u64,
    /// Mean over time of the duplicate threshold; none for senders that work in time alone.
    pub dupthresh_mean: Option<f64>,
    /// Data segments that the path dropped, as a share of those sent.
    pub loss_rate: f64,
    /// Data segments that arrived behind a later one, as a share of those that arrived.
    pub out_of_order_rate: f64,
    /// Holes that closed by late arrival, as the sender measured them.
    pub reordering_events: u64,
    /// Mean over time of the congestion window, in segments; none where nobody can see it.
    pub cwnd_mean: Option<f64>,
    /// Tail loss probes sent.
    pub loss_probes: u64,
    /// The FA ratio at the end of the run (RR-TCP only).
    pub fa_ratio: Option<f64>,
    /// Segments that the receiver reported by DSACK as having come before.
    pub dsacks: u64,
}

impl Row {
    /// The row of a run of `scenario` in which `flow` was counted.
    pub fn of(scenario: &str, variant: &str, seed: u64, flow: &FlowRecord) -> Self {
        Self {
            scenario: scenario.to_owned(),
            variant: variant.to_owned(),
            seed,
            duration_s: flow.duration_s,
            delivered_segments: flow.delivered_segments,
            goodput_bps: flow.goodput_bps,
            sent_segments: flow.sent_segments,
            retransmits: flow.retransmits,
            fast_retransmits: flow.fast_retransmits,
            false_fast_retransmits: flow.false_fast_retransmits,
            timeouts: flow.timeouts,
            false_timeouts: flow.false_timeouts,
            dupthresh_mean: flow.dupthresh_mean,
            loss_rate: share(flow.dropped_segments, flow.sent_segments),
            out_of_order_rate: share(flow.out_of_order_segments, flow.arrived_segments),
            reordering_events: flow.reordering_events,
            cwnd_mean: Some(flow.cwnd_mean.unwrap_or(0.0)),
            loss_probes: flow.loss_probes,
            fa_ratio: flow.fa_ratio,
            dsacks: flow.dsacks,
        }
    }
}

/// A time in which something befalls the path.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// What, in a few words.
    pub what: String,
    /// From when, in seconds since the start of the run.
    pub from_s: f64,
    /// Until when.
    pub until_s: f64,
}

/// All runs of one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantRuns {
    /// The variant's name.
    pub name: String,
    /// One line on what it does.
    pub about: String,
    /// One row per seed, in the order of the seeds.
    pub rows: Vec<Row>,
    /// The time series of the first seed.
    pub trace: Trace,
    /// What was counted of each flow and link, one for each seed; empty where there is one flow.
    pub records: Vec<RunRecord>,
}

/// Where runs take place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Medium {
    /// Virtual time.
    #[default]
    Simulation,
    /// Real packets over an emulated path, between real kernels and our stack.
    Wire,
}

/// A finished comparison: what the table, the report, `--json` and `--csv` print.
#[derive(Clone, Debug, PartialEq)]
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
    /// The scenario as TOML, every override applied: what one needs to run it again.
    pub scenario_toml: String,
    /// `(what, value)`: the path in words, for the report's head.
    pub facts: Vec<(String, String)>,
    /// Times in which the path is another than at its best, if it is not the same all along.
    pub episodes: Vec<Episode>,
    /// Goodput of `sack` over the same path without impairments, in bits per second.
    pub undisturbed_bps: f64,
    /// One entry per variant, in the order asked for.
    pub variants: Vec<VariantRuns>,
}
