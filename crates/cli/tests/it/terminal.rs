//! Output on terminals of different sizes and settings.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use assert_cmd::cargo::CommandCargoExt;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tempfile::TempDir;

/// The type of the terminal. Without one, as in a job of cron, nothing moves on it.
const TERM: &str = "xterm";

/// A short comparison whose table takes some 70 columns.
fn compare(folder: &TempDir) -> Command {
    let mut command = Command::cargo_bin("unruffled").expect("was built");
    command.current_dir(folder).args(["compare", "--duration", "2 s", "--seeds", "2"]);
    command.args(["--no-report", "--variants", "sack,rack"]).stdin(Stdio::null());
    command
}

/// Opens a terminal with `columns`: the end that shows output, and the end of the program.
fn terminal(columns: u16) -> (File, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let shows = openpt(flags).expect("a terminal");
    grantpt(&shows).and_then(|()| unlockpt(&shows)).expect("is ours");
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&shows, size).expect("has a size");
    let program = ioctl_tiocgptpeer(&shows, flags).expect("has another end");
    (shows.into(), program)
}

#[test]
fn piped_output_does_not_depend_on_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let plain = compare(&folder).output().expect("runs").stdout;
    let (_shows, program) = terminal(40);
    let piped = compare(&folder).stderr(program).output().expect("runs").stdout;
    assert_eq!(String::from_utf8_lossy(&piped), String::from_utf8_lossy(&plain));
}

#[test]
fn a_terminal_has_colour_unless_no_color_is_set() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let shown = |no_color: &str| {
        let (mut shows, program) = terminal(80);
        let mut command = compare(&folder);
        command
            .envs([("NO_COLOR", no_color), ("TERM", TERM)])
            .stdout(program)
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("runs");
        // Closes the last program end in this process.
        drop(command);
        let mut text = Vec::new();
        // Reading fails once the program's end is closed.
        let _ = shows.read_to_end(&mut text);
        assert!(child.wait().expect("ends").success());
        String::from_utf8_lossy(&text).contains('\u{1b}')
    };
    assert_eq!([shown(""), shown("1")], [true, false]);
}

#[test]
fn a_bar_moves_during_a_long_run() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let (mut shows, program) = terminal(80);
    let mut command = Command::cargo_bin("unruffled").expect("was built");
    command.current_dir(&folder).env("TERM", TERM);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(program);
    // Longer than any test. The test ends when the spinner has moved.
    command.args(["compare", "rr-3", "--duration", "10000000 s", "--seeds", "1"]);
    let mut child = command.args(["--variants", "sack", "--no-report"]).spawn().expect("runs");
    drop(command);
    let mut text = String::new();
    let mut part = [0; 256];
    let frames =
        |text: &str| ["| rr-3 [", "/ rr-3 [", "- rr-3 ["].map(|frame| text.contains(frame));
    // A limit, in case the bar is drawn differently.
    for _ in 0..1000 {
        if frames(&text) == [true; 3] {
            break;
        }
        let read = shows.read(&mut part).expect("the command is at work");
        text += &String::from_utf8_lossy(&part[..read]);
    }
    child.kill().expect("is there to kill");
    child.wait().expect("ends");
    assert_eq!(frames(&text), [true; 3], "{text:?}");
    assert!(text.contains("0/2 runs"), "{text:?}");
}

#[test]
fn a_bar_is_hidden_without_a_terminal() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let output = compare(&folder).output().expect("runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
