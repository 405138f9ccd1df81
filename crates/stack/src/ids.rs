//! Names of connections and listeners.

use crate::slab::Key;

/// Names a connection of a stack; never used for a second one. Use it to write, read and close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(Key);

impl ConnectionId {
    pub(crate) fn new(key: Key) -> Self {
        Self(key)
    }

    pub(crate) fn key(self) -> Key {
        self.0
    }
}

/// Names a listener of a stack; never used for a second one. Use it to accept connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListenerId(Key);

impl ListenerId {
    pub(crate) fn new(key: Key) -> Self {
        Self(key)
    }

    pub(crate) fn key(self) -> Key {
        self.0
    }
}
