//! The source files of the repository.

use std::fs;
use std::path::Path;

/// Folders that contain sources.
const FOLDERS: [&str; 4] = ["crates", "peers", "python", "xtask"];

/// A programming language, as far as comments and string literals go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    C,
    Python,
}

impl Language {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "rs" => Some(Self::Rust),
            "c" | "h" => Some(Self::C),
            "py" | "pyi" => Some(Self::Python),
            _ => None,
        }
    }
}

/// A source file.
pub(crate) struct Source {
    /// Path from the repository's root, with `/`.
    pub(crate) path: String,
    pub(crate) language: Language,
    pub(crate) text: String,
}

/// Reads all source files below `root`, in the order of their paths.
pub(crate) fn read_all(root: &Path) -> Result<Vec<Source>, String> {
    let mut sources = Vec::new();
    for folder in FOLDERS {
        read_folder(root, folder, &mut sources)?;
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn read_folder(root: &Path, folder: &str, sources: &mut Vec<Source>) -> Result<(), String> {
    let entries = fs::read_dir(root.join(folder)).map_err(|error| format!("{folder}: {error}"))?;
    for entry in entries {
        let entry = entry.map_err(|error| format!("{folder}: {error}"))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = format!("{folder}/{name}");
        let kind = entry.file_type().map_err(|error| format!("{path}: {error}"))?;
        if kind.is_dir() {
            if name != "target" && !name.starts_with('.') {
                read_folder(root, &path, sources)?;
            }
        } else if let Some(language) = Language::of(Path::new(&name)) {
            let text =
                fs::read_to_string(entry.path()).map_err(|error| format!("{path}: {error}"))?;
            sources.push(Source { path, language, text });
        }
    }
    Ok(())
}
