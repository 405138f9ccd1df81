//! `unruffled emulate` from outside.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::lack::is_lack;
use rustix::process::{Pid, Signal, kill_process};

fn emulate(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unruffled"));
    command.arg("emulate").args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the command, and returns `None` without the required privileges.
fn run(arguments: &[&str]) -> Option<Output> {
    let output = emulate(arguments).output().expect("runs");
    if is_lack(&error(&output)) {
        eprintln!("skipped: {}", error(&output));
        return None;
    }
    Some(output)
}

/// A command that connects to a closed port. bash is enough for it.
const CONNECT: &str = "exec bash -c 'exec 3<>/dev/tcp/$UNRUFFLED_RIGHT/7'";

#[test]
fn the_left_commands_success_is_the_exit_status() {
    for (line, status) in [("exit 0", 0), ("exit 7", 1), ("kill -9 $$", 1)] {
        let Some(output) = run(&["in-order", "--left", line]) else { return };
        assert_eq!(output.status.code(), Some(status), "{line}: {}", error(&output));
    }
}

#[test]
fn commands_reach_each_other_only_over_the_path() {
    let Some(output) = run(&["in-order", "--set", "delay=100ms", "--left", CONNECT]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(1), "no program listens: {}", error(&output));
    let text = error(&output);
    assert!(text.contains("left to right  1 packet, 1 delivered"), "{text}");
    assert!(text.contains("right to left  1 packet, 1 delivered"), "{text}");
    assert!(text.contains("emulator late  p50"), "{text}");
}

#[test]
fn packets_are_spread_over_the_ways_of_the_scenario() {
    let set = ["bonded", "--set", "weights=[1, 1]", "--duration", "1500ms", "--left"];
    let send =
        "exec bash -c 'exec 3<>/dev/udp/$UNRUFFLED_RIGHT/9; for n in 1 2 3 4; do echo >&3; done'";
    let Some(output) = run(&[&set[..], &[send]].concat()) else { return };
    let text = error(&output);
    assert!(text.contains("left to right  4 packets"), "{text}");
    assert!(text.contains("\n    50.0 % by home m1 pop, 50.0 % by home m2 pop\n"), "{text}");
}

#[test]
fn standard_output_belongs_to_the_commands() {
    let line = "echo $UNRUFFLED_LEFT $UNRUFFLED_RIGHT";
    let Some(output) = run(&["in-order", "--left", line]) else { return };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "10.0.0.1 10.0.0.2\n");
}

#[test]
fn the_right_command_ends_with_the_left_one() {
    let start = Instant::now();
    let arguments = ["in-order", "--right", "sleep 1000; true", "--left", "true"];
    let Some(output) = run(&arguments) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    assert!(start.elapsed() < Duration::from_secs(10));
    let waited = "the right command listens to nothing after 2 s: the left one begins\n";
    assert!(error(&output).starts_with(waited), "{}", error(&output));
}

/// The right command resolves a name before it listens, for example.
#[test]
fn the_left_command_waits_for_a_server_that_is_a_client_of_another_first() {
    let right = "exec bash -c 'exec 3<>/dev/udp/$UNRUFFLED_LEFT/53; sleep 0.5; : > began; sleep 9'";
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = emulate(&["in-order", "--right", right, "--left", "test -e began"]);
    let output = command.current_dir(&folder).output().expect("runs");
    if is_lack(&error(&output)) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
}

#[test]
fn the_emulation_ends_after_its_duration() {
    let Some(output) = run(&["in-order", "--duration", "200ms"]) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    assert!(error(&output).contains("nsenter --target"), "{}", error(&output));
    let arguments = ["in-order", "--duration", "200ms", "--left", "sleep 1000"];
    let Some(output) = run(&arguments) else { return };
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
}

#[test]
fn a_signal_ends_the_emulation_with_a_summary() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut child = emulate(&["half-late", "--right", "sleep 1000"]).spawn().expect("starts");
        std::thread::sleep(Duration::from_millis(800));
        if let Ok(Some(_)) = child.try_wait() {
            let output = child.wait_with_output().expect("has ended");
            assert!(is_lack(&error(&output)), "{}", error(&output));
            return;
        }
        let pid = Pid::from_raw(child.id() as i32).expect("is not 0");
        kill_process(pid, signal).expect("is ours");
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(0), "{signal:?}: {}", error(&output));
        assert!(error(&output).contains("left to right"), "{}", error(&output));
    }
}

/// The right command does not listen, so the left one waits for it.
#[test]
fn an_early_signal_keeps_the_left_command_from_starting() {
    let directory = tempfile::tempdir().expect("made");
    let started = directory.path().join("started");
    let left = format!("touch {}", started.display());
    let mut child = emulate(&["in-order", "--right", "sleep 1000", "--left", &left]);
    let child = child.stderr(Stdio::piped()).spawn().expect("starts");
    std::thread::sleep(Duration::from_millis(800));
    let pid = Pid::from_raw(child.id() as i32).expect("is not 0");
    // Without the required privileges, the process has ended.
    let _ = kill_process(pid, Signal::INT);
    let output = child.wait_with_output().expect("ends");
    if is_lack(&error(&output)) {
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    assert!(!started.exists(), "it was started");
}

#[test]
fn invalid_arguments_are_refused_in_one_line() {
    for (arguments, expected) in [
        (vec!["no-such-scenario"], "no such scenario"),
        (vec!["in-order", "--set", "queue=0"], "--set: link.bottleneck.queue: expected"),
        (
            vec!["spray", "--set", "ways=host leaf s5 far-leaf peer"],
            "--set: traffic.flow.ways: no node s5: expected names among: host, leaf, s1, far-leaf",
        ),
        (
            vec!["spray", "--set", "ways=host far-leaf peer"],
            "--set: traffic.flow.ways: \"host far-leaf peer\": expected links all along, none from host",
        ),
        (
            vec!["in-order", "--set", "duration=2s"],
            "--set: duration: not about the path: expected a key of [link.NAME] or [path]",
        ),
        (vec!["in-order", "--set", "window=9"], "--set: tcp.window: not about the path: expected"),
        (vec!["in-order", "--left", ""], "a value is required for '--left <COMMAND>'"),
        (vec!["in-order", "--right", ""], "a value is required for '--right <COMMAND>'"),
        (vec!["in-order", "--mtu", "20"], "--mtu"),
        (vec!["in-order", "--duration", "soon"], "expected a time"),
    ] {
        let output = emulate(&arguments).output().expect("runs");
        let text = error(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(expected) && text.lines().count() == 1, "{text}");
    }
}

#[test]
fn missing_rights_are_named() {
    // A folder that every user may read.
    let place = tempfile::tempdir().expect("a directory");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path(), open).expect("is ours");
    let copy = place.path().join("unruffled");
    std::fs::copy(env!("CARGO_BIN_EXE_unruffled"), &copy).expect("can be copied");
    let mut command = Command::new(copy);
    command.args(["emulate", "in-order", "--left", "true"]).current_dir("/");
    let unprivileged = command.uid(65_534).gid(65_534).output();
    // Only root can change its user. Other users lack the privileges anyway.
    let output = unprivileged.or_else(|_| emulate(&["in-order", "--left", "true"]).output());
    let output = output.expect("runs");
    let text = error(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("need root, or CAP_SYS_ADMIN and CAP_NET_ADMIN"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}
