//! Command line of the process, and how the process starts the command again.

use std::ffi::OsString;
#[cfg(all(feature = "full", target_os = "linux"))]
use std::process::Command;
use std::sync::OnceLock;

use crate::startup;

static INVOCATION: OnceLock<Invocation> = OnceLock::new();

/// One run of the command.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Arguments, without the name of the program.
    pub arguments: Vec<OsString>,
    /// Program and first arguments that start the command again; empty for the file of this process.
    pub program: Vec<OsString>,
    /// Whether standard output was open when the process started.
    pub has_stdout: bool,
}

impl Invocation {
    /// Returns the invocation of a process whose program is the command.
    pub fn of_this_process() -> Self {
        Self {
            arguments: std::env::args_os().skip(1).collect(),
            program: Vec::new(),
            has_stdout: !startup::stdout_is_closed(),
        }
    }

    /// Makes this invocation the current one. A process has one; a later call has no effect.
    pub(crate) fn set_current(self) {
        let _ = INVOCATION.set(self);
    }
}

/// Returns the arguments, without the name of the program.
pub(crate) fn arguments() -> &'static [OsString] {
    INVOCATION.get().map_or(&[], |invocation| &invocation.arguments)
}

/// Returns whether standard output was open when the process started.
pub(crate) fn has_stdout() -> bool {
    INVOCATION.get().is_none_or(|invocation| invocation.has_stdout)
}

/// Returns a function that returns the start of a command line that runs the command `unruffled` again.
///
/// # Errors
/// If the file of this process is not known.
#[cfg(all(feature = "full", target_os = "linux"))]
pub(crate) fn again() -> std::io::Result<impl Fn() -> Command + Send + 'static> {
    let given = INVOCATION.get().and_then(|invocation| invocation.program.split_first());
    let (program, first) = match given {
        Some((program, first)) => (program.clone(), first),
        None => (std::env::current_exe()?.into_os_string(), &[][..]),
    };
    Ok(move || {
        let mut command = Command::new(&program);
        command.args(first);
        command
    })
}
