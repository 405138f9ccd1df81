//! Rates and delays that change during a run.

use unruffled_path::Varying;

use super::*;

const CHAIN: &str = "duration = \"10 s\"\nvariants = [\"sack\"]\npath.hops = [\"a\"]\n";

fn read(link: &str) -> Result<Scenario, String> {
    let text = format!("{CHAIN}[link.a]\n{link}");
    let scenario = Scenario::parse("my.toml", &text, &[]).map_err(|e| e.to_string())?;
    let again = Scenario::parse("my.toml", &scenario.toml, &[]).expect("its own TOML");
    assert_eq!(scenario.hops, again.hops);
    Ok(scenario)
}

fn rejected(link: &str, expected: &str) {
    let error = read(link).expect_err("is wrong");
    assert!(error.contains(expected) && !error.contains('\n'), "{error}");
}

/// A second of 3 opportunities is 36 kbit/s.
#[test]
fn a_rate_is_read_from_a_trace_and_its_instants_become_part_of_the_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("my.toml");
    std::fs::write(folder.path().join("lte.down"), "0\n\n500\n1000\n").expect("is written");
    let text = format!("{CHAIN}[link.a]\nrate.trace = \"lte.down\"\ndelay = \"20 ms\"");
    let path = file.display().to_string();
    let scenario = Scenario::parse(&path, &text, &[]).expect("beside the scenario's file");
    let link = &scenario.hops[0].link;
    let Some(Varying::Trace(trace)) = &link.varying else { panic!("{link:?}") };
    assert_eq!(trace.instants_ms(), [0, 500, 1000]);
    assert_eq!(link.rate.map(|rate| rate.bps()), Some(36_000.0));
    let words = &scenario.path_in_words()[0].1;
    assert_eq!(words, "a rate as recorded, 0.036 Mbit/s on average over 1 s, 20 ms");
    std::fs::remove_file(folder.path().join("lte.down")).expect("is there");
    assert_eq!(
        Scenario::parse("again", &scenario.toml, &[]).expect("is whole").hops,
        scenario.hops
    );

    let missing = Scenario::parse(&path, &text, &[]).expect_err("no file").to_string();
    assert!(missing.contains("my.toml:5: link.a.rate.trace: "), "{missing}");
    assert!(missing.contains("lte.down: cannot be read: No such file"), "{missing}");
}

#[test]
fn a_trace_takes_the_place_of_a_rate_and_the_other_way_round() {
    let set = |keys: &[&str]| {
        let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
        Scenario::load("half-late", &keys).expect("good overrides").hops[0].link.clone()
    };
    let traced = set(&["bottleneck.rate.trace=[0, 12]"]);
    assert_eq!(traced.rate.map(|rate| rate.bps()), Some(2e6));
    assert!(traced.varying.is_some());
    let constant = set(&["bottleneck.rate.trace=[0, 12]", "bottleneck.rate=3 Mbit/s"]);
    assert_eq!((constant.rate.map(|rate| rate.bps()), constant.varying), (Some(3e6), None));
}

#[test]
fn rate_and_delay_change_by_a_table() {
    let table = "changes.at = [\"0 s\", \"15 s\"]\nchanges.rate = [\"50 Mbit/s\", \"0\"]\n\
                 changes.delay = [\"20 ms\", \"30 ms\"]\nchanges.every = \"20 s\"";
    let scenario = read(table).expect("is valid");
    let link = &scenario.hops[0].link;
    let Some(Varying::Table(changes)) = &link.varying else { panic!("{link:?}") };
    assert_eq!(changes.rows()[1].rate, None);
    assert_eq!(link.rate.map(|rate| rate.bps()), Some(37.5e6), "the mean");
    assert_eq!(link.delay, Duration::from_millis(20), "the smallest");
    let words = &scenario.path_in_words()[0].1;
    assert_eq!(words, "rate and delay from a table of 2 rows, again every 20 s");

    let only_delay = "rate = \"8 Mbit/s\"\nchanges.at = [\"0 s\", \"1 s\"]\nchanges.delay = [\"9 ms\", \"4 ms\"]";
    assert_eq!(read(only_delay).expect("is valid").hops[0].link.rate.map(|r| r.bps()), Some(8e6));
}

#[test]
fn a_table_may_be_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = "# time, rate, delay\n0 s, 50 Mbit/s, 20 ms\n\n15 s, 0, 20 ms # handover\n15100 ms, 40 Mbit/s, 35 ms\n";
    std::fs::write(folder.path().join("sat.csv"), table).expect("is written");
    let path = folder.path().join("my.toml").display().to_string();
    let text = format!("{CHAIN}[link.a]\nchanges.file = \"sat.csv\"\nchanges.every = \"30 s\"");
    let scenario = Scenario::parse(&path, &text, &[]).expect("is valid");
    let Some(Varying::Table(changes)) = &scenario.hops[0].link.varying else { panic!() };
    let at: Vec<_> = changes.rows().iter().map(|row| row.at.as_nanos() / 1_000_000).collect();
    assert_eq!(at, [0, 15_000, 15_100]);
    assert_eq!(
        Scenario::parse("again", &scenario.toml, &[]).expect("is whole").hops,
        scenario.hops
    );

    for (table, expected) in [
        ("", "sat.csv: expected at least one line"),
        (
            "0 s, 1 Mbit/s\n",
            "sat.csv:1: expected a time, a rate and a delay, such as 15 s, 20 Mbit/s, 30 ms, found",
        ),
        ("0 s, 1 Mbit/s, 1 ms\n1 s, soon, 1 ms\n", "sat.csv:2: "),
    ] {
        std::fs::write(folder.path().join("sat.csv"), table).expect("is written");
        let error = Scenario::parse(&path, &text, &[]).expect_err("is wrong").to_string();
        assert!(error.contains("my.toml:5: link.a.changes.file: "), "{error}");
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn wrong_courses_name_the_key() {
    let delay = "delay = \"1 ms\"\n";
    rejected(
        &format!("{delay}rate.trace = []"),
        "my.toml:6: link.a.rate.trace: expected at least one instant, found none",
    );
    rejected(
        &format!("{delay}rate.trace = [3, 2]"),
        "link.a.rate.trace: expected instants in order, found 2 after 3",
    );
    rejected(&format!("{delay}rate.trace = \"\""), "link.a.rate.trace: expected some text");
    rejected("rate.trace = [1]", "link.a.delay: missing");
    rejected(
        &format!("{delay}rate.trace = [1]\nchanges.at = [\"0 s\"]"),
        "link.a.changes: expected either this or rate.trace",
    );
    let at = "changes.at = [\"0 s\", \"1 s\"]\n";
    rejected(&format!("{at}{delay}"), "link.a.rate: missing");
    rejected(
        &format!("{at}{delay}changes.rate = [\"1 Mbit/s\"]"),
        "link.a.changes.rate: expected 2 values, as at has, found 1",
    );
    rejected(
        &format!("{at}{delay}changes.rate = [\"1 Mbit/s\", \"0\"]"),
        "link.a.changes.rate: expected more than 0 in the last row, found 0",
    );
    rejected(
        &format!("{at}{delay}rate = \"1 Mbit/s\"\nchanges.every = \"1 s\""),
        "link.a.changes.every: expected longer than the last time, found 1 s",
    );
    rejected(
        &format!("{at}{delay}rate = \"1 Mbit/s\"\nchanges.rate = [\"1 Mbit/s\", \"1 Mbit/s\"]"),
        "link.a.rate: expected either this or changes.rate",
    );
    rejected(&format!("{delay}changes.rate = [\"1 Mbit/s\"]"), "link.a.changes.at: missing");
}
