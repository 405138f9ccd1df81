//! Detects a closed standard output. Rust's runtime replaces it by `/dev/null`, so that output would be lost
//! without an error. This module checks before the runtime starts.

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns whether standard output was closed when the process started.
pub(crate) fn stdout_is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

extern "C" fn check() {
    let closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
    CLOSED.store(closed, Ordering::Relaxed);
}

/// Function that the system calls before the runtime starts.
#[expect(unsafe_code, reason = "the section holds pointers to such functions, and this is one")]
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static CHECK: extern "C" fn() = check;
