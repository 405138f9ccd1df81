//! A TCP of its own on real packets, in a process of its own.
//!
//! A [`driver`] runs a [`stack`] over a [`device`] in one thread. Programs use the types of
//! [`stream`], which are like those of `std::net`, or of [`asynchronous`], which are like those of
//! `tokio::net`. The stack itself, with [`codec`] and [`buffer`], is the crate `unruffled-stack`;
//! it does no I/O.
//!
//! Behind a TUN interface the peer is the kernel, or a host that the kernel forwards to:
//!
//! ```no_run
//! use unruffled_wire::device::Tun;
//! use unruffled_wire::driver::Driver;
//! use unruffled_wire::stack::{Stack, StackConfig, Variant};
//!
//! # fn main() -> std::io::Result<()> {
//! let variant = Variant::named("unruffled").expect("the recommended sender");
//! let config = StackConfig::new(vec!["10.0.0.2".parse().expect("an address")], variant)?;
//! let kernel = ("10.0.0.1".parse().expect("an address"), 24);
//! let driver = Driver::spawn(Tun::create("tun0", 1500, &[kernel])?, Stack::new(config))?;
//! # Ok(())
//! # }
//! ```
//!
//! This needs the privilege to create an interface. Any other type that carries packets works too, for
//! instance a pair of sockets that joins two stacks:
//!
//! ```
//! use std::io::{self, Read, Write};
//! use std::net::{IpAddr, Shutdown};
//! use std::ops::Range;
//! use std::os::fd::{AsFd, BorrowedFd};
//! use std::os::unix::net::UnixDatagram;
//!
//! use unruffled_wire::codec::Checksums;
//! use unruffled_wire::device::Link;
//! use unruffled_wire::driver::Driver;
//! use unruffled_wire::stack::{Offload, Stack, StackConfig, Variant};
//! use unruffled_wire::stream::{TcpListener, TcpStream};
//!
//! /// A link on which each datagram is a packet.
//! struct Pair(UnixDatagram);
//!
//! impl AsFd for Pair {
//!     fn as_fd(&self) -> BorrowedFd<'_> {
//!         self.0.as_fd()
//!     }
//! }
//!
//! impl Link for Pair {
//!     fn largest(&self) -> usize {
//!         1500
//!     }
//!     fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
//!         Ok((0..self.0.recv(buffer)?, Checksums::Verify))
//!     }
//!     fn send(&mut self, packet: &[u8], _: Option<Offload>) -> io::Result<()> {
//!         self.0.send(packet).map(|_| ())
//!     }
//! }
//!
//! fn stack(address: IpAddr) -> io::Result<Stack> {
//!     let variant = Variant::named("unruffled").expect("the recommended sender");
//!     StackConfig::new(vec![address], variant).map(Stack::new)
//! }
//!
//! # fn main() -> io::Result<()> {
//! let (left, right) = UnixDatagram::pair()?;
//! left.set_nonblocking(true)?;
//! right.set_nonblocking(true)?;
//! let client = Driver::spawn(Pair(left), stack([10, 0, 0, 1].into())?)?;
//! let server = Driver::spawn(Pair(right), stack([10, 0, 0, 2].into())?)?;
//!
//! let listener = TcpListener::bind(&server.handle(), ([10, 0, 0, 2], 7).into(), 8)?;
//! let echo = std::thread::spawn(move || -> io::Result<()> {
//!     let mut stream = listener.accept()?;
//!     let mut all = Vec::new();
//!     stream.read_to_end(&mut all)?;
//!     stream.write_all(&all)
//! });
//! let mut stream = TcpStream::connect(&client.handle(), ([10, 0, 0, 2], 7).into())?;
//! stream.write_all(b"as it was written")?;
//! stream.shutdown(Shutdown::Write)?;
//! let mut back = String::new();
//! stream.read_to_string(&mut back)?;
//! assert_eq!(back, "as it was written");
//! echo.join().expect("a thread that did not panic")?;
//! # Ok(())
//! # }
//! ```
//!
//! Streams and listeners have the options of sockets ([`SocketOptions`]); a listener's connections
//! start with the listener's. `info()` returns what Linux's `TCP_INFO` does, and `into_split`
//! separates reading from writing.
//!
//! `examples/` has an echo server and an asynchronous client over TUN, and the engine driven by
//! hand.

#![forbid(unsafe_code)]

pub mod asynchronous;
pub mod device;
pub mod driver;
mod held;
mod options;
pub mod stream;
mod waiting;

pub use options::SocketOptions;
pub use unruffled_stack as stack;
pub use unruffled_stack::{buffer, codec};
