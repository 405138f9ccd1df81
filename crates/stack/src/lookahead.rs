//! Connections that were looked up in advance for the packets that are received next.
//!
//! The cost of a packet for a connection that has been idle for a long time is mostly the wait for
//! memory. When all connections of a batch are looked up and touched together, the processor loads
//! one while it requests the next, and none is looked up twice.

use std::collections::VecDeque;

use crate::address::FourTuple;
use crate::directory::EndsHash;
use crate::ids::ConnectionId;

/// The connections of the next packets, in their order. It is valid until connections are added or
/// removed.
#[derive(Debug, Default)]
pub(crate) struct Lookahead {
    /// The packets' ends and their hashes, kept for its memory.
    hashes: Vec<(EndsHash, FourTuple)>,
    found: VecDeque<ConnectionId>,
    /// The connection of the last packet; the next one often belongs to it too.
    last: Option<ConnectionId>,
}

impl Lookahead {
    pub(crate) fn clear(&mut self) {
        self.found.clear();
        self.last = None;
    }

    /// Looks up the connections between `ends`: first all hashes, then all connections. The
    /// processor thus requests the memory of one lookup while another waits for its own.
    pub(crate) fn fill(
        &mut self,
        ends: impl Iterator<Item = FourTuple>,
        hash: impl Fn(FourTuple) -> EndsHash,
        find: impl Fn(EndsHash) -> Option<ConnectionId>,
    ) {
        self.clear();
        self.hashes.clear();
        for ends in ends {
            let hash = match self.hashes.last() {
                Some(&(last, same)) if same == ends => last,
                _ => hash(ends),
            };
            self.hashes.push((hash, ends));
        }
        self.found.extend(self.hashes.iter().filter_map(|&(hash, _)| find(hash)));
    }

    pub(crate) fn found(&self) -> impl Iterator<Item = ConnectionId> {
        self.found.iter().copied()
    }

    /// Returns the connection of the next packet if `is_it` accepts the one that was looked up, or
    /// else the one of the packet before.
    pub(crate) fn next(&mut self, is_it: impl Fn(ConnectionId) -> bool) -> Option<ConnectionId> {
        if let Some(&id) = self.found.front()
            && is_it(id)
        {
            self.found.pop_front();
            return Some(id);
        }
        self.last.filter(|&id| is_it(id))
    }

    /// Stores the connection of the last packet.
    pub(crate) fn set_last(&mut self, id: Option<ConnectionId>) {
        self.last = id;
    }
}
