//! Restores the order of packets where they arrive, on Linux: NFQUEUE passes each packet's head to a worker,
//! which holds the packet in the kernel until the core ([`unruffled_resequence`]) releases it.
//!
//! - [`Guardian`]: the process that owns the queues and the firewall rules, and starts the worker.
//! - [`worker()`]: the process that decides the order.
//! - [`Unguarded`]: queues within this process, for tests and races.
//! - [`Settings`]: which packets are queued, and the bounds of the wait.
//! - [`Report`]: counts, load and paths.
//! - [`remove_leftovers`]: removes what a killed process left behind.
//! - [`status()`]: the state of the resequencer that runs in this network namespace.
//!
//! The kernel drops every held packet when the last descriptor of the netlink socket is closed, so a worker
//! that holds the only one takes its packets with it. The guardian therefore opens the socket and shares it.
//! When the worker ends, or shows no sign of life for 200 ms, the guardian releases what is held and starts
//! another worker. When the guardian ends, the worker removes the rules, releases what it holds and ends.
#![cfg(target_os = "linux")]

mod channel;
mod clock;
mod error;
mod guardian;
mod lock;
mod message;
mod queue;
mod queues;
mod report;
mod rules;
mod settings;
mod socket;
mod status;
mod system;
mod unguarded;
mod verdicts;
mod worker;

#[cfg(test)]
mod tests;

pub use error::Error;
pub use guardian::Guardian;
pub use report::{PathReport, Report};
pub use rules::Installed;
pub use settings::{Hook, PortRange, Settings};
pub use status::{Status, status};
pub use unguarded::{Learnt, Unguarded};
pub use worker::worker;

/// Removes what killed resequencers have left in the network namespace of the calling thread: their rules.
/// Returns whether there were any.
///
/// # Errors
/// [`Error::Running`] if a resequencer runs there; [`Error::Rules`] if there are rules that cannot be removed.
pub fn remove_leftovers() -> Result<bool, Error> {
    let _lock = lock::take()?;
    status::remove_stale();
    rules::remove()
}
