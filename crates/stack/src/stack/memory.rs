//! What connections take of the budget, and how they give it back: buffers that are empty and have
//! not been used for a while are freed.

use unruffled_units::{Duration, Instant};

use super::budget::CONNECTION;
use super::socket::{Owner, Socket};
use super::{ConnectionId, Stack};

/// A buffer that has been empty and unused for this long is freed.
const IDLE: Duration = Duration::from_secs(1);

impl Stack {
    /// Takes a new connection in.
    pub(super) fn insert(&mut self, mut socket: Socket) -> ConnectionId {
        socket.charged = CONNECTION + socket.octets();
        self.budget.charge(socket.charged);
        let tuple = socket.tuple;
        let id = ConnectionId(self.sockets.insert(Box::new(socket)));
        self.enter(tuple, id);
        id
    }

    /// The connection is no more.
    pub(super) fn remove(&mut self, id: ConnectionId) {
        let Some(socket) = self.sockets.remove(id.0) else { return };
        self.budget.refund(socket.charged);
        self.budget.orphans -= usize::from(socket.orphan.is_some());
        self.strike(socket.tuple, id);
    }

    /// Brings the account up to what the connection takes now.
    pub(super) fn settle(&mut self, id: ConnectionId) {
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        let takes = CONNECTION + socket.octets();
        let had = std::mem::replace(&mut socket.charged, takes);
        self.budget.refund(had);
        self.budget.charge(takes);
    }

    /// The connection's turn is over: frees what is too much when memory is short, and plans to look
    /// again where something is left.
    pub(super) fn economise(&mut self, id: ConnectionId, now: Instant) {
        let allowance = self.budget.allowance();
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        socket.used = now;
        socket.free_empty(allowance);
        if !socket.watched && socket.is_to_be_watched() {
            socket.watched = true;
            let sockets = &self.sockets;
            if self.watched.len() > 2 * sockets.len() + 64 {
                // Most of those that it names have gone.
                self.watched.retain(|&(_, id)| sockets.get(id.0).is_some());
            }
            self.watched.push_back((now + IDLE, id));
        }
        self.settle(id);
    }

    /// Looks at the connections whose time has come.
    pub(super) fn free_idle(&mut self, now: Instant) {
        while let Some(&(_, id)) = self.watched.front().filter(|next| next.0 <= now) {
            self.watched.pop_front();
            let Some(socket) = self.sockets.get_mut(id.0) else { continue };
            let rests = now.since(socket.used) >= IDLE;
            if rests {
                socket.shrink();
            }
            if socket.waits_for_memory() {
                // Others may have given some back.
                socket.wake_writers(&mut self.wakers);
            }
            // What is left of the tables is in use, until something happens.
            if !rests || socket.octets() > 0 || socket.waits_for_memory() {
                self.watched.push_back((now + IDLE, id));
            } else {
                socket.watched = false;
            }
            self.settle(id);
        }
    }

    /// The application lets the connection go: it ends in its own time, unless there are too many
    /// such already.
    pub(super) fn orphan(&mut self, id: ConnectionId, now: Instant) {
        let limits = self.budget.limits;
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        if self.budget.orphans >= limits.orphans {
            self.counters.orphans_refused += 1;
            socket.connection.abort();
            self.changed(id);
            return;
        }
        self.budget.orphans += 1;
        // Where the peer has acknowledged all already, nothing is left to linger for.
        let linger = socket.options.linger.filter(|_| !socket.acknowledged());
        let orphan = super::orphan::Orphan::new(&socket.connection, linger, &limits, now);
        socket.orphan = Some(orphan);
        self.plan(orphan.due, id);
    }

    /// An orphan's timer is due.
    pub(super) fn look_at_orphan(&mut self, id: ConnectionId, now: Instant) {
        let patience = self.budget.limits.orphan_patience;
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        let Socket { connection, orphan: Some(orphan), .. } = &mut **socket else { return };
        match orphan.look(connection, patience, now) {
            Some(due) => self.plan(due, id),
            None => {
                self.counters.orphans_given_up += 1;
                connection.abort();
                self.after(id);
            }
        }
    }

    /// An orphan may have come to FIN-WAIT-2.
    pub(super) fn follow_orphan(&mut self, id: ConnectionId, now: Instant) {
        let patience = self.budget.limits.orphan_patience;
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        let state = socket.connection.state();
        let Some(orphan) = &mut socket.orphan else {
            if socket.owner == Owner::Nobody {
                self.orphan(id, now);
            }
            return;
        };
        if let Some(due) = orphan.on_state(state, patience, now) {
            self.plan(due, id);
        }
    }

    /// Octets of memory that the stack takes, by its own account.
    pub fn octets(&self) -> usize {
        self.budget.used()
    }
}
