//! Errors of scenario files and of the values that replace their keys. Each prints as one line that says
//! where the fault is and what was expected.

use unruffled_tcp::VariantError;

/// An error of a scenario, a sender or another TOML file. Prints as one line.
///
/// # Examples
/// ```
/// use unruffled_scenario::Scenario;
///
/// let text = "duration = \"1 s\"\nvariants = [\"sack\"]\npath.hops = [\"a\"]\nlink.a.dealy = \"1 ms\"";
/// let error = Scenario::parse("my.toml", text, &[]).unwrap_err();
/// let line = "my.toml:4: link.a.dealy: unknown key, and link.a.delay is missing: expected a value \
///             such as \"50 ms\"";
/// assert_eq!(error.to_string(), line);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name is neither that of a built-in scenario, nor of a random path, nor of a file.
    #[error(
        "{name}: no such scenario: expected {builtin}, a random path (SEED-NUMBER, such as 7-12) or a \
         TOML file{hint}"
    )]
    NoScenario {
        /// The name.
        name: String,
        /// The names of the built-in scenarios.
        builtin: String,
        /// A suggestion, if there is one.
        hint: String,
        /// The error of opening a file of that name.
        source: std::io::Error,
    },
    /// The name is that of a file, which does not exist.
    #[error("{name}: no such file{hint}")]
    Missing {
        /// The name.
        name: String,
        /// A suggestion, if there is one.
        hint: String,
    },
    /// The file exists, but its text cannot be read.
    #[error("{name}: cannot be read: expected a TOML file ({source})")]
    Unreadable {
        /// The name.
        name: String,
        /// The error of reading it.
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{place}: not TOML: {message}")]
    Syntax {
        /// The file and the line.
        place: Place,
        /// The parser's message.
        message: String,
    },
    /// A key is unknown, missing, or has an invalid value.
    #[error("{place}: {key}: {message}")]
    Key {
        /// The file and the line, or the command line.
        place: Place,
        /// The dotted key.
        key: String,
        /// What was expected and what was found.
        message: String,
    },
    /// An override has no `=`.
    #[error("--set {0}: expected KEY=VALUE")]
    Set(String),
    /// A sender is unknown, or its parts do not fit together.
    #[error("{place}: {source}")]
    Variant {
        /// The place of the name.
        place: String,
        /// What was expected.
        source: VariantError,
    },
    /// A sender is named twice.
    #[error("{place}: {name} stands twice: expected each once")]
    Twice {
        /// The place of the name.
        place: String,
        /// The name.
        name: String,
    },
    /// No traffic takes the senders that are compared.
    #[error(
        "{place}: nothing is sent by these: expected [[traffic]] without a sender, or with \"$variant\""
    )]
    NothingCompared {
        /// The place of the senders' names.
        place: String,
    },
}

/// The place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a file, counted from 1.
    Line(String, usize),
    /// A file that lacks the value.
    File(String),
    /// A flag of the command.
    CommandLine(&'static str),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(file, line) => write!(f, "{file}:{line}"),
            Self::File(file) => f.write_str(file),
            Self::CommandLine(flag) => f.write_str(flag),
        }
    }
}

impl Error {
    /// Names the flag that gave a key's value, or the senders, in place of `--set`. `flags` are keys with
    /// their flags.
    #[must_use]
    pub fn by_flag(mut self, flags: &[(&str, &'static str)]) -> Self {
        let flag_of = |key: &str| flags.iter().find(|(of, _)| *of == key).map(|(_, flag)| *flag);
        match &mut self {
            Self::Set(assignment) => {
                let Some((key, "")) = assignment.split_once('=') else { return self };
                let Some(flag) = flag_of(key) else { return self };
                let message = "expected a value".to_owned();
                Self::Key { place: Place::CommandLine(flag), key: key.to_owned(), message }
            }
            Self::Variant { place, .. }
            | Self::Twice { place, .. }
            | Self::NothingCompared { place } => {
                if place == "--set: variants"
                    && let Some(flag) = flag_of("variants")
                {
                    flag.clone_into(place);
                }
                self
            }
            Self::Key { place, key, .. } => {
                if *place == Place::CommandLine("--set")
                    && let Some(flag) = flag_of(key)
                {
                    *place = Place::CommandLine(flag);
                }
                self
            }
            _ => self,
        }
    }

    /// Names the scenario that rejects a value of the command line, if that value is given to several
    /// scenarios.
    #[must_use]
    pub fn of_scenario(mut self, name: &str) -> Self {
        if let Self::Key { place: Place::CommandLine(_), message, .. } = &mut self {
            *message = format!("{name}: {message}");
        }
        self
    }
}
