//! Which packets wait, and when they go on.

use unruffled_resequence::{Config, Role};

use crate::trace::{Trace, ms, tcp};

/// A flow with a handshake of 100 ms, which ends at 100 ms.
fn trace() -> Trace {
    let mut trace = Trace::new(Config::default());
    trace.handshake(0, 100);
    trace
}

#[test]
fn packets_in_order_pass_at_once() {
    let mut trace = trace();
    for n in 0..100 {
        assert_eq!(trace.data(200 + n, n), [(200 + n, n)]);
    }
    assert_eq!(trace.resequencer.poll_timeout(), None);
    assert_eq!(trace.resequencer.counters().held, 0);
}

#[test]
fn early_packets_wait_for_the_late_one() {
    let mut trace = trace();
    assert_eq!(trace.data(200, 0), [(200, 0)]);
    assert_eq!(trace.data(210, 2), []);
    assert_eq!(trace.data(220, 3), []);
    // Packet 2 came when 1 should have come. Packet 3 came 10 ms after that, and goes on 8 ms later: a run
    // keeps its spacing, compressed by 1.25.
    assert_eq!(trace.data(230, 1), [(230, 1), (230, 2)]);
    assert_eq!(trace.data(240, 4), [(238, 3)]);
    // 16 ms after packet 3. A lag of 20 ms is one of 14 now, and of 6 at packet 6.
    assert_eq!(trace.data(260, 5), [(254, 4)]);
    assert_eq!(trace.data(280, 6), [(270, 5)]);
    // 56 ms after packet 6 is over.
    assert_eq!(trace.data(350, 7), [(286, 6), (350, 7)]);
}

#[test]
fn the_first_wait_lasts_for_two_round_trips_of_the_handshake() {
    let mut trace = trace();
    trace.data(200, 0);
    assert_eq!(trace.data(210, 2), []);
    assert_eq!(trace.data(220, 4), []);
    // The gap before 2 opened at 210 ms, that before 4 at 220.
    assert_eq!(trace.until(409), []);
    assert_eq!(trace.until(500), [(410, 2), (420, 4)]);
    assert_eq!(trace.data(501, 1), [(501, 1)], "below the next number");
}

#[test]
fn each_gap_has_a_wait_of_its_own() {
    let mut trace = trace();
    trace.data(200, 0);
    trace.data(210, 2);
    trace.data(250, 4);
    assert_eq!(trace.data(300, 1), [(300, 1), (300, 2)]);
    assert_eq!(trace.until(449), []);
    assert_eq!(trace.until(500), [(450, 4)]);
}

#[test]
fn what_has_no_place_in_the_order_passes_at_once() {
    let mut trace = trace();
    trace.data(200, 0);
    trace.data(210, 2);
    assert_eq!(trace.packet(211, Role::Acknowledgement, 77), [(211, 77)]);
    assert_eq!(trace.data(212, 0), [(212, 0)], "a retransmission below");
    // A keep-alive: the octet before the next.
    let keep_alive = Role::Data { number: 1999, span: 1, timestamp: None };
    assert_eq!(trace.packet(213, keep_alive, 78), [(213, 78)]);
}

#[test]
fn a_reset_goes_on_behind_what_was_held() {
    let mut trace = trace();
    trace.data(200, 0);
    trace.data(210, 2);
    assert_eq!(trace.packet(211, Role::Close, 77), [(211, 2), (211, 77)]);
    assert_eq!(trace.resequencer.load().flows, 0);
    assert_eq!(trace.resequencer.poll_timeout(), None);
}

#[test]
fn a_new_handshake_begins_anew() {
    let mut trace = trace();
    trace.data(200, 0);
    trace.data(210, 2);
    assert_eq!(trace.packet(220, Role::Open { next: 9000 }, 77), [(220, 2), (220, 77)]);
    let data = |number| Role::Data { number, span: 10, timestamp: None };
    assert_eq!(trace.packet(320, data(9000), 1), [(320, 1)]);
    assert_eq!(trace.packet(330, data(9020), 3), []);
    assert_eq!(trace.packet(331, data(9010), 2), [(331, 2), (331, 3)]);
}

#[test]
fn a_copy_of_a_held_packet_waits_beside_it() {
    let mut trace = trace();
    trace.data(200, 0);
    assert_eq!(trace.packet(210, Role::Data { number: 3000, span: 1000, timestamp: None }, 2), []);
    assert_eq!(trace.packet(211, Role::Data { number: 3000, span: 1000, timestamp: None }, 20), []);
    assert_eq!(trace.data(212, 1), [(212, 1), (212, 2), (212, 20)]);
}

#[test]
fn super_packets_fill_several_gaps() {
    let mut trace = trace();
    let data = |number, span| Role::Data { number, span, timestamp: None };
    assert_eq!(trace.packet(200, data(1000, 64_000), 0), [(200, 0)]);
    assert_eq!(trace.packet(210, data(129_000, 64_000), 2), []);
    assert_eq!(trace.packet(211, data(225_000, 32_000), 4), []);
    // It covers the first gap and what is held behind it.
    assert_eq!(trace.packet(212, data(65_000, 128_000), 1), [(212, 1), (212, 2)]);
    assert_eq!(trace.packet(213, data(193_000, 32_000), 3), [(213, 3), (213, 4)]);
    assert_eq!(trace.resequencer.counters().late, 2);
}

#[test]
fn sequence_numbers_wrap() {
    let mut trace = Trace::new(Config::default());
    let start = u32::MAX - 1500;
    trace.packet(0, Role::Open { next: start }, 0);
    trace.packet(100, Role::Acknowledgement, 0);
    let data = |n: u32| {
        let number = u64::from(start.wrapping_add(1000 * n));
        Role::Data { number, span: 1000, timestamp: None }
    };
    assert_eq!(trace.packet(200, data(0), 0), [(200, 0)]);
    assert_eq!(trace.packet(201, data(3), 3), []);
    assert_eq!(trace.packet(202, data(2), 2), []);
    assert_eq!(trace.packet(203, data(1), 1), [(203, 1), (203, 2), (203, 3)]);
}

#[test]
fn flows_do_not_wait_for_each_other() {
    let mut trace = trace();
    trace.data(200, 0);
    trace.data(210, 2);
    trace.of(tcp(2));
    for n in 0..5 {
        assert_eq!(trace.data(211 + n, n), [(211 + n, n)]);
    }
}

#[test]
fn a_number_far_away_passes_and_a_second_one_there_moves_the_flow() {
    let mut trace = trace();
    trace.data(200, 0);
    trace.data(210, 2);
    let far = |n: u64| Role::Data { number: 2_000_000_000 + 1000 * n, span: 1000, timestamp: None };
    assert_eq!(trace.packet(211, far(0), 70), [(211, 70)]);
    assert_eq!(trace.packet(212, far(5), 71), [(212, 71)], "it does not follow the other");
    assert_eq!(trace.data(213, 3), []);
    assert_eq!(trace.packet(214, far(6), 72), [(214, 2), (214, 3), (214, 72)]);
    assert_eq!(trace.packet(215, far(8), 74), []);
    assert_eq!(trace.packet(216, far(7), 73), [(216, 73), (216, 74)]);
}

#[test]
fn the_hold_is_bounded() {
    let mut trace = Trace::new(Config { max_hold: ms(30), ..Config::default() });
    trace.handshake(0, 100);
    trace.data(200, 0);
    trace.data(210, 2);
    assert_eq!(trace.until(1000), [(240, 2)]);
}

/// A receiver of Linux drops what was sent before the latest data in order (PAWS).
#[test]
fn what_was_sent_before_a_retransmission_goes_on_before_it() {
    let mut trace = trace();
    trace.stamped = true;
    trace.sent(200, 0, 100);
    trace.sent(210, 2, 110);
    trace.sent(220, 4, 120);
    assert_eq!(trace.sent(290, 1, 190), [(290, 2), (290, 4), (290, 1)]);
    assert_eq!(trace.sent(291, 3, 191), [(291, 3)]);
    assert_eq!(trace.sent(292, 5, 192), [(292, 5)]);
}

#[test]
fn what_is_held_goes_on_in_order_at_the_end() {
    let mut trace = trace();
    trace.data(200, 0);
    for n in [5, 3, 7, 2] {
        assert_eq!(trace.data(210, n), []);
    }
    trace.resequencer.release_all(crate::trace::at(211));
    assert_eq!(trace.until(211), [(210, 2), (210, 3), (210, 5), (210, 7)]);
    assert_eq!(trace.resequencer.load().packets, 0);
    assert_eq!(trace.resequencer.load().octets, 0);
}
