//! Looking into a store without changing it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{Store, StoreError, plain, refuse_others};
use crate::error::Error;

impl Store {
    /// Opens a file that is there, to read what it holds: this takes no right to write, waits for no
    /// writer, and leaves nothing behind.
    ///
    /// # Errors
    /// A file that cannot be read, that is damaged, or that is something else.
    pub fn look(path: &Path) -> Result<Self, Error> {
        refuse_others(path)?;
        // With the right to write SQLite itself removes the files that it reads with.
        match Self::look_with(path, "mode=rw") {
            Err(Error::Store { source: StoreError::CannotOpen | StoreError::ReadOnly, .. }) => {}
            opened => return opened,
        }
        // Without it, it can neither make nor remove them. Where there are none nobody writes.
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let written = Path::new(&log).exists();
        Self::look_with(path, if written { "mode=ro" } else { "mode=ro&immutable=1" })
    }

    pub(super) fn look_with(path: &Path, how: &str) -> Result<Self, Error> {
        let refused = |e: rusqlite::Error| Error::Store { path: path.to_owned(), source: e.into() };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(uri(&plain(path), how), flags).map_err(refused)?;
        let store = Self { connection, path: path.to_owned() };
        if how == "mode=rw" && store.connection.is_readonly("main").map_err(refused)? {
            return Err(store.wrong(StoreError::ReadOnly));
        }
        match store.recognise().map_err(refused)?? {
            true => Ok(store),
            false => Err(store.wrong(StoreError::Foreign)),
        }
    }
}

/// The name of the file as SQLite's URI: it escapes what is not plain.
fn uri(path: &Path, how: &str) -> String {
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let name = path.as_os_str().as_encoded_bytes().iter().map(|&byte| match byte {
        byte if usual(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    format!("file:{}?{how}", name.collect::<String>())
}
