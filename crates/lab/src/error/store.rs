//! Errors of a store of runs.

use rusqlite::ErrorCode;

/// Why a store of runs cannot be used. Prints as what is wrong and what was expected; the file precedes
/// it in [`Error::Store`](super::Error::Store).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system has no folder for caches, and no file was named.
    #[error("no cache folder: expected a file")]
    NoPlace,
    /// The file does not exist.
    #[error("no such store: expected a file that unruffled reproduce or sweep has made")]
    Missing,
    /// The file is not a store.
    #[error("not a store of runs: expected another file")]
    Foreign,
    /// The tables have another layout.
    #[error("made by another version of unruffled: expected another file")]
    OtherLayout,
    /// A record does not match its hash, or SQLite reports that the file is damaged.
    #[error("damaged: remove the file, or give another by --store")]
    Damaged,
    /// A record matches its hash, but cannot be decoded.
    #[error("damaged: expected another file")]
    NoRecord,
    /// The path is not a file, or the file may not be opened.
    #[error("cannot be opened: expected a file to write")]
    CannotOpen,
    /// The file is read-only.
    #[error("cannot be written: expected a file to write")]
    ReadOnly,
    /// The disk is full.
    #[error("no room left on its disk: expected some, or another file by --store")]
    Full,
    /// The system could not read or write the file, or one that SQLite needs beside it.
    #[error("cannot be read or written: expected a disk that works and has room")]
    Disk,
    /// The disk is full, and removing runs from the file needs some room, too.
    #[error("no room left on its disk to remove runs in: expected some, or the file removed")]
    NoRoomToRemove,
    /// Another process held the file for longer than the timeout.
    #[error("in use by another process: expected it free, or another file by --store")]
    Busy,
    /// A record cannot be encoded.
    #[error("a record cannot be written: {0}")]
    Encoding(#[from] ciborium::ser::Error<std::io::Error>),
    /// Any other error of SQLite.
    #[error("{0}")]
    Sqlite(#[source] rusqlite::Error),
}

/// Returns whether tables, columns or their contents differ from those that this program makes.
fn is_foreign(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, SqlInputError,
        Utf8Error,
    };
    matches!(
        error,
        FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | SqlInputError { .. }
            | Utf8Error(..)
    )
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::Foreign,
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged,
            Some(ErrorCode::CannotOpen) => Self::CannotOpen,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseBusy) => Self::Busy,
            Some(ErrorCode::SystemIoFailure) => Self::Disk,
            // Its tables differ from those that this program makes.
            Some(ErrorCode::Unknown) => Self::Damaged,
            None if is_foreign(&error) => Self::Damaged,
            _ => Self::Sqlite(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn an_error_of_sqlite_is_reported_with_what_was_expected() {
        for (code, expected) in [
            (ffi::SQLITE_BUSY, "in use by another process: expected it free"),
            (ffi::SQLITE_FULL, "no room left on its disk: expected some"),
            (ffi::SQLITE_IOERR_SHMSIZE, "cannot be read or written: expected a disk that works"),
            (ffi::SQLITE_NOTADB, "not a store of runs: expected another file"),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let message = StoreError::from(error).to_string();
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
