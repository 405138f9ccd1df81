//! Histograms with prefix sums in O(log bins): RR-TCP takes percentiles of reordering lengths and
//! of round-trip times from them.

/// Counts in bins `1..=bins`, modulo 2^32, in a Fenwick tree.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    tree: Box<[u32]>,
    total: u32,
}

impl Histogram {
    pub(crate) fn new(bins: usize) -> Self {
        Self { tree: vec![0; bins + 1].into_boxed_slice(), total: 0 }
    }

    pub(crate) fn bins(&self) -> usize {
        self.tree.len() - 1
    }

    /// Returns the sum of all counts.
    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    /// Adds `count` to `bin`, or to the last bin if `bin` is beyond it.
    pub(crate) fn add(&mut self, bin: usize, count: u32) {
        self.total = self.total.wrapping_add(count);
        let mut i = bin.clamp(1, self.bins());
        while i < self.tree.len() {
            self.tree[i] = self.tree[i].wrapping_add(count);
            i += i & i.wrapping_neg();
        }
    }

    /// Copies `other`, which has as many bins, without allocating.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.tree.copy_from_slice(&other.tree);
        self.total = other.total;
    }

    /// Halves all counts, rounding up. Existing counts keep their proportions at half the weight.
    /// O(bins).
    pub(crate) fn halve(&mut self) {
        // A node covers the bins of its children and one bin of its own. From the last to the
        // first, this subtracts from each parent what the node added to it, which leaves the counts
        // of the bins.
        let bins = self.bins();
        for i in (1..=bins).rev() {
            let parent = i + (i & i.wrapping_neg());
            if parent <= bins {
                self.tree[parent] -= self.tree[i];
            }
        }
        self.total = 0;
        for count in &mut self.tree[1..] {
            *count = count.div_ceil(2);
            self.total += *count;
        }
        // From the first to the last, this adds them to their parents again.
        for i in 1..=bins {
            let parent = i + (i & i.wrapping_neg());
            if parent <= bins {
                self.tree[parent] += self.tree[i];
            }
        }
    }

    /// Returns the smallest bin up to which at least `share` (0…1) of all counts lie, or `None`
    /// without counts.
    pub(crate) fn percentile(&self, share: f64) -> Option<usize> {
        self.search(self.total, share, |i| self.tree[i])
    }

    /// Returns the same percentile over what was added since the histogram was equal to `earlier`.
    pub(crate) fn percentile_since(&self, earlier: &Self, share: f64) -> Option<usize> {
        let total = self.total.wrapping_sub(earlier.total);
        self.search(total, share, |i| self.tree[i].wrapping_sub(earlier.tree[i]))
    }

    fn search(&self, total: u32, share: f64, node: impl Fn(usize) -> u32) -> Option<usize> {
        if total == 0 {
            return None;
        }
        let target = ((share * f64::from(total)).ceil() as u32).clamp(1, total);
        let mut bin = 0;
        let mut below = 0;
        let mut step = self.bins().next_power_of_two();
        while step > 0 {
            let next = bin + step;
            if next < self.tree.len() && below + node(next) < target {
                below += node(next);
                bin = next;
            }
            step /= 2;
        }
        Some(bin + 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn histogram(lengths: &[usize], bins: usize) -> Histogram {
        let mut h = Histogram::new(bins);
        lengths.iter().for_each(|&length| h.add(length, 1));
        h
    }

    /// Computes the percentile by its definition: sort and count.
    fn naive(samples: &[usize], bins: usize, share: f64) -> Option<usize> {
        let mut sorted: Vec<usize> = samples.iter().map(|&s| s.clamp(1, bins)).collect();
        sorted.sort_unstable();
        let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
        sorted.get(rank - 1).copied()
    }

    #[test]
    fn the_percentile_is_the_smallest_bin_that_reaches_the_share() {
        assert_eq!(Histogram::new(64).percentile(0.9), None);
        // Nine events of 8 packets or fewer, and one of 20.
        let mut h = histogram(&[1, 2, 3, 4, 5, 6, 7, 8, 8, 20], 64);
        assert_eq!(h.percentile(0.9), Some(8));
        assert_eq!(h.percentile(0.91), Some(20));
        assert_eq!(h.percentile(0.0), Some(1));
        let earlier = h.clone();
        assert_eq!(h.percentile_since(&earlier, 0.5), None);
        h.add(5, 1);
        assert_eq!(h.percentile_since(&earlier, 1.0), Some(5));
    }

    #[test]
    fn values_beyond_the_last_bin_count_in_the_last() {
        assert_eq!(histogram(&[1000], 50).percentile(0.5), Some(50));
    }

    #[test]
    fn differences_survive_wrapping_counts() {
        let mut h = Histogram::new(10);
        h.add(2, u32::MAX - 1);
        let earlier = h.clone();
        for bin in [2, 3, 4, 9] {
            h.add(bin, 1);
        }
        assert_eq!(h.total(), 2, "wrapped");
        assert_eq!(h.percentile_since(&earlier, 0.5), Some(3));
        assert_eq!(h.percentile_since(&earlier, 1.0), Some(9));
    }

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_sorted_samples(
            bins in 1_usize..200,
            before in prop::collection::vec(0_usize..250, 0..60),
            after in prop::collection::vec(0_usize..250, 0..60),
            share in 0.0..=1.0_f64,
        ) {
            let earlier = histogram(&before, bins);
            prop_assert_eq!(earlier.percentile(share), naive(&before, bins, share));
            let mut h = earlier.clone();
            after.iter().for_each(|&length| h.add(length, 1));
            prop_assert_eq!(h.percentile_since(&earlier, share), naive(&after, bins, share));
            let all = [before, after].concat();
            prop_assert_eq!(h.total() as usize, all.len());
            prop_assert_eq!(h.percentile(share), naive(&all, bins, share));
        }

        #[test]
        fn halving_halves_every_bin(
            bins in 1_usize..200,
            samples in prop::collection::vec(0_usize..250, 0..120),
            share in 0.0..=1.0_f64,
        ) {
            let mut h = histogram(&samples, bins);
            h.halve();
            let mut counts = vec![0_usize; bins + 1];
            samples.iter().for_each(|&s| counts[s.clamp(1, bins)] += 1);
            let halves = counts.iter().enumerate();
            let left: Vec<usize> =
                halves.flat_map(|(bin, &n)| std::iter::repeat_n(bin, n.div_ceil(2))).collect();
            prop_assert_eq!(h.total() as usize, left.len());
            prop_assert_eq!(h.percentile(share), naive(&left, bins, share));
        }
    }
}
