//! Finds out whether reordering slows the TCP connections of a Linux machine.
//!
//! - [`Snapshot`]: what the kernel counts of each connection, in all network namespaces, at one moment.
//! - [`Watch`]: snapshots over a time.
//! - [`flows()`]: the directions of the connections of a watch, each with its figures and its [`Verdict`].
//! - [`Report`]: groups of flows, the overall verdict, what to do, and how sure it is.
//!
//! Only [`Snapshot::take`] and [`Surroundings::of`] read from the machine. Nothing changes it.
//!
//! # Example
//!
//! ```no_run
//! use std::thread;
//! use std::time::{Duration, Instant};
//!
//! use unruffled_doctor::{Report, Scope, Snapshot, Surroundings, Watch, flows};
//!
//! # fn main() -> Result<(), unruffled_doctor::Error> {
//! let began = Instant::now();
//! let mut watch = Watch::default();
//! for _ in 0..20 {
//!     watch.add(&Snapshot::take(&Scope::All, began)?);
//!     thread::sleep(Duration::from_millis(500));
//! }
//! let (flows, tally) = flows(&watch);
//! let around = Surroundings::of(&flows, &Scope::All);
//! print!("{}", Report::new(&watch, flows, tally, &around).text(&around));
//! # Ok(())
//! # }
//! ```
#![cfg(target_os = "linux")]

mod counters;
mod diag;
mod error;
mod flow;
mod report;
mod snapshot;
mod socket;
mod surroundings;
mod tcp_info;
mod verdict;
mod watch;
mod words;

pub use counters::Counters;
pub use error::Error;
pub use flow::{Flow, Role, Tally, flows};
pub use report::{Doubt, Group, Overall, Remedy, Report, Sureness};
pub use snapshot::{Scope, Snapshot};
pub use socket::Socket;
pub use surroundings::{Surroundings, Tunnel};
pub use tcp_info::TcpInfo;
pub use verdict::Verdict;
pub use watch::Watch;
