//! A page for each subcommand, and one that lists them.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command, CommandFactory as _};

use super::{Page, cell, exit};
use crate::Cli;

/// Returns the pages.
pub(super) fn pages() -> Vec<Page> {
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let shown = || whole.get_subcommands().filter(|command| !command.is_hide_set());
    let mut list = String::from(
        "# Commands\n\n`unruffled COMMAND --help` prints the same on a terminal. `unruffled` alone shows the \
         first steps.\n\n| command | what it does |\n|---|---|\n",
    );
    for command in shown() {
        let name = command.get_name();
        let _ = writeln!(list, "| [{name}]({name}.md) | {} |", cell(&about(command)));
    }
    list +=
        "\n[Exit status](exit-status.md) · [JSON fields](json.md) · [Scenario keys](scenario.md)\n";
    let mut pages = vec![("reference/commands.md".to_owned(), list)];
    pages.extend(shown().map(|command| {
        let name = command.get_name();
        (format!("reference/{name}.md"), page(command))
    }));
    pages
}

fn page(command: &Command) -> String {
    let name = command.get_name();
    let mut text = format!("# {name}\n\n{}.\n", about(command));
    if let Some(alias) = command.get_visible_aliases().next() {
        let _ = writeln!(text, "\nAlso called `{alias}`.");
    }
    describe(command, &mut text);
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        let _ = writeln!(text, "\n## {name} {}\n\n{}.", inner.get_name(), about(inner));
        describe(inner, &mut text);
    }
    text += "\n## Exit status\n\n";
    text += &exit::table(name);
    text
}

/// Writes usage, arguments and options.
fn describe(command: &Command, text: &mut String) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let _ = writeln!(text, "\n```text\n{usage}\n```");
    if let Some(more) = command.get_long_about() {
        let more = more.to_string();
        if let Some((_, rest)) = more.split_once("\n\n") {
            let _ = writeln!(text, "\n{}", rest.trim());
        }
    }
    let shown = |argument: &&Arg| {
        let id = argument.get_id();
        !argument.is_hide_set() && id != "help" && id != "version"
    };
    table(text, "argument", command.get_positionals().filter(shown), |argument| {
        let names = argument.get_value_names().unwrap_or_default();
        names.first().map_or_else(|| argument.get_id().to_string(), ToString::to_string)
    });
    table(text, "option", command.get_opts().chain(flags(command)).filter(shown), spelling);
}

/// Returns the flags without a value.
fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|argument| !argument.is_positional() && !argument.get_action().takes_values())
}

/// Returns an option as it is typed: `-i, --interface NAME`.
fn spelling(argument: &Arg) -> String {
    let short = argument.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let long = argument.get_long().map(|long| format!("--{long}")).unwrap_or_default();
    let names = argument.get_value_names().unwrap_or_default().iter();
    let values: String = match argument.get_action().takes_values() {
        true => names.map(|name| format!(" {name}")).collect(),
        false => String::new(),
    };
    format!("{short}{long}{values}")
}

fn table<'a>(
    text: &mut String,
    what: &str,
    arguments: impl Iterator<Item = &'a Arg>,
    name: impl Fn(&Arg) -> String,
) {
    let mut arguments = arguments.peekable();
    if arguments.peek().is_none() {
        return;
    }
    let _ = writeln!(text, "\n| {what} | default | meaning |\n|---|---|---|");
    for argument in arguments {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        // Some defaults depend on other arguments, and stand in the help.
        let (help, given) = without_default(&help);
        let own: Vec<_> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let own = argument.get_action().takes_values() && !own.is_empty() && own != ["false"];
        let default = match own {
            true => argument.get_default_values().iter().map(|v| v.to_string_lossy()).collect(),
            false => given.unwrap_or_default(),
        };
        let choices: Vec<_> = argument
            .get_possible_values()
            .into_iter()
            .filter(|_| argument.get_action().takes_values())
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        let mut meaning = cell(&help);
        if !choices.is_empty() {
            let _ = write!(meaning, " ({})", choices.join(", "));
        }
        if matches!(argument.get_action(), ArgAction::Append) && !argument.is_positional() {
            meaning += "; may be repeated";
        }
        let required = if argument.is_required_set() { "required" } else { "" };
        let default = if default.is_empty() { required.to_owned() } else { cell(&default) };
        let _ =
            writeln!(text, "| `{}` | {default} | {meaning} |", name(argument).replace('|', "\\|"));
    }
}

/// Takes `[default: …]` out of a help text.
fn without_default(help: &str) -> (String, Option<String>) {
    let parts = help.split_once(" [default: ").and_then(|(before, rest)| {
        let (default, after) = rest.split_once(']')?;
        Some((format!("{before}{after}"), Some(default.to_owned())))
    });
    parts.unwrap_or_else(|| (help.to_owned(), None))
}

fn about(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    about.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(name: &str) -> String {
        let wanted = format!("reference/{name}.md");
        pages().into_iter().find(|(path, _)| *path == wanted).expect("is there").1
    }

    #[test]
    fn each_shown_subcommand_has_a_page_and_hidden_ones_have_none() {
        let names: Vec<String> = pages().into_iter().map(|(path, _)| path).collect();
        for name in ["analyze", "compare", "sweep", "store", "variants"] {
            assert!(names.contains(&format!("reference/{name}.md")), "{name}");
        }
        assert!(!names.iter().any(|name| name.contains("generate") || name.contains("book")));
    }

    #[test]
    fn options_have_defaults_values_and_meanings() {
        let text = page_of("sweep");
        assert!(text.starts_with("# sweep\n\n"), "{text}");
        assert!(text.contains("| `--json` |"), "{text}");
        let text = page_of("reproduce");
        let line = "| `--report FILE` | unruffled-reproduction.html | Where the HTML report goes |";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("## Exit status\n\n| status | meaning |"), "{text}");
        assert!(page_of("store").contains("\n## store export\n"));
    }

    #[test]
    fn a_default_in_the_help_is_the_default() {
        let (help, default) = without_default("Threads [default: all cores]; any number");
        assert_eq!((help.as_str(), default.as_deref()), ("Threads; any number", Some("all cores")));
        assert_eq!(without_default("Print JSON"), ("Print JSON".to_owned(), None));
        assert!(page_of("compare").contains("| `--jobs N` | all cores |"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_default_of_clap_is_told_once() {
        let text = page_of("doctor");
        assert!(text.contains("| `--for TIME` | 30 s | How long to watch"), "{text}");
    }
}
