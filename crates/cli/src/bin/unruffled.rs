//! The command `unruffled`.

use std::process::ExitCode;

use unruffled_cli::Invocation;

fn main() -> ExitCode {
    unruffled_cli::main(Invocation::of_this_process())
}
