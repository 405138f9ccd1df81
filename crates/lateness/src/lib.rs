//! How late the packets of a path are.
//!
//! A packet is *late* if another that was sent after it arrived before it. Its *lateness* is the time since
//! the first such arrival (RFC 4737, section 4.3). [`Lateness`] is the distribution of recent latenesses, and
//! [`Front`] measures them from acknowledgements. The detector of `unruffled` derives its waits from them
//! ([`two_stage`]), a resequencer the time for which it holds packets, and an analysis what a resequencer
//! would hold.
//!
//! The crate needs an allocator, but not the standard library. It allocates once, when something is late for
//! the first time.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod distribution;
mod front;
pub mod two_stage;
mod wait;

pub use distribution::{Lateness, share_of};
pub use front::Front;
