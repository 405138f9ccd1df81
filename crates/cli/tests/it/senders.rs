//! Pages of senders: each sender and part has one, with its present parameters.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use unruffled_tcp::variant::PARTS;
use unruffled_tcp::{Parameter, ROWS, Unit, Variant};

const BEGIN: &str = "<!-- parameters: ";
const END: &str = "<!-- end -->";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/senders")
}

/// Returns the pages: file name and text.
fn pages() -> Vec<(String, String)> {
    let entries = fs::read_dir(folder()).expect("the pages");
    let names = entries.map(|entry| entry.expect("can be read").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("UTF-8")).collect();
    names.retain(|name| name.ends_with(".md"));
    names.sort();
    let page = |name: String| {
        let text = fs::read_to_string(folder().join(&name)).expect("can be read");
        (name, text)
    };
    names.into_iter().map(page).collect()
}

/// Returns the names in code spans of a page's first line.
fn titled(text: &str) -> Vec<&str> {
    let title = text.lines().next().unwrap_or_default();
    title.split('`').skip(1).step_by(2).collect()
}

#[test]
fn each_sender_and_part_is_in_the_title_of_one_page() {
    let pages = pages();
    let rows = ROWS.iter().map(|row| row.name.to_owned());
    let parts = PARTS.iter().map(|part| format!("+{}", part.name));
    let names: Vec<String> = rows.chain(parts).collect();
    for name in &names {
        let of: Vec<_> =
            pages.iter().filter(|(_, text)| titled(text).contains(&name.as_str())).collect();
        assert_eq!(
            of.len(),
            1,
            "pages of {name}: {:?}",
            of.iter().map(|(file, _)| file).collect::<Vec<_>>()
        );
    }
    for (file, text) in &pages {
        for name in titled(text) {
            assert!(names.iter().any(|known| known == name), "{file}: {name}: no such sender");
        }
        for part in [
            "## The idea\n",
            "## When to use it",
            "## What it costs\n",
            "](../play/index.html#/play?path=",
        ] {
            let plural = part
                .replace(" it", " they")
                .replace("costs", "cost")
                .replace("use they", "use them");
            assert!(text.contains(part) || text.contains(&plural), "{file} lacks {part}");
        }
    }
}

#[test]
fn presets_name_paths_and_senders_that_exist() {
    for (file, text) in pages() {
        for link in text.split("](../play/index.html#/play?path=").skip(1) {
            let link = link.split(')').next().unwrap_or_default();
            let (path, senders) = link.split_once("&senders=").unwrap_or((link, ""));
            let exists = match path.strip_prefix("paper/") {
                Some(id) => unruffled_papers::experiment::Experiment::load(id, true).is_ok(),
                None => unruffled_scenario::BUILTIN.iter().any(|(name, _)| *name == path),
            };
            assert!(exists, "{file}: {path}: no such path");
            for sender in senders.split(',') {
                assert!(Variant::parse(sender).is_ok(), "{file}: {sender}: no such sender");
            }
        }
    }
}

/// Returns the table of the senders' parameters.
fn table(senders: &[&str]) -> String {
    let variants: Vec<Variant> =
        senders.iter().map(|name| Variant::parse(name).expect("is a sender")).collect();
    // Each parameter with the senders that have it, and the default of each.
    let mut all: Vec<(Parameter, Vec<(&str, String)>)> = Vec::new();
    for (variant, name) in variants.iter().zip(senders) {
        for (parameter, _) in variant.parameters() {
            let default = (*name, brief(parameter));
            match all.iter_mut().find(|(known, _)| known.name == parameter.name) {
                Some((_, defaults)) => defaults.push(default),
                None => all.push((*parameter, vec![default])),
            }
        }
    }
    if all.is_empty() {
        return "There are none.\n".to_owned();
    }
    let mut text =
        "| parameter | default | range | meaning | source |\n|---|---|---|---|---|\n".to_owned();
    for (parameter, defaults) in &all {
        let same =
            defaults.len() == senders.len() && defaults.iter().all(|(_, d)| *d == defaults[0].1);
        let default = match same {
            true => defaults[0].1.clone(),
            false => {
                let each = defaults.iter().map(|(name, default)| format!("`{name}` {default}"));
                each.collect::<Vec<_>>().join(", ")
            }
        };
        let range = match parameter.unit {
            Unit::Choice(names) => {
                names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            }
            _ => parameter.expected(),
        };
        let Parameter { name, about, source, .. } = parameter;
        let _ = writeln!(text, "| `{name}` | {default} | {range} | {about} | {source} |");
    }
    text
}

/// Returns a default for people: a fraction with many digits is rounded to three.
fn brief(parameter: &Parameter) -> String {
    let exact = parameter.show(parameter.default);
    match parameter.unit {
        Unit::Number | Unit::Windows if exact.len() > 8 => {
            let rounded: f64 = format!("{:.2e}", parameter.default).parse().expect("is a number");
            parameter.show(rounded)
        }
        _ => exact,
    }
}

/// Returns the page with the present tables.
fn updated(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (names, after) = after.split_once(" -->").expect("the comment ends");
        let (_, after) = after.split_once(END).expect("the table ends");
        let table = table(&names.split(' ').collect::<Vec<_>>());
        let _ = write!(out, "{before}{BEGIN}{names} -->\n\n{table}\n{END}");
        rest = after;
    }
    out + rest
}

/// `UNRUFFLED_WRITE_DOCS=1` writes the tables anew.
#[test]
fn pages_have_the_present_parameters() {
    let is_written = std::env::var_os("UNRUFFLED_WRITE_DOCS").is_some();
    for (file, text) in pages() {
        let expected = updated(&text);
        if is_written {
            fs::write(folder().join(&file), &expected).expect("can be written");
        } else {
            assert!(
                text == expected,
                "{file}: other parameters: UNRUFFLED_WRITE_DOCS=1 cargo test -p unruffled"
            );
        }
    }
}
