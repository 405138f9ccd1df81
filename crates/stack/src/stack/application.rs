//! What applications ask of a stack.

use std::net::SocketAddr;
use std::task::{Poll, Waker};

use unruffled_tcp::{Connection, State};
use unruffled_units::{Duration, Instant};

use super::listener::Listener;
use super::options::Options;
use super::socket::{self, Owner, Socket};
use super::{Condition, ConnectionId, FourTuple, ListenerId, Stack, StackError, budget, config};
use crate::codec;

/// Octets that are copied at once, while others wait for the stack.
const LARGEST_COPY: usize = 256 << 10;

impl Stack {
    /// Waits for connections to `address`, whose IP may be unspecified and whose port may be 0 for
    /// any; up to `backlog` may wait to be accepted.
    ///
    /// # Errors
    /// [`StackError::InUse`], or [`StackError::NoAddress`] for an address that is not ours.
    pub fn listen(
        &mut self,
        address: SocketAddr,
        backlog: usize,
    ) -> Result<ListenerId, StackError> {
        let mut address = config::bare(address);
        if self.condition != Condition::Open {
            return Err(self.gone());
        }
        if !address.ip().is_unspecified() && !self.config.owns(address.ip()) {
            return Err(StackError::NoAddress);
        }
        if address.port() == 0 {
            let free = self.config.ports.clone().find(|&port| {
                address.set_port(port);
                !self.listeners.has(&address)
            });
            address.set_port(free.ok_or(StackError::NoAddress)?);
        }
        if self.listeners.has(&address) {
            return Err(StackError::InUse);
        }
        let listener = Listener::new(address, backlog, Options::of(&self.config));
        Ok(ListenerId(self.listeners.insert(listener)))
    }

    /// Where the listener listens.
    pub fn listening_at(&self, id: ListenerId) -> Option<SocketAddr> {
        self.listeners.get(id.0).map(|listener| listener.address)
    }

    /// Listens no more; connections that nobody accepted are reset.
    pub fn close_listener(&mut self, id: ListenerId) {
        let Some(mut listener) = self.listeners.remove(id.0) else { return };
        let before = self.opening.requests.len();
        self.opening.requests.forget(id.0);
        self.budget.refund((before - self.opening.requests.len()) * budget::REQUEST);
        self.wakers.append(&mut listener.waiting);
        for waiting in listener.queue {
            self.abort(waiting);
            self.release(waiting);
        }
    }

    /// The next connection that came in.
    ///
    /// # Errors
    /// [`StackError::Closed`] when there is no such listener any more.
    pub fn poll_accept(
        &mut self,
        id: ListenerId,
        waker: &Waker,
    ) -> Poll<Result<ConnectionId, StackError>> {
        let gone = self.gone();
        let Some(listener) = self.listeners.get_mut(id.0) else {
            return Poll::Ready(Err(gone));
        };
        let Some(connection) = listener.queue.pop_front() else {
            socket::remember(&mut listener.waiting, waker);
            return Poll::Pending;
        };
        if let Some(socket) = self.sockets.get_mut(connection.0) {
            socket.owner = Owner::Application;
        }
        Poll::Ready(Ok(connection))
    }

    /// Whom `waker` would wake waits for a connection no more.
    pub fn stop_accepting(&mut self, id: ListenerId, waker: &Waker) {
        if let Some(listener) = self.listeners.get_mut(id.0) {
            listener.waiting.retain(|known| !known.will_wake(waker));
        }
    }

    /// Connects to `remote`, from `local` if that is given, whose IP may be unspecified and whose port
    /// may be 0 for any.
    ///
    /// # Errors
    /// [`StackError::NoHost`], [`StackError::InUse`], [`StackError::NoAddress`] or
    /// [`StackError::NoRoom`].
    pub fn connect(
        &mut self,
        remote: SocketAddr,
        local: Option<SocketAddr>,
        now: Instant,
    ) -> Result<ConnectionId, StackError> {
        let (remote, local) = (config::bare(remote), local.map(config::bare));
        if self.condition != Condition::Open {
            return Err(self.gone());
        }
        if remote.port() == 0 || !codec::answerable(remote.ip()) {
            return Err(StackError::NoHost);
        }
        let ip = match local.map(|local| local.ip()) {
            Some(ip) if !ip.is_unspecified() => ip,
            _ => self.config.source_for(remote.ip()).ok_or(StackError::NoAddress)?,
        };
        if !self.config.owns(ip) || ip.is_ipv4() != remote.is_ipv4() {
            return Err(StackError::NoAddress);
        }
        let mut local = SocketAddr::new(ip, local.map_or(0, |local| local.port()));
        if local.port() == 0 {
            local = self.free_end(local, remote, now).ok_or(StackError::NoAddress)?;
        }
        let tuple = FourTuple { local, remote };
        if !self.is_free(tuple, now) {
            return Err(StackError::InUse);
        }
        if !self.budget.has_room_for_connection(self.sockets.len()) {
            self.counters.connections_refused += 1;
            return Err(StackError::NoRoom);
        }
        // Beyond all that a connection in TIME-WAIT has sent (RFC 9293, section 3.6.1).
        let isn = self.time_waits.get(tuple).map(|kept| kept.next_isn());
        self.forget_time_wait(tuple);
        let id = self.open(tuple, isn, now);
        self.changed(id);
        Ok(id)
    }

    fn free_end(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
        now: Instant,
    ) -> Option<SocketAddr> {
        let mut ports = self.opening.ports.clone();
        let takes = |local| {
            self.is_free(FourTuple { local, remote }, now) && self.listener_for(local).is_none()
        };
        let end = ports.choose(local, remote, takes);
        self.opening.ports = ports;
        end
    }

    /// Whether a connection may begin between these ends: they are two, and there is none, or one in
    /// TIME-WAIT that the peer can tell from a new one by its timestamps.
    fn is_free(&self, ends: FourTuple, now: Instant) -> bool {
        ends.local != ends.remote
            && self.connection_between(ends).is_none()
            && !self.opening.requests.contains(ends)
            && self.time_waits.get(ends).is_none_or(|kept| kept.reusable(now))
    }

    /// Returns the two ends of a connection.
    ///
    /// # Errors
    /// [`StackError::Closed`] when the connection no longer exists.
    pub fn ends(&self, id: ConnectionId) -> Result<FourTuple, StackError> {
        self.sockets.get(id.0).map(|socket| socket.tuple).ok_or_else(|| self.gone())
    }

    /// The engine's side of a connection, to look at.
    pub fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.sockets.get(id.0).map(|socket| &socket.connection)
    }

    /// The socket of a connection that nothing has gone wrong with.
    fn sound(&mut self, id: ConnectionId) -> Result<&mut Socket, StackError> {
        let gone = self.gone();
        let socket = self.sockets.get_mut(id.0).ok_or(gone)?;
        match socket.connection.error() {
            Some(error) => Err(error.into()),
            None => Ok(socket),
        }
    }

    /// Whether the handshake is done.
    ///
    /// # Errors
    /// Why the connection did not come about.
    pub fn poll_connected(
        &mut self,
        id: ConnectionId,
        waker: &Waker,
    ) -> Poll<Result<(), StackError>> {
        let socket = self.sound(id)?;
        if socket.opening() {
            socket.wait_for_handshake(waker);
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    /// Takes what has arrived; 0 octets say that the peer has finished, whatever came after that.
    ///
    /// # Errors
    /// Why the connection ended before its time.
    pub fn poll_read(
        &mut self,
        id: ConnectionId,
        waker: &Waker,
        out: &mut [u8],
    ) -> Poll<Result<usize, StackError>> {
        let gone = self.gone();
        let Some(socket) = self.sockets.get_mut(id.0) else {
            return Poll::Ready(Err(gone));
        };
        if out.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let most = out.len().min(LARGEST_COPY);
        let read = socket.read(&mut out[..most]);
        if read > 0 {
            // The window may be open again.
            self.changed(id);
            return Poll::Ready(Ok(read));
        }
        if socket.connection.peer_finished() {
            return Poll::Ready(Ok(0));
        }
        if let Some(error) = socket.connection.error() {
            return Poll::Ready(Err(error.into()));
        }
        if socket.closed() {
            return Poll::Ready(Ok(0));
        }
        socket.wait_to_read(waker);
        Poll::Pending
    }

    /// Gives octets to send, as many as there is room for.
    ///
    /// # Errors
    /// Why the connection ended before its time, or [`StackError::Finished`].
    pub fn poll_write(
        &mut self,
        id: ConnectionId,
        waker: &Waker,
        data: &[u8],
    ) -> Poll<Result<usize, StackError>> {
        let allowance = self.budget.allowance();
        let socket = self.sound(id)?;
        if socket.finished {
            return Poll::Ready(Err(StackError::Finished));
        }
        if socket.opening() {
            socket.wait_for_handshake(waker);
            return Poll::Pending;
        }
        let written = socket.write(&data[..data.len().min(LARGEST_COPY)], allowance);
        if written == 0 && !data.is_empty() {
            socket.wait_to_write(waker);
            if socket.waits_for_memory() {
                self.changed(id);
            }
            return Poll::Pending;
        }
        self.settle(id);
        self.changed(id);
        Poll::Ready(Ok(written))
    }

    /// Whether the peer has acknowledged all that was written.
    ///
    /// # Errors
    /// Why the connection ended before its time.
    pub fn poll_acknowledged(
        &mut self,
        id: ConnectionId,
        waker: &Waker,
    ) -> Poll<Result<(), StackError>> {
        let socket = self.sound(id)?;
        if socket.acknowledged() {
            return Poll::Ready(Ok(()));
        }
        socket.wait_for_acknowledgement(waker);
        Poll::Pending
    }

    /// Writes no more: the peer reads the end behind the last octet.
    pub fn finish(&mut self, id: ConnectionId) {
        if let Some(socket) = self.sockets.get_mut(id.0)
            && !std::mem::replace(&mut socket.finished, true)
        {
            socket.connection.finish();
            self.changed(id);
        }
    }

    /// Ends the connection at once; the peer is told by a reset.
    pub fn abort(&mut self, id: ConnectionId) {
        if let Some(socket) = self.sockets.get_mut(id.0) {
            socket.finished = true;
            socket.connection.abort();
            self.changed(id);
        }
    }

    /// The application is done with the connection, which ends in its own time: what was written
    /// arrives, unless something has been left unread (RFC 2525, section 2.17), or
    /// [`Options::linger`] says otherwise.
    pub fn release(&mut self, id: ConnectionId) {
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        socket.owner = Owner::Nobody;
        // Nobody waits any more: a waker would keep the task that it wakes.
        socket.wake_all(&mut self.wakers);
        let unread = socket.forget_unread() && !socket.both_finished();
        let opening = matches!(socket.connection.state(), State::Listen | State::SynSent);
        let resets = socket.options.linger == Some(Duration::ZERO);
        if unread || opening || resets {
            self.abort(id);
        } else {
            self.finish(id);
        }
        // If it is closed already, its turn to send is when it goes.
        self.changed(id);
    }

    /// Whether nothing is left to be sent or acknowledged, and no application holds a connection.
    pub fn quiet(&self) -> bool {
        self.sockets.iter().all(|socket| {
            let state = socket.connection.state();
            matches!(state, State::Closed | State::TimeWait) && socket.owner == Owner::Nobody
        })
    }

    /// Resets all connections and closes all listeners; who waits is woken, whether the resets can
    /// leave or not.
    pub fn shut_down(&mut self) {
        for key in self.listeners.keys() {
            self.close_listener(ListenerId(key));
        }
        let mut open: Vec<ConnectionId> = self.directory.iter().collect();
        // Not in the order of a hash map, which is another one each time.
        open.sort_unstable();
        for id in open {
            self.abort(id);
        }
        for socket in self.sockets.iter_mut() {
            socket.wake_all(&mut self.wakers);
        }
        self.budget.refund(self.time_waits.len() * budget::TIME_WAIT);
        self.time_waits.clear();
        self.budget.refund(self.opening.requests.len() * budget::REQUEST);
        self.opening.requests.clear();
        if self.condition == Condition::Open {
            self.condition = Condition::Shut;
        }
    }
}
