//! Memory that the measured values of an expression take: the engine bounds its own kinds alone.

use std::cell::Cell;

/// Octets that the values of an expression may take at a time.
pub(super) const MOST: usize = if cfg!(test) { 5_000_000 } else { 500_000_000 };

thread_local! {
    /// Octets that values of this thread take, and those that were there before its expression.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static BEFORE: Cell<usize> = const { Cell::new(0) };
}

/// Octets that are counted as long as this lives, and again for each clone.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Held(usize);

impl Held {
    pub(crate) fn new(octets: usize) -> Self {
        HELD.set(HELD.get().wrapping_add(octets));
        Self(octets)
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        Self::new(self.0)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.set(HELD.get().wrapping_sub(self.0));
    }
}

/// An expression begins.
pub(super) fn begin() {
    BEFORE.set(HELD.get());
}

/// Whether the expression's values take more than [`MOST`].
pub(super) fn too_many() -> bool {
    HELD.get().wrapping_sub(BEFORE.get()).cast_signed() > MOST.cast_signed()
}
