//! `unruffled race --stack`: foreign stacks in virtual time, whose driver is a shell script here.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{prints, refusal};

/// Writes a stack whose client sends a packet of 1250 octets at the start and again 100 ms later, of which it
/// declares one lost. The receiver reads 1200 octets of the first.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let own = folder.path().join("stacks").join("own");
    fs::create_dir_all(&own).expect("a folder");
    let manifest = "name = 'own'\nversion = 'own 1.0'\nabout = 'two packets'\ntime = 'virtual'\n\
                    controls = ['none', 'one']\nsettings = ['size']\ncommand = ['sh', 'driver.sh']\n";
    fs::write(own.join("stack.toml"), manifest).expect("a manifest");
    let driver = "read request; echo '{\"protocol\": 1}'; n=0; octets=0\n\
                  while read verb until ids; do n=$((n + 1)); case $verb in end)\n\
                  echo '{\"received\": 1200, \"sent\": 2, \"lost\": 1, \"discarded\": 1}'; exit;; esac\n\
                  [ -n \"$ids\" ] && octets=1200\n\
                  case $n in 1) echo at 0 0 c1250;; 3) echo at 100000000 $octets c1250;;\n\
                  *) echo at $until $octets;; esac; done\n";
    fs::write(own.join("driver.sh"), driver).expect("a driver");
    folder
}

const RACE: [&str; 7] =
    ["race", "in-order", "--stack", "own", "--stacks", "stacks", "--duration=1s"];

#[test]
fn a_stack_has_its_row_without_privileges() {
    let folder = folder();
    let json = prints(&folder, &[&RACE[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&json).expect("is JSON");
    let row = &json["rows"][0];
    assert_eq!((&row["variant"], row["goodput_bps"].as_f64()), (&"own".into(), Some(9600.0)));
    // The path lost none, so the loss was spurious.
    let counts = ["sent_segments", "retransmits", "spurious_retransmits", "discarded"];
    assert_eq!(counts.map(|name| row[name].as_u64()), [Some(2), Some(1), Some(1), Some(1)]);
    let table = prints(&folder, &[&RACE[..], &["--no-report"]].concat());
    assert!(
        table.contains("1 transfer by foreign stacks, each octet compared on arrival"),
        "{table}"
    );
    assert!(!table.contains("emulator late"), "{table}");
    let head = table.lines().find(|line| line.starts_with("variant")).expect("a head");
    assert!(head.contains("spurious") && head.contains("discarded"), "{head}");
}

#[test]
fn the_report_has_the_command_that_repeats_it() {
    let folder = folder();
    prints(&folder, &[&RACE[..6], &["--duration=1s"]].concat());
    let page = fs::read_to_string(folder.path().join("unruffled-race-in-order.html"));
    let page = page.expect("a report");
    assert!(page.contains("--kernel none --variants none --stack own --duration 1s"), "{page}");
    assert!(page.contains("two packets: own 1.0, none"), "stack, version and control");
}

#[test]
fn what_cannot_run_is_refused_in_one_line() {
    let folder = folder();
    for (arguments, expected) in [
        (&["--stack", "own"][..], "--stack own: no driver in target/stacks, which has none: `make"),
        (
            &["--stack", "owl", "--stacks", "stacks"],
            "--stack owl: no driver in stacks, which has own",
        ),
        (
            &["--stack", "own+two", "--stacks", "stacks"],
            "--stack own+two: congestion control two: exp",
        ),
        (
            &["--stack", "own:siz=3", "--stacks", "stacks"],
            "--stack own:siz=3: setting siz: expected",
        ),
        (&["--stack", "own,own", "--stacks", "stacks"], "--stack: own stands twice: expected each"),
        (
            &["--stack", "own", "--stacks", "stacks", "--together"],
            "--stack: a foreign stack sends alone, to its own receiver: expected no --together",
        ),
        (
            &["--stack", "own", "--stacks", "stacks", "--pcap", "a.pcapng"],
            "--stack: own runs in virtual time and sends no real packets: expected no --pcap",
        ),
    ] {
        let line = refusal(&folder, &[&["race", "in-order"], arguments].concat());
        assert!(line.starts_with(&format!("unruffled: {expected}")), "{line}");
    }
}

#[test]
fn a_driver_that_fails_is_told_and_the_status_is_1() {
    let folder = folder();
    fs::write(folder.path().join("stacks/own/driver.sh"), "exit 3\n").expect("a driver");
    let output = crate::command::unruffled(&folder, &RACE).output().expect("runs");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    let expected = "unruffled: own, seed 1: the driver ended early, or did not answer in time\n";
    assert!(text.contains(expected), "{text}");
}
