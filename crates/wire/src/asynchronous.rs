//! Streams and listeners like those of `tokio::net`, over a driver.
//!
//! They need no runtime of their own: any executor can poll them, and everything that works on
//! tokio's `AsyncRead` and `AsyncWrite` works on them, `tokio::io::split` included. A future that
//! is dropped before it is ready has consumed no octet and no connection.
//!
//! ```no_run
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use unruffled_wire::asynchronous::{TcpListener, TcpStream};
//! use unruffled_wire::device::Tun;
//! use unruffled_wire::driver::Driver;
//! use unruffled_wire::stack::{Stack, StackConfig, Variant};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tun = Tun::create("ur0", 1500, &[("10.9.0.1".parse()?, 24)])?;
//! let config = StackConfig::new(vec!["10.9.0.2".parse()?], Variant::parse("unruffled")?)?;
//! let driver = Driver::spawn(tun, Stack::new(config))?;
//!
//! // An echo server.
//! let listener = TcpListener::bind(&driver.handle(), "10.9.0.2:7".parse()?, 128)?;
//! tokio::spawn(async move {
//!     while let Ok(stream) = listener.accept().await {
//!         tokio::spawn(async move {
//!             let (mut from, mut to) = tokio::io::split(stream);
//!             tokio::io::copy(&mut from, &mut to).await
//!         });
//!     }
//! });
//!
//! // A client.
//! let mut stream = TcpStream::connect(&driver.handle(), "10.9.0.1:80".parse()?).await?;
//! stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
//! let mut answer = Vec::new();
//! stream.read_to_end(&mut answer).await?;
//! # Ok(())
//! # }
//! ```

mod tcp;

pub use tcp::split::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};
pub use tcp::{TcpListener, TcpStream};
