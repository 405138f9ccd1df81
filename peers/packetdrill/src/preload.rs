//! What stands in for the C library when the plug-in is also loaded by `LD_PRELOAD`.
//!
//! packetdrill asks for TCP_INFO by the C library's getsockopt(), whatever the table says. It also
//! spins on times() for a tenth of a second as it starts, locks its memory and takes a real-time
//! priority: all for tests in real time, and nothing that virtual time needs. `unsafe`, because
//! these are symbols of C.

use std::os::raw::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicI64, Ordering};

use crate::{clock, interface};

/// # Safety
/// That of the C library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    at: *mut u8,
    len: *mut u32,
) -> c_int {
    let ours = clock::host().descriptors.contains_key(&fd);
    // SAFETY: the arguments are passed on as they came.
    unsafe {
        if ours {
            interface::getsockopt(std::ptr::null_mut(), fd, level, name, at, len)
        } else {
            libc::syscall(libc::SYS_getsockopt, fd, level, name, at, len) as c_int
        }
    }
}

static TICKS: AtomicI64 = AtomicI64::new(0);

/// A clock that is always a tick further.
#[unsafe(no_mangle)]
pub extern "C" fn times(_: *mut c_void) -> c_long {
    TICKS.fetch_add(1, Ordering::Relaxed)
}

/// No priority is taken.
#[unsafe(no_mangle)]
pub extern "C" fn sched_setscheduler(_: c_int, _: c_int, _: *const c_void) -> c_int {
    0
}

/// No memory is locked.
#[unsafe(no_mangle)]
pub extern "C" fn mlockall(_: c_int) -> c_int {
    0
}
