//! The memory of the measured values in an expression. The engine bounds only its own types.

use std::cell::Cell;

/// The most octets of the values in an expression at a time.
pub(super) const MAX_OCTETS: usize = if cfg!(test) { 5_000_000 } else { 500_000_000 };

thread_local! {
    /// The octets of this thread's values: now, and before the evaluation began.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static BEFORE: Cell<usize> = const { Cell::new(0) };
}

/// Octets that count until this value is dropped. A clone counts again.
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

/// Marks the beginning of an evaluation.
pub(super) fn begin() {
    BEFORE.set(HELD.get());
}

/// Returns whether the values take more than [`MAX_OCTETS`].
pub(super) fn too_many() -> bool {
    HELD.get().wrapping_sub(BEFORE.get()).cast_signed() > MAX_OCTETS.cast_signed()
}
