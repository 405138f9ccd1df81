//! Observation of flows and links while they run: counters, means and time series.
//!
//! A [`Monitor`] receives what happens in a run, in virtual time from the simulator or in real time
//! from a race. A [`Meter`] counts it per flow and [`LinkMeters`] per link, for a [`RunRecord`]. A
//! [`Recorder`] keeps the time series of one flow for plots. None of them changes what a run does.

mod curves;
mod deliveries;
mod flow;
mod link;
mod meter;
mod monitor;
mod record;
mod recorder;
mod share;
mod time_mean;

pub use flow::FlowMeter;
pub use link::LinkMeters;
pub use meter::{MeasuredSource, Measurement, Meter};
pub use monitor::{Crossing, End, FlowId, LinkId, Monitor, PacketId, PacketStep, Passage};
pub use record::{
    EcnCounts, ExitCounts, FlowRecord, LinkRecord, PathCounts, Quantity, RunRecord, SenderCounts,
    SenderMeans, Series, StackCounts,
};
pub use recorder::{Recorder, SendKind, Sent, Trace};
pub use share::{jain, share};
