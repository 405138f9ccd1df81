//! Pages: templates filled in, and the style of all of them.

use std::collections::BTreeMap;

use minijinja::{Environment, Value};

use super::look;
use super::palette::{Ink, stylesheet};

/// The templates of this crate's pages; their names make the engine escape for HTML.
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

/// The template of that name, filled in.
pub(super) fn page(template: &str, contents: Value) -> String {
    page_of(&[], template, contents)
}

/// The same with templates that stand beside this crate's: name and source. They may extend
/// `base.html` and import from `parts.html`.
///
/// # Panics
/// If a template is wrong: templates are part of the program.
pub fn page_of(own: &[(&'static str, &'static str)], template: &str, contents: Value) -> String {
    let mut pages = Environment::new();
    TEMPLATES
        .into_iter()
        .chain(own.iter().copied())
        .try_for_each(|(name, source)| pages.add_template(name, source))
        .and_then(|()| pages.get_template(template)?.render(contents))
        .expect("the templates are part of the program, and its tests render them")
}

/// The style of a page that uses these inks, with `more` style sheets after that of all pages.
pub fn style(inks: impl IntoIterator<Item = Ink>, more: &[&str]) -> Value {
    Value::from_safe_string(stylesheet(inks) + STYLE + more.concat().as_str())
}

/// The style of a page on which these senders stand.
pub(super) fn style_of<'a>(senders: impl Iterator<Item = &'a str>) -> Value {
    style(inks(senders), &[])
}

/// The senders' inks.
pub(super) fn inks<'a>(senders: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Ink> {
    senders.map(|sender| look::of(sender).ink)
}

/// The custom property of each sender's colour, by its name.
pub(super) fn colours<'a>(senders: impl Iterator<Item = &'a str>) -> Value {
    let colour = |sender: &str| (sender.to_owned(), look::of(sender).ink.property());
    Value::from(senders.map(colour).collect::<BTreeMap<_, _>>())
}
