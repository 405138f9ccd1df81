//! The engine of Unruffled: TCP senders and receivers that distinguish reordered segments from lost ones.
//!
//! The engine has no sockets, no clock, no threads and no logging. `now` is always an argument,
//! segments are values, and an [`Observer`] receives what happens inside. The simulator and the stack
//! for real packets run this same code. A sender is made of parts (loss detection, response to spurious
//! retransmissions, timer, limited transmit, congestion control); a [`Variant`] is a sender by name.
//!
//! A [`Connection`] is one end of a TCP connection. Its documentation says in which order to call its
//! methods. In this example two of them are at both ends of a path of 10 ms. The engine counts octets
//! and does not hold them, so two vectors do:
//!
//! ```
//! use unruffled_tcp::{Config, Connection, Duration, Event, Instant, Variant};
//!
//! let variant = Variant::unruffled();
//! let config = |isn| Config { isn, ..Config::default() };
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
//!     // Both ends send. The client's segments carry octets.
//!     let mut sent = Vec::new();
//!     while let Some(segment) = client.poll_transmit(now, &mut ()) {
//!         let from = client.send_offset(segment.seq) as usize;
//!         let payload = written.get(from..from + segment.len as usize).unwrap_or_default();
//!         sent.push((segment, payload));
//!     }
//!     let answers: Vec<_> = std::iter::from_fn(|| server.poll_transmit(now, &mut ())).collect();
//!
//!     // The segments arrive 10 ms later. The server stores what `Event::Fresh` reports.
//!     now += Duration::from_millis(10);
//!     for (segment, payload) in sent {
//!         let place = server.receive_offset(segment.seq);
//!         let mut keep = |_: Instant, event: &Event| {
//!             if let (Event::Fresh { offset, len }, Some(place)) = (*event, place) {
//!                 let at = offset as usize;
//!                 let from = (offset - place) as usize;
//!                 let len = len as usize;
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
//! `examples/by_hand.rs` of `unruffled-wire` adds loss, both directions and the end of the connection.
//! `unruffled-stack` drives many connections over real packets.

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
    Config, Duplicates, EcnMode, FastRecovery, Growth, Halving, IpVersion, KeepAlive, Ns2Compat,
    Pipe, ReceiverConfig, RtoConfig, SegmentConfig, TimeoutConfig, TimestampConfig, WindowConfig,
};
pub use connection::{Connection, Error, State, TimeWait, Verdict, reset_for, syn_ack};
pub use isn::{initial_sequence_number, timestamp_offset};
pub use observer::{Cause, Event, Ignored, Observer, Unreachable};
pub use parameter::{Parameter, ParameterError, Unit};
pub use parts::{Variable, control, detect};
pub use segment::{Ecn, Flags, Packet, SackBlock, SackBlocks, Segment, Timestamps};
pub use seq::SeqNr;
pub use unruffled_units::{Duration, Instant};
pub use variant::{ROWS, Row, Variant, VariantError};
