//! The store of runs: an SQLite file with results, so that no run is repeated.
//!
//! A run is identified by a hash of everything that determines its result: the scenario, the sender,
//! its parameters, the seed and the version of the model. A record without links has a key of its own.
//! Each run is committed when it ends, so that killing the process loses at most the runs in progress.
//! Several processes may use a file at the same time.

mod csv;
mod look;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use unruffled_measure::RunRecord;
use unruffled_tcp::Variant;

use crate::error::Error;
pub use crate::error::StoreError;
use unruffled_scenario::Scenario;

/// The version of the model: a hash of the sources that determine the results of runs.
pub const MODEL: &str = env!("UNRUFFLED_MODEL");

/// The SQLite application id of a store.
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"unrf");
/// The version of the layout of the tables.
const LAYOUT_VERSION: i32 = 1;
/// The longest wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the path of the default store; none if there is no cache folder.
pub fn usual() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    let folders = etcetera::choose_base_strategy().ok()?;
    Some(folders.cache_dir().join("unruffled").join("runs.sqlite"))
}

/// The identity of a run: a hash of everything that determines its result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0[..8].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The keys of a scenario file that do not change the result of a run.
const IGNORED_KEYS: [&str; 5] = ["name", "title", "source", "seeds", "variants"];

impl Key {
    /// Returns the key of a run of `variant` over the scenario with `seed`.
    pub fn of(scenario: &Scenario, variant: &Variant, seed: u64) -> Self {
        Self::of_canonical(&canonical_toml(scenario), variant, seed)
    }

    /// Returns the key of a run over the scenario with this [`canonical_toml`] text.
    pub fn of_canonical(scenario: &str, variant: &Variant, seed: u64) -> Self {
        let mut hash = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(MODEL.as_bytes());
        part(scenario.as_bytes());
        part(variant.name().as_bytes());
        for (parameter, value) in variant.parameters() {
            part(parameter.name.as_bytes());
            part(&value.to_bits().to_le_bytes());
        }
        part(&seed.to_le_bytes());
        Self(*hash.finalize().as_bytes())
    }

    /// Returns the key of the record of the same run without links, as
    /// [`run::record_flows`](crate::run::record_flows) makes it.
    #[must_use]
    pub fn without_links(&self) -> Self {
        let mut hash = blake3::Hasher::new();
        hash.update(&self.0);
        hash.update(b"without links");
        Self(*hash.finalize().as_bytes())
    }
}

/// Returns the scenario as TOML with its keys in order, without those that do not change the result
/// of a run.
pub fn canonical_toml(scenario: &Scenario) -> String {
    let Ok(mut table) = toml::from_str::<toml::Table>(&scenario.toml) else {
        return scenario.toml.clone();
    };
    IGNORED_KEYS.iter().for_each(|name| drop(table.remove(*name)));
    toml::to_string(&table).unwrap_or_else(|_| scenario.toml.clone())
}

/// A run to store.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The key.
    pub key: Key,
    /// The experiment or scenario that first needed the run.
    pub of: &'a str,
    /// The [`canonical_toml`] text of the scenario.
    pub scenario: &'a str,
    /// The sender's full name.
    pub variant: &'a str,
    /// The seed.
    pub seed: u64,
    /// The record.
    pub record: &'a RunRecord,
    /// The time that the run took.
    pub took: Duration,
}

/// A file of results.
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

/// The runs in a store that have the same model version and were first needed by the same
/// experiment or scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Holding {
    /// The version of the model.
    pub model: String,
    /// The experiment or scenario that first needed the runs.
    pub of: String,
    /// The number of runs.
    pub runs: u64,
    /// The size of their records, in octets.
    pub bytes: u64,
    /// The time that the runs took, in seconds.
    pub seconds: f64,
}

/// A selection of runs to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prune {
    /// All runs.
    All,
    /// The runs of other versions of the model.
    OtherVersions,
    /// The runs that were made more than this number of days ago.
    Older(u32),
}

/// Repeats `attempt` while another process has locked the file, at most for [`BUSY_TIMEOUT`].
fn retry_while_busy<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                if began.elapsed() > BUSY_TIMEOUT {
                    return Err(e);
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            ended => return ended,
        }
    }
}

/// Rejects folders, devices and pipes, for which the errors of SQLite would be unclear.
fn reject_special_files(path: &Path) -> Result<(), Error> {
    let source = match path.metadata() {
        Ok(there) if there.is_dir() => StoreError::CannotOpen,
        Ok(there) if !there.is_file() => StoreError::Foreign,
        _ => return Ok(()),
    };
    Err(Error::Store { path: path.to_owned(), source })
}

/// Returns the path in a form that SQLite opens as a file, even if it is `:memory:`.
fn as_file(path: &Path) -> PathBuf {
    Path::new(".").join(path)
}

impl Store {
    /// Opens the [`usual`] store. If it cannot be created or written, returns a store in memory, and
    /// the reason.
    ///
    /// # Errors
    /// An existing file that is damaged or is not a store.
    pub fn usual() -> Result<(Self, Option<String>), Error> {
        let Some(path) = usual() else {
            return Ok((
                Self::in_memory()?,
                Some("no cache folder: results are not kept".to_owned()),
            ));
        };
        let opened = Self::open(&path);
        // The folder or the file may belong to another user, such as root after sudo.
        let reason = match &opened {
            Err(Error::Output { source, .. }) => source.to_string(),
            Err(Error::Store { source, .. })
                if matches!(source, StoreError::CannotOpen | StoreError::ReadOnly) =>
            {
                source.to_string()
            }
            _ => return opened.map(|store| (store, None)),
        };
        let note = format!("{}: {reason}: results are not kept", path.display());
        Ok((Self::in_memory()?, Some(note)))
    }

    /// Opens the store in this file, and creates the file if it does not exist. The folder is created
    /// only for the [`usual`] store.
    ///
    /// # Errors
    /// A file that cannot be opened, is damaged, or is not a store.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let folder = path.parent().unwrap_or(path);
        let there = if usual().as_deref() == Some(path) {
            std::fs::create_dir_all(folder)
        } else {
            folder.join(".").metadata().map(drop)
        };
        there.map_err(|e| Error::output(path, e))?;
        reject_special_files(path)?;
        let refused = |e: rusqlite::Error| Error::Store { path: path.to_owned(), source: e.into() };
        let flags = OpenFlags::default() - OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(as_file(path), flags).map_err(refused)?;
        let store = Self { connection, path: path.to_owned() };
        store.prepare().map_err(refused)??;
        Ok(store)
    }

    /// Creates a store in memory.
    ///
    /// # Errors
    /// A failure of SQLite, such as a lack of memory.
    pub fn in_memory() -> Result<Self, Error> {
        let path = PathBuf::from("memory");
        let refused = |e: rusqlite::Error| Error::Store { path: path.clone(), source: e.into() };
        let connection = Connection::open_in_memory().map_err(refused)?;
        let store = Self { connection, path: path.clone() };
        store.prepare().map_err(refused)??;
        Ok(store)
    }

    /// Returns whether the file has the tables of a store. An empty file has none and can become a
    /// store; a file of another program or another layout is an error.
    fn has_tables(&self) -> rusqlite::Result<Result<bool, Error>> {
        let c = &self.connection;
        c.busy_timeout(BUSY_TIMEOUT)?;
        let number = |pragma: &str| c.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
        let tables: i64 = c.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
        let application = number("application_id")?;
        let layout = number("user_version")?;
        if tables > 0 && application != APPLICATION_ID {
            return Ok(Err(self.error(StoreError::Foreign)));
        }
        if tables > 0 && layout != LAYOUT_VERSION {
            return Ok(Err(self.error(StoreError::OtherLayout)));
        }
        Ok(Ok(tables > 0))
    }

    /// Checks the file, sets the modes of the connection, and creates missing tables.
    fn prepare(&self) -> rusqlite::Result<Result<(), Error>> {
        if let Err(wrong) = self.has_tables()? {
            return Ok(Err(wrong));
        }
        let c = &self.connection;
        // In this mode readers do not wait for a writer, and a committed run survives the end of the
        // process. SQLite's own timeout does not apply if two processes change the mode at once.
        retry_while_busy(|| c.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())))?;
        c.pragma_update(None, "synchronous", "normal")?;
        c.execute_batch(&format!(
            "BEGIN IMMEDIATE;
             PRAGMA application_id = {APPLICATION_ID};
             PRAGMA user_version = {LAYOUT_VERSION};
             CREATE TABLE IF NOT EXISTS scenario (hash BLOB PRIMARY KEY, toml TEXT NOT NULL)
                 WITHOUT ROWID;
             CREATE TABLE IF NOT EXISTS run (
                 key BLOB PRIMARY KEY, model TEXT NOT NULL, made_for TEXT NOT NULL,
                 scenario BLOB NOT NULL, variant TEXT NOT NULL, seed INTEGER NOT NULL,
                 record BLOB NOT NULL, hash BLOB NOT NULL, seconds REAL NOT NULL,
                 made INTEGER NOT NULL);
             COMMIT;"
        ))?;
        Ok(Ok(()))
    }

    /// Returns an error of this file.
    fn error(&self, source: impl Into<StoreError>) -> Error {
        Error::Store { path: self.path.clone(), source: source.into() }
    }

    /// Returns whether the store has the run.
    ///
    /// # Errors
    /// A damaged file.
    pub fn has(&self, key: &Key) -> Result<bool, Error> {
        let query = "SELECT 1 FROM run WHERE key = ?1";
        let found = self
            .connection
            .prepare(query)
            .and_then(|mut s| s.query_row([&key.0[..]], |_| Ok(())).optional());
        found.map(|found| found.is_some()).map_err(|e| self.error(e))
    }

    /// Returns the record of the run, if the store has it.
    ///
    /// # Errors
    /// A damaged file.
    pub fn get(&self, key: &Key) -> Result<Option<RunRecord>, Error> {
        let query = "SELECT record, hash FROM run WHERE key = ?1";
        let found = self.connection.prepare(query).and_then(|mut s| {
            let row = s.query_row([&key.0[..]], |row| {
                Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?))
            });
            row.optional()
        });
        let Some((bytes, hash)) = found.map_err(|e| self.error(e))? else { return Ok(None) };
        let damaged = || self.error(StoreError::Damaged);
        if blake3::hash(&bytes).as_bytes()[..] != hash {
            return Err(damaged());
        }
        ciborium::from_reader(bytes.as_slice()).map(Some).map_err(|_| damaged())
    }

    /// Returns whether the store has the run, with links or without.
    ///
    /// # Errors
    /// A damaged file.
    pub fn has_flows(&self, key: &Key) -> Result<bool, Error> {
        Ok(self.has(&key.without_links())? || self.has(key)?)
    }

    /// Returns the record of the run, if the store has it, with links or without.
    ///
    /// # Errors
    /// A damaged file.
    pub fn get_flows(&self, key: &Key) -> Result<Option<RunRecord>, Error> {
        match self.get(&key.without_links())? {
            None => self.get(key),
            found => Ok(found),
        }
    }

    /// Stores a run. A run that is already stored stays as it is.
    ///
    /// # Errors
    /// A full disk, or a damaged file.
    pub fn put(&self, run: &Run<'_>) -> Result<(), Error> {
        self.put_all(std::slice::from_ref(run))
    }

    /// Stores several runs in one transaction.
    ///
    /// # Errors
    /// A full disk, or a damaged file. No run is stored then.
    pub(crate) fn put_all(&self, runs: &[Run<'_>]) -> Result<(), Error> {
        let mut records = Vec::with_capacity(runs.len());
        for run in runs {
            let mut record = Vec::new();
            ciborium::into_writer(run.record, &mut record)
                .map_err(|e| self.error(StoreError::Encoding(e)))?;
            records.push(record);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
        let write = || -> rusqlite::Result<()> {
            let c = &self.connection;
            let transaction = Transaction::new_unchecked(c, TransactionBehavior::Immediate)?;
            let mut put_scenario =
                transaction.prepare("INSERT OR IGNORE INTO scenario VALUES (?1, ?2)")?;
            let mut put_run = transaction.prepare(
                "INSERT OR IGNORE INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?;
            for (run, record) in runs.iter().zip(&records) {
                let hash = blake3::hash(record);
                let scenario = blake3::hash(run.scenario.as_bytes());
                put_scenario.execute(params![&scenario.as_bytes()[..], run.scenario])?;
                put_run.execute(params![
                    &run.key.0[..],
                    MODEL,
                    run.of,
                    &scenario.as_bytes()[..],
                    run.variant,
                    run.seed.cast_signed(),
                    record,
                    &hash.as_bytes()[..],
                    run.took.as_secs_f64(),
                    now.cast_signed(),
                ])?;
            }
            drop((put_scenario, put_run));
            transaction.commit()
        };
        write().map_err(|e| self.error(e))
    }

    /// Returns the stored runs by version of the model, and by the experiment or scenario that first
    /// needed them.
    ///
    /// # Errors
    /// A damaged file.
    pub fn holdings(&self) -> Result<Vec<Holding>, Error> {
        let read = || -> rusqlite::Result<Vec<Holding>> {
            let mut query = self.connection.prepare(
                "SELECT model, made_for, count(*), sum(length(record)), sum(seconds)
                 FROM run GROUP BY model, made_for ORDER BY max(made), model, made_for",
            )?;
            let holding = |row: &rusqlite::Row<'_>| {
                Ok(Holding {
                    model: row.get(0)?,
                    of: row.get(1)?,
                    runs: row.get::<_, i64>(2)?.cast_unsigned(),
                    bytes: row.get::<_, i64>(3)?.cast_unsigned(),
                    seconds: row.get(4)?,
                })
            };
            query.query_map([], holding)?.collect()
        };
        read().map_err(|e| self.error(e))
    }

    /// Removes runs and returns their number.
    ///
    /// # Errors
    /// A damaged file.
    pub fn prune(&self, which: Prune) -> Result<usize, Error> {
        let c = &self.connection;
        let removed = match which {
            Prune::All => c.execute("DELETE FROM run", []),
            Prune::OtherVersions => c.execute("DELETE FROM run WHERE model != ?1", [MODEL]),
            Prune::Older(days) => c.execute(
                "DELETE FROM run WHERE made < unixepoch() - ?1 * 86400",
                [i64::from(days)],
            ),
        };
        let is_full = |e: &rusqlite::Error| e.sqlite_error_code() == Some(ErrorCode::DiskFull);
        let removed = removed.map_err(|e| match is_full(&e) {
            true => Error::Store { path: self.path.clone(), source: StoreError::NoRoomToRemove },
            false => self.error(e),
        })?;
        let tidy = "DELETE FROM scenario WHERE hash NOT IN (SELECT scenario FROM run); VACUUM";
        match c.execute_batch(tidy) {
            // The runs are removed. Without room for a copy, the file keeps its size for now.
            Err(e) if !is_full(&e) => Err(self.error(e)),
            _ => Ok(removed),
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
