//! Connections in TIME-WAIT that no application holds: a few octets each, in a bounded table.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use unruffled_tcp::TimeWait;
use unruffled_units::Instant;

use crate::address::FourTuple;
use crate::budget::{self, Budget};

/// A connection in TIME-WAIT, and the due time of its queue entry. The queue may still hold entries
/// of earlier connections between the same ends.
#[derive(Debug)]
struct Entry {
    time_wait: TimeWait,
    planned: Instant,
}

/// The table of connections in TIME-WAIT and the queue of their ends.
///
/// The queue is a heap, since connections do not end in the order in which they are added: an
/// application may hold one for part of its time. An entry whose connection started its time again
/// meanwhile is queued again when it is due.
#[derive(Debug, Default)]
pub(crate) struct TimeWaits {
    by_ends: HashMap<FourTuple, Entry>,
    queue: BinaryHeap<Reverse<(Instant, FourTuple)>>,
}

impl TimeWaits {
    pub(crate) fn len(&self) -> usize {
        self.by_ends.len()
    }

    /// Returns whether the limits and the memory allow one more entry.
    pub(crate) fn has_room(&self, budget: &Budget) -> bool {
        self.len() < budget.limits().time_waits && budget.has_room_for(budget::TIME_WAIT)
    }

    pub(crate) fn get(&self, ends: FourTuple) -> Option<&TimeWait> {
        self.by_ends.get(&ends).map(|entry| &entry.time_wait)
    }

    pub(crate) fn get_mut(&mut self, ends: FourTuple) -> Option<&mut TimeWait> {
        self.by_ends.get_mut(&ends).map(|entry| &mut entry.time_wait)
    }

    pub(crate) fn add(&mut self, ends: FourTuple, time_wait: TimeWait, budget: &mut Budget) {
        if self.queue.len() > 2 * self.by_ends.len() + 64 {
            let is_current = |&Reverse((due, ends)): &Reverse<(Instant, FourTuple)>| {
                self.by_ends.get(&ends).is_some_and(|entry| entry.planned == due)
            };
            self.queue.retain(is_current);
        }
        let planned = time_wait.until();
        self.queue.push(Reverse((planned, ends)));
        if self.by_ends.insert(ends, Entry { time_wait, planned }).is_none() {
            budget.charge(budget::TIME_WAIT);
        }
    }

    pub(crate) fn remove(&mut self, ends: FourTuple, budget: &mut Budget) {
        if self.by_ends.remove(&ends).is_some() {
            budget.refund(budget::TIME_WAIT);
        }
    }

    /// Returns when to call [`TimeWaits::expire`] next.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.queue.peek().map(|next| next.0.0)
    }

    /// Removes the connections whose TIME-WAIT has ended.
    pub(crate) fn expire(&mut self, now: Instant, budget: &mut Budget) {
        while let Some(&Reverse((due, ends))) = self.queue.peek().filter(|next| next.0.0 <= now) {
            self.queue.pop();
            let Some(entry) = self.by_ends.get_mut(&ends).filter(|entry| entry.planned == due)
            else {
                continue;
            };
            entry.planned = entry.time_wait.until();
            if entry.planned <= now {
                self.remove(ends, budget);
            } else {
                self.queue.push(Reverse((entry.planned, ends)));
            }
        }
        if self.by_ends.is_empty() {
            // Returns the memory that a large number of entries took.
            *self = Self::default();
        }
    }

    pub(crate) fn clear(&mut self, budget: &mut Budget) {
        budget.refund(self.len() * budget::TIME_WAIT);
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use unruffled_tcp::{Config, Connection, IpVersion, Variant};

    use super::*;
    use crate::budget::Limits;

    /// Returns the TIME-WAIT of a connection whose ends have both finished at `now`.
    fn finished(now: Instant) -> TimeWait {
        let config = Config::wire(IpVersion::V4);
        let variant = Variant::named("sack").expect("a row");
        let mut client = Connection::connect(config.clone(), &variant);
        let mut server = Connection::listen(config, &variant);
        client.finish();
        server.finish();
        for _ in 0..4 {
            while let Some(segment) = client.poll_transmit(now, &mut ()) {
                server.handle_segment(&segment, now, &mut ());
            }
            while let Some(segment) = server.poll_transmit(now, &mut ()) {
                client.handle_segment(&segment, now, &mut ());
            }
        }
        client.time_wait().expect("both have finished")
    }

    fn ends(port: u16) -> FourTuple {
        FourTuple { local: ([10, 0, 0, 2], 80).into(), remote: ([10, 0, 0, 1], port).into() }
    }

    #[test]
    fn a_connection_that_was_released_late_ends_in_its_own_time() {
        let mut budget = Budget::new(Limits::default());
        let mut waits = TimeWaits::default();
        waits.add(ends(1), finished(Instant::from_millis(200_000)), &mut budget);
        waits.add(ends(2), finished(Instant::from_millis(0)), &mut budget);
        assert_eq!(waits.next_due(), Some(Instant::from_millis(240_000)));
        waits.expire(Instant::from_millis(240_000), &mut budget);
        assert!(waits.get(ends(1)).is_some() && waits.get(ends(2)).is_none());
        assert_eq!(waits.next_due(), Some(Instant::from_millis(440_000)));
        assert_eq!(budget.used(), budget::TIME_WAIT);
    }

    #[test]
    fn a_peer_that_returns_from_the_same_port_leaves_one_due_time() {
        let mut budget = Budget::new(Limits::default());
        let mut waits = TimeWaits::default();
        let mut scans = 0;
        for n in 0..10_000 {
            let ends = ends(n % 100);
            let before = waits.queue.len();
            waits.remove(ends, &mut budget);
            waits.add(ends, finished(Instant::from_millis(u64::from(n))), &mut budget);
            scans += u32::from(waits.queue.len() <= before);
        }
        assert!(scans < 100, "the queue was scanned {scans} times");
        // The last connection lasts four minutes; the earlier ones leave nothing behind.
        waits.expire(Instant::from_millis(9_998 + 240_000), &mut budget);
        assert_eq!((waits.len(), waits.queue.len()), (1, 1));
        waits.expire(Instant::from_millis(9_999 + 240_000), &mut budget);
        assert_eq!((waits.len(), waits.next_due(), budget.used()), (0, None, 0));
    }
}
