//! Virtual time: the engine's connections over links of the path crate, event by event.
//!
//! A [`Simulation`] owns links, sources of traffic and the event queue. A [`Monitor`] receives events and
//! does all counting. A [`Topology`] finds routes between nodes. The same links, sources and seeds always
//! give the same events in the same order.

mod app;
mod arrivals;
mod host;
mod network;
mod prefetch;
mod queue;
mod route;
mod simulation;
mod topology;

pub use app::{App, Size};
pub use arrivals::Arrivals;
pub use host::SourceConfig;
pub use route::Route;
pub use simulation::Simulation;
pub use topology::{NodeId, Topology};
pub use unruffled_measure::{
    Crossing, End, FlowId, LinkId, Monitor, PacketId, PacketStep, Passage,
};
pub use unruffled_path::Spread;
