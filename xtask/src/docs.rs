//! Prose and links of the documentation: the README and all pages below `docs`.

mod links;
mod page;
mod rules;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use self::page::Page;
use self::rules::Kind;

/// A page of the documentation with its path.
pub(crate) struct Document {
    /// Path from the root, with `/`.
    pub(crate) path: String,
    pub(crate) page: Page,
}

/// Folders whose pages `make site` writes. Links to them are checked in the assembled book.
const GENERATED: [&str; 3] = ["docs/reference/", "docs/papers/", "docs/play/"];

/// Returns the violations of the README and the pages below `docs`, as messages.
///
/// # Errors
///
/// One line that names the file that cannot be read.
pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut documents = vec![read(root, "README.md")?];
    read_folder(root, "docs", &mut documents)?;
    documents.sort_by(|a, b| a.path.cmp(&b.path));
    let mut violations = Vec::new();
    let unchecked = unchecked(root)?;
    for Document { path, page } in &documents {
        let found = rules::check(page, Kind::of(path));
        if !unchecked.contains(path) {
            let found = found.into_iter().map(|(line, what)| format!("{path}:{line}: {what}"));
            violations.extend(found);
        } else if found.is_empty() {
            violations.push(format!("{UNCHECKED}: {path} breaks no rule: expected no line for it"));
        }
    }
    let is_there = |path: &&String| documents.iter().any(|document| document.path == **path);
    violations.extend(
        unchecked
            .iter()
            .filter(|path| !is_there(path))
            .map(|path| format!("{UNCHECKED}: {path}: no such page")),
    );
    violations.extend(links::check(root, &documents, &GENERATED));
    Ok(violations)
}

/// Pages whose prose is not checked yet. Their links are.
const UNCHECKED: &str = "xtask/unchecked-pages.txt";

fn unchecked(root: &Path) -> Result<Vec<String>, String> {
    let text = match fs::read_to_string(root.join(UNCHECKED)) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{UNCHECKED}: {error}")),
    };
    let lines = text.lines().map(str::trim);
    Ok(lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect())
}

fn read(root: &Path, path: &str) -> Result<Document, String> {
    let text = fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))?;
    Ok(Document { path: path.to_owned(), page: Page::parse(&text) })
}

fn read_folder(root: &Path, folder: &str, documents: &mut Vec<Document>) -> Result<(), String> {
    let entries = fs::read_dir(root.join(folder)).map_err(|error| format!("{folder}: {error}"))?;
    for entry in entries {
        let entry = entry.map_err(|error| format!("{folder}: {error}"))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type().map_err(|error| format!("{path}: {error}"))?;
        if kind.is_dir() {
            read_folder(root, &path, documents)?;
        } else if name.ends_with(".md") {
            documents.push(read(root, &path)?);
        }
    }
    Ok(())
}
