//! Real packets: two network namespaces of one Linux machine, joined by an emulated path.
//!
//! - [`Namespace`]: a network of its own, which lives no longer than the process that made it.
//! - [`Pair`]: two of them, left and right, each with a TUN device that all its traffic goes to.
//! - [`Application`]: a program at one end; [`Statistics`]: what a kernel counts there.
//! - [`Emulator`]: carries packets from one device to the other over a [`Chain`] of the same links
//!   that the simulator uses, in real time, and measures how late it was itself.
//! - [`Chain`]: one direction of such a path; knows no clock and no device.
//!
//! Left to right is the forward direction, the one that carries data; right to left carries
//! acknowledgements.
#![cfg(target_os = "linux")]

mod application;
mod chain;
mod device;
mod emulator;
mod error;
mod lane;
mod lateness;
mod namespace;
mod packet;
mod pair;
mod priority;
mod spin;
mod statistics;
mod tap;

pub use application::Application;
pub use chain::{Chain, Counts, SeededLink};
pub use emulator::{Emulator, Report};
pub use error::Error;
pub use lane::LaneReport;
pub use lateness::{Lateness, TOLERABLE};
pub use namespace::Namespace;
pub use pair::{Pair, Side};
pub use priority::real_time;
pub use statistics::Statistics;
pub use tap::{Passed, Place, Tap};
