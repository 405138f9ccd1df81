//! Links with a resequencer in scenarios.

use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::compare::compare;
use unruffled_lab::record::{Comparison, RunRow};

/// Compares `sack` over a built-in scenario with these overrides, with one seed.
fn sack_over(name: &str, overrides: &[&str]) -> Comparison {
    let fixed = ["duration=20 s", "seeds=1"];
    let overrides: Vec<String> = fixed.iter().chain(overrides).map(|&set| set.to_owned()).collect();
    compared(&Scenario::load(name, &overrides).expect("a scenario"))
}

/// Runs `sack` over a scenario.
fn compared(scenario: &Scenario) -> Comparison {
    let variants = scenario.senders(&["sack".to_owned()], "here").expect("a sender");
    compare(scenario, &variants, never(), || {}).expect("a loaded scenario runs")
}

fn row(comparison: &Comparison) -> &RunRow {
    &comparison.variants[0].rows[0]
}

/// Returns the goodput as a share of the undisturbed path's.
fn share(comparison: &Comparison) -> f64 {
    row(comparison).flow.goodput_bps / comparison.reference.bps()
}

/// Every second packet is 30 ms late. SACK takes three duplicates for a loss, and delivers a small part of
/// what the lines carry; behind the gateway it receives no duplicates.
#[test]
fn a_gateway_behind_bonded_lines_restores_the_order_for_any_sender() {
    let with = sack_over("gateway", &[]);
    assert!(share(&with) > 0.85, "{}", share(&with));
    assert!(row(&with).out_of_order_rate < 0.01, "{}", row(&with).out_of_order_rate);
    let without = sack_over("gateway", &["gateway.resequence=false"]);
    assert!(share(&without) < 0.1, "{}", share(&without));
    assert!(row(&without).out_of_order_rate > 0.3, "{}", row(&without).out_of_order_rate);
}

#[test]
fn the_undisturbed_reference_leaves_the_resequencer_out() {
    let with = sack_over("half-late", &["bottleneck.resequence=true"]);
    let without = sack_over("half-late", &[]);
    assert_eq!(with.reference.bps(), without.reference.bps());
    assert!(share(&with) > 2.0 * share(&without));
}

/// Returns the run of a flow over a link on which every second packet of data is late.
fn over_a_link(ends: &str, overrides: &[&str]) -> String {
    let text = format!(
        "duration = '20 s'\nvariants = ['sack']\nseeds = 1\n[topology]\nkind = 'explicit'\n\
         [link.line]\nfrom = 'a'\nto = 'b'\nrate = '10 Mbit/s'\ndelay = '20 ms'\nqueue = 50\n\
         [link.line.alternate]\nextra = '10 ms'\n[[traffic]]\nname = 'flow'\n{ends}"
    );
    let overrides: Vec<String> = overrides.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::parse("here", &text, &overrides).expect(&text);
    format!("{:?}", row(&compared(&scenario)))
}

#[test]
fn packets_cross_a_link_backwards_without_its_resequencer() {
    let with = ["line.resequence=true"];
    let forward = "from = 'a'\nto = 'b'";
    assert_ne!(over_a_link(forward, &with), over_a_link(forward, &[]));
    let backward = "from = 'b'\nto = 'a'";
    assert_eq!(over_a_link(backward, &with), over_a_link(backward, &[]));
    assert_eq!(over_a_link(backward, &[]), over_a_link(forward, &[]), "late in both directions");
}
