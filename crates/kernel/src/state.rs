//! The settings before `attach`, in a file that `detach` reads.
//!
//! The file is written before anything is changed, so a killed command leaves no change that the file does
//! not name.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::namespace::Identity;
use crate::{Error, Growth};

const LOCK: &str = "/run/unruffled.lock";
const FILE: &str = "/run/unruffled/attached.json";

/// Settings that `detach` restores.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// Build of the registered `unruffled`. `None` in files of an older version.
    #[serde(default)]
    build: Option<u64>,
    /// Build of the registered `unruffled_bbr`.
    #[serde(default)]
    build_bbr: Option<u64>,
    /// Former settings of network namespaces whose default was changed.
    pub(crate) defaults: Vec<FormerSettings>,
    /// Interfaces with filters, on kernels without links for them.
    pub(crate) filters: Vec<Filters>,
}

/// Settings of a network namespace before they were changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FormerSettings {
    #[serde(flatten)]
    pub(crate) namespace: Identity,
    pub(crate) congestion_control: String,
    pub(crate) timestamps: String,
}

/// An interface with a clsact queueing discipline.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Filters {
    #[serde(flatten)]
    pub(crate) namespace: Identity,
    pub(crate) interface: i32,
    /// Whether `attach` created the queueing discipline.
    pub(crate) own: bool,
}

/// Lock on the state. `attach`, `detach` and `run` hold it while they read the file and write it again.
///
/// The lock ends with the process. Its file is never removed, since two processes could otherwise lock two
/// different files. Only root may open it, so that other users cannot block root.
#[derive(Debug)]
pub(crate) struct StateLock(#[expect(dead_code, reason = "locked as long as it is open")] File);

impl StateLock {
    /// Waits for the lock.
    pub(crate) fn acquire() -> Result<Self, Error> {
        let locked = Self::open().and_then(|file| file.lock().map(|()| file));
        Ok(Self(locked.map_err(Error::file(LOCK))?))
    }

    /// Returns the lock, or `None` if another process holds it.
    pub(crate) fn try_acquire() -> Result<Option<Self>, Error> {
        let file = Self::open().map_err(Error::file(LOCK))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::file(LOCK)(error)),
        }
    }

    fn open() -> io::Result<File> {
        Path::new(LOCK).parent().map_or(Ok(()), fs::create_dir_all)?;
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(LOCK)
    }
}

impl State {
    /// Returns the build of a registered congestion control.
    pub(crate) fn build(&mut self, growth: Growth) -> &mut Option<u64> {
        match growth {
            Growth::Cubic => &mut self.build,
            Growth::Bbr => &mut self.build_bbr,
        }
    }

    /// Reads the file. The state is empty if nothing is attached.
    pub(crate) fn load() -> Result<Self, Error> {
        match fs::read_to_string(FILE) {
            Ok(text) => serde_json::from_str(&text).map_err(|reason| Error::Requirement {
                found: format!("{FILE}: {reason}"),
                expected: "what `attach` wrote; without the file `detach` sets the default to cubic \
                           or reno, and leaves timestamps alone",
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Error::file(FILE)(error)),
        }
    }

    /// Replaces the file atomically.
    pub(crate) fn store(&self) -> Result<(), Error> {
        let new = format!("{FILE}.new");
        let text = serde_json::to_string_pretty(self).expect("plain data");
        Path::new(FILE)
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&new, text))
            .and_then(|()| fs::rename(&new, FILE))
            .map_err(Error::file(FILE))
    }

    /// Removes the file.
    pub(crate) fn remove() {
        let _ = fs::remove_file(FILE);
        if let Some(directory) = Path::new(FILE).parent() {
            let _ = fs::remove_dir(directory);
        }
    }

    pub(crate) fn exists() -> bool {
        Path::new(FILE).exists()
    }
}
