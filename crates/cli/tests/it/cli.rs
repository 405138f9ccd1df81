//! `compare`, `bench`, `variants` and common behaviour: output, exit status, files.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{files, prints, refusal, unruffled, write};

/// Arguments of a short comparison.
const SHORT_COMPARISON: [&str; 7] =
    ["rr-3", "--duration", "20 s", "--seeds", "2", "--variants", "sack,rr-ta,rack"];

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

/// Returns a scenario file of one hop, with a line replaced or added.
fn scenario(key: &str, value: &str) -> String {
    let mut lines = vec![
        ("duration", "\"5 s\""),
        ("seeds", "1"),
        ("variants", "[\"sack\"]"),
        ("path.hops", "[\"l\"]"),
        ("link.l.rate", "\"5 Mbit/s\""),
        ("link.l.delay", "\"10 ms\""),
        ("link.l.loss.fraction", "\"1 %\""),
    ];
    match lines.iter_mut().find(|(k, _)| *k == key) {
        Some(line) => line.1 = value,
        None => lines.push((key, value)),
    }
    lines.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
}

#[test]
fn a_wrong_scenario_file_is_refused_with_its_line_key_and_what_was_expected() {
    for (key, value, expected) in [
        ("duration", "= 3", "my.toml:1: not TOML: "),
        ("tcp.windw", "3", "my.toml:8: tcp.windw: unknown key: expected one of byte_counting"),
        ("variants", "[\"bbr3\"]", "my.toml: variants: bbr3: no such variant: expected one of "),
        ("variants", "[]", "my.toml:3: variants: expected a list of names"),
        ("path.hops", "[]", "my.toml:4: path.hops: expected a list of names"),
        ("path.hops", "[\"m\"]", "my.toml:4: path.hops: no table [link.m]: expected names among"),
        ("link.l.rate", "\"-5 Mbit/s\"", "my.toml:5: link.l.rate: expected a rate such as"),
        ("link.l.rate", "\"5 MB/s\"", "my.toml:5: link.l.rate: expected a rate such as"),
        ("link.l.loss.fraction", "\"120 %\"", "my.toml:7: link.l.loss.fraction: expected a frac"),
        ("link.l.loss.fraction", "2005-05-05", "my.toml:7: link.l.loss.fraction: expected a st"),
        ("seeds", "0", "my.toml:2: seeds: expected a whole number from 1 to 10000"),
        ("warmup", "\"5 s\"", "my.toml:8: warmup: expected less than the duration"),
    ] {
        let folder = folder();
        write(&folder, "my.toml", scenario(key, value));
        let line = refusal(&folder, &["compare", "my.toml"]);
        assert!(line.starts_with(&format!("unruffled: {expected}")), "{line}");
        assert_eq!(refusal(&folder, &["compare", "my.toml", "--json"]), line);
        assert_eq!(refusal(&folder, &["bench", "sim", "my.toml"]), line);
        assert_eq!(files(&folder), ["my.toml"], "nothing is left behind");
    }
}

#[test]
fn a_scenario_that_is_not_a_text_file_is_refused() {
    let folder = folder();
    write(&folder, "latin1.toml", b"title = \"caf\xe9\"\n");
    fs::create_dir(folder.path().join("folder")).expect("can be made");
    for (name, expected) in [
        ("nowhere.toml", "nowhere.toml: no such file"),
        ("nowhere", "nowhere: no such scenario: expected rr-3, dcr-4, "),
        ("latin1.toml", "latin1.toml: cannot be read: expected a TOML file (stream did not"),
        ("folder", "folder: cannot be read: expected a TOML file ("),
        ("latin1.toml/x", "latin1.toml/x: cannot be read: expected a TOML file ("),
    ] {
        for arguments in [&["compare", name][..], &["compare", name, "--json"]] {
            let line = refusal(&folder, arguments);
            assert!(line.starts_with(&format!("unruffled: {expected}")), "{line}");
        }
    }
    let line = refusal(&folder, &["compare", "nowhere"]);
    let expected = ", a random path (SEED-NUMBER, such as 7-12) or a TOML file";
    assert!(line.trim_end().ends_with(expected), "{line}");
}

#[test]
fn a_wrong_flag_is_refused_with_its_name_and_what_was_expected() {
    for (arguments, expected) in [
        (&["--set", "delayed"][..], "--set delayed: expected KEY=VALUE"),
        (&["--set", "=3"], "--set =3: expected KEY=VALUE"),
        (&["--set", "tcp.windw=3"], "--set: tcp.windw: unknown key: expected one of byte_counting"),
        (
            &["rr-3", "--set", "delay=3 ms"],
            "--set: delay: could be several: expected one of link.source",
        ),
        (&["--set", "delayed.fraction=120 %"], "--set: link.bottleneck.delayed.fraction: expect"),
        (&["--set", "bottleneck.rate=-3 Mbit/s"], "--set: link.bottleneck.rate: expected a rate"),
        (&["--set", "a\nb=3"], "--set: a b: unknown key: expected one of"),
        (&["--variants", "sack,"], "a value is required for '--variants <NAMES>' but none was"),
        (&[""], "a value is required for '[SCENARIO]' but none was supplied"),
        (&["--variants", "sack,bbr3"], "--variants: bbr3: no such variant: expected one of "),
        (&["--variants", "sack,rack,sack"], "--variants: sack stands twice: expected each once"),
        (&["--set", "seeds=\"x\"", "--seeds", "2"], "--set: seeds: expected this or --seeds, not"),
        (&["--set", "duration=[1]", "--duration", "1 s"], "--set: duration: expected this or --du"),
        (
            &["--set", "variants=sack", "--variants", "rack"],
            "--set: variants: expected this or --v",
        ),
        (
            &["--all", "--set", "variants=sack"],
            "--set: variants: the same senders run over every p",
        ),
        (
            &["--all", "--set", "tcp.window=20", "--set", "window=30"],
            "--set: window: rr-3: stands twice: expected each key once",
        ),
        (&["--seeds", "0"], "--seeds: seeds: expected a whole number from 1 to 10000, found \"0\""),
        (&["--seeds", "many"], "--seeds: seeds: expected a whole number from 1 to 10000, found"),
        (&["--duration", "0 s"], "--duration: duration: expected more than 0 s"),
        (&["--duration", "99999999999 s"], "--duration: duration: expected a time such as"),
        (
            &["--jobs", "0"],
            "invalid value '0' for '--jobs <N>': expected a whole number from 1 to 1024",
        ),
        (&["--frobnicate"], "unexpected argument '--frobnicate' found: expected unruffled compare"),
        (
            &["--seeds", "-1"],
            "--seeds: seeds: expected a whole number from 1 to 10000, found \"-1\"",
        ),
        (&["--duration", "-1s"], "--duration: duration: expected a time such as"),
        (
            &["--jobs", "-1"],
            "invalid value '-1' for '--jobs <N>': expected a whole number from 1 to",
        ),
        (&["--report", "a.html", "--pcap", "./a.html"], "./a.html: would replace the report: exp"),
        (&["--report", "nowhere/a.html"], "nowhere/a.html: cannot be written: "),
        (&["--pcap", "-"], "-: cannot be written: standard output has the results: expected a"),
        (&["--set", "seeds=2", "--set", "seeds=3"], "--set: seeds: stands twice: expected each"),
        (
            &["--set", "bottleneck.queue=5", "--set", "link.bottleneck.queue=90"],
            "--set: link.bottleneck.queue: stands twice: expected each key once",
        ),
        (&["--report", "."], ".: cannot be written: "),
        (&["--pcap", "nowhere/a.pcapng"], "nowhere/a.pcapng: cannot be written: "),
    ] {
        let folder = folder();
        for command in [&["compare", "--json"][..], &["compare"]] {
            let line = refusal(&folder, &[command, arguments].concat());
            assert!(line.starts_with(&format!("unruffled: {expected}")), "{line}");
        }
        assert!(files(&folder).is_empty(), "{arguments:?} leaves {:?}", files(&folder));
    }
    let line = refusal(&folder(), &["compare", "--csv", "--json"]);
    assert!(
        line.contains("'--csv' cannot be used with '--json': expected only one of them\n"),
        "{line}"
    );
}

#[test]
fn numbers_below_zero_are_refused_with_the_name_of_their_flag() {
    for (arguments, expected) in [
        (&["bench", "sim", "--duration", "-1s"][..], "--duration: "),
        (&["bench", "sim", "--delayed", "-1%"], "--delayed: "),
        (&["bench", "sim", "dcr-4", "--set", "variants=bbr3"], "--set: variants: bbr3: no such"),
        (
            &["bench", "sim", "--set", "tcp.window=30", "--set", "window=50"],
            "--set: window: stands twice: expected each key once",
        ),
        (
            &["bench", "sim", "--set", "variants=rack", "--variant", "sack"],
            "--set: variants: expected this or --variant, not both",
        ),
        (&["compare", "--set", "variants=bbr3"], "--set: variants: bbr3: no such variant"),
        (&["compare", "--random", "-1"], "invalid value '-1' for '--random <N>': expected a whole"),
        // A path with a higher number has no name by which it could be run again.
        (&["compare", "--random", "10001"], "invalid value '10001' for '--random <N>': expected a"),
        (
            &["compare", "--random", "1", "--draw", "-1"],
            "invalid value '-1' for '--draw <SEED>': expected a whole number from 0, found",
        ),
        (
            &["store", "prune", "--older", "-1"],
            "invalid value '-1' for '--older <DAYS>': expected a",
        ),
        (
            &["analyze", "x", "--scenario", "y", "--transfer", "-1"],
            "invalid value '-1' for '--tran",
        ),
    ] {
        let line = refusal(&folder(), arguments);
        assert!(line.starts_with(&format!("unruffled: {expected}")), "{line}");
    }
    #[cfg(target_os = "linux")]
    for (arguments, flag) in [
        (["emulate", "in-order", "--seed", "-1"], "--seed <N>"),
        (["emulate", "in-order", "--duration", "-1s"], "--duration <TIME>"),
        (["emulate", "in-order", "--mtu", "-1"], "--mtu <OCTETS>"),
        (["race", "in-order", "--seeds", "-1"], "--seeds <N>"),
        (["race", "in-order", "--duration", "-1s"], "--duration <TIME>"),
        (["race", "in-order", "--bytes", "-1MB"], "--bytes <OCTETS>"),
    ] {
        let line = refusal(&folder(), &arguments);
        let expected = format!("unruffled: invalid value '{}' for '{flag}': ", arguments[3]);
        assert!(line.starts_with(&expected), "{line}");
    }
}

#[test]
fn text_that_is_no_number_is_refused_with_what_was_expected() {
    for (arguments, expected) in [
        (&["compare", "--jobs", "two"][..], "invalid value 'two' for '--jobs <N>': "),
        (&["compare", "--random", "1.5"], "invalid value '1.5' for '--random <N>': "),
        (&["store", "prune", "--older", ""], "invalid value '' for '--older <DAYS>': "),
    ] {
        let line = refusal(&folder(), arguments);
        assert!(line.starts_with(&format!("unruffled: {expected}")), "{line}");
        assert!(line.ends_with(": expected a whole number\n"), "{line}");
    }
}

#[test]
fn senders_without_traffic_in_a_scenario_are_not_compared() {
    let folder = folder();
    let text = scenario("seeds", "1") + "[[traffic]]\nname = \"flows\"\nsender = \"rack\"\n";
    write(&folder, "my.toml", &text);
    for (arguments, place) in [
        (&["compare", "my.toml"][..], "my.toml: variants"),
        (&["compare", "my.toml", "--set", "variants=reno"], "--set: variants"),
        (&["compare", "my.toml", "--variants", "sack,rr-ta"], "--variants"),
    ] {
        let line = refusal(&folder, arguments);
        let expected =
            ": nothing is sent by these: expected [[traffic]] without a sender, or with ";
        assert!(line.starts_with(&format!("unruffled: {place}{expected}")), "{line}");
    }
    write(&folder, "my.toml", text.replace("\"rack\"", "\"$variant\""));
    let arguments = ["compare", "my.toml", "--variants", "sack", "--seeds", "1", "--no-report"];
    prints(&folder, &arguments);
}

#[cfg(target_os = "linux")]
#[test]
fn help_to_a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("is there");
    let program = assert_cmd::cargo::cargo_bin("unruffled");
    let status = std::process::Command::new(program).arg("--help").stdout(full).status();
    assert_eq!(status.expect("runs").code(), Some(2));
}

#[test]
fn an_existing_file_stays_until_the_run_is_done() {
    let folder = folder();
    let unwritable = ["--pcap", "nowhere/a.pcapng"];
    let old = b"<!doctype html>\n<meta name=\"generator\" content=\"unruffled\">\n";
    write(&folder, "old.html", old);
    let base = ["compare", "--report", "old.html"];
    refusal(&folder, &[&base[..], &unwritable].concat());
    assert_eq!(fs::read(folder.path().join("old.html")).expect("is there"), old);
    prints(&folder, &[&base[..], &SHORT_COMPARISON].concat());
    assert!(fs::read(folder.path().join("old.html")).expect("is there").len() > 1000);
    assert_eq!(files(&folder), ["old.html"]);

    write(&folder, "my.toml", scenario("seeds", "1"));
    let line = refusal(&folder, &["compare", "my.toml", "--report", "./my.toml"]);
    assert!(line.contains("my.toml: would replace the scenario: expected another file"), "{line}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_writer_leaves_no_file() {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    let folder = folder();
    let flags = OFlags::TMPFILE | OFlags::WRONLY;
    if let Err(reason) = openat(CWD, folder.path(), flags, Mode::from_raw_mode(0o600)) {
        println!("skipped: no files without a name: {reason}");
        return;
    }
    let mut long = std::process::Command::new(assert_cmd::cargo::cargo_bin("unruffled"))
        .current_dir(&folder)
        .args(["compare", "--duration", "100000 s", "--no-report", "--pcap", "p.pcapng"])
        .spawn()
        .expect("starts");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(long.try_wait().expect("is ours").is_none(), "it is running");
    long.kill().expect("is there to kill");
    long.wait().expect("ends");
    assert_eq!(files(&folder), [""; 0]);
}

#[test]
fn the_report_is_named_after_the_scenario() {
    let folder = folder();
    write(&folder, "my.toml", scenario("name", "\"../a b\""));
    prints(&folder, &["compare", "my.toml"]);
    assert_eq!(files(&folder), ["my.toml", "unruffled-..-a-b.html"]);
    let output =
        unruffled(&folder, &[&["compare"][..], &SHORT_COMPARISON].concat()).output().expect("runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "report: unruffled-rr-3.html\n");
}

#[cfg(unix)]
#[test]
fn names_are_printed_without_control_characters() {
    let folder = folder();
    let odd = ["--report", "a\u{1b}[2J.html", "--thresholds", "b\n.svg"];
    let mut command = unruffled(&folder, &[&["compare"][..], &SHORT_COMPARISON, &odd].concat());
    let output = command.output().expect("runs");
    assert!(output.status.success());
    let message = String::from_utf8(output.stderr).expect("prints UTF-8");
    assert_eq!(message, "report: a [2J.html\nthresholds: b .svg\n");
    assert_eq!(files(&folder), ["a\u{1b}[2J.html", "b\n.svg"]);
}

#[cfg(target_os = "linux")]
#[test]
fn results_are_printed_even_if_the_report_cannot_be_written() {
    let arguments = [&["compare", "--report", "/dev/full"][..], &SHORT_COMPARISON].concat();
    let output = unruffled(&folder(), &arguments).output().expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("rr-ta"));
    assert_eq!(output.stderr.iter().filter(|&&c| c == b'\n').count(), 1);
}

#[test]
fn json_is_one_object_with_a_row_for_every_run() {
    const FIELDS: [&str; 15] = [
        "scenario",
        "variant",
        "seed",
        "duration_s",
        "delivered_segments",
        "goodput_bps",
        "sent_segments",
        "retransmits",
        "fast_retransmits",
        "false_fast_retransmits",
        "timeouts",
        "false_timeouts",
        "dupthresh_mean",
        "loss_rate",
        "out_of_order_rate",
    ];
    let folder = folder();
    let text = prints(&folder, &[&["compare", "--json"][..], &SHORT_COMPARISON].concat());
    let document: Value = serde_json::from_str(&text).expect("is JSON and nothing else");
    let rows = document["rows"].as_array().expect("has rows");
    let runs: Vec<(&str, u64)> = rows
        .iter()
        .map(|r| (r["variant"].as_str().expect("a name"), r["seed"].as_u64().expect("a seed")))
        .collect();
    let expected = ["sack", "rr-ta", "rack"].map(|v| [(v, 1), (v, 2)]);
    assert_eq!(runs, expected.concat());
    for row in rows {
        let row = row.as_object().expect("is an object");
        for field in FIELDS {
            let value = row.get(field).unwrap_or_else(|| panic!("no {field} in {row:?}"));
            let none = field == "dupthresh_mean" && row["variant"] == "rack";
            assert_eq!(value.is_null(), none, "{field} in {row:?}");
        }
        assert_eq!(row["scenario"], "rr-3");
        assert_eq!(row["duration_s"], 20.0);
    }
}

#[test]
fn csv_has_the_same_fields_and_runs() {
    let folder = folder();
    let text =
        prints(&folder, &[&["compare", "--no-report", "--csv"][..], &SHORT_COMPARISON].concat());
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("scenario,variant,seed,duration_s,delivered_segments,"), "{text}");
    assert_eq!(lines.len(), 1 + 6);
    assert!(lines[3].starts_with("rr-3,rr-ta,1,20.0,"), "{text}");
    assert!(files(&folder).is_empty(), "--no-report writes none");
}

#[test]
fn the_table_fits_into_80_columns() {
    let folder = folder();
    for scenario in ["rr-3", "dcr-4", "burst", "few-late"] {
        let arguments = ["compare", scenario, "--duration", "120 s", "--seeds", "2"];
        let table = prints(&folder, &arguments);
        let widest = table.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{widest:?} columns:\n{table}");
        assert!(table.lines().any(|line| line.starts_with("rr-ta ")), "{table}");
        assert!(!table.contains('\u{1b}'), "colour is for terminals");
    }
}

/// Returns the mean in the sender's cell of a table, by the column's heading.
fn cell(table: &str, sender: &str, head: &str) -> f64 {
    let words = |line: &str| -> Vec<String> {
        let words = line.split("  ").map(|word| word.trim().to_owned());
        words.filter(|word| !word.is_empty()).collect()
    };
    let heads = table.lines().find(|line| line.starts_with("variant ")).expect("has a head");
    let at = words(heads).iter().position(|word| word == head).expect("has the column");
    let line = table.lines().find(|line| line.split(' ').next() == Some(sender));
    let line = words(line.unwrap_or_else(|| panic!("{sender}:\n{table}")));
    let number = line[at].split(' ').next().unwrap_or_default();
    number.parse().unwrap_or_else(|_| panic!("{number}:\n{table}"))
}

#[test]
fn without_arguments_the_table_shows_what_linux_loses_and_names_it() {
    let folder = folder();
    let table = prints(&folder, &["compare", "--seeds", "5"]);
    assert_eq!(files(&folder), ["unruffled-few-late.html"]);
    let share = |sender| cell(&table, sender, "share %");
    assert!(share("linux") < 40.0 && share("unruffled") > 90.0, "{table}");
    assert!(table.contains("linux: a model of Linux today"), "{table}");
    assert!(table.contains("unruffled: our own"), "{table}");
    assert!(
        table.contains("undisturbed: 9.71 Mb/s (in order, nothing lost; limit: link"),
        "{table}"
    );
}

#[test]
fn without_a_command_the_first_steps_are_printed() {
    let output = unruffled(&folder(), &[]).output().expect("runs");
    let text = String::from_utf8(output.stderr).expect("prints UTF-8");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{text}");
    assert!(text.contains("  unruffled compare ") && text.contains("unruffled --help"), "{text}");
    assert!(text.lines().count() <= 15, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // Each command in the text exists.
    let commands = text.lines().filter_map(|line| line.trim_start().split_once("unruffled "));
    let commands = commands.filter(|(before, _)| ["", "sudo "].contains(before));
    let names: Vec<&str> = commands.filter_map(|(_, rest)| rest.split(' ').next()).collect();
    assert!(names.contains(&"compare") && names.contains(&"analyze"), "{names:?}");
    for name in names.into_iter().filter(|name| !name.contains(':')) {
        prints(&folder(), &[name, "--help"]);
    }
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let run = |jobs: &str| {
        let folder = folder();
        let jobs =
            ["compare", "--json", "--report", "r.html", "--pcap", "p.pcapng", "--jobs", jobs];
        let text = prints(&folder, &[&jobs[..], &SHORT_COMPARISON].concat());
        let read = |name: &str| fs::read(folder.path().join(name)).expect("was written");
        (text, read("r.html"), read("p.pcapng"))
    };
    assert!(run("1") == run("2"));
}

#[test]
fn variants_are_listed_and_shown_one_by_one() {
    let folder = folder();
    let list = prints(&folder, &["variants"]);
    for name in ["reno", "newreno", "sack", "dsack-r", "rr-fa", "rr-ta", "rr-ta-rtx", "rack"] {
        assert!(list.lines().any(|line| line.split(' ').next() == Some(name)), "{name}:\n{list}");
    }
    let one = prints(&folder, &["variants", "rr-ta"]);
    assert!(one.starts_with("rr-ta: ") && one.contains("\nsource: RR-TCP"), "{one}");
    assert!(one.contains("fa_ratio") && one.contains("90 %"), "{one}");
    let third = prints(&folder, &["variants", "ncr-careful"]);
    assert!(third.contains("lt_f              0.667, "), "{third}");

    let json: Value =
        serde_json::from_str(&prints(&folder, &["variants", "--json"])).expect("JSON");
    let listed = json["variants"].as_array().expect("a list");
    assert!(listed.iter().any(|v| v["name"] == "rr-ta" && v["parts"].is_object()));
    let json = prints(&folder, &["variants", "rr-ta", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["variants"].as_array().map(Vec::len), Some(1));

    let line = refusal(&folder, &["variants", "bbr3"]);
    assert!(line.contains("bbr3: no such variant: expected one of reno, "), "{line}");
}

#[test]
fn bench_prints_the_packets_per_second() {
    let folder = folder();
    let bench = ["bench", "sim", "--duration", "100 s"];
    let json = prints(&folder, &[&bench[..], &["--delayed", "10%", "--json"]].concat());
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert!(json["packets_per_wall_second"].as_f64() > Some(0.0), "{json}");
    assert_eq!(json["variant"], "sack");
    let other = prints(&folder, &[&bench[..], &["--set", "variants=rack"]].concat());
    assert!(other.starts_with("rack over rr-3: "), "{other}");
    let line = refusal(&folder, &["bench", "sim", "--delayed", "120 %"]);
    assert!(line.starts_with("unruffled: --delayed: link.bottleneck.delayed.fraction: expected a"));
    // No link of that name, one that delays no packets, and one that only the flag would create.
    for name in ["satellite", "half-late", "spray"] {
        let line = refusal(&folder, &["bench", "sim", name, "--delayed", "10 %"]);
        let expected =
            format!("unruffled: --delayed: {name} delays no packets at a bottleneck: exp");
        assert!(line.starts_with(&expected), "{line}");
    }
    let line = refusal(&folder, &["bench", "sim", "spray", "--delayed", "10 %", "--set", "x=1"]);
    assert!(line.starts_with("unruffled: --set: x: unknown key"), "{line}");
}

#[test]
fn the_scenarios_whose_speed_is_measured_run() {
    let folder = folder();
    for name in ["wb-t3", "wb-t5", "ad-3"] {
        let file = format!("{}/../lab/speed/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let json = prints(&folder, &["bench", "sim", &file, "--duration", "10 s", "--json"]);
        let json: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(json["scenario"], name);
        assert!(json["data_packets"].as_u64() > Some(100), "{json}");
    }
}

/// Returns the `fields` that tshark prints for the packets of `file` that match `filter`.
fn tshark(file: &Path, filter: &str, fields: &[&str]) -> Vec<String> {
    let mut tshark = assert_cmd::Command::new("tshark");
    tshark.args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
    tshark.arg("-r").arg(file).args(["-Y", filter, "-T", "fields"]);
    tshark.args(fields.iter().flat_map(|field| ["-e", field]));
    let output = tshark.assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("prints UTF-8").lines().map(str::to_owned).collect()
}

#[test]
fn a_capture_shows_the_compared_sender() {
    let folder = folder();
    let text = "duration = '2 s'\nseeds = 1\nvariants = ['rack']\n[path]\nhops = ['a']\n\
                [link.a]\nrate = '10 Mbit/s'\ndelay = '10 ms'\n[[traffic]]\nname = 'noise'\n\
                app = 'udp'\nsize = '1 kB'\ninterval = '10 ms'\n[[traffic]]\nname = 'one'\n";
    std::fs::write(folder.path().join("two.toml"), text).unwrap();
    prints(&folder, &["compare", "two.toml", "--no-report", "--pcap", "p.pcapng"]);
    let found = prints(&folder, &["analyze", "p.pcapng"]);
    assert!(found.contains("1 TCP connection"), "{found}");
}

#[test]
fn tshark_finds_no_fault_in_a_capture() {
    if std::process::Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    let folder = folder();
    let arguments =
        ["compare", "rr-3", "--variants=rr-ta", "--duration=20 s", "--seeds=1", "--no-report"];
    prints(&folder, &[&arguments[..], &["--pcap", "p.pcapng"]].concat());
    let file = folder.path().join("p.pcapng");
    let packets = tshark(&file, "tcp", &["frame.number"]).len();
    assert!(packets > 5_000, "{packets} packets");

    // Payload is truncated, so only checksums of acknowledgements can be verified.
    let faults = "_ws.malformed || _ws.short || ip.checksum.status != 1 || \
                      tcp.checksum.status == 0 || (tcp.len == 0 && tcp.checksum.status != 1)";
    assert_eq!(tshark(&file, faults, &["frame.number"]), [""; 0]);

    let handshake = tshark(
        &file,
        "tcp.flags.syn == 1",
        &["tcp.flags.ack", "tcp.options.mss_val", "tcp.options.sack_perm", "tcp.options.wscale"],
    );
    assert_eq!(handshake.len(), 2, "{handshake:?}");
    for (packet, ack) in handshake.iter().zip(["0", "1"]) {
        let fields: Vec<&str> = packet.split('\t').collect();
        assert_eq!(fields[..2], [ack, "960"], "{packet}");
        assert!(fields[2..].iter().all(|field| !field.is_empty()), "{packet}");
    }

    // Segments of 960 octets follow each other from the initial number.
    let first = tshark(&file, "tcp.len > 0 && frame.number < 20", &["tcp.seq", "tcp.len"]);
    for (i, segment) in first.iter().enumerate() {
        assert_eq!(*segment, format!("{}\t960", 1 + 960 * i));
    }
    let blocks = tshark(&file, "tcp.options.sack", &["tcp.ack", "tcp.options.sack_le"]);
    assert!(blocks.len() > 100, "{} acknowledgements with SACK blocks", blocks.len());
    for fields in blocks {
        let (ack, left) = fields.split_once('\t').expect("two fields");
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let aligned = |n: u64| n % 960 == 1;
        assert!(aligned(number(ack)) && left.split(',').map(number).all(aligned), "{fields}");
    }
    assert!(!tshark(&file, "tcp.options.sack.dsack", &["frame.number"]).is_empty(), "has DSACKs");
}

#[test]
fn flags_without_effect_or_value_are_refused_by_their_names() {
    let folder = folder();
    for (arguments, expected) in [
        (&["compare", "--duration", ""][..], "--duration: duration: expected a value"),
        (&["compare", "--all", "--pcap", "x"], "the argument '--all' cannot be used with '--pcap"),
        (
            &["compare", "--all", "rr-3"],
            "the argument '--all' cannot be used with '[SCENARIO]': expected only one of them\n",
        ),
        (&["compare", "--random", "2", "--thresholds", "x"], "the argument '--random <N>' cannot"),
    ] {
        let line = refusal(&folder, arguments);
        assert!(line.starts_with(&format!("unruffled: {expected}")), "{line}");
    }
    assert_eq!(files(&folder), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let folder = folder();
    let short = ["compare", "--duration", "2 s", "--seeds", "1", "--variants", "sack"];
    let pcap = [&short[..], &["--no-report", "--pcap", "/dev/full"]].concat();
    assert!(
        refusal(&folder, &pcap).starts_with("unruffled: /dev/full: cannot be written: No space")
    );
    for flag in ["--report", "--thresholds"] {
        let more = if flag == "--report" { &[][..] } else { &["--no-report"] };
        let mut output = unruffled(&folder, &[&short[..], more, &[flag, "/dev/full"]].concat());
        let output = output.assert().code(2).get_output().clone();
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(line.starts_with("unruffled: /dev/full: cannot be written: No space"), "{line}");
        assert!(!output.stdout.is_empty(), "{flag}: results are shown");
    }
}

/// Returns the scenario in a report.
fn reported(page: &str) -> String {
    let (_, rest) = page.split_once("<pre").expect("holds a scenario");
    let (_, rest) = rest.split_once('>').expect("the tag ends");
    let (text, _) = rest.split_once("</pre>").expect("ends");
    let marks = [("&quot;", "\""), ("&#x27;", "'"), ("&#x2f;", "/"), ("&lt;", "<"), ("&gt;", ">")];
    let text = marks.iter().fold(text.to_owned(), |text, (mark, to)| text.replace(mark, to));
    text.replace("&amp;", "&")
}

#[test]
fn the_scenario_in_a_report_gives_the_same_rows() {
    let folder = folder();
    let flags = ["--duration", "20 s", "--seeds", "2", "--variants", "sack,rr-ta"];
    let set = ["--set", "delayed.fraction=30%", "--set", "variant.rr-ta.history=20s"];
    let first = [&["compare", "rr-3", "--csv", "--report", "r.html"][..], &flags, &set].concat();
    let rows = prints(&folder, &first);
    let page = fs::read_to_string(folder.path().join("r.html")).expect("was written");
    assert!(page.contains("<code>unruffled compare scenario.toml</code>"));
    write(&folder, "scenario.toml", reported(&page));
    assert_eq!(prints(&folder, &["compare", "scenario.toml", "--csv", "--no-report"]), rows);
}

#[test]
fn the_file_of_standard_output_is_refused_as_an_output() {
    let folder = folder();
    for flag in ["--report", "--pcap"] {
        let both = fs::File::create(folder.path().join("both")).expect("can be written");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_unruffled"))
            .args(["compare", "--duration", "1 s", "--seeds", "1", flag, "both"])
            .current_dir(folder.path())
            .stdout(both)
            .output()
            .expect("runs");
        assert_eq!(output.status.code(), Some(2), "{flag}");
        let line = String::from_utf8(output.stderr).expect("prints UTF-8");
        let expected =
            "unruffled: both: cannot be written: standard output has the results: expected";
        assert!(line.starts_with(expected), "{line}");
    }
}
