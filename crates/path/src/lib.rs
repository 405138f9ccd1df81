//! What packets cross: a rate, a queue, a propagation delay, and whatever else befalls them.
//!
//! A packet's size and the time go into a [`Link`], and an [`Outcome`] comes out: dropped, or
//! delivered at some instant. There is no clock, no I/O and no knowledge of TCP here, so the same
//! link serves virtual time and real time alike. The same configuration, direction, seed and
//! packets always give the same outcomes.
//!
//! A link is crossed in this order:
//!
//! 1. the queue's discipline admits the packet or drops it;
//! 2. the transmitter sends it once the packets before it have left, at the link's rate;
//! 3. every impairment says what befalls it: loss, extra delay, duplication;
//! 4. it arrives after the propagation delay plus all extra delays.
//!
//! Extra delay comes after the bottleneck: a packet that takes a longer path holds up nobody.

mod discipline;
mod distribution;
mod error;
mod impairment;
mod link;
mod outcome;
mod transmitter;

pub use discipline::Red;
pub use distribution::{Distribution, Sampler};
pub use error::ConfigError;
pub use impairment::{Applies, Impairment};
pub use link::{Direction, Link, LinkConfig};
pub use outcome::{DropCause, Outcome, Verdict};
