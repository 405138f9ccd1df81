//! The command `unruffled`, for the package's console script.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;
use unruffled_cli::Invocation;

/// Run the command with these arguments, and return its exit status.
///
/// `again` is a command line that starts it in another process.
#[pyfunction]
pub(crate) fn command(
    py: Python<'_>,
    arguments: Vec<OsString>,
    again: Vec<OsString>,
    has_stdout: bool,
) -> u8 {
    let invocation = Invocation { arguments, program: again, has_stdout };
    let status = py.detach(|| unruffled_cli::main(invocation));
    // An `ExitCode` can only be compared.
    (0..=u8::MAX).find(|code| ExitCode::from(*code) == status).unwrap_or(1)
}
