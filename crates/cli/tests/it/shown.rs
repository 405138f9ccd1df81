//! Output fits the terminal and the locale, and is not lost.

use std::process::{Command, Stdio};

use crate::command::{prints, unruffled, write};
use tempfile::TempDir;

const GRID: &str = "scenario = 'rr-3'\nvariants = ['sack', 'linux-reordering+cubic']\nseeds = 2\n\
                    duration = '1 s'\n[grid]\ndelayed.fraction = ['1 %', '10 %']\n";

const TWO_SEEDS: &str = "duration = '1 s'\nseeds = 2\nvariants = ['sack', 'linux-reordering+cubic']\n\
                   [topology]\nkind = 'dumbbell'\n[link.source]\nrate = '100 Mbit/s'\ndelay = '1 ms'\n\
                   [link.bottleneck]\nrate = '20 Mbit/s'\ndelay = '20 ms'\nqueue = 100\n\
                   [[traffic]]\nname = 'compared'\ncount = 4\n\
                   [[traffic]]\nname = 'others-with-a-long-name'\ncount = 4\nsender = 'sack'\n";

/// Returns a folder with the files that the commands read.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    write(&folder, "grid.toml", GRID);
    write(&folder, "two.toml", TWO_SEEDS);
    let packets =
        ["compare", "--duration", "5 s", "--seeds", "1", "--no-report", "--pcap", "p.pcapng"];
    prints(&folder, &packets);
    prints(&folder, &["sweep", "grid.toml", "--store", "runs.sqlite"]);
    folder
}

/// Commands that print something, without those that need root.
const COMMANDS: [&[&str]; 22] = [
    &["compare", "--duration", "2 s", "--seeds", "2", "--no-report"],
    &["compare", "two.toml", "--no-report"],
    &[
        "compare",
        "--random",
        "2",
        "--duration",
        "1 s",
        "--no-report",
        "--variants",
        "rack,linux-reordering+cubic",
    ],
    &["compare", "--duration", "1 s", "--seeds", "1", "--no-report", "--json"],
    &["compare", "--duration", "1 s", "--seeds", "1", "--no-report", "--csv"],
    &["sweep", "grid.toml", "--no-store"],
    &["variants"],
    &["variants", "rr-ta"],
    &["variants", "--json"],
    &["scenarios"],
    &["scenarios", "--json"],
    &["scenarios", "--show", "rr-3"],
    &["store", "--store", "runs.sqlite"],
    &["store", "--store", "runs.sqlite", "export", "-"],
    &["reproduce", "--list"],
    &["reproduce", "rr-3", "--quick", "--no-report", "--no-store"],
    &["bench", "sim", "--duration", "10 s"],
    &["analyze", "p.pcapng"],
    &["analyze", "p.pcapng", "--json"],
    &["--help"],
    &["compare", "--help"],
    &["--version"],
];

/// Returns whether a command's lines are for people. Lines for programs are not wrapped.
fn is_for_people(command: &[&str]) -> bool {
    !["--json", "--csv", "--show", "export"].iter().any(|flag| command.contains(flag))
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let folder = folder();
    for command in COMMANDS.into_iter().filter(|command| is_for_people(command)) {
        for columns in [40, 80, usize::MAX] {
            for locale in ["C", "C.UTF-8"] {
                let mut run = unruffled(&folder, command);
                run.env("COLUMNS", columns.to_string()).env("LC_ALL", locale);
                let output = run.assert().success().get_output().stdout.clone();
                let text = String::from_utf8(output).expect("prints UTF-8");
                let widest = text.lines().map(|line| line.chars().count()).max();
                assert!(widest <= Some(columns), "{command:?} at {columns}: {widest:?}\n{text}");
            }
        }
    }
}

#[test]
fn a_locale_without_unicode_gets_ascii() {
    let folder = folder();
    let ascii = |command: &[&str], locale: &[(&str, &str)]| {
        let mut run = unruffled(&folder, command);
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            run.env_remove(name);
        }
        for (name, value) in locale {
            run.env(name, value);
        }
        let output = run.assert().success().get_output().clone();
        output.stdout.is_ascii() && output.stderr.is_ascii()
    };
    for command in COMMANDS {
        assert!(ascii(command, &[("LC_ALL", "C")]), "{command:?}");
    }
    let table = COMMANDS[0];
    for (locale, expected) in [
        (&[("LC_ALL", "C"), ("LC_CTYPE", "C.UTF-8"), ("LANG", "C.UTF-8")][..], true),
        (&[("LC_ALL", "C.UTF-8"), ("LC_CTYPE", "C"), ("LANG", "C")], false),
        (&[("LC_ALL", ""), ("LC_CTYPE", "POSIX"), ("LANG", "C.UTF-8")], true),
        (&[("LC_CTYPE", "C.UTF-8"), ("LANG", "C")], false),
        (&[("LANG", "de_DE.ISO-8859-1")], true),
        (&[("LANG", "en_GB.UTF-8")], false),
        (&[], false),
    ] {
        assert_eq!(ascii(table, locale), expected, "{locale:?}");
    }
    // The same table in both locales.
    let of = |locale: &str| {
        let mut run = unruffled(&folder, table);
        let output = run.env("LC_ALL", locale).assert().success().get_output().stdout.clone();
        String::from_utf8(output).expect("prints UTF-8")
    };
    let heads = |text: &str| text.lines().nth(2).map(str::to_owned);
    assert_eq!(heads(&of("C")), heads(&of("C.UTF-8")));
    let json = prints(&folder, &["variants", "--json"]);
    let mut plain = unruffled(&folder, &["variants", "--json"]);
    let plain = plain.env("LC_ALL", "C").assert().success().get_output().stdout.clone();
    let same: serde_json::Value = serde_json::from_slice(&plain).expect("JSON");
    assert_eq!(same, serde_json::from_str::<serde_json::Value>(&json).expect("JSON"));
    assert_ne!(plain, json.as_bytes(), "has letters that are not ASCII");
}

/// Runs the command in a shell with `redirection`, and returns its exit status and messages.
fn redirected(folder: &TempDir, command: &[&str], redirection: &str) -> (Option<i32>, String) {
    let program = assert_cmd::cargo::cargo_bin("unruffled");
    let output = Command::new("sh")
        .args(["-c", &format!("exec \"$0\" \"$@\" {redirection}")])
        .arg(program)
        .args(command)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .stdin(Stdio::null())
        .output()
        .expect("runs");
    (output.status.code(), String::from_utf8(output.stderr).expect("prints UTF-8"))
}

#[test]
fn a_closed_standard_output_is_an_error_before_the_work() {
    let folder = folder();
    for command in COMMANDS {
        let (status, message) = redirected(&folder, command, ">&-");
        assert_eq!(status, Some(2), "{command:?}: {message}");
        let expected =
            "unruffled: standard output: closed: expected a terminal, a file or a pipe\n";
        assert_eq!(message, expected, "{command:?}");
    }
    let (status, _) = redirected(&folder, COMMANDS[0], ">/dev/null");
    assert_eq!(status, Some(0));
    let (status, _) = redirected(&folder, COMMANDS[0], "1<>/dev/null");
    assert_eq!(
        status,
        Some(0),
        "/dev/null is a valid standard output, although the runtime replaces a closed one by it"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_as_standard_output_is_an_error() {
    let folder = folder();
    for command in COMMANDS {
        let (status, message) = redirected(&folder, command, ">/dev/full");
        assert_eq!(status, Some(2), "{command:?}: {message}");
        let last = message.lines().last().unwrap_or_default();
        let full =
            last.starts_with("unruffled: standard output: ") && last.contains("No space left");
        assert!(full, "{command:?}: {message}");
    }
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_error() {
    let folder = folder();
    for command in COMMANDS {
        // The reading end is closed, as after `head`.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = Command::new(assert_cmd::cargo::cargo_bin("unruffled"))
            .args(command)
            .current_dir(&folder)
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .stdout(writer)
            .output()
            .expect("runs");
        let message = String::from_utf8(output.stderr).expect("prints UTF-8");
        assert_eq!(output.status.code(), Some(0), "{command:?}: {message}");
        assert!(!message.contains("standard output"), "{command:?}: {message}");
    }
}
