//! Loss detection that distinguishes late packets from lost ones, for QUIC and every other transport whose packets have
//! numbers of their own.
//!
//! A sender that takes a missing packet for lost resends it *and* halves its window. Where packets
//! overtake each other, each late one then costs half a window. [`Detector`] has two waits in place of one.
//! After the first a packet is *suspected*, and its data is resent while the window stays as it is. After the second,
//! which is longer than anything was late recently, its loss is *confirmed*, and the window is reduced once. If
//! a packet that was confirmed as lost is acknowledged after all, the loss is *refuted*, and the reduction is taken
//! back. Both waits come from one distribution of how late packets have been.
//!
//! The rule is that of the sender `unruffled` (`docs/senders/unruffled.md` in the repository), and so is the
//! code of its formulas. As long as nothing has been late it is that of RFC 9002, packet by packet.
//!
//! The crate has no clock, no I/O and no unsafe code. It needs an allocator, but not the standard library.
//! [`Detector::new`] says what it allocates, and when. What a peer sends cannot make it use more: numbers that were
//! not sent are ignored, and an acknowledgement costs O(log n) for each of its ranges and O(1) for each packet
//! that it newly acknowledges, amortised.
//!
//! `examples/sender.rs` is a whole sender in virtual time.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod detector;
mod facts;
mod outstanding;
mod reductions;
mod suspicions;

pub use detector::Detector;
pub use facts::{Counts, Packet, Path, Reduction, Settings, Verdict};
pub use unruffled_lateness::Lateness;
pub use unruffled_lateness::two_stage::Waits;
pub use unruffled_units::{Duration, Instant};
