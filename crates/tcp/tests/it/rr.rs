//! RR-TCP (Zhang, Karp, Floyd, Peterson), as packet traces: `rr-fa` and `rr-ta`. Sections are those
//! of the paper.

use crate::trace::Trace;

/// Makes segment `late` arrive `length` segments late, and delivers all others after it. The hole
/// is shown by one SACK far above it, so that nothing is deemed lost. `length` is at least 3;
/// otherwise its last acknowledgement would be a sample as well.
fn one_late(t: &mut Trace, ms: u64, late: u64, length: u64) {
    let before = late - 1;
    let highest = late + length;
    t.at(ms).ack(&format!("C{before} S{highest}")).reports("").sends_any();
    t.at(ms).ack(&format!("C{late} S{highest}")).reports(&format!("reordered {length}"));
    t.sends_any();
    // Two holes or more close with this one, so there is no sample.
    t.at(ms).ack(&format!("C{highest}")).reports("").sends_any();
}

/// Section 4.1.1, figure 1: 2 3 4 5 1 arrive, "reordering length of 4".
#[test]
fn the_reordering_of_figure_1_has_a_length_of_four() {
    let mut t = Trace::of("rr-fa").fixed_window(10).start();
    t.sends("1-10").dupthresh(3);
    // After this three SACKed segments are no loss: 5 is a length of 4.
    one_late(&mut t, 100, 1, 4);
    t.dupthresh(5);
    // The figure's 1 to 5 are 6 to 10 here.
    t.at(101).ack("C5 S7").reports("").sends_any();
    t.at(101).ack("C5 S7-8").reports("").sends_any();
    t.at(101).ack("C5 S7-9").reports("").sends_any();
    t.at(101).ack("C5 S7-10").reports("").sends_any();
    t.at(102).ack("C10").reports("reordered 4").sends_any();
}

/// Section 4.1.1: a hole may also close by a SACK, below others.
#[test]
fn a_hole_that_a_sack_closes_is_measured() {
    let mut t = Trace::of("rr-fa").fixed_window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S7").reports("").sends_any();
    // Below the highest, 7, and above the hole at 1.
    t.at(101).ack("C0 S5 S7").reports("reordered 2").sends_any();
}

/// Section 4.1.1: "The test for n == 1 ignores samples where a returning ACK closes more than one
/// hole". Segments in order or above everything else are not events.
#[test]
fn an_acknowledgement_that_closes_two_holes_is_no_sample() {
    let mut t = Trace::of("rr-fa").fixed_window(10).start();
    t.sends("1-10");
    t.at(100).ack("C1").reports("").sends_any();
    t.at(100).ack("C1 S4").reports("").sends_any();
    // 2 and 3.
    t.at(101).ack("C4").reports("").sends_any();
    // 5 in order, and 6 with it, because its acknowledgement was lost.
    t.at(102).ack("C6").reports("").sends_any();
    t.at(103).ack("C6 S8").reports("").sends_any();
    // The hole at 7, and 9 as well.
    t.at(104).ack("C9").reports("").sends_any();
    t.dupthresh(3);
}

/// Section 4.1.1, MEAN: the mean of the length at the first acknowledgement and at the DSACK.
#[test]
fn a_retransmitted_segment_has_the_mean_of_both_lengths() {
    let mut t = Trace::of("rr-fa").fixed_window(20).start();
    t.sends("1-20");
    t.at(100).ack("C0 S2").sends_any();
    t.at(100).ack("C0 S2-3").sends_any();
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
    t.at(100).ack("C0 S2-5").sends_any();
    // 5 − 1, stored.
    t.at(101).ack("C5").reports("").dupthresh(3).sends_any();
    t.at(101).ack("C9").reports("").sends_any();
    // 9 − 1. (4 + 8)/2 = 6, and one beyond it.
    t.at(200).ack("C9 D1").reports("spurious 1, reordered 6, spurious-fast-retransmit, recovered");
    t.dupthresh(7).sends_any();
}

/// Section 4.1.1: "When no DSACK for the retransmission returns, the sender discards the reordering
/// length sample".
#[test]
fn a_lost_segment_gives_no_length() {
    let mut t = Trace::of("rr-fa").fixed_window(20).start();
    t.sends("1-20");
    t.at(100).ack("C0 S2-20").reports("fast-retransmit").sends_any();
    t.at(200).ack("C20").reports("recovered").dupthresh(3).sends_any();
    t.at(250).ack("C21").reports("").dupthresh(3);
}

/// Section 5.1.1, RTX: a bit distinguishes originals from retransmissions, and the original's
/// length counts.
#[test]
fn with_the_bit_only_the_original_is_measured() {
    // The original arrives first, 4 late: not the mean with 8.
    let mut t = Trace::of("rr-fa-rtx").fixed_window(20).start();
    t.sends("1-20");
    t.at(100).ack("C0 S2-5").reports("fast-retransmit").sends("R1");
    t.at(101).ack("C5").reports("reordered 4").dupthresh(5).sends_any();
    t.at(101).ack("C9").sends_any();
    t.at(200).ack("C9 D1 rtx").reports("spurious 1, spurious-fast-retransmit, recovered");
    t.dupthresh(5);

    // The retransmission arrives first, and the original 8 late.
    let mut t = Trace::of("rr-fa-rtx").fixed_window(20).start();
    t.sends("1-20");
    t.at(100).ack("C0 S2-5").reports("fast-retransmit").sends("R1");
    t.at(200).ack("C5 rtx").reports("").dupthresh(3).sends_any();
    t.at(201).ack("C9").sends_any();
    t.at(202).ack("C9 D1").reports("spurious 1, reordered 8, spurious-fast-retransmit, recovered");
    t.dupthresh(9);
}

/// Section 4.2: "if 90% of the packets have a reordering length of 8 packets or fewer, dupthresh is
/// set to 9".
#[test]
fn the_threshold_covers_ninety_percent_of_the_lengths() {
    let mut t = Trace::of("rr-fa").fixed_window(40).start();
    t.sends_any();
    let mut late = 1;
    // Nine of at most 8, and the tenth of 20: 0.9 · 10 = 9 of them are at most 8.
    for length in [3, 4, 5, 6, 7, 8, 8, 8, 8, 20] {
        one_late(&mut t, 100 * late, late, length);
        late += length + 1;
    }
    t.dupthresh(9);
    // 0.9 · 11 = 9.9: ten of the eleven, which reaches 20.
    one_late(&mut t, 100 * late, late, 21);
    t.dupthresh(21);
}

/// Lengths beyond the maximum threshold count as the maximum; dupthresh is at most 64 and at least
/// 3.
#[test]
fn the_threshold_stays_within_its_bounds() {
    let mut t = Trace::of("rr-fa").fixed_window(100).start();
    t.sends_any();
    t.at(100).ack("C30").sends_any();
    one_late(&mut t, 100, 31, 69);
    t.dupthresh(64);

    let mut t = Trace::of("rr-fa").fixed_window(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2").sends_any();
    // A length of 1 would make it 2.
    t.at(100).ack("C2").reports("reordered 1").dupthresh(3).sends_any();
}

/// Table 2: a sample counts for 80 s, and section 4.1.2: "Periodically, events older than the history
/// period are deleted", here at whole seconds.
#[test]
fn a_sample_lives_for_eighty_seconds() {
    let mut t = Trace::of("rr-fa").writes(9).start();
    t.sends("1-9");
    one_late(&mut t, 100, 1, 8);
    t.dupthresh(9);
    t.at(80_000).writes(1).sends("10");
    t.at(80_101).ack("C10").dupthresh(9);
    t.at(80_900).writes(1).sends("11");
    t.at(80_999).ack("C11").dupthresh(9);
    t.writes(1).sends("12");
    t.at(81_000).ack("C12").dupthresh(3);
}

/// Plays a spurious fast retransmit of segment 1 at 100 ms, discovered at 300 ms.
fn spurious_fast_retransmit(variant: &str, window: u32) -> Trace {
    let mut t = Trace::of(variant).fixed_window(window).start();
    t.sends_any();
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends_any();
    t.at(100).ack("C4").reports("").sends_any();
    t.at(300).ack("C4 D1").reports("spurious 1, reordered 3, spurious-fast-retransmit, recovered");
    t.sends_any();
    t
}

/// Section 4.3: "Upon every false fast retransmit, increase the FA ratio by S"; S = 0.01. Only
/// `rr-ta` does so.
#[test]
fn a_spurious_fast_retransmit_raises_the_fa_ratio() {
    spurious_fast_retransmit("rr-ta", 20).fa_ratio(0.91);
    spurious_fast_retransmit("rr-fa", 20).fa_ratio(0.9);
}

/// Section 4.3: "Upon every timeout, decrease the FA ratio by S·C(timeout)/C(FFR)".
#[test]
fn a_timeout_lowers_the_fa_ratio_by_its_cost() {
    let mut t = Trace::of("rr-ta").fixed_window(32).start();
    t.sends("1-32").fa_ratio(0.9);
    // W = 32, T = 1 s, R = 100 ms, k = 1: C_TO = 32·(10 + 5 − 1 − 2) + 1 = 385. No spurious fast
    // retransmit has been timed, D = R: C_FFR = 1·(32 − 1 + 1)/2 = 16.
    t.at(1000).timer().reports("timeout").fa_ratio(0.9 - 0.01 * 385.0 / 16.0).sends("T1");

    // `rr-fa` does not adapt.
    let mut t = Trace::of("rr-fa").fixed_window(32).start();
    t.sends("1-32");
    t.at(1000).timer().reports("timeout").fa_ratio(0.9).sends("T1");
}

/// The same with D from a spurious fast retransmit, and with interpolation between whole rounds.
#[test]
fn the_cost_of_a_timeout_is_relative_to_that_of_a_spurious_fast_retransmit() {
    let mut t = spurious_fast_retransmit("rr-ta", 32);
    // The spurious one lasted 200 ms. Enhanced sampling has timed both of its copies, at 100 and at
    // 200 ms, the latter with all but four of 32, and what has been sent since, in flight.
    let r = t.connection().srtt().unwrap().as_millis_f64();
    assert!(r > 100.0 && r < 103.0, "SRTT {r}");
    let w = t.connection().window().cwnd;
    let rounds = 200.0 / r;
    assert_eq!(w, 16.0, "the window was halved and has not grown again");
    // D/R is just below 2: between C(1) = 1·(16 − 1 + 1)/2 = 8 and C(2) = 2·(16 − 2 + 1)/2 = 15.
    let ffr = 8.0 + 7.0 * (rounds - 1.0);
    // C_TO = 16·(T/R + log2 16 − 1 − 2) + 1.
    let timeout = 16.0 * (1000.0 / r + 4.0 - 3.0) + 1.0;
    t.at(1100).timer().reports("timeout").fa_ratio(0.91 - 0.01 * timeout / ffr);
    t.sends("T5");
}

/// The FA ratio stays in [0, 0.99].
#[test]
fn the_fa_ratio_stays_within_its_bounds() {
    let mut t = Trace::of("rr-ta").fixed_window(32).writes(32).start();
    t.sends("1-32");
    // A timeout costs 0.24 of it at first (see above), and more in smaller windows.
    let mut now = 1000;
    for wait in [2000, 4000, 8000, 16_000, 32_000, 60_000] {
        t.at(now).timer().reports("timeout").sends("T1");
        now += wait;
    }
    t.fa_ratio(0.0).dupthresh(3);

    // A dozen spurious fast retransmits: 0.91, 0.92 … 0.99, and no more.
    let mut t = Trace::of("rr-ta").set("restore", "at-once").fixed_window(60).start();
    t.sends_any();
    let mut first = 1;
    for k in 1..=12 {
        let now = 50 + 50 * k;
        let last = first + u64::from(t.connection().dupthresh().expect("a threshold"));
        t.at(now).ack(&format!("C{} S{}-{last}", first - 1, first + 1)).reports("fast-retransmit");
        t.sends_any().at(now).ack(&format!("C{last}")).reports("").sends_any();
        t.at(now + 10).ack(&format!("C{last} D{first}"));
        t.reports(&format!(
            "spurious {first}, reordered {}, spurious-fast-retransmit, recovered",
            last - first
        ));
        t.sends_any().fa_ratio((0.9 + 0.01 * k as f64).min(0.99));
        first = last + 1;
    }
}

/// Section 2.3: limited transmit sends "one ACK-clocked … congestion window's worth" beyond cwnd,
/// one for each duplicate.
#[test]
fn limited_transmit_sends_up_to_one_window_more() {
    let mut t = with_a_high_threshold();
    // Nothing is lost or acknowledged; the first ten duplicates release one each.
    for k in 1..=10 {
        t.at(1000).ack(&format!("C30 S32-{}", 31 + k)).reports("").sends(&format!("{}", 40 + k));
    }
    for k in 11..=14 {
        t.at(1000).ack(&format!("C30 S32-{}", 31 + k)).reports("").sends("");
    }
}

/// Returns a sender with a window of 10, whose dupthresh is 19, and which has sent 31-40.
fn with_a_high_threshold() -> Trace {
    let mut t = Trace::of("rr-ta").fixed_window(10).start();
    t.sends("1-10");
    // Up to twice the window may be outstanding when duplicates arrive. A length of 18 requires
    // that, and a dupthresh of 11 before it, so that ten of them can arrive.
    t.at(100).ack("C0 S10").sends("11");
    t.at(100).ack("C0 S10-11").sends("12");
    t.at(100).ack("C1 S10-11").reports("reordered 10").dupthresh(11).sends_any();
    t.at(100).ack("C11").reports("").sends("14-21");
    for k in 1..=9 {
        t.at(200).ack(&format!("C11 S13-{}", 12 + k)).reports("").sends(&format!("{}", 21 + k));
    }
    t.at(300).ack("C11 S13-21 S30").reports("").sends("31");
    // 30 − 12; with two samples, 90 % covers both.
    t.at(300).ack("C12 S13-21 S30").reports("reordered 18").dupthresh(19).sends("32");
    t.at(300).ack("C30").reports("").sends("33-40");
    t
}

/// Section 4.3, Limited Transmit: C_LT = (I/R)·W − d, and above C_FFR it lowers the FA ratio by
/// S·C_LT/C_FFR. "When the sender exhausts limited transmit, we store the time this event occurs":
/// this happens at the tenth duplicate. d counts the four beyond it, in four acknowledgements or in
/// one.
#[test]
fn idle_time_after_limited_transmit_lowers_the_fa_ratio() {
    for (idle, at_once, lowers) in [(100, false, true), (100, true, true), (80, false, false)] {
        let mut t = with_a_high_threshold();
        for k in 1..=10 {
            t.at(390 + k).ack(&format!("C30 S32-{}", 31 + k)).sends(&format!("{}", 40 + k));
        }
        for k in if at_once { 14..=14 } else { 11..=14 } {
            t.at(405).ack(&format!("C30 S32-{}", 31 + k)).reports("").sends("");
        }
        t.fa_ratio(0.9);
        t.at(400 + idle).ack("C45").reports("reordered 14").sends_any();
        // W = 10, D = R (no retransmission has been spurious yet): C_FFR = 1·(10 − 1 + 1)/2 = 5.
        let r = t.connection().srtt().unwrap().as_millis_f64();
        let cost = idle as f64 / r * 10.0 - 4.0;
        assert_eq!(cost > 5.0, lowers, "the cost of {idle} ms is {cost} with R = {r} ms");
        t.fa_ratio(if lowers { 0.9 - 0.01 * cost / 5.0 } else { 0.9 });
    }
}

/// Only limited transmit's own bound counts: a peer's window that ends before it makes the sender
/// idle too, and says nothing about the threshold.
#[test]
fn a_wait_for_the_peers_window_is_no_idle_period() {
    let mut t = Trace::of("rr-ta").fixed_window(10).peer_window(10).start();
    t.sends("1-10");
    one_late(&mut t, 100, 1, 9);
    t.sends("").dupthresh(10).at(200).ack("C10 S12-20").reports("").sends("");
    t.at(900).ack("C20").reports("reordered 9").fa_ratio(0.9);
}

/// A timeout ends the idle period; it does not count.
#[test]
fn an_idle_period_that_ends_in_a_timeout_does_not_count() {
    let mut t = with_a_high_threshold();
    for k in 1..=14 {
        t.at(400).ack(&format!("C30 S32-{}", 31 + k)).sends_any();
    }
    t.at(1300).timer().reports("timeout").sends_any();
    let after_timeout = t.variable("fa_ratio");
    assert!(after_timeout < 0.9);
    t.at(1400).ack("C50").fa_ratio(after_timeout);
}

/// Enhanced RTT sampling (spec, section 5): both copies of a spuriously retransmitted segment are
/// timed, and the mean of the two counts.
#[test]
fn a_spurious_retransmission_gives_an_rtt_sample() {
    for (variant, sampled) in [("rr-fa", true), ("dsack-r", false)] {
        let mut t = Trace::of(variant).fixed_window(10).writes(10).start();
        t.sends("1-10");
        t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends_any();
        // Original: 180 − 0.
        t.at(180).ack("C4").srtt(100.0).sends_any();
        // Retransmission: 220 − 100. The mean of 180 and 120 is 150; six are in flight.
        t.at(220).ack("C4 D1").sends_any();
        t.srtt(if sampled { 100.0 + 50.0 / (8.0 * 6.0) } else { 100.0 });
    }
}

/// Enhanced RTT sampling: the timeout is at least the 99.8th percentile of all samples.
#[test]
fn the_timeout_covers_the_slowest_round_trips() {
    let mut t = Trace::of("rr-fa").fixed_window(1).min_rto(10).start();
    t.sends("1").rto(300.0);
    // 1: one of two samples took 280 ms. Its bin ends at 280 ms or up to 1/32 above.
    t.at(280).ack("C1").sends("2");
    let mut now = 280;
    for n in 2..=60 {
        now += 100;
        t.at(now).ack(&format!("C{n}")).sends(&format!("{}", n + 1));
    }
    let rto = t.connection().rto().as_millis_f64();
    assert!((280.0..=280.0 * 33.0 / 32.0).contains(&rto), "{rto}");
    // RFC 6298 would no longer cover it.
    let mut t = Trace::of("sack").fixed_window(1).min_rto(10).start();
    t.sends("1");
    t.at(280).ack("C1").sends("2");
    let mut now = 280;
    for n in 2..=60 {
        now += 100;
        t.at(now).ack(&format!("C{n}")).sends(&format!("{}", n + 1));
    }
    assert!(t.connection().rto().as_millis_f64() < 110.0);
}
