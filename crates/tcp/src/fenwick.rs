//! Counts in bins with prefix sums in O(log bins): the cumulative histogram under RR-TCP's
//! percentiles of reordering lengths and of round-trip times.

/// Counts in bins `1..=bins` (a Fenwick tree).
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    tree: Vec<u32>,
    total: u32,
}

impl Histogram {
    pub(crate) fn new(bins: usize) -> Self {
        Self { tree: vec![0; bins + 1], total: 0 }
    }

    pub(crate) fn bins(&self) -> usize {
        self.tree.len() - 1
    }

    /// Counts one in `bin`; bins beyond the last count in the last.
    pub(crate) fn add(&mut self, bin: usize) {
        self.total += 1;
        let mut i = bin.clamp(1, self.bins());
        while i < self.tree.len() {
            self.tree[i] += 1;
            i += i & i.wrapping_neg();
        }
    }

    /// Takes back one `add` of the same bin.
    pub(crate) fn remove(&mut self, bin: usize) {
        self.total -= 1;
        let mut i = bin.clamp(1, self.bins());
        while i < self.tree.len() {
            self.tree[i] -= 1;
            i += i & i.wrapping_neg();
        }
    }

    /// The smallest bin up to which at least `share` (0…1) of all counts lie; none without counts.
    pub(crate) fn percentile(&self, share: f64) -> Option<usize> {
        if self.total == 0 {
            return None;
        }
        let target = ((share * f64::from(self.total)).ceil() as u32).clamp(1, self.total);
        let (mut bin, mut below) = (0, 0);
        let mut step = self.bins().next_power_of_two();
        while step > 0 {
            let next = bin + step;
            if next < self.tree.len() && below + self.tree[next] < target {
                below += self.tree[next];
                bin = next;
            }
            step /= 2;
        }
        Some(bin + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_the_smallest_bin_that_reaches_the_share() {
        let mut h = Histogram::new(64);
        assert_eq!(h.percentile(0.9), None);
        // Nine events of 8 packets or fewer, one of 20.
        for length in [1, 2, 3, 4, 5, 6, 7, 8, 8, 20] {
            h.add(length);
        }
        assert_eq!(h.percentile(0.9), Some(8));
        assert_eq!(h.percentile(0.91), Some(20));
        assert_eq!(h.percentile(0.0), Some(1));
        h.remove(20);
        assert_eq!(h.percentile(1.0), Some(8));
    }

    #[test]
    fn longer_ones_count_in_the_last_bin() {
        let mut h = Histogram::new(50);
        h.add(1000);
        assert_eq!(h.percentile(0.5), Some(50));
    }
}
