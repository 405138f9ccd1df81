//! `unruffled reproduce` and `unruffled store` from outside.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{files, prints, refusal, unruffled, write};

/// An experiment with enough runs that a kill interrupts it: 3 points, 2 lines, 4 seeds.
const EXPERIMENT: &str = r#"
id = "mine-1"
paper = "mine"
figure = "Figure 1"
title = "Goodput against the share of packets late"
seeds = { full = 4, quick = 2 }
x = { label = "late (%)", values = [1, 5, 20], quick = [5] }
set = { "link.l.delayed.fraction" = "${x} %" }
quick-set = { duration = "5 s" }

[scenario]
duration = "400 s"
path.hops = ["l"]
link.l.rate = "8 Mbit/s"
link.l.delay = "20 ms"
link.l.queue = 100
link.l.delayed.mean = "25 ms"
link.l.delayed.deviation = "8 ms"

[[line]]
name = "SACK"
variant = "sack"

[[line]]
name = "RR-TCP"
variant = "rr-ta"

[[measure]]
name = "goodput_mbps"
value = "goodput() / 1e6"

[[claim]]
text = "RR-TCP is above SACK"
check = "above(goodput_mbps('RR-TCP'), goodput_mbps('SACK'))"

[[claim]]
text = "SACK is above RR-TCP"
check = "above(goodput_mbps('SACK'), goodput_mbps('RR-TCP'))"
"#;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    write(&folder, "mine.toml", EXPERIMENT);
    folder
}

const QUICK_REPRODUCTION: [&str; 4] = ["reproduce", "mine.toml", "--quick", "--no-report"];

fn quick(folder: &TempDir, more: &[&str]) -> String {
    prints(folder, &[&QUICK_REPRODUCTION[..], more].concat())
}

/// Starts the full run as a process that can be killed.
fn start(folder: &TempDir, store: &str, report: &str) -> std::process::Child {
    std::process::Command::new(assert_cmd::cargo::cargo_bin("unruffled"))
        .current_dir(folder)
        .args(["reproduce", "mine.toml", "--json", "--store", store, "--report", report])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts")
}

/// Returns the number of runs in the store, or 0 if it does not exist.
fn held(folder: &TempDir, store: &str) -> usize {
    let output = unruffled(folder, &["store", "--store", store]).output().expect("runs");
    let text = String::from_utf8(output.stdout).expect("prints UTF-8");
    let last = text.lines().last().and_then(|line| line.strip_suffix(" runs"));
    last.and_then(|n| n.parse().ok()).unwrap_or(0)
}

#[test]
fn a_killed_run_that_is_started_again_gives_the_same_bytes() {
    let folder = folder();
    let undisturbed = start(&folder, "one.sqlite", "one.html").wait_with_output().expect("ends");
    assert!(undisturbed.status.success());

    let mut killed = start(&folder, "two.sqlite", "two.html");
    let began = Instant::now();
    while held(&folder, "two.sqlite") < 5 && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    killed.kill().expect("is there to kill");
    killed.wait().expect("ends");
    let done = held(&folder, "two.sqlite");
    assert!((5..24).contains(&done), "{done} of 24 runs were done");
    assert!(!folder.path().join("two.html").exists(), "it was killed before its end");

    let again = start(&folder, "two.sqlite", "two.html").wait_with_output().expect("ends");
    assert!(again.status.success());
    assert!(again.stdout == undisturbed.stdout, "the numbers are the same to the bit");
    let read = |name: &str| fs::read(folder.path().join(name)).expect("was written");
    assert!(read("two.html") == read("one.html"));
    assert_eq!(held(&folder, "two.sqlite"), 24);
}

#[test]
fn two_processes_share_a_store() {
    let folder = folder();
    let both = [start(&folder, "s.sqlite", "a.html"), start(&folder, "s.sqlite", "b.html")];
    let both = both.map(|child| child.wait_with_output().expect("ends"));
    both.iter().for_each(|output| assert!(output.status.success(), "{output:?}"));
    assert!(both[0].stdout == both[1].stdout);
    assert_eq!(held(&folder, "s.sqlite"), 24, "each run is there once");
    let alone = start(&folder, "alone.sqlite", "c.html").wait_with_output().expect("ends");
    assert!(alone.stdout == both[0].stdout);
}

#[test]
fn json_is_one_object_with_rows_and_claims() {
    let folder = folder();
    let text = quick(&folder, &["--json"]);
    let document: Value = serde_json::from_str(&text).expect("is JSON and nothing else");
    let rows = document["rows"].as_array().expect("has rows");
    assert_eq!(rows.len(), 2);
    for field in ["id", "x", "line", "variant", "metric", "mean", "sd", "seeds"] {
        assert!(!rows[0][field].is_null(), "{field} in {}", rows[0]);
    }
    assert_eq!((&rows[1]["variant"], &rows[1]["seeds"]), (&"rr-ta".into(), &2.into()));
    let claims = document["claims"].as_array().expect("has claims");
    assert_eq!(claims.len(), 2);
    for field in ["id", "claim", "expected", "measured"] {
        assert!(claims[0][field].is_string(), "{field} in {}", claims[0]);
    }
    assert_eq!(claims[1]["holds"], false);
    assert_eq!(files(&folder), ["cache", "mine.toml"], "results are kept in the cache folder");
    assert_eq!(quick(&folder, &["--json", "--no-store", "--jobs", "1"]), text);
}

#[test]
fn a_claim_that_fails_is_shown_and_is_no_error() {
    let folder = folder();
    let text = quick(&folder, &[]);
    assert!(text.contains("\nmine-1: SACK is above RR-TCP\n  expected: "), "{text}");
    assert!(text.contains(" claims hold, "), "{text}");
    assert!(!text.contains('\u{1b}'), "colour is for terminals");
}

#[test]
fn report_figures_and_markdown_are_written_to_the_given_files() {
    let folder = folder();
    let more = ["--quick", "--figures", "f", "--markdown", "docs.md"];
    prints(&folder, &[&["reproduce", "mine.toml"][..], &more].concat());
    let expected = ["cache", "docs", "docs.md", "f", "mine.toml", "unruffled-reproduction.html"];
    assert_eq!(files(&folder), expected);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("was written");
    assert!(read("docs.md").contains("](docs/mine-1.svg)"));
    assert_eq!(read("docs/mine-1.svg"), read("f/mine-1.svg"));
    assert!(read("unruffled-reproduction.html").starts_with("<!doctype"));
}

#[test]
fn a_claim_that_no_longer_holds_fails_the_check() {
    let folder = folder();
    quick(&folder, &["--write-check", "holds.txt"]);
    let list = fs::read_to_string(folder.path().join("holds.txt")).expect("was written");
    assert!(!list.contains("SACK is above RR-TCP"), "{list}");
    quick(&folder, &["--check", "holds.txt"]);

    write(&folder, "more.txt", format!("# what held\n{list}mine-1: SACK is above RR-TCP\n"));
    let failed = |check: &str| {
        let all = [&QUICK_REPRODUCTION[..], &["--check", check]].concat();
        let output = unruffled(&folder, &all).output().expect("runs");
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).expect("prints UTF-8")
    };
    let message = failed("more.txt");
    assert!(message.contains("no longer holds: mine-1: SACK is above RR-TCP ("), "{message}");
    write(&folder, "gone.txt", "mine-1: It flies\nother-1: It swims\n");
    let message = failed("gone.txt");
    assert!(
        message.contains("mine-1: It flies (no such claim)") && !message.contains("swims"),
        "{message}"
    );
}

#[test]
fn the_store_is_shown_exported_and_pruned() {
    let folder = folder();
    quick(&folder, &[]);
    let shown = prints(&folder, &["store"]);
    assert!(
        shown.contains("runs.sqlite\n") && shown.contains("mine-1            4 runs"),
        "{shown}"
    );
    assert_eq!(prints(&folder, &["store", "show"]), shown);
    prints(&folder, &["store", "export", "runs.csv"]);
    let csv = fs::read_to_string(folder.path().join("runs.csv")).expect("was written");
    assert_eq!(csv.lines().count(), 1 + 4, "{csv}");
    assert_eq!(prints(&folder, &["store", "export", "-"]), csv);
    if cfg!(target_os = "linux") {
        let line = refusal(&folder, &["store", "export", "/dev/full"]);
        assert!(line.starts_with("unruffled: /dev/full: cannot be written: No space"), "{line}");
    }
    assert_eq!(files(&folder), ["cache", "mine.toml", "runs.csv"]);
    assert!(prints(&folder, &["store", "prune"]).ends_with(": 0 runs removed\n"));
    assert!(prints(&folder, &["store", "prune", "--older", "1"]).ends_with(": 0 runs removed\n"));
    assert!(prints(&folder, &["store", "prune", "--all"]).ends_with(": 4 runs removed\n"));
    assert!(prints(&folder, &["store"]).ends_with("\n0 runs\n"));
}

#[test]
fn a_store_of_any_name_is_a_file() {
    let folder = folder();
    for name in [":memory:", "file:s?mode=memory"] {
        quick(&folder, &["--store", name]);
        assert!(files(&folder).contains(&name.to_owned()), "{name}");
        assert_eq!(held(&folder, name), 4, "{name}");
    }
}

#[test]
fn deeply_nested_lists_do_not_crash_the_program() {
    let folder = folder();
    let deep = "let a = []; for i in 0..2500 { a = [a]; } ";
    for (name, rest) in [
        ("text", "a.to_string().len()"),
        ("debug", "a.to_debug().len()"),
        ("print", "print(a); 1"),
        ("within", "`${a}`.len()"),
        ("same", "if a == a { 1 } else { 2 }"),
    ] {
        let line = format!("[[line]]\nname = \"deep\"\nformula = \"{deep}{rest}\"\n\n[[measure]]");
        write(&folder, "deep.toml", EXPERIMENT.replace("[[measure]]", &line));
        let mut command = unruffled(&folder, &["reproduce", "deep.toml", "--quick", "--no-report"]);
        let output = command.output().expect("runs");
        assert!(output.status.success(), "{name}: {output:?}");
    }
}

#[test]
fn the_built_in_ones_are_listed_by_paper() {
    let folder = folder();
    let list = prints(&folder, &["reproduce", "--list"]);
    for id in ["rr-3", "rr-4", "dcr-4"] {
        assert!(list.lines().any(|line| line.split(' ').next() == Some(id)), "{id}:\n{list}");
    }
    let list = prints(&folder, &["reproduce", "--list", "--paper", "tcp-dcr"]);
    assert!(list.contains("dcr-4") && !list.contains("rr-3"), "{list}");
}

#[test]
fn wrong_flags_and_files_are_refused_with_what_was_expected() {
    let folder = folder();
    write(&folder, "wrong.toml", EXPERIMENT.replace("8 Mbit/s", "8 parsecs"));
    write(&folder, "misspelt.toml", EXPERIMENT.replace("goodput()", "godput()"));
    write(&folder, "text.sqlite", "no store\n".repeat(200));
    write(&folder, "empty", "");
    write(&folder, "claims.txt", "# held\nmine-1: It flies\ngarbage\n");
    for (arguments, expected) in [
        (
            &["reproduce", "rr-99"][..],
            "rr-99: no such experiment: expected an id (see unruffled rep",
        ),
        (&["reproduce", "wrong.toml"], "wrong.toml:14: scenario.link.l.rate: expected a rate such"),
        (&["reproduce", "misspelt.toml", "--quick"], "misspelt.toml:30: measure 1.value: no func"),
        (
            &["reproduce", "mine.toml", "mine.toml"],
            "experiments: mine-1 stands twice: expected each",
        ),
        (&["reproduce", "--paper", "mine"], "--paper: mine: no such paper: expected one of rr-tcp"),
        (
            &["reproduce", "rr-3", "--paper", "avg-dev"],
            "--paper: avg-dev: not what these experiments are of: expected rr-tcp\n",
        ),
        (
            &["reproduce", "--list", "--write-check", "a"],
            "the argument '--list' cannot be used with",
        ),
        (
            &["reproduce", "--list", "--no-store"],
            "the argument '--list' cannot be used with '--no-store': expected only one of them",
        ),
        (&["reproduce", "--list", "--jobs", "2"], "the argument '--list' cannot be used with '--j"),
        (&["reproduce", "--jobs", "0"], "invalid value '0' for '--jobs <N>'"),
        (&["reproduce", "--store", "a", "--no-store"], "the argument '--store <FILE>' cannot be"),
        (&["reproduce", "mine.toml", "--store", "text.sqlite"], "text.sqlite: not a store of runs"),
        (&["reproduce", "mine.toml", "--store", "."], ".: cannot be opened: expected a file"),
        (&["reproduce", "mine.toml", "--store", "mine.toml/x"], "mine.toml/x: cannot be written: "),
        (&["reproduce", "mine.toml", "--report", "nowhere/a.html"], "nowhere/a.html: cannot be wr"),
        (&["reproduce", "mine.toml", "--report", "mine.toml"], "mine.toml: would replace the "),
        (&["reproduce", "mine.toml", "--check", "nowhere.txt"], "nowhere.txt: cannot be read: "),
        (
            &["reproduce", "mine.toml", "--check", "claims.txt"],
            "claims.txt:3: garbage: expected ID",
        ),
        (&["reproduce", "mine.toml", "--store", "no/x"], "no/x: cannot be written: No such file"),
        (
            &["reproduce", "mine.toml", "--store", "/dev/null"],
            "/dev/null: not a store of runs: exp",
        ),
        (&["store", "--store", "/dev/null"], "/dev/null: not a store of runs: expected another"),
        (&["store", "--store", "empty", "prune"], "empty: not a store of runs: expected another f"),
        (&["store", "--store", "nowhere.sqlite"], "nowhere.sqlite: no such store: expected a file"),
        (
            &["store", "--store", "text.sqlite"],
            "text.sqlite: not a store of runs: expected another",
        ),
        (&["store", "--store", "."], ".: cannot be opened: expected a file to write"),
        (&["store", "export", "a.csv", "--store", "."], ".: cannot be opened: expected a file"),
        (&["store", "prune", "--all", "--older", "3"], "the argument '--all' cannot be used with"),
    ] {
        let line = refusal(&folder, arguments);
        assert!(line.starts_with(&format!("unruffled: {expected}")), "{line}");
    }
    assert!(!folder.path().join("no").exists(), "no folder is made for a misspelt store");
}

#[test]
fn without_a_cache_folder_results_are_not_kept() {
    let folder = folder();
    write(&folder, "cache", "a file where the folder should be");
    let output = unruffled(&folder, &QUICK_REPRODUCTION).output().expect("runs");
    assert!(output.status.success());
    let message = String::from_utf8(output.stderr).expect("prints UTF-8");
    assert_eq!(message.matches('\n').count(), 1, "{message}");
    assert!(message.contains("results are not kept (see --store)"), "{message}");
}

#[test]
fn unusable_files_are_refused_before_the_work() {
    let folder = folder();
    write(&folder, "file", "");
    write(&folder, "empty.toml", "");
    for (arguments, expected) in [
        (
            &["mine.toml", "--figures", "file"][..],
            "file: cannot be written: expected a folder, found a file\n",
        ),
        (
            &["mine.toml", "--markdown", "file.md"],
            "file: cannot be written: expected a folder, found a file\n",
        ),
        (
            &["mine.toml", "--report", "."],
            ".: cannot be written: expected a file, found a folder\n",
        ),
        (&["mine.toml", "--figures", "a", "--report", "a"], "a: would replace the report: "),
        (&["mine.toml", "--markdown", "all"], "all: would replace the Markdown: expected another"),
        (&["mine.toml", "--check", "no"], "no: cannot be read: expected a list of claims ("),
        (&["empty.toml"], "empty.toml:1: id: missing: expected a value"),
    ] {
        let line = refusal(&folder, &[&["reproduce"], arguments].concat());
        assert!(line.starts_with(&format!("unruffled: {expected}")), "{line}");
    }
    assert_eq!(files(&folder), ["empty.toml", "file", "mine.toml"]);
}

#[test]
fn no_output_replaces_the_store_or_the_list() {
    let folder = folder();
    fs::create_dir(folder.path().join("f")).expect("can be made");
    quick(&folder, &["--write-check", "list", "--store", "f/mine-1.svg"]);
    fs::copy(folder.path().join("f/mine-1.svg"), folder.path().join("s")).expect("is there");
    let was = ["s", "list", "f/mine-1.svg"].map(|name| (name, fs::read(folder.path().join(name))));
    let store = ["--store", "s"];
    let list = ["--check", "list", "--no-store"];
    for (kept, outputs, expected) in [
        (&store[..], &["--report", "./s"][..], "./s: would replace the store: expected another f"),
        (&store, &["--no-report", "--markdown", "s"], "s: would replace the store: "),
        (&store, &["--no-report", "--write-check", "s"], "s: would replace the store: "),
        (&store, &["--no-report", "--figures", "s"], "s: would replace the store: "),
        (&store, &["--no-report", "--markdown", "s.md"], "s: would replace the store: "),
        (
            &["--store", "f/mine-1.svg"],
            &["--no-report", "--figures", "f"],
            "f/mine-1.svg: would replace the store: ",
        ),
        (&["--store", "new"], &["--report", "new"], "new: would replace the store: "),
        (&[], &["--report", "cache/unruffled/runs.sqlite"], "cache/unruffled/runs.sqlite: would "),
        (&list, &["--report", "list"], "list: would replace the list to check: expected another"),
        (&list, &["--no-report", "--write-check", "list"], "list: would replace the list to che"),
        (&list, &["--report", "mine.toml"], "mine.toml: would replace the experiment: expected"),
    ] {
        if kept.is_empty() {
            quick(&folder, &[]);
        }
        let line = refusal(&folder, &[&QUICK_REPRODUCTION[..3], kept, outputs].concat());
        assert!(line.starts_with(&format!("unruffled: {expected}")), "{line}");
    }
    for (name, was) in was {
        let now = fs::read(folder.path().join(name)).expect("is there");
        assert!(now == was.expect("was there"), "{name} is unchanged");
    }
    let line = refusal(&folder, &["store", "export", "./s", "--store", "s"]);
    assert!(line.starts_with("unruffled: ./s: would replace the store: "), "{line}");
    assert_eq!(files(&folder), ["cache", "f", "list", "mine.toml", "s"]);
}

#[cfg(unix)]
#[test]
fn an_unusable_default_store_is_no_error() {
    let folder = folder();
    // A folder in place of the file; root cannot open it either.
    fs::create_dir_all(folder.path().join("cache/unruffled/runs.sqlite")).expect("is ours");
    let short = ["reproduce", "mine.toml", "--quick", "--no-report"];
    let output = unruffled(&folder, &short).assert().success().get_output().clone();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains("runs.sqlite: ") && message.contains("results are not kept"),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn an_unwritable_file_does_not_prevent_the_others() {
    let folder = folder();
    let arguments =
        ["reproduce", "mine.toml", "--quick", "--no-store", "--report", "/dev/full", "--figures"];
    let more = ["figures", "--markdown", "mine.md", "--write-check", "list"];
    let output = unruffled(&folder, &[&arguments[..], &more].concat()).output().expect("runs");
    let line = String::from_utf8(output.stderr).expect("prints UTF-8");
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(line.contains("unruffled: /dev/full: cannot be written: No space"), "{line}");
    for name in ["figures/mine-1.svg", "mine.md", "list"] {
        assert!(folder.path().join(name).is_file(), "{name}");
    }
}
