//! The clock: quiche asks the system for the time, in each call, and has no hook for another. This
//! program answers `clock_gettime` itself, so that the standard library's `Instant::now` returns the
//! time of the race. A program's own function comes before the one of the C library.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

/// What the clock shows at the start of the race, since instants before it must exist, too.
const START: u64 = 1_000_000_000_000_000_000;

static NOW: AtomicU64 = AtomicU64::new(START);

/// Sets the clock to `now` nanoseconds after the start.
pub fn set(now: u64) {
    NOW.store(START + now, Ordering::Relaxed);
}

/// The time of the race on every clock.
#[unsafe(no_mangle)]
extern "C" fn clock_gettime(_: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    let now = NOW.load(Ordering::Relaxed);
    let value = libc::timespec {
        tv_sec: (now / 1_000_000_000) as libc::time_t,
        tv_nsec: (now % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: the caller of clock_gettime passes a place for the time.
    unsafe { time.write(value) };
    0
}
