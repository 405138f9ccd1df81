//! TCP-PR on connections, as packet traces: `tcp-pr` (Table 1 of the paper), `tcp-pr-extreme` and
//! `tcp-pr-sack` (Table 3). Lines are those of Table 3, which includes Table 1's numbers. The round
//! trip of the handshake is 100 ms, so mxrtt starts at 300 ms. A packet is dropped just after that
//! (the paper's `>`). Each timer finds one drop, and line 13 flushes after it.

use crate::trace::Trace;

/// Lines 18 and 19 and 24: one more for each acknowledgement in slow start.
#[test]
fn slow_start_sends_two_for_each_acknowledgement() {
    let mut t = Trace::of("tcp-pr").window(1).start();
    t.sends("1").timer_past(300);
    t.at(100).ack("C1").cwnd(2.0).sends("2 3").srtt(100.0).rto(300.0).timer_past(400);
    t.at(200).ack("C2").cwnd(3.0).sends("4 5");
    t.at(201).ack("C3").cwnd(4.0).sends("6 7");
}

/// RFC 5681, section 4.1: RW = min(IW, cwnd) after more than a timeout, which is mxrtt here,
/// without data sent. Slow start follows.
#[test]
fn after_a_pause_the_window_is_the_initial_one() {
    let mut t = Trace::of("tcp-pr").restarts().window(2).writes(5).start();
    t.sends("1 2").at(100).ack("C1").sends("3 4").ack("C2").cwnd(4.0).sends("5");
    t.at(200).ack("C5").cwnd(4.0).rto(300.0).no_timer();
    t.at(401).writes(9).cwnd(2.0).sends("6 7");
    t.at(500).ack("C6").cwnd(3.0).sends("8 9");
    let mut t = Trace::of("tcp-pr").restarts().window(2).writes(5).start();
    t.sends("1 2").at(100).ack("C1").sends("3 4").ack("C2").sends("5").at(200).ack("C5");
    t.at(400).writes(9).cwnd(4.0).sends("6-9");
}

/// Without SACK a hole stops everything until the packets after it are dropped as well, although
/// they arrived.
#[test]
fn cumulative_acknowledgements_hide_arrivals_after_a_hole() {
    let mut t = Trace::of("tcp-pr").window(4).start();
    t.sends("1-4");
    // Duplicates have no effect, and neither have SACK blocks, which were not negotiated.
    for _ in 2..=4 {
        t.at(100).ack("C0 S2").reports("").sends("").cwnd(4.0);
    }
    // cwnd(1) = 4: cwnd = 2, memorize {2, 3, 4}. 2 and 3 count 1 and 2 ≤ 2/2 + 1.
    t.past(300).timer().reports("fast-retransmit").cwnd(2.0).ssthresh(2.0).sends("");
    t.past(300).timer().reports("").sends("");
    t.past(300).timer().reports("").sends("R1").pipe(2);
    // With 4 memorize is empty.
    t.past(300).timer().reports("").sends("R2").cwnd(2.0);
    // One acknowledgement is one event: 2 + 1 > ssthresh, so 2 + 1/2. 3 and 4 need no
    // retransmission.
    t.at(400).ack("C4").reports("recovered").cwnd(2.5).sends("5-7");
}

/// With SACK only the hole is dropped.
#[test]
fn sacked_packets_leave_to_be_ack() {
    let mut t = Trace::of("tcp-pr-sack").window(4).start();
    t.sends("1-4");
    t.at(100).ack("C0 S2").cwnd(5.0).sends("5 6");
    t.at(101).ack("C0 S2-3").cwnd(6.0).sends("7 8");
    t.at(102).ack("C0 S2-4").cwnd(7.0).sends("9 10").rto(306.0).timer_past(306);
    // cwnd(1) = 4, and not the present 7: cwnd = 2; memorize {5, …, 10}.
    t.past(306).timer().reports("fast-retransmit").cwnd(2.0).ssthresh(2.0).sends("");
    // Not empty yet: cwnd is unchanged.
    t.at(349).ack("C0 S2-9").cwnd(2.0).sends("R1");
    t.at(350).ack("C0 S2-10").cwnd(2.5).sends("11 12");
    t.at(450).ack("C10").reports("recovered").cwnd(2.9).sends("13");
}

/// The paper has no undo: a drop is final. But an acknowledgement within half the shortest round
/// trip after the copy was sent answers the original, and R_k of section 4 is each packet's.
#[test]
fn a_spurious_drop_is_timed_and_not_undone() {
    let mut t = Trace::of("tcp-pr-sack").window(4).start();
    t.sends("1-4");
    t.at(100).ack("C0 S2-4").cwnd(5.0).sends("5-8");
    t.past(300).timer().reports("fast-retransmit").cwnd(2.0).sends("");
    t.at(310).ack("C0 S2-8").cwnd(2.5).sends("R1 9 10");
    // The original arrives 320 ms late: the copy was sent 10 ms ago, and no round trip was below
    // 100.
    t.at(320).ack("C8").reports("recovered").cwnd(2.9).sends("11").srtt(320.0).rto(960.0);
    // A DSACK is reported, and changes nothing.
    t.at(410).ack("C8 D1").reports("spurious 1, reordered 7, spurious-fast-retransmit");
    t.cwnd(2.9).ssthresh(2.0).srtt(320.0);
}

/// The same without SACK: the original is the first packet that its acknowledgement covers.
#[test]
fn a_spurious_drop_is_timed_by_a_cumulative_acknowledgement_too() {
    let mut t = Trace::of("tcp-pr").window(4).start();
    t.sends("1-4");
    t.past(300).timer().reports("fast-retransmit").cwnd(2.0).sends("");
    t.past(300).timer().sends("");
    t.past(300).timer().sends("R1");
    t.past(300).timer().sends("R2");
    t.at(340).ack("C4").reports("recovered").cwnd(2.5).sends("5-7").srtt(340.0).rto(1020.0);
}

/// Later than that the copy may be acknowledged, and is timed, whatever number of copies a DSACK
/// reports afterwards. A loss whose copy the network duplicates looks the same, and would otherwise
/// feed mxrtt with itself.
#[test]
fn a_possible_acknowledgement_of_the_copy_times_the_copy() {
    let mut t = Trace::of("tcp-pr-sack").window(4).start();
    t.sends("1-4");
    t.at(100).ack("C0 S2-4").cwnd(5.0).sends("5-8").srtt(100.0);
    t.past(300).timer().reports("fast-retransmit").cwnd(2.0).sends("");
    t.at(310).ack("C0 S2-8").cwnd(2.5).sends("R1 9 10").srtt(210.0);
    // 210 · 0.995^(1/2.5).
    t.at(410).ack("C8").reports("recovered").sends("11").srtt(209.579_368);
    t.at(411).ack("C8 D1").reports("spurious 1, reordered 7, spurious-fast-retransmit");
    t.srtt(209.579_368);
}

/// Of three transmissions it is unknown which one arrived: the last one is timed.
#[test]
fn a_packet_retransmitted_twice_is_timed_from_its_last_copy() {
    let mut t = Trace::of("tcp-pr").window(1).writes(1).start();
    t.sends("1");
    t.past(300).timer().reports("fast-retransmit").sends("R1");
    t.past(600).after_ns(1).timer().sends("R1");
    t.at(650).ack("C1").reports("recovered").rto(298.5);
}

/// One loss of eight, and nothing after it can be acknowledged: by Table 1 the window is halved
/// once, and half of it is retransmitted spuriously before the hole.
#[test]
fn without_sack_one_loss_lets_the_whole_window_expire() {
    let mut t = Trace::of("tcp-pr").window(8).start();
    t.sends("1-8");
    t.at(100).ack("C0").sends("");
    // Line 9: cwnd(1)/2 = 4. Seven wait; 1 is sent when three do (line 24), and another one with
    // each that expires.
    t.past(300).timer().reports("fast-retransmit").cwnd(4.0).sends("");
    for _ in 2..=4 {
        t.past(300).timer().reports("").sends("");
    }
    t.past(300).timer().sends("R1");
    t.past(300).timer().sends("R2");
    t.past(300).timer().sends("R3");
    t.past(300).timer().sends("R4").cwnd(4.0).ssthresh(4.0);
    // The hole is filled, and all eight are acknowledged: one event, 4 + 1/4, and five are sent.
    t.at(400).ack("C8").reports("recovered").cwnd(4.25).sends("9-13");
}

/// The same by Table 3: the fourth drop of the burst counts as extreme losses (line 12b), although
/// one packet of eight was lost.
#[test]
fn with_the_rules_for_extreme_losses_one_loss_ends_in_a_pause() {
    let mut t = Trace::of("tcp-pr-extreme").window(8).start();
    t.sends("1-8");
    t.past(300).timer().reports("fast-retransmit").cwnd(4.0).sends("");
    for _ in 2..=4 {
        t.past(300).timer().reports("").sends("");
    }
    t.past(300).timer().reports("timeout").cwnd(1.0).sends("").rto(1000.0);
}

/// Table 1 has no line 9b, and a window does not fall below one packet.
#[test]
fn without_the_rules_for_extreme_losses_mxrtt_stays() {
    let mut t = Trace::of("tcp-pr").window(1).writes(1).start();
    t.sends("1");
    t.past(300).timer().reports("fast-retransmit").cwnd(1.0).sends("R1").rto(300.0);
    // Sent 1 ns after 300 ms, so due 1 ns after that and 300 ms.
    t.past(600).after_ns(1).timer().cwnd(1.0).ssthresh(1.0).sends("R1").rto(300.0);
    t.at(700).ack("C1").reports("recovered").no_timer();
}

/// Lines 12b to 12f: the fifth drop is the fourth of the burst, 4 > 4/2 + 1.
#[test]
fn extreme_losses_start_from_one_after_a_pause() {
    let mut t = Trace::of("tcp-pr-extreme").window(8).start();
    t.sends("1-8");
    t.past(300).timer().reports("fast-retransmit").cwnd(4.0).sends("");
    for _ in 2..=4 {
        t.past(300).timer().reports("").sends("");
    }
    t.past(300).timer().reports("timeout").cwnd(1.0).ssthresh(4.0).sends("").rto(1000.0);
    // The others are due when they have been outstanding for mxrtt = 1 s; 6 and 7 set the pause
    // again.
    t.timer_past(1000);
    for _ in 6..=8 {
        t.past(1000).timer().reports("").sends("");
    }
    t.timer_past(2000);
    t.past(2000).timer().sends("T1");
    // Lines 14, 15 and 18: back to 300 ms, and 1 + 1 ≤ 4.
    t.at(2100).ack("C1").cwnd(2.0).rto(300.0).sends("T2 T3");
}

/// Lines 8a to 9b: no packet is delivered, and mxrtt doubles each time.
#[test]
fn with_a_window_of_one_mxrtt_doubles() {
    let mut t = Trace::of("tcp-pr-extreme").window(1).writes(1).start();
    t.sends("1");
    t.past(300).timer().reports("fast-retransmit").cwnd(1.0).sends("R1").rto(600.0);
    // Sent 1 ns after 300 ms, so due 1 ns after that and 600 ms.
    let due = t.connection().poll_timeout().expect("a timer");
    assert_eq!(due.as_nanos() % 1_000_000, 2);
    t.at(400).ack("C1").reports("recovered").rto(300.0).no_timer();
}

/// A coarse clock may measure no time between a SYN and its answer. Twice zero would be zero: the
/// packet would be sent again with every nanosecond.
#[test]
fn a_round_trip_of_zero_still_leaves_a_packet_some_time() {
    let mut t = Trace::of("tcp-pr-extreme").rtt(0).window(1).writes(1).start();
    t.sends("1").timer_past(1);
    let first = t.connection().poll_timeout().expect("a timer");
    t.past(1).timer().sends("R1");
    let second = t.connection().poll_timeout().expect("a timer");
    assert_eq!(second.since(first).as_nanos(), 2_000_001);
}

/// A receiver that reneges (RFC 2018, section 8) does not stop the sender.
#[test]
fn a_packet_sacked_and_never_acknowledged_is_retransmitted() {
    let mut t = Trace::of("tcp-pr-sack").window(2).writes(2).start();
    t.sends("1 2");
    t.at(100).ack("C0 S1-2").sends("").timer_past(300);
    t.past(300).timer().sends("R1 R2");
}

/// Nothing is outstanding and no timer runs. Data written later finds the window unchanged.
#[test]
fn a_sender_without_data_is_idle() {
    let mut t = Trace::of("tcp-pr").window(4).writes(2).start();
    t.sends("1 2");
    t.at(100).ack("C1").cwnd(4.0).sends("");
    t.at(101).ack("C2").cwnd(4.0).sends("").no_timer();
    t.at(500).writes(10).sends("3-6").timer_past(803);
}

/// With SACK a packet that arrived is no drop: one loss of eight is one drop by either table. They
/// differ in that by Table 3 nothing grows while memorize holds a packet (section 3.2).
#[test]
fn with_sack_one_loss_is_one_drop_by_either_table() {
    for form in ["extreme", "basic"] {
        let mut t = Trace::of("tcp-pr-sack").set("form", form).fixed_window(8).start();
        t.sends("1-8");
        t.at(110).ack("C0 S2-8").sends("9-15");
        t.at(220).ack("C0 S2-15").sends("16-22").timer_past(330);
        // cwnd(1) = 8; memorize {16, …, 22}.
        t.past(330).timer().reports("fast-retransmit").cwnd(4.0).ssthresh(4.0).sends("");
        match form {
            "extreme" => {
                // 4 > |to-be-ack| = 4 does not hold; then 2 remain, and 1 and 23 make it 4.
                t.at(331).ack("C0 S2-18").cwnd(4.0).sends("");
                t.at(332).ack("C0 S2-20").cwnd(4.0).sends("R1 23");
                // memorize is empty: 4 + 1/4. 1 and 23 are outstanding; three more make it 5.
                t.at(333).ack("C0 S2-22").cwnd(4.25).sends("24-26");
            }
            _ => {
                // 4 + 1/4 > 4, then 17/4 + 4/17 > 3 and 4.
                t.at(331).ack("C0 S2-18").cwnd(4.25).sends("R1");
                t.at(332).ack("C0 S2-20").cwnd(4.25 + 4.0 / 17.0).sends("23 24");
            }
        }
    }
}

/// Seven of eight lost: the fourth further drop exceeds 4/2 + 1 (line 12b). Then Table 3 starts
/// again, and Table 1 goes on sending what was dropped.
#[test]
fn with_sack_many_losses_are_extreme_by_table_3_only() {
    for form in ["extreme", "basic"] {
        let mut t = Trace::of("tcp-pr-sack").set("form", form).fixed_window(8).start();
        t.sends("1-8");
        t.at(100).ack("C0 S8").cwnd(8.0).sends("9");
        t.past(300).timer().reports("fast-retransmit").cwnd(4.0).sends("");
        for _ in 2..=4 {
            t.past(300).timer().reports("").sends("");
        }
        match form {
            "extreme" => {
                // Lines 12c to 12f.
                t.past(300).timer().reports("timeout").cwnd(1.0).ssthresh(4.0).sends("");
                t.rto(1000.0);
            }
            _ => {
                // 5, 6 and 7 are dropped as well: |to-be-ack| = 3, 2, 1 and what is sent instead.
                t.past(300).timer().reports("").cwnd(4.0).sends("R1").rto(300.0);
                t.past(300).timer().reports("").sends("R2");
                t.past(300).timer().reports("").cwnd(4.0).sends("R3");
            }
        }
    }
}

/// Table 1 has no backoff. A peer that is gone is probed at growing intervals nevertheless (RFC
/// 6298, section 5.5), whatever mxrtt is: here 3 ms.
#[test]
fn a_silent_peer_is_probed_at_growing_intervals() {
    let mut t = Trace::of("tcp-pr").window(1).rtt(1).start();
    t.sends("1");
    let mut pauses = Vec::new();
    for _ in 0..400 {
        let due = t.connection().poll_timeout().expect("a timer");
        pauses.push(t.wait_until(due).as_millis_f64());
        t.timer().sends_any();
    }
    // A second of silence, every 3 ms; from then on the interval doubles, up to the maximum
    // timeout.
    let (early, late) = pauses.split_at(330);
    assert!(early.iter().all(|&pause| pause < 3.1), "{early:?}");
    let doubled = late.windows(2).filter(|pair| pair[1] > 1.9 * pair[0] && pair[0] > 900.0);
    assert!(doubled.count() >= 5, "{late:?}");
    assert_eq!(*late.last().expect("a pause"), 60_000.0);
}
