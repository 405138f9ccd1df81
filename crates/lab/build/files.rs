//! Files that build scripts read.

use std::fs;
use std::path::{Path, PathBuf};

/// Finds the files below `path` with that extension, in order.
pub(crate) fn find(path: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    if path.is_file() {
        into.push(path.to_owned());
        return;
    }
    let Ok(entries) = fs::read_dir(path) else { return };
    let mut entries: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() || entry.extension().is_some_and(|e| e == ending) {
            find(&entry, ending, into);
        }
    }
}
