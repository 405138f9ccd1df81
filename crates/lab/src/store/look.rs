//! Read access to a store.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{Store, StoreError, as_file, reject_special_files};
use crate::error::Error;

impl Store {
    /// Opens an existing file for reading. This works without write permission, does not wait for a
    /// writer, and leaves no other files.
    ///
    /// # Errors
    /// A file that cannot be read, is damaged, or is not a store.
    pub fn look(path: &Path) -> Result<Self, Error> {
        reject_special_files(path)?;
        // With write permission, SQLite removes its auxiliary files when it closes the store.
        match Self::look_with(path, "mode=rw") {
            Err(Error::Store { source: StoreError::CannotOpen | StoreError::ReadOnly, .. }) => {}
            opened => return opened,
        }
        // Without it, SQLite can neither create nor remove them. If there is no log, no process writes.
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let written = Path::new(&log).exists();
        Self::look_with(path, if written { "mode=ro" } else { "mode=ro&immutable=1" })
    }

    /// Opens an existing file with these parameters of SQLite's URI.
    pub(super) fn look_with(path: &Path, how: &str) -> Result<Self, Error> {
        let refused = |e: rusqlite::Error| Error::Store { path: path.to_owned(), source: e.into() };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(uri(&as_file(path), how), flags).map_err(refused)?;
        let store = Self { connection, path: path.to_owned() };
        if how == "mode=rw" && store.connection.is_readonly("main").map_err(refused)? {
            return Err(store.error(StoreError::ReadOnly));
        }
        match store.has_tables().map_err(refused)?? {
            true => Ok(store),
            false => Err(store.error(StoreError::Foreign)),
        }
    }
}

/// Returns SQLite's URI of a file, with special characters escaped.
fn uri(path: &Path, how: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let name = path.as_os_str().as_encoded_bytes().iter().map(|&byte| match byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    format!("file:{}?{how}", name.collect::<String>())
}
