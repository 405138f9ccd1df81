//! Sets of stream offsets.

use std::collections::BTreeMap;

/// A set of offsets, as ranges that neither overlap nor touch.
#[derive(Debug, Default)]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds `left..right`.
    pub fn add(&mut self, mut left: u64, mut right: u64) {
        if left >= right {
            return;
        }
        while let Some((&l, &r)) = self.0.range(..=right).next_back().filter(|&(_, &r)| r >= left) {
            self.0.remove(&l);
            left = left.min(l);
            right = right.max(r);
        }
        self.0.insert(left, right);
    }

    /// Returns whether the set contains all of `left..right`.
    pub fn contain(&self, left: u64, right: u64) -> bool {
        self.0.range(..=left).next_back().is_some_and(|(_, &r)| right <= r)
    }

    /// Removes `left..right`, which is one of the ranges or the end of one.
    pub fn remove(&mut self, left: u64, right: u64) {
        let held = self.0.range(..=left).next_back().map(|(&l, &r)| (l, r));
        let Some((l, _)) = held.filter(|&(_, r)| r == right) else {
            panic!("{left}..{right} was not held")
        };
        self.0.remove(&l);
        self.add(l, left);
    }

    /// Returns whether the set contains any of `left..right`.
    pub fn meet(&self, left: u64, right: u64) -> bool {
        self.0.range(..right).next_back().is_some_and(|(_, &r)| r > left)
    }

    /// Returns the first offset that is not in the set.
    pub fn prefix(&self) -> u64 {
        self.0.get(&0).copied().unwrap_or(0)
    }
}
