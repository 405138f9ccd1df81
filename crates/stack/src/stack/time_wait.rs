//! Connections in TIME-WAIT that nobody holds: few octets each, in a bounded table.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use unruffled_tcp::TimeWait;
use unruffled_units::Instant;

use super::FourTuple;

/// A connection in TIME-WAIT, and which entry of the queue is its own: those of earlier ones between
/// the same ends may still stand there.
#[derive(Debug)]
struct Kept {
    time_wait: TimeWait,
    planned: Instant,
}

/// The table, and when its entries end: not in the order in which they came, since an application may
/// hold one for some of its time. One that began anew meanwhile is planned again when its turn comes.
#[derive(Debug, Default)]
pub(super) struct TimeWaits {
    by_ends: HashMap<FourTuple, Kept>,
    queue: BinaryHeap<Reverse<(Instant, FourTuple)>>,
}

impl TimeWaits {
    pub(super) fn len(&self) -> usize {
        self.by_ends.len()
    }

    pub(super) fn get(&self, ends: FourTuple) -> Option<&TimeWait> {
        self.by_ends.get(&ends).map(|kept| &kept.time_wait)
    }

    pub(super) fn get_mut(&mut self, ends: FourTuple) -> Option<&mut TimeWait> {
        self.by_ends.get_mut(&ends).map(|kept| &mut kept.time_wait)
    }

    pub(super) fn add(&mut self, ends: FourTuple, time_wait: TimeWait) {
        if self.queue.len() > 2 * self.by_ends.len() + 64 {
            let counts = |&Reverse((due, ends)): &Reverse<(Instant, FourTuple)>| {
                self.by_ends.get(&ends).is_some_and(|kept| kept.planned == due)
            };
            self.queue.retain(counts);
        }
        let planned = time_wait.until();
        self.queue.push(Reverse((planned, ends)));
        self.by_ends.insert(ends, Kept { time_wait, planned });
    }

    pub(super) fn remove(&mut self, ends: FourTuple) -> Option<TimeWait> {
        self.by_ends.remove(&ends).map(|kept| kept.time_wait)
    }

    /// When the next one may end.
    pub(super) fn next(&self) -> Option<Instant> {
        self.queue.peek().map(|next| next.0.0)
    }

    /// Forgets those whose time is over.
    pub(super) fn expire(&mut self, now: Instant) {
        while let Some(&Reverse((due, ends))) = self.queue.peek().filter(|next| next.0.0 <= now) {
            self.queue.pop();
            let Some(kept) = self.by_ends.get_mut(&ends).filter(|kept| kept.planned == due) else {
                continue;
            };
            kept.planned = kept.time_wait.until();
            if kept.planned <= now {
                self.by_ends.remove(&ends);
            } else {
                self.queue.push(Reverse((kept.planned, ends)));
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

#[cfg(test)]
mod tests {
    use unruffled_tcp::{Config, Connection, IpVersion, Variant};

    use super::*;

    /// What is kept of a connection whose ends have both finished at `now`.
    fn finished(now: Instant) -> TimeWait {
        let (config, variant) = (Config::wire(IpVersion::V4), Variant::named("sack"));
        let variant = variant.expect("a row");
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

    #[test]
    fn one_that_was_let_go_late_ends_in_its_own_time() {
        let ends = |port| FourTuple {
            local: ([10, 0, 0, 2], 80).into(),
            remote: ([10, 0, 0, 1], port).into(),
        };
        let mut waits = TimeWaits::default();
        waits.add(ends(1), finished(Instant::from_millis(200_000)));
        waits.add(ends(2), finished(Instant::from_millis(0)));
        assert_eq!(waits.next(), Some(Instant::from_millis(240_000)));
        waits.expire(Instant::from_millis(240_000));
        assert!(waits.get(ends(1)).is_some() && waits.get(ends(2)).is_none());
        assert_eq!(waits.next(), Some(Instant::from_millis(440_000)));
    }

    #[test]
    fn whoever_comes_again_from_the_same_port_leaves_one_due_time() {
        let ends = |port| FourTuple {
            local: ([10, 0, 0, 2], 80).into(),
            remote: ([10, 0, 0, 1], port).into(),
        };
        let (mut waits, mut looks) = (TimeWaits::default(), 0);
        for n in 0..10_000 {
            let (who, before) = (ends(n % 100), waits.queue.len());
            waits.remove(who);
            waits.add(who, finished(Instant::from_millis(u64::from(n))));
            looks += u32::from(waits.queue.len() <= before);
        }
        assert!(looks < 100, "all were looked at {looks} times");
        // The last of them lasts four minutes, and of those before it nothing is left.
        waits.expire(Instant::from_millis(9_998 + 240_000));
        assert_eq!((waits.len(), waits.queue.len()), (1, 1));
        waits.expire(Instant::from_millis(9_999 + 240_000));
        assert_eq!((waits.len(), waits.next()), (0, None));
    }
}
