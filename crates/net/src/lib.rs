//! Real packets: two network namespaces of one Linux machine, joined by an emulated path.
//!
//! - [`Namespace`]: a network namespace that ends with the process that created it.
//! - [`Pair`]: two namespaces, left and right, each with a TUN device for all its traffic.
//! - [`Application`]: a program at one end.
//! - [`Statistics`]: the kernel's counters at one end.
//! - [`Paths`]: the links between the ends, and the ways of packets over them.
//! - [`Emulator`]: carries packets from one device to the other in real time, over a [`Chain`] of the same
//!   links that the simulator uses, and measures its own lateness.
//! - [`Chain`]: the packets on these links, without clock and device.
//!
//! Left to right is the forward direction, which carries data. Right to left carries acknowledgements.
//!
//! # Example
//!
//! `ping` over a path with a round-trip time of 20 ms. Root and `ip` (iproute2) are required.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use unruffled_net::{Application, Pair, SeededLink};
//! use unruffled_path::LinkConfig;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let link = LinkConfig {
//!     rate: None,
//!     delay: unruffled_units::Duration::from_millis(10),
//!     queue: None,
//!     red: None,
//!     mark_above: None,
//!     varying: None,
//!     impairments: Vec::new(),
//!     ..LinkConfig::default()
//! };
//! let pair = Pair::new(1500)?;
//! let emulator = pair.emulate(&[SeededLink { link, resequence: None, seed: 1 }], None)?;
//! let mut ping = pair.shell("ping -c 3 $UNRUFFLED_RIGHT");
//! let mut ping = Application::start(&pair.left.namespace, &mut ping)?;
//! ping.wait_for(Duration::from_secs(10));
//! let report = emulator.stop();
//! println!("{} packets, {} late", report.forward.counts.offered, report.lateness().max());
//! # Ok(())
//! # }
//! ```
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
mod paths;
mod priority;
mod spin;
mod statistics;
mod tap;

pub use application::Application;
pub use chain::{Carried, Chain, Counts, Departure};
pub use emulator::{Emulator, Report};
pub use error::Error;
pub use lane::LaneReport;
pub use lateness::{Lateness, MAX_TOLERABLE_LATENESS};
pub use namespace::Namespace;
pub use pair::{Pair, Side};
pub use paths::{DirectedLink, Paths, SeededLink, SourceRoutes, Tunnel};
pub use priority::real_time;
pub use statistics::Statistics;
pub use tap::{Passed, Place, Tap};
