//! Comparison of the results of all senders with `checksums.txt`, bit for bit.
//!
//! A change that must not affect senders leaves that file as it is. An intended change of results
//! rewrites it, and the commit message lists the changed runs and the reason.
//!
//! A checksum covers the row of the run and the records of its flows and links, with each segment if
//! the scenario records `sequence`. The runs are those of
//!
//! * each row of the table of senders, alone and with each set of parts that it accepts, over each
//!   built-in scenario and those of `tests/checksums`,
//! * each row with each of its parameters set to another value, over two of these scenarios,
//! * the senders of each experiment with a scenario of its own.
//!
//! The last bits of `exp` and `ln` depend on the C library, so the checksums may differ on a machine
//! with another one.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::run::{record, row};
use unruffled_tcp::{ROWS, Variant};

/// The environment variable with which the test writes the file and does not check it.
const REWRITE_VARIABLE: &str = "UNRUFFLED_WRITE_CHECKSUMS";

/// The scenarios, each with overrides that shorten it.
const SCENARIOS: &[(&str, &[&str])] = &[
    ("rr-3", &["duration=12 s", "warmup=2 s", "record.series=sequence"]),
    ("dcr-4", &["duration=8 s", "warmup=1 s", "record.series=sequence"]),
    (
        "burst",
        &[
            "duration=12 s",
            "delayed.from=2 s",
            "delayed.until=6 s",
            "loss.from=7 s",
            "loss.until=11 s",
            "record.series=sequence",
        ],
    ),
    ("in-order", &["duration=4 s", "record.series=sequence"]),
    ("half-late", &["duration=6 s", "record.series=sequence"]),
    ("few-late", &["duration=6 s", "record.series=sequence"]),
    ("dcr-t20", &["duration=4 s", "flow.bytes=3 MB", "delayed.deviation=2 ms"]),
    ("ad-10", &["duration=4 s"]),
    ("bonded", &["duration=3 s"]),
    ("gateway", &["duration=3 s"]),
    ("pr-10", &["duration=4 s"]),
    ("radio", &["duration=3 s"]),
    ("route", &["duration=14 s"]),
    ("satellite", &["duration=4 s"]),
    ("spray", &["duration=30 ms"]),
    ("switch", &["duration=500 ms"]),
    ("vpn", &["duration=1 s"]),
    ("wi-fi", &["duration=3 s"]),
    ("mobile-bond", &["duration=2 s"]),
    ("ecmp", &["duration=1 s"]),
    ("two-workers", &["duration=300 ms"]),
    ("handovers", &["duration=16 s"]),
    ("fabric", &["duration=5 ms"]),
    ("gigabit-bond", &["duration=200 ms"]),
    ("harsh", &[]),
    ("shared", &[]),
    ("spread", &[]),
];

/// The scenarios of `tests/checksums`.
const OWN: &[(&str, &str)] = &[
    ("harsh", include_str!("../checksums/harsh.toml")),
    ("shared", include_str!("../checksums/shared.toml")),
    ("spread", include_str!("../checksums/spread.toml")),
];

/// The scenarios for senders with another value of a parameter.
const WITH_PARAMETERS: [&str; 2] = ["burst", "harsh"];

/// The sets of parts that are added to senders.
const PARTS: [&str; 8] = [
    "",
    "+cubic",
    "+westwood",
    "+eifel",
    "+f-rto",
    "+eifel+f-rto",
    "+cubic+eifel+f-rto",
    "+westwood+eifel+f-rto",
];

/// Senders whose congestion control models the path.
const MODELS: [&str; 5] = ["rack+bbr", "rack+bbr3", "sack+bbr", "unruffled+bbr", "unruffled+bbr3"];

/// A run: the names of the scenario and of the sender with its changed parameter, then both of them.
type Job = ((String, String), Scenario, Variant);

#[test]
fn the_results_of_all_senders_are_unchanged() {
    let jobs: Vec<Job> = senders().into_iter().chain(experiments()).collect();
    let count = jobs.len();
    let sums =
        jobs.into_par_iter().map(|(name, scenario, variant)| (name, sum(&scenario, &variant)));
    let sums: BTreeMap<(String, String), String> = sums.collect();
    assert_eq!(sums.len(), count, "the names of runs are unique");

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checksums.txt");
    if std::env::var_os(REWRITE_VARIABLE).is_some() {
        let mut text = String::new();
        for ((scenario, sender), sum) in &sums {
            writeln!(text, "{scenario} {sender} {sum}").expect("memory takes it");
        }
        fs::write(&path, text).expect("can be written");
        return;
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    let expected: BTreeMap<(String, String), String> = text
        .lines()
        .filter_map(|line| {
            let (scenario, rest) = line.split_once(' ')?;
            let (sender, sum) = rest.rsplit_once(' ')?;
            Some(((scenario.to_owned(), sender.to_owned()), sum.to_owned()))
        })
        .collect();
    let names: std::collections::BTreeSet<_> = sums.keys().chain(expected.keys()).collect();
    let differ: Vec<String> = names
        .into_iter()
        .filter_map(|name| {
            let what = match (sums.get(name), expected.get(name)) {
                (Some(a), Some(b)) if a == b => return None,
                (Some(_), Some(_)) => "differs",
                (Some(_), None) => "is new",
                (None, _) => "is missing",
            };
            Some(format!("  {} over {} {what}", name.1, name.0))
        })
        .collect();
    let shown = differ.iter().take(40).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(
        differ.is_empty(),
        "{} of {} runs are not those of tests/checksums.txt:\n{shown}\n\
         If the change is intended, rewrite the file, and give the reason in the commit:\n  \
         {REWRITE_VARIABLE}=1 cargo test -p unruffled-lab --test it checksums",
        differ.len(),
        sums.len(),
    );
}

/// Returns the runs of the senders of the table, with parts and with parameters.
fn senders() -> Vec<Job> {
    let scenarios = SCENARIOS.iter().map(|(name, overrides)| (*name, load(name, overrides)));
    let scenarios: BTreeMap<&str, Scenario> = scenarios.collect();
    let mut jobs = Vec::new();
    let mut add = |name: &str, shown: &str, variant: &Variant| {
        let job = ((name.to_owned(), shown.to_owned()), scenarios[name].clone(), variant.clone());
        jobs.push(job);
    };
    for name in MODELS {
        let variant = Variant::named(name).expect("is a sender");
        scenarios.keys().for_each(|scenario| add(scenario, name, &variant));
    }
    for row in ROWS {
        for parts in PARTS {
            // Not every sender accepts every part.
            let Some(variant) = Variant::named(&format!("{}{parts}", row.name)) else { continue };
            scenarios.keys().for_each(|scenario| add(scenario, variant.name(), &variant));
        }
        let plain = Variant::named(row.name).expect("is in the table");
        let parts = PARTS.iter().filter(|part| ["+cubic", "+westwood"].contains(part));
        // The parameters of a part are tested with one sender.
        let composed = parts.filter(|_| row.name == "sack");
        let composed = composed.filter_map(|p| Variant::named(&format!("{}{p}", row.name)));
        for variant in std::iter::once(plain).chain(composed) {
            for (shown, variant) in with_parameters(&variant) {
                WITH_PARAMETERS.iter().for_each(|scenario| add(scenario, &shown, &variant));
            }
        }
    }
    jobs
}

/// Returns the sender with one parameter at a time set to another value: each other choice, or the
/// smallest number and one above the default.
fn with_parameters(variant: &Variant) -> Vec<(String, Variant)> {
    let mut all = Vec::new();
    for (parameter, value) in variant.parameters() {
        let (low, high) = parameter.range;
        let choices = parameter.expected();
        let texts: Vec<String> = match choices.split_once(" or ") {
            Some(_) => choices.split(" or ").map(str::to_owned).collect(),
            None => [low, value + ((high - value) / 3.0).min(value.max(1.0))]
                .map(|other| parameter.show(other))
                .to_vec(),
        };
        for text in texts {
            let plain = text.trim_end_matches(" segments").trim_end_matches(" segment");
            let plain = plain.trim_end_matches(" cwnd");
            // A parameter that is a whole number rejects decimals, so try the text without them.
            let whole = plain.split('.').next().unwrap_or(plain);
            let mut other = variant.clone();
            let set = [plain, whole].into_iter().find(|t| other.set(parameter.name, t).is_ok());
            let set = set.unwrap_or_else(|| panic!("{}: {plain}", parameter.name));
            let changed = other.parameters().any(|(p, v)| p.name == parameter.name && v != value);
            if changed {
                let shown = format!("{} {}={set}", variant.name(), parameter.name);
                all.push((shown, other));
            }
        }
    }
    all
}

/// Returns runs of the first six seconds of the experiments that have a scenario of their own.
fn experiments() -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    for (id, text) in experiment_files() {
        let file: toml::Table = toml::from_str(&text).expect("is TOML");
        let Some(toml::Value::Table(own)) = file.get("scenario") else { continue };
        let own = toml::to_string(own).expect("was TOML before");
        let overrides = ["duration=6 s", "warmup=0 s", "variants=sack"].map(str::to_owned);
        let scenario = Scenario::parse(&id, &own, &overrides);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let lines = file["line"].as_array().expect("has lines");
        let mut variants: Vec<&str> =
            lines.iter().filter_map(|line| line.get("variant")?.as_str()).collect();
        variants.sort_unstable();
        variants.dedup();
        for name in variants {
            let mut variant = Variant::named(name).expect("is in the table");
            scenario.parametrise(&mut variant).expect("has these parameters");
            jobs.push(((format!("{id}*"), name.to_owned()), scenario.clone(), variant));
        }
    }
    jobs
}

/// Returns the built-in experiments: id and TOML.
fn experiment_files() -> Vec<(String, String)> {
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../papers/experiments");
    let folders = fs::read_dir(papers).expect("the papers").map(|entry| entry.expect("is there"));
    let folders = folders.map(|entry| entry.path()).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| fs::read_dir(folder).expect("experiments"));
    let read = |path: PathBuf| {
        let id = path.file_stem().expect("has a name").to_string_lossy().into_owned();
        (id, fs::read_to_string(path).expect("is text"))
    };
    files.map(|entry| read(entry.expect("is there").path())).collect()
}

/// Loads a built-in scenario, or one of `tests/checksums`.
fn load(name: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    let own = OWN.iter().find(|(own, _)| *own == name);
    let scenario = match own {
        Some((_, text)) => Scenario::parse(name, text, &overrides),
        None => Scenario::load(name, &overrides),
    };
    scenario.unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a scenario and returns the checksum of its row and record.
fn sum(scenario: &Scenario, variant: &Variant) -> String {
    let record = record(scenario, variant, 1, None, never()).expect("a loaded scenario runs");
    let row = row(scenario, variant, 1, &record);
    let json = serde_json::to_vec(&(row, record)).expect("memory takes it");
    blake3::hash(&json).to_hex()[..10].to_owned()
}

#[test]
fn all_built_in_scenarios_are_covered() {
    for (name, _) in unruffled_scenario::BUILTIN {
        assert!(SCENARIOS.iter().any(|(known, _)| known == name), "{name} is missing");
    }
}
