//! A TOML file: its values, and the line and dotted key at which each of them stands.
//!
//! Scenarios, grids and experiments are read from a [`Document`], so that every error names the file,
//! the line and the key.

mod messages;
mod node;

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::de::DeTable;
use toml::{Spanned, Table, Value};

use crate::error::{Error, Place};
pub(crate) use node::{Node, Nodes};

/// A TOML file that has been parsed.
#[derive(Clone, Debug)]
pub struct Document {
    file: String,
    text: String,
    nodes: Nodes,
}

impl Document {
    /// Parses the TOML `text`, which errors call `file`.
    ///
    /// # Errors
    /// [`Error::Syntax`] if the text is not TOML.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let parsed = DeTable::parse(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let place = Place::Line(file.to_owned(), line_of(text, start));
            Error::Syntax { place, message: messages::of_parser(text, &error) }
        })?;
        let nodes = node::of_table(parsed.get_ref());
        Ok(Self { file: file.to_owned(), text: text.to_owned(), nodes })
    }

    /// The name that errors give the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The keys and values of the root table with their spans.
    pub(crate) fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Deserializes the file. Fields of type [`Spanned`] keep their place for [`Self::wrong`].
    ///
    /// # Errors
    /// [`Error::Key`] if a key is missing or unknown, or a value has the wrong type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        toml::from_str(&self.text).map_err(|error| self.misread(&error))
    }

    /// The deserializer's error with its place.
    fn misread(&self, error: &toml::de::Error) -> Error {
        let span = error.span().unwrap_or(0..0);
        let Some(field) = messages::missing_field(error.message()) else {
            return self.wrong(&span, messages::of_deserializer(error.message()));
        };
        let table = self.key_at(span.start).filter(|_| span.start > 0);
        let key = table.map_or(field.to_owned(), |table| format!("{table}.{field}"));
        let place = Place::Line(self.file.clone(), self.line(span.start));
        Error::Key { place, key, message: "missing: expected a value".to_owned() }
    }

    /// An error about the value at `span`.
    pub fn wrong(&self, span: &Range<usize>, message: impl Into<String>) -> Error {
        let message = message.into().replace('\n', " ");
        let place = Place::Line(self.file.clone(), self.line(span.start));
        match self.key_at(span.start) {
            Some(key) => Error::Key { place, key, message },
            None => Error::Syntax { place, message },
        }
    }

    /// An error about the key at `path`, whose parts may be dotted. The place is that of the key, or of
    /// the table above it if the key is not there, or the file.
    pub fn wrong_at(&self, path: &[&str], message: impl Into<String>) -> Error {
        let parts: Vec<&str> = path.iter().flat_map(|part| part.split('.')).collect();
        let found = self.find(path).or_else(|| self.find(&parts));
        let found = found.or_else(|| self.find(&parts[..1]));
        let place = found.map_or(Place::File(self.file.clone()), |(place, _)| place);
        Error::Key { place, key: path.join("."), message: message.into() }
    }

    /// The line and the dotted key of the value at `path`, if the file has it.
    pub fn find(&self, path: &[&str]) -> Option<(Place, String)> {
        let (last, parents) = path.split_last()?;
        let mut table = &self.nodes;
        for part in parents {
            let (_, value) = table.iter().find(|(name, _)| name.get_ref() == part)?;
            let Node::Table(inner) = value.get_ref() else { return None };
            table = inner;
        }
        let (name, _) = table.iter().find(|(name, _)| name.get_ref() == last)?;
        Some((Place::Line(self.file.clone(), self.line(name.span().start)), path.join(".")))
    }

    /// Rejects texts with control characters other than line feeds, carriage returns and tabs: a
    /// terminal would obey them.
    ///
    /// # Errors
    /// [`Error::Key`] at the first such text.
    pub fn check_printable(&self) -> Result<(), Error> {
        match control_in(&self.nodes) {
            Some((span, found)) => {
                let message = format!("expected no control characters, found {found:?}");
                Err(self.wrong(&span, message))
            }
            None => Ok(()),
        }
    }

    /// The line at this offset, counted from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        line_of(&self.text, at)
    }

    /// The dotted key at this offset, or the key whose value is at this offset.
    fn key_at(&self, at: usize) -> Option<String> {
        let mut best: Option<(usize, String)> = None;
        visit_table(&self.nodes, "", &mut |span: Range<usize>, key: &str| {
            let nearer = best.as_ref().is_none_or(|(length, _)| span.len() <= *length);
            if span.contains(&at) && nearer {
                best = Some((span.len(), key.to_owned()));
            }
        });
        best.map(|(_, key)| key)
    }
}

/// The dotted keys below `table` with their values, in the order of the file. A table for which
/// `is_leaf` holds counts as a value.
pub fn leaves(table: &Table, is_leaf: fn(&Table) -> bool) -> Vec<(String, &Value)> {
    fn walk<'t>(
        prefix: Option<&str>,
        table: &'t Table,
        is_leaf: fn(&Table) -> bool,
        found: &mut Vec<(String, &'t Value)>,
    ) {
        for (name, value) in table {
            let key = prefix.map_or_else(|| name.clone(), |prefix| format!("{prefix}.{name}"));
            match value {
                Value::Table(inner) if !is_leaf(inner) => walk(Some(&key), inner, is_leaf, found),
                value => found.push((key, value)),
            }
        }
    }
    let mut found = Vec::new();
    walk(None, table, is_leaf, &mut found);
    found
}

/// The dotted key of `name` in the table `prefix`, which is empty for the root.
pub(crate) fn dotted(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

/// The line of `text` at this offset, counted from 1.
fn line_of(text: &str, at: usize) -> usize {
    text[..at.min(text.len())].matches('\n').count() + 1
}

/// The first control character in a text of the table, and the span of that text.
fn control_in(table: &Nodes) -> Option<(Range<usize>, char)> {
    table.iter().find_map(|(_, value)| control(value))
}

fn control(value: &Spanned<Node>) -> Option<(Range<usize>, char)> {
    match value.get_ref() {
        Node::Value(Value::String(text)) => {
            let found = text.chars().find(|c| c.is_control() && !"\n\r\t".contains(*c));
            found.map(|found| (value.span(), found))
        }
        Node::Value(_) => None,
        Node::Array(values) => values.iter().find_map(control),
        Node::Table(table) => control_in(table),
    }
}

/// Calls `see` with the span and the dotted key of each key and value of the table.
fn visit_table(table: &Nodes, prefix: &str, see: &mut impl FnMut(Range<usize>, &str)) {
    for (name, value) in table {
        let key = dotted(prefix, name.get_ref());
        see(name.span(), &key);
        visit(value, &key, see);
    }
}

fn visit(value: &Spanned<Node>, key: &str, see: &mut impl FnMut(Range<usize>, &str)) {
    see(value.span(), key);
    match value.get_ref() {
        Node::Value(_) => {}
        Node::Table(table) => visit_table(table, key, see),
        Node::Array(values) => {
            for (i, value) in values.iter().enumerate() {
                // Tables of a list are counted from 1.
                let is_table = matches!(value.get_ref(), Node::Table(_));
                let key = if is_table { format!("{key} {}", i + 1) } else { key.to_owned() };
                visit(value, &key, see);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a.b = 1\n[t]\n\"c.d\" = [1, 2]\n[[list]]\nx = 3\n[[list]]\nx = 4\n";

    #[test]
    fn an_error_names_the_line_and_the_key_of_a_span() {
        let document = Document::parse("my.toml", TEXT).expect("is TOML");
        for (value, expected) in [
            ("1\n", "my.toml:1: a.b: no"),
            ("2]", "my.toml:3: t.c.d: no"),
            ("4\n", "my.toml:7: list 2.x: no"),
        ] {
            let at = TEXT.find(value).expect("is there");
            assert_eq!(document.wrong(&(at..at + 1), "no").to_string(), expected);
        }
    }

    #[test]
    fn a_path_is_found_by_its_parts_dotted_or_not() {
        let document = Document::parse("my.toml", TEXT).expect("is TOML");
        for (path, expected) in [
            (&["t", "c.d"][..], "my.toml:3: t.c.d: no"),
            (&["a.b"], "my.toml:1: a.b: no"),
            (&["t", "missing"], "my.toml:2: t.missing: no"),
            (&["missing"], "my.toml: missing: no"),
        ] {
            assert_eq!(document.wrong_at(path, "no").to_string(), expected);
        }
    }

    #[test]
    fn leaves_have_dotted_keys_in_the_order_of_the_file() {
        let table: Table = toml::from_str("z = 1\nb.c = 2\n[a]\nfrom = 3\n").expect("is TOML");
        let keys = |is_leaf| -> Vec<String> {
            leaves(&table, is_leaf).into_iter().map(|(key, _)| key).collect()
        };
        assert_eq!(keys(|_| false), ["z", "b.c", "a.from"]);
        assert_eq!(keys(|table| table.contains_key("from")), ["z", "b.c", "a"]);
        let unnamed: Table = toml::from_str("\"\".a = 1\n").expect("is TOML");
        assert_eq!(leaves(&unnamed, |_| false)[0].0, ".a", "an empty name keeps its dot");
    }
}
