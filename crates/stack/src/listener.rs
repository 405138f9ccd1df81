//! Listeners and the connections that wait to be accepted.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::task::Waker;

use crate::address::unspecified;
use crate::ids::{ConnectionId, ListenerId};
use crate::options::Options;
use crate::slab::Slab;
use crate::wakers::add_once;

/// A listening socket.
#[derive(Debug)]
pub(crate) struct Listener {
    address: SocketAddr,
    options: Options,
    backlog: usize,
    /// Connections that wait to be accepted.
    queue: VecDeque<ConnectionId>,
    /// Wakers of tasks that wait for a connection.
    waiting: Vec<Waker>,
}

impl Listener {
    pub(crate) fn new(address: SocketAddr, backlog: usize, options: Options) -> Self {
        let backlog = backlog.max(1);
        Self { address, options, backlog, queue: VecDeque::new(), waiting: Vec::new() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what the listener's connections start with.
    pub(crate) fn options(&self) -> Options {
        self.options
    }

    pub(crate) fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// Returns whether one more connection may wait to be accepted. If not, segments that would
    /// establish one are dropped, and the peer sends them again.
    pub(crate) fn has_room(&self) -> bool {
        self.queue.len() < self.backlog
    }

    /// Queues an established connection, and moves the wakers of those who wait for one to
    /// `wakers`.
    pub(crate) fn push(&mut self, id: ConnectionId, wakers: &mut Vec<Waker>) {
        self.queue.push_back(id);
        wakers.append(&mut self.waiting);
    }

    /// Returns the next connection; without one, stores `waker`.
    pub(crate) fn accept(&mut self, waker: &Waker) -> Option<ConnectionId> {
        let next = self.queue.pop_front();
        if next.is_none() {
            add_once(&mut self.waiting, waker);
        }
        next
    }

    /// Removes `waker` from those that wait.
    pub(crate) fn stop_waiting(&mut self, waker: &Waker) {
        self.waiting.retain(|known| !known.will_wake(waker));
    }

    /// Moves the wakers of all who wait to `wakers`.
    pub(crate) fn wake_all(&mut self, wakers: &mut Vec<Waker>) {
        wakers.append(&mut self.waiting);
    }

    /// Returns the connections that were never accepted.
    pub(crate) fn into_queue(self) -> VecDeque<ConnectionId> {
        self.queue
    }
}

/// All listeners.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    all: Slab<Listener>,
    by_address: HashMap<SocketAddr, ListenerId>,
}

impl Listeners {
    /// Adds a listener at an address that has none.
    pub(crate) fn insert(&mut self, listener: Listener) -> ListenerId {
        let address = listener.address;
        let id = ListenerId::new(self.all.insert(listener));
        self.by_address.insert(address, id);
        id
    }

    pub(crate) fn remove(&mut self, id: ListenerId) -> Option<Listener> {
        let listener = self.all.remove(id.key())?;
        self.by_address.remove(&listener.address);
        Some(listener)
    }

    pub(crate) fn get(&self, id: ListenerId) -> Option<&Listener> {
        self.all.get(id.key())
    }

    pub(crate) fn get_mut(&mut self, id: ListenerId) -> Option<&mut Listener> {
        self.all.get_mut(id.key())
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Listener> {
        self.all.iter_mut()
    }

    /// Returns the ids of all listeners in a fixed order.
    pub(crate) fn ids(&self) -> Vec<ListenerId> {
        let mut ids: Vec<ListenerId> = self.by_address.values().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// Returns whether there is a listener at exactly this address.
    pub(crate) fn has(&self, address: &SocketAddr) -> bool {
        self.by_address.contains_key(address)
    }

    /// Returns the listener for packets to `local`: the one at that address, or else the one at the
    /// unspecified address.
    pub(crate) fn serving(&self, local: SocketAddr) -> Option<ListenerId> {
        let any = unspecified(local);
        self.by_address.get(&local).or_else(|| self.by_address.get(&any)).copied()
    }
}
