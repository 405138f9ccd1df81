//! Replaces `cookies.rs` in builds without BPF programs.

use crate::Error;
use crate::error::missing;

/// Program that reads the cookies. Never exists in this build.
pub(crate) struct Cookies(());

impl Cookies {
    pub(crate) fn new() -> Result<Self, Error> {
        missing()
    }

    pub(crate) fn own(&self) -> Result<u64, Error> {
        missing()
    }
}
