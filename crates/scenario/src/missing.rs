//! Errors of files that do not exist or cannot be read, with suggestions.

use std::fs;
use std::path::Path;

use unruffled_tcp::Variant;
use unruffled_units::{did_you_mean, hint, similar};

use crate::builtin::BUILTIN;
use crate::error::Error;

/// The most names of a folder that are compared with that of a missing file.
const MAX_NAMES: usize = 10_000;

/// Returns whether `name` can only be the name of a file: names of scenarios and experiments have
/// no slash and no dot.
pub fn is_path(name: &str) -> bool {
    name.contains(['/', '\\', '.'])
}

/// Returns the error of a missing file. It suggests a similar name in the same folder, or a similar
/// one of the `known` names.
pub fn missing<'a>(path: &Path, known: impl IntoIterator<Item = &'a str>) -> Error {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let hint = match beside(path) {
        Some(meant) => did_you_mean(&meant),
        None => hint(&stem, known),
    };
    Error::Missing { name: path.display().to_string(), hint }
}

/// Returns the error of a name that is neither that of a built-in scenario, nor of a random path,
/// nor of a file.
pub(crate) fn no_scenario(name: &str, source: std::io::Error) -> Error {
    let builtin: Vec<&str> = BUILTIN.iter().map(|(name, _)| *name).collect();
    let file = format!("{name}.toml");
    let hint = match Variant::parse(name) {
        _ if Path::new(&file).is_file() => did_you_mean(&file),
        Ok(_) => format!("; {name} is a variant"),
        Err(_) if Variant::parse(&format!("rack+{name}")).is_ok() => {
            format!("; {name} is a part of variants, such as rack+{name}")
        }
        Err(_) => hint(name, builtin.iter().copied()),
    };
    Error::NoScenario { name: name.to_owned(), builtin: builtin.join(", "), hint, source }
}

/// Returns the error of a scenario or grid file that does not exist or cannot be read.
pub fn unreadable(path: &Path, source: std::io::Error) -> Error {
    match source.kind() {
        std::io::ErrorKind::NotFound => missing(path, BUILTIN.iter().map(|(name, _)| *name)),
        _ => Error::Unreadable { name: path.display().to_string(), source },
    }
}

/// The file with the same extension in the same folder whose name is most similar to that of
/// `path`.
fn beside(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let there = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let same = |name: &Path| name.extension() == path.extension();
    let names =
        there.take(MAX_NAMES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| same(Path::new(name))).collect();
    // Folders list their files in no particular order.
    names.sort();
    let name = path.file_name()?.to_str()?;
    let meant = similar(name, names.iter().map(String::as_str))?;
    Some(path.with_file_name(meant).display().to_string())
}
