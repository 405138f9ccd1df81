//! Real packets against each other: the same transfer by the kernel's congestion controls and by our
//! senders, one after another over the same emulated path with the same seeds, or two at once.
//!
//! - [`Competitor`]: who sends, the kernel under one of its congestion controls or a variant of ours.
//! - [`Entry`]: who takes part by what a person asked for.
//! - [`Course`]: what is sent, how, and over which path; [`Course::run`] gives the same
//!   [`Comparison`](unruffled_lab::record::Comparison) as a simulation, so tables and reports are those
//!   of `compare`.
//! - [`dcr_t20`]: a paper's table of such transfers.
//! - [`Recording`]: the packets of a race as pcapng.
//!
//! A transfer is between two network namespaces. The kernel's sender is a socket in the left one; ours
//! is a stack behind a TUN interface of the left one, which forwards. The receiver is a socket in the
//! right one. With [`Course::reverse`] the kernel sends from the left and our stack, behind the right
//! one, receives.
#![cfg(target_os = "linux")]

mod again;
mod competitor;
mod counters;
mod course;
pub mod dcr_t20;
mod entrant;
mod entry;
mod error;
mod field;
mod guest;
mod length;
mod outcome;
mod payload;
mod recording;
mod transfer;

pub use competitor::Competitor;
pub use course::{Course, Finished};
pub use entry::{Entry, heeded};
pub use error::{Error, Failure, Possible, Refusal};
pub use field::field;
pub use length::Length;
pub use recording::Recording;
