//! The due times of all connections: a heap from which outdated entries are dropped when they come
//! to the top, or when they are the most.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use unruffled_units::Instant;

use super::ConnectionId;

/// A heap of due times. Each connection remembers the one that counts.
#[derive(Debug, Default)]
pub(super) struct Timers(BinaryHeap<Reverse<(Instant, ConnectionId)>>);

impl Timers {
    pub(super) fn push(&mut self, due: Instant, id: ConnectionId) {
        self.0.push(Reverse((due, id)));
    }

    /// The earliest entry, whether it still counts or not.
    pub(super) fn peek(&self) -> Option<(Instant, ConnectionId)> {
        self.0.peek().map(|entry| entry.0)
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    /// Drops the entries that do not count, if there are many more than the connections can have: a
    /// connection that has ended leaves some, the last of them due in a minute.
    pub(super) fn tidy(
        &mut self,
        connections: usize,
        counts: impl Fn(Instant, ConnectionId) -> bool,
    ) {
        if self.0.len() > 4 * connections + 64 {
            self.0.retain(|&Reverse((due, id))| counts(due, id));
        }
    }
}
