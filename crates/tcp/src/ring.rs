//! Rings of what there is of each outstanding segment.

use std::collections::VecDeque;

/// Appends `value`. A ring that is full grows by a sixteenth, where `push_back` would double it: so a
/// segment takes little more than its own octets, and a window that has been as large allocates nothing.
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
    ring.reserve_exact(ring.len() / 16 + 1);
}
