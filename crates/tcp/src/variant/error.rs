//! Errors in the name or the parameters of a sender.

use core::fmt;

use unruffled_units::hint;

use super::{PARTS, ROWS, meant};
use crate::parameter::ParameterError;

/// Reason why a name is not a sender, or why a sender cannot be changed as requested. Displays as
/// one line that gives what was expected. Returned by [`Variant::parse`](super::Variant::parse),
/// [`Variant::set`](super::Variant::set) and similar methods.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VariantError {
    /// No row of the table has this name.
    UnknownVariant {
        /// Name as given, with its parts.
        name: String,
    },
    /// No part has this name.
    UnknownPart {
        /// Name as given, with its parts.
        name: String,
        /// Part that is unknown.
        part: String,
    },
    /// A part is named twice.
    PartTwice {
        /// Name as given, with its parts.
        name: String,
        /// Part that is repeated.
        part: &'static str,
    },
    /// The sender finds spurious reductions of the window by rules of its own.
    OwnRules {
        /// Name as given, with its parts.
        name: String,
        /// The row.
        row: &'static str,
        /// Part that would replace the rules.
        part: &'static str,
    },
    /// The sender already has another congestion control.
    SecondControl {
        /// Name as given, with its parts.
        name: String,
        /// Second congestion control.
        part: &'static str,
    },
    /// The sender is not composed of parts and takes none.
    TakesNoParts {
        /// Name as given, with its parts.
        name: String,
        /// Name of its row.
        row: &'static str,
    },
    /// No parameter has this name.
    UnknownParameter {
        /// Name of the sender.
        name: String,
        /// Parameter name as given.
        parameter: String,
        /// Parameters that the sender has.
        known: Vec<&'static str>,
    },
    /// A parameter does not take this value.
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
                let known = known.join(", ");
                let meant = meant::hint(name);
                write!(f, "{name}: no part {part:?}: expected one of {known}{meant}")
            }
            Self::PartTwice { name, part } => write!(f, "{name}: {part} stands twice"),
            Self::OwnRules { name, row, part } => write!(
                f,
                "{name}: {row} has rules of its own in place of {part}: expected {row}, or another sender"
            ),
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
