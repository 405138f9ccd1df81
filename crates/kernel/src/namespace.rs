//! Network namespaces: which is which, and work in another.

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

/// All network namespaces that have a process or are mounted here, by a name or otherwise, with their
/// inodes. One is open at a time: there may be more than files may be.
pub(crate) fn all() -> impl Iterator<Item = (u64, File)> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = processes.map(|entry| entry.path().join("ns/net"));
    let mounts = fs::read_to_string("/proc/thread-self/mountinfo").unwrap_or_default();
    let paths = processes.chain(mounted(&mounts));
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

/// Where network namespaces are mounted, by proc_pid_mountinfo(5).
fn mounted(mounts: &str) -> Vec<PathBuf> {
    let place = |line: &str| {
        let mut fields = line.split(' ').skip(3);
        let (root, place) = (fields.next()?, fields.next()?);
        root.starts_with("net:[").then(|| unescaped(place))
    };
    mounts.lines().filter_map(place).collect()
}

/// A path whose blanks and backslashes are written in octal.
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
