//! What packets cross: a rate, a queue, a propagation delay and impairments.
//!
//! A packet's size and the time go into a [`Link`], and an [`Outcome`] comes out: dropped, or
//! delivered at some instant. There is no clock, no I/O and no knowledge of TCP here, so the same
//! link serves virtual time and real time alike. The same configuration, direction, seed and
//! packets always give the same outcomes.
//!
//! A link is crossed in this order:
//!
//! 1. the queue's discipline, drop-tail or RED, admits the packet or drops it;
//! 2. the transmitter sends it once the packets before it have left, at the link's rate;
//! 3. if the link repairs its errors, the transmission may be damaged: then the packet goes back to
//!    2 some time later, and to the head of the queue, while those behind it go on;
//! 4. every other impairment says what happens to it: loss, be it of single packets, in bursts or in
//!    blackouts; extra delay; duplication;
//! 5. it arrives after the propagation delay plus all extra delays.
//!
//! Extra delay comes after the bottleneck: a packet that takes a longer path does not hold up the others.
//!
//! Three instants of a packet count. Impairments for a time (`During`) go by when it comes
//! to the link, or may be sent again; a redrawn delay by when its transmission begins; bursts and
//! blackouts by when that ends.

mod direction;
mod discipline;
mod distribution;
mod error;
mod impairment;
mod link;
mod outcome;
mod resend;
mod transmitter;

pub use direction::Direction;
pub use discipline::Red;
pub use distribution::{Distribution, Sampler};
pub use error::ConfigError;
pub use impairment::{Applies, Impairment, Times};
pub use link::{Link, LinkConfig};
pub use outcome::{DropCause, Outcome, Ticket, Verdict};
