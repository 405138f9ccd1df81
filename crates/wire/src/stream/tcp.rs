//! Streams and listeners for threads.

pub(super) mod split;

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use unruffled_stack::{BufferSizes, ConnectionId, Info, Options};

use crate::driver::Handle;
use crate::held::{HeldConnection, HeldListener};
use crate::options::SocketOptions;

/// A TCP connection for threads.
///
/// Reading and writing wait, up to the timeouts if they are set. The connection closes when the
/// stream and all its clones have been dropped; what was written still arrives while the driver
/// runs.
#[derive(Clone, Debug)]
pub struct TcpStream {
    held: Arc<HeldConnection>,
    read_timeout: Option<Duration>,
    write_timeout: Option<Duration>,
}

impl TcpStream {
    /// Connects to `remote`, and waits until the connection is established.
    ///
    /// # Errors
    /// The reason why there is no connection: refused, timed out, no address to connect from.
    pub fn connect(handle: &Handle, remote: SocketAddr) -> io::Result<Self> {
        Self::connect_from(handle, None, remote, None)
    }

    /// Connects from a local address or port, and waits for at most `timeout`.
    ///
    /// # Errors
    /// Same as [`TcpStream::connect`], and [`io::ErrorKind::WouldBlock`] at the timeout.
    pub fn connect_from(
        handle: &Handle,
        local: Option<SocketAddr>,
        remote: SocketAddr,
        timeout: Option<Duration>,
    ) -> io::Result<Self> {
        let stream = Self::over(HeldConnection::connect(handle, local, remote)?);
        stream.held.wait(timeout, |stack, id, waker| stack.poll_connected(id, waker))?;
        Ok(stream)
    }

    fn over(held: HeldConnection) -> Self {
        let held = Arc::new(held.waiting_on_drop());
        Self { held, read_timeout: None, write_timeout: None }
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

    /// Sets how long a read may wait; `None` waits without limit.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.read_timeout = timeout;
    }

    /// Sets how long a write may wait; `None` waits without limit.
    pub fn set_write_timeout(&mut self, timeout: Option<Duration>) {
        self.write_timeout = timeout;
    }

    /// Ends this end's stream. Shutting down the read side alone has no effect; data that arrives
    /// after the stream has been dropped is answered with a reset.
    ///
    /// # Errors
    /// None today; the signature is that of `std::net`.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        if how != Shutdown::Read {
            self.held.finish();
        }
        Ok(())
    }

    /// Ends the connection at once, with a reset to the peer.
    pub fn abort(&self) {
        self.held.abort();
    }

    /// Waits until the peer has acknowledged everything that was written.
    ///
    /// # Errors
    /// The reason why it never will.
    pub fn wait_acknowledged(&self) -> io::Result<()> {
        self.held.wait(self.write_timeout, |stack, id, waker| stack.poll_acknowledged(id, waker))
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

impl Read for &TcpStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.held.wait(self.read_timeout, |stack, id, waker| stack.poll_read(id, waker, out))
    }
}

impl Write for &TcpStream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.held.wait(self.write_timeout, |stack, id, waker| stack.poll_write(id, waker, data))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for TcpStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        (&*self).read(out)
    }
}

impl Write for TcpStream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        (&*self).write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A listening socket for threads.
///
/// When it is dropped, its port is closed, and connections that were never accepted are reset.
#[derive(Debug)]
pub struct TcpListener {
    held: HeldListener,
    timeout: Option<Duration>,
}

impl TcpListener {
    /// Listens at `address`. An unspecified IP stands for every address, port 0 for any free port.
    /// Up to `backlog` established connections may wait to be accepted.
    ///
    /// # Errors
    /// When the address is in use, or not the stack's.
    pub fn bind(handle: &Handle, address: SocketAddr, backlog: usize) -> io::Result<Self> {
        Ok(Self { held: HeldListener::bind(handle, address, backlog)?, timeout: None })
    }

    /// Returns the address, with the port that was chosen for it.
    pub fn local_addr(&self) -> SocketAddr {
        self.held.address()
    }

    /// Sets how long [`TcpListener::accept`] may wait; `None` waits without limit.
    pub fn set_accept_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    /// When the driver has stopped, and [`io::ErrorKind::WouldBlock`] at the timeout.
    pub fn accept(&self) -> io::Result<TcpStream> {
        self.held.wait(self.timeout).map(TcpStream::over)
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
