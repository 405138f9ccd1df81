//! Streams and listeners like those of `std::net`, over a driver.

mod tcp;

pub use tcp::split::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};
pub use tcp::{TcpListener, TcpStream};
