//! Control groups of version 2.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::Error;

/// Returns the mount point of the cgroups.
pub(crate) fn root() -> Result<PathBuf, Error> {
    // The name of another mount point may not be UTF-8.
    let mounts = fs::read("/proc/self/mounts").unwrap_or_default();
    let mounts = String::from_utf8_lossy(&mounts);
    let is_version_2 = |line: &&str| line.split(' ').nth(2) == Some("cgroup2");
    let mount = mounts.lines().find(is_version_2).and_then(|line| line.split(' ').nth(1));
    mount.map(unescaped).ok_or_else(|| Error::Requirement {
        found: "no cgroups of version 2 are mounted".to_owned(),
        expected: "mount -t cgroup2 none /sys/fs/cgroup",
    })
}

/// Decodes a path of `/proc/self/mounts`, where white space and backslashes are three octal digits.
fn unescaped(path: &str) -> PathBuf {
    let mut parts = path.split('\\');
    let mut octets = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        let (code, rest) = code.map_or((b'\\', part), |code| (code, &part[3..]));
        octets.push(code);
        octets.extend_from_slice(rest.as_bytes());
    }
    OsString::from_vec(octets).into()
}

/// Returns an existing cgroup, given its path or its path within the hierarchy.
pub(crate) fn existing(path: &Path) -> Result<PathBuf, Error> {
    let root = root()?;
    let within = root.join(path.strip_prefix("/").unwrap_or(path));
    // The path may contain symbolic links.
    let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    [resolved, within]
        .into_iter()
        .find(|path| path.starts_with(&root) && path.join("cgroup.procs").exists())
        .ok_or_else(|| Error::Requirement {
            found: format!("--cgroup {}: no such cgroup", path.display()),
            expected: "the path of one of version 2",
        })
}

/// Returns the number in the name of a cgroup's pin.
pub(crate) fn identity(path: &Path) -> Result<u64, Error> {
    Ok(fs::metadata(path).map_err(Error::file(path))?.ino())
}

/// The cgroup of a command. It is removed when it is empty, at the latest by the next [`sweep`].
#[derive(Debug)]
pub(crate) struct RunCgroup {
    path: PathBuf,
    /// Cgroup of this process, to which remaining processes are moved.
    former: PathBuf,
}

const PREFIX: &str = "unruffled-run-";
const MEMBERS: &str = "cgroup.procs";
/// Maximum number of attempts to move the remaining processes out of a cgroup.
const MAX_ATTEMPTS: usize = 10;

impl RunCgroup {
    pub(crate) fn new() -> Result<Self, Error> {
        sweep()?;
        let former = own_cgroup()?;
        let path = former.join(format!("{PREFIX}{}", std::process::id()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(Error::file(path)(error)),
            _ => Ok(Self { path, former }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work`, which may start processes, as a member of the cgroup. If this process cannot leave the
    /// cgroup afterwards, the result of `work` is dropped.
    pub(crate) fn as_member<T>(&self, work: impl FnOnce() -> T) -> Result<T, Error> {
        enter(&self.path, "0")?;
        let result = work();
        enter(&self.former, "0")?;
        Ok(result)
    }
}

impl Drop for RunCgroup {
    fn drop(&mut self) {
        // A command may leave processes behind, which may start others in the meantime.
        for _ in 0..MAX_ATTEMPTS {
            if fs::remove_dir(&self.path).is_ok() {
                break;
            }
            let members = fs::read_to_string(self.path.join(MEMBERS)).unwrap_or_default();
            for process in members.lines() {
                let _ = enter(&self.former, process);
            }
        }
    }
}

/// Returns the cgroup of this process.
fn own_cgroup() -> Result<PathBuf, Error> {
    let file = "/proc/self/cgroup";
    let text = fs::read_to_string(file).map_err(Error::file(file))?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"));
    Ok(root()?.join(path.unwrap_or_default()))
}

/// Moves a process to the cgroup; `0` is this process.
fn enter(cgroup: &Path, process: &str) -> Result<(), Error> {
    let file = cgroup.join(MEMBERS);
    fs::write(&file, process).map_err(Error::file(file))
}

/// Removes empty cgroups of killed commands, and returns the number of those that are not empty.
pub(crate) fn sweep() -> Result<usize, Error> {
    fn within(directory: &Path) -> io::Result<usize> {
        let mut left = 0;
        for entry in fs::read_dir(directory)? {
            let (entry, path) = entry.map(|entry| (entry.file_type(), entry.path()))?;
            if !entry?.is_dir() {
                continue;
            }
            // A command under `run` may use `run` itself.
            left += within(&path).unwrap_or(0);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(PREFIX) {
                // The kernel refuses while a process is in it.
                left += usize::from(fs::remove_dir(&path).is_err());
            }
        }
        Ok(left)
    }
    let root = root()?;
    within(&root).map_err(Error::file(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_may_have_white_space_in_its_name() {
        for (written, path) in [
            ("/sys/fs/cgroup", "/sys/fs/cgroup"),
            (r"/a\040b\011/c\012", "/a b\t/c\n"),
            (r"/\134040\134", r"/\040\"),
        ] {
            assert_eq!(unescaped(written), Path::new(path), "{written}");
        }
    }
}
