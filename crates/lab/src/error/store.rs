//! What can be wrong with a store of runs.

use rusqlite::ErrorCode;

/// Why a store of runs cannot be used. Prints as what is wrong and what was expected; the file stands
/// before it, in [`Error::Store`](super::Error::Store).
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No folder for caches, and no file was named.
    #[error("no cache folder: expected a file")]
    NoPlace,
    /// The file is not there.
    #[error("no such store: expected a file that unruffled reproduce or sweep has made")]
    Missing,
    /// The file is something else.
    #[error("not a store of runs: expected another file")]
    Foreign,
    /// The tables are laid out otherwise.
    #[error("made by another version of unruffled: expected another file")]
    OtherLayout,
    /// A record does not fit its hash, or SQLite finds its file damaged.
    #[error("damaged: remove the file, or give another by --store")]
    Damaged,
    /// A record is none, though it fits its hash.
    #[error("damaged: expected another file")]
    NoRecord,
    /// It is no file, or one without the right to open it.
    #[error("cannot be opened: expected a file to write")]
    CannotOpen,
    /// It may be read only.
    #[error("cannot be written: expected a file to write")]
    ReadOnly,
    /// The disk is full.
    #[error("no room left on its disk: expected some, or another file by --store")]
    Full,
    /// The system could not read or write the file, or one that SQLite needs beside it.
    #[error("cannot be read or written: expected a disk that works and has room")]
    Disk,
    /// The disk is full, and to remove runs from the file takes some room, too.
    #[error("no room left on its disk to remove runs in: expected some, or the file removed")]
    NoRoomToRemove,
    /// Another process has held it for longer than one waits.
    #[error("in use by another process: expected it free, or another file by --store")]
    Busy,
    /// A record cannot be put into octets.
    #[error("a record cannot be written: {0}")]
    Encoding(ciborium::ser::Error<std::io::Error>),
    /// Anything else that SQLite says.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
}

/// Whether tables, columns or what is in them are not those that were made.
fn foreign(error: &rusqlite::Error) -> bool {
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
            // Its tables are not those that were made.
            Some(ErrorCode::Unknown) => Self::Damaged,
            None if foreign(&error) => Self::Damaged,
            _ => Self::Sqlite(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn what_sqlite_says_is_told_with_what_was_expected() {
        for (code, wanted) in [
            (ffi::SQLITE_BUSY, "in use by another process: expected it free"),
            (ffi::SQLITE_FULL, "no room left on its disk: expected some"),
            (ffi::SQLITE_IOERR_SHMSIZE, "cannot be read or written: expected a disk that works"),
            (ffi::SQLITE_NOTADB, "not a store of runs: expected another file"),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let told = StoreError::from(error).to_string();
            assert!(told.starts_with(wanted), "{told}");
        }
    }
}
