//! Restores the order of packets where a path ends: a packet that arrives early waits until the gap
//! before it is filled, or until waiting no longer pays.
//!
//! [`Resequencer`] is the core, without I/O and without a clock. [`classify`] reads from an IP packet the
//! facts that it needs.

mod config;
mod counters;
mod decode;
mod flow;
mod gaps;
mod harm;
mod hash;
mod held;
mod line;
mod pace;
mod packet;
mod path;
mod resequencer;

pub use config::Config;
pub use counters::{Counters, Load, PathState};
pub use decode::{Tunnels, classify};
pub use packet::{Flow, MEMORY_PER_OCTET, Packet, Path, Protocol, Role};
pub use resequencer::Resequencer;
