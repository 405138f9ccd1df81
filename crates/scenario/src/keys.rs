//! A scenario file as a flat list of dotted keys with their values and places. `--set` can replace
//! any of them, and every error can name its place.

mod refusal;
mod set;
mod values;

use std::cell::RefCell;
use std::collections::BTreeSet;

use toml::{Spanned, Value};

use crate::document::{Document, Node, Nodes, dotted};
use crate::error::{Error, Place};

/// Tables that may occur several times, as `[[traffic]]` with a name each.
const GROUPS: [&str; 1] = ["traffic"];

/// Tables whose keys are names chosen by the user.
const NAMED: [&str; 2] = ["link", "traffic"];

/// The tables of a scenario. A key that begins with one of them is whole, although links and
/// traffic may have such names, too.
pub(crate) const TABLES: [&str; 8] =
    ["tcp", "flow", "path", "topology", "link", "traffic", "record", "variant"];

/// The value of a key and its place.
#[derive(Clone, Debug)]
struct Entry {
    key: String,
    value: Value,
    place: Place,
    read: bool,
}

/// All keys of a file, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    file: String,
    entries: Vec<Entry>,
    /// The requested keys, whether the file has them or not. Errors suggest one of them in place of
    /// an unknown key.
    requested: RefCell<BTreeSet<String>>,
}

/// Returns whether a table without keys has no meaning: a table of a scenario, or a table with one
/// entry per name.
fn may_be_empty(prefix: &str, key: &str) -> bool {
    TABLES.contains(&key) || ["link", "variant"].contains(&prefix)
}

impl Keys {
    /// Reads the TOML `text`, which errors call `file`.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let document = Document::parse(file, text)?;
        let mut keys =
            Self { file: file.to_owned(), entries: Vec::new(), requested: RefCell::default() };
        keys.flatten("", document.nodes(), &|at| document.line(at))?;
        keys.entries.sort_by_key(|e| match e.place {
            Place::Line(_, line) => line,
            _ => 0,
        });
        Ok(keys)
    }

    fn flatten(
        &mut self,
        prefix: &str,
        table: &Nodes,
        line: &impl Fn(usize) -> usize,
    ) -> Result<(), Error> {
        for (name, value) in table {
            let key = dotted(prefix, name.get_ref());
            let place = Place::Line(self.file.clone(), line(name.span().start));
            // Names of links and groups become parts of keys.
            let named = NAMED.contains(&prefix).then(|| part_of_a_key(name.get_ref()));
            if let Err(message) = printable(&key).and(named.unwrap_or(Ok(()))) {
                return Err(Error::Key { place, key, message });
            }
            match value.get_ref() {
                Node::Table(inner) if inner.is_empty() && GROUPS.contains(&prefix) => {
                    self.all_default(&key, place);
                }
                // The table of an impairment with default values, or a misspelt one.
                Node::Table(inner) if inner.is_empty() && !may_be_empty(prefix, &key) => {
                    let value = Value::Table(toml::Table::new());
                    self.entries.push(Entry { key, value, place, read: false });
                }
                Node::Table(inner) => self.flatten(&key, inner, line)?,
                Node::Array(items) if GROUPS.contains(&key.as_str()) => {
                    for item in items {
                        self.flatten_group(&key, item, line)?;
                    }
                }
                leaf => {
                    let value = leaf.plain().ok_or_else(|| Error::Key {
                        place: place.clone(),
                        key: key.clone(),
                        message: "expected a string, number, boolean or list of them".to_owned(),
                    })?;
                    self.entries.push(Entry { key, value, place, read: false });
                }
            }
        }
        Ok(())
    }

    /// Adds one `[[GROUP]]`, which means the same as `[GROUP.NAME]`.
    fn flatten_group(
        &mut self,
        group: &str,
        item: &Spanned<Node>,
        line: &impl Fn(usize) -> usize,
    ) -> Result<(), Error> {
        let place = Place::Line(self.file.clone(), line(item.span().start));
        let name = item.get_ref().text("name");
        let good = |name: &&str| !name.is_empty() && !name.contains(['.', ' ', '"']);
        let (Node::Table(table), Some(name)) = (item.get_ref(), name.filter(good)) else {
            let (key, message) = (
                format!("{group}.name"),
                "expected a name without spaces, dots and quotes, such as \"bulk\"",
            );
            return Err(Error::Key { place, key, message: message.to_owned() });
        };
        let key = format!("{group}.{name}");
        if let Err(message) = printable(name) {
            return Err(Error::Key { place, key: format!("{group}.name"), message });
        }
        if self.has(&key) {
            let message = format!("{name} stands twice: expected a name of its own");
            return Err(Error::Key { place, key: format!("{group}.name"), message });
        }
        self.flatten(&key, table, line)?;
        // The name is a part of the key now.
        self.entries.retain(|entry| entry.key != format!("{key}.name"));
        if !self.has(&key) {
            self.all_default(&key, place);
        }
        Ok(())
    }

    /// Adds a key to a group that leaves everything to its defaults, so that the group exists.
    fn all_default(&mut self, group: &str, place: Place) {
        let (key, value) = (format!("{group}.count"), Value::Integer(1));
        self.entries.push(Entry { key, value, place, read: false });
    }

    /// Returns the keys as TOML.
    pub(crate) fn to_toml(&self) -> String {
        let mut root = toml::Table::new();
        for entry in &self.entries {
            let mut path: Vec<&str> = entry.key.split('.').collect();
            let Some(last) = path.pop() else { continue };
            let mut table = &mut root;
            for part in path {
                let inner = table.entry(part).or_insert_with(|| Value::Table(toml::Table::new()));
                let Value::Table(inner) = inner else { return String::new() };
                table = inner;
            }
            match &entry.value {
                // Keys below the table may come before it.
                Value::Table(_) if table.contains_key(last) => {}
                value => drop(table.insert(last.to_owned(), value.clone())),
            }
        }
        toml::to_string(&root).unwrap_or_default()
    }

    /// The name that errors give the file.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the place of `key`. The place of an absent key is that of the keys beside it, if all
    /// of its table comes from the command line; otherwise it is the file.
    pub(crate) fn place(&self, key: &str) -> Place {
        let below = |e: &&Entry| e.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
        let entry = self.entries.iter().find(|e| e.key == key);
        let entry = entry.or_else(|| self.entries.iter().find(below));
        let table = |key: &str| key.rsplit_once('.').map(|(table, _)| table.to_owned());
        let beside = || self.entries.iter().filter(|e| table(&e.key) == table(key));
        let given = || beside().all(|e| matches!(e.place, Place::CommandLine(_)));
        let in_a_table = key.contains('.');
        let entry = entry.or_else(|| beside().next().filter(|_| in_a_table && given()));
        let place = entry.map(|e| e.place.clone());
        place.unwrap_or_else(|| Place::File(self.file.clone()))
    }

    /// Returns the keys directly below the table `prefix`, and their last parts.
    pub(crate) fn leaves(&self, prefix: &str) -> Vec<(String, String)> {
        let start = format!("{prefix}.");
        let below = self.entries.iter().filter_map(|e| {
            let name = e.key.strip_prefix(&start)?;
            (!name.contains('.')).then(|| (e.key.clone(), name.to_owned()))
        });
        below.collect()
    }

    /// Returns the names of the tables directly below `prefix`, in the order of the file.
    pub(crate) fn tables(&self, prefix: &str) -> Vec<String> {
        self.request(prefix);
        let start = format!("{prefix}.");
        let mut names: Vec<String> = Vec::new();
        for entry in &self.entries {
            let rest = entry.key.strip_prefix(&start);
            if let Some((name, _)) = rest.and_then(|rest| rest.split_once('.'))
                && !names.iter().any(|n| n == name)
            {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Returns whether there is a key below `prefix`, or `prefix` itself.
    pub(crate) fn has(&self, prefix: &str) -> bool {
        self.request(prefix);
        let start = format!("{prefix}.");
        self.entries.iter().any(|e| e.key == prefix || e.key.starts_with(&start))
    }

    /// Returns whether the file has the table, even if it is empty. The caller reads its keys next.
    pub(crate) fn enter(&mut self, table: &str) -> bool {
        let there = self.has(table);
        let is_empty = |value: &Value| value.as_table().is_some_and(toml::Table::is_empty);
        let empty = |e: &&mut Entry| e.key == table && is_empty(&e.value);
        if let Some(entry) = self.entries.iter_mut().find(empty) {
            entry.read = true;
        }
        there
    }

    /// Returns whether the file has a value at `key` that is not a table.
    pub(crate) fn is_value(&self, key: &str) -> bool {
        self.request(key);
        self.entries.iter().any(|e| e.key == key && !e.value.is_table())
    }

    /// Replaces the value of `key`.
    pub(crate) fn replace(&mut self, key: &str, value: Value) {
        if let Some(entry) = self.entries.iter_mut().find(|e| e.key == key) {
            entry.value = value;
        }
    }

    /// Adds a key with the place of the key `beside`.
    pub(crate) fn add_beside(&mut self, beside: &str, key: &str, value: Value) {
        let place = self.place(beside);
        self.entries.push(Entry { key: key.to_owned(), value, place, read: false });
    }

    /// Removes a key.
    pub(crate) fn remove(&mut self, key: &str) {
        self.entries.retain(|e| e.key != key);
    }

    /// Returns the keys that were requested.
    #[cfg(test)]
    pub(crate) fn requested(&self) -> BTreeSet<String> {
        self.requested.borrow().clone()
    }

    fn request(&self, key: &str) {
        self.requested.borrow_mut().insert(key.to_owned());
    }

    fn get(&mut self, key: &str) -> Option<Value> {
        self.request(key);
        let entry = self.entries.iter_mut().find(|e| e.key == key)?;
        entry.read = true;
        Some(entry.value.clone())
    }
}

/// Returns the text, unless it has control characters, which a terminal would obey.
fn printable(text: &str) -> Result<String, String> {
    match text.chars().find(|c| c.is_control()) {
        Some(found) => Err(format!("expected no control characters, found {found:?}")),
        None => Ok(text.to_owned()),
    }
}

/// Rejects a name that cannot be a part of a dotted key.
fn part_of_a_key(name: &str) -> Result<(), String> {
    match name.trim().is_empty() || name.contains('.') {
        true => Err(format!("expected a name without dots, found {name:?}")),
        false => Ok(()),
    }
}
