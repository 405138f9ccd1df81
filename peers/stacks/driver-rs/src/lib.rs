//! What a driver in Rust needs to take part in a race (`../PROTOCOL.md`).
//!
//! A driver describes its stack ([`About`]) and its two ends ([`Ends`]), and calls [`main`]. A stack
//! that runs its own executor asks the [`Bench`] for the next step itself.

mod bench;
mod lines;
mod payload;
mod serve;

pub use bench::{Bench, Packet, Side, Step};
pub use lines::{About, End, Request, version};
pub use payload::{Pattern, fill};
pub use serve::{Ends, main, open};

/// Octets of an IPv4 header without options and a UDP header.
pub const IP_UDP: usize = 28;
