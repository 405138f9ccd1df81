//! Models of network links: a rate, a queue, a propagation delay and impairments.
//!
//! A [`Link`] receives a [`Packet`], which is a size and a few facts, and the time. It returns an
//! [`Outcome`]: the packet is dropped, or delivered at some instant, perhaps with an ECN mark. The crate has no clock, does no I/O and depends on no
//! transport protocol, so the same link works in virtual time and in real time. The same
//! configuration, direction, seed and packets always yield the same outcomes.
//!
//! A packet crosses a link in this order:
//!
//! 1. The queue discipline, drop-tail or RED, admits the packet or drops it. It may mark an admitted packet
//!    with CE if the packet is ECN-capable.
//! 2. The transmitter sends it at the link's rate, after the packets before it. The rate may vary, as a
//!    [`Trace`] or a table of [`Changes`] says.
//! 3. If the link repairs its own errors, the transmission may be damaged. The packet then returns to
//!    step 2 after some time, at the head of the queue; packets behind it are sent in the meantime.
//! 4. Every other impairment may lose the packet, alone, in a burst or in a blackout, or delay or
//!    duplicate it.
//! 5. The packet arrives after the propagation delay and all extra delays.
//! 6. An [`Exit`] at the far end may hold it until others have overtaken it, or drop it, depending on the
//!    packets that have arrived before.
//!
//! The [fragments](Fragments) of a packet take steps 1 to 5 one by one, and the far end reassembles them.
//!
//! Extra delays follow the bottleneck: a packet that takes a longer path does not delay the others.
//!
//! Impairments depend on different times of a packet. Temporary ones (`During`) depend on its arrival
//! at the link, or on the time at which it may be resent; a redrawn delay on the beginning of its
//! transmission; bursts and blackouts on the end of its transmission.
//!
//! A [`Route`] lists the paths of packets over several links, and a [`Chooser`] selects one of them for each
//! packet.

mod changes;
mod direction;
mod discipline;
mod distribution;
mod error;
mod exit;
mod fragments;
mod impairment;
mod link;
mod outcome;
mod packet;
mod resend;
mod route;
mod trace;
mod transmitter;
mod varying;

pub use changes::{Change, Changes};
pub use direction::Direction;
pub use discipline::{MarkAbove, Red};
pub use distribution::{Distribution, Sampler};
pub use error::ConfigError;
pub use exit::{Arrival, Exit, ExitConfig, Leaving, Piece, ReplayRule, ReplayWindow, Span};
pub use fragments::Fragments;
pub use impairment::{
    Advance, Applies, Chosen, Impairment, Netem, Share, Times, WorkerChoice, Workers,
};
pub use link::{Link, LinkConfig};
pub use outcome::{DropCause, Outcome, Ticket, Verdict};
pub use packet::Packet;
pub use route::{Chooser, Route, Spread};
pub use trace::Trace;
pub use varying::Varying;
