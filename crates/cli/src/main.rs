//! The command `unruffled`.

mod analyze;
mod bench;
mod compare;
#[cfg(target_os = "linux")]
mod emulate;
mod interrupt;
#[cfg(target_os = "linux")]
mod kernel;
mod output;
#[cfg(target_os = "linux")]
mod race;
mod refusal;
mod reproduce;
mod scenarios;
mod shown;
mod start;
mod startup;
mod store;
mod sweep;
mod variants;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use unruffled_lab::Error;

/// TCP that keeps its speed when the network shuffles packets.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Read a capture: what slowed its connections, and whether packets overtook each other
    Analyze(analyze::Arguments),
    /// Run several senders over a path that reorders: a table and an HTML report
    Compare(compare::Arguments),
    /// Join two network namespaces by a scenario's path, and run real programs across it
    #[cfg(target_os = "linux")]
    Emulate(emulate::Arguments),
    /// Send over a scenario's path with real packets: the kernel's senders against ours
    #[cfg(target_os = "linux")]
    Race(race::Arguments),
    /// Load the congestion control `unruffled` into this kernel; it stays until `detach`
    #[cfg(target_os = "linux")]
    Attach(kernel::AttachArguments),
    /// Undo all that `attach` did; existing connections continue
    #[cfg(target_os = "linux")]
    Detach,
    /// Run a program whose connections have the congestion control `unruffled`
    #[cfg(target_os = "linux")]
    Run(kernel::RunArguments),
    /// Show how the connections under the congestion control `unruffled` stand
    #[cfg(target_os = "linux")]
    Status(kernel::StatusArguments),
    /// Redo the figures and tables of the papers, and hold what the papers claim against the results
    Reproduce(reproduce::Arguments),
    /// Compare senders at many points: lists, ranges and samples of any keys of a scenario
    Sweep(sweep::Arguments),
    /// List the paths that ship with the command, show one, or write it as a file of your own
    Scenarios(scenarios::Arguments),
    /// Show, export or remove the results that `reproduce` and `sweep` keep
    Store(store::Arguments),
    /// List the senders: name, parts, parameters, source
    Variants(variants::Arguments),
    /// Measure how fast this machine simulates
    Bench(bench::Arguments),
}

impl Command {
    /// Whether standard output is for what the command itself has to say; else it is other programs'.
    fn prints_results(&self) -> bool {
        #[cfg(target_os = "linux")]
        if matches!(self, Self::Emulate(_) | Self::Run(_)) {
            return false;
        }
        true
    }
}

/// What is said where nothing can be printed.
const CLOSED: &str = "standard output: closed: expected a terminal, a file or a pipe";

/// What goes to standard output.
pub(crate) enum Printed {
    /// Text for people: as the locale has it, and within the terminal.
    People(String),
    /// A JSON document.
    Json(String),
    /// CSV, or a file: as it is.
    Data(String),
}

/// One line for people, and the exit status for a wrong command or file.
fn refuse(error: impl std::fmt::Display) -> ExitCode {
    tell(&format!("unruffled: {error}"));
    ExitCode::from(2)
}

/// The seed of what is random.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0, found {text:?}"))
}

/// So many threads, or one for each core.
fn pool(jobs: Option<u16>) -> Result<rayon::ThreadPool, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.map_or(0, usize::from)).build();
    pool.map_err(Error::Threads)
}

/// Prints a line on standard error, one whatever the names hold that are quoted in it.
fn tell(line: &str) {
    tell_text(&on_one_line(line));
}

/// What others have written or named, fit for a terminal.
fn on_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Prints lines on standard error; there is no other place to complain if that is gone.
fn tell_text(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{}", shown::shown(text, None));
}

fn main() -> ExitCode {
    let mut command = Cli::command();
    if let Some(columns) = output::given_columns() {
        command = command.term_width(columns);
    }
    let parsed = command.try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let cli = match parsed {
        Ok(cli) => cli,
        // A command that is missing is no mistake to explain.
        Err(_) if std::env::args_os().len() < 2 => {
            tell_text(&start::text());
            return ExitCode::from(2);
        }
        Err(error) if error.use_stderr() => {
            if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                tell_text(error.to_string().trim_end());
                return ExitCode::from(2);
            }
            return refuse(refusal::line(&error));
        }
        Err(error) => {
            // Help or version.
            let text = error.render();
            let (_, colour) = output::terminal();
            let text = if colour { text.ansi().to_string() } else { text.to_string() };
            return print(Printed::People(text));
        }
    };
    if startup::stdout_is_closed() && cli.command.prints_results() {
        return refuse(CLOSED);
    }
    match cli.command {
        Command::Analyze(arguments) => analyze::main(&arguments),
        Command::Compare(arguments) => compare::main(&arguments),
        #[cfg(target_os = "linux")]
        Command::Emulate(arguments) => emulate::main(&arguments),
        #[cfg(target_os = "linux")]
        Command::Race(arguments) => race::main(&arguments),
        #[cfg(target_os = "linux")]
        Command::Attach(arguments) => kernel::attach(&arguments),
        #[cfg(target_os = "linux")]
        Command::Detach => kernel::detach(),
        #[cfg(target_os = "linux")]
        Command::Run(arguments) => kernel::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Status(arguments) => kernel::status(&arguments),
        Command::Reproduce(arguments) => reproduce::main(&arguments),
        Command::Sweep(arguments) => sweep::main(&arguments),
        Command::Scenarios(arguments) => scenarios::main(&arguments),
        Command::Store(arguments) => store::main(&arguments),
        Command::Variants(arguments) => variants::main(&arguments),
        Command::Bench(arguments) => bench::main(&arguments),
    }
}

/// Writes to standard output; a reader that has gone away is no error.
fn print(text: Printed) -> ExitCode {
    print_on(text).unwrap_or_else(|status| status)
}

/// The same where more is to come: an error is the status to end with, at once.
fn print_on(text: Printed) -> Result<ExitCode, ExitCode> {
    use std::io::Write;
    let text = match text {
        Printed::People(text) => shown::shown(&text, output::columns()),
        Printed::Json(text) => shown::json(&text),
        Printed::Data(text) => text,
    };
    if startup::stdout_is_closed() {
        return Err(refuse(CLOSED));
    }
    let mut out = std::io::stdout();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What became of writing to standard output.
fn printed(written: std::io::Result<()>) -> Result<ExitCode, ExitCode> {
    match written {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(ExitCode::SUCCESS),
        Err(error) => Err(refuse(format!("standard output: {error}"))),
    }
}
