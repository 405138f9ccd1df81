//! `unruffled sweep` from outside.

use crate::command::{files, prints, refusal, unruffled, write};

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
fn an_invalid_grid_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    write(&folder, "grid.toml", GRID.replace("step = 10", "count = 0"));
    let line = refusal(&folder, &["sweep", "grid.toml", "--no-store"]);
    let expected = "unruffled: grid.toml:9: grid.tcp.window: count: expected a whole number from 1";
    assert!(line.starts_with(expected), "{line}");
    let line = refusal(&folder, &["sweep", "nowhere.toml", "--no-store"]);
    assert_eq!(line, "unruffled: nowhere.toml: no such file\n");
    assert_eq!(files(&folder), ["grid.toml"], "nothing is left behind");
}

/// A crate's archive has no files of other folders.
#[test]
fn the_script_of_latin_hypercubes_is_that_of_the_python_package() {
    let ours = include_str!("../../src/sweep/latin.py");
    assert_eq!(ours, include_str!("../../../../python/unruffled/_latin.py"));
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
    let expected = ": expected python3 with scipy, or UNRUFFLED_PYTHON that names one\n";
    assert!(line.ends_with(expected), "{line}");
}

#[test]
fn flags_replace_keys_of_the_file_and_print_that() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    write(&folder, "grid.toml", GRID);
    let flags = ["--variants", "rack,unruffled", "--seeds", "1", "--duration", "2 s"];
    let sweep = [&["sweep", "grid.toml", "--no-store", "--csv"][..], &flags].concat();
    let output = unruffled(&folder, &sweep).assert().success().get_output().clone();
    let rows = String::from_utf8(output.stdout).expect("prints UTF-8");
    assert_eq!(rows.lines().count(), 1 + 8 * 2);
    assert!(
        rows.lines()
            .skip(1)
            .all(|line| line.contains(",rack,1,2.0,") || line.contains(",unruffled,1,2.0,"))
    );
    let message = String::from_utf8(output.stderr).expect("prints UTF-8");
    for expected in [
        "grid.toml: variants: --variants rack,unruffled in place of [\"sack\", \"rack\"]\n",
        "grid.toml: seeds: --seeds 1 in place of 2\n",
        "grid.toml: duration: --duration 2 s in place of \"1 s\"\n",
    ] {
        assert!(message.contains(expected), "{message}");
    }
    for (arguments, expected) in [
        (&["--variants", "sack,cubic"][..], "--variants: cubic: no such variant: "),
        (&["--variants", "sack,sack"], "--variants: sack stands twice: "),
        (&["--seeds", "0"], "--seeds: seeds: expected a whole number from 1"),
        (&["--duration", "-1 s"], "--duration: duration: expected a time such as"),
        (&["--seeds", "2", "--set", "seeds=3"], "--set: seeds: expected this or --seeds, not both"),
        (&["--report", "grid.toml"], "grid.toml: would replace the grid: expected another file"),
    ] {
        let line =
            refusal(&folder, &[&["sweep", "grid.toml", "--no-store"][..], arguments].concat());
        assert!(line.starts_with(&format!("unruffled: {expected}")), "{line}");
    }
    write(&folder, "swept.toml", "scenario = 'rr-3'\n[grid]\nduration = ['1 s', '2 s']\n");
    let line = refusal(&folder, &["sweep", "swept.toml", "--no-store", "--duration", "3 s"]);
    let expected =
        "unruffled: --duration: duration: expected a key that is not swept, as grid.duration is in";
    assert!(line.starts_with(expected), "{line}");
}

#[test]
fn a_sweep_writes_a_report_only_on_request() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    write(&folder, "grid.toml", GRID);
    prints(&folder, &["sweep", "grid.toml", "--no-store"]);
    assert_eq!(files(&folder), ["grid.toml"]);
    prints(&folder, &["sweep", "grid.toml", "--no-store", "--report", "r.html"]);
    let page = std::fs::read_to_string(folder.path().join("r.html")).expect("was written");
    assert!(page.contains("<h2>By delayed.fraction</h2>") && page.contains("8 points, 32 runs"));
}

#[test]
fn values_of_keys_in_rows_can_be_set() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let grid = "scenario = 'in-order'\nvariants = ['rack']\nseeds = 1\nduration = '1 s'\n[grid]\n\
                bottleneck.rate = ['1 Mbit/s', '8M']\nbottleneck.delay = ['5 msec']\n\
                bottleneck.queue = [20, 30]\nmss = ['1 kB']\nvariant.rack.max_cwnd = []\n";
    let grid = grid.replace("variant.rack.max_cwnd = []\n", "");
    write(&folder, "grid.toml", grid);
    let rows = prints(&folder, &["sweep", "grid.toml", "--no-store", "--csv"]);
    let mut lines = rows.lines();
    let heads: Vec<&str> = lines.next().expect("has heads").split(',').collect();
    let keys = &heads[1..5];
    for row in lines {
        let cells: Vec<&str> = row.split(',').collect();
        let sets: Vec<String> =
            keys.iter().zip(&cells[1..5]).map(|(key, value)| format!("{key}={value}")).collect();
        let mut compare = vec!["compare", "in-order", "--no-report", "--csv", "--seeds", "1"];
        compare.extend(["--variants", "rack", "--duration", "1.0"]);
        compare.extend(sets.iter().flat_map(|set| ["--set", set.as_str()]));
        let same = prints(&folder, &compare);
        assert_eq!(same.lines().nth(1).map(str::to_owned), Some(cells[5..].join(",")), "{sets:?}");
    }
}

/// Returns the commands that the report of a sweep shows, with the numbers of their points.
fn commands(page: &str) -> Vec<(usize, String)> {
    let parts = page.split("class=\"point\" id=\"point-").skip(1);
    let command = |part: &str| {
        let point = part.split('"').next()?.parse().ok()?;
        let command =
            part.split("<pre class=\"command\" tabindex=\"0\">").nth(1)?.split("</pre>").next()?;
        let marks = [("&#x27;", "'"), ("&quot;", "\""), ("&#x2f;", "/"), ("&amp;", "&")];
        let plain =
            marks.iter().fold(command.to_owned(), |text, (from, to)| text.replace(from, to));
        Some((point, plain))
    };
    parts.map(|part| command(part).expect("has a number and a command")).collect()
}

/// Returns the rows of CSV, from the column `scenario` on.
fn rows(csv: &str) -> Vec<String> {
    let at = csv.lines().next().and_then(|heads| heads.split(',').position(|h| h == "scenario"));
    let at = at.expect("has the column");
    csv.lines()
        .skip(1)
        .map(|line| line.splitn(at + 1, ',').nth(at).expect("is wide").to_owned())
        .collect()
}

#[test]
fn the_command_of_a_point_gives_the_rows_of_the_point_again() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    std::fs::create_dir(folder.path().join("my paths")).expect("a folder");
    let path = prints(&folder, &["scenarios", "--show", "rr-3"]);
    write(&folder, "my paths/mine.toml", path);
    write(&folder, "my paths/grid.toml", GRID.replace("\"rr-3\"", "\"mine.toml\""));
    write(&folder, "grid.toml", GRID);
    for (grid, begins) in [
        ("grid.toml", "unruffled compare rr-3 --variants "),
        ("my paths/grid.toml", "unruffled compare 'my paths/mine.toml' --variants "),
    ] {
        let sweep = ["sweep", grid, "--no-store", "--csv", "--seeds", "1", "--report", "r.html"];
        let all = prints(&folder, &sweep);
        let page = std::fs::read_to_string(folder.path().join("r.html")).expect("was written");
        let commands = commands(&page);
        assert!(!commands.is_empty());
        for (point, command) in commands {
            assert!(command.starts_with(begins), "{command}");
            let program = env!("CARGO_BIN_EXE_unruffled");
            let command = command.replacen("unruffled", &format!("'{program}'"), 1);
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &format!("{command} --csv --no-report")]).current_dir(&folder);
            let output = shell.output().expect("runs");
            assert!(output.status.success(), "{command}: {output:?}");
            let again = rows(std::str::from_utf8(&output.stdout).expect("is text"));
            let expected: Vec<&str> =
                all.lines().filter(|line| line.starts_with(&format!("{point},"))).collect();
            let heads = all.lines().next().expect("has heads");
            assert_eq!(again, rows(&[&[heads], &expected[..]].concat().join("\n")), "{command}");
            assert_eq!(again.len(), 2, "two senders, one seed");
        }
    }
}
