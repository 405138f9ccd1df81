//! `--set KEY=VALUE`: the key that is meant, and its new value.

use toml::Value;

use super::{Entry, Keys, TABLES};
use crate::error::{Error, Place};

/// The most keys that a message names.
const MAX_SHOWN: usize = 8;

/// Tables that may be a single value instead.
const SWITCHES: [&str; 2] = ["resequence", "rate"];

/// Returns whether `key` begins with a table of a scenario.
fn begins_with_table(key: &str) -> bool {
    key.split('.').next().is_some_and(|first| TABLES.contains(&first))
}

/// Keys whose values are words, even if they look like numbers.
const TEXT_KEYS: [&str; 3] = ["name", "title", "source"];

/// The value of `text` for `key`. Text that is not a TOML value is a string without quotes.
fn value(key: &str, text: &str) -> Value {
    match text.parse() {
        Ok(value @ Value::String(_)) => value,
        Ok(value) if !TEXT_KEYS.contains(&key) => value,
        _ => Value::String(text.to_owned()),
    }
}

impl Keys {
    /// Applies one `KEY=VALUE`, and returns the whole key. A key may leave out its beginning where
    /// that is unambiguous. `read` reads the scenario, which records every key that it may have.
    pub(crate) fn set(
        &mut self,
        assignment: &str,
        read: impl FnOnce(&mut Self),
    ) -> Result<String, Error> {
        let (key, text) =
            assignment.split_once('=').ok_or_else(|| Error::Set(assignment.to_owned()))?;
        let (key, text) = (key.trim(), text.trim());
        if key.is_empty() || text.is_empty() {
            return Err(Error::Set(assignment.to_owned()));
        }
        let place = Place::CommandLine("--set");
        let mut meant = self.meant(key);
        if meant.is_empty() && !self.is_whole(key) {
            meant = self.possible(key, read);
        }
        if meant.len() > 1 {
            let shown = meant[..meant.len().min(MAX_SHOWN)].join(", ");
            let more = if meant.len() > MAX_SHOWN { " …" } else { "" };
            let message = format!("could be several: expected one of {shown}{more}");
            return Err(Error::Key { place, key: key.to_owned(), message });
        }
        let key = meant.pop().unwrap_or_else(|| key.to_owned());
        if let Some(message) = self.no_group(&key) {
            return Err(Error::Key { place, key, message });
        }
        let value = value(&key, text);
        self.make_room(&key);
        match self.entries.iter_mut().find(|e| e.key == key) {
            Some(entry) => (entry.value, entry.place) = (value, place),
            None => self.entries.push(Entry { key: key.clone(), value, place, read: false }),
        }
        Ok(key)
    }

    /// Removes the other spelling of a table that may be a single value instead: its keys where `key`
    /// is the table, and the value where `key` is below it.
    fn make_room(&mut self, key: &str) {
        let is_switch = |key: &str| key.rsplit('.').next().is_some_and(|n| SWITCHES.contains(&n));
        if is_switch(key) {
            let below = format!("{key}.");
            self.entries.retain(|e| !e.key.starts_with(&below));
        } else if let Some((table, _)) = key.rsplit_once('.').filter(|(table, _)| is_switch(table))
        {
            self.entries.retain(|e| e.key != table);
        }
    }

    /// Returns whether `key` is whole.
    fn is_whole(&self, key: &str) -> bool {
        begins_with_table(key) || self.entries.iter().any(|e| e.key == key)
    }

    /// The keys that `key` may be short for among those that the scenario may have and the file
    /// lacks: a requested key with that ending, or a key below a table with that ending, such as an
    /// impairment of a link.
    fn possible(&self, key: &str, read: impl FnOnce(&mut Self)) -> Vec<String> {
        let mut keys = self.clone();
        read(&mut keys);
        let requested = keys.requested.borrow();
        if requested.contains(key) {
            return Vec::new();
        }
        let dots = key.rmatch_indices('.').map(|(dot, _)| dot);
        let meant = std::iter::once(key.len()).chain(dots).map(|end| {
            let (ending, rest) = (format!(".{}", &key[..end]), &key[end..]);
            let there = requested.iter().filter(|known| known.ends_with(&ending));
            there.map(|known| format!("{known}{rest}")).collect::<Vec<_>>()
        });
        meant.into_iter().find(|meant| !meant.is_empty()).unwrap_or_default()
    }

    /// The keys that `key` may be short for: keys with that ending, or else new keys in tables with
    /// the ending of its table; none if it is whole.
    fn meant(&self, key: &str) -> Vec<String> {
        if self.entries.iter().any(|e| e.key == key) {
            return Vec::new();
        }
        let whole = begins_with_table(key);
        let dots = key.rmatch_indices('.').map(|(dot, _)| dot).filter(|_| !whole);
        // For `a.b.c`: first the keys that end so, then the tables that end in `a.b`, then those in
        // `a`.
        for end in std::iter::once(key.len()).chain(dots) {
            let (ending, rest) = (format!(".{}.", &key[..end]), &key[end..]);
            let mut meant = Vec::new();
            for known in self.entries.iter().map(|e| format!("{}.", e.key)) {
                let Some(at) = known.rfind(&ending) else { continue };
                let (beginning, below) = known.split_at(at + ending.len() - 1);
                let full = format!("{beginning}{rest}");
                if rest.is_empty() == (below == ".") && !meant.contains(&full) {
                    meant.push(full);
                }
            }
            if !meant.is_empty() {
                return meant;
            }
        }
        Vec::new()
    }
}
