//! How late the packets of a path are.
//!
//! A packet is *late* if another that was sent after it arrived before it. Its *lateness* is the time since
//! the first such arrival (RFC 4737, section 4.3). [`Lateness`] is the distribution of recent latenesses.
//! The detector of `unruffled` derives its waits from it, a resequencer the time for which it holds
//! packets, and an analysis what a resequencer would hold.

mod distribution;
mod wait;

pub use distribution::{Lateness, share_of};
