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
    /// connection that has ended leaves some, the last of them due in a minute. One with a keep-alive
    /// in hours plans that again whenever an earlier timer is over.
    pub(super) fn tidy(
        &mut self,
        connections: usize,
        counts: impl Fn(Instant, ConnectionId) -> bool,
    ) {
        if self.0.len() > 4 * connections + 64 {
            let mut entries = std::mem::take(&mut self.0).into_vec();
            entries.retain(|&Reverse((due, id))| counts(due, id));
            entries.sort_unstable();
            entries.dedup();
            self.0 = entries.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::slab::Key;
    use super::*;

    #[test]
    fn what_is_planned_again_and_again_is_kept_once() {
        let mut timers = Timers::default();
        let id = ConnectionId(Key { index: 0, generation: 0 });
        let due = Instant::from_millis(7_200_000);
        for _ in 0..1000 {
            timers.push(due, id);
            timers.tidy(1, |_, _| true);
        }
        assert!(timers.0.len() <= 68, "{}", timers.0.len());
        assert_eq!(timers.peek(), Some((due, id)));
    }
}
