//! Errors of keys that are wrong, missing or unknown, with their places.

use std::collections::BTreeSet;

use unruffled_units::{did_you_mean, hint, similar};

use super::{Entry, GROUPS, Keys};
use crate::error::Error;

impl Keys {
    /// Returns an error at `key`.
    pub(crate) fn wrong(&self, key: &str, message: impl Into<String>) -> Error {
        let place = self.place(key);
        Error::Key { place, key: key.to_owned(), message: message.into() }
    }

    /// Returns the value, or an error if it is missing.
    pub(crate) fn required<T>(
        &self,
        key: &str,
        value: Option<T>,
        such_as: &str,
    ) -> Result<T, Error> {
        value.ok_or_else(|| self.missing(key, &format!("a value such as {such_as}")))
    }

    /// Returns an error at `table`, or at the nearest table above it, if that is not a table.
    pub(crate) fn no_table(&self, table: &str) -> Option<Error> {
        let mut key = table;
        while !key.is_empty() {
            let is_value = |e: &&Entry| e.key == key && !e.value.is_table();
            if let Some(Entry { value, .. }) = self.entries.iter().find(is_value) {
                return Some(self.wrong(key, format!("expected a table, found {value}")));
            }
            key = split(key).0;
        }
        None
    }

    /// Returns the error of a missing key, at the key or at a misspelt one in its place.
    pub(crate) fn missing(&self, key: &str, expected: &str) -> Error {
        let message = format!("missing: expected {expected}");
        let (table, name) = split(key);
        if let Some(wrong) = self.no_table(table) {
            return wrong;
        }
        let misspelt = self.entries.iter().find(|e| {
            let (beside, other) = split(&e.key);
            !e.read && beside == table && strsim::osa_distance(other, name) <= name.len() / 3
        });
        match misspelt {
            Some(e) => self.wrong(&e.key, format!("unknown key, and {key} is {message}")),
            None => self.wrong(key, message),
        }
    }

    /// Rejects the first key that has not been read.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let Some(entry) = self.entries.iter().find(|e| !e.read) else { return Ok(()) };
        let message = self.no_link(&entry.key);
        Err(self.wrong(&entry.key, message.unwrap_or_else(|| self.unknown(&entry.key))))
    }

    /// The message about an unknown key: the requested keys of the nearest table, and a suggestion.
    fn unknown(&self, key: &str) -> String {
        let meant = self.meant_for(key).map_or(String::new(), |key| did_you_mean(&key));
        self.expected(key) + meant.as_str()
    }

    /// The requested key that is most similar to `key`, which may lack its beginning: parts are
    /// compared from the end. Keys of the same table come first. In an unknown table every key is
    /// unknown, so the table is compared.
    fn meant_for(&self, key: &str) -> Option<String> {
        let dots = key.rmatch_indices('.').map(|(dot, _)| dot);
        let mut ends = std::iter::once(key.len()).chain(dots);
        ends.find_map(|end| {
            let meant = self.nearest(&key[..end])? + &key[end..];
            (meant != key).then_some(meant)
        })
    }

    /// The requested key that is most similar to `key`.
    fn nearest(&self, key: &str) -> Option<String> {
        let parts = || key.rsplit('.');
        let requested = self.requested.borrow();
        let distance = |known: &str| {
            let mut ends = known.rsplit('.');
            let far = |part: &str| {
                let end = ends.next()?;
                similar(part, [end]).map(|_| strsim::osa_distance(part, end))
            };
            parts().map(far).sum::<Option<usize>>()
        };
        let beside = |known: &str| split(known).0 != split(key).0;
        let near =
            requested.iter().filter_map(|known| Some((distance(known)?, beside(known), known)));
        near.min().map(|(.., known)| known.clone())
    }

    fn expected(&self, key: &str) -> String {
        let requested_below = |start: &str| {
            let requested = self.requested.borrow();
            let below = requested.iter().filter_map(|requested| requested.strip_prefix(start));
            let names: BTreeSet<_> =
                below.filter_map(|below| below.split('.').next()).map(str::to_owned).collect();
            Vec::from_iter(names).join(", ")
        };
        let names = requested_below(&format!("{key}."));
        if !names.is_empty() {
            return format!("expected a table of {names}");
        }
        let mut table = split(key).0;
        if let Some(group) = [key, table].into_iter().find(|name| GROUPS.contains(name)) {
            return format!("expected [[{group}]] with a name, or [{group}.NAME]");
        }
        // The keys below these tables depend on names.
        if let Some(table) = ["link", "variant"].iter().find(|name| [key, table].contains(name)) {
            return format!("expected a table, [{table}.NAME]");
        }
        loop {
            let start = if table.is_empty() { String::new() } else { format!("{table}.") };
            let names = requested_below(&start);
            if !names.is_empty() {
                let place = if table.is_empty() { "" } else { " below " };
                return format!("unknown key: expected one of {names}{place}{table}");
            }
            table = split(table).0;
        }
    }

    /// The message about a key of a link that no traffic crosses.
    fn no_link(&self, key: &str) -> Option<String> {
        fn name(key: &str) -> Option<&str> {
            Some(key.strip_prefix("link.")?.split_once('.')?.0)
        }
        let unused = name(key)?;
        let mut used: Vec<&str> = Vec::new();
        for link in self.entries.iter().filter(|e| e.read).filter_map(|e| name(&e.key)) {
            if !used.contains(&link) {
                used.push(link);
            }
        }
        let known = used.join(", ");
        let meant = hint(unused, used.iter().copied());
        let message = || format!("no link {unused} in the network: expected one of {known}{meant}");
        (!used.is_empty() && !used.contains(&unused)).then(message)
    }

    /// The message about a key of an absent group: a misspelt name would otherwise add a group.
    pub(crate) fn no_group(&self, key: &str) -> Option<String> {
        let (name, _) = key.strip_prefix("traffic.")?.split_once('.')?;
        let groups = self.tables("traffic");
        let known = groups.join(", ");
        let meant = hint(name, groups.iter().map(String::as_str));
        let message =
            || format!("no traffic {name} in the scenario: expected one of {known}{meant}");
        (!groups.is_empty() && !groups.iter().any(|group| group == name)).then(message)
    }
}

/// Splits a key into its table and its last part.
fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}
