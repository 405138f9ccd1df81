//! Writing of files. They are written beside their place and moved there when they are complete, so
//! that the previous file is lost only to a complete one.

mod ours;
mod part;

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Read as _, Result, Write};
use std::path::{Path, PathBuf};

pub use ours::{APPLICATION, Kind, holds, replaceable};
use part::Part;

use crate::error::Error;

/// A file with its description; none if the file is not given.
pub type Called<'a> = (&'static str, Option<&'a Path>);

/// Rejects a `path` that is one of `others`, or a file of an SQLite database.
///
/// # Errors
/// Such a path.
pub fn free<'a>(
    path: &Path,
    others: impl IntoIterator<Item = &'a Called<'a>>,
) -> std::result::Result<(), Error> {
    let database = database_of(path);
    let at_place = |other: &Option<&Path>| {
        let names = [Some(path), database.as_deref()].into_iter().flatten();
        other.is_some_and(|other| names.into_iter().any(|name| same(name, other)))
    };
    if database.as_deref().is_some_and(is_database) {
        return Err(Error::Overwrites {
            path: path.to_owned(),
            what: "what SQLite keeps of its own",
        });
    }
    match others.into_iter().find(|(_, other)| at_place(other)) {
        Some(&(what, _)) => Err(Error::Overwrites { path: path.to_owned(), what }),
        None => Ok(()),
    }
}

/// Returns the database to which SQLite would attach a file named `path`.
fn database_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let database = ["-wal", "-shm", "-journal"].iter().find_map(|part| name.strip_suffix(part))?;
    Some(path.with_file_name(database))
}

fn is_database(path: &Path) -> bool {
    let mut head = [0; 16];
    let read = |mut file: File| file.read_exact(&mut head);
    path.is_file() && File::open(path).and_then(read).is_ok() && head == *b"SQLite format 3\0"
}

/// Checks that a file can be written at `path`, without leaving a trace.
///
/// # Errors
/// The error of opening the file.
pub fn probe(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => {
            Err(std::io::Error::other("expected a file, found a folder"))
        }
        // Opening a pipe or a device may block, or have an effect at its other end.
        Ok(there) if !there.is_file() => Ok(()),
        Ok(_) => OpenOptions::new().append(true).open(path).map(drop),
        // The target of a dangling link will be created.
        Err(_) if path.is_symlink() => Ok(()),
        Err(_) => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            fs::remove_file(path)
        }
    }
}

/// Returns whether both names are of the same file, or would be.
fn same(a: &Path, b: &Path) -> bool {
    place(a) == place(b)
}

/// Writes the file at `path` with the contents that `fill` writes.
///
/// # Errors
/// An error of the system or of `fill`. The previous file stays.
pub fn write(path: &Path, fill: impl FnOnce(BufWriter<File>) -> Result<()>) -> Result<()> {
    let place = place(path);
    let there = fs::metadata(path);
    if there.as_ref().is_ok_and(|there| !there.is_file()) || path.is_symlink() && there.is_err() {
        return fill(BufWriter::new(File::create(path)?));
    }
    // A folder may forbid new files and permit changes to existing ones.
    let Ok(part) = Part::beside(&place) else {
        return fill(BufWriter::new(File::create(path)?));
    };
    fill(BufWriter::new(part.file()?))?;
    part.take_place(there.ok().map(|there| there.permissions()))
}

/// Writes `text` to the file at `path`.
///
/// # Errors
/// The errors of [`write()`].
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    write(path, |mut file| {
        file.write_all(text.as_bytes())?;
        file.flush()
    })
}

/// Resolves the links in a path, as far as it exists.
fn place(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new(".")).canonicalize();
        match (parent, path.file_name()) {
            (Ok(parent), Some(name)) => parent.join(name),
            _ => path.to_owned(),
        }
    })
}
