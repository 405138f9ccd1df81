//! The corpus leads connections into every state, so that the fuzzer starts from each.

use std::collections::BTreeSet;
use std::fs;

use unruffled_resequence::{Counters, Protocol};
use unruffled_stack::codec::Malformed;
use unruffled_tcp::State;
use unruffled_wire_fuzz::{
    capture, connection, decode, encapsulations, formats, resequence, stack,
};

const STATES: [State; 11] = [
    State::Closed,
    State::Listen,
    State::SynSent,
    State::SynReceived,
    State::Established,
    State::FinWait1,
    State::FinWait2,
    State::CloseWait,
    State::Closing,
    State::LastAck,
    State::TimeWait,
];

fn inputs(target: &str) -> impl Iterator<Item = Vec<u8>> {
    let folder = format!("{}/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(folder).expect("a corpus");
    entries.map(|entry| fs::read(entry.expect("a file").path()).expect("its octets"))
}

#[test]
fn the_corpus_leads_the_engine_into_every_state() {
    let seen: Vec<State> = inputs("connection").flat_map(|input| connection::run(&input)).collect();
    for state in STATES {
        assert!(seen.contains(&state), "{state:?}");
    }
}

/// The test has access only to connections that applications hold, and none of these is in LISTEN.
#[test]
fn the_corpus_leads_a_stack_into_every_state_except_listen() {
    let seen: Vec<State> = inputs("stack").flat_map(|input| stack::run(&input)).collect();
    for state in STATES {
        assert!(seen.contains(&state) || state == State::Listen, "{state:?}");
    }
}

#[test]
fn the_corpus_has_valid_packets_and_invalid_ones_for_every_reason() {
    let found: Vec<Option<Malformed>> = inputs("decode").map(|input| decode::run(&input)).collect();
    for outcome in Malformed::ALL.iter().copied().map(Some).chain([None]) {
        assert!(found.contains(&outcome), "{outcome:?}");
    }
}

/// Playing an input checks its results.
#[test]
fn the_results_for_captures_are_consistent() {
    let packets: Vec<Option<u64>> = inputs("capture").map(|input| capture::run(&input)).collect();
    assert!(packets.iter().flatten().any(|&packets| packets > 10), "{packets:?}");
}

/// Each input holds the frames of one link or encapsulation.
#[test]
fn the_corpus_has_packets_in_every_encapsulation() {
    let found: Vec<u64> =
        inputs("encapsulations").map(|input| encapsulations::run(&input)).collect();
    assert!(found.len() > 40 && found.iter().all(|&packets| packets > 0), "{found:?}");
}

#[test]
fn the_corpus_has_captures_of_every_format() {
    let found: Vec<Option<u64>> = inputs("formats").map(|input| formats::run(&input)).collect();
    assert!(found.len() >= 12 && found.iter().all(|frames| *frames == Some(3)), "{found:?}");
}

#[test]
fn the_corpus_has_packets_of_all_protocols_that_meet_all_bounds() {
    let seen: Vec<resequence::Seen> =
        inputs("resequence").map(|input| resequence::run(&input)).collect();
    let protocols: BTreeSet<Option<Protocol>> =
        seen.iter().flat_map(|seen| seen.protocols.iter().copied()).collect();
    for protocol in [Protocol::Tcp, Protocol::WireGuard, Protocol::Esp, Protocol::OpenVpn] {
        assert!(protocols.contains(&Some(protocol)), "{protocol:?}");
    }
    assert!(protocols.contains(&None));
    let counts: Vec<Counters> = seen.iter().map(|seen| seen.counters).collect();
    assert!(counts.iter().any(|counters| counters.held > 0));
    assert!(counts.iter().any(|counters| counters.late > 0));
    assert!(counts.iter().any(|counters| counters.too_late > 0));
    assert!(counts.iter().any(|counters| counters.given_up > 0));
    assert!(counts.iter().any(|counters| counters.over_budget > 0));
    assert!(counts.iter().any(|counters| counters.flows_evicted > 0));
}
