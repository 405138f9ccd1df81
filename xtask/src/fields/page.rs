//! The page of JSON fields as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use syn::{GenericArgument, PathArguments, Type};

use super::definitions::{Body, Definition, Definitions, Field, Variant, is_parameter};
use super::{BY_HAND, DOCUMENTS, METRICS};

/// Returns the page.
///
/// # Errors
///
/// One line: a type that is not found, or a field without documentation.
pub(crate) fn page(definitions: &Definitions) -> Result<String, String> {
    let mut text = String::from(
        "# JSON fields\n\nWhat the commands print with `--json`. Names do not change; new ones may be added. Times are in \
         seconds (`_s`) or milliseconds (`_ms`), rates in bits per second (`_bps`), shares from 0 to 1. What is \
         not known is `null`.\n\nThis page is generated from the types that are printed.\n",
    );
    for document in &DOCUMENTS {
        let _ = writeln!(text, "\n## {}\n\n{}", document.command, document.about);
        let mut writer = Writer { definitions, text: String::new(), known: BTreeMap::new() };
        let mut rows = Vec::new();
        if let Some(root) = document.root {
            let found = definitions.find(document.file, &[], root)?;
            let found = found.ok_or_else(|| format!("{}: no type {root}", document.file))?;
            rows.extend(rows_of(definitions, found)?);
        }
        for (name, value, about) in document.more {
            rows.push(Row::declared(definitions, document.file, name, value, about)?);
        }
        if !rows.is_empty() {
            writer.table("", &rows)?;
        }
        text += &writer.text;
    }
    Ok(text)
}

/// What stands before the path of an object that has the same fields.
pub(super) const SAME: &str = "Its fields are those of";

/// A line of a table.
struct Row {
    name: String,
    value: String,
    about: String,
    /// The path of its value in JSON behind the field's, and the object that it is.
    object: Option<(&'static str, Definition)>,
}

impl Row {
    fn declared(
        definitions: &Definitions,
        file: &str,
        name: &str,
        value: &str,
        about: &str,
    ) -> Result<Self, String> {
        let ty: Type = syn::parse_str(value).map_err(|error| format!("{value}: {error}"))?;
        let from = Known { definitions, file, of: None };
        let (value, object, more) = from.value(&ty)?;
        Ok(Self { name: name.to_owned(), value, about: sentence(about) + &more, object })
    }
}

/// The types as one file knows them.
struct Known<'d> {
    definitions: &'d Definitions,
    file: &'d str,
    of: Option<&'d Definition>,
}

type Value = (String, Option<(&'static str, Definition)>, String);

impl Known<'_> {
    fn find(&self, path: &syn::Path) -> Result<Option<Definition>, String> {
        let name = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let found = match self.of {
            Some(of) if path.segments.len() == 1 => of.find(self.definitions, &name)?,
            _ => {
                let whole: Vec<_> =
                    path.segments.iter().map(|part| part.ident.to_string()).collect();
                let imports = match whole.len() {
                    1 => Vec::new(),
                    _ => vec![(name.clone(), whole.join("::"))],
                };
                self.definitions.find(self.file, &imports, &name)?
            }
        };
        Ok(found.cloned())
    }

    /// Describes a type: in words, the object that it is or lists, and what its names mean.
    fn value(&self, ty: &Type) -> Result<Value, String> {
        match ty {
            Type::Reference(reference) => self.value(&reference.elem),
            Type::Slice(slice) => self.list(&slice.elem),
            Type::Array(array) => self.list(&array.elem),
            Type::Paren(inner) => self.value(&inner.elem),
            Type::Path(path) => self.named(&path.path),
            _ => Err(format!("{}: a type that has no words", self.file)),
        }
    }

    fn list(&self, of: &Type) -> Result<Value, String> {
        let (value, object, more) = self.value(of)?;
        let object = object.map(|(_, definition)| ("[]", definition));
        Ok((format!("list of {}", plural(&value)), object, more))
    }

    fn named(&self, path: &syn::Path) -> Result<Value, String> {
        let last = path.segments.last().ok_or("a type without a name")?;
        let arguments = match &last.arguments {
            PathArguments::AngleBracketed(given) => given
                .args
                .iter()
                .filter_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let plain = |text: &str| Ok((text.to_owned(), None, String::new()));
        match (last.ident.to_string().as_str(), arguments.as_slice()) {
            ("Option", [inner]) => {
                let (value, object, more) = self.value(inner)?;
                Ok((format!("{value} or `null`"), object, more))
            }
            ("Vec" | "BTreeSet", [inner]) => self.list(inner),
            ("Cow" | "Box", [inner]) => self.value(inner),
            ("str" | "String" | "SocketAddr" | "IpAddr" | "PathBuf" | "Path", _) => plain("text"),
            ("bool", _) => plain("`true`, `false`"),
            (
                "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "f32"
                | "f64",
                _,
            ) => plain("number"),
            (name, _) => {
                if BY_HAND.iter().any(|(known, _)| *known == name) {
                    let definition = Definition::by_hand(self.file, name);
                    return Ok(("object".to_owned(), Some(("", definition)), String::new()));
                }
                let found = self.find(path)?;
                let found = found.ok_or_else(|| format!("{}: no type {name}", self.file))?;
                let found = match arguments.as_slice() {
                    [argument] => found.with_parameter(argument),
                    _ => found,
                };
                self.of_definition(&found)
            }
        }
    }

    fn of_definition(&self, found: &Definition) -> Result<Value, String> {
        let known = Known { definitions: self.definitions, file: &found.file, of: Some(found) };
        match &found.body {
            Body::Object(_) => Ok(("object".to_owned(), Some(("", found.clone())), String::new())),
            Body::Inner(inner) => known.value(inner),
            Body::Choice { tag: None, variants } => {
                match variants.iter().find_map(|v| v.inner.as_ref()) {
                    // Untagged: the values have the same words, or are objects.
                    Some(inner) => known.value(inner),
                    None => {
                        let meant = |one: &Variant| match one.about.as_str() {
                            "" => format!("`{}`", one.name),
                            about => format!("`{}`: {}", one.name, sentence(about)),
                        };
                        let more: Vec<String> = variants.iter().map(meant).collect();
                        Ok(("name".to_owned(), None, format!(" {}", more.join(" "))))
                    }
                }
            }
            Body::Choice { tag: Some(_), .. } => {
                Ok(("object".to_owned(), Some(("", found.clone())), String::new()))
            }
        }
    }
}

/// Returns the lines of a type's table.
fn rows_of(definitions: &Definitions, of: &Definition) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    if let Some((_, declared)) = BY_HAND.iter().find(|(name, _)| *name == of.name) {
        for (name, value, about) in *declared {
            rows.push(Row::declared(definitions, &of.file, name, value, about)?);
        }
        let lists = METRICS.iter().filter(|(name, _)| *name == of.name);
        for (list, condition) in lists.flat_map(|(_, lists)| *lists) {
            let metrics = definitions.metrics(list);
            if metrics.is_empty() {
                return Err(format!("{list}: no metrics"));
            }
            for (name, about) in metrics {
                let about = format!("{} {condition}", sentence(&about));
                rows.push(Row { name, value: "number".to_owned(), about, object: None });
            }
        }
        return Ok(rows);
    }
    match &of.body {
        Body::Object(fields) => rows.extend(rows_of_fields(definitions, of, fields)?),
        Body::Choice { tag: Some(tag), variants } => {
            let names =
                variants.iter().map(|one| format!("`{}`: {}", one.name, sentence(&one.about)));
            let about = names.collect::<Vec<_>>().join(" ");
            rows.push(Row { name: tag.clone(), value: "name".to_owned(), about, object: None });
            for variant in variants {
                for mut row in rows_of_fields(definitions, of, &variant.fields)? {
                    row.about = format!("Of `{}`: {}", variant.name, row.about);
                    match rows.iter_mut().find(|other| other.name == row.name) {
                        Some(other) => other.about += &format!(" {}", row.about),
                        None => rows.push(row),
                    }
                }
            }
        }
        Body::Choice { tag: None, .. } | Body::Inner(_) => {
            return Err(format!("{}: {}: no object", of.file, of.name));
        }
    }
    Ok(rows)
}

fn rows_of_fields(
    definitions: &Definitions,
    of: &Definition,
    fields: &[Field],
) -> Result<Vec<Row>, String> {
    let known = Known { definitions, file: &of.file, of: Some(of) };
    let mut rows = Vec::new();
    for field in fields {
        let place = || format!("{}: {}.{}", of.file, of.name, field.name);
        if field.is_flat {
            let (_, object, _) = match is_parameter(&field.value) {
                true => (String::new(), None, String::new()),
                false => {
                    known.value(&field.value).map_err(|error| format!("{}: {error}", place()))?
                }
            };
            if let Some((_, inner)) = object {
                rows.extend(rows_of(definitions, &inner)?);
            }
            continue;
        }
        if field.about.is_empty() {
            return Err(format!("{}: expected documentation", place()));
        }
        let (value, object, more) = match field.is_number {
            true => ("number".to_owned(), None, String::new()),
            false => known.value(&field.value).map_err(|error| format!("{}: {error}", place()))?,
        };
        let lacks = if field.may_lack && !field.about.contains("lacks it") {
            " Absent if there is none."
        } else {
            ""
        };
        let about = format!("{}{more}{lacks}", sentence(&field.about));
        rows.push(Row { name: field.name.clone(), value, about, object });
    }
    Ok(rows)
}

struct Writer<'d> {
    definitions: &'d Definitions,
    text: String,
    /// Types that have a table, file and name, with the path at which it stands.
    known: BTreeMap<(String, String), String>,
}

impl Writer<'_> {
    /// Writes the table of the object at `path`, then those of the objects in it.
    fn table(&mut self, path: &str, rows: &[Row]) -> Result<(), String> {
        let dot = if path.is_empty() { "" } else { "." };
        let _ = writeln!(self.text, "\n| field | value | meaning |\n|---|---|---|");
        let mut inner = Vec::new();
        for row in rows {
            let name = format!("{path}{dot}{}", row.name);
            let mut about = escaped(&row.about);
            if let Some((behind, object)) = &row.object {
                let key = (object.file.clone(), object.name.clone());
                let of = format!("{name}{behind}");
                match self.known.get(&key) {
                    Some(first) => {
                        let _ = write!(about, " {SAME} `{first}`.");
                    }
                    None => {
                        self.known.insert(key, of.clone());
                        inner.push((of, object));
                    }
                }
            }
            let _ = writeln!(self.text, "| `{name}` | {} | {about} |", row.value);
        }
        for (path, object) in inner {
            let rows = rows_of(self.definitions, object)?;
            let _ = writeln!(self.text, "\n### `{path}`");
            self.table(&path, &rows)?;
        }
        Ok(())
    }
}

fn plural(value: &str) -> String {
    match value {
        "object" | "number" | "text" | "name" => format!("{value}s"),
        other => other.to_owned(),
    }
}

/// Returns documentation for readers of JSON: links to Rust's items are plain.
fn sentence(about: &str) -> String {
    let mut text = about.replace("`None`", "`null`").replace("; none ", "; `null` ");
    while let Some(at) = text.find("](") {
        let Some(end) = text[at..].find(')') else { break };
        text.replace_range(at..=at + end, "");
        if let Some(open) = text[..at].rfind('[') {
            text.remove(open);
        }
    }
    text = text.replace("[`", "`").replace("`]", "`");
    text
}

fn escaped(text: &str) -> String {
    text.trim().replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_loses_its_links_to_items() {
        assert_eq!(
            sentence("In [`a`](Self::b) of [`C`]; `None` without."),
            "In `a` of `C`; `null` without."
        );
    }

    #[test]
    fn objects_have_tables_of_their_own_and_flat_ones_are_merged() {
        let source = r#"
            #[derive(Serialize)] struct A { /** One. */ one: u32, #[serde(flatten)] b: Bee, /** Many. */ c: Vec<C> }
            #[derive(Serialize)] struct Bee { /** Two. */ two: Option<bool> }
            #[derive(Serialize)] struct C { /** Kind. */ kind: D }
            #[derive(Serialize)] #[serde(rename_all = "lowercase")] enum D { /** Red. */ Red, Blue }
        "#;
        let mut definitions = Definitions::default();
        definitions.add("crates/x/src/lib.rs", source).expect("it is Rust");
        let a = definitions.find("crates/x/src/lib.rs", &[], "A").expect("one").expect("is there");
        let mut writer =
            Writer { definitions: &definitions, text: String::new(), known: BTreeMap::new() };
        let rows = rows_of(&definitions, a).expect("documented");
        writer.table("", &rows).expect("documented");
        let expected = "\n| field | value | meaning |\n|---|---|---|\n\
            | `one` | number | One. |\n| `two` | `true`, `false` or `null` | Two. |\n\
            | `c` | list of objects | Many. |\n\n### `c[]`\n\n| field | value | meaning |\n|---|---|---|\n\
            | `c[].kind` | name | Kind. `red`: Red. `blue` |\n";
        assert_eq!(writer.text, expected);
    }

    #[test]
    fn a_type_with_a_parameter_has_its_fields_and_a_known_one_is_referred_to() {
        let source = r#"
            #[derive(Serialize)] struct Two { /** One. */ a: Of<Inner>, /** Other. */ b: Vec<Inner> }
            #[derive(Serialize)] struct Of<T> { /** Own. */ own: u32, /** Rest. */ #[serde(flatten)] rest: T }
            #[derive(Serialize)] struct Inner { /** Deep. */ deep: Low, /** Deeper. */ deeper: Option<Low> }
            #[derive(Serialize)] struct Low { /** Number. */ n: u8 }
        "#;
        let mut definitions = Definitions::default();
        definitions.add("crates/x/src/lib.rs", source).expect("it is Rust");
        let two =
            definitions.find("crates/x/src/lib.rs", &[], "Two").expect("one").expect("is there");
        let mut writer =
            Writer { definitions: &definitions, text: String::new(), known: BTreeMap::new() };
        writer.table("", &rows_of(&definitions, two).expect("documented")).expect("documented");
        assert!(writer.text.contains("| `a.own` | number | Own. |\n| `a.deep` | object | Deep. |"));
        let same = "| `a.deeper` | object or `null` | Deeper. Its fields are those of `a.deep`. |";
        assert!(writer.text.contains(same), "{}", writer.text);
    }

    #[test]
    fn a_field_without_documentation_is_an_error() {
        let mut definitions = Definitions::default();
        let source = "#[derive(Serialize)] struct A { one: u32 }";
        definitions.add("crates/x/src/lib.rs", source).expect("it is Rust");
        let a = definitions.find("crates/x/src/lib.rs", &[], "A").expect("one").expect("is there");
        let error = rows_of(&definitions, a).err().expect("an error");
        assert_eq!(error, "crates/x/src/lib.rs: A.one: expected documentation");
    }
}
