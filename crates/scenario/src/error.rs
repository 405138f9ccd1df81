//! What can be wrong with a scenario file, or with what replaces its keys: one line that says where, and
//! what was expected.

use unruffled_tcp::VariantError;

/// A wrong scenario or sender. Prints as one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario is neither built in, nor a random path, nor a file.
    #[error(
        "{name}: no such scenario: expected {builtin}, a random path (SEED-NUMBER, such as 7-12) or a \
         TOML file{hint}"
    )]
    NoScenario {
        /// What was asked for.
        name: String,
        /// The names of the built-in ones.
        builtin: String,
        /// What it may have been meant for.
        hint: String,
        /// Why the file could not be read.
        reason: std::io::Error,
    },
    /// The name is that of a file, and there is none.
    #[error("{name}: no such file{hint}")]
    Missing {
        /// What was asked for.
        name: String,
        /// What it may have been meant for.
        hint: String,
    },
    /// The scenario is there, but is no file with text.
    #[error("{name}: cannot be read: expected a TOML file ({reason})")]
    Unreadable {
        /// What was asked for.
        name: String,
        /// Why it could not be read.
        reason: std::io::Error,
    },
    /// The file is no TOML.
    #[error("{place}: not TOML: {message}")]
    Syntax {
        /// File and line.
        place: Place,
        /// What the parser says.
        message: String,
    },
    /// A key's value is wrong, or the key is.
    #[error("{place}: {key}: {message}")]
    Key {
        /// File and line, or the command line.
        place: Place,
        /// The key, dotted.
        key: String,
        /// What was expected, and what was found.
        message: String,
    },
    /// `--set` without `=`.
    #[error("--set {0}: expected KEY=VALUE")]
    Set(String),
    /// No such sender, or parts that do not go together.
    #[error("{place}: {reason}")]
    Variant {
        /// Where the name stands.
        place: String,
        /// What was expected.
        reason: VariantError,
    },
    /// A sender is named twice.
    #[error("{place}: {name} stands twice: expected each once")]
    Twice {
        /// Where the name stands.
        place: String,
        /// The name.
        name: String,
    },
    /// No traffic takes the senders that are compared.
    #[error(
        "{place}: nothing is sent by these: expected [[traffic]] without a sender, or with \"$variant\""
    )]
    NothingCompared {
        /// Where the senders stand.
        place: String,
    },
}

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a file, counted from 1.
    Line(String, usize),
    /// Nowhere: the file lacks it.
    File(String),
    /// This flag of the command.
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
    /// The same with the flag that gave the key's value, or the senders, in place of `--set`; `flags` are keys and
    /// their flags.
    #[must_use]
    pub fn by_flag(mut self, flags: &[(&str, &'static str)]) -> Self {
        let flag_of = |key: &str| flags.iter().find(|(of, _)| *of == key).map(|(_, flag)| *flag);
        if let Self::Set(assignment) = &self
            && let Some((key, "")) = assignment.split_once('=')
            && let Some(flag) = flag_of(key)
        {
            let (place, message) = (Place::CommandLine(flag), "expected a value".to_owned());
            return Self::Key { place, key: key.to_owned(), message };
        }
        if let Self::Variant { place, .. }
        | Self::Twice { place, .. }
        | Self::NothingCompared { place } = &mut self
            && place == "--set: variants"
            && let Some(flag) = flag_of("variants")
        {
            flag.clone_into(place);
        }
        if let Self::Key { place, key, .. } = &mut self
            && *place == Place::CommandLine("--set")
            && let Some(flag) = flag_of(key)
        {
            *place = Place::CommandLine(flag);
        }
        self
    }

    /// The same with the scenario that does not take what the command line says, where that is given
    /// to several.
    #[must_use]
    pub fn of_scenario(mut self, name: &str) -> Self {
        if let Self::Key { place: Place::CommandLine(_), message, .. } = &mut self {
            *message = format!("{name}: {message}");
        }
        self
    }
}
