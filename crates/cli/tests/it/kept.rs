//! Existing files: none of another run or program is lost.

use std::fs;

use crate::command::{files, prints, refusal, unruffled, write};
use tempfile::TempDir;

const SHORT_COMPARISON: [&str; 8] =
    ["compare", "rr-3", "--duration", "1 s", "--seeds", "1", "--variants", "sack"];

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

fn read(folder: &TempDir, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).expect("is there")
}

/// Runs the command and returns its messages on standard error.
fn messages(folder: &TempDir, arguments: &[&str]) -> String {
    let output = unruffled(folder, arguments).assert().success().get_output().stderr.clone();
    String::from_utf8(output).expect("prints UTF-8")
}

#[test]
fn a_report_with_a_default_name_gets_a_number_beside_another_run() {
    let folder = folder();
    let other = [&SHORT_COMPARISON[..], &["--set", "tcp.window=20"]].concat();
    assert_eq!(messages(&folder, &SHORT_COMPARISON), "report: unruffled-rr-3.html\n");
    let first = read(&folder, "unruffled-rr-3.html");
    assert_eq!(
        messages(&folder, &SHORT_COMPARISON),
        "report: unruffled-rr-3.html\n",
        "the same run"
    );
    assert_eq!(messages(&folder, &other), "report: unruffled-rr-3-2.html\n");
    assert_eq!(messages(&folder, &other), "report: unruffled-rr-3-2.html\n", "the same run");
    write(&folder, "unruffled-rr-3-3.html", "mine");
    let third = [&SHORT_COMPARISON[..], &["--set", "tcp.window=30"]].concat();
    assert_eq!(messages(&folder, &third), "report: unruffled-rr-3-4.html\n");
    assert_eq!(read(&folder, "unruffled-rr-3.html"), first);
    assert_eq!(read(&folder, "unruffled-rr-3-3.html"), b"mine");
    assert_eq!(files(&folder).len(), 4);
}

#[test]
fn a_named_file_replaces_only_files_of_its_kind() {
    let folder = folder();
    write(
        &folder,
        "grid.toml",
        "scenario = 'rr-3'\nduration = '1 s'\nseeds = 1\n[grid]\ntcp.window = [9]\n",
    );
    prints(
        &folder,
        &[&SHORT_COMPARISON[..], &["--no-report", "--pcap", "packets.pcapng"]].concat(),
    );
    let packets = read(&folder, "packets.pcapng");
    prints(&folder, &["sweep", "grid.toml", "--store", "runs.sqlite"]);
    let compare = |more: &[&'static str]| [&SHORT_COMPARISON[..], more].concat();
    for (arguments, name) in [
        (compare(&["--report", "mine"]), "a report"),
        (compare(&["--no-report", "--pcap", "mine"]), "a capture"),
        (compare(&["--no-report", "--thresholds", "mine"]), "a drawing"),
        (vec!["sweep", "grid.toml", "--no-store", "--report", "mine"], "a report"),
        (vec!["analyze", "packets.pcapng", "--report", "mine"], "a report"),
        (vec!["analyze", "packets.pcapng", "--scenario", "mine"], "a scenario"),
        (vec!["store", "--store", "runs.sqlite", "export", "mine"], "a list of runs"),
    ] {
        write(&folder, "mine", "my own notes\n");
        let line = refusal(&folder, &arguments);
        let expected = format!(
            "unruffled: mine: there already, and not {name} of unruffled: expected another file, or \
             --force\n"
        );
        assert_eq!(line, expected);
        assert_eq!(read(&folder, "mine"), b"my own notes\n");
        // A transfer may be too short for a path, but the file may be replaced.
        let forced = unruffled(&folder, &[&arguments[..], &["--force"]].concat()).output();
        let message = String::from_utf8(forced.expect("runs").stderr).expect("prints UTF-8");
        assert!(!message.contains("there already"), "{message}");
        if name != "a scenario" {
            assert_ne!(read(&folder, "mine"), b"my own notes\n", "{arguments:?}");
            // The command replaces its own file.
            prints(&folder, &arguments);
        }
    }
    assert_eq!(read(&folder, "packets.pcapng"), packets);
}

#[test]
fn a_capture_of_another_program_and_a_report_are_not_one_of_ours() {
    let folder = folder();
    prints(&folder, &[&SHORT_COMPARISON[..], &["--report", "r.html"]].concat());
    let line =
        refusal(&folder, &[&SHORT_COMPARISON[..], &["--no-report", "--pcap", "r.html"]].concat());
    assert!(line.starts_with("unruffled: r.html: there already, and not a capture of"), "{line}");
    // The header of a pcapng file that names no program.
    let head = [&[0x0a_u8, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0][..]];
    let rest: [&[u8]; 2] = [&[0xff; 8], &[28, 0, 0, 0]];
    write(&folder, "theirs.pcapng", [head.concat(), rest.concat()].concat());
    let line = refusal(
        &folder,
        &[&SHORT_COMPARISON[..], &["--no-report", "--pcap", "theirs.pcapng"]].concat(),
    );
    assert!(
        line.starts_with("unruffled: theirs.pcapng: there already, and not a capture"),
        "{line}"
    );
}

#[test]
fn a_command_line_of_netem_becomes_a_scenario() {
    let folder = folder();
    let toml = prints(&folder, &["scenario", "--netem", "delay 10ms  reorder 25% 50%"]);
    assert!(toml.starts_with("name = \"netem\"\n"), "{toml}");
    assert!(toml.contains("netem = \"delay 10ms reorder 25% 50%\"\n"), "{toml}");
    write(&folder, "netem.toml", &toml);
    let run = ["compare", "netem.toml", "--variants", "sack", "--duration", "2 s", "--no-report"];
    assert!(prints(&folder, &run).contains("sack"));
    let line = refusal(&folder, &["scenarios", "--netem", "delay 10ms slot 1ms"]);
    let expected = "unruffled: --netem: link.bottleneck.netem: expected delay, distribution, loss, \
                    duplicate, corrupt, reorder, gap, rate or limit, found \"slot\"";
    assert!(line.starts_with(expected), "{line}");
}

#[test]
fn built_in_scenarios_are_listed_shown_and_saved_for_changes() {
    let folder = folder();
    let list = prints(&folder, &["scenarios"]);
    let json: serde_json::Value =
        serde_json::from_str(&prints(&folder, &["scenarios", "--json"])).expect("JSON");
    let all = json.as_array().expect("a list");
    assert_eq!(list.lines().count(), all.len());
    for (line, one) in list.lines().zip(all) {
        let (name, title) =
            (one["name"].as_str().expect("text"), one["title"].as_str().expect("text"));
        assert!(
            line.starts_with(&format!("{name} ")) && line.ends_with(&format!("  {title}")),
            "{line}"
        );
        let shown = prints(&folder, &["scenarios", "--show", name]);
        assert_eq!(one["toml"].as_str(), Some(shown.as_str()));
    }
    let shown = prints(&folder, &["scenarios", "--show", "spray"]);
    assert_eq!(messages(&folder, &["scenarios", "--save", "spray"]), "scenario: spray.toml\n");
    assert_eq!(read(&folder, "spray.toml"), shown.as_bytes());
    prints(&folder, &["scenarios", "--save", "spray"]);
    write(&folder, "spray.toml", format!("# changed\n{shown}"));
    let line = refusal(&folder, &["scenarios", "--save", "spray"]);
    assert!(
        line.starts_with("unruffled: spray.toml: there already, and not what would be"),
        "{line}"
    );
    assert!(read(&folder, "spray.toml").starts_with(b"# changed"));
    prints(&folder, &["scenarios", "--save", "spray", "--force"]);
    assert_eq!(read(&folder, "spray.toml"), shown.as_bytes());
    prints(&folder, &["scenarios", "--save", "7-12", "other.toml"]);
    assert!(read(&folder, "other.toml").starts_with(b"name = \"7-12\""));
    let run =
        ["compare", "spray.toml", "--no-report", "--seeds", "1", "--variants", "rack", "--csv"];
    assert!(
        prints(&folder, &run).lines().nth(1).is_some_and(|line| line.starts_with("spray,rack,"))
    );
}

#[test]
fn drawings_replace_only_drawings() {
    let folder = folder();
    fs::create_dir(folder.path().join("svg")).expect("can be made");
    write(&folder, "svg/rr-3.svg", "mine");
    let reproduce =
        ["reproduce", "rr-3", "--quick", "--no-report", "--no-store", "--figures", "svg"];
    let line = refusal(&folder, &reproduce);
    assert!(
        line.starts_with("unruffled: svg/rr-3.svg: there already, and not a drawing of"),
        "{line}"
    );
    assert_eq!(read(&folder, "svg/rr-3.svg"), b"mine");
    prints(&folder, &[&reproduce[..], &["--force"]].concat());
    prints(&folder, &reproduce);
    assert!(read(&folder, "svg/rr-3.svg").starts_with(b"<svg "));
}
