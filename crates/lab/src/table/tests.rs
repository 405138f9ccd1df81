use unruffled_measure::{FlowRecord, RunRecord};

use super::*;
use crate::record::fake;
use crate::reference::{Limit, Reference};

#[test]
fn the_lines_below_a_table_are_wrapped_on_any_terminal() {
    let mut comparison = fake::comparison();
    comparison.medium = Medium::Wire;
    comparison.notes = vec!["a note of many words ".repeat(8).trim().to_owned()];
    let table = render(&comparison, 80, false);
    assert!(widest(&table) <= 80, "{table}");
    let below = "limit: link rates, simulated)\ncounts: means per run; ±: 95 %\na note of many";
    assert!(table.contains(below), "{table}");
    assert_eq!(table.split_whitespace().filter(|word| *word == "note").count(), 8, "{table}");
    assert!(render(&comparison, 90, false).contains("per run; ±: 95 %\n"));
}

#[test]
fn a_single_run_needs_no_note_on_intervals() {
    let mut comparison = fake::comparison();
    assert!(render(&comparison, 90, false).contains('±'));
    for variant in &mut comparison.variants {
        variant.rows.truncate(1);
        variant.records.truncate(1);
    }
    let table = render(&comparison, 90, false);
    assert!(!table.contains('±') && !table.contains("means"), "{table}");
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap()
}

#[test]
fn the_table_fits_into_80_columns_and_is_the_same_in_200() {
    let comparison = fake::comparison();
    let table = render(&comparison, 80, false);
    assert!(widest(&table) <= 80, "{table}");
    assert_eq!(table, render(&comparison, 200, false));
    for variant in &comparison.variants {
        let lines = table.lines().filter(|l| l.split(' ').next() == Some(&variant.name));
        assert_eq!(lines.count(), 1, "{}\n{table}", variant.name);
    }
}

#[test]
fn names_are_not_wrapped_if_a_column_can_be_omitted() {
    let mut comparison = fake::comparison();
    let mut of = |name: &str, medium| {
        comparison.medium = medium;
        name.clone_into(&mut comparison.variants[4].name);
        let table = render(&comparison, 80, false);
        assert!(widest(&table) <= 80, "{table}");
        assert!(table.contains(&format!("\n{name} ")), "{table}");
        table
    };
    for name in ["rr-ta", "linux-reordering"] {
        let table = of(name, Medium::Simulation);
        assert!(table.contains("spurious  timeouts  dupthresh\n"), "{table}");
    }
    let table = of("linux-reordering+cubic", Medium::Simulation);
    assert!(table.contains("spur.  RTO  dupthresh\n"), "{table}");
    let table = of("tcp-pr-extreme-with-own-flavour", Medium::Simulation);
    assert!(table.contains("spur.  RTO\n") && table.contains("no room for dupthresh\n"));
    let table = of("linux-reordering", Medium::Wire);
    assert!(table.contains("reord") && table.contains("; no room for DSACK\n"), "{table}");
}

#[test]
fn large_numbers_and_long_names_fit_as_well() {
    let mut comparison = fake::comparison();
    comparison.scenario = "a-scenario-with-a-name-that-does-not-end".repeat(3);
    comparison.reference = Reference::new(40e9, Limit::Links);
    for variant in &mut comparison.variants {
        variant.name = format!("{}-with-a-long-flavour", variant.name);
        let group = "a-group-of-flows-with-a-long-name".to_owned();
        let flows = vec![FlowRecord { group, ..FlowRecord::default() }];
        variant.records = vec![RunRecord { flows, ..RunRecord::default() }];
        for row in &mut variant.rows {
            row.flow.goodput_bps *= 3000.0;
            row.flow.sending.fast_retransmits *= 1000;
            row.flow.sending.false_fast_retransmits *= 1000;
        }
    }
    let table = render(&comparison, 80, false);
    assert!(widest(&table) <= 80, "{table}");
    assert!(table.contains("a-group-of"), "{table}");
}

#[test]
fn colour_is_used_only_on_request() {
    let comparison = fake::comparison();
    assert!(!render(&comparison, 80, false).contains('\u{1b}'));
    assert!(render(&comparison, 80, true).contains('\u{1b}'));
}

#[test]
fn csv_has_a_header_and_one_line_per_run() {
    let text = csv(&fake::comparison());
    assert_eq!(text.lines().count(), 1 + 7 * 5);
    assert!(text.starts_with("scenario,variant,seed,duration_s,delivered_segments,"), "{text}");
    let rack = text.lines().last().unwrap();
    assert_eq!(rack.split(',').nth(12), Some(""), "RACK has no dupthresh: {rack}");
}

#[test]
fn json_holds_every_run_and_the_means() {
    let comparison = fake::comparison();
    let value: serde_json::Value = serde_json::from_str(&json(&comparison)).unwrap();
    assert_eq!(value["scenario"], "fake");
    assert_eq!(value["undisturbed_bps"], 9.5e6);
    assert_eq!(value["reference"]["name"], "undisturbed");
    assert_eq!(value["reference"]["about"], "in order, nothing lost; limit: link rates");
    assert_eq!(value["reference"]["limit"], "links");
    assert_eq!(value["rows"].as_array().unwrap().len(), 35);
    assert_eq!(value["rows"][5]["variant"], "dsack-r");
    assert_eq!(value["variants"][0]["runs"], 5);
    assert!(value["variants"][0]["goodput_bps"]["ci95"].as_f64().unwrap() > 0.0);
    assert!(value["variants"][6]["dupthresh_mean"].is_null());
    assert_eq!(json(&comparison), json(&comparison.clone()));
}

#[test]
fn a_single_run_has_no_interval_in_json() {
    let mut comparison = fake::comparison();
    comparison.variants.iter_mut().for_each(|v| v.rows.truncate(1));
    let value: serde_json::Value = serde_json::from_str(&json(&comparison)).unwrap();
    assert!(value["variants"][0]["goodput_bps"]["mean"].as_f64().unwrap() > 0.0);
    assert!(value["variants"][0]["goodput_bps"]["ci95"].is_null());
}
