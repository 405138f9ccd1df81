//! Ranges of octets of a stream.

use std::collections::BTreeMap;

/// A set of octets, as ranges that neither touch nor overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds the octets from `from` up to `to`, and returns the ranges of those that were not there.
    pub(super) fn add(&mut self, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut fresh = Vec::new();
        if from >= to {
            return fresh;
        }
        let (mut start, mut end, mut next) = (from, to, from);
        // Ranges that begin before the end and reach the beginning.
        let before = self.0.range(..=from).next_back().map(|(&left, &right)| (left, right));
        let touching: Vec<(u64, u64)> = before
            .into_iter()
            .filter(|&(_, right)| right >= from)
            .chain(self.0.range(from + 1..=to).map(|(&left, &right)| (left, right)))
            .collect();
        for (left, right) in touching {
            if left > next {
                fresh.push((next, left));
            }
            next = next.max(right);
            start = start.min(left);
            end = end.max(right);
            self.0.remove(&left);
        }
        if next < to {
            fresh.push((next, to));
        }
        self.0.insert(start, end);
        fresh
    }

    /// Removes all octets below `to`.
    pub(super) fn remove_below(&mut self, to: u64) {
        while let Some(first) = self.0.first_entry() {
            match *first.get() {
                right if right <= to => drop(first.remove()),
                right if *first.key() < to => {
                    first.remove();
                    self.0.insert(to, right);
                }
                _ => break,
            }
        }
    }

    /// Returns whether all octets from `from` up to `to` are there.
    pub(super) fn contains(&self, from: u64, to: u64) -> bool {
        self.0.range(..=from).next_back().is_some_and(|(_, &right)| right >= to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_there_is_fresh() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.add(10, 20), [(10, 20)]);
        assert_eq!(ranges.add(30, 40), [(30, 40)]);
        assert_eq!(ranges.add(12, 18), []);
        assert_eq!(ranges.add(15, 35), [(20, 30)]);
        assert!(ranges.contains(10, 40) && !ranges.contains(9, 11));
        assert_eq!(ranges.add(5, 50), [(5, 10), (40, 50)]);
        assert_eq!(ranges.add(50, 60), [(50, 60)]);
        assert_eq!(ranges.0.len(), 1);
        ranges.remove_below(55);
        assert_eq!(ranges.add(0, 60), [(0, 55)]);
        assert_eq!(ranges.add(7, 7), []);
    }
}
