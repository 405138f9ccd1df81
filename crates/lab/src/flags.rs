//! Flags that stand for keys of a scenario, beside `--set`, which replaces any.

use crate::error::{Error, Place};

/// Keys of a scenario and the flags that replace them.
pub type Flags = Vec<(&'static str, &'static str)>;

/// The key that `set` (`KEY=VALUE`) replaces.
pub fn key(set: &str) -> &str {
    set.split('=').next().unwrap_or_default().trim()
}

/// Those of a command's flags that are given.
///
/// # Errors
/// A key that `set` replaces beside the flag that does: one of the two would go unheeded.
pub fn given<const N: usize>(
    set: &[String],
    flags: [(&'static str, &'static str, bool); N],
) -> Result<Flags, Error> {
    let flags: Flags =
        flags.into_iter().filter_map(|(key, flag, given)| given.then_some((key, flag))).collect();
    let means = |key: &str, of: &str| {
        of.strip_suffix(key).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    for key in set.iter().map(|set| key(set)) {
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
