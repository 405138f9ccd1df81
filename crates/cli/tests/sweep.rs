//! `unruffled sweep` as people and programs meet it.

mod command;

use command::{files, prints, refusal, unruffled, write};

const GRID: &str = r#"
scenario = "rr-3"
variants = ["sack", "rack"]
seeds = 2
duration = "1 s"

[grid]
delayed.fraction = ["1 %", "10 %"]
tcp.window = { from = 20, to = 50, step = 10 }
"#;

#[test]
fn a_grid_is_run_and_its_rows_are_the_same_from_the_store() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    write(&folder, "grid.toml", GRID);
    let sweep = ["sweep", "grid.toml", "--csv", "--store", "runs.sqlite"];
    let first = prints(&folder, &sweep);
    let lines: Vec<&str> = first.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 4 * 2 * 2);
    assert!(lines[0].starts_with("point,delayed.fraction,tcp.window,scenario,variant,seed,"));
    assert!(lines[1].starts_with("0,0.01,20.0,rr-3,sack,1,"), "{}", lines[1]);
    assert_eq!(prints(&folder, &sweep), first);
    assert_eq!(
        prints(&folder, &["sweep", "grid.toml", "--csv", "--no-store", "--jobs", "1"]),
        first
    );
    let table = prints(&folder, &["sweep", "grid.toml", "--store", "runs.sqlite"]);
    assert!(table.starts_with("rr-3: 8 points, 32 runs\n"), "{table}");
}

#[test]
fn what_is_wrong_with_a_grid_is_one_line() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    write(&folder, "grid.toml", GRID.replace("step = 10", "count = 0"));
    let line = refusal(&folder, &["sweep", "grid.toml", "--no-store"]);
    let wanted = "unruffled: grid.toml:9: grid.tcp.window: count: expected a whole number from 1";
    assert!(line.starts_with(wanted), "{line}");
    let line = refusal(&folder, &["sweep", "nowhere.toml", "--no-store"]);
    assert!(line.starts_with("unruffled: nowhere.toml: cannot be read"), "{line}");
    assert_eq!(files(&folder), ["grid.toml"], "nothing is left behind");
}

#[test]
fn a_latin_hypercube_without_python_is_refused_with_what_was_expected() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let sample = "[sample]\nmethod = 'latin'\npoints = 2\n[sample.keys]\ntcp.mss = [500, 600]\n";
    write(&folder, "grid.toml", format!("scenario = 'rr-3'\n{sample}"));
    let mut sweep = unruffled(&folder, &["sweep", "grid.toml", "--no-store"]);
    let output = sweep.env("UNRUFFLED_PYTHON", "./nowhere").output().expect("runs");
    assert_eq!(output.status.code(), Some(2));
    let line = String::from_utf8(output.stderr).expect("prints UTF-8");
    assert!(
        line.starts_with("unruffled: grid.toml: sample.method: latin is drawn by SciPy: Python")
    );
    let wanted = ": expected python3 with scipy, or UNRUFFLED_PYTHON that names one\n";
    assert!(line.ends_with(wanted), "{line}");
}
