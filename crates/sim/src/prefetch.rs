//! Prefetching: loads memory into the caches before it is read.

/// Size of a cache line, in octets.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;

/// Starts loading all of `value` into the caches, without waiting. It does not change results, and has no
/// effect on processors other than x86-64.
#[inline(always)]
#[allow(unsafe_code, reason = "the instruction reads nothing, but its intrinsic is unsafe to call")]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for octet in (0..size_of::<T>()).step_by(CACHE_LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = std::ptr::from_ref(value).cast::<i8>().wrapping_add(octet);
        // SAFETY: `prefetcht0` accepts any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
