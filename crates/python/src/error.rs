//! What can go wrong, as Python's exceptions: with the one line that the command prints.

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

pyo3::create_exception!(
    unruffled,
    Error,
    PyValueError,
    "A wrong scenario, variant, file or capture: one line that says where, and what was expected."
);

/// Python's exception with the line that the command prints.
pub(crate) fn refused(error: impl std::fmt::Display) -> PyErr {
    // What people gave is quoted in it, whatever that holds.
    Error::new_err(error.to_string().replace(char::is_control, " "))
}
