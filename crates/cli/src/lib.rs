//! The command `unruffled` as a library, for the programs that offer it: its own, and the Python package.

#[cfg(not(feature = "full"))]
mod absent;
#[cfg(feature = "full")]
mod analyze;
mod bench;
#[cfg(feature = "full")]
mod book;
mod compare;
#[cfg_attr(not(feature = "full"), allow(dead_code, reason = "commands with settings are absent"))]
mod config;
#[cfg(all(feature = "full", target_os = "linux"))]
mod doctor;
#[cfg(target_os = "linux")]
mod emulate;
#[cfg(feature = "full")]
mod generate;
#[cfg(feature = "full")]
mod interrupt;
mod invocation;
#[cfg(all(feature = "full", target_os = "linux"))]
mod kernel;
mod number;
mod output;
#[cfg(target_os = "linux")]
mod race;
mod refusal;
#[cfg(feature = "full")]
mod reproduce;
#[cfg(all(feature = "full", target_os = "linux"))]
mod resequence;
mod scenarios;
#[cfg(feature = "full")]
mod serve;
mod shown;
mod start;
mod startup;
#[cfg(feature = "full")]
mod store;
#[cfg(feature = "full")]
mod sweep;
mod variants;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use unruffled_lab::Error;

#[cfg(all(not(feature = "full"), target_os = "linux"))]
use {absent as doctor, absent as kernel, absent as resequence};
#[cfg(not(feature = "full"))]
use {
    absent as analyze, absent as book, absent as generate, absent as reproduce, absent as serve,
    absent as store, absent as sweep,
};

pub use invocation::Invocation;

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
    /// Find out whether reordering slows this machine's connections, and what to do; changes nothing
    #[cfg(target_os = "linux")]
    Doctor(doctor::Arguments),
    /// Load the congestion control `unruffled` into this kernel; it stays until `detach`
    #[cfg(target_os = "linux")]
    Attach(kernel::AttachArguments),
    /// Undo all that `attach` did; existing connections continue
    #[cfg(target_os = "linux")]
    Detach(kernel::DetachArguments),
    /// Run a program whose connections have the congestion control `unruffled`
    #[cfg(target_os = "linux")]
    Run(kernel::RunArguments),
    /// Show the state of the connections under the congestion control `unruffled`
    #[cfg(target_os = "linux")]
    Status(kernel::StatusArguments),
    /// Put arriving packets in order, for this host or for those behind it, until Ctrl-C
    #[cfg(target_os = "linux")]
    Resequence(resequence::Arguments),
    /// The process that `resequence` starts
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    ResequenceWorker,
    /// Reproduce the figures and tables of the papers, and check the papers' claims
    Reproduce(reproduce::Arguments),
    /// Compare senders at many points: lists, ranges and samples of any keys of a scenario
    Sweep(sweep::Arguments),
    /// List the paths that ship with the command, show one, or write it as a file of your own
    #[command(alias = "scenario")]
    Scenarios(scenarios::Arguments),
    /// Show the web page: senders side by side, packets on the path, captures; until Ctrl-C
    Serve(serve::Arguments),
    /// Show, export or remove the results that `reproduce` and `sweep` keep
    Store(store::Arguments),
    /// List the senders: name, parts, parameters, source
    Variants(variants::Arguments),
    /// Measure how fast this machine simulates
    Bench(bench::Arguments),
    /// Write the man pages and shell completions into a folder
    #[command(hide = true)]
    Generate(generate::Arguments),
    /// Write the generated pages of the documentation into a folder
    #[command(hide = true)]
    Book(book::Arguments),
}

impl Command {
    /// Returns whether the command prints results on standard output, which otherwise belongs to other
    /// programs.
    fn prints_results(&self) -> bool {
        #[cfg(target_os = "linux")]
        if matches!(self, Self::Emulate(_) | Self::Run(_) | Self::ResequenceWorker) {
            return false;
        }
        true
    }

    /// Returns the path of the file with further settings, if there is one.
    fn config(&self) -> Option<&Path> {
        #[cfg(all(feature = "full", target_os = "linux"))]
        match self {
            Self::Attach(arguments) => return arguments.config.path(),
            Self::Resequence(arguments) => return arguments.config.path(),
            _ => {}
        }
        None
    }
}

/// Error of a command without a standard output.
const STDOUT_CLOSED: &str = "standard output: closed: expected a terminal, a file or a pipe";

/// Text for standard output.
pub(crate) enum Printed {
    /// Text for people, in the locale's character set and wrapped to the terminal.
    People(String),
    /// A JSON document.
    Json(String),
    /// CSV or a file, unchanged.
    Data(String),
}

/// Prints an error on one line, and returns the exit status for a wrong command or file.
fn refuse(error: impl std::fmt::Display) -> ExitCode {
    print_notice(&format!("unruffled: {error}"));
    ExitCode::from(2)
}

/// Returns a pool of `jobs` threads, or of one for each core.
fn pool(jobs: Option<u16>) -> Result<rayon::ThreadPool, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.map_or(0, usize::from)).build();
    pool.map_err(Error::Threads)
}

/// Prints one line on standard error, even if names in it contain line breaks.
fn print_notice(line: &str) {
    print_notices(&on_one_line(line));
}

/// Returns text from files or other programs without control characters, so that a terminal can show it.
fn on_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Prints lines on standard error. A failure is ignored, since there is no other place to report it.
fn print_notices(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{}", shown::shown(text, None));
}

/// Runs the command, and returns its exit status. A process runs it once.
pub fn main(invocation: Invocation) -> ExitCode {
    invocation.set_current();
    let mut command = Cli::command();
    if let Some(columns) = output::given_columns() {
        command = command.term_width(columns);
    }
    let cli = match parse(&command, invocation::arguments()) {
        Ok(cli) => cli,
        // Without any argument, the first steps are shown in place of an error.
        Err(_) if invocation::arguments().is_empty() => {
            print_notices(&start::text());
            return ExitCode::from(2);
        }
        Err(Unparsed::Settings(error)) => return refuse(error),
        Err(Unparsed::Arguments(error)) if error.use_stderr() => {
            if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                print_notices(error.to_string().trim_end());
                return ExitCode::from(2);
            }
            return refuse(refusal::line(&error));
        }
        Err(Unparsed::Arguments(error)) => {
            // Help or version.
            let text = error.render();
            let (_, colour) = output::terminal();
            let text = if colour { text.ansi().to_string() } else { text.to_string() };
            return print(Printed::People(text));
        }
    };
    if !invocation::has_stdout() && cli.command.prints_results() {
        return refuse(STDOUT_CLOSED);
    }
    match cli.command {
        Command::Analyze(arguments) => analyze::main(&arguments),
        Command::Compare(arguments) => compare::main(&arguments),
        #[cfg(target_os = "linux")]
        Command::Emulate(arguments) => emulate::main(&arguments),
        #[cfg(target_os = "linux")]
        Command::Race(arguments) => race::main(&arguments),
        #[cfg(target_os = "linux")]
        Command::Doctor(arguments) => doctor::main(&arguments),
        #[cfg(target_os = "linux")]
        Command::Attach(arguments) => kernel::attach(&arguments),
        #[cfg(target_os = "linux")]
        Command::Detach(arguments) => kernel::detach(&arguments),
        #[cfg(target_os = "linux")]
        Command::Run(arguments) => kernel::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Status(arguments) => kernel::status(&arguments),
        #[cfg(target_os = "linux")]
        Command::Resequence(arguments) => resequence::main(&arguments),
        #[cfg(target_os = "linux")]
        Command::ResequenceWorker => resequence::worker(),
        Command::Reproduce(arguments) => reproduce::main(&arguments),
        Command::Sweep(arguments) => sweep::main(&arguments),
        Command::Scenarios(arguments) => scenarios::main(&arguments),
        Command::Serve(arguments) => serve::main(&arguments),
        Command::Store(arguments) => store::main(&arguments),
        Command::Variants(arguments) => variants::main(&arguments),
        Command::Bench(arguments) => bench::main(&arguments),
        Command::Generate(arguments) => generate::main(&arguments),
        Command::Book(arguments) => book::main(&arguments),
    }
}

/// Checks that the command takes these arguments, which lack the name of the program. Nothing runs, and no file
/// is read.
///
/// # Errors
/// The line that the command would print.
pub fn check_arguments(arguments: &[OsString]) -> Result<(), String> {
    let name = OsString::from("unruffled");
    let matches = Cli::command().try_get_matches_from(std::iter::once(&name).chain(arguments));
    let checked = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    checked.map(|_| ()).map_err(|error| refusal::line(&error))
}

/// Error of a command line.
enum Unparsed {
    /// The arguments are invalid, or they request the help or the version.
    Arguments(clap::Error),
    /// The file of `--config` is invalid.
    Settings(unruffled_scenario::Error),
}

impl From<clap::Error> for Unparsed {
    fn from(error: clap::Error) -> Self {
        Self::Arguments(error)
    }
}

/// Parses the arguments, with the settings of the file of `--config`.
fn parse(command: &clap::Command, arguments: &[OsString]) -> Result<Cli, Unparsed> {
    let parse = |arguments: &[OsString]| {
        let name = OsString::from(command.get_name());
        command.clone().try_get_matches_from(std::iter::once(&name).chain(arguments))
    };
    let matches = parse(arguments)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let Some(path) = cli.command.config() else { return Ok(cli) };
    let arguments = config::add_settings(command, arguments, &matches, path);
    let matches = parse(&arguments.map_err(Unparsed::Settings)?)?;
    Ok(Cli::from_arg_matches(&matches)?)
}

/// Writes to standard output. A reader that has closed the pipe is no error.
fn print(text: Printed) -> ExitCode {
    print_on(text).unwrap_or_else(|status| status)
}

/// Writes to standard output. The error is the exit status of a command that cannot print more.
fn print_on(text: Printed) -> Result<ExitCode, ExitCode> {
    use std::io::Write;
    let text = match text {
        Printed::People(text) => shown::shown(&text, output::columns()),
        Printed::Json(text) => shown::json(&text),
        Printed::Data(text) => text,
    };
    if !invocation::has_stdout() {
        return Err(refuse(STDOUT_CLOSED));
    }
    let mut out = std::io::stdout();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Turns the result of writing to standard output into exit statuses.
fn printed(written: std::io::Result<()>) -> Result<ExitCode, ExitCode> {
    match written {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(ExitCode::SUCCESS),
        Err(error) => Err(refuse(format!("standard output: {error}"))),
    }
}
