//! What a person can get wrong about a sender.

use core::fmt;

use unruffled_units::hint;

use super::{PARTS, ROWS, meant};
use crate::parameter::ParameterError;

/// Why a name is no sender, or why a sender cannot be changed so. Displays as one line that says what
/// was expected. Match on it where [`Variant::parse`](super::Variant::parse) and its kin fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariantError {
    /// No row of the table has this name.
    UnknownVariant {
        /// The name as given, parts and all.
        name: String,
    },
    /// No part has this name.
    UnknownPart {
        /// The name as given, parts and all.
        name: String,
        /// The part that is unknown.
        part: String,
    },
    /// A part stands twice.
    PartTwice {
        /// The name as given, parts and all.
        name: String,
        /// The part.
        part: &'static str,
    },
    /// A second congestion control.
    SecondControl {
        /// The name as given, parts and all.
        name: String,
        /// The part.
        part: &'static str,
    },
    /// The sender is a machine of its own, which takes no parts.
    TakesNoParts {
        /// The name as given, parts and all.
        name: String,
        /// Its row.
        row: &'static str,
    },
    /// No parameter has this name.
    UnknownParameter {
        /// The sender's name.
        name: String,
        /// The parameter's name as given.
        parameter: String,
        /// Those that it has.
        known: Vec<&'static str>,
    },
    /// A parameter cannot have this value.
    Value(ParameterError),
}

impl fmt::Display for VariantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownVariant { name } => {
                let known: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
                let meant = meant::hint(name);
                write!(f, "{name}: no such variant: expected one of {}{meant}", known.join(", "))
            }
            Self::UnknownPart { name, part } => {
                let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
                let (known, meant) = (known.join(", "), meant::hint(name));
                write!(f, "{name}: no part {part:?}: expected one of {known}{meant}")
            }
            Self::PartTwice { name, part } => write!(f, "{name}: {part} stands twice"),
            Self::SecondControl { name, part } => {
                write!(f, "{name}: {part} is a second congestion control: expected at most one")
            }
            Self::TakesNoParts { name, row } => write!(
                f,
                "{name}: {row} has its own loss detection, timer and congestion control: \
                 expected no parts"
            ),
            Self::UnknownParameter { name, known, .. } if known.is_empty() => {
                write!(f, "{name} has no parameters: expected none")
            }
            Self::UnknownParameter { parameter, known, .. } => {
                let meant = hint(parameter, known.iter().copied());
                write!(f, "no such parameter: expected one of {}{meant}", known.join(", "))
            }
            Self::Value(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for VariantError {}

impl From<ParameterError> for VariantError {
    fn from(error: ParameterError) -> Self {
        Self::Value(error)
    }
}
