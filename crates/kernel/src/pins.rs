//! Where what outlives the command is: the BPF file system, mounted if nobody has.

use std::fs;
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

/// Makes the directory of the pins.
pub(crate) fn prepare() -> Result<(), Error> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    if !mounts.lines().any(|line| line.split(' ').nth(1) == Some(BPFFS)) {
        mount("bpf", BPFFS, "bpf", MountFlags::empty(), None)
            .map_err(|reason| Error::file(BPFFS)(reason.into()))?;
    }
    let directory = directory();
    fs::create_dir_all(&directory).map_err(Error::file(&directory))
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
