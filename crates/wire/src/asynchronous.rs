//! Streams and listeners like those of `tokio::net`, over a driver.
//!
//! They need no runtime of their own: any executor that polls will do, and whatever works on tokio's
//! `AsyncRead` and `AsyncWrite` works on these (`tokio::io::split` among it). A future that is
//! dropped before it is ready has taken nothing: no octet, and no connection.
//!
//! ```no_run
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use unruffled_tcp::Variant;
//! use unruffled_wire::asynchronous::{TcpListener, TcpStream};
//! use unruffled_wire::device::Tun;
//! use unruffled_wire::driver::Driver;
//! use unruffled_wire::stack::{Stack, StackConfig};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tun = Tun::create("ur0", 1500, &[("10.9.0.1".parse()?, 24)])?;
//! let config = StackConfig::new(vec!["10.9.0.2".parse()?], Variant::parse("rack")?)?;
//! let driver = Driver::spawn(tun, Stack::new(config))?;
//!
//! // Every word comes back, whoever sends it.
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
//! let mut stream = TcpStream::connect(&driver.handle(), "10.9.0.1:80".parse()?).await?;
//! stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
//! let mut answer = Vec::new();
//! stream.read_to_end(&mut answer).await?;
//! # Ok(())
//! # }
//! ```

mod split;

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub use split::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};

use crate::common::{listener, stream};
use crate::driver::Handle;
use crate::held::{HeldConnection, HeldListener};
use crate::stack::ConnectionId;
use crate::waiting::Task;

/// A TCP connection, for tasks. Dropping it closes it, and what was written still arrives while the
/// driver runs.
///
/// Flushing does nothing, since what was written is sent as soon as it may be, and shutting down
/// ends this end's stream without waiting; [`TcpStream::wait_acknowledged`] waits.
#[derive(Debug)]
pub struct TcpStream {
    held: HeldConnection,
    reader: Task,
    writer: Task,
    flusher: Task,
}

impl TcpStream {
    /// Connects to `remote`. Dropping the future gives the attempt up.
    ///
    /// # Errors
    /// Why there is no connection: refused, timed out, no address to connect from.
    pub async fn connect(handle: &Handle, remote: SocketAddr) -> io::Result<Self> {
        Self::connect_from(handle, None, remote).await
    }

    /// Connects from an address or port.
    ///
    /// # Errors
    /// As [`TcpStream::connect`].
    pub async fn connect_from(
        handle: &Handle,
        local: Option<SocketAddr>,
        remote: SocketAddr,
    ) -> io::Result<Self> {
        let stream = Self::over(HeldConnection::connect(handle, local, remote)?);
        poll_fn(|context| {
            let waker = stream.writer.current(context);
            stream.held.poll(waker, |stack, id, waker| stack.poll_connected(id, waker))
        })
        .await?;
        Ok(stream)
    }

    fn over(held: HeldConnection) -> Self {
        Self { held, reader: Task::default(), writer: Task::default(), flusher: Task::default() }
    }

    /// Waits until the peer has acknowledged all that was written.
    ///
    /// # Errors
    /// Why it never will.
    pub async fn wait_acknowledged(&mut self) -> io::Result<()> {
        self.acknowledged().await
    }

    async fn acknowledged(&self) -> io::Result<()> {
        poll_fn(|context| {
            let waker = self.flusher.current(context);
            self.held.poll(waker, |stack, id, waker| stack.poll_acknowledged(id, waker))
        })
        .await
    }

    fn read(&self, context: &Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let waker = self.reader.current(context);
        let unfilled = out.initialize_unfilled();
        let read = self.held.poll(waker, |stack, id, waker| stack.poll_read(id, waker, unfilled));
        read.map_ok(|len| out.advance(len))
    }

    fn write(&self, context: &Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let waker = self.writer.current(context);
        self.held.poll(waker, |stack, id, waker| stack.poll_write(id, waker, data))
    }
}

impl AsyncRead for TcpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.read(context, out)
    }
}

impl AsyncWrite for TcpStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(context, data)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.finish();
        Poll::Ready(Ok(()))
    }
}

/// Waits for connections; dropping it closes the port and resets those that nobody accepted. Use it
/// for a server of tasks.
#[derive(Debug)]
pub struct TcpListener {
    held: HeldListener,
}

impl TcpListener {
    fn over(held: HeldListener) -> Self {
        Self { held }
    }

    /// Waits for the next connection; several tasks may wait at once.
    ///
    /// # Errors
    /// When the driver has stopped.
    pub async fn accept(&self) -> io::Result<TcpStream> {
        let accepting = Accepting { held: &self.held, task: Task::default() };
        let id = poll_fn(|context| accepting.poll(context)).await?;
        self.held.hold(id).map(TcpStream::over)
    }
}

/// One who waits to accept, and no longer once dropped.
struct Accepting<'a> {
    held: &'a HeldListener,
    task: Task,
}

impl Accepting<'_> {
    fn poll(&self, context: &Context<'_>) -> Poll<io::Result<ConnectionId>> {
        let HeldListener { handle, id, .. } = self.held;
        let waker = self.task.current(context);
        handle.with(|stack| stack.poll_accept(*id, waker)).map_err(io::Error::from)
    }
}

impl Drop for Accepting<'_> {
    fn drop(&mut self) {
        let HeldListener { handle, id, .. } = self.held;
        handle.with(|stack| stack.stop_accepting(*id, self.task.waker()));
    }
}

stream!(TcpStream);
listener!(TcpListener);
