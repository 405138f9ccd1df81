//! Which connection is between which ends. An entry has no ends, only a hash of them, so that a hundred
//! thousand entries are two megabytes: what is found is compared with the connection itself.

use std::collections::VecDeque;
use std::hash::Hasher;
use std::net::IpAddr;

use hashbrown::HashTable;
use siphasher::sip::SipHasher13;

use super::{ConnectionId, FourTuple};

/// A hash of the ends, under a key that no peer knows: none can choose ports to fill a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndsHash(u64);

#[derive(Debug)]
struct Entry {
    hash: u64,
    id: ConnectionId,
}

/// The table of connections by their ends.
pub(super) struct Directory {
    entries: HashTable<Entry>,
    key: [u8; 16],
    /// What was found for the packets to come, as long as nothing changes.
    pub(super) expected: Expected,
}

/// The connections of the packets to come, in their order, by the hashes of their ends.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub(super) hashes: Vec<(EndsHash, FourTuple)>,
    pub(super) found: VecDeque<(EndsHash, ConnectionId)>,
    /// Whose the last packet was: the next one is often of the same.
    pub(super) last: Option<ConnectionId>,
}

impl Expected {
    /// The connections have changed: what was found may be so no more.
    pub(super) fn forget(&mut self) {
        self.found.clear();
        self.last = None;
    }
}

impl Directory {
    pub(super) fn new(key: [u8; 16]) -> Self {
        Self { entries: HashTable::new(), key, expected: Expected::default() }
    }

    pub(super) fn hash(&self, ends: FourTuple) -> EndsHash {
        let mut octets = [0; 36];
        let mut len = 0;
        let mut put = |more: &[u8]| {
            octets[len..len + more.len()].copy_from_slice(more);
            len += more.len();
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

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The connection whose ends have this hash and are such as `is_between` says.
    pub(super) fn get(
        &self,
        hash: EndsHash,
        is_between: impl Fn(ConnectionId) -> bool,
    ) -> Option<ConnectionId> {
        let EndsHash(hash) = hash;
        let found = self.entries.find(hash, |entry| entry.hash == hash && is_between(entry.id));
        found.map(|entry| entry.id)
    }

    /// From now on `id` is between ends of this hash; nobody was.
    pub(super) fn enter(&mut self, hash: EndsHash, id: ConnectionId) {
        let EndsHash(hash) = hash;
        self.expected.forget();
        self.entries.insert_unique(hash, Entry { hash, id }, |entry| entry.hash);
    }

    /// `id` is there no more; says whether it was.
    pub(super) fn strike(&mut self, hash: EndsHash, id: ConnectionId) -> bool {
        let EndsHash(hash) = hash;
        self.expected.forget();
        let entry = self.entries.find_entry(hash, |entry| entry.id == id);
        entry.map(|entry| entry.remove()).is_ok()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = ConnectionId> {
        self.entries.iter().map(|entry| entry.id)
    }
}
