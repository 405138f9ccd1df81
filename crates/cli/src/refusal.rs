//! The line for a command line that Clap rejects: what is wrong, what was expected, and what may have been
//! meant.

use std::borrow::Cow;
use std::path::Path;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use unruffled_scenario::BUILTIN;
use unruffled_units::{did_you_mean, similar};

use crate::{Cli, invocation};

/// Returns the line for Clap's `error`.
pub(crate) fn line(error: &clap::Error) -> String {
    let expected =
        expected(error).map_or(String::new(), |expected| format!(": expected {expected}"));
    let hint = meant(error).map_or(String::new(), |meant| did_you_mean(&meant));
    format!("{}{expected}{hint}", one_line(&problem(error)))
}

/// Returns what was expected of a value and what was found, or `None` for an error of another kind.
pub(crate) fn reason(error: &clap::Error) -> Option<String> {
    let found = strings(error, ContextKind::InvalidValue).join(" ");
    let expected = match error.kind() {
        ErrorKind::InvalidValue => {
            let known = strings(error, ContextKind::ValidValue);
            if known.is_empty() { "expected a value".to_owned() } else { one_of(&known) }
        }
        ErrorKind::ValueValidation => {
            let source = std::error::Error::source(error).map(ToString::to_string);
            source.unwrap_or_else(|| "expected another value".to_owned())
        }
        _ => return None,
    };
    let found =
        if expected.contains("found ") { String::new() } else { format!(", found {found:?}") };
    let hint = meant(error).map_or(String::new(), |meant| did_you_mean(&meant));
    Some(format!("{expected}{found}{hint}"))
}

/// Returns the message that one of `known` was expected.
pub(crate) fn one_of(known: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    format!("expected {}{}", if names.len() > 1 { "one of " } else { "" }, names.join(", "))
}

/// Returns what is wrong, from the kind of the error and its context.
fn problem(error: &clap::Error) -> String {
    let argument = strings(error, ContextKind::InvalidArg);
    let argument = argument.join(" ");
    let value = strings(error, ContextKind::InvalidValue).join(" ");
    let subcommand = strings(error, ContextKind::InvalidSubcommand).join(" ");
    match error.kind() {
        ErrorKind::InvalidSubcommand => format!("unrecognized subcommand '{subcommand}'"),
        ErrorKind::MissingSubcommand => {
            format!("'{subcommand}' requires a subcommand but one was not provided")
        }
        ErrorKind::UnknownArgument => format!("unexpected argument '{argument}' found"),
        ErrorKind::MissingRequiredArgument => {
            format!("the following required arguments were not provided: {argument}")
        }
        ErrorKind::ArgumentConflict => conflict(error, &argument),
        // Clap uses this kind for a value that is missing, too.
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("a value is required for '{argument}' but none was supplied")
        }
        ErrorKind::InvalidValue => format!("invalid value '{value}' for '{argument}'"),
        ErrorKind::ValueValidation => {
            let source = std::error::Error::source(error);
            let reason = source.map_or(String::new(), |source| format!(": {source}"));
            format!("invalid value '{value}' for '{argument}'{reason}")
        }
        ErrorKind::TooManyValues => format!("unexpected value '{value}' for '{argument}' found"),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("another number of values is required for '{argument}'")
        }
        ErrorKind::NoEquals => {
            format!("an equal sign is needed when assigning values to '{argument}'")
        }
        kind => kind.to_string(),
    }
}

fn conflict(error: &clap::Error, argument: &str) -> String {
    let others = strings(error, ContextKind::PriorArg);
    match &others[..] {
        [same] if same == argument => {
            format!("the argument '{argument}' cannot be used multiple times")
        }
        [other] => format!("the argument '{argument}' cannot be used with '{other}'"),
        others => format!("the argument '{argument}' cannot be used with: {}", others.join(" ")),
    }
}

/// Returns what was expected, unless [`problem`] has it.
fn expected(error: &clap::Error) -> Option<String> {
    if error.kind() == ErrorKind::ArgumentConflict {
        return Some("only one of them".to_owned());
    }
    let values = strings(error, ContextKind::ValidValue);
    if !values.is_empty() {
        return Some(format!("one of {}", values.join(", ")));
    }
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    let usage = usage.to_string();
    let first = usage.lines().next().unwrap_or_default();
    Some(first.trim_start_matches("Usage: ").to_owned())
}

/// Returns what the command line may have been meant for.
fn meant(error: &clap::Error) -> Option<String> {
    for kind in
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
    {
        if let Some(suggestion) = strings(error, kind).pop() {
            return Some(suggestion);
        }
    }
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            strings(error, ContextKind::InvalidSubcommand).pop().and_then(|name| subcommand(&name))
        }
        ErrorKind::UnknownArgument => {
            strings(error, ContextKind::InvalidArg).pop().and_then(|found| flag(&found))
        }
        _ => None,
    }
}

/// Returns the command for `name`, given in place of a subcommand: a similar one, or one that reads a
/// file or scenario of that name.
fn subcommand(name: &str) -> Option<String> {
    let commands = Cli::command();
    if let Some(like) = similar(name, commands.get_subcommands().map(clap::Command::get_name)) {
        return Some(like.to_owned());
    }
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    if matches!(extension, Some("pcap" | "pcapng" | "cap" | "gz")) {
        return Some(format!("unruffled analyze {name}"));
    }
    let is_scenario =
        extension == Some("toml") || BUILTIN.iter().any(|(builtin, _)| *builtin == name);
    is_scenario.then(|| format!("unruffled compare {name}"))
}

/// Returns the flag of the given subcommand that is similar to `found`.
fn flag(found: &str) -> Option<String> {
    let mut given = invocation::arguments().iter().map(|word| word.to_string_lossy());
    let commands = Cli::command();
    let command = commands.find_subcommand(&*given.next()?)?;
    // Of several letters behind one dash, Clap names the first.
    let whole = given
        .find(|word| found.starts_with('-') && word.starts_with(found) && !word.starts_with("--"));
    let found = whole.map_or_else(|| found.to_owned(), Cow::into_owned);
    let word = found.trim_start_matches('-').split('=').next().unwrap_or_default();
    let flags: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    similar(word, flags).map(|flag| format!("--{flag}"))
}

/// Returns the strings of a context, or none if the error has no such context.
fn strings(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(several)) => several.clone(),
        _ => Vec::new(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
