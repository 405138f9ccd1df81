//! Connections in TIME-WAIT that nobody holds: few octets each, in a bounded table.

use std::collections::{HashMap, VecDeque};

use unruffled_tcp::TimeWait;
use unruffled_units::Instant;

use super::FourTuple;

/// The table, and when its entries end. All last equally long, so they end in the order in which they
/// came; one that began anew meanwhile goes to the back of the queue when its turn comes.
#[derive(Debug, Default)]
pub(super) struct TimeWaits {
    by_ends: HashMap<FourTuple, TimeWait>,
    queue: VecDeque<(Instant, FourTuple)>,
}

impl TimeWaits {
    pub(super) fn len(&self) -> usize {
        self.by_ends.len()
    }

    pub(super) fn get(&self, ends: FourTuple) -> Option<&TimeWait> {
        self.by_ends.get(&ends)
    }

    pub(super) fn get_mut(&mut self, ends: FourTuple) -> Option<&mut TimeWait> {
        self.by_ends.get_mut(&ends)
    }

    pub(super) fn add(&mut self, ends: FourTuple, kept: TimeWait) {
        if self.queue.len() > 2 * self.by_ends.len() + 64 {
            self.queue.retain(|(_, ends)| self.by_ends.contains_key(ends));
        }
        self.queue.push_back((kept.until(), ends));
        self.by_ends.insert(ends, kept);
    }

    pub(super) fn remove(&mut self, ends: FourTuple) -> Option<TimeWait> {
        self.by_ends.remove(&ends)
    }

    /// When the next one may end.
    pub(super) fn next(&self) -> Option<Instant> {
        self.queue.front().map(|&(due, _)| due)
    }

    /// Forgets those whose time is over.
    pub(super) fn expire(&mut self, now: Instant) {
        while let Some(&(_, ends)) = self.queue.front().filter(|next| next.0 <= now) {
            self.queue.pop_front();
            let Some(kept) = self.by_ends.get(&ends) else { continue };
            if kept.until() <= now {
                self.by_ends.remove(&ends);
            } else {
                self.queue.push_back((kept.until(), ends));
            }
        }
        if self.by_ends.is_empty() {
            // What a pile of them took is given back.
            *self = Self::default();
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
