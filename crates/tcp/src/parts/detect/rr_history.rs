//! The reordering lengths of the last 80 s (RR-TCP, section 4.1.2) in a store whose size depends
//! neither on how many there are nor on how long nothing came.
//!
//! One histogram counts every length since the connection began. The history is cut into slots, and
//! each slot in which a length came keeps the histogram as it stood before. What is alive is the
//! difference between now and the beginning of the oldest slot alive: nothing is ever taken out of
//! the histogram, so that a long silence costs no more than a short one.

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use crate::fenwick::Histogram;

/// Slots of the history: with the 80 s of table 2, a second each.
const SLOTS: u64 = 80;
/// Lengths up to this have a bin each; beyond, an octave has half as many bins (0.2 %).
const EXACT: u32 = 1024;

/// One slot in which a length came.
#[derive(Debug)]
struct Slot {
    number: u64,
    /// The histogram as it stood before.
    before: Histogram,
}

/// Lengths and when they came. "Periodically, events older than the history period are deleted"
/// (section 4.1.2): a length counts for the history's length, and at most 1/80 longer.
#[derive(Debug)]
pub(crate) struct History {
    /// How long a slot is, in nanoseconds.
    slot: u64,
    /// How many bins a histogram has.
    bins: usize,
    /// Paths that do not reorder need none of this; others soon need all of it.
    kept: Option<Box<Kept>>,
}

/// What is kept once a segment was late.
#[derive(Debug)]
struct Kept {
    lengths: Histogram,
    /// Those alive, oldest first, and buffers for all others.
    slots: VecDeque<Slot>,
    spare: Vec<Histogram>,
    /// When the oldest slot expires.
    expiry: Instant,
}

impl History {
    /// For lengths up to `greatest`; longer ones count as this long.
    pub(crate) fn new(lifetime: Duration, greatest: u32) -> Self {
        Self { slot: (lifetime.as_nanos() / SLOTS).max(1), bins: bin(greatest), kept: None }
    }

    /// A segment was late by `length`.
    pub(crate) fn add(&mut self, length: u32, now: Instant) {
        self.expire(now);
        let (slot, bins) = (self.slot, self.bins);
        let kept = self.kept.get_or_insert_with(|| Box::new(Kept::new(bins)));
        let number = now.as_nanos() / slot;
        if kept.slots.back().is_none_or(|last| last.number < number) {
            kept.begin(number, slot);
        }
        // One more than 2^32 alive would wrap the counts, and says nothing new.
        if kept.alive() < u32::MAX {
            kept.lengths.add(bin(length), 1);
        }
    }

    /// Forgets what is older than the history; says whether anything was.
    pub(crate) fn expire(&mut self, now: Instant) -> bool {
        match &mut self.kept {
            Some(kept) if !kept.slots.is_empty() && now >= kept.expiry => {
                kept.expire(now, self.slot);
                true
            }
            _ => false,
        }
    }

    /// The smallest length up to which at least `share` (0…1) of those that count lie.
    pub(crate) fn percentile(&self, share: f64) -> Option<u32> {
        let kept = self.kept.as_ref()?;
        let oldest = kept.slots.front()?;
        kept.lengths.percentile_since(&oldest.before, share).map(greatest_in)
    }
}

impl Kept {
    fn new(bins: usize) -> Self {
        let most = SLOTS as usize + 1;
        Self {
            lengths: Histogram::new(bins),
            slots: VecDeque::with_capacity(most),
            spare: (0..most).map(|_| Histogram::new(bins)).collect(),
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

    /// How many lengths count.
    fn alive(&self) -> u32 {
        let before = |oldest: &Slot| self.lengths.total().wrapping_sub(oldest.before.total());
        self.slots.front().map_or(0, before)
    }
}

/// The bin of a length.
fn bin(length: u32) -> usize {
    let x = length.saturating_sub(1);
    let bin = if x < EXACT {
        x
    } else {
        let (octaves, half) = (x.ilog2() - EXACT.ilog2(), EXACT / 2);
        EXACT + octaves * half + (x >> (octaves + 1)) - half
    };
    bin as usize + 1
}

/// The greatest length in a bin.
fn greatest_in(bin: usize) -> u32 {
    let x = bin as u32 - 1;
    if x < EXACT {
        return x + 1;
    }
    let (octaves, within) = ((x - EXACT) / (EXACT / 2), (x - EXACT) % (EXACT / 2));
    (EXACT / 2 + within + 1) << (octaves + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIFETIME: Duration = Duration::from_secs(80);

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn kept(history: &mut History) -> &mut Kept {
        history.kept.as_mut().expect("a segment was late")
    }

    /// The percentile by its definition, of the lengths that came `ms` in slots not before `first`.
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
    fn beyond_1024_a_length_is_known_to_within_one_in_512() {
        let mut last = 0;
        for length in (1..5000).chain((5000..=1_000_000).step_by(97)) {
            let greatest = greatest_in(bin(length));
            assert!(greatest >= length && (greatest - length) as f64 <= length as f64 / 512.0);
            assert!(length > EXACT || greatest == length, "{length}");
            assert!(bin(length) >= last, "{length}");
            last = bin(length);
        }
    }

    /// A million lengths in 100 s take what a hundred take, and so does a wait of a year.
    #[test]
    fn its_size_does_not_grow_with_the_rate() {
        let buffers = |events: u64| {
            let mut history = History::new(LIFETIME, 64);
            for event in 0..events {
                history.add((event % 64) as u32 + 1, at(event * 100_000 / events));
            }
            history.add(7, at(100_000) + Duration::from_secs(31_536_000));
            assert_eq!((kept(&mut history).alive(), history.percentile(0.9)), (1, Some(7)));
            let Kept { slots, spare, .. } = kept(&mut history);
            (slots.len() + spare.len(), slots.capacity())
        };
        assert_eq!(buffers(1_000_000), buffers(100));
        assert_eq!(buffers(100).0, 81);
    }

    #[test]
    fn counts_that_wrap_change_nothing() {
        let mut history = History::new(LIFETIME, 64);
        // Long ago.
        history.add(1, at(1));
        kept(&mut history).lengths.add(9, u32::MAX - 1);
        for length in [1, 2, 3, 4] {
            history.add(length, at(500_000));
        }
        assert_eq!((kept(&mut history).alive(), history.percentile(0.5)), (4, Some(2)));
        // And a histogram that is full takes no more.
        kept(&mut history).lengths.add(9, u32::MAX - 4);
        history.add(64, at(500_001));
        assert_eq!((kept(&mut history).alive(), history.percentile(1.0)), (u32::MAX, Some(9)));
    }

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_lengths_alive(
            events in prop::collection::vec((0_u64..20_000, 1_u32..=64), 1..120),
            share in 0.0..=1.0_f64,
        ) {
            let mut history = History::new(LIFETIME, 64);
            let (mut now, mut samples) = (0, Vec::new());
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
