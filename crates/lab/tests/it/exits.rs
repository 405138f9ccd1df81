//! Far ends of links that drop packets, in the rows of a comparison and in the records of a run.

use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::compare::compare;
use unruffled_lab::record::{Comparison, RunRow};
use unruffled_lab::run;
use unruffled_measure::RunRecord;

/// Loads a built-in scenario with one seed and these overrides.
fn scenario(name: &str, overrides: &[&str]) -> Scenario {
    let fixed = ["duration=5 s", "seeds=1"];
    let overrides: Vec<String> = fixed.iter().chain(overrides).map(|&set| set.to_owned()).collect();
    Scenario::load(name, &overrides).expect("a scenario")
}

fn compared(name: &str, overrides: &[&str]) -> Comparison {
    let scenario = scenario(name, overrides);
    let variants = scenario.senders(&["unruffled".to_owned()], "here").expect("a sender");
    compare(&scenario, &variants, never(), || {}).expect("a loaded scenario runs")
}

fn row(comparison: &Comparison) -> &RunRow {
    &comparison.variants[0].rows[0]
}

fn recorded(name: &str, overrides: &[&str]) -> RunRecord {
    let scenario = scenario(name, overrides);
    let variants = scenario.senders(&["unruffled".to_owned()], "here").expect("a sender");
    run::record(&scenario, &variants[0], 1, None, never()).expect("a loaded scenario runs")
}

/// The built-in `vpn` has nothing but late packets, so that all drops are the window's or the queue's.
#[test]
fn a_tunnel_with_a_short_window_keeps_a_fast_path_slow() {
    let without = compared("vpn", &[]);
    let short = compared("vpn", &["tunnel.replay_window=64"]);
    let long = compared("vpn", &["tunnel.replay_window=wireguard"]);
    let goodput = |comparison: &Comparison| row(comparison).flow.goodput_bps;
    assert!(goodput(&short) < 0.3 * goodput(&without), "{}", goodput(&short));
    assert_eq!(goodput(&long), goodput(&without), "nothing is 8129 packets behind");
    let exits = row(&short).flow.exits.expect("the link has a window");
    assert!(exits.replay_drops > 0 && exits.range_drops == 0, "{exits:?}");
    assert!(row(&short).flow.path.dropped_segments >= exits.replay_drops);
    assert!(row(&short).loss_rate > 0.0);
    assert_eq!(row(&without).flow.exits, None);
    assert_eq!(row(&long).flow.exits.map(|exits| exits.replay_drops), Some(0));
    assert_eq!(short.reference.bps(), without.reference.bps());
}

#[test]
fn drops_at_the_far_end_are_counted_by_link_and_by_flow() {
    for (overrides, replay) in
        [(["bottleneck.replay_window=32"], true), (["bottleneck.ranges=1"], false)]
    {
        let record = recorded("few-late", &overrides);
        let exits = record.flows[0].exits.expect("the link drops");
        let link = record.link("bottleneck").expect("the link");
        assert_eq!(link.replay_drops, exits.replay_drops, "all packets forward are data");
        assert_eq!(link.range_drops, exits.range_drops);
        let (some, none) = match replay {
            true => (exits.replay_drops, exits.range_drops),
            false => (exits.range_drops, exits.replay_drops),
        };
        assert!(some > 0 && none == 0, "{overrides:?}: {exits:?}");
        assert_eq!(link.lost_packets, 0, "these are counted by themselves");
        let dropped = record.flows[0].path.dropped_segments;
        assert_eq!(dropped, some + link.dropped_packets);
        let json = serde_json::to_string(&record).expect("a record");
        let again: RunRecord = serde_json::from_str(&json).expect("a record");
        assert_eq!(again.flows[0].exits, Some(exits));
        assert!(
            !serde_json::to_string(record.link("bottleneck-reverse").unwrap())
                .expect("a record")
                .contains("_drops")
        );
    }
}

/// The built-in `ecmp` has a window of 64 packets behind two paths in turns. Where the tunnel begins in front of
/// them, late packets are behind; where it begins behind them, none is.
#[test]
fn a_tunnel_over_two_ways_drops_what_one_behind_them_does_not() {
    let over = compared("ecmp", &[]);
    let behind = compared("ecmp", &["tunnel-end.replay_from=far"]);
    let drops =
        |comparison: &Comparison| row(comparison).flow.exits.map(|exits| exits.replay_drops);
    assert!(drops(&over).is_some_and(|drops| drops > 10), "{:?}", drops(&over));
    assert_eq!(drops(&behind), Some(0));
    let goodput = |comparison: &Comparison| row(comparison).flow.goodput_bps;
    assert!(goodput(&over) < 0.6 * goodput(&behind), "{}", goodput(&over));
}

#[test]
fn fragments_that_are_far_apart_are_counted_by_themselves() {
    let limited = recorded("few-late", &["bottleneck.fragments.mtu=1400"]);
    let exits = limited.flows[0].exits.expect("the link drops");
    let link = limited.link("bottleneck").expect("the link");
    assert!(exits.fragment_drops > 0, "{exits:?}");
    assert_eq!((exits.replay_drops, exits.range_drops), (0, 0));
    assert_eq!(link.fragment_drops, exits.fragment_drops);
    assert_eq!(limited.flows[0].path.dropped_segments, exits.fragment_drops + link.dropped_packets);
    let free = ["bottleneck.fragments.mtu=1400", "bottleneck.fragments.max_distance=0"];
    assert_eq!(recorded("few-late", &free).flows[0].exits, None);
}
