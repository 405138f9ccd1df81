//! The event queue, ordered by time and, for equal times, by the order of planning.

use unruffled_units::Instant;

/// A planned event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FutureEvent {
    /// The first packet in the line of this link reaches the far end.
    Line(u32),
    /// This packet, which is not in line, reaches the far end of its link.
    Packet(u32),
    /// This damaged packet may be sent again.
    Held(u32),
    /// A wait in the gateway at the far end of this link may be over.
    Gateway(u32),
    /// A timer of one end of a flow may be due. The number is twice the flow's, plus one for the receiver.
    Timer(u32),
    /// The application of this source acts.
    Application(u32),
    /// The application of this source stops.
    Stop(u32),
}

/// A planned event with its time.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Instant,
    plan: FutureEvent,
}

/// Number of events that are sorted at a time.
const NEAR_EVENTS: usize = 32;
/// Capacity of the sorted array. Later events are moved to the buckets only when it is full.
const NEAR_CAPACITY: usize = 4 * NEAR_EVENTS;
/// Bits of a digit of the time, by which far events are divided into buckets.
const DIGIT_BITS: u32 = 3;
const BUCKETS: usize = (u64::BITS.div_ceil(DIGIT_BITS) << DIGIT_BITS) as usize;

/// A priority queue by time, then by order of planning.
///
/// Events before a *horizon* are sorted in one array, where planning and taking costs a few moves. A run
/// with one flow needs no more. Later events are unsorted in buckets, with finer buckets for earlier times,
/// as in a radix heap. When the array is empty, the first bucket is divided into finer ones until the first
/// of these is small enough to be sorted. So each of a million events is moved a few times within short
/// ranges of memory, where a heap would access twenty places.
///
/// Events of the same time are always in the order of planning: a new event comes after existing ones, and
/// events that are moved together keep their order.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Events before the horizon, sorted. The next one is the last.
    near: Vec<Entry>,
    horizon: u64,
    /// Other events, by the highest digit in which their time differs from `origin`, and by its value.
    /// Empty until the sorted array is full.
    far: Vec<Vec<Entry>>,
    /// Number of events in `far`.
    far_count: usize,
    /// Whether events were sorted since the last call of [`Queue::ordered`].
    fresh: bool,
    /// A bit for each bucket: whether it has events.
    filled: [u64; BUCKETS.div_ceil(64)],
    /// Lower bound on the times in `far`.
    origin: u64,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            near: Vec::with_capacity(NEAR_CAPACITY),
            horizon: u64::MAX,
            far: Vec::new(),
            far_count: 0,
            fresh: false,
            filled: [0; BUCKETS.div_ceil(64)],
            origin: 0,
        }
    }
}

impl Queue {
    #[inline]
    pub(crate) fn plan(&mut self, at: Instant, plan: FutureEvent) {
        if at.as_nanos() >= self.horizon || self.near.len() == self.near.capacity() {
            return self.plan_elsewhere(at, plan);
        }
        self.insert(at, plan);
    }

    /// Inserts an event into the sorted array.
    // The entry is written field by field to its final place. An entry that is copied from the stack stalls
    // the processor, for a tenth of the time of a run with one flow.
    #[inline]
    fn insert(&mut self, at: Instant, plan: FutureEvent) {
        let mut place = self.near.len();
        self.near.push(Entry { at, plan });
        // Most events come before those of late packets and of timers.
        while place > 0 && self.near[place - 1].at <= at {
            self.near[place] = self.near[place - 1];
            place -= 1;
        }
        let entry = &mut self.near[place];
        entry.at = at;
        entry.plan = plan;
    }

    /// Plans an event that is far, or that does not fit into the sorted array.
    #[inline(never)]
    fn plan_elsewhere(&mut self, at: Instant, plan: FutureEvent) {
        let entry = Entry { at, plan };
        if at.as_nanos() >= self.horizon {
            return self.put_far(entry);
        }
        self.make_room();
        if at.as_nanos() >= self.horizon { self.put_far(entry) } else { self.insert(at, plan) }
    }

    /// Makes room in the sorted array, by moving later events to the buckets.
    fn make_room(&mut self) {
        let count = self.near.len();
        if count > 2 * NEAR_EVENTS {
            // All events of one time stay together.
            let first = self.near[count - 1].at.as_nanos();
            let last = self.near[count - 1 - NEAR_EVENTS].at.as_nanos();
            let horizon = last.max(first.saturating_add(1));
            match self.far_count {
                // The origin must not be later than the horizon, which may become earlier again.
                0 => {
                    self.horizon = horizon;
                    self.origin = first;
                }
                _ => self.horizon = horizon.max(self.origin),
            }
            let horizon = self.horizon;
            let moved = self.near.partition_point(|entry| entry.at.as_nanos() >= horizon);
            for place in (0..moved).rev() {
                self.put_far(self.near[place]);
            }
            self.near.drain(..moved);
        }
        self.near.reserve(self.near.len().max(NEAR_EVENTS));
    }

    #[inline]
    fn put_far(&mut self, entry: Entry) {
        if self.far.is_empty() {
            self.far.resize_with(BUCKETS, || Vec::with_capacity(NEAR_CAPACITY));
        }
        let at = entry.at.as_nanos();
        let level = (at ^ self.origin).checked_ilog2().unwrap_or(0) / DIGIT_BITS;
        let digit = (at >> (level * DIGIT_BITS)) as usize % (1 << DIGIT_BITS);
        let bucket = (level as usize) << DIGIT_BITS | digit;
        self.far[bucket].push(entry);
        self.far_count += 1;
        self.filled[bucket / 64] |= 1 << (bucket % 64);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    /// Returns the time of the next event, if any.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.near.last().map(|entry| entry.at)
    }

    /// Returns whether an event other than the end of a wait is due at `now`, at which the last event was. The
    /// events of an instant are all near.
    pub(crate) fn continues(&self, now: Instant) -> bool {
        let due = self.near.iter().rev().take_while(|entry| entry.at == now);
        due.into_iter().any(|entry| !matches!(entry.plan, FutureEvent::Gateway(_)))
    }

    /// Returns whether events were sorted since the last call of [`ordered`](Self::ordered).
    #[inline]
    pub(crate) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Returns the sorted events, the next one first.
    pub(crate) fn ordered(&mut self) -> impl ExactSizeIterator<Item = FutureEvent> {
        self.fresh = false;
        self.near.iter().rev().map(|entry| entry.plan)
    }

    /// Removes and returns the next event, if it is due by `end`.
    #[inline]
    pub(crate) fn next(&mut self, end: Instant) -> Option<(Instant, FutureEvent)> {
        let Entry { at, plan } = self.near.pop_if(|entry| entry.at <= end)?;
        if self.near.is_empty() {
            self.fetch();
        }
        Some((at, plan))
    }

    /// Moves the first of the far events to the sorted array.
    #[inline(never)]
    fn fetch(&mut self) {
        self.horizon = u64::MAX;
        while let Some(word) = self.filled.iter().position(|&word| word != 0) {
            let first = word * 64 + self.filled[word].trailing_zeros() as usize;
            self.filled[word] &= self.filled[word] - 1;
            let mut bucket = std::mem::take(&mut self.far[first]);
            self.far_count -= bucket.len();
            let level = (first >> DIGIT_BITS) as u32;
            let digit = (first % (1 << DIGIT_BITS)) as u64;
            if level == 0 || bucket.len() <= NEAR_EVENTS {
                self.near.append(&mut bucket);
                self.near.sort_by_key(|entry| entry.at);
                self.near.reverse();
                self.fresh = true;
                if self.far_count > 0 {
                    // The end of the bucket. New events before it are near.
                    let above = self.origin.checked_shr((level + 1) * DIGIT_BITS).unwrap_or(0);
                    self.horizon = ((above << DIGIT_BITS | digit) + 1)
                        .saturating_mul(1 << (level * DIGIT_BITS));
                }
                self.far[first] = bucket;
                return;
            }
            self.origin = bucket.iter().map(|entry| entry.at.as_nanos()).min().unwrap_or(0);
            for entry in bucket.drain(..) {
                self.put_far(entry);
            }
            // Keeps the memory of the bucket, whose events are in finer buckets now.
            self.far[first] = bucket;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns numbers of a linear congruential generator (Knuth's MMIX).
    fn numbers() -> impl FnMut(u64) -> u64 {
        let mut state = 1_u64;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        }
    }

    #[test]
    fn events_are_returned_by_time_and_then_in_the_order_of_scheduling() {
        let mut number = numbers();
        for most in [3, 20, NEAR_EVENTS as u64, 1000, 10_000] {
            let mut queue = Queue::default();
            let mut waiting = BTreeSet::new();
            let mut now = 0;
            for n in 0..50_000 {
                if waiting.is_empty() || number(most) > waiting.len() as u64 {
                    // Sometimes few different times, so that many coincide, and sometimes distant ones.
                    let span = [1, 10, 100_000, 1 << 31][number(4) as usize];
                    let at = now + number(span);
                    queue.plan(Instant::from_nanos(at), FutureEvent::Packet(n));
                    waiting.insert((at, n));
                } else {
                    let next = waiting.pop_first().expect("not empty");
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
    fn many_near_events_may_be_scheduled_before_the_first_far_one() {
        let mut queue = Queue::default();
        let mut expected = Vec::new();
        let mut plan = |queue: &mut Queue, at: u64, n: u32| {
            queue.plan(Instant::from_nanos(at), FutureEvent::Packet(n));
            expected.push((at, n));
        };
        // One event, a gap, and enough events after it to be divided into finer buckets.
        plan(&mut queue, 1, 0);
        for n in 1..1000 {
            plan(&mut queue, 1_000_000 + 1000 * u64::from(n), n);
        }
        assert!(queue.next(Instant::MAX).is_some());
        for n in 1000..2000 {
            plan(&mut queue, 2 + u64::from(n * 7 % 1000), n);
        }
        expected.sort_unstable();
        let rest = std::iter::from_fn(|| queue.next(Instant::MAX));
        let rest: Vec<_> = rest.map(|(at, plan)| (at.as_nanos(), plan)).collect();
        let expected = expected[1..].iter().map(|&(at, n)| (at, FutureEvent::Packet(n)));
        assert_eq!(rest, expected.collect::<Vec<_>>());
    }

    #[test]
    fn few_of_many_events_are_near() {
        let mut queue = Queue::default();
        let mut number = numbers();
        // Applications start at random times, and each event plans another.
        for n in 0..10_000 {
            queue.plan(Instant::from_nanos(number(2_000_000_000)), FutureEvent::Application(n));
        }
        for n in 0..100_000 {
            let (now, _) = queue.next(Instant::MAX).expect("another one");
            let at = now.as_nanos() + number(10_000_000);
            queue.plan(Instant::from_nanos(at), FutureEvent::Packet(n));
            assert!(queue.near.len() <= NEAR_CAPACITY, "{} are near", queue.near.len());
        }
    }

    #[test]
    fn an_event_that_is_not_due_stays() {
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
