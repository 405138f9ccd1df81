//! The types that are serialised, with their documentation, from the sources.

use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, Fields, Item, Lit, Meta, Type, UseTree};

/// A type with `Serialize`.
#[derive(Clone)]
pub(crate) struct Definition {
    /// Path of the file from the root.
    pub(crate) file: String,
    pub(crate) name: String,
    pub(crate) body: Body,
    /// Names that the file imports, each with the whole path.
    imports: Vec<(String, String)>,
}

/// What a value of the type is in JSON.
#[derive(Clone)]
pub(crate) enum Body {
    Object(Vec<Field>),
    /// The value of the only field.
    Inner(Box<Type>),
    /// One of several names, or objects with a tag.
    Choice {
        tag: Option<String>,
        variants: Vec<Variant>,
    },
}

/// A variant of an enumeration.
#[derive(Clone)]
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) fields: Vec<Field>,
    /// The value of an untagged variant.
    pub(crate) inner: Option<Type>,
}

/// A field of an object.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) value: Type,
    /// The fields of the value are fields of this object.
    pub(crate) is_flat: bool,
    /// A function writes the value as a number.
    pub(crate) is_number: bool,
    /// The field may be absent.
    pub(crate) may_lack: bool,
}

/// All types of some crates that are serialised, and the metrics of runs.
#[derive(Default)]
pub(crate) struct Definitions {
    all: Vec<Definition>,
    /// Constants of type `Metric`: name of the constant, name in JSON, documentation.
    metrics: Vec<(String, String, String)>,
    /// Constant lists of metrics, with the names of their constants.
    lists: Vec<(String, Vec<String>)>,
}

impl Definitions {
    /// Reads the sources of the crates of these names.
    ///
    /// # Errors
    ///
    /// One line that names the file that cannot be read.
    pub(crate) fn read(root: &Path, crates: &[&str]) -> Result<Self, String> {
        let mut definitions = Self::default();
        for name in crates {
            definitions.read_folder(root, &format!("crates/{name}/src"))?;
        }
        Ok(definitions)
    }

    fn read_folder(&mut self, root: &Path, folder: &str) -> Result<(), String> {
        let entries =
            fs::read_dir(root.join(folder)).map_err(|error| format!("{folder}: {error}"))?;
        let mut names: Vec<_> = entries
            .filter_map(|entry| Some((entry.as_ref().ok()?.file_name().into_string().ok()?, entry)))
            .filter_map(|(name, entry)| Some((name, entry.ok()?.file_type().ok()?.is_dir())))
            .collect();
        names.sort();
        for (name, is_folder) in names {
            let path = format!("{folder}/{name}");
            if is_folder {
                self.read_folder(root, &path)?;
            } else if name.ends_with(".rs") {
                let text = fs::read_to_string(root.join(&path))
                    .map_err(|error| format!("{path}: {error}"))?;
                self.add(&path, &text)?;
            }
        }
        Ok(())
    }

    /// Adds the types of one file.
    pub(crate) fn add(&mut self, path: &str, text: &str) -> Result<(), String> {
        let file = syn::parse_file(text).map_err(|error| format!("{path}: {error}"))?;
        let mut imports = Vec::new();
        for item in &file.items {
            if let Item::Use(import) = item {
                names("", &import.tree, &mut imports);
            }
        }
        let mut visitor = Visitor { path, imports, definitions: self };
        visitor.visit_file(&file);
        Ok(())
    }

    /// Returns the type `name` as the file `from` knows it.
    ///
    /// # Errors
    ///
    /// If several types may be meant.
    pub(crate) fn find(
        &self,
        from: &str,
        imports: &[(String, String)],
        name: &str,
    ) -> Result<Option<&Definition>, String> {
        let krate = |path: &str| path.split('/').nth(1).unwrap_or_default().to_owned();
        let import = imports.iter().find(|(known, _)| known == name).map(|(_, path)| path);
        let wanted = import.map_or_else(
            || name.to_owned(),
            |path| path.rsplit("::").next().unwrap_or(name).to_owned(),
        );
        let score = |definition: &Definition| {
            let from_import = import.map_or(0, |path| {
                let parts: Vec<&str> = path.split("::").collect();
                let is_crate = match parts[0] {
                    "crate" | "self" | "super" => krate(&definition.file) == krate(from),
                    first => first == format!("unruffled_{}", krate(&definition.file)),
                };
                let modules = parts[1..].iter().filter(|part| {
                    definition.file.contains(&format!("/{part}.rs"))
                        || definition.file.contains(&format!("/{part}/"))
                });
                50 * usize::from(is_crate) + 10 * modules.count()
            });
            100 * usize::from(import.is_none() && definition.file == from)
                + 20 * usize::from(krate(&definition.file) == krate(from))
                + from_import
        };
        let mut found: Vec<_> = self
            .all
            .iter()
            .filter(|definition| definition.name == wanted)
            .map(|definition| (score(definition), definition))
            .collect();
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        match found.as_slice() {
            [(a, first), (b, second), ..] if a == b => {
                Err(format!("{from}: {name}: {} or {}: expected one", first.file, second.file))
            }
            found => Ok(found.first().map(|(_, definition)| *definition)),
        }
    }

    /// Returns the metrics of a constant list: name in JSON and documentation.
    pub(crate) fn metrics(&self, list: &str) -> Vec<(String, String)> {
        let constants = self.lists.iter().find(|(name, _)| name == list).map(|(_, names)| names);
        let metric = |constant: &String| {
            let known = self.metrics.iter().find(|(name, ..)| name == constant)?;
            Some((known.1.clone(), known.2.clone()))
        };
        constants.into_iter().flatten().filter_map(metric).collect()
    }
}

impl Definition {
    /// Returns a type whose `Serialize` is written by hand.
    pub(crate) fn by_hand(file: &str, name: &str) -> Self {
        let body = Body::Object(Vec::new());
        Self { file: file.to_owned(), name: name.to_owned(), body, imports: Vec::new() }
    }

    /// Returns the type with `argument` in place of the parameter that it flattens.
    pub(crate) fn with_parameter(mut self, argument: &Type) -> Self {
        if let Body::Object(fields) = &mut self.body {
            for field in
                fields.iter_mut().filter(|field| field.is_flat && is_parameter(&field.value))
            {
                field.value = argument.clone();
                if let Type::Path(path) = argument
                    && let Some(last) = path.path.segments.last()
                {
                    self.name = format!("{} of {}", self.name, last.ident);
                }
            }
        }
        self
    }

    /// Returns the type `name` as this type's file knows it.
    pub(crate) fn find<'d>(
        &self,
        among: &'d Definitions,
        name: &str,
    ) -> Result<Option<&'d Definition>, String> {
        among.find(&self.file, &self.imports, name)
    }
}

struct Visitor<'a> {
    path: &'a str,
    imports: Vec<(String, String)>,
    definitions: &'a mut Definitions,
}

impl Visitor<'_> {
    fn add(&mut self, name: String, body: Body) {
        let (file, imports) = (self.path.to_owned(), self.imports.clone());
        self.definitions.all.push(Definition { file, name, body, imports });
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if !is_serialised(&item.attrs) {
            return;
        }
        let body = match &item.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                Body::Inner(Box::new(fields.unnamed[0].ty.clone()))
            }
            fields => Body::Object(object(fields)),
        };
        self.add(item.ident.to_string(), body);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if !is_serialised(&item.attrs) {
            return;
        }
        let case = attribute(&item.attrs, "rename_all").unwrap_or_default();
        let variants = item.variants.iter().map(|variant| Variant {
            name: attribute(&variant.attrs, "rename")
                .unwrap_or_else(|| in_case(&variant.ident.to_string(), &case)),
            about: documentation(&variant.attrs),
            fields: match &variant.fields {
                fields @ Fields::Named(_) => object(fields),
                _ => Vec::new(),
            },
            inner: match &variant.fields {
                Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                    Some(fields.unnamed[0].ty.clone())
                }
                _ => None,
            },
        });
        let body =
            Body::Choice { tag: attribute(&item.attrs, "tag"), variants: variants.collect() };
        self.add(item.ident.to_string(), body);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        let name = item.ident.to_string();
        match (&*item.ty, &*item.expr) {
            (Type::Array(array), Expr::Array(values)) if is_named(&array.elem, "Metric") => {
                let constants = values.elems.iter().filter_map(|value| match value {
                    Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
                    _ => None,
                });
                self.definitions.lists.push((name, constants.collect()));
            }
            (ty, value) if is_named(ty, "Metric") => {
                let texts: Vec<&Expr> = match value {
                    Expr::Call(call) => call.args.iter().collect(),
                    Expr::Struct(value) => value.fields.iter().map(|field| &field.expr).collect(),
                    _ => Vec::new(),
                };
                if let Some(text) = texts.into_iter().find_map(text_of) {
                    let about = documentation(&item.attrs);
                    self.definitions.metrics.push((name, text, about));
                }
            }
            _ => {}
        }
    }
}

/// Returns whether the type is a parameter of its type: `T`, `&'a T`.
pub(crate) fn is_parameter(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => is_parameter(&reference.elem),
        Type::Path(path) => path.path.get_ident().is_some_and(|name| name.to_string().len() == 1),
        _ => false,
    }
}

fn text_of(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn is_named(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

fn object(fields: &Fields) -> Vec<Field> {
    let fields = fields.iter().filter(|field| !has(&field.attrs, "skip"));
    let field = |field: &syn::Field| {
        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        Field {
            name: attribute(&field.attrs, "rename").unwrap_or(name),
            about: documentation(&field.attrs),
            value: field.ty.clone(),
            is_flat: has(&field.attrs, "flatten"),
            is_number: attribute(&field.attrs, "serialize_with").is_some(),
            may_lack: attribute(&field.attrs, "skip_serializing_if").is_some(),
        }
    };
    fields.map(field).collect()
}

fn is_serialised(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut found = false;
        if attribute.path().is_ident("derive") {
            let _ = attribute.parse_nested_meta(|meta| {
                found |= meta.path.segments.last().is_some_and(|last| last.ident == "Serialize");
                Ok(())
            });
        }
        found
    })
}

/// Calls `each` with the names in `#[serde(…)]`, and the text of each.
fn each_setting(attributes: &[Attribute], mut each: impl FnMut(&str, Option<String>)) {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let _ = attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            let value = match meta.value() {
                Ok(value) => Some(value.parse::<syn::LitStr>()?.value()),
                Err(_) => None,
            };
            each(&name, value);
            Ok(())
        });
    }
}

fn attribute(attributes: &[Attribute], name: &str) -> Option<String> {
    let mut found = None;
    each_setting(attributes, |known, value| {
        if known == name {
            found.clone_from(&value);
        }
    });
    found
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    let mut found = false;
    each_setting(attributes, |known, _| found |= known == name);
    found
}

/// Returns a documentation comment on one line.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(value) if value.path.is_ident("doc") => text_of(&value.value),
        _ => None,
    });
    let text: Vec<String> = lines.map(|line| line.trim().to_owned()).collect();
    text.join(" ").trim().to_owned()
}

/// Returns the name of a variant in the case that serde gives it.
fn in_case(name: &str, case: &str) -> String {
    let separator = match case {
        "snake_case" => "_",
        "kebab-case" => "-",
        "lowercase" => "",
        _ => return name.to_owned(),
    };
    let mut out = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !out.is_empty() {
            out += separator;
        }
        out.extend(character.to_lowercase());
    }
    out
}

/// Collects the names that a `use` brings in, with their paths.
fn names(prefix: &str, tree: &UseTree, into: &mut Vec<(String, String)>) {
    let join = |name: &dyn std::fmt::Display| match prefix {
        "" => name.to_string(),
        prefix => format!("{prefix}::{name}"),
    };
    match tree {
        UseTree::Path(path) => names(&join(&path.ident), &path.tree, into),
        UseTree::Name(name) => into.push((name.ident.to_string(), join(&name.ident))),
        UseTree::Rename(name) => into.push((name.rename.to_string(), join(&name.ident))),
        UseTree::Group(group) => group.items.iter().for_each(|tree| names(prefix, tree, into)),
        UseTree::Glob(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
        use crate::other::Inner as Renamed;
        /// A thing.
        #[derive(Clone, Serialize)]
        pub struct Thing {
            /// How long,
            /// in seconds.
            #[serde(rename = "time_s", serialize_with = "seconds")]
            pub time: Duration,
            #[serde(skip)]
            pub hidden: u32,
            #[serde(flatten)]
            pub inner: Renamed,
        }
        #[derive(Serialize)]
        #[serde(tag = "action", rename_all = "snake_case")]
        enum Step { /// First.
            TurnLeft { angle: u32 }, Stop }
        struct Plain { a: u32 }
        /// Counted.
        const A: Metric = count("a_count", "a", &[]);
        const LIST: [Metric; 1] = [A];
    "#;

    fn read() -> Definitions {
        let mut definitions = Definitions::default();
        definitions.add("crates/x/src/lib.rs", SOURCE).expect("it is Rust");
        let other = "#[derive(Serialize)] struct Inner { b: u8 }";
        definitions.add("crates/x/src/other.rs", other).expect("it is Rust");
        definitions.add("crates/y/src/other.rs", other).expect("it is Rust");
        definitions
    }

    #[test]
    fn fields_have_the_names_of_json_and_their_documentation() {
        let definitions = read();
        let thing = definitions.find("crates/x/src/lib.rs", &[], "Thing").expect("one");
        let Body::Object(fields) = &thing.expect("is there").body else { panic!("an object") };
        let facts: Vec<_> = fields
            .iter()
            .map(|field| {
                (field.name.as_str(), field.about.as_str(), field.is_number, field.is_flat)
            })
            .collect();
        let expected =
            [("time_s", "How long, in seconds.", true, false), ("inner", "", false, true)];
        assert_eq!(facts, expected);
    }

    #[test]
    fn a_name_means_what_its_file_imports() {
        let definitions = read();
        let thing = definitions.find("crates/x/src/lib.rs", &[], "Thing").expect("one");
        let inner = thing.expect("is there").find(&definitions, "Renamed").expect("one");
        assert_eq!(inner.expect("is there").file, "crates/x/src/other.rs");
        assert!(definitions.find("crates/z/src/lib.rs", &[], "Inner").is_err());
        assert!(definitions.find("crates/x/src/lib.rs", &[], "Plain").expect("none").is_none());
    }

    #[test]
    fn variants_have_their_tag_and_case() {
        let definitions = read();
        let step = definitions.find("crates/x/src/lib.rs", &[], "Step").expect("one");
        let Body::Choice { tag, variants } = &step.expect("is there").body else {
            panic!("a choice")
        };
        assert_eq!(tag.as_deref(), Some("action"));
        let names: Vec<_> =
            variants.iter().map(|one| (one.name.as_str(), one.about.as_str())).collect();
        assert_eq!(names, [("turn_left", "First."), ("stop", "")]);
        assert_eq!(variants[0].fields[0].name, "angle");
    }

    #[test]
    fn metrics_have_their_names_and_documentation() {
        let expected = [("a_count".to_owned(), "Counted.".to_owned())];
        assert_eq!(read().metrics("LIST"), expected);
    }
}
