//! Where what outlives the command is: the BPF file system, mounted if nobody has.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount};

use crate::Error;

const BPFFS: &str = "/sys/fs/bpf";

/// The directory of all pins.
pub(crate) fn directory() -> PathBuf {
    Path::new(BPFFS).join(crate::NAME)
}

/// Where the registration is pinned.
pub(crate) fn registration() -> PathBuf {
    directory().join("congestion_control")
}

/// The last that is mounted on /sys, and hides what was before: its source and its kind.
fn sys_of(mounts: &str) -> Option<(&str, &str)> {
    let fields = |line| {
        let mut fields = str::split_whitespace(line);
        Some((fields.next()?, fields.next()?, fields.next()?))
    };
    let sys = |(source, point, kind)| (point == "/sys").then_some((source, kind));
    mounts.lines().rev().filter_map(fields).find_map(sys)
}

/// What is pinned here is seen by every command and outlives this one, and nobody else can take it away.
pub(crate) fn check() -> Result<(), Error> {
    let device = |path: &str| fs::metadata(path).map(|found| found.dev()).ok();
    // `ip netns exec` mounts a /sys of its own.
    let first = device(&format!("/proc/1/root{BPFFS}"));
    // In a container its root may be out of reach, but not what is mounted there.
    let mounts = |process: &str| fs::read_to_string(format!("/proc/{process}/mounts")).ok();
    let other_sys = match (mounts("1"), mounts("self")) {
        (Some(first), Some(own)) => sys_of(&first) != sys_of(&own),
        _ => false,
    };
    if other_sys || first.is_some() && device(BPFFS) != first {
        return Err(Error::Requirement {
            found: format!("{BPFFS} is this command's own"),
            expected: "that of process 1: `nsenter --net=/run/netns/NAME`, not `ip netns exec NAME`",
        });
    }
    let directory = directory();
    match fs::symlink_metadata(&directory) {
        Ok(found) if !found.is_dir() || found.uid() != 0 || found.mode() & 0o022 != 0 => {
            Err(Error::Requirement {
                found: format!("{} is not root's alone", directory.display()),
                expected: "that it is a directory into which only root may write, or is removed",
            })
        }
        _ => Ok(()),
    }
}

/// Makes the directory of the pins.
pub(crate) fn prepare() -> Result<(), Error> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    if !mounts.lines().any(|line| line.split(' ').nth(1) == Some(BPFFS)) {
        mount("bpf", BPFFS, "bpf", MountFlags::empty(), Some(c"mode=0700"))
            .map_err(|reason| Error::file(BPFFS)(reason.into()))?;
    }
    let directory = directory();
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.map_err(Error::file(&directory))
}

/// All pins but the registration.
pub(crate) fn links() -> Vec<PathBuf> {
    let entries = fs::read_dir(directory()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| *path != registration()).collect()
}

/// Removes the directory, which is empty by now.
pub(crate) fn remove() {
    // If something is in it, then for a reason.
    let _ = fs::remove_dir(directory());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sys_of_a_namespace_is_told_from_the_machines() {
        let machine = "sysfs /sys sysfs rw 0 0\nbpf /sys/fs/bpf bpf rw 0 0\n";
        // `ip netns exec NAME` mounts another on top of it, which it calls NAME.
        let own = format!("{machine}name /sys sysfs rw 0 0\n");
        assert_eq!(sys_of(machine), Some(("sysfs", "sysfs")));
        assert_eq!(sys_of(&own), Some(("name", "sysfs")));
        assert_eq!(sys_of("tmpfs /tmp tmpfs rw 0 0\n"), None);
    }
}
