//! The command `unruffled`.

mod bench;
mod compare;
#[cfg(target_os = "linux")]
mod emulate;
mod variants;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// TCP that keeps its speed when the network shuffles packets.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run several senders over a path that reorders: a table and an HTML report
    Compare(compare::Arguments),
    /// Join two network namespaces by a scenario's path, and run real programs across it
    #[cfg(target_os = "linux")]
    Emulate(emulate::Arguments),
    /// List the senders: name, parts, parameters, source
    Variants(variants::Arguments),
    /// Measure how fast this machine simulates
    Bench(bench::Arguments),
}

/// One line for people, and the exit status for a wrong command or file.
fn refuse(error: impl std::fmt::Display) -> ExitCode {
    eprintln!("unruffled: {error}");
    ExitCode::from(2)
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            // Clap's first paragraph says it all; the rest is advice over several lines.
            let text = error.to_string();
            if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                eprint!("{text}");
                return ExitCode::from(2);
            }
            let line = text.split("\n\n").next().unwrap_or_default();
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            return refuse(line.trim_start_matches("error: "));
        }
        Err(error) => {
            // Help or version; nobody to tell if standard output is gone.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
    };
    match cli.command {
        Command::Compare(arguments) => compare::main(&arguments),
        #[cfg(target_os = "linux")]
        Command::Emulate(arguments) => emulate::main(&arguments),
        Command::Variants(arguments) => variants::main(&arguments),
        Command::Bench(arguments) => bench::main(&arguments),
    }
}

/// Writes to standard output; a reader that has gone away is no error.
fn print(text: &str) -> ExitCode {
    use std::io::Write;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            refuse(format!("standard output: {error}"))
        }
        _ => ExitCode::SUCCESS,
    }
}
