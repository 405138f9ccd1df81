//! Files that the command writes: checked before the work, put in place after it.
//!
//! A file is written under another name beside its place and moved there when it is whole, so that
//! what stood there before is lost only to what replaces it.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Result, Write};
use std::path::{Path, PathBuf};

/// Whether a file could be written at `path`, without leaving a trace.
pub(crate) fn probe(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        // Pipes and devices: opening one may block, or mean something to its other end.
        Ok(there) if !there.is_file() && !there.is_dir() => Ok(()),
        Ok(_) => OpenOptions::new().append(true).open(path).map(drop),
        // A link to nowhere: what it points to will be made.
        Err(_) if path.is_symlink() => Ok(()),
        Err(_) => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            fs::remove_file(path)
        }
    }
}

/// Whether both names are of the same file, or would be.
pub(crate) fn same(a: &Path, b: &Path) -> bool {
    place(a) == place(b)
}

/// Writes the file at `path`; `fill` gives its contents.
pub(crate) fn write(path: &Path, fill: impl FnOnce(BufWriter<File>) -> Result<()>) -> Result<()> {
    let place = place(path);
    let there = fs::metadata(path);
    if there.as_ref().is_ok_and(|there| !there.is_file()) || path.is_symlink() && there.is_err() {
        return fill(BufWriter::new(File::create(path)?));
    }
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = place.with_file_name(name);
    // A folder may forbid new files where the old one may be written.
    let Ok(file) = File::create(&part) else {
        return fill(BufWriter::new(File::create(path)?));
    };
    let written = fill(BufWriter::new(file)).and_then(|()| {
        if let Ok(there) = there {
            fs::set_permissions(&part, there.permissions())?;
        }
        fs::rename(&part, &place)
    });
    if written.is_err() {
        // The error that matters is the first.
        let _ = fs::remove_file(&part);
    }
    written
}

/// Writes `text` to the file at `path`.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<()> {
    write(path, |mut file| {
        file.write_all(text.as_bytes())?;
        file.flush()
    })
}

/// The file's path without links on the way, as far as it exists.
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
