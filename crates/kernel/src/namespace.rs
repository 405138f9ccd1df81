//! Network namespaces: their identity, and work in another one.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::cookies::Cookies;

const OWN_NAMESPACE: &str = "/proc/thread-self/ns/net";

/// Identity of a network namespace. The inode alone is not enough: another namespace may get its number
/// later.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Inode of `/proc/PID/ns/net`.
    #[serde(rename = "namespace")]
    pub(crate) inode: u64,
    /// The kernel's unique cookie. `None` in files of an older version.
    #[serde(default)]
    cookie: Option<u64>,
}

impl Identity {
    /// Returns the identity of this thread's namespace; without `cookies`, from the inode alone.
    pub(crate) fn own(cookies: Option<&Cookies>) -> Result<Self, Error> {
        Ok(Self { inode: own()?, cookie: cookies.map(Cookies::own).transpose()? })
    }

    /// Returns whether both identify the same namespace.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        let cookies = self.cookie.zip(other.cookie);
        self.inode == other.inode && cookies.is_none_or(|(one, another)| one == another)
    }

    /// Runs `work` in this namespace. Does nothing if no process is left in it.
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
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let entered =
                move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network));
            entered.map(|()| work())
        });
        match worker.join() {
            Ok(done) => done.map_err(|reason| Error::file(OWN_NAMESPACE)(reason.into())),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Returns all network namespaces that have a process or a mount, with their inodes. One is open at a time,
/// since there may be more namespaces than a process may have open files.
pub fn all() -> impl Iterator<Item = (u64, File)> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = processes.map(|entry| entry.path().join("ns/net"));
    let mounts = fs::read_to_string("/proc/thread-self/mountinfo").unwrap_or_default();
    let paths = processes.chain(mounted(&mounts));
    let mut seen = BTreeSet::new();
    paths.filter_map(move |path| {
        if seen.contains(&fs::metadata(&path).ok()?.ino()) {
            return None;
        }
        // The process may have ended since. An open file still identifies the namespace.
        let file = File::open(&path).ok()?;
        let inode = file.metadata().ok()?.ino();
        seen.insert(inode).then_some((inode, file))
    })
}

/// Returns the mount points of network namespaces; proc_pid_mountinfo(5) has the format.
fn mounted(mounts: &str) -> Vec<PathBuf> {
    let place = |line: &str| {
        let mut fields = line.split(' ').skip(3);
        let root = fields.next()?;
        let place = fields.next()?;
        root.starts_with("net:[").then(|| unescaped(place))
    };
    mounts.lines().filter_map(place).collect()
}

/// Decodes a path whose white space and backslashes are octal escapes.
fn unescaped(written: &str) -> PathBuf {
    let mut path = Vec::new();
    let mut rest = written.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(octet) => {
                path.push(octet);
                rest = &behind[3..];
            }
            None => {
                path.push(*first);
                rest = behind;
            }
        }
    }
    OsString::from_vec(path).into()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounted_namespaces_are_found_by_their_roots() {
        let mounts = "22 1 0:20 / /proc rw shared:5 - proc proc rw\n\
                      50 22 0:4 net:[4026532226] /run/netns/red rw shared:9 - nsfs nsfs rw\n\
                      51 22 0:4 mnt:[4026532227] /run/mnt rw - nsfs nsfs rw\n\
                      52 22 0:4 net:[4026532228] /tmp/a\\040b\\134 rw - nsfs nsfs rw\n";
        let expected = ["/run/netns/red", r"/tmp/a b\"].map(PathBuf::from);
        assert_eq!(mounted(mounts), expected);
        assert!(mounted("50 22").is_empty());
    }
}
