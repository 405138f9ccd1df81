//! Connections and listeners of a stack that streams and listeners hold and release when dropped.

use std::io;
use std::net::SocketAddr;
use std::task::{Poll, Waker};
use std::time::Duration;

use unruffled_stack::{
    BufferSizes, ConnectionId, FourTuple, Info, ListenerId, Options, Stack, StackError,
};

use crate::driver::Handle;
use crate::options::to_std;

/// A connection. When it is dropped, it ends in its own time.
#[derive(Debug)]
pub(crate) struct HeldConnection {
    handle: Handle,
    id: ConnectionId,
    ends: FourTuple,
    /// Whether dropping it may wait for as long as the connection lingers.
    waits_on_drop: bool,
}

impl HeldConnection {
    /// Starts connecting to `remote`, from `local` if that is given.
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
        Ok(Self { handle: handle.clone(), id, ends, waits_on_drop: false })
    }

    /// Returns the connection with a drop that may wait for as long as the connection lingers.
    pub(crate) fn waiting_on_drop(self) -> Self {
        let mut held = self;
        held.waits_on_drop = true;
        held
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    pub(crate) fn ends(&self) -> FourTuple {
        self.ends
    }

    fn with<T>(&self, work: impl FnOnce(&mut Stack, ConnectionId) -> T) -> T {
        self.handle.with(|stack| work(stack, self.id))
    }

    /// Calls `attempt` once. If the result is pending, `waker` is woken once another call may
    /// succeed.
    pub(crate) fn poll<T>(
        &self,
        waker: &Waker,
        attempt: impl FnOnce(&mut Stack, ConnectionId, &Waker) -> Poll<Result<T, StackError>>,
    ) -> Poll<io::Result<T>> {
        self.with(|stack, id| attempt(stack, id, waker)).map_err(io::Error::from)
    }

    /// Calls `attempt` until it is ready, for at most `timeout`.
    pub(crate) fn wait<T>(
        &self,
        timeout: Option<Duration>,
        mut attempt: impl FnMut(&mut Stack, ConnectionId, &Waker) -> Poll<Result<T, StackError>>,
    ) -> io::Result<T> {
        self.handle.wait(timeout, |stack, waker| attempt(stack, self.id, waker))
    }

    pub(crate) fn info(&self) -> io::Result<Info> {
        self.with(|stack, id| stack.info(id)).map_err(io::Error::from)
    }

    pub(crate) fn abort(&self) {
        self.with(|stack, id| stack.abort(id));
    }

    pub(crate) fn finish(&self) {
        self.with(|stack, id| stack.finish(id));
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

    /// Waits until the peer has acknowledged everything, for as long as the connection lingers, and
    /// then resets the connection.
    fn linger(&self) {
        let Ok(Options { linger: Some(span), .. }) = self.options() else { return };
        if span == unruffled_stack::Duration::ZERO {
            return;
        }
        self.finish();
        let span = Some(to_std(span));
        let waited = self.wait(span, |stack, id, waker| stack.poll_acknowledged(id, waker));
        if waited.is_err() {
            // This has no effect if the connection has ended already.
            self.abort();
        }
    }
}

impl Drop for HeldConnection {
    fn drop(&mut self) {
        if self.waits_on_drop {
            self.linger();
        }
        self.handle.with(|stack| stack.release(self.id));
    }
}

/// A listener. When it is dropped, its port is closed, and connections that were never accepted are
/// reset.
#[derive(Debug)]
pub(crate) struct HeldListener {
    handle: Handle,
    id: ListenerId,
    address: SocketAddr,
}

impl HeldListener {
    pub(crate) fn bind(handle: &Handle, address: SocketAddr, backlog: usize) -> io::Result<Self> {
        let (id, at) = handle.with(|stack| {
            let id = stack.listen(address, backlog)?;
            Ok::<_, StackError>((id, stack.listening_at(id)))
        })?;
        Ok(Self { handle: handle.clone(), id, address: at.unwrap_or(address) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the next connection, for at most `timeout`.
    pub(crate) fn wait(&self, timeout: Option<Duration>) -> io::Result<HeldConnection> {
        let id = self.handle.wait(timeout, |stack, waker| stack.poll_accept(self.id, waker))?;
        HeldConnection::new(&self.handle, id)
    }

    /// Returns the next connection. If there is none, `waker` is woken once another call may
    /// succeed.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<io::Result<HeldConnection>> {
        let accepted = self.handle.with(|stack| stack.poll_accept(self.id, waker));
        accepted.map(|id| HeldConnection::new(&self.handle, id?))
    }

    /// Removes `waker` from those that wait for a connection.
    pub(crate) fn stop_waiting(&self, waker: &Waker) {
        self.handle.with(|stack| stack.stop_accepting(self.id, waker));
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
