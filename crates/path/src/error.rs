//! Errors in a configuration.

use core::fmt;

use thiserror::Error;

/// Configuration value out of its range; prints as one line that names the field.
///
/// Readers of configuration files can replace the name of the field by that of their own key, with
/// [`field`](Self::field) and [`expected`](Self::expected).
///
/// ```
/// use unruffled_path::Red;
///
/// let error = Red { max_p: 2.0, ..Red::default() }.check().unwrap_err();
/// assert_eq!(error.field(), "max_p");
/// assert_eq!(error.to_string(), "max_p must be greater than 0 and at most 1, not 2");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} must be {expected}, not {found}")]
pub struct ConfigError {
    field: String,
    expected: &'static str,
    found: String,
}

impl ConfigError {
    /// Creates the error that `field` must be `expected`, not `found`.
    pub fn new(field: &str, expected: &'static str, found: impl fmt::Display) -> Self {
        Self { field: field.to_owned(), expected, found: found.to_string() }
    }

    /// Prefixes the field with `outer`, the field of its owner.
    pub(crate) fn within(mut self, outer: impl fmt::Display) -> Self {
        self.field = format!("{outer}.{}", self.field);
        self
    }

    /// Returns the place of the field in the configuration, such as `impairments[0].delay.low`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns the error without the field, such as `expected at least 1, found 0`.
    pub fn without_field(&self) -> String {
        format!("expected {}, found {}", self.expected, self.found)
    }

    /// Returns what the field must be, such as `at least 1`.
    pub fn expected(&self) -> &'static str {
        self.expected
    }
}
