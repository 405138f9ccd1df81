//! A network namespace that a user names.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::{Error, namespace, requirements};

/// Directory of the mounts that `ip netns` makes.
const NAMED: &str = "/run/netns";

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
        match namespace::inside(&file, || ()) {
            Ok(()) => Ok(file),
            Err(Error::File { reason, .. }) if reason.kind() == ErrorKind::InvalidInput => {
                Err(refusal("not a network namespace".to_owned()))
            }
            Err(Error::File { reason, .. }) => Err(refusal(reason.to_string())),
            Err(error) => Err(error),
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
        Ok(about.map_err(Error::file(namespace::OWN_NAMESPACE))?.ino())
    }
}
