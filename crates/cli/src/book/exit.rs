//! Exit statuses.

use std::fmt::Write as _;

/// A status of a command, and its meaning.
struct Status {
    /// Name of the subcommand, or nothing for all.
    command: &'static str,
    status: &'static str,
    meaning: &'static str,
}

const fn status(command: &'static str, status: &'static str, meaning: &'static str) -> Status {
    Status { command, status, meaning }
}

/// All statuses. Those of single commands come before those of all.
const STATUSES: [Status; 15] = [
    status(
        "analyze",
        "130, 143",
        "A second interrupt (SIGINT, SIGTERM) ended the reading at once.",
    ),
    status("doctor", "0", "Reordering slows no connection, or `--fix` helped."),
    status("doctor", "1", "Reordering slows connections."),
    status("emulate", "0, 1", "With `--left`: whether the command succeeded."),
    status("race", "1", "A transfer failed; the others are shown."),
    status("reproduce", "1", "With `--check`: a claim that held no longer does."),
    status("sweep", "1", "With `--dask`: the workers failed."),
    status("run", "STATUS", "The status of the program."),
    status("run", "128 + N", "Signal N ended the program."),
    status("run", "126", "The program could not be started."),
    status("run", "127", "There is no such program."),
    status("detach", "2", "A step could not be undone; standard error says which."),
    status(
        "",
        "0",
        "Success. A reader of the output that has enough, such as `head`, is no error.",
    ),
    status(
        "",
        "2",
        "The command line, a file or this system is not as required. Standard error has one line that says what was expected.",
    ),
    status("", "101", "A bug of the program."),
];

/// Returns the table of a subcommand.
pub(super) fn table(command: &str) -> String {
    let own = STATUSES.iter().filter(|one| one.command == command);
    let has =
        |status: &str| STATUSES.iter().any(|one| one.command == command && one.status == status);
    let all = STATUSES.iter().filter(|one| one.command.is_empty());
    let all = all.filter(|one| !(one.status == "0" && (has("0") || has("STATUS"))));
    let mut text = String::from("| status | meaning |\n|---|---|\n");
    for one in own.chain(all) {
        let _ = writeln!(text, "| {} | {} |", one.status, one.meaning);
    }
    text
}

/// Returns the page of all.
pub(super) fn page() -> String {
    let mut text = String::from(
        "# Exit status\n\nAn error is one line on standard error that says where it is and what was \
         expected.\n\n| command | status | meaning |\n|---|---|---|\n",
    );
    for one in STATUSES.iter().rev().filter(|one| one.command.is_empty()).rev() {
        let _ = writeln!(text, "| all | {} | {} |", one.status, one.meaning);
    }
    for one in STATUSES.iter().filter(|one| !one.command.is_empty()) {
        let Status { command, status, meaning } = one;
        let _ = writeln!(text, "| [{command}]({command}.md) | {status} | {meaning} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn statuses_are_of_commands_that_exist() {
        let command = crate::Cli::command();
        let names: Vec<_> = command.get_subcommands().map(|command| command.get_name()).collect();
        for one in STATUSES.iter().filter(|one| !one.command.is_empty()) {
            assert!(names.contains(&one.command), "{}", one.command);
        }
    }

    #[test]
    fn a_command_has_its_own_statuses_before_those_of_all() {
        let text = table("doctor");
        assert_eq!(text.matches("| 0 |").count(), 1, "{text}");
        assert!(text.contains("| 0 | Reordering slows no connection"), "{text}");
        assert!(text.contains("| 2 | The command line"), "{text}");
        assert!(table("compare").contains("| 0 | Success."));
    }
}
