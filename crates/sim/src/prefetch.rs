//! Asks the processor for memory before it is read.

/// How much memory a cache loads at a time, in octets.
const LINE: usize = 64;

/// Begins to bring all of `value` into the caches, and does not wait for it. It means nothing to what a
/// program does, and on processors other than x86-64 it is nothing at all.
#[inline(always)]
#[allow(unsafe_code, reason = "the instruction reads nothing, but its intrinsic is unsafe to call")]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for octet in (0..size_of::<T>()).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = std::ptr::from_ref(value).cast::<i8>().wrapping_add(octet);
        // SAFETY: `prefetcht0` may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
