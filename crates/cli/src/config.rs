//! Settings of subcommands from a file, such as `/etc/unruffled.toml`.
//!
//! The file has a table for each subcommand with the flag `--config`. The keys of a table are the long names
//! of the subcommand's other flags. Each setting becomes an argument, so a value has the same form and range
//! in the file and on the command line. Flags of the command line replace settings.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use serde_json::{Map, Value};
use unruffled_scenario::{Document, Error};
use unruffled_units::{did_you_mean, similar};

use crate::refusal;

/// Name of the flag, which no file sets.
pub(crate) const CONFIG: &str = "config";

#[derive(Args)]
pub(crate) struct ConfigArgument {
    /// Read settings for flags that are not given from this file, such as /etc/unruffled.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ConfigArgument {
    /// Returns the path of the file, if the flag is given.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.config.as_deref()
    }
}

/// Returns `arguments` with the settings of the file at `path` after the subcommand's name. `matches` has
/// `arguments` as parsed by `command`. A setting is left out if its flag is given, or one that excludes it.
///
/// # Errors
/// A file that cannot be read, an unknown table or key, an invalid value, or settings that exclude each
/// other.
pub(crate) fn add_settings(
    command: &Command,
    arguments: &[OsString],
    matches: &ArgMatches,
    path: &Path,
) -> Result<Vec<OsString>, Error> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(arguments.to_vec()) };
    let Some(subcommand) = command.find_subcommand(name) else { return Ok(arguments.to_vec()) };
    let settings = read(command, subcommand, path)?;
    let is_given = |flag: &&Arg| {
        matches.value_source(flag.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let given: Vec<&Arg> = subcommand.get_arguments().filter(is_given).collect();
    let excludes = |one: &Arg, other: &Arg| {
        subcommand.get_arg_conflicts_with(one).iter().any(|arg| arg.get_id() == other.get_id())
    };
    let is_replaced = |flag: &Arg| {
        let ends = |one: &&Arg| {
            one.get_id() == flag.get_id() || excludes(one, flag) || excludes(flag, one)
        };
        given.iter().any(ends)
    };
    let (first, rest) = arguments.split_at(1);
    let mut all = first.to_vec();
    all.extend(settings.into_iter().filter(|(flag, _)| !is_replaced(flag)).flat_map(|(_, a)| a));
    all.extend_from_slice(rest);
    Ok(all)
}

/// Flag of a subcommand, and the arguments of its setting.
type Setting<'c> = (&'c Arg, Vec<OsString>);

/// Reads the settings of `subcommand` from the file at `path`, and checks them.
fn read<'c>(
    command: &Command,
    subcommand: &'c Command,
    path: &Path,
) -> Result<Vec<Setting<'c>>, Error> {
    let name = subcommand.get_name();
    let file = path.display().to_string();
    let unreadable = |source| Error::Unreadable { name: file.clone(), source };
    let text = unruffled_scenario::text::read(path).map_err(unreadable)?;
    let document = Document::parse(&file, &text)?;
    document.check_printable()?;
    let tables: Map<String, Value> = document.read()?;
    let has_settings = |one: &&Command| one.get_arguments().any(|arg| arg.get_id() == CONFIG);
    let known = command.get_subcommands().filter(has_settings).map(Command::get_name);
    let known: Vec<&str> = known.collect();
    for (table, value) in &tables {
        if !known.contains(&table.as_str()) {
            let message = unknown("table", table, &known);
            return Err(document.wrong_at(&[table], message));
        }
        if !value.is_object() {
            return Err(document.wrong_at(&[table], "expected a table"));
        }
    }
    let Some(Value::Object(table)) = tables.get(name) else { return Ok(Vec::new()) };
    let flags = || subcommand.get_arguments().filter(|arg| arg.get_id() != CONFIG);
    let mut settings = Vec::new();
    for (key, value) in table {
        let wrong = |message| document.wrong_at(&[name, key], message);
        let Some(flag) = flags().find(|flag| flag.get_long() == Some(key)) else {
            let known: Vec<&str> = flags().filter_map(Arg::get_long).collect();
            return Err(wrong(unknown("key", key, &known)));
        };
        let arguments = arguments_of(flag, key, value).map_err(wrong)?;
        if let Err(error) = parse(command, name, &arguments)
            && let Some(reason) = refusal::reason(&error)
        {
            return Err(wrong(reason));
        }
        settings.push((flag, arguments));
    }
    let all: Vec<OsString> = settings.iter().flat_map(|(_, arguments)| arguments.clone()).collect();
    match parse(command, name, &all) {
        Err(error) => Err(document.wrong_at(&[name], refusal::line(&error))),
        Ok(_) => Ok(settings),
    }
}

/// Parses a command line of the subcommand `name` and `arguments`.
fn parse(command: &Command, name: &str, arguments: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let start = [command.get_name(), name].map(OsString::from);
    command.clone().try_get_matches_from(start.iter().chain(arguments))
}

/// Returns the arguments that `key = value` stands for.
///
/// # Errors
/// The message about a value of another type.
fn arguments_of(flag: &Arg, key: &str, value: &Value) -> Result<Vec<OsString>, String> {
    if !flag.get_action().takes_values() {
        return match value {
            Value::Bool(true) => Ok(vec![format!("--{key}").into()]),
            Value::Bool(false) => Ok(Vec::new()),
            _ => Err(format!("expected true or false, found {}", found(value))),
        };
    }
    let is_list = matches!(flag.get_action(), ArgAction::Append);
    let values = match value {
        Value::Array(values) if is_list => &values[..],
        one => std::slice::from_ref(one),
    };
    let argument = |value: &Value| match value {
        Value::String(text) => Ok(format!("--{key}={text}").into()),
        Value::Number(number) => Ok(format!("--{key}={number}").into()),
        other if is_list => {
            Err(format!("expected a text, a number or a list of these, found {}", found(other)))
        }
        other => Err(format!("expected a text or a number, found {}", found(other))),
    };
    values.iter().map(argument).collect()
}

/// Returns the message about a name that is not one of `known`.
fn unknown(kind: &str, name: &str, known: &[&str]) -> String {
    let hint = similar(name, known.iter().copied()).map_or(String::new(), did_you_mean);
    format!("unknown {kind}: {}{hint}", refusal::one_of(known))
}

/// Returns a value as messages show it.
fn found(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    /// Parses `arguments` with a file that has the text `settings`.
    fn with_settings(settings: &str, arguments: &[&str]) -> Result<ArgMatches, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("u.toml");
        std::fs::write(&path, settings).expect("is written");
        let command = Cli::command();
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let matches = parsed(&arguments);
        let added = add_settings(&command, &arguments, &matches, &path);
        let shown = path.display().to_string();
        let all = added.map_err(|error| error.to_string().replace(&shown, "u.toml"))?;
        Ok(parsed(&all))
    }

    fn parsed(arguments: &[OsString]) -> ArgMatches {
        let name = OsString::from("unruffled");
        let parsed = Cli::command().try_get_matches_from(std::iter::once(&name).chain(arguments));
        parsed.expect("a valid command line")
    }

    /// Returns the texts of all values by the names of their flags, defaults included.
    fn values(matches: &ArgMatches) -> Vec<(String, Vec<String>)> {
        let (_, matches) = matches.subcommand().expect("a subcommand");
        let texts = |id: &str| {
            let raw = matches.get_raw(id).into_iter().flatten();
            raw.map(|text| text.to_string_lossy().into_owned()).collect()
        };
        matches.ids().map(|id| (id.to_string(), texts(id.as_str()))).collect()
    }

    #[track_caller]
    fn assert_same(settings: &str, subcommand: &str, flags: &[&str], given: &[&str]) {
        let arguments = [&[subcommand], given].concat();
        let by_file = with_settings(settings, &arguments).expect("valid settings");
        let words: Vec<OsString> =
            [subcommand].iter().chain(flags).chain(given).map(OsString::from).collect();
        let mut by_file = values(&by_file);
        let mut by_flags = values(&parsed(&words));
        by_file.sort();
        by_flags.sort();
        assert_eq!(by_file, by_flags, "{settings}");
    }

    #[test]
    fn a_setting_has_the_effect_of_its_flag() {
        for (setting, flag) in [
            ("growth = \"bbr\"", &["--growth=bbr"][..]),
            ("default = true", &["--default"]),
            ("default = false", &[]),
            ("cgroup = \"/sys/fs/cgroup/a b\"", &["--cgroup=/sys/fs/cgroup/a b"]),
            ("cgroup = \"--default\"", &["--cgroup=--default"]),
            ("", &[]),
        ] {
            assert_same(&format!("[attach]\n{setting}"), "attach", flag, &[]);
        }
        for (setting, flags) in [
            ("forward = true", &["--forward"][..]),
            ("interface = [\"wan0\", \"lte0\"]", &["--interface=wan0,lte0"]),
            ("interface = \"wan0,lte0\"", &["--interface=wan0,lte0"]),
            ("interface = []", &[]),
            ("port = [443, \"5201-5210\"]", &["--port=443", "--port=5201-5210"]),
            ("max-hold = \"300 ms\"\nqueues = 4", &["--max-hold=300 ms", "--queues=4"]),
            ("budget = \"64 MiB\"\ntunnel = [\"esp\"]", &["--budget=64 MiB", "--tunnel=esp"]),
        ] {
            assert_same(&format!("[resequence]\n{setting}"), "resequence", flags, &[]);
        }
    }

    #[test]
    fn a_flag_that_is_given_replaces_its_setting_and_those_that_it_excludes() {
        assert_same("[attach]\ngrowth = \"bbr\"", "attach", &[], &["--growth=cubic"]);
        assert_same("[attach]\ngrowth = \"bbr\"", "attach", &["--growth=bbr"], &["--default"]);
        assert_same("[resequence]\nport = [80, 81]", "resequence", &[], &["--port=443"]);
        assert_same("[resequence]\nforward = true", "resequence", &[], &["--input"]);
        assert_same("[resequence]\ninput = true", "resequence", &[], &["--forward"]);
    }

    #[test]
    fn each_subcommand_has_a_table_of_its_own() {
        let both = "[attach]\ndefault = true\n[resequence]\nqueues = 2\n";
        assert_same(both, "attach", &["--default"], &[]);
        assert_same(both, "resequence", &["--queues=2"], &[]);
        assert_same("", "attach", &[], &[]);
        assert_same("[resequence]\nqueues = 2\n", "attach", &[], &[]);
    }

    #[test]
    fn an_invalid_setting_is_rejected_with_its_line_and_key() {
        for (settings, expected) in [
            ("default = true", "u.toml:1: default: unknown table: expected one of "),
            ("\n[atach]", "u.toml:2: atach: unknown table: expected one of "),
            ("attach = 3", "u.toml:1: attach: expected a table"),
            ("[attach]\n\ngrowht = 1", "u.toml:3: attach.growht: unknown key: expected one of "),
            ("[attach]\nhelp = true", "u.toml:2: attach.help: unknown key: "),
            ("[attach]\nconfig = \"a\"", "u.toml:2: attach.config: unknown key: "),
            (
                "[attach]\ngrowth = \"reno\"",
                "u.toml:2: attach.growth: expected one of cubic, bbr, found \"reno\"",
            ),
            ("[attach]\ngrowth = true", "u.toml:2: attach.growth: expected a text or a number, "),
            ("[attach]\ndefault = 1", "u.toml:2: attach.default: expected true or false, found 1"),
            (
                "[attach]\ncgroup = [\"/a\", \"/b\"]",
                "u.toml:2: attach.cgroup: expected a text or a number, found a list",
            ),
            ("[attach]\ncgroup = \"\"", "u.toml:2: attach.cgroup: expected a value, found \"\""),
            ("[attach]\ncgroup = \"\\u001b\"", "u.toml:2: attach.cgroup: expected no control "),
            ("[attach]\ncgroup = 1\ncgroup = 2", "u.toml:3: not TOML: duplicate key cgroup"),
            ("[attach", "u.toml:1: not TOML: "),
        ] {
            let line = with_settings(settings, &["attach"]).expect_err(settings);
            assert!(line.starts_with(expected) && !line.contains('\n'), "{settings}: {line}");
        }
        for (settings, expected) in [
            ("queues = 65", "queues: expected a whole number from 1 to 64, found \"65\""),
            ("queues = -1", "queues: expected a whole number from 1 to 64, found \"-1\""),
            ("max-hold = 1", "max-hold: expected a time such as \"50 ms\", found \"1\""),
            ("port = [443, 0]", "port: expected a port from 1 to 65535 or a range of ports"),
            ("port = [[443]]", "port: expected a text, a number or a list of these, found a list"),
            ("tunnel = \"wiregard\"", "tunnel: expected one of wireguard, esp, openvpn, found"),
        ] {
            let file = format!("[resequence]\n{settings}");
            let line = with_settings(&file, &["resequence"]).expect_err(settings);
            assert!(line.starts_with(&format!("u.toml:2: resequence.{expected}")), "{line}");
        }
        let both = "[resequence]\ninput = true\nforward = true";
        let line = with_settings(both, &["resequence"]).expect_err("exclude each other");
        assert!(line.starts_with("u.toml:1: resequence: the argument '--"), "{line}");
    }

    #[test]
    fn the_packaged_file_is_valid_and_its_comments_too() {
        let file = include_str!("../../../packaging/unruffled.toml");
        let uncommented: String = file
            .lines()
            .map(|line| {
                line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line)
            })
            .flat_map(|line| [line, "\n"])
            .collect();
        for settings in [file, &uncommented] {
            for subcommand in ["attach", "resequence"] {
                with_settings(settings, &[subcommand]).expect("valid settings");
            }
        }
    }
}
