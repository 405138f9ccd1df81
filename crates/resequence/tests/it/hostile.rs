//! Packets that no honest sender or path produces, and rare ones that look like them.

use unruffled_resequence::{Config, Role};

use crate::trace::{Trace, ms};

/// Returns data of 1000 octets, sent at `sent` by the sender's clock.
fn data(number: u64, sent: u32) -> Role {
    Role::Data { number, span: 1000, timestamp: Some(sent) }
}

/// A retransmission in front of another one keeps no pace of its own, since packets that arrived before it wait
/// behind it.
#[test]
fn a_pace_does_not_exceed_the_longest_wait() {
    let mut trace = Trace::new(Config { max_hold: ms(50), ..Config::default() });
    trace.packet(2010, Role::Open { next: 0 }, 0);
    trace.packet(3000, data(0, 219), 1);
    // It was sent at 5 and opens the gap. What follows was sent after it, and so again.
    assert_eq!(trace.packet(3010, data(300_000, 5), 7), []);
    assert_eq!(trace.packet(3010, data(4000, 128), 8), []);
    assert_eq!(trace.packet(3010, data(50_000, 9), 10), []);
    assert_eq!(trace.packet(3015, data(80_000, 66), 11), []);
    let left = trace.until(4000);
    assert_eq!(left.len(), 4);
    assert!(left.iter().all(|&(at, n)| n == 11 || at <= 3060), "{left:?}");
}

#[test]
fn a_gap_that_was_given_up_at_the_beginning_of_the_clock_is_not_waited_for() {
    let mut trace = Trace::new(Config::default());
    trace.packet(0, Role::Open { next: 0 }, 0);
    trace.packet(100, Role::Acknowledgement, 0);
    trace.packet(101, data(0, 1), 1);
    assert_eq!(trace.packet(102, data(3000, 2), 2), []);
    // Sent again, so that the wait for its first transmission is over.
    assert_eq!(trace.packet(103, data(1000, 3), 3), [(103, 2), (103, 3)]);
}

#[test]
fn a_new_connection_has_a_new_clock() {
    let mut trace = Trace::new(Config::default());
    for clock in [1_000_000, 100] {
        let at = if clock == 100 { 5000 } else { 0 };
        trace.packet(at, Role::Open { next: 0 }, 0);
        trace.packet(at + 100, Role::Acknowledgement, 0);
        trace.packet(at + 200, data(0, clock), 1);
        assert_eq!(trace.packet(at + 201, data(2000, clock + 1), 3), []);
        assert_eq!(trace.packet(at + 202, data(4000, clock + 2), 5), []);
        // It was sent again after them, and so they go on before it.
        let mut left = trace.packet(at + 290, data(1000, clock + 90), 2);
        left.extend(trace.until(at + 1000));
        let order: Vec<u64> = left.into_iter().map(|(_, n)| n).collect();
        assert_eq!(order, [3, 5, 2], "{clock}");
    }
}
