//! A file that is not there.

use std::fs;
use std::path::Path;

use unruffled_tcp::Variant;
use unruffled_units::{did_you_mean, hint, similar};

use crate::builtin::BUILTIN;
use crate::error::Error;

/// Names of a folder that are looked at for one that is like a missing file's.
const MOST: usize = 10_000;

/// Whether `name` can only be a file's: what has a name of its own, such as a scenario, has no slash and
/// no dot in it.
pub fn is_path(name: &str) -> bool {
    name.contains(['/', '\\', '.'])
}

/// There is no file at `path`. One in its folder may have been meant, or one of the `known` names without
/// an ending.
pub fn missing<'a>(path: &Path, known: impl IntoIterator<Item = &'a str>) -> Error {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let hint = match beside(path) {
        Some(meant) => did_you_mean(&meant),
        None => hint(&stem, known),
    };
    Error::Missing { name: path.display().to_string(), hint }
}

/// There is no such scenario: `name` is no built-in one, no random path, and no file.
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

/// The file at `path` is not there, by the error of its reading; else it cannot be read.
pub fn unreadable(path: &Path, source: std::io::Error) -> Error {
    match source.kind() {
        std::io::ErrorKind::NotFound => missing(path, BUILTIN.iter().map(|(name, _)| *name)),
        _ => Error::Unreadable { name: path.display().to_string(), source },
    }
}

/// The file in the same folder, with the same ending, whose name is most like that of `path`.
fn beside(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let there = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let same = |name: &Path| name.extension() == path.extension();
    let names = there.take(MOST).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| same(Path::new(name))).collect();
    // The order of a folder is none.
    names.sort();
    let name = path.file_name()?.to_str()?;
    let meant = similar(name, names.iter().map(String::as_str))?;
    Some(path.with_file_name(meant).display().to_string())
}
