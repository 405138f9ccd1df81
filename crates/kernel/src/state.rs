//! What was before: kept in a file, since nobody may remember it who ends before `detach`.
//!
//! It is written before anything is changed, so that a command that is killed leaves no change that
//! the file does not name.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::namespace::Identity;

const LOCK: &str = "/run/unruffled.lock";
const FILE: &str = "/run/unruffled/attached.json";

/// What `detach` has to put back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// Which build's congestion control is registered; nothing, if that build did not tell.
    #[serde(default)]
    pub(crate) build: Option<u64>,
    /// Network namespaces whose default was changed.
    pub(crate) defaults: Vec<Former>,
    /// Interfaces with filters of kernels without links for them.
    pub(crate) filters: Vec<Filters>,
}

/// What a network namespace had.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Former {
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
    /// It was not there before.
    pub(crate) own: bool,
}

/// Whoever attaches, detaches or runs waits for the others: each reads what is kept, and writes it anew.
///
/// The lock ends with the process. Its file stays, or two could lock two of them; only root may open it, or
/// anybody could keep everybody else waiting.
#[derive(Debug)]
pub(crate) struct Turn(#[expect(dead_code, reason = "locked as long as it is open")] File);

impl Turn {
    pub(crate) fn wait() -> Result<Self, Error> {
        let locked = Self::open().and_then(|file| file.lock().map(|()| file));
        Ok(Self(locked.map_err(Error::file(LOCK))?))
    }

    /// None if another has it.
    pub(crate) fn try_take() -> Result<Option<Self>, Error> {
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
    /// What is kept; nothing, if nothing is attached.
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

    /// Keeps it, at once or not at all.
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

    /// There is nothing to keep any more.
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
