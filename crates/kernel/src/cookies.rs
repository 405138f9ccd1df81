//! The kernel's unique cookies of network namespaces, read by a BPF program. Without BPF programs,
//! `absent_cookies.rs` replaces this module.

use libbpf_rs::{Object, ProgramInput};

use crate::Error;
use crate::loading::{NAMESPACE, load, open, program, refused};

/// Program that reads the kernel's unique cookies of network namespaces.
pub(crate) struct Cookies(Object);

impl Cookies {
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self(load(open(NAMESPACE)?)?))
    }

    /// Returns the cookie of this thread's namespace.
    pub(crate) fn own(&self) -> Result<u64, Error> {
        let mut cookie = [0; 8];
        let input = ProgramInput { context_in: Some(&mut cookie), ..ProgramInput::default() };
        let ran = program(&self.0, "read_cookie")?.test_run(input);
        ran.map_err(refused("the network namespace"))?;
        Ok(u64::from_ne_bytes(cookie))
    }
}
