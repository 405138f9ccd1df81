//! The event queue: what happens next, and among simultaneous things what was planned first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use unruffled_units::Instant;

/// Something planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FutureEvent {
    /// The first packet in this link's line gets to the link's far end.
    Line(u32),
    /// This packet, which left the line, gets to the far end of its link.
    Packet(u32),
    /// This packet, which its link damaged, may be sent again.
    Held(u32),
    /// A timer of this end of a flow may be due: twice the flow's number, and one for receivers.
    Timer(u32),
    /// The application of this source goes on.
    Application(u32),
    /// The application of this source stops.
    Stop(u32),
}

/// A plan, and its place among the others.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Instant,
    /// How many were planned before it.
    order: u64,
    plan: FutureEvent,
}

impl Entry {
    const NONE: Self = Self { at: Instant::ZERO, order: 0, plan: FutureEvent::Line(0) };
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// How many of those that come next are kept in order.
const NEAR: usize = 8;

/// A priority queue by time, then by order of planning.
///
/// A run with one flow has two to four plans at a time: those that come next lie in an array in
/// order, where planning and taking is a few moves, and only the others in a heap.
#[derive(Debug)]
pub(crate) struct Queue {
    /// The first `count` of them, the one that comes next last.
    near: [Entry; NEAR],
    count: usize,
    /// All of them come after those that are near.
    far: BinaryHeap<Reverse<Entry>>,
    planned: u64,
}

impl Default for Queue {
    fn default() -> Self {
        Self { near: [Entry::NONE; NEAR], count: 0, far: BinaryHeap::new(), planned: 0 }
    }
}

impl Queue {
    #[inline]
    pub(crate) fn plan(&mut self, at: Instant, plan: FutureEvent) {
        self.planned += 1;
        let entry = Entry { at, order: self.planned, plan };
        if self.count == NEAR || !self.far.is_empty() {
            return self.plan_among_many(entry);
        }
        self.insert(entry);
    }

    /// Puts `entry`, the last one planned, in its place among those that are near, where there is
    /// room for it.
    #[inline]
    fn insert(&mut self, entry: Entry) {
        let mut place = self.count.min(NEAR - 1);
        while place > 0 && self.near[place - 1].at <= entry.at {
            self.near[place] = self.near[place - 1];
            place -= 1;
        }
        self.near[place] = entry;
        self.count += 1;
    }

    #[inline(never)]
    fn plan_among_many(&mut self, entry: Entry) {
        // Of those at the same time this one comes last.
        if self.far.peek().is_some_and(|Reverse(first)| entry.at >= first.at) {
            return self.far.push(Reverse(entry));
        }
        if self.count == NEAR {
            if entry.at >= self.near[0].at {
                return self.far.push(Reverse(entry));
            }
            self.far.push(Reverse(self.near[0]));
            self.near.copy_within(1.., 0);
            self.count -= 1;
        }
        self.insert(entry);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The next plan, if it is due by `end`.
    #[inline]
    pub(crate) fn next(&mut self, end: Instant) -> Option<(Instant, FutureEvent)> {
        let last = self.count.checked_sub(1)?;
        let Entry { at, plan, .. } = *self.near.get(last)?;
        if at > end {
            return None;
        }
        self.count = last;
        if last == 0 && !self.far.is_empty() {
            self.fetch();
        }
        Some((at, plan))
    }

    /// Brings near the first of those that are far.
    #[inline(never)]
    fn fetch(&mut self) {
        if let Some(Reverse(entry)) = self.far.pop() {
            self.near[0] = entry;
            self.count = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next numbers of a linear congruential generator (Knuth's MMIX).
    fn numbers() -> impl FnMut(u64) -> u64 {
        let mut state = 1_u64;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        }
    }

    #[test]
    fn plans_come_by_time_and_then_in_the_order_of_planning() {
        let mut number = numbers();
        for most in [3, NEAR as u64, 20, 1000] {
            let (mut queue, mut waiting) = (Queue::default(), Vec::new());
            let mut now = 0;
            for n in 0..20_000 {
                if waiting.is_empty() || number(most) > waiting.len() as u64 {
                    // Few instants, so that many fall together.
                    let at = now + number(10);
                    queue.plan(Instant::from_nanos(at), FutureEvent::Packet(n));
                    waiting.push((at, n));
                } else {
                    let next = *waiting.iter().min().expect("not empty");
                    waiting.retain(|plan| *plan != next);
                    let got = queue.next(Instant::MAX);
                    assert_eq!(
                        got,
                        Some((Instant::from_nanos(next.0), FutureEvent::Packet(next.1)))
                    );
                    now = next.0;
                }
                assert_eq!(queue.is_empty(), waiting.is_empty());
            }
        }
    }

    #[test]
    fn what_is_not_due_stays() {
        let mut queue = Queue::default();
        queue.plan(Instant::from_nanos(5), FutureEvent::Stop(0));
        assert_eq!(queue.next(Instant::from_nanos(4)), None);
        assert_eq!(
            queue.next(Instant::from_nanos(5)),
            Some((Instant::from_nanos(5), FutureEvent::Stop(0)))
        );
        assert!(queue.is_empty());
    }
}
