//! Network namespaces: their identity, and work in another one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde::{Deserialize, Serialize};

use crate::live::Live;
#[cfg(bpf)]
use crate::search;
use crate::{Error, Growth};

pub(crate) const OWN_NAMESPACE: &str = "/proc/thread-self/ns/net";

/// Identity of a network namespace. The inode alone is not enough: another namespace may get its number
/// later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Inode of `/proc/PID/ns/net`.
    #[serde(rename = "namespace")]
    pub(crate) inode: u64,
    /// The kernel's unique cookie. `None` in files of an older version.
    #[serde(default)]
    cookie: Option<u64>,
}

/// All network namespaces of the machine, including those without a process or a mount.
#[derive(Clone, Debug, Default)]
pub(crate) struct Namespaces {
    pub(crate) all: Vec<Identity>,
    /// The one in which the machine was booted. New namespaces inherit its default congestion control.
    pub(crate) first: Option<Identity>,
    /// Those whose default is one of our congestion controls.
    pub(crate) defaults: BTreeMap<Identity, Growth>,
}

impl Identity {
    #[cfg(bpf)]
    pub(crate) fn new(inode: u64, cookie: u64) -> Self {
        Self { inode, cookie: Some(cookie) }
    }

    /// Returns the identity of this thread's namespace; without `live`, from the inode alone.
    pub(crate) fn own(live: Option<&Live>) -> Result<Self, Error> {
        Ok(Self { inode: own()?, cookie: live.map(Live::own_cookie).transpose()? })
    }

    /// Returns whether both identify the same namespace.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        let cookies = self.cookie.zip(other.cookie);
        self.inode == other.inode && cookies.is_none_or(|(one, another)| one == another)
    }

    /// Runs `work` in this namespace. Does nothing if it cannot be found.
    #[cfg(bpf)]
    pub(crate) fn within(
        &self,
        live: Option<&Live>,
        work: impl FnOnce() + Send,
    ) -> Result<(), Error> {
        let Some((_, namespace)) = search::find([self.inode].into()).next() else {
            return Ok(());
        };
        inside(&namespace, || match Self::own(live) {
            Ok(found) if !self.matches(&found) => Ok(()),
            found => found.map(|_| work()),
        })?
    }
}

/// Returns the inode of this thread's namespace.
pub(crate) fn own() -> Result<u64, Error> {
    Ok(fs::metadata(OWN_NAMESPACE).map_err(Error::file(OWN_NAMESPACE))?.ino())
}

/// Runs `work` on a new thread in this namespace.
///
/// # Errors
/// If the process may not enter it.
pub fn inside<T: Send>(namespace: &File, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    on_a_journey(|| move_to(namespace).map(|()| work()))
}

/// Moves this thread to a namespace.
pub(crate) fn move_to(namespace: &File) -> Result<(), Error> {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(|reason| Error::file(OWN_NAMESPACE)(reason.into()))
}

/// Runs `work` on a new thread, which may move to other namespaces. Its end leaves the last one.
pub(crate) fn on_a_journey<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Runs `work` in each of these namespaces, with its inode and whether it could be entered.
pub(crate) fn in_each<Found: Iterator<Item = (u64, File)>>(
    find: impl FnOnce() -> Found + Send,
    mut work: impl FnMut(u64, Result<(), Error>) + Send,
) {
    on_a_journey(|| find().for_each(|(inode, namespace)| work(inode, move_to(&namespace))));
}

/// Returns a sysctl of this thread's namespace.
pub(crate) fn sysctl(key: &str) -> Result<String, Error> {
    let path = path(key);
    let value = fs::read_to_string(&path).map_err(Error::file(&path))?;
    Ok(value.trim().to_owned())
}

/// Sets a sysctl of this thread's namespace.
pub(crate) fn set_sysctl(key: &str, value: &str) -> Result<(), Error> {
    let path = path(key);
    fs::write(&path, value).map_err(Error::file(&path))
}

fn path(key: &str) -> String {
    format!("/proc/sys/net/ipv4/{key}")
}
