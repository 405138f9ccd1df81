//! What an application holds of a stack, and lets go by dropping it: what both kinds of streams and
//! listeners are made of.

use std::io;
use std::net::SocketAddr;
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::driver::Handle;
use crate::stack::{BufferSizes, ConnectionId, FourTuple, ListenerId, Options, Stack, StackError};

/// A connection; dropped, it ends in its own time.
#[derive(Debug)]
pub(crate) struct HeldConnection {
    handle: Handle,
    pub(crate) id: ConnectionId,
    pub(crate) ends: FourTuple,
    /// Whoever drops it may wait as long as it lingers.
    pub(crate) may_wait: bool,
}

impl HeldConnection {
    /// Begins to connect to `remote`, from `local` if that is given.
    pub(crate) fn connect(
        handle: &Handle,
        local: Option<SocketAddr>,
        remote: SocketAddr,
    ) -> io::Result<Self> {
        let now = handle.now();
        let id = handle.with(|stack| stack.connect(remote, local, now))?;
        Self::new(handle, id)
    }

    fn new(handle: &Handle, id: ConnectionId) -> io::Result<Self> {
        let ends = handle.with(|stack| stack.ends(id))?;
        Ok(Self { handle: handle.clone(), id, ends, may_wait: false })
    }

    /// Does something to the connection.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Stack, ConnectionId) -> T) -> T {
        self.handle.with(|stack| work(stack, self.id))
    }

    /// Asks once; where the answer is pending, `waker` is woken when it is worth asking again.
    pub(crate) fn poll<T>(
        &self,
        waker: &Waker,
        ask: impl FnOnce(&mut Stack, ConnectionId, &Waker) -> Poll<Result<T, StackError>>,
    ) -> Poll<io::Result<T>> {
        self.with(|stack, id| ask(stack, id, waker)).map_err(io::Error::from)
    }

    /// Asks until there is an answer, up to `timeout`.
    pub(crate) fn wait<T>(
        &self,
        timeout: Option<Duration>,
        mut ask: impl FnMut(&mut Stack, ConnectionId, &Waker) -> Poll<Result<T, StackError>>,
    ) -> io::Result<T> {
        self.handle.wait(timeout, |stack, waker| ask(stack, self.id, waker))
    }

    pub(crate) fn options(&self) -> io::Result<Options> {
        self.with(|stack, id| stack.options(id)).map_err(io::Error::from)
    }

    pub(crate) fn set_options(&self, change: impl FnOnce(&mut Options)) -> io::Result<()> {
        let now = self.handle.now();
        self.with(|stack, id| stack.set_options(id, now, change)).map_err(io::Error::from)
    }

    pub(crate) fn buffer_sizes(&self) -> io::Result<BufferSizes> {
        self.with(|stack, id| stack.buffer_sizes(id)).map_err(io::Error::from)
    }

    /// Waits until the peer has acknowledged all, as long as the application has said; after that
    /// the connection is reset.
    fn linger(&self) {
        let Ok(Options { linger: Some(span), .. }) = self.options() else { return };
        if span == unruffled_units::Duration::ZERO {
            return;
        }
        self.with(|stack, id| stack.finish(id));
        let span = Some(crate::options::standard(span));
        let waited = self.wait(span, |stack, id, waker| stack.poll_acknowledged(id, waker));
        if waited.is_err() {
            // If it has ended already, that does nothing.
            self.with(|stack, id| stack.abort(id));
        }
    }
}

impl Drop for HeldConnection {
    fn drop(&mut self) {
        if self.may_wait {
            self.linger();
        }
        self.handle.with(|stack| stack.release(self.id));
    }
}

/// A listener; dropped, it closes the port and resets those that nobody accepted.
#[derive(Debug)]
pub(crate) struct HeldListener {
    pub(crate) handle: Handle,
    pub(crate) id: ListenerId,
    pub(crate) address: SocketAddr,
}

impl HeldListener {
    pub(crate) fn bind(handle: &Handle, address: SocketAddr, backlog: usize) -> io::Result<Self> {
        let (id, at) = handle.with(|stack| {
            let id = stack.listen(address, backlog)?;
            Ok::<_, StackError>((id, stack.listening_at(id)))
        })?;
        Ok(Self { handle: handle.clone(), id, address: at.unwrap_or(address) })
    }

    /// Takes over a connection that this listener gave.
    pub(crate) fn hold(&self, id: ConnectionId) -> io::Result<HeldConnection> {
        HeldConnection::new(&self.handle, id)
    }

    pub(crate) fn options(&self) -> io::Result<Options> {
        self.handle.with(|stack| stack.listener_options(self.id)).map_err(io::Error::from)
    }

    pub(crate) fn set_options(&self, change: impl FnOnce(&mut Options)) -> io::Result<()> {
        let set = self.handle.with(|stack| stack.set_listener_options(self.id, change));
        set.map_err(io::Error::from)
    }

    pub(crate) fn buffer_sizes(&self) -> io::Result<BufferSizes> {
        self.handle.with(|stack| stack.listener_buffer_sizes(self.id)).map_err(io::Error::from)
    }
}

impl Drop for HeldListener {
    fn drop(&mut self) {
        self.handle.with(|stack| stack.close_listener(self.id));
    }
}
