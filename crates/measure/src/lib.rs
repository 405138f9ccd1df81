//! What is told of flows and links while they run, and what is counted and recorded of it.
//!
//! A [`Monitor`] is told what happens, in virtual time by the simulator and in real time by a race.
//! A [`Meter`] counts and gives a [`RunRecord`]: numbers per flow and per link. A [`Recorder`] keeps
//! the time series of one flow for plots. Neither changes what a run does.

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
pub use monitor::{Crossing, End, FlowId, LinkId, Monitor, Passage};
pub use record::{
    FlowRecord, LinkRecord, PathCounts, Quantity, RunRecord, SenderCounts, SenderMeans, Series,
};
pub use recorder::{Recorder, SendKind, Sent, Trace};
pub use share::{jain, share};
