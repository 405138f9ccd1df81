//! Prose and links of the documentation: the README and all pages below `docs`.

mod links;
mod page;
mod rules;

use std::fs;
use std::path::Path;

use self::page::Page;
use self::rules::Kind;

/// A page of the documentation with its path.
pub(crate) struct Document {
    /// Path from the root, with `/`.
    pub(crate) path: String,
    pub(crate) page: Page,
}

/// Folders whose pages `make site` writes, which checks the links to them.
const GENERATED: [&str; 4] = ["docs/reference/", "docs/papers/", "docs/play/", "docs/api/"];

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
    for Document { path, page } in &documents {
        let found = rules::check(page, Kind::of(path));
        violations.extend(found.into_iter().map(|(line, what)| format!("{path}:{line}: {what}")));
    }
    violations.extend(links::check(root, &documents, &GENERATED));
    Ok(violations)
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
