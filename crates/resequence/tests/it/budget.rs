//! Bounds on flows, packets and octets.

use unruffled_resequence::{Config, Role};

use crate::trace::{Trace, tcp};

#[test]
fn beyond_the_budget_the_first_wait_ends() {
    // Ten packets of 3000 octets.
    let mut trace = Trace::new(Config { budget: 30_000, ..Config::default() });
    trace.of(tcp(1)).handshake(0, 100);
    trace.data(200, 0);
    for n in 0..5 {
        trace.data(201 + n, 2 + n);
    }
    trace.of(tcp(2));
    trace.data(211, 0);
    for n in 0..5 {
        assert_eq!(trace.data(212 + n, 2 + n), []);
    }
    assert_eq!(trace.resequencer.load().octets, 30_000);
    // The first flow waits for longest.
    assert_eq!(trace.data(220, 8), [(220, 2), (220, 3), (220, 4), (220, 5), (220, 6)]);
    assert_eq!(trace.resequencer.load().packets, 6);
    assert_eq!(trace.resequencer.counters().over_budget, 5);
}

#[test]
fn beyond_the_limit_of_flows_the_one_idle_for_longest_goes() {
    let mut trace = Trace::new(Config { max_flows: 2, ..Config::default() });
    trace.handshake(0, 100);
    trace.data(200, 0);
    trace.data(201, 2);
    for n in 2..4 {
        trace.of(tcp(n));
        let out = trace.packet(202, Role::Open { next: 0 }, 70 + u64::from(n));
        match n {
            2 => assert_eq!(out, [(202, 72)]),
            _ => assert_eq!(out, [(202, 2), (202, 73)]),
        }
    }
    assert_eq!(trace.resequencer.load().flows, 2);
    assert_eq!(trace.resequencer.poll_timeout(), None);
    assert_eq!(trace.resequencer.counters().flows_evicted, 1);
}

#[test]
fn zero_limits_hold_nothing() {
    let config = Config { budget: 0, max_flows: 0, max_paths: 0, ..Config::default() };
    let mut trace = Trace::new(config);
    trace.handshake(0, 100);
    for n in [0, 2, 1, 5, 3] {
        assert_eq!(trace.data(200 + n, n).len(), 1);
    }
}
