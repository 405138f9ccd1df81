//! The ids of connections and listeners.

use crate::slab::Key;

/// The id of a connection. A stack never uses an id twice.
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

/// The id of a listener. A stack never uses an id twice.
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
