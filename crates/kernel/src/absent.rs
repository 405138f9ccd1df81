//! Replaces `object.rs`, `dump.rs`, `events.rs` and `existing.rs` in builds without BPF programs.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use crate::error::missing;
use crate::state::{Filters, State};
use crate::{Error, Growth};

/// A registration of the congestion control. Never exists in this build.
#[derive(Debug)]
pub(crate) struct Registered(());

impl Registered {
    pub(crate) fn new(_: Growth) -> Result<Self, Error> {
        missing()
    }

    pub(crate) fn pin(self, _: &Path) -> Result<(), Error> {
        missing()
    }
}

/// Links of programs. Never exist in this build.
#[derive(Debug)]
pub(crate) struct Links(());

impl Links {
    pub(crate) fn pin(self, _: &Path, _: &str) -> Result<(), Error> {
        missing()
    }
}

pub(crate) fn build() -> u64 {
    0
}

pub(crate) fn unregister(_: &Path, _: Growth) -> Result<(), Error> {
    missing()
}

pub(crate) fn pinned(_: &Path) -> Option<OwnedFd> {
    None
}

pub(crate) fn registrations(_: Growth) -> Vec<u32> {
    Vec::new()
}

pub(crate) fn unregister_left(_: Growth) {}

pub(crate) fn is_attached(pin: &Path) -> bool {
    pin.exists()
}

pub(crate) fn unpin(_: &Path) -> Result<(), Error> {
    missing()
}

pub(crate) fn choose_in_cgroup(_: &Path, _: Growth) -> Result<Links, Error> {
    missing()
}

pub(crate) fn take_out_timestamps(_: &mut State) -> Result<Links, Error> {
    missing()
}

pub(crate) fn remove_filters(_: &[Filters]) -> Result<(), Error> {
    missing()
}

pub(crate) struct Listeners(());

impl Listeners {
    pub(crate) fn new() -> Result<Self, Error> {
        missing()
    }

    pub(crate) fn reset(&self) -> Result<(), Error> {
        missing()
    }
}

/// What the kernel has about connections.
#[derive(Default)]
pub(crate) struct Dump {
    pub(crate) parts: Vec<Part>,
    pub(crate) others: usize,
}

/// Connections of one registration.
pub(crate) struct Part {
    pub(crate) records: Vec<u8>,
    pub(crate) totals: Option<Ended>,
}

/// Totals of a registration's connections that have ended.
pub(crate) struct Ended {
    pub(crate) map: u32,
    pub(crate) growth: Growth,
    pub(crate) octets: Vec<u8>,
    pub(crate) reported: Vec<u8>,
}

pub(crate) fn dump() -> Result<Dump, Error> {
    missing()
}

pub(crate) fn store_reported(_: u32, _: &[u8]) {}

/// Source of events about network namespaces. Never exists in this build.
pub(crate) struct Events(());

impl Events {
    pub(crate) fn new() -> Result<Self, Error> {
        missing()
    }

    pub(crate) fn with_descriptor<T>(&self, work: impl FnOnce(Option<BorrowedFd<'_>>) -> T) -> T {
        work(None)
    }

    pub(crate) fn drop_all(&self) {}
}

/// Programs that switch open connections. Never exist in this build.
pub(crate) struct Connections(());

impl Connections {
    pub(crate) fn new(_: Growth, _: Option<u64>) -> Result<Self, Error> {
        missing()
    }

    pub(crate) fn earlier() -> Result<Option<Self>, Error> {
        Ok(None)
    }

    pub(crate) fn switch_over(&self, _: &str) -> Result<usize, Error> {
        missing()
    }

    pub(crate) fn switch_back(&self) -> Result<usize, Error> {
        missing()
    }
}
