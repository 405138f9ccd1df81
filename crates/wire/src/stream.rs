//! Streams and listeners like those of `std::net`, over a driver.

mod split;

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

pub use split::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};

use crate::common::{listener, stream};
use crate::driver::Handle;
use crate::held::{HeldConnection, HeldListener};

/// A TCP connection, for threads. Reading and writing wait, up to the timeouts if they are set;
/// dropping it (and all clones) closes it, and what was written still arrives while the driver runs.
#[derive(Clone, Debug)]
pub struct TcpStream {
    held: Arc<HeldConnection>,
    read_timeout: Option<Duration>,
    write_timeout: Option<Duration>,
}

impl TcpStream {
    /// Connects to `remote`, and waits until the connection is there.
    ///
    /// # Errors
    /// Why it is not: refused, timed out, no address to connect from.
    pub fn connect(handle: &Handle, remote: SocketAddr) -> io::Result<Self> {
        Self::connect_from(handle, None, remote, None)
    }

    /// Connects from an address or port, and waits no longer than `timeout`.
    ///
    /// # Errors
    /// As [`TcpStream::connect`], and [`io::ErrorKind::WouldBlock`] at the timeout.
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

    fn over(mut held: HeldConnection) -> Self {
        held.may_wait = true;
        Self { held: Arc::new(held), read_timeout: None, write_timeout: None }
    }

    /// How long a read may wait; none waits for ever.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.read_timeout = timeout;
    }

    /// How long a write may wait; none waits for ever.
    pub fn set_write_timeout(&mut self, timeout: Option<Duration>) {
        self.write_timeout = timeout;
    }

    /// Ends this end's stream. Reading cannot be given up but by dropping the stream: what arrives
    /// then is answered by a reset.
    ///
    /// # Errors
    /// None today; the signature is that of `std::net`.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        if how != Shutdown::Read {
            self.finish();
        }
        Ok(())
    }

    /// Waits until the peer has acknowledged all that was written.
    ///
    /// # Errors
    /// Why it never will.
    pub fn wait_acknowledged(&self) -> io::Result<()> {
        self.held.wait(self.write_timeout, |stack, id, waker| stack.poll_acknowledged(id, waker))
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

/// Waits for connections; dropping it closes the port and resets those that nobody accepted. Use it
/// for a server of threads.
#[derive(Debug)]
pub struct TcpListener {
    held: HeldListener,
    timeout: Option<Duration>,
}

impl TcpListener {
    fn over(held: HeldListener) -> Self {
        Self { held, timeout: None }
    }

    /// How long an accept may wait; none waits for ever.
    pub fn set_accept_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    /// When the driver has stopped, and [`io::ErrorKind::WouldBlock`] at the timeout.
    pub fn accept(&self) -> io::Result<TcpStream> {
        let HeldListener { handle, id, .. } = &self.held;
        let id = handle.wait(self.timeout, |stack, waker| stack.poll_accept(*id, waker))?;
        self.held.hold(id).map(TcpStream::over)
    }
}

stream!(TcpStream);
listener!(TcpListener);
