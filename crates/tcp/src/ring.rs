//! Ring buffers with one entry per outstanding segment.

use std::collections::VecDeque;

/// Smallest capacity that is allocated, in entries.
const MIN_CAPACITY: usize = 8;

/// Appends `value`. A full ring grows by an eighth, where `push_back` would double it, so that a
/// segment takes little more memory than its own entry.
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
