//! Reassembly of IPv4 fragments with Linux's limit on their distance.

use std::collections::{BTreeSet, HashMap};

use unruffled_units::{Duration, Instant};

/// Time for which a fragment waits for the others of its datagram (Linux `ipfrag_time`).
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Place of a fragment in the order of arrival. Those of the same instant arrive in the order of their
/// departure.
type Place = (Instant, u64);

/// Reassembly of datagrams whose fragments all arrive.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    /// Maximum number of fragments from one of a datagram to the next one; 0 for no limit.
    max_distance: usize,
    /// Number of fragments so far.
    count: u64,
    /// Fragments that have arrived or will arrive. None arrived before the first one of `datagrams`.
    fragments: BTreeSet<Place>,
    /// Fragments of the datagrams that are not yet complete, in the order of their arrival, by the number of
    /// the packet.
    datagrams: HashMap<u64, Vec<Place>>,
    /// First fragments of the same datagrams.
    first: BTreeSet<Place>,
}

impl Reassembly {
    pub(super) fn new(max_distance: u32) -> Self {
        Self {
            max_distance: max_distance as usize,
            count: 0,
            fragments: BTreeSet::new(),
            datagrams: HashMap::new(),
            first: BTreeSet::new(),
        }
    }

    /// Records when the fragments of packet `number`, which leaves at `now`, arrive. `is_complete` is whether all
    /// of them do.
    pub(super) fn expect(
        &mut self,
        number: u64,
        arrivals: &[Instant],
        is_complete: bool,
        now: Instant,
    ) {
        if arrivals.is_empty() {
            return;
        }
        self.forget_old(now);
        let mut places: Vec<Place> = arrivals.iter().copied().zip(self.count..).collect();
        self.count += arrivals.len() as u64;
        places.sort_unstable();
        self.fragments.extend(&places);
        if is_complete && let Some(first) = places.first() {
            self.first.insert(*first);
            self.datagrams.insert(number, places);
        }
    }

    /// Returns whether the datagram of packet `number`, whose last fragment arrives now, is complete. A packet
    /// that crossed whole is.
    pub(super) fn accepts(&mut self, number: u64) -> bool {
        let Some(places) = self.datagrams.remove(&number) else { return true };
        let accepted = places.windows(2).all(|pair| self.are_close(pair[0], pair[1]));
        if let Some(first) = places.first() {
            self.first.remove(first);
        }
        accepted
    }

    /// Returns whether few fragments and little time lie between two fragments that follow one another in
    /// their datagram.
    fn are_close(&self, before: Place, after: Place) -> bool {
        let between =
            || self.fragments.range(before..after).skip(1).take(self.max_distance).count();
        let is_near = self.max_distance == 0 || between() < self.max_distance;
        is_near && after.0.since(before.0) <= MAX_WAIT
    }

    /// Removes the fragments that arrived before those of all incomplete datagrams, and before `now`, after which
    /// those of the next ones arrive.
    fn forget_old(&mut self, now: Instant) {
        let oldest = self.first.first().copied().into_iter().chain([(now, 0)]).min();
        while let Some(place) = self.fragments.first().copied()
            && oldest.is_some_and(|oldest| place < oldest)
        {
            self.fragments.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    /// The first fragment of a datagram arrives at 0, others of whole datagrams in pairs, and its second
    /// fragment after `between` of these. Returns whether it is complete.
    fn is_complete_after(between: u64, max_distance: u32) -> bool {
        let mut reassembly = Reassembly::new(max_distance);
        reassembly.expect(1, &[us(0), us(between + 1)], true, us(0));
        for pair in 0..between.div_ceil(2) {
            let last = 2 * pair + 2;
            let arrivals = [us(last - 1), us(last)];
            let count = if last > between { 1 } else { 2 };
            reassembly.expect(pair + 2, &arrivals[..count], count == 2, us(0));
            assert!(count == 1 || reassembly.accepts(pair + 2), "its fragments are neighbours");
        }
        reassembly.accepts(1)
    }

    /// Linux compares a counter after the fragment with that after the one before: 63 fragments between them
    /// are a distance of 64.
    #[test]
    fn a_datagram_is_lost_if_more_than_64_fragments_separate_its_own() {
        assert!(is_complete_after(0, 64));
        assert!(is_complete_after(63, 64));
        assert!(!is_complete_after(64, 64));
        assert!(is_complete_after(5, 6) && !is_complete_after(6, 6));
        assert!(is_complete_after(1000, 0), "0 is no limit");
    }

    #[test]
    fn a_fragment_waits_30_s_at_most() {
        let mut reassembly = Reassembly::new(64);
        reassembly.expect(1, &[us(0), us(30_000_000)], true, us(0));
        reassembly.expect(2, &[us(1), us(30_000_002)], true, us(0));
        assert!(reassembly.accepts(1) && !reassembly.accepts(2));
    }

    #[test]
    fn memory_is_bounded_by_what_is_on_its_way() {
        let mut reassembly = Reassembly::new(64);
        for number in 1..10_000 {
            let is_complete = number % 3 > 0;
            reassembly.expect(number, &[us(number), us(number + 5)], is_complete, us(number));
            if let Some(arrived) = number.checked_sub(6).filter(|arrived| *arrived > 0) {
                assert!(reassembly.accepts(arrived));
            }
            assert!(reassembly.fragments.len() < 40, "{}", reassembly.fragments.len());
        }
    }
}
