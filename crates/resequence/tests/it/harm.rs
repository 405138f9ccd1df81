//! Packets are held only for senders that late packets slow down.

use unruffled_resequence::Config;
use unruffled_units::Duration;

use crate::trace::{Trace, tcp};

/// Number of round trips of 100 ms in each trace.
const ROUNDS: u64 = 40;

/// A sender with `window` packets in each round trip of 100 ms, evenly spaced. The second of each round trip is
/// late by 150 ms, and a copy of it that was sent 100 ms later arrives before it. Returns the sum of the times for
/// which packets were held.
fn run(trace: &mut Trace, window: u64) -> Duration {
    let mut events = Vec::new();
    for round in 0..ROUNDS {
        for place in 0..window {
            let n = window * round + place;
            let sent = 1000 + 100 * round + 100 * place / window;
            if place == 1 {
                events.push((sent + 150 + 50, n, sent));
                events.push((sent + 100 + 50, n, sent + 100));
            } else {
                events.push((sent + 50, n, sent));
            }
        }
    }
    events.sort_unstable();
    for (time, n, sent) in events {
        trace.sent(time, n, sent);
    }
    trace.resequencer.counters().held_time
}

fn stamped(config: Config) -> Trace {
    let mut trace = Trace::as_configured(config);
    trace.stamped = true;
    trace.handshake(0, 100);
    trace
}

#[test]
fn packets_of_a_sender_that_late_packets_slow_down_are_held() {
    let mut trace = stamped(Config::default());
    // Ten packets in a round trip with a retransmission: below two initial windows.
    assert!(run(&mut trace, 10) > Duration::ZERO);
    assert!(trace.resequencer.paths()[0].hold > Duration::ZERO);
}

#[test]
fn packets_of_a_sender_that_keeps_its_window_pass_at_once() {
    let mut trace = stamped(Config::default());
    // Fifty packets in a round trip with a retransmission: Reno would have 1.5 on average.
    assert_eq!(run(&mut trace, 50), Duration::ZERO);
    assert_eq!(trace.resequencer.paths()[0].hold, Duration::ZERO);
    // The same packets are held for every sender.
    let mut trace = stamped(Config { always_hold: true, ..Config::default() });
    assert!(run(&mut trace, 50) > Duration::ZERO);
}

#[test]
fn nothing_is_held_before_a_sender_has_shown_harm() {
    let mut trace = stamped(Config::default());
    // Two late packets that are not sent again.
    for (n, time) in [0, 2, 1, 3, 5, 4, 6].into_iter().zip(200..) {
        assert_eq!(trace.sent(time, n, time - 50), [(time, n)]);
    }
    assert_eq!(trace.resequencer.counters().held_time, Duration::ZERO);
}

#[test]
fn a_later_connection_is_held_from_its_first_packet() {
    let mut trace = stamped(Config::default());
    run(&mut trace, 10);
    trace.until(60_000);
    trace.of(tcp(2));
    trace.handshake(60_000, 100);
    trace.sent(60_200, 0, 60_150);
    assert_eq!(trace.sent(60_210, 2, 60_160), []);
}
