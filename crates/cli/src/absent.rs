//! The commands that a build without the feature `full` lacks. Each takes any arguments, and refuses.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use crate::invocation;

#[cfg(target_os = "linux")]
pub(crate) use {
    Arguments as AttachArguments, Arguments as DetachArguments, Arguments as RunArguments,
    Arguments as StatusArguments, main as attach, main as detach, main as run, main as status,
};

/// Arguments of a command that is not in this build.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _any: Vec<OsString>,
}

/// Refuses the given command.
pub(crate) fn main(_: &Arguments) -> ExitCode {
    worker()
}

/// Refuses the given command, which has no arguments.
pub(crate) fn worker() -> ExitCode {
    let name = invocation::arguments().first().map(|name| name.to_string_lossy());
    let name = name.unwrap_or_default();
    crate::refuse(format!("{name}: not in this build: make build makes the whole command"))
}
