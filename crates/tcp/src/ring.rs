//! Ring buffers with one entry per outstanding segment, or fewer.

use std::collections::VecDeque;

/// Smallest capacity of a ring with an entry for each outstanding segment.
const MIN_CAPACITY: usize = 8;

/// Appends `value`. A full ring grows by an eighth, where `push_back` would double it, so that a
/// segment takes little more memory than its own entry.
#[inline]
pub(crate) fn push<T>(ring: &mut VecDeque<T>, value: T) {
    reserve(ring, MIN_CAPACITY, 8);
    ring.push_back(value);
}

/// Makes room for another entry: at first for `least`, then for one in `share` of those in the ring.
#[inline]
pub(crate) fn reserve<T>(ring: &mut VecDeque<T>, least: usize, share: usize) {
    if ring.len() == ring.capacity() {
        grow(ring, least, share);
    }
}

#[cold]
#[inline(never)]
fn grow<T>(ring: &mut VecDeque<T>, least: usize, share: usize) {
    let len = ring.len();
    ring.reserve_exact(if len < least { least - len } else { (len / share).max(2) });
}
