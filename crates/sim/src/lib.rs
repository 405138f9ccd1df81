//! Virtual time: the engine's connections over links of the path crate, event by event.
//!
//! A [`Simulation`] owns links and flows and knows the next thing to happen; a [`Monitor`] is told
//! of what happens and does all the counting. The same links, flows and seeds give the same events
//! in the same order, always.

mod monitor;
mod network;
mod queue;
mod simulation;

pub use monitor::{End, Monitor, Passage};
pub use network::{FlowId, LinkId};
pub use simulation::{FlowConfig, Simulation};
