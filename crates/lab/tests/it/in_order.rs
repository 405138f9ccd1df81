//! Without reordering, `unruffled` behaves exactly as `rack`: all figures of all flows are equal. This
//! includes flows that join a queue that is never empty, whose minimum round-trip time contains a part
//! of the queueing delay.

use rayon::prelude::*;
use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::run::record;
use unruffled_measure::RunRecord;
use unruffled_tcp::Variant;

/// Returns a scenario with `flows` flows that start within 10 s, after datagrams that take 90 % of the
/// rate.
fn standing_queue(flows: u32, rate_kbps: u32, rtt_ms: u32, queue: u32, lost: &str) -> String {
    format!(
        r#"
        duration = "30 s"
        seeds = 1
        variants = ["unruffled", "rack"]

        [tcp]
        window = 4000
        initial_window = 10
        min_rto = "200 ms"

        [topology]
        kind = "dumbbell"

        [link.bottleneck]
        rate = "{rate_kbps} kbit/s"
        delay = "{} us"
        queue = {queue}
        loss.fraction = "{lost}"
        loss.packets = "data"

        [[traffic]]
        name = "flows"
        count = {flows}
        until = "10 s"

        [[traffic]]
        name = "datagrams"
        app = "udp"
        size = 1100
        interval = "{} us"
        "#,
        rtt_ms * 500,
        1100 * 8 * 1000 * 10 / 9 / rate_kbps,
    )
}

/// Returns the record of a run of this sender, without the sender's name.
fn recorded(scenario: &Scenario, name: &str) -> RunRecord {
    let variant = Variant::named(name).expect("is in the table");
    let mut record = record(scenario, &variant, 1, None, never()).expect("runs");
    for flow in record.flows.iter_mut().filter(|flow| flow.sender == name) {
        flow.sender.clear();
    }
    record
}

#[test]
fn flows_that_join_a_standing_queue_behave_as_those_of_rack() {
    let overload = include_str!("../../../../docs/senders/overload.toml").to_owned();
    let in_order = ["link.bottleneck.delayed.fraction=0%".to_owned()];
    let mut cases = vec![("overload".to_owned(), overload, &in_order[..])];
    // Queues of half a round trip to four round trips.
    for (flows, rate_kbps, rtt_ms, queue, lost) in [
        (10, 35_000, 77, 112, "0%"),
        (5, 19_000, 112, 350, "0.1%"),
        (3, 47_000, 60, 940, "0%"),
        (20, 19_000, 41, 260, "0%"),
    ] {
        let name = format!("{flows} flows, {rate_kbps} kbit/s, {rtt_ms} ms, queue {queue}");
        cases.push((name, standing_queue(flows, rate_kbps, rtt_ms, queue, lost), &[]));
    }
    cases.into_par_iter().for_each(|(name, text, overrides)| {
        let scenario = Scenario::parse("standing-queue", &text, overrides).expect(&name);
        let ours = recorded(&scenario, "unruffled");
        let rack = recorded(&scenario, "rack");
        assert!(
            rack.flows.iter().any(|flow| flow.sending.fast_retransmits > 0),
            "{name}: nothing is lost"
        );
        assert!(
            ours == rack,
            "{name}: {:#?}",
            ours.flows.iter().zip(&rack.flows).find(|(a, b)| a != b)
        );
    });
}
