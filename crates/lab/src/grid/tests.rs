mod sweep;

use super::*;
use crate::cancel::{CancellationToken, RunError, never};
use crate::error::Error;
use crate::store::Store;
use unruffled_scenario::{BUILTIN, Scenario};

const GRID: &str = r#"
scenario = "rr-3"
variants = ["sack", "rr-ta"]
seeds = 2
duration = "2 s"

[grid]
delayed.fraction = ["1 %", "10 %"]
"bottleneck.queue" = { from = 10, to = 1000, count = 3, scale = "log", whole = true }
"#;

fn parse(text: &str) -> Result<Grid, Error> {
    Grid::parse("grid.toml", text, None, &[])
}

fn plan(text: &str) -> Plan {
    Plan::new(parse(text).unwrap(), None, Vec::new(), never()).unwrap()
}

#[test]
fn lists_and_ranges_are_combined_in_the_order_of_the_file() {
    let plan = plan(GRID);
    assert_eq!((plan.points(), plan.runs()), (6, 24));
    assert_eq!(plan.keys(), ["delayed.fraction", "bottleneck.queue"]);
    let numbers = |values: [f64; 6]| values.map(Value::Number).to_vec();
    assert_eq!(plan.values(0), numbers([0.01, 0.01, 0.01, 0.1, 0.1, 0.1]));
    assert_eq!(plan.values(1), numbers([10.0, 100.0, 1000.0, 10.0, 100.0, 1000.0]));
}

#[test]
fn a_range_with_a_step_includes_its_end_and_keeps_its_unit() {
    let plan = plan(
        "scenario = 'rr-3'\n[grid]\ndelayed.mean = { from = '5 ms', to = '20 ms', step = '5 ms' }\n\
         [set]\ndelayed.deviation = '1 ms'\nduration = '2 s'",
    );
    let numbers = [0.005, 0.01, 0.015, 0.02].map(Value::Number);
    assert_eq!(plan.values(0), numbers);
}

#[test]
fn samples_are_drawn_from_their_seed_within_their_ranges() {
    let text = |seed: u32| {
        format!(
            "scenario = 'rr-3'\nduration = '1 s'\n[sample]\nmethod = 'random'\npoints = 50\n\
             seed = {seed}\n[sample.keys]\n\
             delayed.fraction = {{ from = 0.0, to = 0.3 }}\n\
             bottleneck.rate = {{ from = '1 Mbit/s', to = '100 Mbit/s', scale = 'log' }}\n\
             tcp.window = [20, 50]"
        )
    };
    let one = plan(&text(1));
    let again = plan(&text(1));
    let other = plan(&text(2));
    assert_eq!(one.points(), 50);
    for key in 0..3 {
        assert_eq!(one.values(key), again.values(key));
    }
    assert_ne!(one.values(0), other.values(0));
    let within = |key: usize, low: f64, high: f64| {
        let inside = |v: &Value| matches!(v, Value::Number(n) if (low..=high).contains(n));
        assert!(one.values(key).iter().all(inside), "{:?}", one.values(key));
    };
    within(0, 0.0, 0.3);
    within(1, 1e6, 100e6);
    assert!(one.values(2).iter().all(|v| [20.0, 50.0].map(Value::Number).contains(v)));
}

#[test]
fn the_caller_draws_a_hypercube_and_the_plan_checks_it() {
    let text = "scenario = 'rr-3'\nduration = '1 s'\n[sample]\nmethod = 'latin'\npoints = 2\n\
                [sample.keys]\ndelayed.fraction = { from = 0.0, to = 0.2 }";
    let grid = parse(text).unwrap();
    let expected = Hypercube { points: 2, dimensions: 1, seed: 1 };
    assert_eq!(grid.hypercube(), Some(expected));
    let plan = Plan::new(grid.clone(), Some(&[0.25, 0.75]), Vec::new(), never()).unwrap();
    assert_eq!(plan.values(0), [0.05, 0.15].map(Value::Number));
    for wrong in [None, Some(&[0.5][..]), Some(&[0.5, 1.5][..])] {
        let refused = Plan::new(grid.clone(), wrong, Vec::new(), never()).unwrap_err().to_string();
        assert!(refused.starts_with("grid.toml:4: sample.method: expected 2 numbers"), "{refused}");
    }
}

#[test]
fn all_whole_numbers_of_a_range_are_equally_likely() {
    let drawn = |range: &str, shares: &[f64]| {
        let text = format!(
            "scenario = 'rr-3'\nduration = '1 s'\n[sample]\nmethod = 'latin'\npoints = {}\n\
             [sample.keys]\ntcp.window = {{ {range}, whole = true }}",
            shares.len()
        );
        let plan = Plan::new(parse(&text).unwrap(), Some(shares), Vec::new(), never()).unwrap();
        plan.values(0)
    };
    let shares = [0.0, 0.24, 0.26, 0.49, 0.51, 0.74, 0.76, 1.0];
    let numbers = [2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0].map(Value::Number);
    assert_eq!(drawn("from = 2, to = 5", &shares), numbers);
    // On a logarithmic scale, the interval of a number is from 0.5 below it to 0.5 above it.
    let numbers = [1.0, 1.0, 2.0, 3.0].map(Value::Number);
    assert_eq!(drawn("from = 1, to = 3, scale = 'log'", &[0.0, 0.56, 0.57, 1.0]), numbers);
}

#[test]
fn errors_name_the_line_the_key_and_what_was_expected() {
    for (text, expected) in [
        ("", "grid.toml: scenario: expected a scenario's name"),
        ("scenario = 'rr-3'\ngrid = 3", "grid.toml:2: grid: expected a table [grid]"),
        ("scenario = 'rr-3'\nset = ['a']", "grid.toml:2: set: expected a table [set]"),
        ("scenario = 'rr-3'\nsample = 3", "grid.toml:2: sample: expected a table [sample]"),
        (
            "scenario = 'rr-3'\nseeds = 99999999999999999999",
            "grid.toml:2: seeds: expected a number of at most 64 bits, found 99999999999999999999",
        ),
        (
            "scenario = ' '",
            "grid.toml:1: scenario: expected a scenario's name, such as \"rr-3\", or",
        ),
        ("scenario = 'nix'", "grid.toml:1: scenario: nix: no such scenario: expected rr-3"),
        ("scenario = 'rr-3'\nduration = 'soon'", "grid.toml:2: duration: expected a time"),
        ("scenario = 'rr-3'\nseeds = 0", "grid.toml:2: seeds: expected a whole number"),
        ("scenario = 'rr-3'\nvariants = ['nix']", "grid.toml:2: variants: nix: no such variant"),
        ("scenario = 'rr-3'\nvariants = 'sack,sack'", "grid.toml:2: variants: sack stands twice"),
        (
            "scenario = 'rr-3'\n[grid]\ndelayed.fraction = ['1 %', '5 %', '1%']",
            "grid.toml:3: grid.delayed.fraction: \"1%\" stands twice: expected each value once",
        ),
        (
            "scenario = 'rr-3'\n[grid]\ndelayed.fraction = ['10 %', 0.1]",
            "grid.toml:3: grid.delayed.fraction: 0.1 stands twice: expected each value once",
        ),
        (
            "scenario = 'rr-3'\n[grid]\n' variants' = ['rack', 'reno']",
            "grid.toml:3: grid. variants: expected a dotted key, such as link.bottleneck.rate",
        ),
        (
            "scenario = 'rr-3'\nseeds = 1\n[set]\nseeds = 2",
            "grid.toml:4: set.seeds: expected this or seeds beside scenario, not both",
        ),
        ("scenario = 'rr-3'\n[set]\nseeds = 0", "grid.toml:3: set.seeds: expected a whole number"),
        (
            "scenario = 'rr-3'\n[set]\nvariants = 'nix'",
            "grid.toml:3: set.variants: nix: no such variant",
        ),
        (
            "scenario = 'rr-3'\n[set]\n'' = 3",
            "grid.toml:3: set.: expected a dotted key, such as link.bottleneck.rate, found \"\"",
        ),
        (
            "scenario = 'rr-3'\n[grid]\n' ' = [3]",
            "grid.toml:3: grid. : expected a dotted key, such as link.bottleneck.rate, found \" \"",
        ),
        (
            "scenario = 'rr-3'\n[grid]\n'tcp.window=1' = [3]",
            "grid.toml:3: grid.tcp.window=1: expected a dotted key, such as link.bottleneck.rate",
        ),
        (
            "scenario = 'rr-3'\n[set]\nwindow = 0",
            "grid.toml:3: set.window: expected a whole number from 1",
        ),
        (
            "scenario = 'rr-3'\n[sample]\nmethod = 'random'\npoints = 2\n[sample.keys]\nwindow = [0]",
            "grid.toml:6: sample.keys.window: expected a whole number from 1",
        ),
        (
            "scenario = 'rr-3'\n[sample]\nmethod = 'random'\npoints = 2\n[sample.keys]\n\
             window = { from = 10, to = 20, step = 5 }",
            "grid.toml:6: sample.keys.window: expected a range without count or step: points is",
        ),
        (
            "scenario = 'rr-3'\n[grid]\nx = { from = 0, to = 1e9, step = 1 }",
            "grid.toml:3: grid.x: step: expected at most",
        ),
        (
            "scenario = 'rr-3'\n[grid]\nx = { from = 0, to = 2, step = '1 s' }",
            "grid.toml:3: grid.x: step: expected steps, without a unit, that lead there",
        ),
        ("scenario = 'rr-3'\ngird.x = [1]", "grid.toml:2: gird: unknown key: expected one of"),
        ("scenario = 'rr-3'\n[grid]\nx = 3", "grid.toml:3: grid.x: expected a list of values"),
        ("scenario = 'rr-3'\n[grid]\nx = []", "grid.toml:3: grid.x: expected a list of values"),
        (
            "scenario = 'rr-3'\n[grid]\nx = { from = '1 ms', to = '2 s', count = 2 }",
            "grid.toml:3: grid.x: expected from and to in one unit, found \"ms\" and \"s\"",
        ),
        (
            "scenario = 'rr-3'\n[grid]\nx = { from = 1, to = 2 }",
            "grid.toml:3: grid.x: expected count or step",
        ),
        (
            "scenario = 'rr-3'\n[grid]\nx = { from = 0, to = 2, count = 3, scale = 'log' }",
            "grid.toml:3: grid.x: expected more than 0 on a logarithmic scale",
        ),
        (
            "scenario = 'rr-3'\n[grid]\nseeds = [1, 2]",
            "grid.toml:3: grid.seeds: not for sweeps: expected seeds beside scenario",
        ),
        (
            "scenario = 'rr-3'\n[sample]\nmethod = 'sobol'",
            "grid.toml:3: sample.method: expected \"random\" or \"latin\"",
        ),
        (
            "scenario = 'rr-3'\n[sample]\nmethod = 'random'",
            "grid.toml:2: sample.points: expected a whole number from 1",
        ),
        (
            "scenario = 'rr-3'\n[sample]\nmethod = 'latin'\npoints = 10000001",
            "grid.toml:4: sample.points: expected at most 10000000, found 10000001",
        ),
        (
            "scenario = 'rr-3'\n[sample]\nmethod = 'random'\npoints = 2",
            "grid.toml:2: sample.keys: expected keys of the scenario to draw",
        ),
        (
            "scenario = 'rr-3'\n[grid]\ndelayed.fraction = ['200 %']",
            "grid.toml:3: grid.delayed.fraction: expected a frac",
        ),
        (
            "scenario = 'rr-3'\n[grid]\n\
             tcp.window = { from = 0.4, to = 9, count = 3, scale = 'log', whole = true }",
            "grid.toml:3: grid.tcp.window: expected whole numbers from 1 on a logarithmic scale",
        ),
        ("scenario = 'rr-3'\n[grid]\ntcp.windw = [3]", "grid.toml:3: grid.tcp.windw: unknown key"),
        ("scenario = 3 = 4", "grid.toml:1: not TOML"),
    ] {
        let plan = parse(text).and_then(|grid| Plan::new(grid, None, Vec::new(), never()));
        let refused = plan.expect_err(text).to_string();
        assert!(refused.starts_with(expected), "{text}: {refused}");
        assert!(!refused.contains('\n'), "{refused}");
    }
}

/// A scenario may have a key named `from`, which is also a key of ranges.
#[test]
fn a_key_named_from_can_be_swept() {
    for lines in [
        "delayed.from = ['0 s', '500 ms']\ndelayed.until = ['2 s']",
        "delayed = { from = { from = '0 s', to = '0.5 s', count = 2 } }",
    ] {
        let plan = plan(&format!("scenario = 'rr-3'\n[grid]\nlink.bottleneck.{lines}"));
        let from = plan.keys().iter().position(|key| key == "link.bottleneck.delayed.from");
        let values = plan.values(from.expect("is swept"));
        assert_eq!(values, [0.0, 0.5].map(Value::Number), "{lines}");
    }
}

#[test]
fn a_scenario_beside_its_grid_is_found_in_a_folder_that_is_not_utf_8() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join(std::ffi::OsStr::from_bytes(b"d\xff"));
    std::fs::create_dir(&folder).expect("is made");
    let scenario = Scenario::text("rr-3").expect("is built in");
    std::fs::write(folder.join("mine.toml"), scenario).expect("is written");
    let grid = folder.join("grid.toml");
    std::fs::write(&grid, "scenario = 'mine.toml'\n[grid]\ntcp.window = [30]").expect("is written");
    let grid = Grid::load(&grid, None, &[]).expect("finds it");
    assert_eq!(Plan::new(grid, None, Vec::new(), never()).expect("makes sense").points(), 1);
}

#[test]
fn a_cancelled_plan_is_an_error() {
    let token = CancellationToken::default();
    token.cancel();
    let refused = Plan::new(parse(GRID).unwrap(), None, Vec::new(), &token).unwrap_err();
    assert!(matches!(refused, Error::Run(RunError::Cancelled)), "{refused}");
}

#[test]
fn a_random_path_can_be_swept() {
    let grid = parse("scenario = '7-12'\n[grid]\ntcp.window = [30, 60]").expect("is drawn");
    let plan = Plan::new(grid, None, Vec::new(), never()).expect("makes sense");
    assert_eq!(plan.points(), 2);
}

#[test]
fn errors_of_senders_from_the_command_line_name_the_flag() {
    for (set, expected) in [
        ("variants=nix", "--set: variants: nix: no such variant"),
        ("variants=sack,sack", "--set: variants: sack stands twice"),
    ] {
        let text = "scenario = 'rr-3'\nvariants = ['sack']";
        let grid = Grid::parse("grid.toml", text, None, &[set.to_owned()]);
        let planned = grid.and_then(|grid| Plan::new(grid, None, Vec::new(), never()));
        let refused = planned.expect_err(set).to_string();
        assert!(refused.starts_with(expected), "{refused}");
    }
}

#[test]
fn a_swept_key_cannot_be_set() {
    let result = |text: &str, overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&set| set.to_owned()).collect();
        let grid = Grid::parse("grid.toml", text, None, &overrides);
        let planned = grid.and_then(|grid| Plan::new(grid, None, Vec::new(), never()));
        planned.map(drop).map_err(|refused| refused.to_string())
    };
    let swept = "expected a key that is not swept, as grid.delayed.fraction is";
    for key in ["delayed.fraction", "link.bottleneck.delayed.fraction"] {
        let message = result(GRID, &[&format!("{key}=3%")]);
        assert_eq!(message, Err(format!("--set: {key}: {swept} in grid.toml")));
    }
    let both = format!("{GRID}[set]\nlink.bottleneck.delayed.fraction = '3 %'\n");
    let place = "grid.toml:11: set.link.bottleneck.delayed.fraction";
    assert_eq!(result(&both, &[]), Err(format!("{place}: {swept}")));
    let twice = format!("{GRID}link.bottleneck.queue = [10]\n");
    let message = "grid.toml:10: grid.link.bottleneck.queue: stands twice: expected each key once";
    assert_eq!(result(&twice, &[]), Err(message.to_owned()));
    let set_twice = format!("{GRID}[set]\nwindow = 20\ntcp.window = 50\n");
    let message = "grid.toml:12: set.tcp.window: stands twice: expected each key once";
    assert_eq!(result(&set_twice, &[]), Err(message.to_owned()));
    let message = "--set: tcp.window: stands twice: expected each key once";
    assert_eq!(result(GRID, &["window=20", "tcp.window=30"]), Err(message.to_owned()));
    // Overrides from outside replace those of the file.
    let set = format!("{GRID}[set]\ntcp.window = 30\n");
    assert_eq!(result(&set, &["window=20", "duration=1s", "bottleneck.delay=9 ms"]), Ok(()));
}

/// Returns the keys of a scenario that can be swept, with their values.
fn keys_of(toml: &str) -> Vec<(String, toml::Value)> {
    let table: toml::Table = toml.parse().expect("is TOML");
    let all = unruffled_scenario::leaves(&table, |_| false);
    let alone = |key: &str| ["name", "title", "source", "seeds", "variants"].contains(&key);
    let keys = all.into_iter().filter(|(key, _)| !alone(key));
    keys.map(|(key, value)| (key, value.clone())).collect()
}

/// Returns all parameter values of the senders for which a scenario sets a parameter.
fn parameters(scenario: &Scenario) -> Vec<f64> {
    let senders = scenario.parameters.iter().map(|set| scenario.fixed_sender(&set.variant));
    senders
        .flat_map(|sender| sender.parameters().map(|(_, value)| value).collect::<Vec<_>>())
        .collect()
}

#[test]
fn the_printed_value_of_any_key_can_be_set_and_swept() {
    let built_in = BUILTIN.iter().map(|(name, text)| (*name, (*text).to_owned()));
    let drawn = (1..=40).map(|n| ("drawn", unruffled_scenario::random_path(3, n)));
    let mut keys = 0;
    for (file, text) in built_in.chain(drawn) {
        let scenario = Scenario::parse(file, &text, &[]).expect("is a scenario");
        for (key, value) in keys_of(&scenario.toml) {
            let own = toml::Value::Array(vec![value]);
            let swept = |values: &str| {
                let grid = format!("[grid]\n\"{key}\" = {values}");
                let origin = Some((file.to_owned(), text.clone()));
                let grid = Grid::parse("grid.toml", &grid, origin, &[]).expect("is a grid");
                let plan = Plan::new(grid, None, Vec::new(), never());
                plan.unwrap_or_else(|e| panic!("{file}: {key} = {values}: {e}")).values(0).remove(0)
            };
            let first = swept(&own.to_string());
            let printed = serde_json::to_string(&first).expect("is JSON");
            let plain = printed.parse::<f64>().map_or_else(
                |_| serde_json::from_str::<String>(&printed).expect("is text"),
                |_| printed.clone(),
            );
            let again = Scenario::parse(file, &text, &[format!("{key}={plain}")]);
            let again = again.unwrap_or_else(|e| panic!("{file}: --set {key}={plain}: {e}"));
            assert_eq!(parameters(&again), parameters(&scenario), "{file}: {key}={plain}");
            let toml = scenario.toml.clone();
            let parameters = scenario.parameters.clone();
            assert_eq!(Scenario { toml, parameters, ..again }, scenario, "{file}: {key}={plain}");
            assert_eq!(swept(&format!("[{printed}]")), first, "{file}: {key} = [{printed}]");
            keys += 1;
        }
    }
    assert!(keys > 300, "{keys} keys");
}

#[test]
fn ranges_of_numbers_without_a_unit_are_ranges_of_quantities() {
    let plan = plan(
        "scenario = 'rr-3'\nduration = 2.0\n[grid]\ndelayed.mean = { from = 1.0, to = 3.0, count = 3 }\n\
         bottleneck.rate = { from = 1000000.0, to = 3000000.0, count = 2 }\n\
         tcp.window = { from = 20.0, to = 40.0, step = 20.0 }",
    );
    assert_eq!(plan.points(), 12);
    let last = plan.scenario(11).expect("makes sense");
    let bottleneck =
        last.network.links.iter().find(|link| link.name == "bottleneck").expect("is there");
    assert_eq!(bottleneck.link.rate.map(unruffled_units::Rate::bps), Some(3e6));
    assert_eq!(last.duration, unruffled_units::Duration::from_secs(2));
}

#[test]
fn replaced_keys_of_the_file_are_returned() {
    let set = ["seeds=3".to_owned(), "tcp.window=30".to_owned()];
    let grid = Grid::parse("grid.toml", GRID, None, &set).expect("is a grid");
    assert_eq!(grid.replaced(), [("seeds", "2".to_owned(), "3".to_owned())]);
}
