//! Windows that no longer apply: after a pause, and after a lost SYN.

use crate::wire::{End, config, ms};
use unruffled_tcp::{Config, State};

fn established(restart_window: bool) -> End {
    let mut t = End::established(config().with(|c| {
        c.window.restart = restart_window;
        c.window.initial = 2;
    }));
    // Slow start: 2, then 3, then 4.
    t.writes(2000).sends(". 1:1001 a1, P. 1001:2001 a1");
    t.at(100).gets(". 1 a1001").gets(". 1 a2001").writes(3000);
    t.sends(". 2001:3001 a1, . 3001:4001 a1, P. 4001:5001 a1");
    t.at(200).gets(". 1 a5001").sends("").no_timer();
    assert_eq!(t.connection.window().cwnd, 4.0);
    t
}

/// RFC 5681, section 4.1: RW = min(IW, cwnd) after more than a timeout without data sent.
#[test]
fn after_a_pause_the_window_is_the_initial_one() {
    let mut t = established(true);
    // The last segment was sent at 100 ms, and the timeout is 1 s.
    t.at(1101).writes(4000).sends(". 5001:6001 a1, . 6001:7001 a1");
    t.gets(". 1 a6001").sends(". 7001:8001 a1, P. 8001:9001 a1");
}

#[test]
fn a_pause_no_longer_than_the_timeout_leaves_the_window() {
    let mut t = established(true);
    t.at(1100).writes(4000);
    t.sends(". 5001:6001 a1, . 6001:7001 a1, . 7001:8001 a1, P. 8001:9001 a1");
}

/// As in the simulator's default.
#[test]
fn without_the_restart_window_a_pause_leaves_the_window() {
    let mut t = established(false);
    t.at(60_000).writes(4000);
    t.sends(". 5001:6001 a1, . 6001:7001 a1, . 7001:8001 a1, P. 8001:9001 a1");
}

/// A window below the initial one stays as it is.
#[test]
fn a_smaller_window_is_not_raised() {
    let mut t = End::established(config().with(|c| {
        c.window.restart = true;
        c.window.initial = 4;
    }));
    t.writes(1000).sends("P. 1:1001 a1").timer().sends("P. 1:1001 a1").gets(". 1 a1001");
    let before = t.connection.window().cwnd;
    assert!(before < 4.0);
    t.at(60_000).writes(10);
    assert_eq!(t.connection.window().cwnd, before);
    t.sends("P. 1001:1011 a1");
}

fn single_segment_after_a_lost_syn() -> Config {
    config().with(|c| c.window.lost_syn_is_congestion = true)
}

/// RFC 5681, section 3.1; RFC 6298, 5.7.
#[test]
fn after_a_lost_syn_there_is_one_segment_and_a_timeout_of_3_s() {
    let mut t = End::connect(single_segment_after_a_lost_syn());
    t.sends("S 0").timer_at(1000).timer().sends("S 0").timer_at(3000);
    t.at(1100).gets("S. 0 a1 mss1000 sackok").sends(". 1 a1");
    t.writes(3000).sends(". 1:1001 a1").timer_at(4100);
    t.at(1200).gets(". 1 a1001").sends(". 1001:2001 a1, P. 2001:3001 a1");
    assert_eq!(t.connection.rto(), ms(1000), "a round-trip time was measured");
}

#[test]
fn after_a_lost_syn_ack_there_is_one_segment_and_a_timeout_of_3_s() {
    let mut t = End::listen(single_segment_after_a_lost_syn());
    t.gets("S 0 mss1000").sends("S. 0 a1").timer().sends("S. 0 a1");
    t.gets(". 1 a1").is(State::Established).writes(3000).sends(". 1:1001 a1").timer_at(4000);
}

#[test]
fn a_syn_that_was_not_lost_changes_nothing() {
    let mut t = End::connect(single_segment_after_a_lost_syn());
    t.sends("S 0").at(999).gets("S. 0 a1 mss1000 sackok").sends(". 1 a1");
    t.writes(3000).sends(". 1:1001 a1, . 1001:2001 a1, P. 2001:3001 a1");
    // The peer's SYN arrives again, because our answer was slow.
    let mut t = End::listen(single_segment_after_a_lost_syn());
    t.gets("S 0 mss1000").sends("S. 0 a1").gets("S 0 mss1000").sends("S. 0 a1").gets(". 1 a1");
    t.writes(2000).sends(". 1:1001 a1, P. 1001:2001 a1");
}

/// RFC 7323, appendix G: alpha' = alpha / ExpectedSamples. With delayed acknowledgements only half
/// as many samples are expected as there are segments in flight.
#[test]
fn the_weight_of_a_sample_depends_on_how_many_are_expected() {
    let srtt = |segments_per_ack| {
        let mut t = End::established(config().with(|c| {
            c.rto.segments_per_ack = segments_per_ack;
            c.window.initial = 4;
        }));
        t.writes(1000).sends("P. 1:1001 a1").at(100).gets(". 1 a1001").writes(4000);
        let before = t.connection.srtt().expect("a sample").as_millis_f64();
        t.sends(". 1001:2001 a1, . 2001:3001 a1, . 3001:4001 a1, P. 4001:5001 a1");
        t.at(300).gets(". 1 a3001");
        (t.connection.srtt().expect("a sample").as_millis_f64() - before) / (200.0 - before)
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a}, not {b}");
    near(srtt(1), 0.125 / 4.0);
    near(srtt(2), 0.125 / 2.0);
}
