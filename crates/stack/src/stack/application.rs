//! Calls of applications: listen, connect, accept, read and write.

use std::net::SocketAddr;
use std::task::{Poll, Waker};

use unruffled_tcp::{Connection, State};
use unruffled_units::Instant;

use super::{Condition, Stack};
use crate::address::{FourTuple, bare};
use crate::codec;
use crate::error::StackError;
use crate::ids::{ConnectionId, ListenerId};
use crate::listener::Listener;
use crate::options::Options;
use crate::socket::{Owner, Socket};

/// Maximum number of octets that one call copies, since other callers wait for the stack meanwhile.
const MAX_COPY: usize = 256 << 10;

/// Listeners.
impl Stack {
    /// Listens for connections to `address`. An unspecified IP stands for every address, port 0 for
    /// any free port. Up to `backlog` established connections may wait to be accepted.
    ///
    /// # Errors
    /// [`StackError::InUse`], or [`StackError::NoAddress`] for an address that is not the stack's.
    pub fn listen(
        &mut self,
        address: SocketAddr,
        backlog: usize,
    ) -> Result<ListenerId, StackError> {
        let mut address = bare(address);
        if self.condition != Condition::Open {
            return Err(self.condition.missing());
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
        Ok(self.listeners.insert(listener))
    }

    /// Returns the address of a listener, with the port that was chosen for it.
    pub fn listening_at(&self, id: ListenerId) -> Option<SocketAddr> {
        self.listeners.get(id).map(Listener::address)
    }

    /// Closes a listener. Its connections that were never accepted are reset.
    pub fn close_listener(&mut self, id: ListenerId) {
        let Some(mut listener) = self.listeners.remove(id) else { return };
        self.opening.requests.remove_all_of(id, &mut self.budget);
        listener.wake_all(&mut self.wakers);
        for waiting in listener.into_queue() {
            self.abort(waiting);
            self.release(waiting);
        }
    }

    /// Returns the next connection that a peer has opened. If there is none, `waker` is woken once
    /// another call may succeed.
    ///
    /// # Errors
    /// [`StackError::Closed`] when the listener no longer exists.
    pub fn poll_accept(
        &mut self,
        id: ListenerId,
        waker: &Waker,
    ) -> Poll<Result<ConnectionId, StackError>> {
        let missing = self.condition.missing();
        let listener = self.listeners.get_mut(id).ok_or(missing)?;
        let Some(connection) = listener.accept(waker) else { return Poll::Pending };
        if let Some(socket) = self.connections.get_mut(connection) {
            socket.set_owner(Owner::Application);
        }
        Poll::Ready(Ok(connection))
    }

    /// Removes `waker` from the accept queue.
    pub fn stop_accepting(&mut self, id: ListenerId, waker: &Waker) {
        if let Some(listener) = self.listeners.get_mut(id) {
            listener.stop_waiting(waker);
        }
    }
}

/// Connections.
impl Stack {
    /// Opens a connection to `remote` from `local`. An unspecified local IP stands for the stack's
    /// first address of the family, port 0 for any free port; `None` stands for both.
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
        let remote = bare(remote);
        let local = local.map(bare);
        if self.condition != Condition::Open {
            return Err(self.condition.missing());
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
            let mut ports = self.opening.ports.clone();
            let is_free = |local| {
                let ends = FourTuple { local, remote };
                self.is_free(ends, now) && self.listeners.serving(local).is_none()
            };
            let free = ports.choose(local, remote, is_free);
            self.opening.ports = ports;
            local = free.ok_or(StackError::NoAddress)?;
        }
        let ends = FourTuple { local, remote };
        if !self.is_free(ends, now) {
            return Err(StackError::InUse);
        }
        if !self.budget.has_room_for_connection(self.connections.len()) {
            self.counters.connections_refused += 1;
            return Err(StackError::NoRoom);
        }
        // A number beyond all that a connection in TIME-WAIT has sent (RFC 9293, section 3.6.1).
        let after_time_wait = self.time_waits.get(ends).map(|kept| kept.next_isn());
        let isn = after_time_wait.unwrap_or_else(|| self.opening.isn(ends, now));
        self.time_waits.remove(ends, &mut self.budget);
        let config = self.config.connection_to(ends, isn);
        let connection = Connection::connect(config, &self.config.variant);
        let options = Options::of(&self.config);
        let owner = Owner::Application;
        let socket = Socket::new(ends, connection, self.config.send_buffer, options, owner);
        let id = self.connections.insert(socket, &mut self.budget);
        self.turns.push(id, &mut self.connections);
        Ok(id)
    }

    /// Returns whether a connection may begin between these ends: they differ, and no other
    /// connection exists between them. One in TIME-WAIT is no obstacle if its timestamps let the
    /// peer distinguish the new connection from it.
    fn is_free(&self, ends: FourTuple, now: Instant) -> bool {
        ends.local != ends.remote
            && self.connections.between(ends).is_none()
            && !self.opening.requests.contains(ends)
            && self.time_waits.get(ends).is_none_or(|kept| kept.reusable(now))
    }

    /// Returns once the handshake has ended. Until then, `waker` is woken once another call may
    /// succeed.
    ///
    /// # Errors
    /// The reason why there is no connection.
    pub fn poll_connected(
        &mut self,
        id: ConnectionId,
        waker: &Waker,
    ) -> Poll<Result<(), StackError>> {
        let socket = self.connections.sound(id, self.condition.missing())?;
        if socket.is_opening() {
            socket.waiting_mut().add_opener(waker);
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    /// Copies octets that have arrived in order to `out`, and returns their number; 0 at the end of
    /// the peer's stream. If there are none yet, `waker` is woken once another call may succeed.
    ///
    /// # Errors
    /// The reason why the connection ended early.
    pub fn poll_read(
        &mut self,
        id: ConnectionId,
        waker: &Waker,
        out: &mut [u8],
    ) -> Poll<Result<usize, StackError>> {
        let missing = self.condition.missing();
        let socket = self.connections.get_mut(id).ok_or(missing)?;
        if out.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let len = out.len().min(MAX_COPY);
        let read = socket.read(&mut out[..len]);
        if read > 0 {
            // The window may be open again.
            self.turns.push(id, &mut self.connections);
            return Poll::Ready(Ok(read));
        }
        if socket.connection().peer_finished() {
            return Poll::Ready(Ok(0));
        }
        if let Some(error) = socket.error() {
            return Poll::Ready(Err(error.into()));
        }
        if socket.is_closed() {
            return Poll::Ready(Ok(0));
        }
        socket.waiting_mut().add_reader(waker);
        Poll::Pending
    }

    /// Copies octets of `data` to the send buffer, as many as there is room for, and returns their
    /// number. If there is no room, `waker` is woken once another call may succeed.
    ///
    /// # Errors
    /// The reason why the connection ended early, or [`StackError::Finished`].
    pub fn poll_write(
        &mut self,
        id: ConnectionId,
        waker: &Waker,
        data: &[u8],
    ) -> Poll<Result<usize, StackError>> {
        let allowance = self.budget.allowance();
        let socket = self.connections.sound(id, self.condition.missing())?;
        if socket.is_finished() {
            return Poll::Ready(Err(StackError::Finished));
        }
        if socket.is_opening() {
            socket.waiting_mut().add_opener(waker);
            return Poll::Pending;
        }
        let written = socket.write(&data[..data.len().min(MAX_COPY)], allowance);
        if written == 0 && !data.is_empty() {
            socket.waiting_mut().add_writer(waker);
            if socket.waiting_mut().is_starved() {
                self.turns.push(id, &mut self.connections);
            }
            return Poll::Pending;
        }
        self.connections.settle(id, &mut self.budget);
        self.turns.push(id, &mut self.connections);
        Poll::Ready(Ok(written))
    }

    /// Returns once the peer has acknowledged everything that was written. Until then, `waker` is
    /// woken once another call may succeed.
    ///
    /// # Errors
    /// The reason why the connection ended early.
    pub fn poll_acknowledged(
        &mut self,
        id: ConnectionId,
        waker: &Waker,
    ) -> Poll<Result<(), StackError>> {
        let socket = self.connections.sound(id, self.condition.missing())?;
        if socket.is_acknowledged() {
            return Poll::Ready(Ok(()));
        }
        socket.waiting_mut().add_flusher(waker);
        Poll::Pending
    }

    /// Finishes this end's stream: the peer reads its end behind the last octet.
    pub fn finish(&mut self, id: ConnectionId) {
        if self.connections.get_mut(id).is_some_and(Socket::finish) {
            self.turns.push(id, &mut self.connections);
        }
    }

    /// Ends the connection at once, with a reset to the peer.
    pub fn abort(&mut self, id: ConnectionId) {
        if let Some(socket) = self.connections.get_mut(id) {
            socket.abort();
            self.turns.push(id, &mut self.connections);
        }
    }

    /// Releases the connection; its id must not be used afterwards. The connection ends in its own
    /// time, and what was written still arrives. It is reset if data was left unread (RFC 2525,
    /// section 2.17), or as [`Options::linger`] requires.
    pub fn release(&mut self, id: ConnectionId) {
        let Some(socket) = self.connections.get_mut(id) else { return };
        // A waker that stayed would keep its task alive.
        socket.waiting_mut().wake_all(&mut self.wakers);
        if socket.release() {
            socket.abort();
        } else {
            socket.finish();
        }
        // A closed connection is removed when its turn ends.
        self.turns.push(id, &mut self.connections);
    }

    /// Returns whether every connection is released, and closed or in TIME-WAIT.
    pub fn quiet(&self) -> bool {
        self.connections.iter().all(|socket| {
            matches!(socket.state(), State::Closed | State::TimeWait) && socket.is_released()
        })
    }

    /// Resets all connections, closes all listeners, and wakes all who wait, even if the resets
    /// cannot leave. New connections are refused from then on.
    pub fn shut_down(&mut self) {
        for id in self.listeners.ids() {
            self.close_listener(id);
        }
        for id in self.connections.current() {
            self.abort(id);
        }
        for socket in self.connections.iter_mut() {
            socket.waiting_mut().wake_all(&mut self.wakers);
        }
        self.time_waits.clear(&mut self.budget);
        self.opening.requests.clear(&mut self.budget);
        if self.condition == Condition::Open {
            self.condition = Condition::ShutDown;
        }
    }
}
