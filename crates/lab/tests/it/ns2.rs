//! Comparison with ns-2.35: at each point, the data delivered in order agrees within 5 % for SACK, and
//! within 3 % for Reno and NewReno.
//!
//! The points are those of `peers/ns2/points.csv`, which `peers/ns2/measure.sh` measures.

use std::fmt::Write;

use rayon::prelude::*;
use serde::Deserialize;
use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::run::run;
use unruffled_tcp::Variant;

const POINTS: &str = include_str!("../../../../peers/ns2/points.csv");
const SEEDS: u64 = 5;

/// Known exceptions, with delayed acknowledgements: points by scenario and share of delayed packets.
/// `docs/measurements/2026-11-27-ns2.md` has the figures.
const KNOWN_DIFFERENCES: [(&str, f64); 2] = [("rr-da", 0.01), ("rr-da", 0.3)];

/// A line of `points.csv`. Fractions are from 0 to 1.
#[derive(Clone, Debug, Deserialize)]
struct Point {
    scenario: String,
    sender: String,
    delayed: f64,
    mean_ms: f64,
    sd_ms: f64,
    #[serde(rename = "P_ms")]
    p_ms: f64,
    rate_bps: f64,
    queue: u32,
    window: u32,
    wire_bytes: u32,
    loss: f64,
    limited_transmit: u8,
    delayed_acks: u8,
    warmup_s: f64,
    end_s: f64,
    #[serde(rename = "packets_per_second_mean")]
    packets_per_second: f64,
}

impl Point {
    /// Returns the scenario with the point's path and settings.
    fn scenario(&self) -> Scenario {
        let builtin = if self.scenario.starts_with("dcr") { "dcr-4" } else { "rr-3" };
        let overrides = [
            format!("duration={} s", self.end_s),
            format!("warmup={} s", self.warmup_s),
            format!("tcp.mss={} B", self.wire_bytes - 40),
            format!("tcp.window={}", self.window),
            format!("tcp.delayed_ack={}", self.delayed_acks == 1),
            format!("link.bottleneck.rate={} bit/s", self.rate_bps),
            format!("link.bottleneck.delay={} ms", self.p_ms),
            format!("link.bottleneck.queue={}", self.queue),
            format!("link.bottleneck.delayed.fraction={}", self.delayed),
            format!("link.bottleneck.delayed.mean={} ms", self.mean_ms),
            format!("link.bottleneck.delayed.deviation={} ms", self.sd_ms),
            format!("link.bottleneck.loss.fraction={}", self.loss),
        ];
        Scenario::load(builtin, &overrides).expect("the point makes a scenario")
    }

    /// Returns the name of the sender that corresponds to that of ns-2.
    fn variant(&self) -> &'static str {
        match self.sender.as_str() {
            "Sack1" => "sack",
            "Newreno" => "newreno",
            "Reno" => "reno",
            other => panic!("no sender corresponds to {other}"),
        }
    }

    /// Returns whether agreement is asserted at the point.
    fn is_asserted(&self) -> bool {
        !KNOWN_DIFFERENCES.contains(&(self.scenario.as_str(), self.delayed))
    }

    /// Returns the greatest relative difference that is accepted.
    fn tolerance(&self) -> f64 {
        if self.sender == "Sack1" { 0.05 } else { 0.03 }
    }

    /// Returns the packets per second that our sender delivers in order: the mean over the seeds.
    fn measure(&self) -> f64 {
        let scenario = self.scenario();
        let variant = Variant::named(self.variant()).expect("is in the table");
        let rate = |seed| {
            let row =
                run(&scenario, &variant, seed, None, never()).expect("a loaded scenario runs");
            row.flow.delivered_segments as f64 / row.flow.duration_s
        };
        // Without delays and losses, the result does not depend on the seed.
        let seeds = if self.delayed + self.loss == 0.0 { 1 } else { SEEDS };
        (1..=seeds).map(rate).sum::<f64>() / seeds as f64
    }
}

/// Returns the points with limited transmit, which all senders here have.
fn points() -> Vec<Point> {
    let all = csv::Reader::from_reader(POINTS.as_bytes()).into_deserialize();
    let all = all.map(|point| point.expect("points.csv has these columns"));
    all.filter(|p: &Point| p.limited_transmit == 1).collect()
}

/// Prints the difference at each point. Panics with the whole list if one that is asserted exceeds the
/// tolerance.
fn assert_agreement(points: &[Point]) {
    let measured: Vec<f64> = points.par_iter().map(Point::measure).collect();
    let mut list = String::new();
    let mut missed = 0;
    for (point, ours) in points.iter().zip(measured) {
        let Point { scenario, packets_per_second: theirs, .. } = point;
        let delayed = point.delayed * 100.0;
        let loss = point.loss * 100.0;
        let deviation = ours / theirs - 1.0;
        let misses = deviation.abs() > point.tolerance();
        missed += usize::from(misses && point.is_asserted());
        let remark = match (point.is_asserted(), misses) {
            (true, true) => "  <- misses",
            (false, _) => "  (not asserted)",
            _ => "",
        };
        writeln!(
            list,
            "{:7} {scenario:8} {delayed:4.1} % late, {loss:.1} % lost: ns-2 {theirs:7.2}, here \
             {ours:7.2} packets/s, {:+.1} %{remark}",
            point.variant(),
            deviation * 100.0,
        )
        .expect("a string takes every write");
    }
    println!("{list}");
    assert_eq!(missed, 0, "too far from ns-2:\n{list}");
}

#[test]
fn sack_agrees_at_the_points_of_the_reference() {
    // The values of peers/ns2/README.md, which are from other measurements than points.csv.
    let reference = [
        ("rr", 0.0, 463.4),
        ("rr", 0.02, 101.3),
        ("rr", 0.1, 60.9),
        ("rr", 0.3, 52.5),
        ("dcr", 0.0, 918.0),
        ("dcr-q300", 0.0, 961.5),
        ("dcr", 0.02, 102.4),
        ("dcr", 0.1, 61.0),
    ];
    let points = points();
    let points = reference.map(|(scenario, delayed, packets_per_second)| {
        let same =
            |p: &&Point| p.sender == "Sack1" && p.scenario == scenario && p.delayed == delayed;
        let point = points.iter().find(same).expect("is in points.csv");
        Point { packets_per_second, ..point.clone() }
    });
    assert_agreement(&points);
}

/// Asserts agreement at all points of these senders of ns-2, of which there are at least `at_least`.
fn assert_agreement_at_all_points_of(senders: &[&str], at_least: usize) {
    let mut points = points();
    points.retain(|p| senders.contains(&p.sender.as_str()));
    assert!(points.iter().filter(|p| p.is_asserted()).count() >= at_least, "points are missing");
    assert_agreement(&points);
}

#[test]
fn sack_agrees_at_all_points() {
    assert_agreement_at_all_points_of(&["Sack1"], 22);
}

#[test]
fn reno_and_newreno_agree() {
    assert_agreement_at_all_points_of(&["Reno", "Newreno"], 36);
}

/// A line of `two-paths.csv`.
#[derive(Clone, Debug, Deserialize)]
struct Share {
    share: u32,
    packets_per_second: f64,
    window_cuts: f64,
}

/// Returns the packets per second and the number of recoveries of `sack` over the two paths.
fn over_two_paths(share: u32, duplicates: &str) -> (f64, f64) {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two-paths.toml");
    let overrides = [
        format!("traffic.bulk.weights=[{}, {share}]", 100 - share),
        format!("tcp.duplicates={duplicates}"),
    ];
    let scenario = Scenario::load(scenario, &overrides).expect("a scenario");
    let variant = Variant::named("sack").expect("is in the table");
    let row = run(&scenario, &variant, 1, None, never()).expect("a loaded scenario runs");
    let delivered = row.flow.delivered_segments as f64;
    (delivered / row.flow.duration_s, row.flow.sending.fast_retransmits as f64)
}

/// ns-2's Sack1 counts only the duplicates of the first hole, which matters if many segments are late
/// at the same time.
#[test]
fn sack_agrees_over_two_paths_if_duplicates_count_as_in_ns2() {
    let shares =
        csv::Reader::from_reader(include_str!("../../../../peers/ns2/two-paths.csv").as_bytes())
            .into_deserialize()
            .collect::<Result<Vec<Share>, _>>()
            .expect("two-paths.csv has these columns");
    assert_eq!(shares.len(), 11);
    let ours: Vec<_> = shares.par_iter().map(|s| over_two_paths(s.share, "ns-2")).collect();
    for (theirs, (rate, recoveries)) in shares.iter().zip(ours) {
        let Share { share, packets_per_second, window_cuts } = theirs;
        println!(
            "{share:3} %: ns-2 {packets_per_second:6.2} packets/s, here {rate:6.2}; recoveries \
             {window_cuts:4} and {recoveries:4}"
        );
        assert!((rate / packets_per_second - 1.0).abs() < 0.1, "{share} %: {rate}");
        let difference = (recoveries - window_cuts).abs();
        assert!(difference <= 0.1 * window_cuts + 5.0, "{share} %: {recoveries} recoveries");
    }
    // RFC 6675 counts differently, with a different result.
    let (rate, _) = over_two_paths(70, "rfc6675");
    assert!(rate < 175.06 / 5.0, "{rate}");
}
