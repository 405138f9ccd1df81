//! Errors as Python exceptions, with the same line that the command prints.

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

pyo3::create_exception!(
    unruffled,
    Error,
    PyValueError,
    "A wrong argument, scenario, sender, file or capture.\n\nOne line names the place, and what was expected."
);

/// Returns the Python exception for an error. In the command's line, flags get the names of arguments.
pub(crate) fn refused(error: impl std::fmt::Display) -> PyErr {
    // The line may quote input with control characters.
    Error::new_err(by_argument(&error.to_string()).replace(char::is_control, " "))
}

/// Flags of the command with a Python argument of the same name.
const FLAGS: [&str; 14] = [
    "bytes", "dask", "duration", "jobs", "kernel", "reverse", "scenario", "seeds", "set", "stack",
    "stacks", "store", "together", "variants",
];

/// Returns a line of the command with each flag replaced by its argument.
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
            // A setting after the flag becomes an entry of a dictionary.
            let value = value.trim_end_matches(')');
            let end = if rest.next().is_some_and(|next| next.ends_with(')')) { ")" } else { "" };
            words.push(format!("{before}set={{\"{key}\": {value}}}{end}"));
        } else {
            words.push(format!("{before}{name}{after}"));
        }
    }
    let line = words.join(" ");
    // The argument and the key may have the same name.
    match line.split_once(": ") {
        Some((name, rest)) if rest.starts_with(&format!("{name}: ")) => rest.to_owned(),
        _ => line,
    }
}
