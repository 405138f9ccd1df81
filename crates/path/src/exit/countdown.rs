//! Countdowns that are ordered by a number, in a treap: a binary search tree by number that is also a heap by
//! random priorities, so that its depth is logarithmic.

use std::cmp::Reverse;

/// Key of a countdown: its number, then its place among those with the same number.
pub(super) type Key = (u64, u64);

/// Index of a node, or [`NONE`].
type Index = u32;

/// Index that stands for an empty tree.
const NONE: Index = u32::MAX;

/// Items with countdowns. Every operation takes logarithmic time.
#[derive(Clone, Debug)]
pub(super) struct Countdowns<T> {
    nodes: Vec<Node<T>>,
    free: Vec<Index>,
    root: Index,
    /// Number of items so far.
    count: u64,
}

#[derive(Clone, Debug)]
struct Node<T> {
    key: Key,
    /// What remains of the countdown. It is over at 0 and below.
    remaining: i64,
    /// Smallest remainder in the subtree.
    min: i64,
    /// Decrement that the children have not yet received.
    pending: i64,
    priority: u64,
    left: Index,
    right: Index,
    item: Option<T>,
}

impl<T> Countdowns<T> {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), free: Vec::new(), root: NONE, count: 0 }
    }

    /// Adds an item, and returns its key.
    pub(super) fn insert(&mut self, number: u64, remaining: u32, item: T) -> Key {
        self.count += 1;
        let key = (number, self.count);
        let remaining = i64::from(remaining);
        let node = Node {
            key,
            remaining,
            min: remaining,
            pending: 0,
            priority: mixed(self.count),
            left: NONE,
            right: NONE,
            item: Some(item),
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.nodes[index as usize] = node;
                index
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as Index - 1
            }
        };
        let (below, above) = self.split(self.root, key);
        let below = self.merge(below, index);
        self.root = self.merge(below, above);
        key
    }

    /// Counts down all items with numbers below `number`.
    pub(super) fn count_down_below(&mut self, number: u64) {
        let (below, above) = self.split(self.root, (number, 0));
        self.decrease(below, 1);
        self.root = self.merge(below, above);
    }

    /// Removes the item with the lowest number whose countdown is over.
    pub(super) fn take_over(&mut self) -> Option<T> {
        let mut index = self.root;
        if index == NONE || self.min(index) > 0 {
            return None;
        }
        loop {
            self.push_down(index);
            let node = &self.nodes[index as usize];
            let (left, right) = (node.left, node.right);
            if self.min(left) <= 0 {
                index = left;
            } else if node.remaining <= 0 {
                return self.remove(node.key);
            } else {
                index = right;
            }
        }
    }

    /// Removes the item with this key, if it is there.
    pub(super) fn remove(&mut self, key: Key) -> Option<T> {
        let (number, place) = key;
        let (below, rest) = self.split(self.root, key);
        let (found, above) = self.split(rest, (number, place + 1));
        self.root = self.merge(below, above);
        let node = self.nodes.get_mut(found as usize)?;
        self.free.push(found);
        node.item.take()
    }

    /// Returns whether there is an item with this key.
    pub(super) fn contains(&self, key: Key) -> bool {
        let mut index = self.root;
        while let Some(node) = self.nodes.get(index as usize) {
            if node.key == key {
                return true;
            }
            index = if key < node.key { node.left } else { node.right };
        }
        false
    }

    /// Returns the smallest remainder in a tree.
    fn min(&self, index: Index) -> i64 {
        self.nodes.get(index as usize).map_or(i64::MAX, |node| node.min)
    }

    /// Decreases all remainders in a tree.
    fn decrease(&mut self, index: Index, by: i64) {
        if let Some(node) = self.nodes.get_mut(index as usize) {
            node.remaining -= by;
            node.min -= by;
            node.pending += by;
        }
    }

    /// Gives a pending decrement to the children of a node.
    fn push_down(&mut self, index: Index) {
        let node = &mut self.nodes[index as usize];
        let pending = std::mem::take(&mut node.pending);
        let (left, right) = (node.left, node.right);
        if pending != 0 {
            self.decrease(left, pending);
            self.decrease(right, pending);
        }
    }

    /// Computes the smallest remainder of a node anew.
    fn update(&mut self, index: Index) {
        let node = &self.nodes[index as usize];
        let min = node.remaining.min(self.min(node.left)).min(self.min(node.right));
        self.nodes[index as usize].min = min;
    }

    /// Splits a tree into the items below `key` and the others.
    fn split(&mut self, index: Index, key: Key) -> (Index, Index) {
        if index == NONE {
            return (NONE, NONE);
        }
        self.push_down(index);
        let node = &self.nodes[index as usize];
        if node.key < key {
            let (below, above) = self.split(node.right, key);
            self.nodes[index as usize].right = below;
            self.update(index);
            (index, above)
        } else {
            let (below, above) = self.split(node.left, key);
            self.nodes[index as usize].left = above;
            self.update(index);
            (below, index)
        }
    }

    /// Joins two trees, of which all items of the first are below those of the second.
    fn merge(&mut self, below: Index, above: Index) -> Index {
        if below == NONE || above == NONE {
            return below.min(above);
        }
        let priority = |index: Index| Reverse(self.nodes[index as usize].priority);
        if priority(below) < priority(above) {
            self.push_down(below);
            let right = self.nodes[below as usize].right;
            self.nodes[below as usize].right = self.merge(right, above);
            self.update(below);
            below
        } else {
            self.push_down(above);
            let left = self.nodes[above as usize].left;
            self.nodes[above as usize].left = self.merge(below, left);
            self.update(above);
            above
        }
    }
}

/// Returns a number without any order, for the priority of node `n` (the finalizer of SplitMix64).
fn mixed(n: u64) -> u64 {
    let mut bits = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Operation {
        Insert(u64, u32),
        CountDownBelow(u64),
        TakeOver,
        Remove(usize),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            3 => (0_u64..60, 1_u32..12).prop_map(|(n, left)| Operation::Insert(n, left)),
            4 => (0_u64..60).prop_map(Operation::CountDownBelow),
            3 => Just(Operation::TakeOver),
            1 => (0_usize..40).prop_map(Operation::Remove),
        ]
    }

    proptest! {
        #[test]
        fn countdowns_are_those_of_a_sorted_list(
            operations in prop::collection::vec(operation(), 1..300),
        ) {
            let mut countdowns = Countdowns::new();
            let mut list: Vec<(Key, i64)> = Vec::new();
            for operation in operations {
                match operation {
                    Operation::Insert(number, remaining) => {
                        let item = (number, remaining);
                        let key = countdowns.insert(number, remaining, item);
                        let place = list.partition_point(|(other, _)| *other < key);
                        list.insert(place, (key, remaining.into()));
                    }
                    Operation::CountDownBelow(number) => {
                        countdowns.count_down_below(number);
                        for ((other, _), remaining) in &mut list {
                            *remaining -= i64::from(*other < number);
                        }
                    }
                    Operation::TakeOver => {
                        let place = list.iter().position(|(_, remaining)| *remaining <= 0);
                        let expected = place.map(|place| list.remove(place).0.0);
                        prop_assert_eq!(countdowns.take_over().map(|(number, _)| number), expected);
                    }
                    Operation::Remove(place) => {
                        let key = list.get(place).map_or((70, 0), |(key, _)| *key);
                        let is_there = place < list.len();
                        prop_assert_eq!(countdowns.contains(key), is_there);
                        prop_assert_eq!(countdowns.remove(key).is_some(), is_there);
                        list.retain(|(other, _)| *other != key);
                        prop_assert!(!countdowns.contains(key));
                    }
                }
            }
        }
    }

    #[test]
    fn the_tree_is_shallow_although_numbers_rise() {
        let mut countdowns = Countdowns::new();
        for number in 0..10_000 {
            countdowns.insert(number, 1, ());
        }
        fn depth(tree: &Countdowns<()>, index: Index) -> usize {
            let node = tree.nodes.get(index as usize);
            node.map_or(0, |node| 1 + depth(tree, node.left).max(depth(tree, node.right)))
        }
        let deepest = depth(&countdowns, countdowns.root);
        assert!(deepest < 50, "{deepest}");
    }
}
