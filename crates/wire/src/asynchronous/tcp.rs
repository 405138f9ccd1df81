//! Streams and listeners for tasks.

pub(super) mod split;

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use unruffled_stack::{BufferSizes, ConnectionId, Info, Options};

use crate::driver::Handle;
use crate::held::{HeldConnection, HeldListener};
use crate::options::SocketOptions;
use crate::waiting::Task;

/// A TCP connection for tasks.
///
/// The connection closes when the stream is dropped; what was written still arrives while the
/// driver runs. Flushing has no effect, since what is written is sent as soon as possible. Shutting
/// down ends this end's stream without waiting; [`TcpStream::wait_acknowledged`] waits.
#[derive(Debug)]
pub struct TcpStream {
    held: HeldConnection,
    reader: Task,
    writer: Task,
    flusher: Task,
}

impl TcpStream {
    /// Connects to `remote`. Dropping the future ends the attempt.
    ///
    /// # Errors
    /// The reason why there is no connection: refused, timed out, no address to connect from.
    pub async fn connect(handle: &Handle, remote: SocketAddr) -> io::Result<Self> {
        Self::connect_from(handle, None, remote).await
    }

    /// Connects from a local address or port.
    ///
    /// # Errors
    /// Same as [`TcpStream::connect`].
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

    /// Returns this end's address.
    pub fn local_addr(&self) -> SocketAddr {
        self.held.ends().local
    }

    /// Returns the peer's address.
    pub fn peer_addr(&self) -> SocketAddr {
        self.held.ends().remote
    }

    /// Returns the state of the connection and what has happened in it, like Linux's `TCP_INFO`.
    ///
    /// # Errors
    /// When the stack has failed.
    pub fn info(&self) -> io::Result<Info> {
        self.held.info()
    }

    /// Returns the connection's id in the stack.
    pub fn id(&self) -> ConnectionId {
        self.held.id()
    }

    /// Ends the connection at once, with a reset to the peer.
    pub fn abort(&self) {
        self.held.abort();
    }

    /// Waits until the peer has acknowledged everything that was written.
    ///
    /// # Errors
    /// The reason why it never will.
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

impl SocketOptions for TcpStream {
    fn options(&self) -> io::Result<Options> {
        self.held.options()
    }

    fn set_options(&self, change: impl FnOnce(&mut Options)) -> io::Result<()> {
        self.held.set_options(change)
    }

    fn buffer_sizes(&self) -> io::Result<BufferSizes> {
        self.held.buffer_sizes()
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
        self.held.finish();
        Poll::Ready(Ok(()))
    }
}

/// A listening socket for tasks.
///
/// When it is dropped, its port is closed, and connections that were never accepted are reset.
#[derive(Debug)]
pub struct TcpListener {
    held: HeldListener,
}

impl TcpListener {
    /// Listens at `address`. An unspecified IP stands for every address, port 0 for any free port.
    /// Up to `backlog` established connections may wait to be accepted.
    ///
    /// # Errors
    /// When the address is in use, or not the stack's.
    pub fn bind(handle: &Handle, address: SocketAddr, backlog: usize) -> io::Result<Self> {
        Ok(Self { held: HeldListener::bind(handle, address, backlog)? })
    }

    /// Returns the address, with the port that was chosen for it.
    pub fn local_addr(&self) -> SocketAddr {
        self.held.address()
    }

    /// Waits for the next connection; several tasks may wait at once.
    ///
    /// # Errors
    /// When the driver has stopped.
    pub async fn accept(&self) -> io::Result<TcpStream> {
        let accepting = Accepting { held: &self.held, task: Task::default() };
        let held = poll_fn(|context| self.held.poll(accepting.task.current(context))).await?;
        Ok(TcpStream::over(held))
    }
}

impl SocketOptions for TcpListener {
    fn options(&self) -> io::Result<Options> {
        self.held.options()
    }

    fn set_options(&self, change: impl FnOnce(&mut Options)) -> io::Result<()> {
        self.held.set_options(change)
    }

    fn buffer_sizes(&self) -> io::Result<BufferSizes> {
        self.held.buffer_sizes()
    }
}

/// A task that waits to accept, until this is dropped.
struct Accepting<'a> {
    held: &'a HeldListener,
    task: Task,
}

impl Drop for Accepting<'_> {
    fn drop(&mut self) {
        self.held.stop_waiting(self.task.waker());
    }
}
