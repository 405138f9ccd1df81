//! Finds out whether reordering slows the TCP connections of a Linux machine.
//!
//! - [`Snapshot`]: what the kernel counts of each connection, in all network namespaces, at one moment.
//! - [`Watch`]: snapshots over a time.
//! - [`flows()`]: the directions of the connections of a watch, each with its figures and its [`Verdict`].
//! - [`Report`]: groups of flows, the overall verdict, what to do, and how sure it is.
//! - [`fix`]: does what the report advises for senders, and compares.
//! - [`programs`] and [`namespace_names`]: what leads to a socket and to a network namespace.
//!
//! Only these, [`Observer`] and [`Surroundings::of`] read from the machine, and only [`fix`] changes it.
//!
//! # Example
//!
//! ```no_run
//! use std::thread;
//! use std::time::Duration;
//!
//! use unruffled_doctor::{Observer, Report, Scope, Surroundings, Watch, flows};
//!
//! # fn main() -> Result<(), unruffled_doctor::Error> {
//! let mut observer = Observer::new(Scope::All);
//! let mut watch = Watch::default();
//! for _ in 0..20 {
//!     watch.add(&observer.snapshot()?);
//!     thread::sleep(Duration::from_millis(500));
//! }
//! let (flows, tally) = flows(&watch);
//! let around = Surroundings::of(&flows, &observer);
//! print!("{}", Report::new(&watch, flows, tally, &around).text(&around));
//! # Ok(())
//! # }
//! ```
#![cfg(target_os = "linux")]

mod counters;
mod diag;
mod error;
pub mod fix;
mod flow;
mod processes;
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
pub use processes::{Place, Program, namespace_names, programs};
pub use report::{Doubt, Group, Overall, Remedy, Report, Sureness};
pub use snapshot::{Observer, Scope, Snapshot};
pub use socket::Socket;
pub use surroundings::{Surroundings, Tunnel};
pub use tcp_info::TcpInfo;
pub use verdict::Verdict;
pub use watch::Watch;
