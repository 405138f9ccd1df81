//! The due times of all connections: a heap that drops outdated entries when they reach the top or
//! outnumber the others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use unruffled_units::Instant;

use crate::ids::ConnectionId;

/// A heap of due times. Each connection stores which of its entries is current.
#[derive(Debug, Default)]
pub(crate) struct Timers(BinaryHeap<Reverse<(Instant, ConnectionId)>>);

impl Timers {
    pub(crate) fn push(&mut self, due: Instant, id: ConnectionId) {
        self.0.push(Reverse((due, id)));
    }

    /// Returns the earliest entry, current or not.
    pub(crate) fn peek(&self) -> Option<(Instant, ConnectionId)> {
        self.0.peek().map(|entry| entry.0)
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// Drops outdated entries if there are many more entries than the connections can have.
    ///
    /// A connection that has ended leaves entries behind, the last of them due within a minute. A
    /// connection with a keep-alive in hours adds the same entry again whenever an earlier timer
    /// has expired.
    pub(crate) fn tidy(
        &mut self,
        connections: usize,
        is_current: impl Fn(Instant, ConnectionId) -> bool,
    ) {
        if self.0.len() > 4 * connections + 64 {
            let mut entries = std::mem::take(&mut self.0).into_vec();
            entries.retain(|&Reverse((due, id))| is_current(due, id));
            entries.sort_unstable();
            entries.dedup();
            self.0 = entries.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slab::Key;

    #[test]
    fn an_entry_that_is_added_again_and_again_is_kept_once() {
        let mut timers = Timers::default();
        let id = ConnectionId::new(Key::default());
        let due = Instant::from_millis(7_200_000);
        for _ in 0..1000 {
            timers.push(due, id);
            timers.tidy(1, |_, _| true);
        }
        assert!(timers.0.len() <= 68, "{}", timers.0.len());
        assert_eq!(timers.peek(), Some((due, id)));
    }
}
