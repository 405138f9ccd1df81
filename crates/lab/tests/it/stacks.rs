//! The rows of QUIC and user-space stacks beside the stacks themselves: `peers/stacks/figures.csv` has the
//! goodput of each real stack on six paths, and a row must be within a tenth of it. `EXCEPTIONS` names where
//! one is not. It must then be where it was, so that an improvement is noticed as well as a regression;
//! `docs/measurements/2026-11-28-stack-rows.md` has the reasons.

use std::fmt::Write;

use rayon::prelude::*;
use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::run::run;
use unruffled_tcp::Variant;

const FIGURES: &str = include_str!("../../../../peers/stacks/figures.csv");

/// A row, its stack in the figures, and the payload and header of a full packet of the stack, in octets.
struct Pair {
    row: &'static str,
    stack: &'static str,
    payload: u32,
    header: u32,
}

const fn pair(row: &'static str, stack: &'static str, payload: u32, header: u32) -> Pair {
    Pair { row, stack, payload, header }
}

const PAIRS: [Pair; 6] = [
    pair("quic-go", "quic-go", 1415, 65),
    pair("ngtcp2", "ngtcp2", 1402, 70),
    pair("smoltcp", "smoltcp", 1460, 40),
    pair("quiche", "quiche", 1153, 75),
    pair("gvisor", "gvisor", 1420, 52),
    pair("quic", "quinn+newreno", 1200, 40),
];

const PATHS: [&str; 6] = [
    "stacks-in-order",
    "stacks-lossy",
    "stacks-few-20ms",
    "stacks-few-100ms",
    "stacks-half-100ms",
    "stacks-bond",
];

/// Where a row is not within a tenth: its goodput as a share of the stack's.
const EXCEPTIONS: &[(&str, &str, f64)] = &[
    ("quic-go", "stacks-few-100ms", 1.12),
    ("smoltcp", "stacks-half-100ms", 2.14),
    ("smoltcp", "stacks-bond", 1.16),
    ("quiche", "stacks-few-100ms", 0.85),
    ("gvisor", "stacks-in-order", 3.22),
    ("gvisor", "stacks-lossy", 2.70),
    ("gvisor", "stacks-few-20ms", 0.47),
    ("gvisor", "stacks-half-100ms", 0.54),
    ("gvisor", "stacks-bond", 1.25),
    ("quic", "stacks-lossy", 0.83),
    ("quic", "stacks-few-20ms", 0.85),
    ("quic", "stacks-few-100ms", 0.80),
    ("quic", "stacks-half-100ms", 1.74),
    ("quic", "stacks-bond", 1.66),
];

/// How far a ratio may be from 1, and from that of an exception.
const TENTH: f64 = 0.1;
const SAME: f64 = 0.03;

/// Returns the goodput of a row on a path, the mean of three seeds, in Mb/s.
fn of_row(pair: &Pair, path: &str) -> f64 {
    let file = format!("{}/../../peers/stacks/paths/{path}.toml", env!("CARGO_MANIFEST_DIR"));
    let sizes = [format!("tcp.mss={}B", pair.payload), format!("tcp.header={}B", pair.header)];
    let scenario = Scenario::load(&file, &sizes).expect("a path of the stacks");
    let variant = Variant::named(pair.row).expect("is in the table");
    let goodput =
        |seed| run(&scenario, &variant, seed, None, never()).expect("runs").flow.goodput_bps;
    (1..=3).map(goodput).sum::<f64>() / 3.0 / 1e6
}

/// Returns the goodput of a stack on a path, in Mb/s.
fn of_stack(stack: &str, path: &str) -> f64 {
    let line = FIGURES
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>())
        .find(|fields| fields[0] == stack && fields[3] == path)
        .unwrap_or_else(|| panic!("figures.csv has no {stack} on {path}"));
    line[5].parse().expect("a number of Mb/s")
}

#[test]
fn each_row_is_within_a_tenth_of_its_stack_or_where_it_was() {
    let cells: Vec<(&Pair, &str)> =
        PAIRS.iter().flat_map(|pair| PATHS.map(|path| (pair, path))).collect();
    let ratios: Vec<f64> = cells
        .par_iter()
        .map(|(pair, path)| of_row(pair, path) / of_stack(pair.stack, path))
        .collect();
    let mut wrong = String::new();
    for ((pair, path), ratio) in cells.iter().zip(ratios) {
        let exception =
            EXCEPTIONS.iter().find(|(row, where_, _)| (row, where_) == (&pair.row, path));
        let (expected, slack) = exception.map_or((1.0, TENTH), |&(.., was)| (was, SAME * was));
        if (ratio - expected).abs() > slack {
            let bounds = (expected - slack, expected + slack);
            let _ = writeln!(wrong, "{} on {path}: {ratio:.3}, expected {bounds:.2?}", pair.row);
        }
    }
    assert!(wrong.is_empty(), "goodput as a share of the stack's:\n{wrong}");
}

/// An exception within a tenth would hide that the row holds there now.
#[test]
fn exceptions_are_outside_a_tenth_and_known() {
    for &(row, path, ratio) in EXCEPTIONS {
        assert!((ratio - 1.0).abs() > TENTH, "{row} on {path} is no exception");
        assert!(PAIRS.iter().any(|pair| pair.row == row) && PATHS.contains(&path));
    }
}
