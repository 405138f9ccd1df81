//! Words that comments and string literals do not use.

use std::fs;
use std::path::Path;

use crate::prose::{self, Word};
use crate::sources::Source;

/// What is checked, from the three lists beside `Cargo.toml`.
pub(crate) struct Config {
    /// Words and phrases, each as its words in lower case.
    rejected: Vec<Vec<String>>,
    exceptions: Vec<Exception>,
    /// Folders whose sources are not checked yet.
    unchecked: Vec<String>,
}

/// A word that one file may use.
struct Exception {
    path: String,
    phrase: String,
}

impl Config {
    /// Reads the lists of the repository at `root`.
    ///
    /// # Errors
    ///
    /// One line that names the file, its line and what was expected.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let rejected = entries(root, "words.txt")?
            .into_iter()
            .map(|(_, line)| line.split_whitespace().map(str::to_lowercase).collect())
            .collect();
        let mut exceptions = Vec::new();
        for (place, line) in entries(root, "exceptions.txt")? {
            let fields: Vec<&str> = line.split('|').map(str::trim).collect();
            let [path, phrase, reason] = fields[..] else {
                return Err(format!("{place}: expected PATH | WORD | REASON"));
            };
            if reason.is_empty() {
                return Err(format!("{place}: expected a reason"));
            }
            exceptions.push(Exception { path: path.to_owned(), phrase: phrase.to_lowercase() });
        }
        let mut unchecked = Vec::new();
        for (place, folder) in entries(root, "unchecked.txt")? {
            if !root.join(&folder).is_dir() {
                return Err(format!("{place}: {folder}: expected a folder"));
            }
            unchecked.push(folder);
        }
        Ok(Self { rejected, exceptions, unchecked })
    }

    /// Returns whether the file at `path` lies outside the folders that are not checked yet.
    pub(crate) fn is_checked(&self, path: &str) -> bool {
        !self.unchecked.iter().any(|folder| is_below(path, folder))
    }
}

/// The lines of a list that are neither empty nor comments, each with its place.
fn entries(root: &Path, name: &str) -> Result<Vec<(String, String)>, String> {
    let path = format!("xtask/{name}");
    let text = fs::read_to_string(root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(|(number, line)| (format!("{path}:{number}"), line.to_owned())).collect())
}

/// Returns the rejected words of `files` as messages, and the exceptions that no file needs.
pub(crate) fn check(files: &[Source], config: &Config) -> Vec<String> {
    let mut violations = Vec::new();
    let mut is_used = vec![false; config.exceptions.len()];
    for file in files {
        let is_unchecked = !config.is_checked(&file.path);
        for (line, phrase) in rejected(&prose::words(&file.text, file.language), &config.rejected) {
            let exception = config
                .exceptions
                .iter()
                .position(|exception| exception.path == file.path && exception.phrase == phrase);
            if let Some(index) = exception {
                is_used[index] = true;
            } else if !is_unchecked {
                violations.push(format!("{}:{line}: {phrase}", file.path));
            }
        }
    }
    for (exception, is_used) in config.exceptions.iter().zip(is_used) {
        if !is_used {
            let Exception { path, phrase } = exception;
            violations.push(format!("xtask/exceptions.txt: {path} does not use: {phrase}"));
        }
    }
    violations
}

/// Returns whether the file at `path` lies in `folder`.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

/// Finds rejected words and phrases. A phrase lies within one passage, and may span lines.
fn rejected(words: &[Word], phrases: &[Vec<String>]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        for phrase in phrases {
            let Some(span) = words.get(index..index + phrase.len()) else { continue };
            let is_phrase = span.iter().zip(phrase).all(|(word, expected)| word.text == *expected);
            if is_phrase && span.iter().all(|other| other.passage == word.passage) {
                found.push((word.line, phrase.join(" ")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Language;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), language: Language::Rust, text: text.to_owned() }
    }

    fn config(exceptions: &[(&str, &str)], unchecked: &[&str]) -> Config {
        let exception = |(path, phrase): &(&str, &str)| Exception {
            path: (*path).to_owned(),
            phrase: (*phrase).to_owned(),
        };
        Config {
            rejected: vec![vec!["purple".to_owned()], vec!["light".to_owned(), "blue".to_owned()]],
            exceptions: exceptions.iter().map(exception).collect(),
            unchecked: unchecked.iter().map(|folder| (*folder).to_owned()).collect(),
        }
    }

    #[test]
    fn a_rejected_word_is_reported_with_file_and_line() {
        let file =
            source("a/b.rs", "// Purple.\nfn purple() {}\nlet x = \"not purplish, purple\";");
        assert_eq!(check(&[file], &config(&[], &[])), ["a/b.rs:1: purple", "a/b.rs:3: purple"]);
    }

    #[test]
    fn a_phrase_may_span_lines_and_not_passages() {
        let one = source("a.rs", "// A light\n// blue.");
        assert_eq!(check(&[one], &config(&[], &[])), ["a.rs:1: light blue"]);
        let two = source("a.rs", "// A light\n\n// blue.");
        assert!(check(&[two], &config(&[], &[])).is_empty());
    }

    #[test]
    fn an_exception_holds_for_one_file_and_one_word_and_must_be_used() {
        let files = [source("a.rs", "// purple, light blue"), source("b.rs", "// purple")];
        let config = config(&[("a.rs", "purple"), ("a.rs", "red")], &[]);
        let expected = [
            "a.rs:1: light blue",
            "b.rs:1: purple",
            "xtask/exceptions.txt: a.rs does not use: red",
        ];
        assert_eq!(check(&files, &config), expected);
    }

    #[test]
    fn an_unchecked_folder_is_left_out() {
        let files = [source("a/b.rs", "// purple"), source("ab/c.rs", "// purple")];
        assert_eq!(check(&files, &config(&[], &["a"])), ["ab/c.rs:1: purple"]);
    }
}
