//! Rings of what there is of each outstanding segment.

use std::collections::VecDeque;

/// The smallest capacity that is allocated.
const MIN_CAPACITY: usize = 8;

/// Appends `value`. A ring that is full grows by an eighth, where `push_back` would double it: so a segment
/// takes little more than its own octets.
#[inline]
pub(crate) fn push<T>(ring: &mut VecDeque<T>, value: T) {
    if ring.len() == ring.capacity() {
        grow(ring);
    }
    ring.push_back(value);
}

#[cold]
#[inline(never)]
fn grow<T>(ring: &mut VecDeque<T>) {
    let len = ring.len();
    ring.reserve_exact(if len < MIN_CAPACITY { MIN_CAPACITY - len } else { (len / 8).max(2) });
}
