//! The reordering lengths of the last 80 s (RR-TCP, section 4.1.2), in a store of constant size.
//!
//! One histogram counts every length since the connection began. The history consists of slots, and
//! each slot in which a length arrived stores the histogram at its beginning. The lengths alive are
//! the difference between the present histogram and that of the oldest slot alive. Nothing is ever
//! removed from the histogram, so a long silence costs no more than a short one.

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use crate::fenwick::Histogram;

/// Number of slots of the history. With the 80 s of table 2, each is one second.
const SLOTS: u64 = 80;
/// Largest length with a bin of its own. Beyond, an octave has half as many bins (0.2 %).
const MAX_EXACT_LENGTH: u32 = 1024;

/// A slot in which a length arrived.
#[derive(Debug)]
struct Slot {
    number: u64,
    /// Histogram at the beginning of the slot.
    before: Histogram,
}

/// Reordering lengths with their times. "Periodically, events older than the history period are
/// deleted" (section 4.1.2): a length counts for the length of the history, and at most 1/80
/// longer.
#[derive(Debug)]
pub(crate) struct History {
    /// Length of a slot in nanoseconds.
    slot: u64,
    /// Number of bins of a histogram.
    bins: usize,
    /// Allocated when the first segment is late. Paths without reordering do not need it.
    store: Option<Box<Store>>,
}

/// The histogram and the slots.
#[derive(Debug)]
struct Store {
    lengths: Histogram,
    /// Slots alive, oldest first, and buffers for the others.
    slots: VecDeque<Slot>,
    spare: Vec<Histogram>,
    /// Time at which the oldest slot expires.
    expiry: Instant,
}

impl History {
    /// Returns a history of lengths up to `greatest`. Longer ones count as `greatest`.
    pub(crate) fn new(lifetime: Duration, greatest: u32) -> Self {
        Self { slot: (lifetime.as_nanos() / SLOTS).max(1), bins: bin(greatest), store: None }
    }

    /// Adds a segment that was late by `length`.
    pub(crate) fn add(&mut self, length: u32, now: Instant) {
        self.expire(now);
        let slot = self.slot;
        let bins = self.bins;
        let store = self.store.get_or_insert_with(|| Box::new(Store::new(bins)));
        let number = now.as_nanos() / slot;
        if store.slots.back().is_none_or(|last| last.number < number) {
            store.begin(number, slot);
        }
        // More than 2^32 lengths alive would wrap the counts, and one more makes no difference.
        if store.alive() < u32::MAX {
            store.lengths.add(bin(length), 1);
        }
    }

    /// Removes lengths older than the history, and returns whether there were any.
    pub(crate) fn expire(&mut self, now: Instant) -> bool {
        match &mut self.store {
            Some(store) if !store.slots.is_empty() && now >= store.expiry => {
                store.expire(now, self.slot);
                true
            }
            _ => false,
        }
    }

    /// Returns the smallest length up to which at least `share` (0…1) of the lengths alive lie.
    pub(crate) fn percentile(&self, share: f64) -> Option<u32> {
        let store = self.store.as_ref()?;
        let oldest = store.slots.front()?;
        store.lengths.percentile_since(&oldest.before, share).map(greatest_in)
    }
}

impl Store {
    fn new(bins: usize) -> Self {
        let capacity = SLOTS as usize + 1;
        Self {
            lengths: Histogram::new(bins),
            slots: VecDeque::with_capacity(capacity),
            spare: (0..capacity).map(|_| Histogram::new(bins)).collect(),
            expiry: Instant::ZERO,
        }
    }

    fn begin(&mut self, number: u64, slot: u64) {
        let mut before = self.spare.pop().expect("as many buffers as slots can be alive");
        before.copy_from(&self.lengths);
        self.slots.push_back(Slot { number, before });
        self.set_expiry(slot);
    }

    fn expire(&mut self, now: Instant, slot: u64) {
        let number = now.as_nanos() / slot;
        let expired = self.slots.partition_point(|slot| slot.number + SLOTS < number);
        self.spare.extend(self.slots.drain(..expired).map(|slot| slot.before));
        self.set_expiry(slot);
    }

    fn set_expiry(&mut self, slot: u64) {
        if let Some(oldest) = self.slots.front() {
            let end = (oldest.number + SLOTS + 1).saturating_mul(slot);
            self.expiry = Instant::from_nanos(end);
        }
    }

    /// Returns the number of lengths alive.
    fn alive(&self) -> u32 {
        let before = |oldest: &Slot| self.lengths.total().wrapping_sub(oldest.before.total());
        self.slots.front().map_or(0, before)
    }
}

/// Returns the bin of a length.
fn bin(length: u32) -> usize {
    let x = length.saturating_sub(1);
    let bin = if x < MAX_EXACT_LENGTH {
        x
    } else {
        let octaves = x.ilog2() - MAX_EXACT_LENGTH.ilog2();
        let half = MAX_EXACT_LENGTH / 2;
        MAX_EXACT_LENGTH + octaves * half + (x >> (octaves + 1)) - half
    };
    bin as usize + 1
}

/// Returns the greatest length in a bin.
fn greatest_in(bin: usize) -> u32 {
    let x = bin as u32 - 1;
    if x < MAX_EXACT_LENGTH {
        return x + 1;
    }
    let (octaves, within) = (
        (x - MAX_EXACT_LENGTH) / (MAX_EXACT_LENGTH / 2),
        (x - MAX_EXACT_LENGTH) % (MAX_EXACT_LENGTH / 2),
    );
    (MAX_EXACT_LENGTH / 2 + within + 1) << (octaves + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIFETIME: Duration = Duration::from_secs(80);

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn store(history: &mut History) -> &mut Store {
        history.store.as_mut().expect("a segment was late")
    }

    /// Computes the percentile by its definition, over lengths in slots that are alive at `now`.
    fn naive(samples: &[(u64, u32)], now: u64, share: f64) -> Option<u32> {
        let first = (now / 1000).saturating_sub(SLOTS);
        let alive = samples.iter().filter(|(ms, _)| ms / 1000 >= first);
        let mut lengths: Vec<u32> = alive.map(|&(_, length)| length).collect();
        lengths.sort_unstable();
        let rank = (share * lengths.len() as f64).ceil().max(1.0) as usize;
        lengths.get(rank - 1).copied()
    }

    #[test]
    fn a_length_counts_for_eighty_to_eighty_one_seconds() {
        let mut history = History::new(LIFETIME, 64);
        history.add(20, at(999));
        history.add(5, at(1000));
        assert!(!history.expire(at(80_999)));
        assert_eq!(history.percentile(1.0), Some(20));
        assert!(history.expire(at(81_000)));
        assert_eq!(history.percentile(1.0), Some(5));
        assert!(history.expire(at(82_000)) && !history.expire(at(500_000)));
        assert_eq!(history.percentile(1.0), None);
    }

    #[test]
    fn lengths_above_1024_are_exact_to_one_in_512() {
        let mut last = 0;
        for length in (1..5000).chain((5000..=1_000_000).step_by(97)) {
            let greatest = greatest_in(bin(length));
            assert!(greatest >= length && (greatest - length) as f64 <= length as f64 / 512.0);
            assert!(length > MAX_EXACT_LENGTH || greatest == length, "{length}");
            assert!(bin(length) >= last, "{length}");
            last = bin(length);
        }
    }

    /// A million lengths in 100 s take as much memory as a hundred, also after a year of silence.
    #[test]
    fn memory_does_not_grow_with_the_rate() {
        let buffers = |events: u64| {
            let mut history = History::new(LIFETIME, 64);
            for event in 0..events {
                history.add((event % 64) as u32 + 1, at(event * 100_000 / events));
            }
            history.add(7, at(100_000) + Duration::from_secs(31_536_000));
            assert_eq!((store(&mut history).alive(), history.percentile(0.9)), (1, Some(7)));
            let Store { slots, spare, .. } = store(&mut history);
            (slots.len() + spare.len(), slots.capacity())
        };
        assert_eq!(buffers(1_000_000), buffers(100));
        assert_eq!(buffers(100).0, 81);
    }

    #[test]
    fn wrapping_counts_change_nothing() {
        let mut history = History::new(LIFETIME, 64);
        // This one has expired.
        history.add(1, at(1));
        store(&mut history).lengths.add(9, u32::MAX - 1);
        for length in [1, 2, 3, 4] {
            history.add(length, at(500_000));
        }
        assert_eq!((store(&mut history).alive(), history.percentile(0.5)), (4, Some(2)));
        // A full histogram accepts no more.
        store(&mut history).lengths.add(9, u32::MAX - 4);
        history.add(64, at(500_001));
        assert_eq!((store(&mut history).alive(), history.percentile(1.0)), (u32::MAX, Some(9)));
    }

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_lengths_alive(
            events in prop::collection::vec((0_u64..20_000, 1_u32..=64), 1..120),
            share in 0.0..=1.0_f64,
        ) {
            let mut history = History::new(LIFETIME, 64);
            let mut now = 0;
            let mut samples = Vec::new();
            for (later, length) in events {
                now += later;
                history.expire(at(now));
                prop_assert_eq!(history.percentile(share), naive(&samples, now, share));
                history.add(length, at(now));
                samples.push((now, length));
                prop_assert_eq!(history.percentile(share), naive(&samples, now, share));
            }
        }
    }
}
