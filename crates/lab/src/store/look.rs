//! Read-only access to a store.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{Store, StoreError, file_name, reject_special_files};
use crate::error::Error;

impl Store {
    /// Opens an existing file to read its contents. It requires no right to write, waits for no
    /// writer, and leaves no file behind.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or is not a store.
    pub fn look(path: &Path) -> Result<Self, Error> {
        reject_special_files(path)?;
        // With the right to write, SQLite removes the files that it creates for reading.
        match Self::look_with(path, "mode=rw") {
            Err(Error::Store { source: StoreError::CannotOpen | StoreError::ReadOnly, .. }) => {}
            opened => return opened,
        }
        // Without that right, it can neither create nor remove them. If they do not exist, no
        // process writes, and the file can be read as immutable.
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let has_log = Path::new(&log).exists();
        Self::look_with(path, if has_log { "mode=ro" } else { "mode=ro&immutable=1" })
    }

    pub(super) fn look_with(path: &Path, options: &str) -> Result<Self, Error> {
        let error = |e: rusqlite::Error| Error::Store { path: path.to_owned(), source: e.into() };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(uri(&file_name(path), options), flags).map_err(error)?;
        let store = Self { connection, path: path.to_owned() };
        if options == "mode=rw" && store.connection.is_readonly("main").map_err(error)? {
            return Err(store.error(StoreError::ReadOnly));
        }
        match store.has_tables().map_err(error)?? {
            true => Ok(store),
            false => Err(store.error(StoreError::Foreign)),
        }
    }
}

/// Returns the name of the file as a URI for SQLite, with special characters escaped.
fn uri(path: &Path, options: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let name = path.as_os_str().as_encoded_bytes().iter().map(|&byte| match byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    format!("file:{}?{options}", name.collect::<String>())
}
