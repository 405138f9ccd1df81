//! Packets that no honest sender or path produces, and rare ones that look like them.

use unruffled_resequence::{Config, Role};

use crate::trace::Trace;

/// Returns data of 1000 octets, sent at `sent` by the sender's clock.
fn data(number: u64, sent: u32) -> Role {
    Role::Data { number, span: 1000, timestamp: Some(sent) }
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
        let first = u64::from(clock);
        let at = if clock == 100 { 5000 } else { 0 };
        trace.packet(at, Role::Open { next: clock }, 0);
        trace.packet(at + 100, Role::Acknowledgement, 0);
        trace.packet(at + 200, data(first, clock), 1);
        assert_eq!(trace.packet(at + 201, data(first + 2000, clock + 1), 3), []);
        assert_eq!(trace.packet(at + 202, data(first + 4000, clock + 2), 5), []);
        // It was sent again after them, and so they go on before it.
        let mut left = trace.packet(at + 290, data(first + 1000, clock + 90), 2);
        left.extend(trace.until(at + 1000));
        let order: Vec<u64> = left.into_iter().map(|(_, n)| n).collect();
        assert_eq!(order, [3, 5, 2], "{clock}");
    }
}

#[test]
fn a_late_copy_of_a_syn_does_not_begin_anew() {
    let mut trace = Trace::new(Config::default());
    trace.packet(0, Role::Open { next: 0 }, 0);
    trace.packet(100, Role::Acknowledgement, 0);
    for n in 0..100 {
        trace.packet(200 + n, data(1000 * n, n as u32), n);
    }
    trace.packet(300, Role::Open { next: 0 }, 0);
    assert_eq!(trace.packet(301, data(100_000, 301), 7), [(301, 7)]);
}

#[test]
fn acknowledgements_alone_are_no_flows() {
    let mut trace = Trace::new(Config::default());
    for n in 0..1000 {
        trace.of(crate::trace::tcp(n)).packet(1, Role::Acknowledgement, 1);
    }
    assert_eq!(trace.resequencer.load().flows, 0);
}

#[test]
fn a_packet_with_the_timestamp_of_the_one_that_overtook_it_was_sent_once() {
    let mut trace = Trace::new(Config::default());
    trace.packet(0, Role::Open { next: 0 }, 0);
    trace.packet(100, Role::Acknowledgement, 0);
    trace.packet(1000, data(0, 1000), 1);
    trace.packet(1000, data(2000, 1000), 3);
    trace.packet(1350, data(1000, 1000), 2);
    assert_eq!(trace.resequencer.counters().late, 1);
    assert_eq!(trace.resequencer.paths()[0].longest, crate::trace::ms(350));
}
