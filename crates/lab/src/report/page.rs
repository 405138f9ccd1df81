//! The templates of the reports, and their common style.

use std::collections::BTreeMap;

use minijinja::{Environment, Value};

use super::look;
use super::palette::{Ink, stylesheet};

/// The templates of this crate. Because of their extension, the engine escapes values for HTML.
const TEMPLATES: [(&str, &str); 7] = [
    ("base.html", include_str!("base.html")),
    ("parts.html", include_str!("parts.html")),
    ("page.html", include_str!("page.html")),
    ("comparison-sweep.html", include_str!("comparison-sweep.html")),
    ("sweep.html", include_str!("sweep.html")),
    ("gallery.html", include_str!("gallery.html")),
    ("capture.html", include_str!("capture.html")),
];
const STYLE: &str = include_str!("style.css");

/// Renders the template with that name.
pub(super) fn page(template: &str, contents: Value) -> String {
    page_of(&[], template, contents)
}

/// Renders the template with that name. `own` has the names and sources of further templates, which
/// may extend `base.html` and import from `parts.html`.
///
/// # Panics
/// If a template is invalid: templates are part of the program.
pub fn page_of(own: &[(&'static str, &'static str)], template: &str, contents: Value) -> String {
    let mut pages = Environment::new();
    TEMPLATES
        .into_iter()
        .chain(own.iter().copied())
        .try_for_each(|(name, source)| pages.add_template(name, source))
        .and_then(|()| pages.get_template(template)?.render(contents))
        .expect("the templates are part of the program, and its tests render them")
}

/// Returns the style of a page with these inks: the common style sheet, then `more` style sheets.
pub fn style(inks: impl IntoIterator<Item = Ink>, more: &[&str]) -> Value {
    Value::from_safe_string(stylesheet(inks) + STYLE + more.concat().as_str())
}

/// Returns the style of a page with these senders.
pub(super) fn style_of<'a>(senders: impl Iterator<Item = &'a str>) -> Value {
    style(inks(senders), &[])
}

/// Returns the inks of these senders.
pub(super) fn inks<'a>(senders: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Ink> {
    senders.map(|sender| look::of(sender).ink)
}

/// Returns the custom property of each sender's colour, by the name of the sender.
pub(super) fn colours<'a>(senders: impl Iterator<Item = &'a str>) -> Value {
    let colour = |sender: &str| (sender.to_owned(), look::of(sender).ink.property());
    Value::from(senders.map(colour).collect::<BTreeMap<_, _>>())
}
