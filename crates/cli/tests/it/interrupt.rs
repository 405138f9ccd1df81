//! Analysis of a capture while it is recorded, and the signal that ends it.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use assert_cmd::cargo::CommandCargoExt as _;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Returns a capture of some thousand packets, of which one in twenty is late.
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

/// Starts an analysis of standard input, which has read `octets` and waits for more.
fn waiting(folder: &TempDir, flags: &[&str], octets: &[u8]) -> Child {
    let mut command = unruffled(folder);
    command.args(["analyze", "-"]).args(flags).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("runs");
    // More than a pipe holds, so the analysis is reading once all is written.
    assert!(octets.len() > 200_000);
    child.stdin.as_mut().expect("a pipe").write_all(octets).expect("can be written");
    child
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id() as i32).expect("is a process");
    kill_process(pid, signal).expect("runs");
}

/// Returns the output and the exit status.
fn outcome(child: &mut Child) -> (String, String, Option<i32>) {
    let mut out = String::new();
    let mut err = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("is UTF-8");
    child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("is UTF-8");
    let status = child.wait().expect("ends");
    (out, err, status.code().or(status.signal().map(|signal| -signal)))
}

/// Returns the number of octets up to the end of packet `packets`, from the blocks of pcapng.
fn up_to(packets: usize) -> usize {
    let octets = capture();
    let long = |at: usize| u32::from_le_bytes(octets[at..at + 4].try_into().expect("four"));
    let mut at = 0;
    let mut passed = 0;
    while passed < packets {
        passed += usize::from(long(at) == 6);
        at += long(at + 4) as usize;
    }
    at
}

#[test]
fn the_first_signal_ends_the_capture_and_shows_the_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = up_to(4000);
    for which in [Signal::INT, Signal::TERM] {
        // In the middle of a packet.
        let mut child = waiting(&folder, &["--json"], &capture()[..whole + 20]);
        signal(&child, which);
        let (out, err, status) = outcome(&mut child);
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
fn data_that_the_writer_flushes_at_the_signal_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = up_to(3000);
    let after = up_to(4000);
    let mut child = waiting(&folder, &["--json"], &capture()[..before]);
    signal(&child, Signal::INT);
    // tcpdump does this when the terminal sends it the same signal.
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(&capture()[before..after]).expect("can be written");
    drop(input);
    let json: Value = serde_json::from_str(&outcome(&mut child).0).expect("is JSON");
    assert_eq!(json["totals"]["frames"], 4000);
}

#[test]
fn an_interrupted_capture_gives_text_a_report_and_a_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = ["--report", "r.html", "--scenario", "path.toml"];
    let mut child = waiting(&folder, &flags, &capture()[..up_to(4000)]);
    signal(&child, Signal::INT);
    let (out, err, status) = outcome(&mut child);
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
    // The writer stays open, so the interrupted reader waits for it.
    signal(&child, Signal::INT);
    std::thread::sleep(std::time::Duration::from_millis(100));
    signal(&child, Signal::INT);
    let (out, _, status) = outcome(&mut child);
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
    let mut writer = File::options().write(true).open(&fifo).expect("can be written");
    writer.write_all(&capture()[..up_to(4000)]).expect("can be written");
    signal(&child, Signal::INT);
    let (out, _, status) = outcome(&mut child);
    let json: Value = serde_json::from_str(&out).expect("is JSON");
    assert_eq!((&json["totals"]["frames"], status), (&4000.into(), Some(0)));
    drop(writer);
}

#[test]
fn a_capture_without_a_packet_has_no_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = unruffled(&folder);
    command.args(["analyze", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("runs");
    let status = format!("/proc/{}/status", child.id());
    // Waits until the process handles SIGINT, the second bit.
    let handles_sigint = || {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(caught.trim(), 16).unwrap_or(0) & 2 != 0
    };
    while !handles_sigint() {
        std::thread::yield_now();
    }
    signal(&child, Signal::INT);
    let (out, err, status) = outcome(&mut child);
    let line = "unruffled: -: cannot be read: interrupted before its first packet\n";
    assert_eq!((out.as_str(), err.as_str(), status), ("", line, Some(2)));
}

/// Ctrl-C on a terminal reaches all processes of a pipeline.
#[test]
fn a_pipeline_of_a_shell_ends_with_the_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("c.pcapng"), &capture()[..up_to(4000)]).expect("is written");
    let unruffled = assert_cmd::cargo::cargo_bin("unruffled");
    // The writer runs until the signal. `exec` replaces the shells, which would handle the signal.
    let script = format!(
        "(cat c.pcapng; touch written; exec sleep 1000) | (exec {} analyze -)",
        unruffled.display()
    );
    // A caller in the background of a script, or under nohup, may ignore SIGINT.
    let mut command = Command::new("setsid");
    let default = ["env", "--default-signal=INT"];
    command.args(default).args(["sh", "-c", &script]).current_dir(&folder);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    while !folder.path().join("written").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let group = Pid::from_raw(child.id() as i32).expect("is a process");
    rustix::process::kill_process_group(group, Signal::INT).expect("is a group");
    let (out, err, _) = outcome(&mut child);
    assert!(out.starts_with("-: 4000 packets in "), "{out}{err}");
}
