//! A capture that is read while it is made, and the signal that ends it.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use assert_cmd::cargo::CommandCargoExt as _;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// A capture of some thousand packets, of which one in twenty comes late.
fn capture() -> &'static [u8] {
    static CAPTURE: OnceLock<Vec<u8>> = OnceLock::new();
    CAPTURE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let compare = ["compare", "few-late", "--duration", "30 s", "--seeds", "1"];
        let pcap = ["--variants", "rack+cubic", "--no-report", "--pcap", "c.pcapng"];
        let status = unruffled(&folder).args(compare).args(pcap).stdout(Stdio::null()).status();
        assert!(status.expect("runs").success());
        fs::read(folder.path().join("c.pcapng")).expect("was written")
    })
}

fn unruffled(folder: &TempDir) -> Command {
    let mut command = Command::cargo_bin("unruffled").expect("was built");
    command.current_dir(folder).stderr(Stdio::piped());
    command
}

/// An analysis of standard input that has been given `octets`, and waits for more.
fn waiting(folder: &TempDir, flags: &[&str], octets: &[u8]) -> Child {
    let mut command = unruffled(folder);
    command.args(["analyze", "-"]).args(flags).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("runs");
    // More than a pipe holds: once it is written, the analysis is reading.
    assert!(octets.len() > 200_000);
    child.stdin.as_mut().expect("a pipe").write_all(octets).expect("is read");
    child
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id() as i32).expect("is a process");
    kill_process(pid, signal).expect("runs");
}

/// What it prints, and its exit status.
fn told(child: &mut Child) -> (String, String, Option<i32>) {
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("is UTF-8");
    child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("is UTF-8");
    let status = child.wait().expect("ends");
    (out, err, status.code().or(status.signal().map(|signal| -signal)))
}

/// The octets of the capture up to the end of packet `packets`, by the blocks of pcapng.
fn up_to(packets: usize) -> usize {
    let octets = capture();
    let long = |at: usize| u32::from_le_bytes(octets[at..at + 4].try_into().expect("four"));
    let (mut at, mut passed) = (0, 0);
    while passed < packets {
        passed += usize::from(long(at) == 6);
        at += long(at + 4) as usize;
    }
    at
}

#[test]
fn the_first_signal_ends_the_capture_and_tells_what_was_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = up_to(4000);
    for which in [Signal::INT, Signal::TERM] {
        // In the middle of a packet.
        let mut child = waiting(&folder, &["--json"], &capture()[..whole + 20]);
        signal(&child, which);
        let (out, err, status) = told(&mut child);
        assert_eq!(
            (err.as_str(), status),
            ("unruffled: -: interrupted after 4000 packets\n", Some(0))
        );
        let json: Value = serde_json::from_str(&out).expect("is JSON");
        assert_eq!((&json["totals"]["frames"], &json["damage"]), (&4000.into(), &Value::Null));
        assert_eq!(json["verdicts"][0]["cause"], "reordering");
    }
}

#[test]
fn what_the_writer_holds_back_until_the_same_signal_is_read_as_well() {
    let folder = tempfile::tempdir().expect("a folder");
    let (before, after) = (up_to(3000), up_to(4000));
    let mut child = waiting(&folder, &["--json"], &capture()[..before]);
    signal(&child, Signal::INT);
    // As tcpdump does, which the terminal has sent the same signal.
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(&capture()[before..after]).expect("is read");
    drop(input);
    let json: Value = serde_json::from_str(&told(&mut child).0).expect("is JSON");
    assert_eq!(json["totals"]["frames"], 4000);
}

#[test]
fn text_a_report_and_a_scenario_come_of_an_interrupted_capture_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = ["--report", "r.html", "--scenario", "path.toml"];
    let mut child = waiting(&folder, &flags, &capture()[..up_to(4000)]);
    signal(&child, Signal::INT);
    let (out, err, status) = told(&mut child);
    assert_eq!(status, Some(0), "{err}");
    assert!(out.starts_with("-: 4000 packets in ") && out.contains("Reordering: "), "{out}");
    for file in ["r.html", "path.toml"] {
        assert!(folder.path().join(file).is_file(), "{file}: {err}");
    }
}

#[test]
fn the_second_signal_ends_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = waiting(&folder, &[], &capture()[..up_to(4000)]);
    // The writer goes on, for which an interrupted reader waits a while.
    signal(&child, Signal::INT);
    std::thread::sleep(std::time::Duration::from_millis(100));
    signal(&child, Signal::INT);
    let (out, _, status) = told(&mut child);
    assert_eq!((out.as_str(), status), ("", Some(130)));
}

#[test]
fn a_fifo_is_read_up_to_the_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().expect("runs");
    assert!(made.success());
    let mut command = unruffled(&folder);
    let command = command.args(["analyze", "fifo", "--json"]).stdout(Stdio::piped());
    let mut child = command.spawn().expect("runs");
    let mut writer = File::options().write(true).open(&fifo).expect("is read");
    writer.write_all(&capture()[..up_to(4000)]).expect("is read");
    signal(&child, Signal::INT);
    let (out, _, status) = told(&mut child);
    let json: Value = serde_json::from_str(&out).expect("is JSON");
    assert_eq!((&json["totals"]["frames"], status), (&4000.into(), Some(0)));
    drop(writer);
}

#[test]
fn nothing_is_told_of_a_capture_that_has_not_begun() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = unruffled(&folder);
    command.args(["analyze", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("runs");
    let status = format!("/proc/{}/status", child.id());
    // Until it takes SIGINT, whose bit is the second.
    let takes = || {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let taken = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(taken.trim(), 16).unwrap_or(0) & 2 != 0
    };
    while !takes() {
        std::thread::yield_now();
    }
    signal(&child, Signal::INT);
    let (out, err, status) = told(&mut child);
    let line = "unruffled: -: cannot be read: interrupted before its first packet\n";
    assert_eq!((out.as_str(), err.as_str(), status), ("", line, Some(2)));
}

/// Ctrl-C on a terminal reaches all of a pipeline.
#[test]
fn a_pipeline_of_a_shell_ends_with_the_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("c.pcapng"), &capture()[..up_to(4000)]).expect("is written");
    let unruffled = assert_cmd::cargo::cargo_bin("unruffled");
    // The writer goes on until the signal; `exec` leaves no shell that takes it.
    let script = format!(
        "(cat c.pcapng; touch written; exec sleep 1000) | (exec {} analyze -)",
        unruffled.display()
    );
    let mut command = Command::new("setsid");
    command.args(["sh", "-c", &script]).current_dir(&folder);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    while !folder.path().join("written").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let group = Pid::from_raw(child.id() as i32).expect("is a process");
    rustix::process::kill_process_group(group, Signal::INT).expect("is a group");
    let (out, err, _) = told(&mut child);
    assert!(out.starts_with("-: 4000 packets in "), "{out}{err}");
}
