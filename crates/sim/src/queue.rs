//! The event queue: what happens next, and among simultaneous things what was planned first.

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

/// A plan, and when it is due.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Instant,
    plan: FutureEvent,
}

/// How many of those that come next are put in order at a time.
const NEAR: usize = 32;
/// Room for those in order, which is used up before any is moved to its front.
const ROOM: usize = 4 * NEAR;
/// How many bits of time are a digit, by which far plans are told apart.
const DIGIT: u32 = 3;
const BUCKETS: usize = (u64::BITS.div_ceil(DIGIT) << DIGIT) as usize;

/// A priority queue by time, then by order of planning.
///
/// What comes before a *horizon* lies in order in one array, where planning and taking is a few moves;
/// a run with one flow has no more than that. What comes behind it lies unordered in buckets, finer
/// ones for what comes sooner, as in a radix heap; when nothing is near any more the first bucket is
/// spread over finer ones until little enough is in the first of these to be put in order. So each of a
/// million plans is moved a few times, within short stretches of memory, where a heap looks up twenty
/// places.
///
/// Those of one time stand in the order of planning wherever they are: a plan comes behind those that
/// are there, and those that are moved, as all of one time are together, keep their order.
#[derive(Debug)]
pub(crate) struct Queue {
    /// From `head` on, those before the horizon, in order.
    near: Vec<Entry>,
    head: usize,
    horizon: u64,
    /// The others, by the highest digit in which their time differs from `origin`'s, and by its value.
    /// None, until there are more than are kept near.
    far: Vec<Vec<Entry>>,
    /// How many are in `far`.
    far_count: usize,
    /// Far ones were brought near, and nobody has looked at them.
    fresh: bool,
    /// A bit for each of its buckets: whether anything is in it.
    filled: [u64; BUCKETS.div_ceil(64)],
    /// None that is far comes before it.
    origin: u64,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            near: Vec::with_capacity(ROOM),
            head: 0,
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

    /// Puts a plan in its place among those that are near.
    // Written field by field to where it stays: an entry that is put together elsewhere and copied at
    // once makes the processor wait, for a tenth of the time of a run with one flow.
    #[inline]
    fn insert(&mut self, at: Instant, plan: FutureEvent) {
        let mut place = self.near.len();
        self.near.push(Entry { at, plan });
        // Most are planned to come behind those that are there.
        while place > self.head && self.near[place - 1].at > at {
            self.near[place] = self.near[place - 1];
            place -= 1;
        }
        let entry = &mut self.near[place];
        entry.at = at;
        entry.plan = plan;
    }

    /// What is planned is far, or there is no room where it is near.
    #[inline(never)]
    fn plan_elsewhere(&mut self, at: Instant, plan: FutureEvent) {
        let entry = Entry { at, plan };
        if at.as_nanos() >= self.horizon {
            return self.put_far(entry);
        }
        self.make_room();
        if at.as_nanos() >= self.horizon { self.put_far(entry) } else { self.insert(at, plan) }
    }

    /// The room is used up: by those that were taken, or by too many.
    fn make_room(&mut self) {
        self.near.drain(..self.head);
        self.head = 0;
        if self.near.len() > 2 * NEAR {
            // Those at one time stay together, however many they are.
            let (first, last) = (self.near[0].at.as_nanos(), self.near[NEAR].at.as_nanos());
            let horizon = last.max(first.saturating_add(1));
            match self.far_count {
                // The origin stays behind the horizon, which may have to come nearer again.
                0 => (self.horizon, self.origin) = (horizon, first),
                _ => self.horizon = horizon.max(self.origin),
            }
            let horizon = self.horizon;
            let kept = self.near.partition_point(|entry| entry.at.as_nanos() < horizon);
            for place in kept..self.near.len() {
                self.put_far(self.near[place]);
            }
            self.near.truncate(kept);
        }
        self.near.reserve(self.near.len().max(NEAR));
    }

    #[inline]
    fn put_far(&mut self, entry: Entry) {
        if self.far.is_empty() {
            self.far.resize_with(BUCKETS, || Vec::with_capacity(ROOM));
        }
        let at = entry.at.as_nanos();
        let level = (at ^ self.origin).checked_ilog2().unwrap_or(0) / DIGIT;
        let digit = (at >> (level * DIGIT)) as usize % (1 << DIGIT);
        let bucket = (level as usize) << DIGIT | digit;
        self.far[bucket].push(entry);
        self.far_count += 1;
        self.filled[bucket / 64] |= 1 << (bucket % 64);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    /// When the next plan is due, if there is one.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.near.get(self.head).map(|entry| entry.at)
    }

    /// Whether plans were put in order since [`ordered`](Self::ordered) was asked last.
    #[inline]
    pub(crate) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// The plans that are in order, the next one first.
    pub(crate) fn ordered(&mut self) -> impl ExactSizeIterator<Item = FutureEvent> {
        self.fresh = false;
        self.near[self.head..].iter().map(|entry| entry.plan)
    }

    /// The next plan, if it is due by `end`.
    #[inline]
    pub(crate) fn next(&mut self, end: Instant) -> Option<(Instant, FutureEvent)> {
        let Entry { at, plan, .. } = *self.near.get(self.head)?;
        if at > end {
            return None;
        }
        self.head += 1;
        if self.head == self.near.len() {
            self.fetch();
        }
        Some((at, plan))
    }

    /// Brings near the first of those that are far, if any is.
    #[inline(never)]
    fn fetch(&mut self) {
        self.near.clear();
        self.head = 0;
        self.horizon = u64::MAX;
        while let Some(word) = self.filled.iter().position(|&word| word != 0) {
            let first = word * 64 + self.filled[word].trailing_zeros() as usize;
            self.filled[word] &= self.filled[word] - 1;
            let mut bucket = std::mem::take(&mut self.far[first]);
            self.far_count -= bucket.len();
            let (level, digit) = ((first >> DIGIT) as u32, (first % (1 << DIGIT)) as u64);
            if level == 0 || bucket.len() <= NEAR {
                self.near.append(&mut bucket);
                self.near.sort_by_key(|entry| entry.at);
                self.fresh = true;
                if self.far_count > 0 {
                    // The bucket's end: those of its time that are planned from now on are near.
                    let above = self.origin.checked_shr((level + 1) * DIGIT).unwrap_or(0);
                    self.horizon =
                        ((above << DIGIT | digit) + 1).saturating_mul(1 << (level * DIGIT));
                }
                self.far[first] = bucket;
                return;
            }
            self.origin = bucket.iter().map(|entry| entry.at.as_nanos()).min().unwrap_or(0);
            for entry in bucket.drain(..) {
                self.put_far(entry);
            }
            // For its memory: what was in it went into finer ones.
            self.far[first] = bucket;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
        for most in [3, 20, NEAR as u64, 1000, 10_000] {
            let (mut queue, mut waiting) = (Queue::default(), BTreeSet::new());
            let mut now = 0;
            for n in 0..50_000 {
                if waiting.is_empty() || number(most) > waiting.len() as u64 {
                    // Few instants at times, so that many fall together, and at times far apart.
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
    fn more_than_are_kept_near_may_be_planned_before_the_first_far_one() {
        let mut queue = Queue::default();
        let mut expected = Vec::new();
        let mut plan = |queue: &mut Queue, at: u64, n: u32| {
            queue.plan(Instant::from_nanos(at), FutureEvent::Packet(n));
            expected.push((at, n));
        };
        // Enough behind a gap to be spread over finer buckets, and one before it.
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
    fn of_many_plans_few_are_near() {
        let (mut queue, mut number) = (Queue::default(), numbers());
        // As applications begin one after the other, and each event then plans another.
        for n in 0..10_000 {
            queue.plan(Instant::from_nanos(number(2_000_000_000)), FutureEvent::Application(n));
        }
        for n in 0..100_000 {
            let (now, _) = queue.next(Instant::MAX).expect("another one");
            let at = now.as_nanos() + number(10_000_000);
            queue.plan(Instant::from_nanos(at), FutureEvent::Packet(n));
            assert!(queue.near.len() <= ROOM, "{} are near", queue.near.len());
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
