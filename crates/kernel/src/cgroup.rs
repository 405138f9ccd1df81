//! Cgroups of version 2.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::Error;

/// Where cgroups are mounted.
pub(crate) fn root() -> Result<PathBuf, Error> {
    // Another mount point's name may be no UTF-8.
    let mounts = fs::read("/proc/self/mounts").unwrap_or_default();
    let mounts = String::from_utf8_lossy(&mounts);
    let of_version_2 = |line: &&str| line.split(' ').nth(2) == Some("cgroup2");
    let mount = mounts.lines().find(of_version_2).and_then(|line| line.split(' ').nth(1));
    mount.map(unescaped).ok_or_else(|| Error::Requirement {
        found: "no cgroups of version 2 are mounted".to_owned(),
        expected: "mount -t cgroup2 none /sys/fs/cgroup",
    })
}

/// What `/proc/self/mounts` means: white space and backslashes are written as three octal digits there.
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

/// A cgroup that is there, by its path or by that within the hierarchy.
pub(crate) fn existing(path: &Path) -> Result<PathBuf, Error> {
    let root = root()?;
    let within = root.join(path.strip_prefix("/").unwrap_or(path));
    // By whatever links.
    let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    [resolved, within]
        .into_iter()
        .find(|path| path.starts_with(&root) && path.join("cgroup.procs").exists())
        .ok_or_else(|| Error::Requirement {
            found: format!("--cgroup {}: no such cgroup", path.display()),
            expected: "the path of one of version 2",
        })
}

/// What its pin is named by.
pub(crate) fn identity(path: &Path) -> Result<u64, Error> {
    Ok(fs::metadata(path).map_err(Error::file(path))?.ino())
}

/// A cgroup that goes when nobody is in it any more, at the latest with the next [`sweep`].
#[derive(Debug)]
pub(crate) struct Own {
    path: PathBuf,
    /// Where this process was, and whoever stays behind goes.
    former: PathBuf,
}

const PREFIX: &str = "unruffled-run-";
const MEMBERS: &str = "cgroup.procs";
/// How often it is tried to move whoever is left out of a cgroup.
const ATTEMPTS: usize = 10;

impl Own {
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

    /// Does `work`, which may start processes, as a member. Where this process cannot leave afterwards,
    /// what `work` gave is dropped.
    pub(crate) fn as_member<T>(&self, work: impl FnOnce() -> T) -> Result<T, Error> {
        enter(&self.path, "0")?;
        let result = work();
        enter(&self.former, "0")?;
        Ok(result)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // A command may leave processes behind, and those may start others meanwhile.
        for _ in 0..ATTEMPTS {
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

/// The cgroup of this process.
fn own_cgroup() -> Result<PathBuf, Error> {
    let file = "/proc/self/cgroup";
    let text = fs::read_to_string(file).map_err(Error::file(file))?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"));
    Ok(root()?.join(path.unwrap_or_default()))
}

/// Moves a process there; `0` is this one.
fn enter(cgroup: &Path, process: &str) -> Result<(), Error> {
    let file = cgroup.join(MEMBERS);
    fs::write(&file, process).map_err(Error::file(file))
}

/// Removes what killed commands left, where nobody is in it; how many there are with somebody in it.
pub(crate) fn sweep() -> Result<usize, Error> {
    fn within(directory: &Path) -> io::Result<usize> {
        let mut left = 0;
        for entry in fs::read_dir(directory)? {
            let (entry, path) = entry.map(|entry| (entry.file_type(), entry.path()))?;
            if !entry?.is_dir() {
                continue;
            }
            // A command that is run may run another.
            left += within(&path).unwrap_or(0);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(PREFIX) {
                // It is refused while somebody is in it.
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
