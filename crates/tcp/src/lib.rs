//! The engine: TCP senders and receivers that tell reordered from lost.
//!
//! No sockets, no clock, no threads, no logging: `now` is always an argument, segments are values,
//! and what happens inside is told to an [`Observer`]. The simulator and the wire run this same
//! code. A sender is made of parts (loss detection, response to spurious retransmissions, timer,
//! limited transmit, congestion control); a [`Variant`] is a row in a table that names them.
//!
//! A [`Connection`] is one end. Its documentation says in which order it is called; here two of them
//! are at both ends of a path of 10 ms, and the octets, which the engine counts and does not hold, in
//! two vectors:
//!
//! ```
//! use unruffled_tcp::{Config, Connection, Event, IpVersion, Variant};
//! use unruffled_units::{Duration, Instant};
//!
//! let variant = Variant::named("rack").expect("one of `unruffled_tcp::ROWS`");
//! let config = |isn| Config { isn, ..Config::wire(IpVersion::V4) };
//! let mut client = Connection::connect(config(1000), &variant);
//! let mut server = Connection::listen(config(2000), &variant);
//! let mut now = Instant::from_millis(1000);
//!
//! let written: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
//! client.write(written.len() as u64);
//! client.finish();
//!
//! let mut arrived = vec![0; written.len()];
//! while !server.peer_finished() {
//!     // What they want to send. The client's segments carry octets.
//!     let mut sent = Vec::new();
//!     while let Some(segment) = client.poll_transmit(now, &mut ()) {
//!         let from = client.send_offset(segment.seq) as usize;
//!         let payload = written.get(from..from + segment.len as usize).unwrap_or_default();
//!         sent.push((segment, payload));
//!     }
//!     let answers: Vec<_> = std::iter::from_fn(|| server.poll_transmit(now, &mut ())).collect();
//!
//!     // It arrives 10 ms later. The server keeps what the engine calls new.
//!     now += Duration::from_millis(10);
//!     for (segment, payload) in sent {
//!         let place = server.receive_offset(segment.seq);
//!         let mut keep = |_: Instant, event: &Event| {
//!             if let (Event::Fresh { offset, len }, Some(place)) = (*event, place) {
//!                 let (at, from, len) = (offset as usize, (offset - place) as usize, len as usize);
//!                 arrived[at..at + len].copy_from_slice(&payload[from..from + len]);
//!             }
//!         };
//!         server.handle_segment(&segment, now, &mut keep);
//!         server.read(server.readable());
//!     }
//!     for segment in answers {
//!         client.handle_segment(&segment, now, &mut ());
//!     }
//!     for end in [&mut client, &mut server] {
//!         if end.poll_timeout().is_some_and(|due| due <= now) {
//!             end.handle_timeout(now, &mut ());
//!         }
//!     }
//! }
//! assert!(arrived == written);
//! ```
//!
//! With loss, both directions and the end of the connection: `examples/by_hand.rs` of
//! `unruffled-wire`. That crate is the engine's driver for real packets.

mod config;
mod connection;
mod fenwick;
mod isn;
pub mod observer;
mod parameter;
mod parts;
mod receiver;
mod ring;
mod segment;
mod sender;
mod seq;
pub mod variant;

pub use config::{
    Config, Duplicates, FastRecovery, Growth, Halving, IpVersion, KeepAlive, Ns2Compat, Pipe,
    RtoConfig, SegmentConfig, TimeoutConfig, TimestampConfig, WindowConfig,
};
pub use connection::{Connection, Error, State, TimeWait, Verdict, reset_for, syn_ack};
pub use isn::{initial_sequence_number, timestamp_offset};
pub use observer::{Cause, Event, Ignored, Observer, Unreachable};
pub use parameter::{Parameter, ParameterError, Unit};
pub use parts::{Variable, control, detect};
pub use segment::{Flags, SackBlock, SackBlocks, Segment, Timestamps};
pub use seq::SeqNr;
pub use variant::{ROWS, Row, Variant, VariantError};
