//! Pins in the BPF file system, which outlive the command. The file system is mounted if it is not.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::mount::{MountFlags, mount};

use crate::{Error, Growth};

const BPFFS: &str = "/sys/fs/bpf";

/// Returns the directory of all pins.
pub(crate) fn directory() -> PathBuf {
    Path::new(BPFFS).join("unruffled")
}

/// Returns the path of the pin of a registration.
pub(crate) fn registration(growth: Growth) -> PathBuf {
    directory().join(match growth {
        Growth::Cubic => "congestion_control",
        Growth::Bbr => "congestion_control-bbr",
    })
}

/// Returns the source and the type of the last mount on /sys, which hides earlier ones.
fn sys_of(mounts: &str) -> Option<(&str, &str)> {
    let fields = |line| {
        let mut fields = str::split_whitespace(line);
        Some((fields.next()?, fields.next()?, fields.next()?))
    };
    let sys = |(source, point, kind)| (point == "/sys").then_some((source, kind));
    mounts.lines().rev().filter_map(fields).find_map(sys)
}

/// Checks that the pins are visible to every command and outlive this one, and that only root can remove
/// them.
pub(crate) fn check() -> Result<(), Error> {
    let device = |path: &str| fs::metadata(path).map(|found| found.dev()).ok();
    // `ip netns exec` mounts its own /sys.
    let first = device(&format!("/proc/1/root{BPFFS}"));
    // In a container the root of process 1 may be inaccessible, but its mounts are readable.
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

/// Creates the directory of the pins.
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

/// Returns whether a registration is pinned.
pub(crate) fn has_registration() -> bool {
    Growth::ALL.into_iter().any(|growth| registration(growth).exists())
}

/// Returns all pins except the registrations.
pub(crate) fn links() -> Vec<PathBuf> {
    let entries = fs::read_dir(directory()).into_iter().flatten().flatten();
    let is_registration =
        |path: &PathBuf| Growth::ALL.into_iter().any(|growth| *path == registration(growth));
    entries.map(|entry| entry.path()).filter(|path| !is_registration(path)).collect()
}

/// Returns the beginning of the names of the pins for timestamps in a network namespace.
pub(crate) fn timestamps_prefix(namespace: u64) -> String {
    format!("timestamps-{namespace}")
}

/// Returns whether a pin is for timestamps in the network namespace with this inode.
pub(crate) fn is_of(pin: &Path, namespace: u64) -> bool {
    let name = pin.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(&timestamps_prefix(namespace)).is_some_and(|rest| rest.starts_with('-'))
}

/// Returns the network namespace and the number of the interface that a pin for timestamps is for.
pub(crate) fn interface_of(pin: &Path) -> Option<(u64, u32)> {
    let name = pin.file_name()?.to_str()?;
    let mut numbers = name.strip_prefix("timestamps-")?.split('-');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Returns the time at which a pin was made, in seconds since 1970.
pub(crate) fn made(pin: &Path) -> Option<u64> {
    let modified = fs::metadata(pin).ok()?.modified().ok()?;
    modified.duration_since(UNIX_EPOCH).ok().map(|time| time.as_secs())
}

/// Removes the directory if it is empty.
pub(crate) fn remove() {
    let _ = fs::remove_dir(directory());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sys_of_a_namespace_is_distinguished_from_the_machines() {
        let machine = "sysfs /sys sysfs rw 0 0\nbpf /sys/fs/bpf bpf rw 0 0\n";
        // `ip netns exec NAME` mounts another one on top of it, with the source NAME.
        let own = format!("{machine}name /sys sysfs rw 0 0\n");
        assert_eq!(sys_of(machine), Some(("sysfs", "sysfs")));
        assert_eq!(sys_of(&own), Some(("name", "sysfs")));
        assert_eq!(sys_of("tmpfs /tmp tmpfs rw 0 0\n"), None);
    }

    #[test]
    fn the_name_of_a_pin_has_namespace_and_interface() {
        let of = |name: &str| interface_of(&directory().join(name));
        assert_eq!(of("timestamps-4026531840-3-in"), Some((4_026_531_840, 3)));
        assert_eq!(of("timestamps-4026531840-12-out"), Some((4_026_531_840, 12)));
        for other in ["timestamps-4026531840", "cgroup-77-choose", "switched", "timestamps-x-3-in"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
