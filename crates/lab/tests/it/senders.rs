//! Requirements for senders that are robust against reordering: they deliver more than the standard if
//! packets are reordered, and about as much if packets are lost.

use rayon::prelude::*;
use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::run::run;
use unruffled_tcp::{ROWS, Variant};

/// Returns the mean goodput of each sender over three seeds, in bits per second.
fn goodputs(overrides: &[&str], names: &[&str]) -> Vec<f64> {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    let scenario = Scenario::load("rr-3", &overrides).expect("good overrides");
    let goodput = |name: &&str| {
        let variant = Variant::named(name).expect("is in the table");
        let seeds = 1..=3;
        seeds
            .map(|seed| {
                run(&scenario, &variant, seed, None, never()).expect("runs").flow.goodput_bps
            })
            .sum()
    };
    names.par_iter().map(goodput).map(|sum: f64| sum / 3.0).collect()
}

#[test]
fn each_sender_delivers_more_than_the_standard_if_packets_are_reordered() {
    // Exceptions are `quic`, `gvisor`, whose receiver reports no duplicates, and senders that do not
    // detect reordering: docs/senders.md has the reasons.
    let exceptions = ["sack", "quic", "gvisor"];
    let names: Vec<&str> = ROWS
        .iter()
        .filter(|r| r.takes_sack() || !r.is_composed())
        .map(|r| r.name)
        .filter(|name| !exceptions.contains(name))
        .collect();
    assert!(names.len() > 15, "senders are missing: {names:?}");
    let goodputs_of = |names: &[&str]| goodputs(&["duration=300 s"], names);
    let sack = goodputs_of(&["sack"])[0];
    for (name, goodput) in names.iter().zip(goodputs_of(&names)) {
        assert!(goodput > 1.2 * sack, "{name}: {goodput:.0} bit/s, sack {sack:.0}");
    }
}

#[test]
fn each_sender_is_within_five_percent_of_the_standard_if_packets_are_lost() {
    // TCP-PR is an exception, because of its own response to losses: docs/senders.md has its figures. So is
    // `gvisor`, whose Reno grows faster than the standard's.
    let with_sack = ROWS.iter().filter(|r| r.takes_sack() && r.is_composed());
    let names: Vec<&str> = with_sack.map(|r| r.name).filter(|&name| name != "gvisor").collect();
    assert!(names.len() > 15, "senders are missing: {names:?}");
    let path = ["delayed.fraction=0%", "link.bottleneck.loss.fraction=0.5%"];
    // The congestion control of `linux` is CUBIC, whose standard is SACK with the same control.
    let standards = goodputs(&path, &["sack", "sack+linux-cubic"]);
    for (&name, goodput) in names.iter().zip(goodputs(&path, &names)) {
        let standard = standards[usize::from(name == "linux")];
        let deviation = goodput / standard - 1.0;
        assert!(deviation.abs() < 0.05, "{name}: {:+.1} % off the standard", deviation * 100.0);
    }
}
