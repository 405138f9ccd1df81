//! The described keys are those that are read.

use std::collections::BTreeSet;

use super::*;
use crate::Scenario;

/// Tables whose values are times that are drawn.
const DRAWN: [&str; 7] = [
    "link.NAME.delayed",
    "link.NAME.redrawn",
    "link.NAME.overhead",
    "link.NAME.burst",
    "link.NAME.workers.jitter",
    "traffic.NAME.pause",
    "traffic.NAME.every",
];

/// Scenarios that together request every key. Each is valid.
const CASES: &[&str] = &[
    "",
    "delayed = { fraction = 0.1, distribution = 'constant', value = '1 ms' }",
    "delayed = { fraction = 0.1, distribution = 'uniform', low = '1 ms', high = '2 ms' }",
    "delayed = { fraction = 0.1, distribution = 'exponential', mean = '1 ms' }",
    "delayed = { fraction = 0.1, distribution = 'pareto', scale = '1 ms', shape = 1.5 }",
    "delayed = { fraction = 0.1, distribution = 'empirical', quantiles = ['1 ms', '2 ms'] }",
    "delayed = { fraction = 0.1, by = [5, 20] }\nmark_above = 5",
    "early = { fraction = 0.1, by = 16 }",
    "early = { every = 10, by = '20 ms' }",
    "replay = { lateness = ['1 ms'] }\nloss = { fraction = 0.1 }\nduplicate = { fraction = 0.1 }",
    "redrawn = { every = '1 s', mean = '1 ms', deviation = '1 us' }\nloss = { every = 7 }",
    "overhead = { mean = '1 ms', deviation = '1 us' }\nalternate = { extra = '1 ms' }",
    "burst = { fraction = 0.1, mean = '1 ms', deviation = '1 us' }",
    "blackout = { every = '2 s', length = '1 ms' }\nresend = { errors = 0.1, after = '1 ms' }",
    "workers = { count = 2, coalesce = '1 ms', gro = true, jitter = { mean = '1 ms', deviation = '1 us' } }",
    "red = { min = 5 }\nnetem = 'loss 1%'\nresequence = { budget = '1 MiB' }\nreplay_window = 64",
    "fragments = { mtu = '1400 B' }\nranges = 3",
];

/// Scenarios with networks and traffic of their own.
const NETWORKS: &[&str] = &[
    "[topology]\nkind = 'dumbbell'\n[link.bottleneck]\ndelay = '1 ms'\n[traffic.a]\napp = 'web'\nsize = '1 kB'\n\
     pause = { mean = '1 s', deviation = '1 ms' }",
    "[topology]\nkind = 'explicit'\n[link.x]\nfrom = 'a'\nto = 'b'\ndelay = '1 ms'\nreplay_window = 64\n\
     replay_from = 'a'\n[traffic.a]\napp = 'requests'\nsegments = [1, 2]\n\
     every = { mean = '1 s', deviation = '1 ms' }\nways = ['a b']",
    "[path]\nhops = ['x']\n[link.x]\ndelay = '1 ms'\n[traffic.a]\n[traffic.b]\napp = 'udp'\nsize = '500 B'\n\
     interval = '1 ms'",
    "[path]\nhops = ['x']\n[link.x]\ndelay = '1 ms'\n[link.x.changes]\nat = ['0 s', '1 s']\n\
     rate = ['1 Mbit/s', '2 Mbit/s']\n[traffic.a]\napp = 'on-off'\nsize = '1 kB'\n\
     pause = { mean = '1 s', deviation = '1 ms' }",
];

/// Returns the keys that reading the case requests, with `NAME` for names.
fn requested(text: &str) -> BTreeSet<String> {
    let text =
        format!("duration = '10 s'\nvariants = ['rr-ta']\nvariant.rr-ta.fa_ratio = 0.5\n{text}");
    let (_, keys) =
        Scenario::read("case.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let mut requested = BTreeSet::new();
    for key in keys.requested() {
        requested.extend(table_of_times(&general_name(&key)).map(str::to_owned));
        requested.insert(general(&key));
    }
    requested
}

/// Returns the key with `NAME` for a name, and `IMPAIRMENT` for an impairment.
fn general_name(key: &str) -> String {
    let mut parts: Vec<&str> = key.split('.').collect();
    if ["link", "traffic", "variant"].contains(&parts[0]) && parts.len() > 1 {
        parts[1] = "NAME";
    }
    if parts[0] == "variant" && parts.len() > 2 {
        parts[2] = "PARAMETER";
    }
    let is_impairment = |name: &str| IMPAIRMENTS.about.contains(&format!("`{name}`"));
    if let ["link", "NAME", kind, "packets" | "from" | "until"] = parts[..]
        && is_impairment(kind)
    {
        parts[2] = "IMPAIRMENT";
    }
    parts.join(".")
}

/// Returns the table of a key that describes times.
fn table_of_times(key: &str) -> Option<&str> {
    let (table, name) = key.rsplit_once('.')?;
    let is_known = TIMES.keys.iter().any(|times| times.name == format!("TIMES.{name}"));
    (is_known && DRAWN.contains(&table)).then_some(table)
}

/// Returns the key with `NAME` for a name, and `TIMES` for a table of times.
fn general(key: &str) -> String {
    let key = general_name(key);
    match table_of_times(&key) {
        Some(table) => format!("TIMES{}", &key[table.len()..]),
        None => key,
    }
}

#[test]
fn every_key_that_is_read_is_described_and_no_other() {
    let link = |case: &&str| {
        requested(&format!(
            "[path]\nhops = ['x']\n[link.x]\nrate = '1 Mbit/s'\ndelay = '1 ms'\n{case}"
        ))
    };
    let read: BTreeSet<String> = CASES
        .iter()
        .flat_map(link)
        .chain(NETWORKS.iter().flat_map(|case| requested(case)))
        .collect();
    let described: BTreeSet<&str> =
        SECTIONS.iter().flat_map(|section| section.keys).map(|key| key.name).collect();
    let is_table = |key: &str| {
        let start = format!("{key}.");
        DRAWN.contains(&key) || described.iter().any(|described| described.starts_with(&start))
    };
    let undescribed: Vec<_> =
        read.iter().filter(|key| !described.contains(key.as_str()) && !is_table(key)).collect();
    assert!(undescribed.is_empty(), "not described: {undescribed:?}");
    let unread: Vec<_> = described.iter().filter(|key| !read.contains(**key)).collect();
    assert!(unread.is_empty(), "described and not read: {unread:?}");
}

#[test]
fn keys_are_described_once_and_in_sentences() {
    let keys: Vec<_> = SECTIONS.iter().flat_map(|section| section.keys).collect();
    for (index, key) in keys.iter().enumerate() {
        assert!(keys[..index].iter().all(|other| other.name != key.name), "{}", key.name);
        assert!(key.about.ends_with('.'), "{}: {}", key.name, key.about);
    }
}
