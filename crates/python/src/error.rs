//! What can go wrong, as Python's exceptions: with the one line that the command prints.

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

pyo3::create_exception!(
    unruffled,
    Error,
    PyValueError,
    "A wrong argument, scenario, sender, file or capture.\n\nOne line says where, and what was expected."
);

/// Python's exception with the line that the command prints, in which arguments have Python's names.
pub(crate) fn refused(error: impl std::fmt::Display) -> PyErr {
    // What people gave is quoted in it, whatever that holds.
    Error::new_err(by_argument(&error.to_string()).replace(char::is_control, " "))
}

/// Flags of the command that arguments of Python stand for, under the same names.
const FLAGS: [&str; 12] = [
    "bytes", "dask", "duration", "jobs", "kernel", "reverse", "scenario", "seeds", "set", "store",
    "together", "variants",
];

/// A line of the command in which each flag is called what the argument is called.
fn by_argument(line: &str) -> String {
    let mut words = Vec::new();
    let mut rest = line.split(' ').peekable();
    while let Some(word) = rest.next() {
        let (before, flag) = match word.strip_prefix('(') {
            Some(word) => ("(", word),
            None => ("", word),
        };
        let name = flag.strip_prefix("--").unwrap_or_default();
        let end = name.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(name.len());
        let (name, after) = name.split_at(end);
        if !FLAGS.contains(&name) || !after.chars().all(|c| ":,;.)".contains(c)) {
            words.push(word.to_owned());
        } else if name == "set"
            && let Some((key, value)) = rest.peek().and_then(|next| next.split_once('='))
        {
            // What is set after a flag is an entry of a dictionary.
            let value = value.trim_end_matches(')');
            let end = if rest.next().is_some_and(|next| next.ends_with(')')) { ")" } else { "" };
            words.push(format!("{before}set={{\"{key}\": {value}}}{end}"));
        } else {
            words.push(format!("{before}{name}{after}"));
        }
    }
    let line = words.join(" ");
    // The argument may be the key.
    match line.split_once(": ") {
        Some((name, rest)) if rest.starts_with(&format!("{name}: ")) => rest.to_owned(),
        _ => line,
    }
}
