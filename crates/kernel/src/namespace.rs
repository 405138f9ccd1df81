//! Network namespaces: which is which, and work in another.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::object::Cookies;

const OWN: &str = "/proc/thread-self/ns/net";

/// Which one: its inode's number is used again when it is gone, and another may have it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The inode of `/proc/PID/ns/net`.
    #[serde(rename = "namespace")]
    pub(crate) inode: u64,
    /// What no other has; nothing, if an older version wrote it down.
    #[serde(default)]
    cookie: Option<u64>,
}

impl Identity {
    /// That of this thread's; without cookies, by the inode alone.
    pub(crate) fn own(cookies: Option<&Cookies>) -> Result<Self, Error> {
        Ok(Self { inode: own()?, cookie: cookies.map(Cookies::own).transpose()? })
    }

    /// Whether both are of the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let cookies = self.cookie.zip(other.cookie);
        self.inode == other.inode && cookies.is_none_or(|(one, another)| one == another)
    }

    /// Does `work` in this one; nothing, if no process is in it any more.
    #[cfg(bpf)]
    pub(crate) fn within(
        &self,
        cookies: Option<&Cookies>,
        work: impl FnOnce() + Send,
    ) -> Result<(), Error> {
        let Some((_, namespace)) = all().find(|(inode, _)| *inode == self.inode) else {
            return Ok(());
        };
        inside(&namespace, || match Self::own(cookies) {
            Ok(found) if !self.is(&found) => Ok(()),
            found => found.map(|_| work()),
        })?
    }
}

/// The inode of this thread's.
pub(crate) fn own() -> Result<u64, Error> {
    Ok(fs::metadata(OWN).map_err(Error::file(OWN))?.ino())
}

/// Does `work` in this namespace.
pub(crate) fn inside<T: Send>(
    namespace: &File,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Error> {
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let entered =
                move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network));
            entered.map(|()| work())
        });
        match worker.join() {
            Ok(done) => done.map_err(|reason| Error::file(OWN)(reason.into())),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// All network namespaces that have a process or a name, with their inodes. One is open at a time: there
/// may be more than files may be.
pub(crate) fn all() -> impl Iterator<Item = (u64, File)> {
    let entries = |path| fs::read_dir(path).into_iter().flatten().flatten();
    let processes = entries("/proc").map(|entry| entry.path().join("ns/net"));
    let paths = processes.chain(entries("/run/netns").map(|entry| entry.path()));
    let mut seen = BTreeSet::new();
    paths.filter_map(move |path| {
        if seen.contains(&fs::metadata(&path).ok()?.ino()) {
            return None;
        }
        // A process may have ended meanwhile, and what is open is not another's.
        let file = File::open(&path).ok()?;
        let inode = file.metadata().ok()?.ino();
        seen.insert(inode).then_some((inode, file))
    })
}

/// A sysctl of this thread's namespace.
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
