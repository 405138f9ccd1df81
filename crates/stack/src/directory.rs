//! The table of connections by their two ends.
//!
//! An entry holds only a hash of the ends, so that a hundred thousand entries take two megabytes.
//! The caller compares the ends of what is found with the connection itself.

use std::hash::Hasher;
use std::net::IpAddr;

use hashbrown::HashTable;
use siphasher::sip::SipHasher13;

use crate::address::FourTuple;
use crate::ids::ConnectionId;

/// A hash of the ends. Its key is secret, so that no peer can choose ports that collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndsHash(u64);

#[derive(Debug)]
struct Entry {
    hash: u64,
    id: ConnectionId,
}

/// The table of connections by their ends.
pub(crate) struct Directory {
    entries: HashTable<Entry>,
    key: [u8; 16],
}

impl Directory {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self { entries: HashTable::new(), key }
    }

    pub(crate) fn hash(&self, ends: FourTuple) -> EndsHash {
        // One call of `write` hashes faster than one for each field.
        let mut octets = [0; 36];
        let mut len = 0;
        let mut put = |field: &[u8]| {
            octets[len..len + field.len()].copy_from_slice(field);
            len += field.len();
        };
        for end in [ends.local, ends.remote] {
            match end.ip() {
                IpAddr::V4(v4) => put(&v4.octets()),
                IpAddr::V6(v6) => put(&v6.octets()),
            }
            put(&end.port().to_be_bytes());
        }
        let mut hash = SipHasher13::new_with_key(&self.key);
        hash.write(&octets[..len]);
        EndsHash(hash.finish())
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the connection with this hash that `is_between` accepts.
    pub(crate) fn get(
        &self,
        hash: EndsHash,
        is_between: impl Fn(ConnectionId) -> bool,
    ) -> Option<ConnectionId> {
        let EndsHash(hash) = hash;
        let found = self.entries.find(hash, |entry| entry.hash == hash && is_between(entry.id));
        found.map(|entry| entry.id)
    }

    /// Adds `id` under the hash of its ends, between which there is no connection yet.
    pub(crate) fn insert(&mut self, hash: EndsHash, id: ConnectionId) {
        let EndsHash(hash) = hash;
        self.entries.insert_unique(hash, Entry { hash, id }, |entry| entry.hash);
    }

    /// Removes `id`, if it is there.
    pub(crate) fn remove(&mut self, hash: EndsHash, id: ConnectionId) {
        let EndsHash(hash) = hash;
        if let Ok(entry) = self.entries.find_entry(hash, |entry| entry.id == id) {
            entry.remove();
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = ConnectionId> {
        self.entries.iter().map(|entry| entry.id)
    }
}
