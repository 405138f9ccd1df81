//! The engine: TCP senders and receivers that tell reordered from lost.
//!
//! No sockets, no clock, no threads, no logging: `now` is always an argument, segments are values,
//! and what happens inside is told to an [`Observer`]. The simulator and the wire run this same
//! code. A sender is made of parts (loss detection, response to needless retransmissions, timer,
//! limited transmit, congestion control); a [`Variant`] is a row in a table that names them.

mod config;
mod connection;
pub mod control;
pub mod detect;
mod fenwick;
mod isn;
pub mod observer;
mod parameter;
mod receiver;
mod segment;
mod sender;
mod seq;
mod timers;
pub mod variant;

pub use config::{Config, IpVersion, KeepAlive};
pub use connection::{Connection, Error, State, TimeWait, Verdict, reset_for, syn_ack};
pub use isn::initial_sequence_number;
pub use observer::{Event, Ignored, Observer};
pub use parameter::{Parameter, Unit};
pub use segment::{Flags, SackBlock, SackBlocks, Segment, Timestamps};
pub use sender::{Cause, FastRecovery, LimitedTransmit, Pipe};
pub use seq::SeqNr;
pub use variant::{ROWS, Row, Variant};
