//! Whether the command begins with a standard output. Rust's runtime opens `/dev/null` in the place of one
//! that is closed, so that all that is printed would be lost without an error; this looks before it does.

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the process began.
pub(crate) fn stdout_is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

extern "C" fn look() {
    let closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
    CLOSED.store(closed, Ordering::Relaxed);
}

/// What the system calls before the runtime begins.
#[expect(unsafe_code, reason = "the section holds pointers to such functions, and this is one")]
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;
