//! The settings before `attach`, in a file that `detach` reads.
//!
//! The file is written before anything is changed, so a killed command leaves no change that the file does
//! not name.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::namespace::Identity;
use crate::{Error, Growth};

const LOCK: &str = "/run/unruffled.lock";
const DAEMON_LOCK: &str = "/run/unruffled-all.lock";
const FILE: &str = "/run/unruffled/attached.json";

/// Returns the time in seconds since 1970.
pub(crate) fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Settings that `detach` restores.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// The registered congestion controls. Empty in files of an older version.
    #[serde(default)]
    pub(crate) controls: Vec<Control>,
    /// Former settings of network namespaces whose default was changed.
    pub(crate) defaults: Vec<FormerSettings>,
    /// Interfaces with filters, on kernels without links for them.
    pub(crate) filters: Vec<Filters>,
    /// Cgroups whose new connections use a congestion control.
    #[serde(default)]
    pub(crate) cgroups: Vec<Cgroup>,
    /// Present if every network namespace is attached, including later ones.
    #[serde(default)]
    pub(crate) everywhere: Option<Everywhere>,
    /// Namespaces that were detached one by one, which `attach --all` leaves alone.
    #[serde(default)]
    pub(crate) excluded: Vec<Identity>,
}

/// A registered congestion control.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Control {
    pub(crate) growth: Growth,
    /// Identifies its code.
    pub(crate) build: u64,
    /// Version of the command that registered it.
    pub(crate) version: String,
    /// Time of the registration, in seconds since 1970.
    pub(crate) since: u64,
}

/// Settings of a network namespace before they were changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FormerSettings {
    #[serde(flatten)]
    pub(crate) namespace: Identity,
    pub(crate) congestion_control: String,
    pub(crate) timestamps: String,
    /// Time of the change, in seconds since 1970. `None` in files of an older version.
    #[serde(default)]
    pub(crate) since: Option<u64>,
}

/// A cgroup whose new connections use a congestion control.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cgroup {
    pub(crate) path: PathBuf,
    /// Inode of its directory, which names its pin.
    pub(crate) inode: u64,
    pub(crate) growth: Growth,
    /// Time of the change, in seconds since 1970.
    pub(crate) since: u64,
}

/// The daemon that attaches every network namespace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Everywhere {
    pub(crate) growth: Growth,
    /// Whether open connections are switched, too.
    pub(crate) existing: bool,
    /// Process of the daemon, which may have ended.
    pub(crate) process: u32,
    /// Time at which the first daemon began, in seconds since 1970.
    pub(crate) since: u64,
}

/// An interface with a clsact queueing discipline.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Filters {
    #[serde(flatten)]
    pub(crate) namespace: Identity,
    pub(crate) interface: i32,
    /// Whether `attach` created the queueing discipline.
    pub(crate) own: bool,
    /// Time of the change, in seconds since 1970. `None` in files of an older version.
    #[serde(default)]
    pub(crate) since: Option<u64>,
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
        let locked = open_lock(LOCK).and_then(|file| file.lock().map(|()| file));
        Ok(Self(locked.map_err(Error::file(LOCK))?))
    }

    /// Returns the lock, or `None` if another process holds it.
    pub(crate) fn try_acquire() -> Result<Option<Self>, Error> {
        Ok(try_lock(LOCK)?.map(Self))
    }
}

/// Lock of the daemon that attaches every network namespace, which it holds until it ends. Its file is never
/// removed.
#[derive(Debug)]
pub(crate) struct DaemonLock(#[expect(dead_code, reason = "locked as long as it is open")] File);

impl DaemonLock {
    /// Returns the lock, or `None` if a daemon is running.
    pub(crate) fn try_acquire() -> Result<Option<Self>, Error> {
        Ok(try_lock(DAEMON_LOCK)?.map(Self))
    }

    /// Returns whether a daemon is running.
    pub(crate) fn is_held() -> Result<bool, Error> {
        Ok(Path::new(DAEMON_LOCK).exists() && Self::try_acquire()?.is_none())
    }
}

fn open_lock(path: &str) -> io::Result<File> {
    Path::new(path).parent().map_or(Ok(()), fs::create_dir_all)?;
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn try_lock(path: &str) -> Result<Option<File>, Error> {
    let file = open_lock(path).map_err(Error::file(path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(Error::file(path)(error)),
    }
}

impl State {
    /// Returns the registered congestion control with this growth.
    pub(crate) fn control(&self, growth: Growth) -> Option<&Control> {
        self.controls.iter().find(|control| control.growth == growth)
    }

    /// Adds the congestion control with this growth, which is registered now.
    pub(crate) fn add_control(&mut self, growth: Growth, build: u64) {
        self.controls.retain(|control| control.growth != growth);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        self.controls.push(Control { growth, build, version, since: seconds_since_1970() });
    }

    /// Returns a state in which only the default of namespaces was changed.
    pub(crate) fn of_defaults(defaults: Vec<FormerSettings>) -> Self {
        Self { defaults, ..Self::default() }
    }

    /// Returns the former settings of a namespace, if they were changed.
    pub(crate) fn former(&self, namespace: &Identity) -> Option<&FormerSettings> {
        self.defaults.iter().find(|former| former.namespace.matches(namespace))
    }

    /// Drops what concerns namespaces that have ended. Returns whether there was any.
    pub(crate) fn prune(&mut self, namespaces: &[Identity]) -> bool {
        let live: BTreeMap<_, _> = namespaces.iter().map(|live| (live.inode, live)).collect();
        let is_live = |one: &Identity| live.get(&one.inode).is_some_and(|live| live.matches(one));
        let count =
            |state: &Self| state.defaults.len() + state.filters.len() + state.excluded.len();
        let before = count(self);
        self.defaults.retain(|former| is_live(&former.namespace));
        self.filters.retain(|filters| is_live(&filters.namespace));
        self.excluded.retain(|namespace| is_live(namespace));
        count(self) < before
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

    /// Returns the directory of the file.
    pub(crate) fn directory() -> &'static Path {
        Path::new(FILE).parent().unwrap_or(Path::new("/run"))
    }
}
