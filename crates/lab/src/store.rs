//! Results of runs, kept in an SQLite file: what is there is not run again.
//!
//! A run is known by a hash of all that decides its result: scenario, sender, parameters, seed and
//! the version of the model. Each run is committed as it ends, so that a kill loses at most the runs
//! in flight, and several processes may use a file at a time.

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

/// The version of the model: a hash of the sources that decide what a run does.
pub const MODEL: &str = env!("UNRUFFLED_MODEL");

/// Marks the file as ours.
const APPLICATION: i32 = i32::from_be_bytes(*b"unrf");
/// The layout of the tables.
const LAYOUT: i32 = 1;
/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The file that keeps results unless another is named; none where there is no cache folder.
pub fn usual() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    let folders = etcetera::choose_base_strategy().ok()?;
    Some(folders.cache_dir().join("unruffled").join("runs.sqlite"))
}

/// What decides a run's result, as a hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0[..8].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The keys of a scenario file that name and order runs, and change none.
const NAMES: [&str; 5] = ["name", "title", "source", "seeds", "variants"];

impl Key {
    /// Of a run of `variant` over the scenario with `seed`.
    pub fn of(scenario: &Scenario, variant: &Variant, seed: u64) -> Self {
        Self::of_text(&decisive(scenario), variant, seed)
    }

    /// The same, for a scenario whose decisive text is known.
    pub fn of_text(scenario: &str, variant: &Variant, seed: u64) -> Self {
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
}

/// The scenario without what does not change a run, as TOML with its keys in order.
pub fn decisive(scenario: &Scenario) -> String {
    let Ok(mut table) = toml::from_str::<toml::Table>(&scenario.toml) else {
        return scenario.toml.clone();
    };
    NAMES.iter().for_each(|name| drop(table.remove(*name)));
    toml::to_string(&table).unwrap_or_else(|_| scenario.toml.clone())
}

/// A run to keep.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// What it is known by.
    pub key: Key,
    /// The experiment or scenario that it was made for first.
    pub of: &'a str,
    /// The scenario, as [`Key`] sees it.
    pub scenario: &'a str,
    /// The sender's full name.
    pub variant: &'a str,
    /// The seed.
    pub seed: u64,
    /// What it left behind.
    pub record: &'a RunRecord,
    /// How long it took.
    pub took: Duration,
}

/// A file of results.
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

/// What is in a store, by version of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Holding {
    /// The version of the model.
    pub model: String,
    /// What the runs were made for first.
    pub of: String,
    /// How many there are.
    pub runs: u64,
    /// Octets of their records.
    pub bytes: u64,
    /// Seconds that they took.
    pub seconds: f64,
}

/// Which runs to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prune {
    /// All.
    All,
    /// Those of other versions of the model.
    OtherVersions,
    /// Those that were made more than so many days ago.
    Older(u32),
}

/// Tries again while another process holds the file.
fn patiently<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                if began.elapsed() > PATIENCE {
                    return Err(e);
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            ended => return ended,
        }
    }
}

/// Refuses folders, devices and pipes, with which SQLite has errors of its own.
fn refuse_others(path: &Path) -> Result<(), Error> {
    let source = match path.metadata() {
        Ok(there) if there.is_dir() => StoreError::CannotOpen,
        Ok(there) if !there.is_file() => StoreError::Foreign,
        _ => return Ok(()),
    };
    Err(Error::Store { path: path.to_owned(), source })
}

/// The path as SQLite takes it for nothing but a file's: `:memory:` is none by itself.
fn plain(path: &Path) -> PathBuf {
    Path::new(".").join(path)
}

impl Store {
    /// The [`usual`] store; where that cannot be kept, one that goes with the process, and why.
    ///
    /// # Errors
    /// A store that is there and is damaged, or is something else.
    pub fn usual() -> Result<(Self, Option<String>), Error> {
        let Some(path) = usual() else {
            return Ok((
                Self::in_memory()?,
                Some("no cache folder: results are not kept".to_owned()),
            ));
        };
        let opened = Self::open(&path);
        // A folder, or a file, of somebody else's, such as root's after sudo.
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

    /// Opens the file, or makes it; of folders only that of the [`usual`] one is made.
    ///
    /// # Errors
    /// A file that cannot be opened, that is damaged, or that is something else.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let folder = path.parent().unwrap_or(path);
        let there = if usual().as_deref() == Some(path) {
            std::fs::create_dir_all(folder)
        } else {
            folder.join(".").metadata().map(drop)
        };
        there.map_err(|e| Error::output(path, e))?;
        refuse_others(path)?;
        let refused = |e: rusqlite::Error| Error::Store { path: path.to_owned(), source: e.into() };
        let flags = OpenFlags::default() - OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(plain(path), flags).map_err(refused)?;
        let store = Self { connection, path: path.to_owned() };
        store.prepare().map_err(refused)??;
        Ok(store)
    }

    /// A store that goes with the process.
    ///
    /// # Errors
    /// None that are known.
    pub fn in_memory() -> Result<Self, Error> {
        let path = PathBuf::from("memory");
        let refused = |e: rusqlite::Error| Error::Store { path: path.clone(), source: e.into() };
        let connection = Connection::open_in_memory().map_err(refused)?;
        let store = Self { connection, path: path.clone() };
        store.prepare().map_err(refused)??;
        Ok(store)
    }

    /// Says whether the file is a store of this layout; one without any tables may become one.
    fn recognise(&self) -> rusqlite::Result<Result<bool, Error>> {
        let c = &self.connection;
        c.busy_timeout(PATIENCE)?;
        let number = |pragma: &str| c.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
        let tables: i64 = c.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
        let (application, layout) = (number("application_id")?, number("user_version")?);
        if tables > 0 && application != APPLICATION {
            return Ok(Err(self.wrong(StoreError::Foreign)));
        }
        if tables > 0 && layout != LAYOUT {
            return Ok(Err(self.wrong(StoreError::OtherLayout)));
        }
        Ok(Ok(tables > 0))
    }

    fn prepare(&self) -> rusqlite::Result<Result<(), Error>> {
        if let Err(wrong) = self.recognise()? {
            return Ok(Err(wrong));
        }
        let c = &self.connection;
        // Readers do not wait for a writer; what is committed outlives the process at any moment.
        // SQLite itself does not wait where two processes change the mode at once.
        patiently(|| c.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())))?;
        c.pragma_update(None, "synchronous", "normal")?;
        c.execute_batch(&format!(
            "BEGIN IMMEDIATE;
             PRAGMA application_id = {APPLICATION};
             PRAGMA user_version = {LAYOUT};
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

    fn wrong(&self, source: impl Into<StoreError>) -> Error {
        Error::Store { path: self.path.clone(), source: source.into() }
    }

    /// Whether the run is there.
    ///
    /// # Errors
    /// A damaged file.
    pub fn has(&self, key: &Key) -> Result<bool, Error> {
        let query = "SELECT 1 FROM run WHERE key = ?1";
        let found = self
            .connection
            .prepare(query)
            .and_then(|mut s| s.query_row([&key.0[..]], |_| Ok(())).optional());
        found.map(|found| found.is_some()).map_err(|e| self.wrong(e))
    }

    /// What the run left behind, if it is there.
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
        let Some((bytes, hash)) = found.map_err(|e| self.wrong(e))? else { return Ok(None) };
        let damaged = || self.wrong(StoreError::Damaged);
        if blake3::hash(&bytes).as_bytes()[..] != hash {
            return Err(damaged());
        }
        ciborium::from_reader(bytes.as_slice()).map(Some).map_err(|_| damaged())
    }

    /// Keeps a run. One that another process has kept in the meantime stays.
    ///
    /// # Errors
    /// No room, or a damaged file.
    pub fn put(&self, run: &Run<'_>) -> Result<(), Error> {
        self.put_all(std::slice::from_ref(run))
    }

    /// Keeps several runs at once: all of them, or none if it fails.
    ///
    /// # Errors
    /// No room, or a damaged file.
    pub(crate) fn put_all(&self, runs: &[Run<'_>]) -> Result<(), Error> {
        let mut records = Vec::with_capacity(runs.len());
        for run in runs {
            let mut record = Vec::new();
            ciborium::into_writer(run.record, &mut record)
                .map_err(|e| self.wrong(StoreError::Encoding(e)))?;
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
                let (hash, scenario) =
                    (blake3::hash(record), blake3::hash(run.scenario.as_bytes()));
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
        write().map_err(|e| self.wrong(e))
    }

    /// What is there, by version of the model and by what it was made for.
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
        read().map_err(|e| self.wrong(e))
    }

    /// Removes runs, and says how many.
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
            false => self.wrong(e),
        })?;
        let tidy = "DELETE FROM scenario WHERE hash NOT IN (SELECT scenario FROM run); VACUUM";
        match c.execute_batch(tidy) {
            // They are gone; the file gets smaller when there is room to write it anew.
            Err(e) if !is_full(&e) => Err(self.wrong(e)),
            _ => Ok(removed),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
