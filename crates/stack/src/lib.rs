//! A TCP stack without I/O and without a clock.
//!
//! A [`Stack`] stands between packets and applications. [`codec`] turns segments into IP packets
//! and back, [`buffer`] keeps what has been written and what has arrived, and `unruffled-tcp` is
//! the TCP in each connection. `unruffled-wire` runs a stack over a TUN device and gives its
//! connections the methods of sockets.
//!
//! The caller supplies packets, the time and the waiting:
//!
//! * [`Stack::receive`] takes each packet that arrives, and its result is an [`Urgency`]. After an
//!   `Immediate` one, transmit before the next packet is received.
//! * [`Stack::poll_transmit`] returns the packets to send. Call it until it returns `None` after
//!   every batch of other calls.
//! * [`Stack::poll_timeout`] returns when to call [`Stack::handle_timeout`].
//! * Applications use [`Stack::listen`], [`Stack::connect`] and the `poll_*` methods, which work
//!   like those of futures. What cannot be done yet is pending; [`Stack::take_wakers`] returns the
//!   wakers of those who should try again.
//!
//! # Example
//!
//! Two stacks over a path of 10 ms that is a pair of queues. The server sends back what it reads.
//!
//! ```
//! use std::collections::VecDeque;
//! use std::net::SocketAddr;
//! use std::task::{Poll, Waker};
//!
//! use unruffled_stack::codec::Checksums;
//! use unruffled_stack::{ConnectionId, Duration, Instant, Stack, StackConfig, Variant};
//!
//! /// A stack and the packets that it has sent.
//! struct Host {
//!     stack: Stack,
//!     sent: VecDeque<Vec<u8>>,
//! }
//!
//! impl Host {
//!     fn new(address: [u8; 4]) -> std::io::Result<Self> {
//!         let variant = Variant::named("unruffled").expect("the recommended sender");
//!         let config = StackConfig::new(vec![address.into()], variant)?;
//!         Ok(Self { stack: Stack::new(config), sent: VecDeque::new() })
//!     }
//!
//!     fn transmit(&mut self, now: Instant) {
//!         let mut packet = Vec::new();
//!         while self.stack.poll_transmit(now, &mut packet).is_some() {
//!             self.sent.push_back(std::mem::take(&mut packet));
//!         }
//!     }
//!
//!     fn receive(&mut self, packets: VecDeque<Vec<u8>>, now: Instant) {
//!         for packet in packets {
//!             if self.stack.receive(&packet, Checksums::Verify, now).is_immediate() {
//!                 self.transmit(now);
//!             }
//!         }
//!         if self.stack.poll_timeout().is_some_and(|due| due <= now) {
//!             self.stack.handle_timeout(now);
//!         }
//!     }
//!
//!     /// Appends what has arrived to `data`; returns whether the peer's stream has ended.
//!     fn read(&mut self, id: ConnectionId, data: &mut Vec<u8>) -> bool {
//!         let mut buffer = [0; 4096];
//!         while let Poll::Ready(read) = self.stack.poll_read(id, Waker::noop(), &mut buffer) {
//!             match read.expect("the connection lasts") {
//!                 0 => return true,
//!                 len => data.extend_from_slice(&buffer[..len]),
//!             }
//!         }
//!         false
//!     }
//!
//!     /// Writes what there is room for, and removes it from `data`.
//!     fn write(&mut self, id: ConnectionId, data: &mut Vec<u8>) {
//!         if let Poll::Ready(written) = self.stack.poll_write(id, Waker::noop(), data) {
//!             data.drain(..written.expect("the connection lasts"));
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut now = Instant::from_millis(1000);
//! let mut client = Host::new([10, 0, 0, 1])?;
//! let mut server = Host::new([10, 0, 0, 2])?;
//!
//! let echo: SocketAddr = ([10, 0, 0, 2], 7).into();
//! let listener = server.stack.listen(echo, 8)?;
//! let client_id = client.stack.connect(echo, None, now)?;
//! let mut server_id = None;
//!
//! let text: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
//! let mut to_write = text.clone();
//! let mut to_echo = Vec::new();
//! let mut echoed = Vec::new();
//!
//! loop {
//!     // The applications.
//!     if !to_write.is_empty() {
//!         client.write(client_id, &mut to_write);
//!     } else {
//!         client.stack.finish(client_id);
//!     }
//!     if let Poll::Ready(id) = server.stack.poll_accept(listener, Waker::noop()) {
//!         server_id = Some(id?);
//!     }
//!     if let Some(id) = server_id {
//!         let ended = server.read(id, &mut to_echo);
//!         server.write(id, &mut to_echo);
//!         if ended && to_echo.is_empty() {
//!             server.stack.release(id);
//!             server_id = None;
//!         }
//!     }
//!     if client.read(client_id, &mut echoed) {
//!         break;
//!     }
//!
//!     // The path.
//!     client.transmit(now);
//!     server.transmit(now);
//!     now += Duration::from_millis(10);
//!     let to_server = std::mem::take(&mut client.sent);
//!     let to_client = std::mem::take(&mut server.sent);
//!     server.receive(to_server, now);
//!     client.receive(to_client, now);
//! }
//! assert_eq!(echoed, text);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod address;
mod budget;
pub mod buffer;
pub mod codec;
mod config;
mod connections;
mod cookies;
mod counters;
mod departure;
mod directory;
mod error;
mod ids;
pub mod info;
mod listener;
mod lookahead;
mod options;
mod orphan;
mod ports;
mod requests;
mod schedule;
mod secret;
mod slab;
mod socket;
mod stack;
mod tally;
mod time_wait;
mod timers;
mod turns;
mod urgency;
mod usage;
mod wakers;

pub use address::FourTuple;
pub use budget::Limits;
pub use config::StackConfig;
pub use counters::Counters;
pub use departure::{Departure, Offload};
pub use error::StackError;
pub use ids::{ConnectionId, ListenerId};
pub use info::Info;
pub use options::{BufferSizes, Options};
pub use secret::Secret;
pub use stack::{Stack, Watcher};
pub use unruffled_tcp::{Config, Error, Event, KeepAlive, Observer, State, Variant};
pub use unruffled_units::{Duration, Instant, Rate};
pub use urgency::Urgency;
pub use usage::Usage;
