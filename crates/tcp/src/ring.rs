//! Rings of what there is of each outstanding segment.

use std::collections::VecDeque;

/// Up to this many, rings double: a small window that grows must not allocate time and again.
const SMALL: usize = 256;

/// Appends `value`. A large ring that is full grows by a sixteenth, where `push_back` would double it: so
/// a segment takes little more than its own octets.
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
    ring.reserve_exact(if len < SMALL { len.max(4) } else { len / 16 });
}
