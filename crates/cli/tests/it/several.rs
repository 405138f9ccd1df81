//! `unruffled analyze` with several captures, from outside.

use std::fs;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn unruffled(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("unruffled").expect("was built");
    command.current_dir(folder).args(arguments).output().expect("runs")
}

/// Returns the capture without every `every`-th packet that holds data, and the number of these.
fn without(octets: &[u8], every: usize) -> (Vec<u8>, u64) {
    let word = |at: usize| u32::from_le_bytes(octets[at..at + 4].try_into().expect("four"));
    let mut kept = Vec::new();
    let mut at = 0;
    let mut data = 0;
    let mut removed = 0;
    while at < octets.len() {
        let length = word(at + 4) as usize;
        let is_data = word(at) == 6 && word(at + 24) > 500;
        data += usize::from(is_data);
        if is_data && data.is_multiple_of(every) {
            removed += 1;
        } else {
            kept.extend(&octets[at..at + length]);
        }
        at += length;
    }
    (kept, removed)
}

/// The second capture lacks packets that the receiver acknowledged, so it lost them, and the path did not.
#[test]
fn two_captures_are_analysed_and_matched() {
    let folder = tempfile::tempdir().expect("a folder");
    let compare =
        ["compare", "few-late", "--duration", "5 s", "--seeds", "1", "--variants", "rack"];
    let output =
        unruffled(&folder, &[&compare[..], &["--no-report", "--pcap", "a.pcapng"]].concat());
    assert!(output.status.success());
    let octets = fs::read(folder.path().join("a.pcapng")).expect("was written");
    let (fewer, removed) = without(&octets, 50);
    fs::write(folder.path().join("b.pcapng"), fewer).expect("is written");
    let output = unruffled(&folder, &["analyze", "a.pcapng", "b.pcapng", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let captures = json["captures"].as_array().expect("captures");
    assert_eq!(captures.len(), 2);
    assert_eq!(captures[1]["capture"], "b.pcapng");
    let found = &json["matches"][0];
    assert_eq!((&found["first"], &found["second"]), (&"a.pcapng".into(), &"b.pcapng".into()));
    assert_eq!(
        (&found["clocks"]["offset_ms"], &found["clocks"]["skew_ppm"]),
        (&0.0.into(), &0.0.into())
    );
    let flow = &found["flows"][0];
    let count = |key: &str| flow[key].as_u64().expect("a number");
    let missing = count("uncaptured") + count("unsettled") + count("lost");
    assert_eq!(missing, removed);
    // The others were sent again, or not acknowledged before the end.
    assert!(count("uncaptured") * 2 > removed, "{flow}");
    let output = unruffled(&folder, &["analyze", "a.pcapng", "b.pcapng"]);
    let text = String::from_utf8(output.stdout).expect("text");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "a.pcapng and b.pcapng have 2 flows in common",
        "The clock of b.pcapng is 0.000 ms ahead",
        "192.0.2.1:49152 to 198.51.100.1:5001, from a.pcapng on",
        "acknowledged, but not captured where they arrived",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn options_for_one_capture_or_for_an_interface_are_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases: [(&[&str], &str); 4] = [
        (&["a", "b", "--scenario", "s.toml"], "--scenario: expected one capture, found 2"),
        (&["a", "b", "--report", "r.html"], "--report: expected one capture, found 2"),
        (&["a", "--for", "3 s"], "--for: expected --interface"),
        (&["a", "--promiscuous"], "--promiscuous: expected --interface"),
    ];
    for (arguments, expected) in cases {
        let output = unruffled(&folder, &[&["analyze"], arguments].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((message, output.status.code()), (format!("unruffled: {expected}\n"), Some(2)));
    }
}
