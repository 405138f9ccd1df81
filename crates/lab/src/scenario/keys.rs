//! A scenario file as a flat list of dotted keys, each with its value and its place, so that
//! `--set` can replace any of them and every complaint can say where.

mod set;

use std::cell::RefCell;
use std::collections::BTreeSet;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};
use unruffled_units::{Duration, Rate};

use crate::error::{Error, Place};
use crate::experiment::place::complaint;

/// Tables of which there may be several, written `[[traffic]]` with a name each.
const GROUPS: [&str; 1] = ["traffic"];

/// Tables whose keys are names that people give.
const NAMED: [&str; 2] = ["link", "traffic"];

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

impl Keys {
    /// Reads the TOML `text` of `file`.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let table = DeTable::parse(text).map_err(|e| {
            let at = e.span().map_or(0, |s| s.start);
            let message = complaint(text, &e);
            Error::Syntax { place: Place::Line(file.to_owned(), line(at)), message }
        })?;
        let mut keys =
            Self { file: file.to_owned(), entries: Vec::new(), asked: RefCell::default() };
        keys.flatten("", table.get_ref(), &line)?;
        keys.entries.sort_by_key(|e| match e.place {
            Place::Line(_, line) => line,
            _ => 0,
        });
        Ok(keys)
    }

    fn flatten(
        &mut self,
        prefix: &str,
        table: &DeTable<'_>,
        line: &impl Fn(usize) -> usize,
    ) -> Result<(), Error> {
        for (name, value) in table {
            let key = match prefix {
                "" => name.get_ref().to_string(),
                _ => format!("{prefix}.{}", name.get_ref()),
            };
            let place = Place::Line(self.file.clone(), line(name.span().start));
            // Names of links and groups are parts of keys.
            let named = NAMED.contains(&prefix).then(|| part_of_a_key(name.get_ref()));
            if let Err(message) = printable(&key).and(named.unwrap_or(Ok(()))) {
                return Err(Error::Key { place, key, message });
            }
            match value.get_ref() {
                // A link may have a table of which all is left to its defaults.
                DeValue::Table(inner) if inner.is_empty() && prefix.starts_with("link.") => {
                    let value = Value::Table(toml::Table::new());
                    self.entries.push(Entry { key, value, place, read: false });
                }
                DeValue::Table(inner) => self.flatten(&key, inner, line)?,
                DeValue::Array(items) if GROUPS.contains(&key.as_str()) => {
                    for item in items {
                        self.flatten_group(&key, item, line)?;
                    }
                }
                leaf => {
                    let value = plain(leaf).ok_or_else(|| Error::Key {
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
        item: &Spanned<DeValue<'_>>,
        line: &impl Fn(usize) -> usize,
    ) -> Result<(), Error> {
        let place = Place::Line(self.file.clone(), line(item.span().start));
        let name = item.get_ref().as_table().and_then(|table| table.get("name"));
        let name = name.and_then(|name| name.get_ref().as_str());
        let good = |name: &&str| !name.is_empty() && !name.contains(['.', ' ', '"']);
        let (Some(table), Some(name)) = (item.get_ref().as_table(), name.filter(good)) else {
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
        // A group of which all is left to its defaults is still there.
        if !self.has(&key) {
            let value = Value::Integer(1);
            self.entries.push(Entry { key: format!("{key}.count"), value, place, read: false });
        }
        Ok(())
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

    /// Where `key` stands, or would.
    pub(crate) fn place(&self, key: &str) -> Place {
        let below = |e: &&Entry| e.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
        let entry = self.entries.iter().find(|e| e.key == key);
        let entry = entry.or_else(|| self.entries.iter().find(below));
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

    /// An error at `key`.
    pub(crate) fn wrong(&self, key: &str, message: impl Into<String>) -> Error {
        let place = self.place(key);
        Error::Key { place, key: key.to_owned(), message: message.into() }
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

    /// The value as `parse` reads it from text; numbers are read as their digits.
    fn read<T, E: std::fmt::Display>(
        &mut self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let text = match value {
            Value::String(text) => text,
            // Not hundreds of digits.
            Value::Float(n) if n.abs() >= 1e17 => format!("{n:e}"),
            other => other.to_string(),
        };
        parse(&text).map(Some).map_err(|e| self.wrong(key, e.to_string()))
    }

    pub(crate) fn string(&mut self, key: &str) -> Result<Option<String>, Error> {
        self.read(key, printable)
    }

    /// What a person calls something: text that shows.
    pub(crate) fn name(&mut self, key: &str) -> Result<Option<String>, Error> {
        self.read(key, |text| match text.trim() {
            "" => Err(format!("expected some text, found {text:?}")),
            _ => printable(text),
        })
    }

    /// One of a few words, as what it stands for.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &str,
        among: &[(&str, T)],
    ) -> Result<Option<T>, Error> {
        self.read(key, |text| {
            let found = among.iter().find(|(word, _)| *word == text);
            found.map(|&(_, meaning)| meaning).ok_or_else(|| {
                let mut words: Vec<_> = among.iter().map(|&(word, _)| word).collect();
                let last = words.pop().unwrap_or_default();
                format!("expected {} or {last}, found {text:?}", words.join(", "))
            })
        })
    }

    pub(crate) fn duration(&mut self, key: &str) -> Result<Option<Duration>, Error> {
        self.read(key, unruffled_units::parse_duration)
    }

    pub(crate) fn rate(&mut self, key: &str) -> Result<Option<Rate>, Error> {
        self.read(key, unruffled_units::parse_rate)
    }

    pub(crate) fn fraction(&mut self, key: &str) -> Result<Option<f64>, Error> {
        self.read(key, unruffled_units::parse_fraction)
    }

    pub(crate) fn bytes(&mut self, key: &str) -> Result<Option<u64>, Error> {
        self.read(key, unruffled_units::parse_bytes)
    }

    pub(crate) fn number(&mut self, key: &str) -> Result<Option<f64>, Error> {
        self.read(key, |text| {
            let wrong = || format!("expected a number, found {text:?}");
            text.parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(wrong)
        })
    }

    /// A whole number from `min` to `max`.
    pub(crate) fn count(&mut self, key: &str, min: u64, max: u64) -> Result<Option<u64>, Error> {
        self.read(key, |text| {
            let count = text.parse().ok().filter(|n| (min..=max).contains(n));
            count.ok_or_else(|| {
                format!("expected a whole number from {min} to {max}, found {text:?}")
            })
        })
    }

    pub(crate) fn switch(&mut self, key: &str) -> Result<Option<bool>, Error> {
        self.read(key, |text| {
            text.parse().map_err(|_| format!("expected true or false, found {text:?}"))
        })
    }

    /// A list of `count` numbers.
    pub(crate) fn numbers(&mut self, key: &str, count: usize) -> Result<Option<Vec<f64>>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = |value: &Value| match value {
            Value::Integer(n) => Some(*n as f64),
            Value::Float(n) => Some(*n).filter(|n| n.is_finite()),
            // What an experiment computes comes as text.
            Value::String(text) => text.parse().ok().filter(|n: &f64| n.is_finite()),
            _ => None,
        };
        let numbers = match &value {
            Value::Array(values) => values.iter().map(number).collect::<Option<Vec<f64>>>(),
            _ => None,
        };
        let numbers = numbers.filter(|numbers| numbers.len() == count);
        numbers
            .map(Some)
            .ok_or_else(|| self.wrong(key, format!("expected a list of {count} numbers")))
    }

    /// A list of names, or one string with commas.
    pub(crate) fn list(&mut self, key: &str) -> Result<Option<Vec<String>>, Error> {
        self.list_of(key, "names")
    }

    /// A list of strings, or one string with commas: `what`, for messages.
    pub(crate) fn list_of(&mut self, key: &str, what: &str) -> Result<Option<Vec<String>>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let strings = match value {
            Value::String(text) => text.split(',').map(|s| Some(s.trim().to_owned())).collect(),
            Value::Array(values) => {
                values.iter().map(|v| v.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
            }
            _ => None,
        };
        let strings = strings.filter(|s| !s.is_empty() && s.iter().all(|s| !s.is_empty()));
        strings.map(Some).ok_or_else(|| self.wrong(key, format!("expected a list of {what}")))
    }

    /// The value, or a complaint that it is missing.
    pub(crate) fn required<T>(
        &self,
        key: &str,
        value: Option<T>,
        such_as: &str,
    ) -> Result<T, Error> {
        value.ok_or_else(|| self.missing(key, &format!("a value such as {such_as}")))
    }

    /// An error at `table`, or the nearest above it that is something else than a table.
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

    /// An error at `key`, which is missing, or at what it was misspelt as.
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

    /// Refuses the first key that has not been read.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let Some(entry) = self.entries.iter().find(|e| !e.read) else { return Ok(()) };
        let message = self.no_link(&entry.key);
        Err(self.wrong(&entry.key, message.unwrap_or_else(|| self.unknown(&entry.key))))
    }

    /// What to say of a key that was not asked for: which ones were, in the table closest to it.
    fn unknown(&self, key: &str) -> String {
        let asked_below = |start: &str| {
            let asked = self.asked.borrow();
            let below = asked.iter().filter_map(|asked| asked.strip_prefix(start));
            let names: BTreeSet<_> =
                below.filter_map(|below| below.split('.').next()).map(str::to_owned).collect();
            Vec::from_iter(names).join(", ")
        };
        let names = asked_below(&format!("{key}."));
        if !names.is_empty() {
            return format!("expected a table of {names}");
        }
        let mut table = split(key).0;
        if let Some(group) = [key, table].into_iter().find(|name| GROUPS.contains(name)) {
            return format!("expected [[{group}]] with a name, or [{group}.NAME]");
        }
        // Of what these have below, only they know.
        if let Some(table) = ["link", "variant"].iter().find(|name| [key, table].contains(name)) {
            return format!("expected a table, [{table}.NAME]");
        }
        loop {
            let start = if table.is_empty() { String::new() } else { format!("{table}.") };
            let names = asked_below(&start);
            if !names.is_empty() {
                let place = if table.is_empty() { "" } else { " below " };
                return format!("unknown key: expected one of {names}{place}{table}");
            }
            table = split(table).0;
        }
    }

    /// What to say of a key of a link that nothing goes over.
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
        let message = || format!("no link {unused} in the network: expected one of {known}");
        (!used.is_empty() && !used.contains(&unused)).then(message)
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

/// The table that a key is in, and its name there.
fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

/// The value without its spans, unless it holds tables or dates.
fn plain(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(s) => Value::String(s.to_string()),
        // What is too long for a number is out of every range, which its reader says.
        DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix())
            .map_or_else(|_| Value::String(i.as_str().to_owned()), Value::Integer),
        DeValue::Float(f) => Value::Float(f.as_str().parse().ok()?),
        DeValue::Boolean(b) => Value::Boolean(*b),
        DeValue::Array(a) => {
            Value::Array(a.iter().map(|v| plain(v.get_ref())).collect::<Option<_>>()?)
        }
        DeValue::Datetime(_) | DeValue::Table(_) => return None,
    })
}
