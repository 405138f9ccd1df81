//! Who waits for connections.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::task::Waker;

use super::options::Options;
use super::slab::{Key, Slab};
use super::{ConnectionId, config};

#[derive(Debug)]
pub(super) struct Listener {
    pub(super) address: SocketAddr,
    /// What its connections begin with.
    pub(super) options: Options,
    backlog: usize,
    /// Connections that wait to be accepted.
    pub(super) queue: VecDeque<ConnectionId>,
    pub(super) waiting: Vec<Waker>,
}

impl Listener {
    pub(super) fn new(address: SocketAddr, backlog: usize, options: Options) -> Self {
        let backlog = backlog.max(1);
        Self { address, options, backlog, queue: VecDeque::new(), waiting: Vec::new() }
    }

    /// Whether one more may wait to be accepted; else nothing of a new connection is taken, and its
    /// peer tries again.
    pub(super) fn has_room(&self) -> bool {
        self.queue.len() < self.backlog
    }
}

/// All listeners.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    all: Slab<Listener>,
    by_address: HashMap<SocketAddr, Key>,
}

impl Listeners {
    /// One that listens where nobody does.
    pub(super) fn insert(&mut self, listener: Listener) -> Key {
        let address = listener.address;
        let key = self.all.insert(listener);
        self.by_address.insert(address, key);
        key
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<Listener> {
        let listener = self.all.remove(key)?;
        self.by_address.remove(&listener.address);
        Some(listener)
    }

    pub(super) fn get(&self, key: Key) -> Option<&Listener> {
        self.all.get(key)
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut Listener> {
        self.all.get_mut(key)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Listener> {
        self.all.iter_mut()
    }

    /// Their names, in an order that is the same each time.
    pub(super) fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.by_address.values().copied().collect();
        keys.sort_unstable();
        keys
    }

    /// Whether somebody listens at exactly this address.
    pub(super) fn has(&self, address: &SocketAddr) -> bool {
        self.by_address.contains_key(address)
    }

    /// Who listens for what comes to `local`: at that address, or at all.
    pub(super) fn serving(&self, local: SocketAddr) -> Option<Key> {
        let any = config::unspecified(local);
        self.by_address.get(&local).or_else(|| self.by_address.get(&any)).copied()
    }
}
