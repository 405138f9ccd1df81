//! The engine on the wire: a real TCP in a process of its own.
//!
//! [`codec`] turns segments into IP packets and back; [`buffer`] keeps what has been written and
//! what has arrived; [`stack`] holds many connections and, like the engine, does no I/O and knows no
//! clock. A [`driver`] runs a stack over a [`device`] in one thread, and programs are written with what
//! [`stream`] and [`asynchronous`] have: types like those of `std::net` and of `tokio::net`.
//!
//! Behind a TUN interface the peer is the kernel, or whoever it forwards to:
//!
//! ```no_run
//! use unruffled_tcp::Variant;
//! use unruffled_wire::device::Tun;
//! use unruffled_wire::driver::Driver;
//! use unruffled_wire::stack::{Stack, StackConfig};
//!
//! # fn main() -> std::io::Result<()> {
//! let variant = Variant::named("rack").expect("one of `unruffled_tcp::ROWS`");
//! let config = StackConfig::new(vec!["10.0.0.2".parse().expect("an address")], variant)?;
//! let kernel = ("10.0.0.1".parse().expect("an address"), 24);
//! let driver = Driver::spawn(Tun::create("tun0", 1500, &[kernel])?, Stack::new(config))?;
//! # Ok(())
//! # }
//! ```
//!
//! That needs rights. Anything that carries packets will do as well, a pair of sockets for instance,
//! and then two stacks speak with each other:
//!
//! ```
//! use std::io::{self, Read, Write};
//! use std::net::{IpAddr, Shutdown};
//! use std::ops::Range;
//! use std::os::fd::{AsFd, BorrowedFd};
//! use std::os::unix::net::UnixDatagram;
//!
//! use unruffled_tcp::Variant;
//! use unruffled_wire::codec::Checksums;
//! use unruffled_wire::device::Link;
//! use unruffled_wire::driver::Driver;
//! use unruffled_wire::stack::{Offload, Stack, StackConfig};
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
//!     let variant = Variant::named("rack").expect("one of `unruffled_tcp::ROWS`");
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
//! Streams have the options of sockets (`set_nodelay`, `set_keepalive`, `set_user_timeout`, sizes of
//! buffers, `set_linger`), which a listener's connections take over from it; `info()` tells what
//! Linux's `TCP_INFO` does, and `into_split` parts reading from writing.
//!
//! `examples/` has an echo server and an asynchronous client over TUN, and the engine driven by hand.

#![forbid(unsafe_code)]

pub mod asynchronous;
mod common;
pub mod device;
pub mod driver;
mod held;
mod options;
pub mod stream;
mod waiting;

pub use unruffled_stack as stack;
pub use unruffled_stack::{buffer, codec};
