//! Replaces `live.rs` in builds without BPF programs.

use crate::Error;
use crate::error::missing;
use crate::namespace::Namespaces;

/// Programs that read the kernel's list of network namespaces. Never exist in this build.
pub(crate) struct Live(());

impl Live {
    pub(crate) fn new() -> Result<Self, Error> {
        missing()
    }

    pub(crate) fn own_cookie(&self) -> Result<u64, Error> {
        missing()
    }

    pub(crate) fn namespaces(&self) -> Result<Namespaces, Error> {
        missing()
    }
}
