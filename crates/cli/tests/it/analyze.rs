//! `unruffled analyze` from outside.

use std::fs;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn unruffled(folder: &TempDir, arguments: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("unruffled").expect("was built");
    command.current_dir(folder).args(arguments).output().expect("runs")
}

/// Returns a folder with a capture of 20 s at a sender like Linux's, whose packets are late.
fn captured() -> TempDir {
    captured_from("rack+cubic")
}

fn captured_from(sender: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let arguments =
        ["compare", "few-late", "--duration", "20 s", "--seeds", "1", "--variants", sender];
    let output =
        unruffled(&folder, &[&arguments[..], &["--no-report", "--pcap", "c.pcapng"]].concat());
    assert!(output.status.success());
    folder
}

#[test]
fn three_commands_lead_from_a_capture_to_a_comparison() {
    let folder = captured_from("linux");
    let output = unruffled(&folder, &["analyze", "c.pcapng", "--scenario", "path.toml"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Reordering: "));
    let left = "See what each sender delivers on this path: unruffled compare path.toml";
    assert!(text.contains(left) && !text.contains("--scenario"), "{text}");
    assert!(text.contains("1. On 192.0.2.1, the sender of transfer 1, where this was captured: "));
    assert!(text.contains(" and `unruffled resequence` at the receiver, "), "{text}");
    let receiver =
        "3. On 198.51.100.1, the receiver of transfer 1; this was captured elsewhere: put";
    assert!(text.contains(receiver) && text.contains("sudo unruffled resequence"), "{text}");
    assert!(message.starts_with("scenario: path.toml: linux delivers "), "{message}");
    let ranked = ["compare", "path.toml", "--duration", "5 s", "--seeds", "1", "--no-report"];
    let output = unruffled(&folder, &ranked);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A receiver like Linux's discards late packets that a retransmission has overtaken. The path loses
/// nothing.
#[test]
fn both_readings_of_the_losses_are_written_and_the_likelier_has_the_given_name() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = ["compare", "few-late", "--set", "tcp.timestamps=true", "--set", "tcp.paws=true"];
    let run = ["--duration", "20 s", "--seeds", "1", "--variants", "rack+cubic", "--no-report"];
    let output = unruffled(&folder, &[&path[..], &run, &["--pcap", "c.pcapng"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let analyze = ["analyze", "c.pcapng", "--scenario", "path.toml", "--json"];
    let output = unruffled(&folder, &[&analyze[..], &["--sender", "rack+cubic"]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let verdict = &json["verdicts"][0];
    assert_eq!(verdict["losses"]["decision"], "reordering", "{verdict}");
    assert!(verdict["losses"]["evidence"].as_str().is_some_and(|text| text.contains("PAWS")));
    let cost = &verdict["cost"];
    assert_eq!(cost["likelier_share"], cost["lossless_share"]);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("was written");
    let (likelier, other) = (read("path.toml"), read("path-lossy.toml"));
    assert!(!likelier.contains(".loss]") && !likelier.contains(".burst]"), "{likelier}");
    assert!(other.contains(".loss]") || other.contains(".burst]"), "{other}");
    let message = String::from_utf8(output.stderr).expect("is UTF-8");
    for line in ["scenario: path.toml: ", "scenario: path-lossy.toml: the same if the path itself"]
    {
        assert!(message.lines().any(|message| message.starts_with(line)), "{message}");
    }
    let commands: Vec<_> =
        json["plan"].as_array().expect("steps").iter().map(|step| &step["command"]).collect();
    let compares = ["unruffled compare path.toml", "unruffled compare path-lossy.toml"];
    assert_eq!(commands[commands.len() - 2..], compares);
    // `unruffled` delivers as much on the likelier path as on the original path.
    let goodput = |path: &str| {
        let senders = ["--variants", "unruffled", "--seeds", "2", "--duration", "20 s"];
        let flags = ["--json", "--no-report"];
        let output = unruffled(&folder, &[&["compare", path], &senders[..], &flags].concat());
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let rows = json["rows"].as_array().expect("rows");
        rows.iter().filter_map(|row| row["goodput_bps"].as_f64()).sum::<f64>() / rows.len() as f64
    };
    let truth = goodput("few-late");
    let fitted = goodput("path.toml");
    let lossy = goodput("path-lossy.toml");
    assert!((fitted / truth - 1.0).abs() < 0.15, "{truth} {fitted}");
    assert!(lossy < fitted * 0.8, "{fitted} {lossy}");
}

#[cfg(unix)]
#[test]
fn the_suggested_command_works_with_a_path_of_any_name() {
    let folder = captured();
    let path = "it's my path.toml";
    let output = unruffled(&folder, &["analyze", "c.pcapng", "--scenario", path]);
    let text = String::from_utf8(output.stdout).expect("prints UTF-8");
    let (_, rest) = text.split_once("unruffled compare").expect("suggests a command");
    let name = rest.lines().next().expect("names the path");
    let mut shell = std::process::Command::new("sh");
    let shell = shell.args(["-c", &format!("printf %s {}", name.trim())]).output().expect("runs");
    assert_eq!(String::from_utf8(shell.stdout).as_deref(), Ok(path), "{text}");
}

#[cfg(unix)]
#[test]
fn a_capture_of_any_name_leads_to_a_scenario() {
    let folder = captured();
    fs::rename(folder.path().join("c.pcapng"), folder.path().join("a\nb")).expect("can be named");
    let output = unruffled(&folder, &["analyze", "a\nb", "--scenario", "path.toml"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(folder.path().join("path.toml")).expect("was written");
    assert!(text.contains("source = \"measured: a b, "), "{text}");
}

#[test]
fn json_is_the_same_from_a_file_and_from_standard_input() {
    let folder = captured();
    let output = unruffled(&folder, &["analyze", "c.pcapng", "--json"]);
    let of_file: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut command = Command::cargo_bin("unruffled").expect("was built");
    let capture = fs::read(folder.path().join("c.pcapng")).expect("is there");
    let output = command.args(["analyze", "-", "--json"]).write_stdin(capture).output().unwrap();
    let of_pipe: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(of_file["connections"], of_pipe["connections"]);
    assert_eq!(of_file["verdicts"][0]["cause"], "reordering");
    let direction = &of_file["connections"][0]["directions"][0];
    assert!(direction["retransmissions"]["spurious"].as_u64() > Some(0));
    assert_eq!(direction["place"], "sender");
    let verdict = &of_file["verdicts"][0];
    assert_eq!((&verdict["remedy_here"], &verdict["tunnel"]), (&"attach".into(), &Value::Null));
    assert!(verdict["cost"]["resequenced_bps"].as_f64() > verdict["cost"]["now_bps"].as_f64());
    let commands = of_file["plan"].as_array().expect("steps").iter().map(|step| &step["command"]);
    assert!(commands.into_iter().any(|command| command == "sudo unruffled resequence"));
}

#[test]
fn an_unreadable_capture_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    fs::write(folder.path().join("text"), "no capture").expect("can be written");
    fs::write(folder.path().join("nothing"), "").expect("can be written");
    for (name, line) in [
        (
            "text",
            "unruffled: text: not a capture: expected pcap, pcapng, snoop or ERF, also compressed\n",
        ),
        (
            "nothing",
            "unruffled: nothing: empty: expected a capture (pcap, pcapng, snoop or ERF, also compressed)\n",
        ),
    ] {
        let output = unruffled(&folder, &["analyze", name]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), line);
        assert!(output.stdout.is_empty());
    }
    let sender = ["analyze", "nothing", "--scenario", "path.toml", "--sender", "bogus"];
    let line = String::from_utf8(unruffled(&folder, &sender).stderr).unwrap();
    assert!(line.starts_with("unruffled: --sender: bogus: no such variant: "), "{line}");
    let absent = unruffled(&folder, &["analyze", "absent.pcap"]);
    let line = String::from_utf8(absent.stderr).unwrap();
    assert_eq!((absent.status.code(), line.lines().count()), (Some(2), 1));
}

#[test]
fn a_truncated_capture_is_analysed_up_to_its_end() {
    let folder = captured();
    let path = folder.path().join("c.pcapng");
    let octets = fs::read(&path).expect("is there");
    fs::write(&path, &octets[..octets.len() / 2]).expect("can be written");
    let output = unruffled(&folder, &["analyze", "c.pcapng"]);
    assert!(output.status.success());
    let line = String::from_utf8(output.stderr).unwrap();
    assert!(line.starts_with("unruffled: c.pcapng: cut off after "), "{line}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("captured at the sender"));
    // Without enough data no path is fitted, but the results are shown.
    fs::write(&path, &octets[..3000]).expect("can be written");
    let output = unruffled(&folder, &["analyze", "c.pcapng", "--scenario", "path.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let lines = String::from_utf8(output.stderr).unwrap();
    assert!(lines.contains("expected a transfer of at least"), "{lines}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("Mb/s"));
    // A capture is never replaced.
    let output = unruffled(&folder, &["analyze", "c.pcapng", "--scenario", "c.pcapng"]);
    assert_eq!(output.status.code(), Some(2));
    let line = String::from_utf8(output.stderr).unwrap();
    assert!(
        line.ends_with("c.pcapng: would replace the capture: expected another file\n"),
        "{line}"
    );
    // Nor is it where it comes from standard input.
    let mut input = std::process::Command::new(assert_cmd::cargo::cargo_bin!("unruffled"));
    input.current_dir(&folder).args(["analyze", "-", "--report", "c.pcapng", "--force"]);
    let refused = input.stdin(fs::File::open(&path).expect("is there")).output().expect("runs");
    assert_eq!(refused.status.code(), Some(2));
    let line = String::from_utf8(refused.stderr).unwrap();
    assert!(
        line.ends_with("c.pcapng: would replace the capture: expected another file\n"),
        "{line}"
    );
    assert_eq!(fs::read(&path).expect("is there"), &octets[..3000]);
}

#[test]
fn a_report_shows_the_verdict_and_what_reordering_cost_without_a_network() {
    let folder = captured();
    let output = unruffled(&folder, &["analyze", "c.pcapng", "--json", "--report", "r.html"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let cost = &json["verdicts"][0]["cost"];
    assert!(cost["share"].as_f64() > Some(0.5), "{cost}");
    let page = fs::read_to_string(folder.path().join("r.html")).expect("was written");
    assert!(page.contains("Reordering: ") && page.contains("It cost "));
    assert!(page.contains("data-sequence=\"0\"") && page.contains("var uPlot="));
    for reference in [" src=", " href=", "@import", "url("] {
        assert!(!page.contains(reference), "{reference}");
    }
    let output = unruffled(&folder, &["analyze", "c.pcapng", "--report", "c.pcapng"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn unreadable_packets_are_counted() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    // A pcap header of Ethernet, then an ARP frame, which is neither TCP nor UDP.
    let mut octets = b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00".to_vec();
    octets.extend([0_u32, 0, 65535, 1, 0, 0, 42, 42].map(u32::to_le_bytes).concat());
    octets.extend([0; 12]);
    octets.extend(b"\x08\x06");
    octets.extend([0; 28]);
    fs::write(folder.path().join("arp.pcap"), &octets).expect("can be written");
    fs::write(folder.path().join("a\u{1b}[2J.pcap"), &octets).expect("can be written");
    let output = unruffled(&folder, &["analyze", "a\u{1b}[2J.pcap"]);
    let text = String::from_utf8(output.stdout).expect("prints UTF-8");
    assert!(
        text.starts_with("a [2J.pcap: 1 packet in "),
        "control characters are replaced: {text}"
    );
    let output = unruffled(&folder, &["analyze", "arp.pcap"]);
    let text = String::from_utf8(output.stdout).expect("prints UTF-8");
    assert!(text.contains("\npackets not read inside: 1 ARP\n"), "{text}");
    octets.extend_from_within(24..);
    fs::write(folder.path().join("arp.pcap"), &octets).expect("can be written");
    let output = unruffled(&folder, &["analyze", "arp.pcap"]);
    let text = String::from_utf8(output.stdout).expect("prints UTF-8");
    assert!(text.contains("\npackets not read inside: 2 ARP\n"), "{text}");
    // The first link type that is free for private use.
    octets[20] = 147;
    fs::write(folder.path().join("arp.pcap"), &octets).expect("can be written");
    let output = unruffled(&folder, &["analyze", "arp.pcap"]);
    let text = String::from_utf8(output.stdout).expect("prints UTF-8");
    assert!(text.contains("\npackets not read inside: 2 unsupported link type 147\n"), "{text}");
}
