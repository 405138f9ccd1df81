//! Comparison with a second implementation of the papers' senders, in ns-2.35 and independent of
//! this project: `peers/ns2/second-look.csv` and `second-look-leads.csv`, where the two agree.
//!
//! The runs are those of the experiments, with fewer points, lines and seeds.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::Deserialize;
use toml::{Table, Value};
use unruffled_lab::store::Store;
use unruffled_papers::experiment::{BUILTIN, Experiment};
use unruffled_papers::reproduce::Plan;

/// A line of `second-look.csv`.
#[derive(Clone, Debug, Deserialize)]
struct Number {
    experiment: String,
    line: String,
    measure: String,
    x: Option<f64>,
    ns2: f64,
    seeds: u64,
    /// The tolerance: `5 %` of ns-2's number, or an absolute one; empty if the two differ.
    agrees_within: String,
}

impl Number {
    /// Returns the tolerance as an absolute number; none if the two differ.
    fn tolerance(&self) -> Option<f64> {
        let text = self.agrees_within.as_str();
        let number = |text: &str| text.trim().parse::<f64>().expect("a number");
        match text.strip_suffix('%') {
            _ if text.is_empty() => None,
            Some(percent) => Some(number(percent) / 100.0 * self.ns2),
            None => Some(number(text)),
        }
    }
}

/// A line of `second-look-leads.csv`: the lead of AVG-DEV over another sender, the mean over all
/// factors; for ad-6 its rate as a share of the other's.
#[derive(Clone, Debug, Deserialize)]
struct Lead {
    experiment: String,
    over: String,
    ns2_percent: f64,
    agrees_within_points: Option<f64>,
}

fn rows<T: serde::de::DeserializeOwned>(text: &str) -> Vec<T> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    rows.map(|row| row.expect("the file has these columns")).collect()
}

fn numbers() -> Vec<Number> {
    rows(include_str!("../../../../peers/ns2/second-look.csv"))
}

fn leads() -> Vec<Lead> {
    rows(include_str!("../../../../peers/ns2/second-look-leads.csv"))
}

/// Returns the experiment without claims and drawings, with these lines, points and seeds, and with
/// the parameters of the second implementation.
fn reduced(id: &str, lines: &[&str], points: &[f64], seeds: u64, set: &[(&str, &str)]) -> String {
    let (_, text) = BUILTIN.iter().find(|(name, _)| *name == id).expect("is one of them");
    let mut table: Table = toml::from_str(text).expect("TOML");
    for part in ["claim", "panel", "plot"] {
        table.remove(part);
    }
    let mut full = Table::new();
    full.insert("full".to_owned(), Value::Integer(seeds as i64));
    table.insert("seeds".to_owned(), Value::Table(full));
    if let Some(Value::Table(x)) = table.get_mut("x") {
        x.remove("quick");
        if !points.is_empty() {
            let values = points.iter().map(|&x| Value::Float(x)).collect();
            x.insert("values".to_owned(), Value::Array(values));
        }
    }
    let parts = |table: &mut Table, name: &str, keep: &dyn Fn(&Table) -> bool| {
        let Some(Value::Array(list)) = table.get_mut(name) else { panic!("{id} has no {name}") };
        list.retain(|part| part.as_table().is_some_and(keep));
        for part in list {
            part.as_table_mut().expect("a table").remove("lines");
        }
    };
    let expected = |part: &Table| lines.iter().any(|line| part["name"].as_str() == Some(line));
    parts(&mut table, "line", &expected);
    parts(&mut table, "measure", &|_| true);
    let settings = table.entry("set").or_insert_with(|| Value::Table(Table::new()));
    for (key, value) in set {
        let settings = settings.as_table_mut().expect("a table");
        settings.insert((*key).to_owned(), Value::String((*value).to_owned()));
    }
    toml::to_string(&table).expect("TOML")
}

/// The means over the seeds by line, measure and point.
type Means = BTreeMap<(String, String), Vec<f64>>;

/// Runs an experiment and returns its points and means.
fn means(text: &str) -> (Vec<f64>, Means) {
    let experiments = [Experiment::parse("reduced.toml", text, false).expect("makes sense")];
    let store = Mutex::new(Store::in_memory().expect("memory"));
    let plan = Plan::new(&experiments).expect("a plan");
    plan.missing(&store).expect("a store").run(&store, &()).expect("runs");
    let outcomes = plan.outcomes(&store).expect("results");
    let experiment = &experiments[0];
    let mut means = Means::new();
    for (line, found) in experiment.lines.iter().zip(&outcomes[0].lines) {
        for (measure, by_point) in experiment.measures.iter().zip(&found.values) {
            let mean = |seeds: &Vec<f64>| seeds.iter().sum::<f64>() / seeds.len() as f64;
            let key = (line.name.clone(), measure.name.clone());
            means.insert(key, by_point.iter().map(mean).collect());
        }
    }
    (experiment.sweep.points.iter().map(|point| point.x).collect(), means)
}

/// Checks that the numbers of an experiment are within their tolerances, and that there are at
/// least `at_least` of them.
fn agree(id: &str, at_least: usize, set: &[(&str, &str)]) {
    let of_it: Vec<Number> = numbers().into_iter().filter(|n| n.experiment == id).collect();
    let mut lines: Vec<&str> = of_it.iter().map(|n| n.line.as_str()).collect();
    lines.dedup();
    let mut points: Vec<f64> = of_it.iter().filter_map(|n| n.x).collect();
    points.sort_by(f64::total_cmp);
    points.dedup();
    let seeds = of_it.iter().map(|n| n.seeds).max().expect("some");
    let (xs, means) = means(&reduced(id, &lines, &points, seeds, set));
    let (mut list, mut missed, mut asserted) = (String::new(), 0, 0);
    for number in &of_it {
        let place = number.x.map_or(0, |x| xs.iter().position(|&y| y == x).expect("a point"));
        let ours = means[&(number.line.clone(), number.measure.clone())][place];
        let tolerance = number.tolerance();
        let misses = tolerance.is_some_and(|t| (ours - number.ns2).abs() > t);
        asserted += usize::from(tolerance.is_some());
        missed += usize::from(misses);
        let remark = match (tolerance, misses) {
            (None, _) => "  (not asserted)",
            (_, true) => "  <- misses",
            _ => "",
        };
        let Number { line, measure, x, ns2, .. } = number;
        list += &format!("{line}, {measure} at {x:?}: ns-2 {ns2}, here {ours:.4}{remark}\n");
    }
    println!("{list}");
    assert!(asserted >= at_least, "numbers are missing");
    assert_eq!(missed, 0, "too far from the second implementation:\n{list}");
}

/// The literal reading of line 24, as in figure 6 of the second implementation.
#[test]
fn tcp_pr_shares_as_in_figure_6() {
    let letter = ["tcp-pr", "tcp-pr-extreme", "tcp-pr-sack"];
    let letter = letter.map(|sender| format!("variant.{sender}.whole"));
    let set: Vec<(&str, &str)> = letter.iter().map(|key| (key.as_str(), "false")).collect();
    agree("pr-6", 23, &set);
}

#[test]
fn tcp_sack_shares_beside_tcp_pr_with_whole_packets_as_in_figure_8() {
    agree("pr-8", 4, &[]);
}

#[test]
fn avg_dev_and_its_rivals_deliver_as_in_figure_3() {
    agree("ad-3", 10, &[]);
}

#[test]
fn sack_without_reordering_delivers_as_in_figure_5() {
    agree("ad-5", 3, &[]);
}

#[test]
fn rr_tcp_delivers_as_in_figure_3() {
    agree("rr-3", 9, &[]);
}

#[test]
fn rr_tcp_delivers_as_in_table_3() {
    agree("rr-t3", 1, &[]);
}

#[test]
fn avg_dev_leads_as_in_figures_3_to_6() {
    let mut missed = Vec::new();
    let mut asserted = 0;
    for (id, measure) in [
        ("ad-3", "throughput"),
        ("ad-4", "throughput"),
        ("ad-5", "throughput"),
        ("ad-6", "unnecessary"),
    ] {
        let leads: Vec<Lead> = leads().into_iter().filter(|l| l.experiment == id).collect();
        let others = leads.iter().filter(|l| l.agrees_within_points.is_some());
        let mut lines: Vec<&str> = others.map(|l| l.over.as_str()).collect();
        lines.push("AVG-DEV");
        let (_, means) = means(&reduced(id, &lines, &[], 2, &[]));
        let of = |line: &str| &means[&(line.to_owned(), measure.to_owned())];
        for lead in &leads {
            let Some(tolerance) = lead.agrees_within_points else { continue };
            let pairs = of("AVG-DEV").iter().zip(of(&lead.over));
            let ours = if id == "ad-6" {
                let sum = |line| of(line).iter().sum::<f64>();
                sum("AVG-DEV") / sum(&lead.over) * 100.0
            } else {
                let ratios: Vec<f64> = pairs.map(|(a, b)| a / b).collect();
                (ratios.iter().sum::<f64>() / ratios.len() as f64 - 1.0) * 100.0
            };
            println!("{id} over {}: ns-2 {} %, here {ours:.1} %", lead.over, lead.ns2_percent);
            asserted += 1;
            if (ours - lead.ns2_percent).abs() > tolerance {
                missed.push(format!("{id} over {}: {ours:.1} %", lead.over));
            }
        }
    }
    assert!(asserted >= 10, "leads are missing");
    assert!(missed.is_empty(), "too far from the second implementation: {missed:?}");
}
