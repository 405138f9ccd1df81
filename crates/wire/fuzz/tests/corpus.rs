//! The corpus brings connections into every state: the fuzzer starts from all of them.

use std::fs;

use unruffled_tcp::State;
use unruffled_stack::codec::Malformed;
use unruffled_wire_fuzz::{capture, connection, decode, stack};

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
fn the_engine_is_in_every_state() {
    let seen: Vec<State> = inputs("connection").flat_map(|input| connection::run(&input)).collect();
    for state in STATES {
        assert!(seen.contains(&state), "{state:?}");
    }
}

/// Only what applications hold is looked at: no connection that is on its way in.
#[test]
fn a_stack_is_in_every_state_but_one() {
    let seen: Vec<State> = inputs("stack").flat_map(|input| stack::run(&input)).collect();
    for state in STATES {
        assert!(seen.contains(&state) || state == State::Listen, "{state:?}");
    }
}

#[test]
fn packets_are_read_and_refused_for_every_reason() {
    let found: Vec<Option<Malformed>> = inputs("decode").map(|input| decode::run(&input)).collect();
    for outcome in Malformed::ALL.map(Some).into_iter().chain([None]) {
        assert!(found.contains(&outcome), "{outcome:?}");
    }
}

/// Playing an input checks what is concluded of it.
#[test]
fn what_is_concluded_of_captures_adds_up() {
    let packets: Vec<Option<u64>> = inputs("capture").map(|input| capture::run(&input)).collect();
    assert!(packets.iter().flatten().any(|&packets| packets > 10), "{packets:?}");
}
