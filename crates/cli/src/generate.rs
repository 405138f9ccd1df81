//! `unruffled generate`: man pages and shell completions from the definition of the command line, for those
//! who install or package the command.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::Cli;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The folder, as /usr/share; folders for man pages and completions are made in it
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Folder of the man pages, in that of the arguments.
const MAN_FOLDER: &str = "man/man1";

/// Shells with the path of their completions, in the folder of the arguments.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/unruffled"),
    (Shell::Fish, "fish/vendor_completions.d/unruffled.fish"),
    (Shell::Zsh, "zsh/site-functions/_unruffled"),
];

/// Section of every man page, in roff.
const EXIT_STATUS: &str = ".SH \"EXIT STATUS\"
0 on success. 2 if the command line, a file or this system is not as required; standard error then has one
line that says what was expected. unruffled\\-run(1) has the statuses of the program that it runs.
";

/// Section of the man pages of subcommands that read a file of settings, in roff.
const FILES: &str = ".SH FILES
.TP
/etc/unruffled.toml
Settings of the services unruffled.service and unruffled\\-resequence.service, which pass it as
\\fB\\-\\-config\\fR. A table for each subcommand ([attach], [resequence]) has the long names of flags as keys.
";

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    match write_all(&arguments.folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err((path, error)) => crate::refuse(format!("generate: {}: {error}", path.display())),
    }
}

/// Writes all files below `folder`.
fn write_all(folder: &Path) -> Result<(), (PathBuf, io::Error)> {
    let mut command = shown_command();
    for (shell, file) in COMPLETIONS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command.clone(), "unruffled", &mut text);
        write(folder.join(file), &text)?;
    }
    command = command.disable_help_subcommand(true);
    command.build();
    for page in std::iter::once(&command).chain(command.get_subcommands()) {
        let name = page.get_display_name().unwrap_or_else(|| page.get_name());
        write(folder.join(MAN_FOLDER).join(format!("{name}.1")), &man_page(page))?;
    }
    Ok(())
}

/// Returns the command line without hidden subcommands, which completions would offer.
fn shown_command() -> Command {
    let whole = Cli::command();
    let shown = whole.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    Command::new("unruffled")
        .version(env!("CARGO_PKG_VERSION"))
        .about(whole.get_about().cloned().unwrap_or_default())
        .subcommands(shown.cloned())
}

/// Returns the man page of the command or of a subcommand.
fn man_page(command: &Command) -> Vec<u8> {
    let mut text = Vec::new();
    let source = format!("unruffled {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).manual("User Commands").source(source);
    man.render(&mut text).expect("a vector can be written");
    text.extend_from_slice(EXIT_STATUS.as_bytes());
    if command.get_arguments().any(|argument| argument.get_id() == crate::config::CONFIG) {
        text.extend_from_slice(FILES.as_bytes());
    }
    if command.get_name() != "unruffled" {
        text.extend_from_slice(b".SH \"SEE ALSO\"\nunruffled(1)\n");
    }
    text
}

fn write(file: PathBuf, text: &[u8]) -> Result<(), (PathBuf, io::Error)> {
    let folder = file.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder).and_then(|()| fs::write(&file, text)).map_err(|error| (file, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
