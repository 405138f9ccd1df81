//! What is said of a command line that makes no sense: one line, with what was expected and what may have
//! been meant.

use std::path::Path;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use unruffled_scenario::BUILTIN;
use unruffled_units::{did_you_mean, similar};

use crate::Cli;

/// The line for Clap's `error`.
pub(crate) fn line(error: &clap::Error) -> String {
    let text = error.to_string();
    // Clap's first paragraph says what is wrong, its usage what was expected.
    let what = text.split("\n\n").next().unwrap_or_default();
    let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
    let what = in_range(what.trim_start_matches("error: "));
    // Of what cannot go together its usage shows the one.
    let usage = match error.kind() {
        ErrorKind::ArgumentConflict => Some("only one of them"),
        _ if of_no_number(error) => Some("a whole number"),
        _ => text.lines().find_map(|line| line.strip_prefix("Usage: ")),
    };
    let usage = usage.map_or(String::new(), |usage| format!(": expected {usage}"));
    format!("{what}{usage}{}", meant(error).map_or(String::new(), |meant| did_you_mean(&meant)))
}

/// What the command line may have been meant for.
fn meant(error: &clap::Error) -> Option<String> {
    let suggested = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg];
    let suggested = suggested.into_iter().chain([ContextKind::SuggestedValue]);
    let clap = suggested.filter_map(|kind| error.get(kind)).find_map(|value| match value {
        ContextValue::String(one) => Some(one.clone()),
        ContextValue::Strings(several) => several.last().cloned(),
        _ => None,
    });
    clap.or_else(|| match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name))) => subcommand(name),
        (ErrorKind::UnknownArgument, _) => flag(error),
        _ => None,
    })
}

/// The command for what stands in a subcommand's place: one that is like it, or one that takes it.
fn subcommand(name: &str) -> Option<String> {
    let commands = Cli::command();
    if let Some(like) = similar(name, commands.get_subcommands().map(clap::Command::get_name)) {
        return Some(like.to_owned());
    }
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    let captured = matches!(ending, Some("pcap" | "pcapng" | "cap" | "gz"));
    let scenario = BUILTIN.iter().any(|(builtin, _)| *builtin == name) || ending == Some("toml");
    match (captured, scenario) {
        (true, _) => Some(format!("unruffled analyze {name}")),
        (_, true) => Some(format!("unruffled compare {name}")),
        _ => None,
    }
}

/// The flag of the subcommand that is like the one that was given.
fn flag(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidArg) else { return None };
    let mut given = std::env::args().skip(1);
    let commands = Cli::command();
    let command = commands.find_subcommand(given.next()?)?;
    // Of letters behind one dash Clap names the first alone.
    let one_dash = |word: &String| word.starts_with(found.as_str()) && !word.starts_with("--");
    let whole = given.find(|word| found.starts_with('-') && one_dash(word));
    let found = whole.unwrap_or_else(|| found.clone());
    let word = found.trim_start_matches('-').split('=').next().unwrap_or_default();
    let flags: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    similar(word, flags).map(|flag| format!("--{flag}"))
}

/// Whether a value is no whole number at all, of which the standard library tells what it found alone.
fn of_no_number(error: &clap::Error) -> bool {
    use std::error::Error;
    error.source().is_some_and(|source| source.is::<std::num::ParseIntError>())
}

/// What Clap says of a number out of a flag's range, with what was expected.
fn in_range(what: &str) -> String {
    let range = what.rsplit_once(" is not in ").and_then(|(before, range)| {
        let (least, most) = range.split_once("..=")?;
        let found = before.rsplit_once(": ").map_or(before, |(flag, _)| flag);
        Some(format!("{found}: expected a whole number from {least} to {most}"))
    });
    range.unwrap_or_else(|| what.to_owned())
}
