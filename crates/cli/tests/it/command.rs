//! Runs the command in a temporary folder.

use std::fs;

use assert_cmd::Command;
use tempfile::TempDir;

/// Returns `unruffled` with `arguments` in `folder`, which is also its home and cache. Terminal and locale of
/// the test have no influence.
pub(crate) fn unruffled(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("unruffled").expect("was built");
    command.current_dir(folder).args(arguments);
    command.env("XDG_CACHE_HOME", folder.path().join("cache")).env("HOME", folder.path());
    command.env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
    command
}

/// Runs a valid command and returns its standard output.
pub(crate) fn prints(folder: &TempDir, arguments: &[&str]) -> String {
    let output = unruffled(folder, arguments).assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("prints UTF-8")
}

/// Runs an invalid command and returns the line on standard error, the only output.
pub(crate) fn refusal(folder: &TempDir, arguments: &[&str]) -> String {
    let output = unruffled(folder, arguments).output().expect("runs");
    let line = String::from_utf8(output.stderr).expect("prints UTF-8");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {line}");
    assert!(output.stdout.is_empty(), "{arguments:?} prints on standard output");
    assert_eq!(line.matches('\n').count(), 1, "{arguments:?}: {line}");
    assert!(line.ends_with('\n'), "{arguments:?}: {line}");
    line
}

/// Writes a file into `folder`.
pub(crate) fn write(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) {
    fs::write(folder.path().join(name), text).expect("can be written");
}

/// Returns the names of the files in `folder`, sorted.
pub(crate) fn files(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("can be read");
    let name = |e: fs::DirEntry| e.file_name().into_string().expect("UTF-8");
    let mut names: Vec<String> = entries.map(|e| name(e.expect("can be read"))).collect();
    names.sort();
    names
}
