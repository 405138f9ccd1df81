//! Where in a TOML file something stands: its line and its dotted key.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::error::{Error, Place};

/// A file's text, for errors that say where.
#[derive(Clone, Debug, PartialEq)]
pub struct FileText {
    /// What errors call it.
    pub file: String,
    /// What is in it.
    pub text: String,
}

impl FileText {
    /// An error about what stands at `span`.
    pub fn wrong(&self, span: &Range<usize>, message: impl Into<String>) -> Error {
        let message = message.into().replace('\n', " ");
        let place = Place::Line(self.file.clone(), self.line(span.start));
        match self.key_at(span.start) {
            Some(key) => Error::Key { place, key, message },
            None => Error::Syntax { place, message },
        }
    }

    /// The parser's complaint, with its place.
    pub fn syntax(&self, error: &toml::de::Error) -> Error {
        let span = error.span().unwrap_or(0..0);
        let place = Place::Line(self.file.clone(), self.line(span.start));
        if DeTable::parse(&self.text).is_ok() {
            let lacks = error.message().strip_prefix("missing field `");
            return match lacks.and_then(|rest| rest.strip_suffix('`')) {
                Some(field) => {
                    let table = self.key_at(span.start).filter(|_| span.start > 0);
                    let key = table.map_or(field.to_owned(), |table| format!("{table}.{field}"));
                    Error::Key { place, key, message: "missing: expected a value".to_owned() }
                }
                None => self.wrong(&span, plainly(error.message())),
            };
        }
        Error::Syntax { place, message: complaint(&self.text, error) }
    }

    /// The line and dotted key of the value below `path`, if it is there.
    pub fn find(&self, path: &[&str]) -> Option<(Place, String)> {
        let table = DeTable::parse(&self.text).ok()?;
        let mut table = table.get_ref();
        let (last, parents) = path.split_last()?;
        for part in parents {
            let (_, value) = table.iter().find(|(name, _)| name.get_ref() == part)?;
            let DeValue::Table(inner) = value.get_ref() else { return None };
            table = inner;
        }
        let (name, _) = table.iter().find(|(name, _)| name.get_ref() == last)?;
        Some((Place::Line(self.file.clone(), self.line(name.span().start)), path.join(".")))
    }

    /// An error at the key below `path`, whose parts may be dotted, or at the table above it, or else at
    /// the file.
    pub fn wrong_below(&self, path: &[&str], message: impl Into<String>) -> Error {
        let parts: Vec<&str> = path.iter().flat_map(|part| part.split('.')).collect();
        let there = self.find(path).or_else(|| self.find(&parts));
        let there = there.or_else(|| self.find(&parts[..1]));
        let place = there.map_or(Place::File(self.file.clone()), |(place, _)| place);
        Error::Key { place, key: path.join("."), message: message.into() }
    }

    /// Refuses texts that would do to a terminal what none should; several lines they may have.
    pub fn printable(&self) -> Result<(), Error> {
        let found = DeTable::parse(&self.text).ok().and_then(|table| control_in(table.get_ref()));
        found.map_or(Ok(()), |(span, found)| {
            Err(self.wrong(&span, format!("expected no control characters, found {found:?}")))
        })
    }

    fn line(&self, at: usize) -> usize {
        self.text[..at.min(self.text.len())].matches('\n').count() + 1
    }

    /// The dotted key that stands, or whose value stands, at this offset.
    fn key_at(&self, at: usize) -> Option<String> {
        let table = DeTable::parse(&self.text).ok()?;
        let mut best: Option<(usize, String)> = None;
        visit_table(table.get_ref(), "", &mut |span: Range<usize>, key: &str| {
            let nearer = best.as_ref().is_none_or(|(length, _)| span.len() <= *length);
            if span.contains(&at) && nearer {
                best = Some((span.len(), key.to_owned()));
            }
        });
        best.map(|(_, key)| key)
    }
}

/// What the parser says of `text` in one line, with the key that is there twice.
pub(crate) fn complaint(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', " ");
    let there = error.span().and_then(|span| text.get(span));
    match there.filter(|_| message == "duplicate key").and_then(|key| key.lines().next()) {
        Some(key) => format!("{message} {key}: expected each key once"),
        None => message,
    }
}

/// What the deserializer says of a value of another kind, as elsewhere: what was expected, and what is
/// there.
fn plainly(message: &str) -> String {
    let words = |quoted: &str| quoted.replace('`', "");
    if let Some((_, known)) = message.strip_prefix("unknown field ").and_then(at_expected) {
        return format!("unknown key: expected {}", words(known));
    }
    if let Some((found, known)) = message.strip_prefix("unknown variant ").and_then(at_expected) {
        return format!("expected {}, found {:?}", words(known), words(found));
    }
    let kind = ["invalid type: ", "invalid value: "].iter().find_map(|p| message.strip_prefix(p));
    let Some((found, expected)) = kind.and_then(|rest| rest.rsplit_once(", expected ")) else {
        return message.to_owned();
    };
    let expected = match expected {
        "u32" | "u64" | "usize" => "a whole number",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        "any valid TOML value" => "a number of at most 64 bits",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    let found = match found {
        "sequence" => "a list",
        "map" => "a table",
        other => other.strip_prefix("string ").or(other.split('`').nth(1)).unwrap_or(other),
    };
    format!("expected {expected}, found {found}")
}

/// A complaint on both sides of what it says was expected.
fn at_expected(message: &str) -> Option<(&str, &str)> {
    message.split_once(", expected ")
}

/// The first control character in a text of the table, and where that text stands.
fn control_in(table: &DeTable<'_>) -> Option<(Range<usize>, char)> {
    table.iter().find_map(|(_, value)| control(value))
}

fn control(value: &toml::Spanned<DeValue<'_>>) -> Option<(Range<usize>, char)> {
    match value.get_ref() {
        DeValue::String(text) => {
            let found = text.chars().find(|c| c.is_control() && !"\n\r\t".contains(*c));
            found.map(|found| (value.span(), found))
        }
        DeValue::Array(values) => values.iter().find_map(control),
        DeValue::Table(table) => control_in(table),
        _ => None,
    }
}

fn visit_table(table: &DeTable<'_>, prefix: &str, see: &mut impl FnMut(Range<usize>, &str)) {
    for (name, value) in table {
        let key = match prefix {
            "" => name.get_ref().to_string(),
            _ => format!("{prefix}.{}", name.get_ref()),
        };
        see(name.span(), &key);
        visit(value, &key, see);
    }
}

fn visit(value: &toml::Spanned<DeValue<'_>>, key: &str, see: &mut impl FnMut(Range<usize>, &str)) {
    see(value.span(), key);
    match value.get_ref() {
        DeValue::Table(table) => visit_table(table, key, see),
        DeValue::Array(values) => {
            for (i, value) in values.iter().enumerate() {
                // Tables of a list are counted from 1, as people do.
                let table = matches!(value.get_ref(), DeValue::Table(_));
                let key = if table { format!("{key} {}", i + 1) } else { key.to_owned() };
                visit(value, &key, see);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_speak_of_keys_and_tables_not_of_rust() {
        for (message, wanted) in [
            ("unknown field `a`, expected `b` or `c`", "unknown key: expected b or c"),
            ("unknown variant `bar`, expected one of `line`, `bars`", "expected one of line, bars"),
            ("invalid type: integer `3`, expected struct Seeds", "expected a table, found 3"),
            ("invalid type: map, expected a sequence", "expected a list, found a table"),
        ] {
            assert!(plainly(message).starts_with(wanted), "{}", plainly(message));
        }
    }
}
