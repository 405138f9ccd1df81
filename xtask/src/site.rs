//! The documentation as a site: what `scripts/site.sh` needs besides mdBook.
//!
//! `assemble` copies `docs` into a folder for mdBook and makes it complete: links that leave `docs` lead to
//! copies of the files, and the table of contents has all pages. `check` reads the finished site.

mod assemble;
mod check;
mod markdown;

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) use assemble::assemble;
pub(crate) use check::check;

/// Returns the files below `folder` as paths relative to it, in their order.
///
/// # Errors
///
/// One line that names the folder that cannot be read.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(relative) = folders.pop() {
        let path = folder.join(&relative);
        let error = |error| format!("{}: {error}", path.display());
        for entry in fs::read_dir(&path).map_err(error)? {
            let entry = entry.map_err(error)?;
            let file = relative.join(entry.file_name());
            if entry.file_type().map_err(error)?.is_dir() {
                folders.push(file);
            } else {
                found.push(file);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the path of `target` as seen from the file `from`, without `.` and `..`; nothing if it lies above
/// the root. Both have `/`.
pub(crate) fn resolve(from: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the relative link from the file `from` to the file `to`.
fn relative(from: &str, to: &str) -> String {
    let here: Vec<&str> = from.split('/').collect();
    let there: Vec<&str> = to.split('/').collect();
    let folders = &here[..here.len() - 1];
    let same = folders.iter().zip(&there).take_while(|(a, b)| a == b).count();
    let same = same.min(there.len() - 1);
    let up = "../".repeat(folders.len() - same);
    format!("{up}{}", there[same..].join("/"))
}

fn text_of(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file and the folders above it.
fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), String> {
    let error = |error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(error)?;
    }
    fs::write(path, content).map_err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_resolved_from_the_page_that_names_it() {
        assert_eq!(
            resolve("docs/guide/send.md", "../senders.md").as_deref(),
            Some("docs/senders.md")
        );
        assert_eq!(resolve("docs/a.md", "./b/../c.md").as_deref(), Some("docs/c.md"));
        assert_eq!(resolve("docs/a.md", "").as_deref(), Some("docs/a.md"));
        assert_eq!(resolve("a.md", "../b.md"), None);
    }

    #[test]
    fn a_relative_link_is_the_shortest() {
        assert_eq!(relative("guide/send.md", "guide/receive.md"), "receive.md");
        assert_eq!(relative("guide/send.md", "source/a/b.txt"), "../source/a/b.txt");
        assert_eq!(relative("index.md", "guide/send.md"), "guide/send.md");
        assert_eq!(relative("a/b/c.md", "a/d.md"), "../d.md");
    }
}
