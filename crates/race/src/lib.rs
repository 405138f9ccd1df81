//! Races with real packets: the kernel's congestion controls and our senders make the same transfer over
//! the same emulated path with the same seeds, one after another or at once.
//!
//! - [`Competitor`]: a sender, either the kernel under a congestion control or a variant of our engine.
//! - [`Foreign`]: a stack by others behind a driver, most of them in virtual time over the same path.
//! - [`Entry`]: selects the competitors from flags.
//! - [`Course`]: the transfer, the path and the competitors. [`Course::run`] returns the same
//!   [`Comparison`](unruffled_lab::record::Comparison) as a simulation, so tables and reports are those
//!   of `compare`.
//! - [`Resequence`]: puts the packets to the kernels' receiver in order.
//! - [`dcr_t20`]: a paper's table of such transfers.
//! - [`Recording`]: the packets of a race as pcapng.
//!
//! A transfer connects two network namespaces. The kernel's sender is a socket in the left one; our
//! sender is a stack behind a TUN interface of the left one, which forwards. The receiver is a socket in
//! the right one. With [`Course::reverse`] the kernel sends from the left, and our stack behind the right
//! one receives.
//!
//! # Example
//!
//! The kernel's CUBIC and our sender transfer a megabyte each over a built-in path. Root and `ip`
//! (iproute2) are required.
//!
//! ```no_run
//! use unruffled_lab::table;
//! use unruffled_race::{Competitor, Course, Length, Recording};
//! use unruffled_scenario::Scenario;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scenario = Scenario::load("half-late", &[])?;
//! let mut competitors = Competitor::kernels(&["cubic".to_owned()])?;
//! for variant in scenario.senders(&["unruffled".to_owned()], "example")? {
//!     competitors.push(Competitor::Ours(Box::new(variant)));
//! }
//! let course = Course {
//!     scenario: &scenario,
//!     competitors: &competitors,
//!     length: Length::Bytes(1_000_000),
//!     seeds: 1,
//!     together: false,
//!     reverse: false,
//!     sysctls: &[],
//!     resequence: None,
//! };
//! let finished = course.run(None::<&mut Recording<Vec<u8>>>, |names| eprintln!("{names}"))?;
//! println!("{}", table::render(&finished.comparison, 100, false));
//! # Ok(())
//! # }
//! ```
#![cfg(target_os = "linux")]

mod competitor;
mod counters;
mod course;
pub mod dcr_t20;
mod entrant;
mod entry;
mod error;
mod field;
mod foreign;
mod guest;
mod length;
mod outcome;
mod paths;
mod payload;
mod recording;
mod rerun;
mod resequence;
mod transfer;

pub use competitor::Competitor;
pub use course::{Course, Finished};
pub use entry::{Entry, check_overrides};
pub use error::{Error, Failure, Possible, Refusal, Unusable};
pub use field::field;
pub use foreign::{Foreign, Manifest, Stacks, Time};
pub use length::Length;
pub use paths::{WayCounts, paths};
pub use recording::Recording;
pub use resequence::{Resequence, ResequencerPlace};
