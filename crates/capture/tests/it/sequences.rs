//! Classification of single packets: late or retransmitted, needed or spurious, at each place of the
//! path.

use unruffled_capture::{Cause, Place, judge};

use crate::trace::Trace;

/// Passes segments 0 to 9, a millisecond apart, from 100 ms on.
fn pass_ten(trace: &mut Trace) {
    (0..10).for_each(|n| {
        trace.data(100.0 + f64::from(n), n, 100 + n);
    });
}

#[test]
fn without_reordering_no_segment_is_late_or_retransmitted() {
    let mut trace = Trace::at_sender(true);
    pass_ten(&mut trace);
    (1..=10).for_each(|n| {
        trace.ack(149.0 + f64::from(n), n, 99 + n, &[]);
    });
    let found = trace.found();
    assert_eq!((found.traffic.segments, found.reordering_here.reordered), (10, 0));
    assert_eq!(found.retransmissions, Default::default());
    assert_eq!(found.losses.lost, 0);
    assert_eq!(found.place, Place::Sender);
    assert_eq!(found.traffic.stream_bytes, 10_000);
    assert_eq!(found.rtt.beyond_ms, Some(50.0));
}

/// RFC 7323, section 4.1: a timestamp clock does not run backwards.
#[test]
fn at_the_receiver_a_packet_with_an_older_timestamp_is_late() {
    let mut trace = Trace::at_receiver(true);
    trace.data(100.0, 0, 100).data(101.0, 2, 102).data(102.0, 3, 103);
    // A retransmission could pass as late.
    trace.data(180.0, 1, 101);
    let found = trace.found();
    assert_eq!((found.retransmissions.total, found.reordering_here.reordered), (0, 1));
    let late = found.reordering_here.late_time.unwrap();
    assert!((late.median_ms - 79.0).abs() < 0.8, "{late:?}");
    assert_eq!(found.reordering_here.mean_extent, Some(2.0));
    assert_eq!(found.retransmissions.judged_by_time, 0);
}

#[test]
fn at_the_receiver_a_packet_with_a_newer_timestamp_is_a_retransmission() {
    let mut trace = Trace::at_receiver(true);
    trace.data(100.0, 0, 100).data(101.0, 2, 102).data(102.0, 3, 103);
    // A late packet could pass as soon.
    trace.data(104.0, 1, 104);
    let found = trace.found();
    assert_eq!((found.retransmissions.total, found.reordering_here.reordered), (1, 0));
    assert_eq!((found.losses.lost, found.retransmissions.spurious), (1, 0));
}

#[test]
fn without_timestamps_identifications_decide() {
    let mut trace = Trace::at_receiver(false).with_ids();
    (0..20).for_each(|n| {
        trace.data_with_id(f64::from(n), n, 50 + n as u16);
    });
    trace.data_with_id(30.0, 21, 71).data_with_id(31.0, 22, 72).data_with_id(99.0, 20, 70);
    trace.data_with_id(100.0, 24, 74).data_with_id(101.0, 25, 75).data_with_id(102.0, 23, 76);
    let found = trace.found();
    assert_eq!((found.reordering_here.reordered, found.retransmissions.total), (1, 1));
    assert_eq!(found.retransmissions.judged_by_time, 0);
}

#[test]
fn without_timestamps_and_identifications_the_round_trip_decides() {
    let mut trace = Trace::at_receiver(false);
    trace.data(100.0, 0, 0).data(101.0, 2, 0).data(130.0, 1, 0);
    trace.data(200.0, 4, 0).data(260.0, 3, 0);
    let found = trace.found();
    assert_eq!((found.reordering_here.reordered, found.retransmissions.total), (1, 1));
    assert_eq!(found.retransmissions.judged_by_time, 2);
}

/// The round trip to either end is 25 ms, so the sender's reaction passes after 50 ms at the earliest.
#[test]
fn between_both_ends_the_whole_round_trip_decides() {
    let mut trace = Trace::between();
    trace.data(100.0, 0, 0).ack(125.0, 1, 0, &[]);
    trace.data(200.0, 2, 0).data(240.0, 1, 0);
    trace.data(300.0, 4, 0).data(350.0, 3, 0);
    let found = trace.found();
    assert_eq!((found.reordering_here.reordered, found.retransmissions.total), (1, 1));
    assert_eq!(found.retransmissions.judged_by_time, 2);
}

#[test]
fn a_retransmission_is_spurious_if_the_original_passes_later() {
    let mut trace = Trace::at_receiver(true);
    trace.data(100.0, 0, 100).data(101.0, 2, 102).data(102.0, 3, 103);
    trace.data(160.0, 1, 160).ack(160.0, 4, 160, &[]);
    trace.data(181.0, 1, 101);
    let found = trace.found();
    assert_eq!((found.retransmissions.total, found.retransmissions.spurious), (1, 1));
    assert_eq!(found.retransmissions.reasons.original, 1);
    assert_eq!((found.losses.lost, found.reordering_here.reordered), (0, 1));
    assert_eq!(found.reordering_here.late_time.unwrap().max_ms.round(), 80.0);
}

/// SACK shows at the sender in which order segments arrive, and when.
#[test]
fn at_the_sender_acknowledgements_show_which_segments_were_late() {
    let mut trace = Trace::at_sender(true);
    pass_ten(&mut trace);
    trace.ack(150.0, 1, 100, &[]).ack(152.0, 1, 100, &[(2, 3)]).ack(153.0, 1, 100, &[(2, 4)]);
    trace.ack(154.0, 4, 101, &[]).ack(156.0, 6, 105, &[]).ack(160.0, 10, 109, &[]);
    let found = trace.found();
    assert_eq!(found.reordering_here.reordered, 0);
    let reordering = found.reordering_at_receiver.as_ref().unwrap();
    assert_eq!((reordering.packets, reordering.reordered, reordering.max_extent), (10, 1, 2));
    assert_eq!(reordering.late_time.as_ref().unwrap().max_ms.round(), 2.0);
    assert_eq!(found.reordering().reordered, 1);
}

/// RFC 2883, section 4.1.
#[test]
fn a_dsack_makes_a_retransmission_spurious_once() {
    let mut trace = Trace::at_sender(false);
    pass_ten(&mut trace);
    trace.ack(150.0, 1, 0, &[]).ack(152.0, 1, 0, &[(2, 5)]);
    trace.data(153.0, 1, 0);
    // The original arrives, then the retransmission, which two DSACKs report.
    trace.ack(160.0, 10, 0, &[]).ack(203.0, 10, 0, &[(1, 2)]).ack(204.0, 10, 0, &[(1, 2)]);
    let found = trace.found();
    let resent = found.retransmissions;
    assert_eq!((resent.total, resent.spurious, resent.needed), (1, 1, 0));
    assert_eq!(resent.dsacks, 2);
    assert_eq!((found.windows.recoveries, found.windows.spurious_recoveries), (1, 1));
    assert_eq!(found.reordering_at_receiver.unwrap().reordered, 1);
}

#[test]
fn an_acknowledgement_and_a_dsack_prove_the_same_retransmission_spurious() {
    let mut trace = Trace::at_receiver(true);
    trace.data(100.0, 0, 100).data(102.0, 2, 102).data(160.0, 1, 160).ack(160.0, 3, 160, &[]);
    trace.data(400.0, 1, 400).ack(400.0, 3, 160, &[(1, 2)]);
    let resent = trace.found().retransmissions;
    assert_eq!((resent.total, resent.spurious, resent.needed), (2, 1, 1));
}

/// RFC 3522: the acknowledgement of a needed retransmission echoes its timestamp.
#[test]
fn an_echoed_timestamp_shows_which_copy_arrived() {
    for (echo, spurious) in [(101, 1), (153, 0)] {
        let mut trace = Trace::at_sender(true);
        pass_ten(&mut trace);
        trace.ack(150.0, 1, 100, &[]).ack(152.0, 1, 100, &[(2, 5)]);
        trace.data(153.0, 1, 153).ack(210.0, 10, echo, &[]);
        let found = trace.found();
        assert_eq!((found.retransmissions.total, found.retransmissions.spurious), (1, spurious));
        assert_eq!(found.retransmissions.reasons.timestamps, spurious);
        assert_eq!(found.reordering_at_receiver.unwrap().reordered, spurious);
    }
}

#[test]
fn a_retransmission_after_the_acknowledgement_is_spurious() {
    let mut trace = Trace::at_sender(false);
    pass_ten(&mut trace);
    trace.ack(160.0, 10, 0, &[]);
    trace.data(161.0, 9, 0);
    let resent = trace.found().retransmissions;
    assert_eq!((resent.total, resent.reasons.acknowledgement), (1, 1));
}

#[test]
fn a_retransmission_after_a_silence_is_a_timeout() {
    let mut trace = Trace::at_sender(false);
    pass_ten(&mut trace);
    trace.ack(160.0, 9, 0, &[]);
    trace.data(460.0, 9, 0).ack(510.0, 10, 0, &[]);
    let found = trace.found();
    assert_eq!((found.retransmissions.timeouts, found.losses.lost), (1, 1));
    assert!(found.limits.unwrap().timeout > 0.5, "{:?}", found.limits);
}

#[test]
fn a_joined_packet_counts_as_the_segments_into_which_it_is_split() {
    let mut trace = Trace::at_sender(false);
    trace.joined(100.0, 0, 40);
    trace.ack(150.0, 3, 0, &[]).ack(151.0, 3, 0, &[(4, 5)]).ack(153.0, 5, 0, &[]);
    trace.ack(154.0, 40, 0, &[]);
    let found = trace.found();
    assert_eq!((found.traffic.segments, found.traffic.stream_bytes), (40, 40_000));
    let reordering = found.reordering_at_receiver.unwrap();
    assert_eq!((reordering.packets, reordering.reordered), (40, 1));
}

#[test]
fn segments_missing_from_the_capture_are_neither_late_nor_lost() {
    let mut trace = Trace::at_sender(true);
    (0..10).filter(|n| n % 3 != 1).for_each(|n| {
        trace.data(100.0 + f64::from(n), n, 100 + n);
    });
    (1..=10).for_each(|n| {
        trace.ack(149.0 + f64::from(n), n, 99 + n, &[]);
    });
    let found = trace.found();
    assert_eq!((found.losses.not_captured, found.losses.lost), (3, 0));
    assert_eq!(found.reordering_here.reordered, 0);
}

#[test]
fn sequence_numbers_may_wrap() {
    let mut trace = Trace::at_sender(true);
    // 5 million segments of 1000 octets exceed 2^32 octets.
    for n in 0..5_000_000_u32 {
        let at = 100.0 + f64::from(n) * 0.01;
        trace.data(at, n, n / 100);
        if n % 1000 == 999 {
            trace.ack(at, n + 1, n / 100, &[]);
        }
    }
    let found = trace.found();
    assert_eq!((found.traffic.segments, found.traffic.stream_bytes), (5_000_000, 5_000_000_000));
    assert_eq!((found.retransmissions.total, found.losses.strange), (0, 0));
    assert_eq!(found.reordering_here.reordered, 0);
}

/// Every other packet of a burst is late. After that, one packet at a time is sent, and nothing queues.
#[test]
fn packets_that_arrive_further_apart_than_they_were_sent_show_the_rate() {
    let mut trace = Trace::at_sender(false);
    (0..10).for_each(|n| {
        trace.data(100.0, n, 0);
    });
    trace.ack(150.0, 1, 0, &[]);
    for n in [2, 4, 6, 8] {
        trace.ack(150.0 + 2.0 * f64::from(n), 1, 0, &[(n, n + 1)]);
    }
    trace.ack(250.0, 10, 0, &[]);
    (10..40).for_each(|n| {
        let at = f64::from(n) * 60.0;
        trace.data(at, n, 0).ack(at + 50.0, n + 1, 0, &[]);
    });
    let spacing = trace.found().spacing_ms.unwrap();
    assert!((spacing - 2.0).abs() < 0.1, "{spacing} ms");
}

/// Packets that a disturbance holds up are further apart than the path requires.
#[test]
fn a_burst_that_is_held_up_does_not_reduce_the_estimated_rate() {
    let mut trace = Trace::at_sender(false);
    (0..60).for_each(|n| {
        let at = 100.0 + 2.0 * f64::from(n);
        trace.data(at, n, 0);
        if n >= 25 {
            trace.ack(at, n - 24, 0, &[]);
        }
    });
    (36..60).for_each(|n| {
        trace.ack(150.0 + 2.0 * f64::from(n), n, 0, &[]);
    });
    (60..70).for_each(|n| {
        trace.data(400.0, n, 0);
    });
    (60..70).for_each(|n| {
        trace.ack(450.0 + 4.0 * f64::from(n - 59), n + 1, 0, &[]);
    });
    let spacing = trace.found().spacing_ms.unwrap();
    assert!((spacing - 2.0).abs() < 0.1, "{spacing} ms");
}

/// RFC 5681, section 3.2: three duplicate acknowledgements cause a retransmission.
#[test]
fn without_sack_duplicate_acknowledgements_show_that_packets_came_late() {
    let mut trace = Trace::at_sender(false);
    pass_ten(&mut trace);
    trace.ack(150.0, 1, 0, &[]);
    for at_ms in [151.0, 152.0, 153.0] {
        trace.ack(at_ms, 1, 0, &[]);
    }
    trace.data(153.1, 1, 0).ack(160.0, 10, 0, &[]);
    (10..30).for_each(|n| {
        trace.data(200.0 + f64::from(n), n, 0).ack(250.0 + f64::from(n), n + 1, 0, &[]);
    });
    let found = trace.found();
    assert_eq!(found.retransmissions.spurious, 1);
    let verdict = judge(&found);
    assert_eq!(verdict.cause, Cause::Reordering, "{verdict:?}");
    assert!(verdict.text.contains("is not seen, since the receiver sends no SACK"), "{verdict:?}");
}

#[test]
fn a_timeout_before_its_acknowledgement_is_impatience() {
    let mut trace = Trace::at_sender(false);
    pass_ten(&mut trace);
    trace.data(400.0, 0, 0);
    (1..=10).for_each(|n| {
        trace.ack(401.0 + f64::from(n), n, 0, &[]);
    });
    (10..30).for_each(|n| {
        trace.data(600.0 + f64::from(n), n, 0).ack(650.0 + f64::from(n), n + 1, 0, &[]);
    });
    assert_eq!(judge(&trace.found()).cause, Cause::Impatience);
}

/// Each round has one late segment and three lost ones in a row. Either cuts the window once.
#[test]
fn one_late_segment_slows_a_sender_as_much_as_several_losses_in_a_row() {
    let verdict = |times: u32| {
        let mut trace = Trace::at_sender(false);
        for round in 0..times {
            let n = round * 20;
            let at = f64::from(round) * 300.0;
            (n..n + 10).for_each(|n| {
                trace.data(at + 100.0, n, 0);
            });
            trace.ack(at + 150.0, n + 1, 0, &[]).ack(at + 155.0, n + 1, 0, &[(n + 2, n + 10)]);
            trace.data(at + 155.1, n + 1, 0).ack(at + 160.0, n + 10, 0, &[]);
            let n = n + 10;
            (n..n + 10).for_each(|n| {
                trace.data(at + 200.0, n, 0);
            });
            trace.ack(at + 250.0, n + 1, 0, &[]).ack(at + 255.0, n + 1, 0, &[(n + 4, n + 10)]);
            (n + 1..n + 4).for_each(|n| {
                trace.data(at + 255.1, n, 0);
            });
            trace.ack(at + 306.0, n + 10, 0, &[]);
        }
        let found = trace.found();
        let times = u64::from(times);
        let resent = &found.retransmissions;
        assert_eq!((resent.spurious, resent.total), (times, 4 * times));
        assert_eq!((found.windows.spurious_cuts, found.windows.cuts), (times, 2 * times));
        judge(&found).cause
    };
    assert_eq!(verdict(3), Cause::Reordering);
    assert_ne!(verdict(2), Cause::Reordering);
}

/// A retransmission is lost, and the sender sends new data until the timer expires (RFC 6298, section 5).
#[test]
fn a_timeout_is_recognised_although_the_sender_was_not_silent_before_it() {
    let mut trace = Trace::at_sender(false);
    pass_ten(&mut trace);
    trace.ack(150.0, 1, 0, &[]);
    for n in 2..10 {
        let at = 150.0 + f64::from(n);
        trace.ack(at, 1, 0, &[(2, n + 1)]).data(at, if n == 4 { 1 } else { n + 20 }, 0);
    }
    trace.data(330.0, 30, 0).data(350.0, 1, 0).ack(400.0, 10, 0, &[]);
    assert_eq!(trace.found().retransmissions.timeouts, 1);
}

/// A sender that waits for a late packet retransmits at an acknowledgement.
#[test]
fn a_delayed_reaction_to_an_acknowledgement_is_not_a_timeout() {
    let mut trace = Trace::at_sender(false);
    pass_ten(&mut trace);
    trace.ack(150.0, 1, 0, &[]).ack(151.0, 1, 0, &[(2, 3)]);
    trace.ack(350.0, 1, 0, &[(2, 10)]).data(350.0, 1, 0).ack(400.0, 10, 0, &[]);
    assert_eq!(trace.found().retransmissions.timeouts, 0);
}

/// A sender with little in flight queues only behind cross traffic.
#[test]
fn queueing_behind_cross_traffic_is_distinguished_from_queueing_behind_own_packets() {
    for (others_ms, crowded) in [(0.0, 0.0), (30.0, 1.0)] {
        let mut trace = Trace::at_sender(false);
        for turn in 0..200 {
            // Two packets at a time, which arrive a millisecond apart and are acknowledged at once.
            let n = turn * 2;
            let at = 100.0 * f64::from(turn + 1);
            trace.data(at, n, 0).data(at, n + 1, 0);
            let arrives = at + 50.0 + if turn > 0 { others_ms } else { 0.0 };
            trace.ack(arrives, n + 1, 0, &[]).ack(arrives + 1.0, n + 2, 0, &[]);
        }
        let share = trace.found().crowded.unwrap();
        assert!((share - crowded).abs() < 0.05, "{others_ms} ms: {share}");
    }
}

/// With a short snap length, the capture lacks SACK, and late segments look lost.
#[test]
fn without_options_late_segments_are_not_distinguished_from_lost_ones() {
    let mut trace = Trace::at_sender(false).cutting_off_options();
    for turn in 0..10 {
        let n = turn * 10;
        let at = 200.0 * f64::from(turn + 1);
        (0..10).for_each(|i| {
            trace.data(at, n + i, 0);
        });
        trace.ack(at + 50.0, n + 1, 0, &[]).ack(at + 51.0, n + 1, 0, &[(n + 2, n + 10)]);
        trace.data(at + 51.0, n + 1, 0).ack(at + 101.0, n + 10, 0, &[]);
    }
    let found = trace.found();
    let verdict = judge(&found);
    assert_eq!((verdict.cause, found.traffic.cut_acks), (Cause::Unknown, 30));
    assert!(verdict.text.contains("kept too little of each packet"), "{}", verdict.text);
}

/// A capture on all interfaces of a router or bridge has each packet twice.
#[test]
fn packets_that_pass_two_interfaces_are_copies() {
    for timestamps in [false, true] {
        let mut trace = Trace::at_two_interfaces(timestamps);
        (0..10).for_each(|n| {
            trace.data(100.0 + f64::from(n), n, n + 2);
        });
        (0..10).for_each(|n| {
            trace.ack(150.0 + f64::from(n), n + 1, n + 2, &[]);
        });
        let found = trace.found();
        let resent = found.retransmissions;
        assert_eq!((resent.total, resent.duplicates), (0, 10), "{timestamps}");
        assert!((found.rtt.min_ms.unwrap() - 50.0).abs() < 0.1, "{:?}", found.rtt);
    }
}

/// A router decrements the time to live: what it forwards milliseconds later is a copy.
#[test]
fn copies_after_a_queue_are_recognised_by_their_time_to_live() {
    let mut trace = Trace::at_a_router();
    (0..10).for_each(|n| {
        trace.data(100.0 + f64::from(n), n, n + 2);
    });
    trace.ack(160.0, 10, 11, &[]).data(200.0, 9, 102);
    let resent = trace.found().retransmissions;
    assert_eq!((resent.total, resent.duplicates), (1, 11));
}

/// A DSACK reports one of three retransmissions. Each acknowledgement passes two interfaces.
#[test]
fn copies_of_acknowledgements_are_ignored() {
    let mut trace = Trace::at_two_interfaces(false).with_ids();
    pass_ten(&mut trace);
    trace.ack(150.0, 1, 0, &[]);
    (2..5).for_each(|n| {
        trace.ack(150.0 + f64::from(n), 1, 0, &[(2, n + 1)]);
    });
    trace.data(156.0, 1, 0).data(157.0, 5, 0).data(158.0, 6, 0);
    trace.ack(206.0, 10, 0, &[]).ack(207.0, 10, 0, &[(5, 6)]);
    let found = trace.found();
    let resent = found.retransmissions;
    assert_eq!((resent.total, resent.spurious, resent.needed), (3, 1, 2));
    assert_eq!((resent.dsacks, resent.duplicate_acks, resent.syns), (1, 3, 0));
    // The SYN-ACK is one of them.
    assert_eq!(found.traffic.acks, 7);
}

/// More is in flight than the analysis keeps, so a retransmission may have been needed.
#[test]
fn a_segment_dropped_before_its_acknowledgement_is_not_spurious() {
    let mut trace = Trace::with_segment_limit(10);
    (0..30).for_each(|n| {
        trace.data(100.0 + f64::from(n) / 10.0, n, 0);
    });
    trace.data(160.0, 0, 0).ack(210.0, 30, 0, &[]).data(211.0, 0, 0);
    let resent = trace.found().retransmissions;
    assert_eq!((resent.total, resent.spurious, resent.needed), (2, 1, 1));
}

/// A damaged packet, or one of another connection, is half a gigabyte ahead.
#[test]
fn an_implausible_sequence_number_is_ignored() {
    for data in [false, true] {
        let mut trace = Trace::at_sender(false);
        pass_ten(&mut trace);
        match data {
            true => trace.data(130.0, 500_000, 0),
            false => trace.ack(130.0, 500_000, 0, &[]),
        };
        trace.ack(160.0, 10, 0, &[]).data(170.0, 10, 0).ack(220.0, 11, 0, &[]);
        let found = trace.found();
        assert_eq!((found.traffic.stream_bytes, found.losses.strange), (11_000, 1));
        assert_eq!((found.losses.lost, found.losses.not_captured), (0, 0));
    }
}

/// The second packet after a gap confirms the first.
#[test]
fn a_connection_is_followed_across_a_gap_in_the_capture() {
    let mut trace = Trace::at_sender(false);
    pass_ten(&mut trace);
    trace.data(900.0, 50_000, 0).data(900.1, 50_001, 0).ack(950.0, 50_002, 0, &[]);
    let found = trace.found();
    assert_eq!((found.traffic.stream_bytes, found.losses.strange), (50_002_000, 1));
}

/// The packets have neither timestamps nor identifications.
#[test]
fn the_verdict_mentions_that_only_the_time_distinguishes_late_segments() {
    for (late_ms, mentioned) in [(60.0, true), (0.0, false)] {
        let mut trace = Trace::at_receiver(false);
        for turn in 0..10 {
            let n = turn * 10;
            let at = 200.0 * f64::from(turn + 1);
            (0..4).for_each(|i| {
                trace.data(at, n + i, 0);
            });
            if late_ms == 0.0 {
                trace.data(at, n + 4, 0);
            }
            (5..10).for_each(|i| {
                trace.data(at, n + i, 0);
            });
            if late_ms > 0.0 {
                trace.ack(at, n + 4, 0, &[(n + 5, n + 10)]).data(at + late_ms, n + 4, 0);
            }
            trace.ack(at + late_ms, n + 10, 0, &[]);
        }
        let text = judge(&trace.found()).text;
        assert_eq!(text.contains("Only the time distinguished late"), mentioned, "{text}");
    }
}
