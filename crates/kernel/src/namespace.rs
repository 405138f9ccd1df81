//! Network namespaces: their identity, and work in another one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde::{Deserialize, Serialize};

use crate::live::Live;
#[cfg(bpf)]
use crate::search;
use crate::{Error, requirements};

pub(crate) const OWN_NAMESPACE: &str = "/proc/thread-self/ns/net";

/// Directory of the mounts that `ip netns` makes.
const NAMED: &str = "/run/netns";

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
    enter(namespace, work).map_err(|reason| Error::file(OWN_NAMESPACE)(reason.into()))
}

/// Runs `work` on a new thread in this namespace. The error is that of the system call.
fn enter<T: Send>(namespace: &File, work: impl FnOnce() -> T + Send) -> Result<T, Errno> {
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let entered =
                move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network));
            entered.map(|()| work())
        });
        match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// A network namespace that a user names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A name of `ip netns`, or a path if it contains a slash.
    Named(PathBuf),
    /// The namespace of a process.
    Process(u32),
}

impl Target {
    /// Opens the namespace.
    ///
    /// # Errors
    /// If there is no such namespace.
    pub fn open(&self) -> Result<File, Error> {
        let (path, found) = match self {
            Self::Named(name) => {
                let is_path = name.as_os_str().as_bytes().contains(&b'/');
                let path = if is_path { name.clone() } else { Path::new(NAMED).join(name) };
                let found = format!("--netns {}: {}", name.display(), path.display());
                (path, found)
            }
            Self::Process(pid) => (format!("/proc/{pid}/ns/net").into(), format!("--pid {pid}")),
        };
        let expected = match self {
            Self::Named(_) => "a name of `ip netns list`, or the path of a network namespace",
            Self::Process(_) => "the number of a process",
        };
        let refusal =
            |reason: String| Error::Requirement { found: format!("{found}: {reason}"), expected };
        // The path may lead to any file, such as a FIFO, which would block.
        let flags = OFlags::NONBLOCK.bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&path);
        let file = file.map_err(|reason| match (reason.kind(), self) {
            (ErrorKind::NotFound, Self::Named(_)) => refusal("does not exist".to_owned()),
            (ErrorKind::NotFound, Self::Process(_)) => refusal("no such process".to_owned()),
            _ => refusal(reason.to_string()),
        })?;
        match enter(&file, || ()) {
            Ok(()) => Ok(file),
            Err(Errno::INVAL) => Err(refusal("not a network namespace".to_owned())),
            Err(reason) => Err(refusal(io::Error::from(reason).to_string())),
        }
    }

    /// Returns the inode of the namespace.
    ///
    /// # Errors
    /// If there is no such namespace.
    pub fn inode(&self) -> Result<u64, Error> {
        requirements::check_root()?;
        let file = self.open()?;
        let about = file.metadata();
        Ok(about.map_err(Error::file(OWN_NAMESPACE))?.ino())
    }
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
