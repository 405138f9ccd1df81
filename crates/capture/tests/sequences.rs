//! What single packets tell: late or sent again, needed or spurious, at each place of the path.

mod hand;

use hand::Hand;
use unruffled_capture::{Cause, Place, judge};

/// Ten segments a millisecond apart, from segment 0 at 100 ms.
fn ten(hand: &mut Hand) {
    (0..10).for_each(|n| {
        hand.data(100.0 + f64::from(n), n, 100 + n);
    });
}

#[test]
fn in_order_nothing_is_late_or_sent_again() {
    let mut hand = Hand::at_sender(true);
    ten(&mut hand);
    (1..=10).for_each(|n| {
        hand.ack(149.0 + f64::from(n), n, 99 + n, &[]);
    });
    let found = hand.found();
    assert_eq!((found.traffic.segments, found.reordering_here.reordered), (10, 0));
    assert_eq!(found.retransmissions, Default::default());
    assert_eq!(found.losses.lost, 0);
    assert_eq!(found.place, Place::Sender);
    assert_eq!(found.traffic.stream_bytes, 10_000);
    assert_eq!(found.rtt.beyond_ms, Some(50.0));
}

/// RFC 7323, section 4.1: a timestamp clock does not run backwards.
#[test]
fn at_the_receiver_an_older_timestamp_tells_a_late_packet() {
    let mut hand = Hand::at_receiver(true);
    hand.data(100.0, 0, 100).data(101.0, 2, 102).data(102.0, 3, 103);
    // As late as a retransmission would be.
    hand.data(180.0, 1, 101);
    let found = hand.found();
    assert_eq!((found.retransmissions.total, found.reordering_here.reordered), (0, 1));
    let late = found.reordering_here.late_time.unwrap();
    assert!((late.median_ms - 79.0).abs() < 0.8, "{late:?}");
    assert_eq!(found.reordering_here.mean_extent, Some(2.0));
    assert_eq!(found.retransmissions.judged_by_time, 0);
}

#[test]
fn at_the_receiver_a_younger_timestamp_tells_a_retransmission() {
    let mut hand = Hand::at_receiver(true);
    hand.data(100.0, 0, 100).data(101.0, 2, 102).data(102.0, 3, 103);
    // As soon as a late packet would be.
    hand.data(104.0, 1, 104);
    let found = hand.found();
    assert_eq!((found.retransmissions.total, found.reordering_here.reordered), (1, 0));
    assert_eq!((found.losses.lost, found.retransmissions.spurious), (1, 0));
}

#[test]
fn identifications_tell_where_there_are_no_timestamps() {
    let mut hand = Hand::at_receiver(false).with_ids();
    (0..20).for_each(|n| {
        hand.data_with_id(f64::from(n), n, 50 + n as u16);
    });
    hand.data_with_id(30.0, 21, 71).data_with_id(31.0, 22, 72).data_with_id(99.0, 20, 70);
    hand.data_with_id(100.0, 24, 74).data_with_id(101.0, 25, 75).data_with_id(102.0, 23, 76);
    let found = hand.found();
    assert_eq!((found.reordering_here.reordered, found.retransmissions.total), (1, 1));
    assert_eq!(found.retransmissions.judged_by_time, 0);
}

#[test]
fn without_either_the_round_trip_decides() {
    let mut hand = Hand::at_receiver(false);
    hand.data(100.0, 0, 0).data(101.0, 2, 0).data(130.0, 1, 0);
    hand.data(200.0, 4, 0).data(260.0, 3, 0);
    let found = hand.found();
    assert_eq!((found.reordering_here.reordered, found.retransmissions.total), (1, 1));
    assert_eq!(found.retransmissions.judged_by_time, 2);
}

/// 25 ms from either end and back: the sender answers what passes after 50 ms, no sooner.
#[test]
fn between_both_ends_the_whole_round_trip_decides() {
    let mut hand = Hand::between();
    hand.data(100.0, 0, 0).ack(125.0, 1, 0, &[]);
    hand.data(200.0, 2, 0).data(240.0, 1, 0);
    hand.data(300.0, 4, 0).data(350.0, 3, 0);
    let found = hand.found();
    assert_eq!((found.reordering_here.reordered, found.retransmissions.total), (1, 1));
    assert_eq!(found.retransmissions.judged_by_time, 2);
}

#[test]
fn an_original_after_its_retransmission_makes_that_spurious() {
    let mut hand = Hand::at_receiver(true);
    hand.data(100.0, 0, 100).data(101.0, 2, 102).data(102.0, 3, 103);
    hand.data(160.0, 1, 160).ack(160.0, 4, 160, &[]);
    hand.data(181.0, 1, 101);
    let found = hand.found();
    assert_eq!((found.retransmissions.total, found.retransmissions.spurious), (1, 1));
    assert_eq!(found.retransmissions.spurious_by_original, 1);
    assert_eq!((found.losses.lost, found.reordering_here.reordered), (0, 1));
    assert_eq!(found.reordering_here.late_time.unwrap().max_ms.round(), 80.0);
}

/// SACK tells at the sender in which order segments arrive, and when.
#[test]
fn at_the_sender_acknowledgements_tell_what_came_late() {
    let mut hand = Hand::at_sender(true);
    ten(&mut hand);
    hand.ack(150.0, 1, 100, &[]).ack(152.0, 1, 100, &[(2, 3)]).ack(153.0, 1, 100, &[(2, 4)]);
    hand.ack(154.0, 4, 101, &[]).ack(156.0, 6, 105, &[]).ack(160.0, 10, 109, &[]);
    let found = hand.found();
    assert_eq!(found.reordering_here.reordered, 0);
    let told = found.reordering_at_receiver.as_ref().unwrap();
    assert_eq!((told.packets, told.reordered, told.max_extent), (10, 1, 2));
    assert_eq!(told.late_time.as_ref().unwrap().max_ms.round(), 2.0);
    assert_eq!(found.reordering().reordered, 1);
}

/// RFC 2883, section 4.1.
#[test]
fn a_dsack_makes_a_retransmission_spurious_once() {
    let mut hand = Hand::at_sender(false);
    ten(&mut hand);
    hand.ack(150.0, 1, 0, &[]).ack(152.0, 1, 0, &[(2, 5)]);
    hand.data(153.0, 1, 0);
    // The original comes at last, and then the copy, which is told twice.
    hand.ack(160.0, 10, 0, &[]).ack(203.0, 10, 0, &[(1, 2)]).ack(204.0, 10, 0, &[(1, 2)]);
    let found = hand.found();
    let resent = found.retransmissions;
    assert_eq!((resent.total, resent.spurious, resent.needed), (1, 1, 0));
    assert_eq!(resent.dsacks, 2);
    assert_eq!((found.windows.recoveries, found.windows.spurious_recoveries), (1, 1));
    assert_eq!(found.reordering_at_receiver.unwrap().reordered, 1);
}

#[test]
fn an_acknowledgement_and_a_dsack_tell_of_one_retransmission() {
    let mut hand = Hand::at_receiver(true);
    hand.data(100.0, 0, 100).data(102.0, 2, 102).data(160.0, 1, 160).ack(160.0, 3, 160, &[]);
    hand.data(400.0, 1, 400).ack(400.0, 3, 160, &[(1, 2)]);
    let resent = hand.found().retransmissions;
    assert_eq!((resent.total, resent.spurious, resent.needed), (2, 1, 1));
}

/// RFC 3522: the acknowledgement of a retransmission that was needed echoes its timestamp.
#[test]
fn an_echo_tells_which_copy_arrived() {
    for (echo, spurious) in [(101, 1), (153, 0)] {
        let mut hand = Hand::at_sender(true);
        ten(&mut hand);
        hand.ack(150.0, 1, 100, &[]).ack(152.0, 1, 100, &[(2, 5)]);
        hand.data(153.0, 1, 153).ack(210.0, 10, echo, &[]);
        let found = hand.found();
        assert_eq!((found.retransmissions.total, found.retransmissions.spurious), (1, spurious));
        assert_eq!(found.retransmissions.spurious_by_timestamps, spurious);
        assert_eq!(found.reordering_at_receiver.unwrap().reordered, spurious);
    }
}

#[test]
fn what_is_sent_again_after_its_acknowledgement_is_spurious() {
    let mut hand = Hand::at_sender(false);
    ten(&mut hand);
    hand.ack(160.0, 10, 0, &[]);
    hand.data(161.0, 9, 0);
    let resent = hand.found().retransmissions;
    assert_eq!((resent.total, resent.spurious_by_acknowledgement), (1, 1));
}

#[test]
fn a_timeout_is_told_by_the_silence_before_it() {
    let mut hand = Hand::at_sender(false);
    ten(&mut hand);
    hand.ack(160.0, 9, 0, &[]);
    hand.data(460.0, 9, 0).ack(510.0, 10, 0, &[]);
    let found = hand.found();
    assert_eq!((found.retransmissions.timeouts, found.losses.lost), (1, 1));
    assert!(found.limits.unwrap().timeout > 0.5, "{:?}", found.limits);
}

#[test]
fn a_joined_segment_counts_as_the_segments_that_it_becomes() {
    let mut hand = Hand::at_sender(false);
    hand.joined(100.0, 0, 40);
    hand.ack(150.0, 3, 0, &[]).ack(151.0, 3, 0, &[(4, 5)]).ack(153.0, 5, 0, &[]);
    hand.ack(154.0, 40, 0, &[]);
    let found = hand.found();
    assert_eq!((found.traffic.segments, found.traffic.stream_bytes), (40, 40_000));
    let told = found.reordering_at_receiver.unwrap();
    assert_eq!((told.packets, told.reordered), (40, 1));
}

#[test]
fn what_the_capture_lacks_is_neither_late_nor_lost() {
    let mut hand = Hand::at_sender(true);
    (0..10).filter(|n| n % 3 != 1).for_each(|n| {
        hand.data(100.0 + f64::from(n), n, 100 + n);
    });
    (1..=10).for_each(|n| {
        hand.ack(149.0 + f64::from(n), n, 99 + n, &[]);
    });
    let found = hand.found();
    assert_eq!((found.losses.not_captured, found.losses.lost), (3, 0));
    assert_eq!(found.reordering_here.reordered, 0);
}

#[test]
fn sequence_numbers_may_wrap() {
    let mut hand = Hand::at_sender(true);
    // 5 million segments of 1000 octets are more than 2^32.
    for n in 0..5_000_000_u32 {
        let at = 100.0 + f64::from(n) * 0.01;
        hand.data(at, n, n / 100);
        if n % 1000 == 999 {
            hand.ack(at, n + 1, n / 100, &[]);
        }
    }
    let found = hand.found();
    assert_eq!((found.traffic.segments, found.traffic.stream_bytes), (5_000_000, 5_000_000_000));
    assert_eq!((found.retransmissions.total, found.losses.strange), (0, 0));
    assert_eq!(found.reordering_here.reordered, 0);
}

/// Every other packet of a burst is late; then one packet at a time is sent, and nothing queues.
#[test]
fn packets_that_were_sent_closer_together_than_they_arrive_tell_the_rate() {
    let mut hand = Hand::at_sender(false);
    (0..10).for_each(|n| {
        hand.data(100.0, n, 0);
    });
    hand.ack(150.0, 1, 0, &[]);
    for n in [2, 4, 6, 8] {
        hand.ack(150.0 + 2.0 * f64::from(n), 1, 0, &[(n, n + 1)]);
    }
    hand.ack(250.0, 10, 0, &[]);
    (10..40).for_each(|n| {
        let at = f64::from(n) * 60.0;
        hand.data(at, n, 0).ack(at + 50.0, n + 1, 0, &[]);
    });
    let spacing = hand.found().spacing_ms.unwrap();
    assert!((spacing - 2.0).abs() < 0.1, "{spacing} ms");
}

/// Packets that wait for something else on their way are further apart than the path requires.
#[test]
fn a_burst_that_is_held_up_does_not_make_the_path_slower() {
    let mut hand = Hand::at_sender(false);
    (0..60).for_each(|n| {
        let at = 100.0 + 2.0 * f64::from(n);
        hand.data(at, n, 0);
        if n >= 25 {
            hand.ack(at, n - 24, 0, &[]);
        }
    });
    (36..60).for_each(|n| {
        hand.ack(150.0 + 2.0 * f64::from(n), n, 0, &[]);
    });
    (60..70).for_each(|n| {
        hand.data(400.0, n, 0);
    });
    (60..70).for_each(|n| {
        hand.ack(450.0 + 4.0 * f64::from(n - 59), n + 1, 0, &[]);
    });
    let spacing = hand.found().spacing_ms.unwrap();
    assert!((spacing - 2.0).abs() < 0.1, "{spacing} ms");
}

/// RFC 5681, section 3.2: three duplicate acknowledgements have a sender resend.
#[test]
fn without_sack_duplicate_acknowledgements_tell_that_packets_came_late() {
    let mut hand = Hand::at_sender(false);
    ten(&mut hand);
    hand.ack(150.0, 1, 0, &[]);
    for at_ms in [151.0, 152.0, 153.0] {
        hand.ack(at_ms, 1, 0, &[]);
    }
    hand.data(153.1, 1, 0).ack(160.0, 10, 0, &[]);
    (10..30).for_each(|n| {
        hand.data(200.0 + f64::from(n), n, 0).ack(250.0 + f64::from(n), n + 1, 0, &[]);
    });
    let found = hand.found();
    assert_eq!(found.retransmissions.spurious, 1);
    let verdict = judge(&found);
    assert_eq!(verdict.cause, Cause::Reordering, "{verdict:?}");
    assert!(verdict.text.contains("is not seen, since the receiver sends no SACK"), "{verdict:?}");
}

#[test]
fn a_timeout_before_its_acknowledgement_is_impatience() {
    let mut hand = Hand::at_sender(false);
    ten(&mut hand);
    hand.data(400.0, 0, 0);
    (1..=10).for_each(|n| {
        hand.ack(401.0 + f64::from(n), n, 0, &[]);
    });
    (10..30).for_each(|n| {
        hand.data(600.0 + f64::from(n), n, 0).ack(650.0 + f64::from(n), n + 1, 0, &[]);
    });
    assert_eq!(judge(&hand.found()).cause, Cause::Impatience);
}

/// Segments that are late one at a time, and others that are lost three at a time: the window is cut
/// once for either.
#[test]
fn a_late_segment_slows_a_sender_as_much_as_several_lost_at_a_time() {
    let verdict = |times: u32| {
        let mut hand = Hand::at_sender(false);
        for round in 0..times {
            let (n, at) = (round * 20, f64::from(round) * 300.0);
            (n..n + 10).for_each(|n| {
                hand.data(at + 100.0, n, 0);
            });
            hand.ack(at + 150.0, n + 1, 0, &[]).ack(at + 155.0, n + 1, 0, &[(n + 2, n + 10)]);
            hand.data(at + 155.1, n + 1, 0).ack(at + 160.0, n + 10, 0, &[]);
            let n = n + 10;
            (n..n + 10).for_each(|n| {
                hand.data(at + 200.0, n, 0);
            });
            hand.ack(at + 250.0, n + 1, 0, &[]).ack(at + 255.0, n + 1, 0, &[(n + 4, n + 10)]);
            (n + 1..n + 4).for_each(|n| {
                hand.data(at + 255.1, n, 0);
            });
            hand.ack(at + 306.0, n + 10, 0, &[]);
        }
        let found = hand.found();
        let times = u64::from(times);
        let resent = &found.retransmissions;
        assert_eq!((resent.spurious, resent.total), (times, 4 * times));
        assert_eq!((found.windows.spurious_cuts, found.windows.cuts), (times, 2 * times));
        judge(&found).cause
    };
    assert_eq!(verdict(3), Cause::Reordering);
    assert_ne!(verdict(2), Cause::Reordering);
}

/// A retransmission is lost, and new data goes out until the timer ends that (RFC 6298, section 5).
#[test]
fn a_timeout_is_told_though_the_sender_was_not_silent_before_it() {
    let mut hand = Hand::at_sender(false);
    ten(&mut hand);
    hand.ack(150.0, 1, 0, &[]);
    for n in 2..10 {
        let at = 150.0 + f64::from(n);
        hand.ack(at, 1, 0, &[(2, n + 1)]).data(at, if n == 4 { 1 } else { n + 20 }, 0);
    }
    hand.data(330.0, 30, 0).data(350.0, 1, 0).ack(400.0, 10, 0, &[]);
    assert_eq!(hand.found().retransmissions.timeouts, 1);
}

/// One that waits for a late packet resends at an acknowledgement, however long that takes.
#[test]
fn a_patient_sender_that_answers_an_acknowledgement_had_no_timeout() {
    let mut hand = Hand::at_sender(false);
    ten(&mut hand);
    hand.ack(150.0, 1, 0, &[]).ack(151.0, 1, 0, &[(2, 3)]);
    hand.ack(350.0, 1, 0, &[(2, 10)]).data(350.0, 1, 0).ack(400.0, 10, 0, &[]);
    assert_eq!(hand.found().retransmissions.timeouts, 0);
}

/// Only others' packets make a sender wait that has one in flight.
#[test]
fn waiting_behind_the_packets_of_others_is_told_from_waiting_behind_ones_own() {
    for (others_ms, crowded) in [(0.0, 0.0), (30.0, 1.0)] {
        let mut hand = Hand::at_sender(false);
        for turn in 0..200 {
            // Two at a time, which arrive a millisecond apart, so that both are told of at once.
            let (n, at) = (turn * 2, 100.0 * f64::from(turn + 1));
            hand.data(at, n, 0).data(at, n + 1, 0);
            let arrives = at + 50.0 + if turn > 0 { others_ms } else { 0.0 };
            hand.ack(arrives, n + 1, 0, &[]).ack(arrives + 1.0, n + 2, 0, &[]);
        }
        let share = hand.found().crowded.unwrap();
        assert!((share - crowded).abs() < 0.05, "{others_ms} ms: {share}");
    }
}

/// With a short snap length, nothing is left of SACK, and what came late looks lost.
#[test]
fn where_the_capture_cut_off_options_late_is_not_told_from_lost() {
    let mut hand = Hand::at_sender(false).cutting_off_options();
    for turn in 0..10 {
        let (n, at) = (turn * 10, 200.0 * f64::from(turn + 1));
        (0..10).for_each(|i| {
            hand.data(at, n + i, 0);
        });
        hand.ack(at + 50.0, n + 1, 0, &[]).ack(at + 51.0, n + 1, 0, &[(n + 2, n + 10)]);
        hand.data(at + 51.0, n + 1, 0).ack(at + 101.0, n + 10, 0, &[]);
    }
    let found = hand.found();
    let verdict = judge(&found);
    assert_eq!((verdict.cause, found.traffic.cut_acks), (Cause::Unknown, 30));
    assert!(verdict.text.contains("kept too little of each packet"), "{}", verdict.text);
}

/// A capture on all interfaces of a router or bridge has each packet twice.
#[test]
fn packets_that_pass_two_interfaces_are_copies() {
    for timestamps in [false, true] {
        let mut hand = Hand::at_two_interfaces(timestamps);
        (0..10).for_each(|n| {
            hand.data(100.0 + f64::from(n), n, n + 2);
        });
        (0..10).for_each(|n| {
            hand.ack(150.0 + f64::from(n), n + 1, n + 2, &[]);
        });
        let found = hand.found();
        let resent = found.retransmissions;
        assert_eq!((resent.total, resent.duplicates), (0, 10), "{timestamps}");
        assert!((found.rtt.min_ms.unwrap() - 50.0).abs() < 0.1, "{:?}", found.rtt);
    }
}

/// A router takes one off the time to live: what it forwards milliseconds later is a copy.
#[test]
fn copies_behind_a_queue_are_told_by_their_time_to_live() {
    let mut hand = Hand::at_a_router();
    (0..10).for_each(|n| {
        hand.data(100.0 + f64::from(n), n, n + 2);
    });
    hand.ack(160.0, 10, 11, &[]).data(200.0, 9, 102);
    let resent = hand.found().retransmissions;
    assert_eq!((resent.total, resent.duplicates), (1, 11));
}

/// Each acknowledgement once, too: three retransmissions, of which one DSACK tells.
#[test]
fn copies_of_acknowledgements_tell_nothing() {
    let mut hand = Hand::at_two_interfaces(false).with_ids();
    ten(&mut hand);
    hand.ack(150.0, 1, 0, &[]);
    (2..5).for_each(|n| {
        hand.ack(150.0 + f64::from(n), 1, 0, &[(2, n + 1)]);
    });
    hand.data(156.0, 1, 0).data(157.0, 5, 0).data(158.0, 6, 0);
    hand.ack(206.0, 10, 0, &[]).ack(207.0, 10, 0, &[(5, 6)]);
    let found = hand.found();
    let resent = found.retransmissions;
    assert_eq!((resent.total, resent.spurious, resent.needed), (3, 1, 2));
    assert_eq!((resent.dsacks, resent.duplicate_acks, resent.syns), (1, 3, 0));
    // The answer to the SYN is one of them.
    assert_eq!(found.traffic.acks, 7);
}

/// Where more is in flight than is remembered, what is sent again may well have been needed.
#[test]
fn what_is_forgotten_before_its_acknowledgement_is_not_spurious() {
    let mut hand = Hand::remembering(10);
    (0..30).for_each(|n| {
        hand.data(100.0 + f64::from(n) / 10.0, n, 0);
    });
    hand.data(160.0, 0, 0).ack(210.0, 30, 0, &[]).data(211.0, 0, 0);
    let resent = hand.found().retransmissions;
    assert_eq!((resent.total, resent.spurious, resent.needed), (2, 1, 1));
}

/// A damaged number, or somebody else's packet: half a gigabyte ahead.
#[test]
fn a_stray_packet_moves_nothing() {
    for data in [false, true] {
        let mut hand = Hand::at_sender(false);
        ten(&mut hand);
        match data {
            true => hand.data(130.0, 500_000, 0),
            false => hand.ack(130.0, 500_000, 0, &[]),
        };
        hand.ack(160.0, 10, 0, &[]).data(170.0, 10, 0).ack(220.0, 11, 0, &[]);
        let found = hand.found();
        assert_eq!((found.traffic.stream_bytes, found.losses.strange), (11_000, 1));
        assert_eq!((found.losses.lost, found.losses.not_captured), (0, 0));
    }
}

/// The second packet there says that it is so.
#[test]
fn a_gap_in_the_capture_is_followed() {
    let mut hand = Hand::at_sender(false);
    ten(&mut hand);
    hand.data(900.0, 50_000, 0).data(900.1, 50_001, 0).ack(950.0, 50_002, 0, &[]);
    let found = hand.found();
    assert_eq!((found.traffic.stream_bytes, found.losses.strange), (50_002_000, 1));
}

/// Without timestamps and identifications, as with those of a clock that has not ticked in between.
#[test]
fn where_time_alone_told_late_from_sent_again_the_verdict_says_so() {
    for (late_ms, said) in [(60.0, true), (0.0, false)] {
        let mut hand = Hand::at_receiver(false);
        for turn in 0..10 {
            let (n, at) = (turn * 10, 200.0 * f64::from(turn + 1));
            (0..4).for_each(|i| {
                hand.data(at, n + i, 0);
            });
            if late_ms == 0.0 {
                hand.data(at, n + 4, 0);
            }
            (5..10).for_each(|i| {
                hand.data(at, n + i, 0);
            });
            if late_ms > 0.0 {
                hand.ack(at, n + 4, 0, &[(n + 5, n + 10)]).data(at + late_ms, n + 4, 0);
            }
            hand.ack(at + late_ms, n + 10, 0, &[]);
        }
        let text = judge(&hand.found()).text;
        assert_eq!(text.contains("Time alone told late segments"), said, "{text}");
    }
}
