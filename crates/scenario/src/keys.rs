//! A scenario file as a flat list of dotted keys, each with its value and its place, so that
//! `--set` can replace any of them and every complaint can say where.

mod refusal;
mod set;
mod values;

use std::cell::RefCell;
use std::collections::BTreeSet;

use toml::{Spanned, Value};

use crate::document::{Document, Node, Nodes, dotted};
use crate::error::{Error, Place};

/// Tables of which there may be several, written `[[traffic]]` with a name each.
const GROUPS: [&str; 1] = ["traffic"];

/// Tables whose keys are names that people give.
const NAMED: [&str; 2] = ["link", "traffic"];

/// The tables of a scenario: a key that begins with one of them leaves nothing out, though links and
/// traffic may have such names as well.
pub(crate) const TABLES: [&str; 8] =
    ["tcp", "flow", "path", "topology", "link", "traffic", "record", "variant"];

/// A key's value and where it stands.
#[derive(Clone, Debug)]
struct Entry {
    key: String,
    value: Value,
    place: Place,
    read: bool,
}

/// All keys of a file, in its order.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    file: String,
    entries: Vec<Entry>,
    /// What was asked for, there or not: the keys that a complaint offers in place of an unknown one.
    asked: RefCell<BTreeSet<String>>,
}

/// Whether a table without keys says nothing: one of the tables of a scenario, or what they have one of for
/// each name.
fn may_be_empty(prefix: &str, key: &str) -> bool {
    TABLES.contains(&key) || ["link", "variant"].contains(&prefix)
}

impl Keys {
    /// Reads the TOML `text` of `file`.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let document = Document::parse(file, text)?;
        let mut keys =
            Self { file: file.to_owned(), entries: Vec::new(), asked: RefCell::default() };
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
            // Names of links and groups are parts of keys.
            let named = NAMED.contains(&prefix).then(|| part_of_a_key(name.get_ref()));
            if let Err(message) = printable(&key).and(named.unwrap_or(Ok(()))) {
                return Err(Error::Key { place, key, message });
            }
            match value.get_ref() {
                Node::Table(inner) if inner.is_empty() && GROUPS.contains(&prefix) => {
                    self.all_default(&key, place);
                }
                // Such as a link's, of which all may be left to its defaults; or one that is misspelt.
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

    /// One `[[GROUP]]`: the same as `[GROUP.NAME]`.
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
        // The name is in the key now.
        self.entries.retain(|entry| entry.key != format!("{key}.name"));
        if !self.has(&key) {
            self.all_default(&key, place);
        }
        Ok(())
    }

    /// A group of which all is left to its defaults is still there.
    fn all_default(&mut self, group: &str, place: Place) {
        let (key, value) = (format!("{group}.count"), Value::Integer(1));
        self.entries.push(Entry { key, value, place, read: false });
    }

    /// The keys as TOML again.
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
                // Keys below it may have come first.
                Value::Table(_) if table.contains_key(last) => {}
                value => drop(table.insert(last.to_owned(), value.clone())),
            }
        }
        toml::to_string(&root).unwrap_or_default()
    }

    /// What errors call the file.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Where `key` stands, or would: with those beside it in a table of which all comes from the command
    /// line. What is in no table would stand in the file.
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

    /// The keys right below the table `prefix`, and their last parts.
    pub(crate) fn leaves(&self, prefix: &str) -> Vec<(String, String)> {
        let start = format!("{prefix}.");
        let below = self.entries.iter().filter_map(|e| {
            let name = e.key.strip_prefix(&start)?;
            (!name.contains('.')).then(|| (e.key.clone(), name.to_owned()))
        });
        below.collect()
    }

    /// The names of the tables right below `prefix`, in the order of the file.
    pub(crate) fn tables(&self, prefix: &str) -> Vec<String> {
        self.ask(prefix);
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

    /// Whether any key begins with `prefix`.
    pub(crate) fn has(&self, prefix: &str) -> bool {
        self.ask(prefix);
        let start = format!("{prefix}.");
        self.entries.iter().any(|e| e.key == prefix || e.key.starts_with(&start))
    }

    /// Whether the file has the table, were it empty; what reads its keys comes next.
    pub(crate) fn enter(&mut self, table: &str) -> bool {
        let there = self.has(table);
        let empty = |e: &&mut Entry| e.key == table && e.value.is_table();
        if let Some(entry) = self.entries.iter_mut().find(empty) {
            entry.read = true;
        }
        there
    }

    fn ask(&self, key: &str) {
        self.asked.borrow_mut().insert(key.to_owned());
    }

    fn get(&mut self, key: &str) -> Option<Value> {
        self.ask(key);
        let entry = self.entries.iter_mut().find(|e| e.key == key)?;
        entry.read = true;
        Some(entry.value.clone())
    }
}

/// The text, unless it would do to a terminal what no name or title should.
fn printable(text: &str) -> Result<String, String> {
    match text.chars().find(|c| c.is_control()) {
        Some(found) => Err(format!("expected no control characters, found {found:?}")),
        None => Ok(text.to_owned()),
    }
}

/// Refuses a name that a dotted key cannot hold.
fn part_of_a_key(name: &str) -> Result<(), String> {
    match name.trim().is_empty() || name.contains('.') {
        true => Err(format!("expected a name without dots, found {name:?}")),
        false => Ok(()),
    }
}
