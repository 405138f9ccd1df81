//! Flags that replace keys of a scenario, besides `--set`, which can replace any key.

use crate::error::{Error, Place};
use crate::scenario::Scenario;

/// Keys of a scenario and the flags that replace them.
pub type Flags = Vec<(&'static str, &'static str)>;

/// Returns the key that `set` (`KEY=VALUE`) replaces.
pub fn key(set: &str) -> &str {
    set.split('=').next().unwrap_or_default().trim()
}

/// A key that is not dotted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a dotted key, such as link.bottleneck.rate, found {0:?}")]
pub struct NotDotted(String);

/// Checks that `key` can be a key of a scenario.
///
/// # Errors
/// [`NotDotted`] if a part of the key is empty or has spaces around it.
pub fn dotted(key: &str) -> Result<(), NotDotted> {
    let is_part = |part: &str| !part.trim().is_empty() && part.trim() == part;
    if !key.contains('=') && key.split('.').all(is_part) {
        return Ok(());
    }
    Err(NotDotted(key.to_owned()))
}

/// Returns the flags that are given, of a command's `flags`: key, flag, and whether it is given.
///
/// # Errors
/// A key that `set` replaces as well as a flag, or replaces twice: one of the two would be ignored.
pub fn given<const N: usize>(
    set: &[String],
    flags: [(&'static str, &'static str, bool); N],
) -> Result<Flags, Error> {
    let flags: Flags =
        flags.into_iter().filter_map(|(key, flag, given)| given.then_some((key, flag))).collect();
    let means = |key: &str, of: &str| {
        of.strip_suffix(key).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    for (at, key) in set.iter().map(|set| key(set)).enumerate() {
        if set[..at].iter().any(|before| self::key(before) == key) {
            return Err(twice(key));
        }
        if let Some((_, flag)) = flags.iter().find(|(of, _)| means(key, of)) {
            return Err(Error::Key {
                place: Place::CommandLine("--set"),
                key: key.to_owned(),
                message: format!("expected this or {flag}, not both"),
            });
        }
    }
    Ok(flags)
}

/// Returns the text of the scenario `name`, after checking that `set` replaces each key once.
///
/// # Errors
/// An unknown scenario, and the errors of [`once`].
pub fn text(name: &str, set: &[String]) -> Result<String, Error> {
    let text = Scenario::text(name)?;
    once(name, &text, set)?;
    Ok(text)
}

/// Rejects a key that `set` replaces twice in the scenario in `text`, which errors call `file`. A
/// key may be written in several ways, because its beginning may be left out.
///
/// # Errors
/// Such a key, and a key that cannot be set.
pub fn once(file: &str, text: &str, set: &[String]) -> Result<(), Error> {
    let whole = Scenario::replaced(file, text, set)?;
    match (0..whole.len()).find(|&at| whole[..at].contains(&whole[at])) {
        Some(at) => Err(twice(key(&set[at]))),
        None => Ok(()),
    }
}

/// Returns the error of a key that `--set` replaces twice.
pub fn twice(key: &str) -> Error {
    Error::Key {
        place: Place::CommandLine("--set"),
        key: key.to_owned(),
        message: "stands twice: expected each key once".to_owned(),
    }
}

/// The tables and keys of a scenario that describe its path, or its name.
const PATH_TABLES: [&str; 6] = ["name", "title", "source", "topology", "path", "link"];

/// The keys of traffic that describe its ways.
const WAY_KEYS: [&str; 9] =
    ["from", "to", "access", "egress", "ways", "weights", "epsilon", "spread", "spread_acks"];

/// Checks that `set` replaces only keys that describe the path of the scenario in `text`.
///
/// # Errors
/// Another key, which would be ignored.
pub fn of_the_path(file: &str, text: &str, set: &[String]) -> Result<(), Error> {
    let keys = Scenario::replaced(file, text, set)?;
    let is_of_the_path = |key: &str| {
        let mut parts = key.split('.');
        let table = parts.next().unwrap_or_default();
        let last = parts.next_back().unwrap_or_default();
        PATH_TABLES.contains(&table) || (table == "traffic" && WAY_KEYS.contains(&last))
    };
    match keys.into_iter().find(|key| !is_of_the_path(key)) {
        Some(key) => Err(Error::Key {
            place: Place::CommandLine("--set"),
            key,
            message: "not about the path: expected a key of [link.NAME] or [path], or of the ways \
                      of [traffic.NAME]"
                .to_owned(),
        }),
        None => Ok(()),
    }
}
