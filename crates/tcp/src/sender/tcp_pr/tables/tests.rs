//! The tables line by line, computed by hand: the lines that both tables have, and those that Table
//! 3 adds. `table_1` and `table_3` have the rest. `literal` compares the code with a literal copy
//! of both tables.

mod literal;
mod table_1;
mod table_3;

use std::collections::BTreeSet;

use super::*;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Returns the time `n` milliseconds after the origin.
fn at(n: u64) -> Instant {
    Instant::from_millis(n)
}

/// Returns the first time after `at(n)`, when an mxrtt that ends there has passed.
fn past(n: u64) -> Instant {
    at(n) + TIME_RESOLUTION
}

/// The tables and the list to-be-sent, with as much new data as the window permits.
struct Run {
    pr: Tables,
    /// Packets to be sent again.
    dropped: BTreeSet<SegNo>,
    /// The next new packet.
    next: SegNo,
}

impl Run {
    fn with_form(form: Form, initial_window: u32) -> Self {
        let version = match form {
            Form::Basic => super::super::BASIC,
            Form::Extreme => super::super::EXTREME,
        };
        let values: Vec<f64> = version.parameters.iter().map(|p| p.default).collect();
        let config = Config::simulated().with(|c| c.window.initial = initial_window);
        let pr = Tables::new(&config, &(version.read)(&values));
        Self { pr, dropped: BTreeSet::new(), next: 0 }
    }

    /// Returns Table 3, which includes Table 1.
    fn new(initial_window: u32) -> Self {
        Self::with_form(Form::Extreme, initial_window)
    }

    /// Returns Table 1 after a handshake that took 100 ms, so that mxrtt is 300 ms.
    fn basic(initial_window: u32) -> Self {
        let mut run = Self::with_form(Form::Basic, initial_window);
        run.pr.on_handshake(ms(100));
        run
    }

    /// Returns Table 3 after a handshake that took 100 ms, so that mxrtt is 300 ms.
    fn timed(initial_window: u32) -> Self {
        let mut run = Self::new(initial_window);
        run.pr.on_handshake(ms(100));
        run
    }

    fn flush(&mut self, now: Instant) -> Vec<SegNo> {
        let mut sent = Vec::new();
        while self.pr.may_send(now) {
            let n = self.dropped.pop_first().unwrap_or(self.next);
            self.next = self.next.max(n + 1);
            self.pr.on_sent(n, now);
            sent.push(n);
        }
        self.pr.on_flushed(false);
        sent
    }

    /// Processes one acknowledgement that covers `packets` for the first time. Returns what the
    /// flush sends.
    fn ack(&mut self, packets: impl IntoIterator<Item = SegNo>, now: Instant) -> Vec<SegNo> {
        for n in packets {
            self.pr.on_covered(n, None, now);
            self.dropped.remove(&n);
        }
        self.pr.on_ack(now, f64::INFINITY);
        self.flush(now)
    }

    /// Drops the next packet that is overdue, without the flush behind it.
    fn drop(&mut self, now: Instant) -> Option<(SegNo, Dropped)> {
        let drop = self.pr.next_drop(now)?;
        self.dropped.insert(drop.0);
        Some(drop)
    }

    fn cwnd(&self) -> f64 {
        self.pr.window.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.pr.window.ssthresh
    }
}

#[test]
fn slow_start_sends_two_packets_for_each_acknowledgement() {
    // Lines 18, 19, 24: cwnd 1; after one acknowledgement 2, after two more 4.
    let mut run = Run::new(1);
    assert_eq!(run.flush(at(0)), [0]);
    assert_eq!(run.ack([0], at(100)), [1, 2]);
    assert_eq!(run.ack([1], at(200)), [3, 4]);
    assert_eq!(run.ack([2], at(200)), [5, 6]);
    assert_eq!(run.cwnd(), 4.0);
    assert_eq!((run.pr.srtt(), run.pr.mxrtt()), (Some(ms(100)), ms(300)), "lines 14 and 15");
}

#[test]
fn slow_start_ends_when_one_more_packet_would_exceed_ssthresh() {
    // Line 18: with ssthresh 4, cwnd 3 + 1 ≤ 4 still grows by one; 4 + 1 > 4 changes the mode, and
    // cwnd grows by 1/4 to 4.25, then by 1/4.25 (lines 21 and 22).
    let mut run = Run::timed(3);
    run.pr.window.ssthresh = 4.0;
    run.flush(at(0));
    run.ack([0], at(100));
    assert_eq!((run.cwnd(), run.pr.slow_start), (4.0, true));
    run.ack([1], at(100));
    assert_eq!((run.cwnd(), run.pr.slow_start), (4.25, false));
    run.ack([2], at(100));
    assert_eq!(run.cwnd(), 4.25 + 1.0 / 4.25);
}

#[test]
fn the_largest_round_trip_time_decays_by_alpha_per_window() {
    // Line 14, cwnd 4: 0.995^(1/4) · 100 ms = 99.8747649 ms exceeds the sample of 50 ms.
    let mut run = Run::timed(4);
    run.flush(at(0));
    run.ack([0], at(50));
    assert!((run.pr.srtt - 0.099_874_764_9).abs() < 1e-10, "{}", run.pr.srtt);
    // Line 15: 3 · 99.8747649 ms, in whole nanoseconds.
    assert!((run.pr.mxrtt().as_millis_f64() - 299.624_294_8).abs() < 1e-6, "{}", run.pr.mxrtt());
    // A larger sample is taken at once.
    run.ack([1], at(120));
    assert_eq!(run.pr.srtt(), Some(ms(120)));
}

#[test]
fn one_acknowledgement_of_many_packets_is_one_event() {
    // Lines 16 and 17 apply to all three packets, the other lines once: cwnd is 4, not 6.
    let mut run = Run::new(3);
    run.flush(at(0));
    assert_eq!(run.ack([0, 1, 2], at(100)), [3, 4, 5, 6]);
    assert_eq!(run.cwnd(), 4.0);
}

#[test]
fn the_first_packet_covered_gives_the_sample() {
    // Packet 0 is dropped and resent at 301 ms. Packet 1, sent at 0 ms, arrived long ago, but no
    // cumulative acknowledgement could report that. The acknowledgement of 0 at 401 ms measures 100
    // ms, not 401.
    let mut run = Run::timed(2);
    run.flush(at(0));
    assert_eq!(run.drop(past(300)), Some((0, Dropped::New)));
    run.drop(past(300));
    assert_eq!(run.flush(at(301)), [0]);
    run.ack([0, 1], at(401));
    assert_eq!(run.pr.srtt(), Some(ms(100)));
}

#[test]
fn a_packet_is_dropped_when_mxrtt_has_passed_and_not_before() {
    let mut run = Run::timed(1);
    run.flush(at(1000));
    assert_eq!(run.pr.next_event(at(1000)), Some(past(1300)));
    assert_eq!(run.drop(at(1300)), None, "time > time(n) + mxrtt is strict");
    assert_eq!(run.drop(past(1300)), Some((0, Dropped::New)));
}

/// Sends 0 to 7 with cwnd 8. Then 1 and 2 are acknowledged, and 8 to 11 are sent with cwnd 9 and 10.
fn eight_and_two_more(mut run: Run) -> Run {
    assert_eq!(run.flush(at(0)), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(run.ack([1], at(100)), [8, 9]);
    assert_eq!(run.ack([2], at(100)), [10, 11]);
    assert_eq!(run.cwnd(), 10.0);
    run
}

#[test]
fn a_new_drop_halves_the_window_with_which_the_packet_was_sent() {
    // Lines 8 to 10: cwnd(0) = 8, so cwnd = 4, although it was 10; ssthresh = 4; memorize has the
    // nine packets 3 to 11.
    let mut run = eight_and_two_more(Run::timed(8));
    assert_eq!(run.drop(past(300)), Some((0, Dropped::New)));
    assert_eq!((run.cwnd(), run.ssthresh(), run.pr.lists.memorized()), (4.0, 4.0, 9));
    assert_eq!(run.flush(past(300)), [], "line 24: 4 ≤ |to-be-ack| = 9");
}

#[test]
fn further_drops_of_a_burst_do_not_halve_the_window_again() {
    // Lines 11 to 12a: 3, 4 and 5, sent together with 0, leave memorize; cburst 1, 2, 3 ≤ 4/2 + 1.
    let mut run = eight_and_two_more(Run::timed(8));
    run.drop(past(300));
    for (n, cburst) in [(3, 1), (4, 2), (5, 3)] {
        assert_eq!(run.drop(past(300)), Some((n, Dropped::Burst)));
        assert_eq!((run.cwnd(), run.pr.cburst), (4.0, cburst));
    }
    assert_eq!(run.pr.lists.memorized(), 6);
}

#[test]
fn a_burst_of_more_than_half_a_window_and_one_is_extreme() {
    // Line 12b for the fourth further drop, of 6: 4 > 4/2 + 1. Lines 12c to 12f: cwnd 1, slow
    // start, mxrtt 1 s, nothing is sent for 1 s. With that mxrtt, 7 is no longer overdue.
    let mut run = eight_and_two_more(Run::timed(8));
    run.drop(past(300));
    run.pr.slow_start = false;
    for _ in 0..3 {
        run.drop(past(300));
    }
    assert_eq!(run.drop(past(300)), Some((6, Dropped::Extreme)));
    assert_eq!((run.cwnd(), run.ssthresh(), run.pr.slow_start), (1.0, 4.0, true));
    assert_eq!((run.pr.mxrtt(), run.pr.slowdown), (ms(1000), past(1300)));
    assert_eq!(run.drop(past(300)), None);
    // 7 was sent at 0 ms and is overdue after 1 s, before the slowdown ends.
    assert_eq!(run.pr.next_event(past(300)), Some(past(1000)));
    // It belongs to the burst: 5 > 1/2 + 1, lines 12c to 12f again, but extreme losses are reported
    // once.
    assert_eq!(run.drop(past(1000)), Some((7, Dropped::Burst)));
    assert_eq!(run.pr.slowdown, past(2000));
    // The others arrive. With the last of them memorize is empty, and slow start begins (17a to 19).
    assert_eq!(run.ack([8, 9, 10], at(1050)), []);
    assert_eq!((run.cwnd(), run.pr.cburst, run.pr.lists.memorized()), (1.0, 5, 1));
    assert_eq!(run.ack([11], at(1050)), [], "line 24a: slowdown");
    assert_eq!((run.cwnd(), run.pr.cburst), (2.0, 0));
    assert_eq!(run.flush(at(2000)), []);
    assert_eq!(run.flush(past(2000)), [0, 3], "line 25: the smallest first");
}

#[test]
fn the_window_does_not_grow_while_memorize_has_a_packet() {
    // Section 3.2. 0 is dropped: cwnd 1.5, memorize {1, 2}. The acknowledgement of 1 leaves cwnd
    // alone. That of 2 empties memorize, and as 1.5 + 1 > ssthresh, cwnd grows by 1/1.5.
    let mut run = Run::timed(3);
    run.flush(at(0));
    run.drop(past(300));
    assert_eq!((run.cwnd(), run.pr.lists.memorized()), (1.5, 2));
    assert_eq!(run.ack([1], past(300)), [0], "1.5 > |to-be-ack| = 1");
    assert_eq!((run.cwnd(), run.pr.lists.memorized()), (1.5, 1));
    assert_eq!(run.ack([2], past(300)), [3, 4]);
    assert_eq!(run.cwnd(), 1.5 + 1.0 / 1.5);
}

#[test]
fn cburst_is_zero_when_memorize_is_empty() {
    // Line 12a, memorize {1, 2}: 1 is counted. After 2 memorize is empty, and cburst is 0.
    let mut run = Run::timed(3);
    run.flush(at(0));
    run.drop(past(300));
    run.drop(past(300));
    assert_eq!(run.pr.cburst, 1);
    assert_eq!(run.drop(past(300)), Some((2, Dropped::Burst)));
    assert_eq!((run.pr.cburst, run.pr.lists.memorized()), (0, 0));
}

#[test]
fn a_retransmission_that_is_dropped_is_a_new_drop() {
    // 0 is dropped: cwnd 4, memorize {3, …, 11}. All of them but 11 arrive: |to-be-ack| = 1, so
    // that 0, 12 and 13 are sent with cwnd 4. 0 is dropped again. It is not in memorize, so cwnd =
    // 4/2.
    let mut run = eight_and_two_more(Run::timed(8));
    run.drop(past(300));
    assert_eq!(run.ack(3..=10, at(350)), [0, 12, 13]);
    // The sample of 3 was 350 ms: mxrtt 1050 ms. 11, sent at 100 ms, is overdue before 0.
    assert_eq!(run.pr.mxrtt(), ms(1050));
    assert_eq!(run.drop(past(1150)), Some((11, Dropped::Burst)));
    assert_eq!(run.drop(past(1400)), Some((0, Dropped::New)));
    assert_eq!((run.cwnd(), run.ssthresh(), run.pr.lists.memorized()), (2.0, 2.0, 2));
}

#[test]
fn dropped_packets_are_sent_again_before_new_data() {
    // Lines 6, 24 and 25. 0 to 3 are sent with cwnd 4. 1 is acknowledged, 4 and 5 are sent with
    // cwnd 5. 0 and 2 are dropped: cwnd 2, memorize {3, 4, 5}. When these have arrived, cwnd is 2 +
    // 1/2: 0, 2 and 6.
    let mut run = Run::timed(4);
    run.flush(at(0));
    assert_eq!(run.ack([1], at(100)), [4, 5]);
    assert_eq!(run.drop(past(300)), Some((0, Dropped::New)));
    assert_eq!(run.drop(past(300)), Some((2, Dropped::Burst)));
    assert_eq!(run.pr.lists.memorized(), 3);
    assert_eq!(run.ack([3, 4, 5], past(300)), [0, 2, 6]);
    assert_eq!(run.cwnd(), 2.5);
}

#[test]
fn each_drop_with_a_window_of_one_doubles_mxrtt() {
    // Lines 8a, 9a, 9b: cwnd(0) = 1 is not halved; 300, 600, 1200 ms. Line 10: ssthresh = 1.
    let mut run = Run::timed(1);
    run.flush(at(0));
    assert_eq!(run.drop(past(300)), Some((0, Dropped::New)));
    assert_eq!((run.cwnd(), run.ssthresh(), run.pr.mxrtt()), (1.0, 1.0, ms(600)));
    assert_eq!(run.flush(at(301)), [0]);
    assert_eq!(run.drop(at(901)), None);
    assert_eq!(run.drop(past(901)), Some((0, Dropped::New)));
    assert_eq!(run.pr.mxrtt(), ms(1200));
    // Line 15 ends the backoff.
    run.flush(at(902));
    run.ack([0], at(1002));
    assert_eq!(run.pr.mxrtt(), ms(300));
    // Doubling never exceeds the maximum timeout.
    run.pr.mxrtt = Duration::from_secs(50);
    run.pr.window.cwnd = 1.0;
    run.pr.lists.set_windows(1.0);
    run.drop(at(60_000));
    assert_eq!(run.pr.mxrtt(), Duration::from_secs(60));
    // Neither does line 15: 3 · 25 s.
    run.pr.on_handshake(Duration::from_secs(25));
    assert_eq!(run.pr.mxrtt(), Duration::from_secs(60));
}

#[test]
fn an_acknowledgement_that_cannot_answer_the_copy_times_the_original() {
    // Sent at 0, dropped past 300 and sent again at 310. No copy can be acknowledged within 100 ms.
    let sample = |now: u64| {
        let mut run = Run::timed(1);
        run.flush(at(0));
        run.drop(past(300));
        run.flush(at(310));
        run.pr.on_covered(0, Some(at(0)), at(now - 100));
        run.pr.on_ack(at(now), f64::INFINITY);
        run.pr.srtt()
    };
    assert_eq!(sample(409), Some(ms(409)));
    assert_eq!(sample(410), Some(ms(100)));
}

#[test]
fn with_whole_packets_the_fraction_of_the_window_permits_no_packet() {
    // Line 24 with cwnd 3.5: 3.5 > 3 permits a fourth packet, while three whole packets do not. A
    // window below one packet counts as one: 0.75 > 0, and 1 > 0.
    let sent = |whole: Whole, cwnd: f64| {
        let mut run = Run::timed(4);
        run.pr.settings.whole = whole;
        run.pr.window.cwnd = cwnd;
        run.flush(at(0)).len()
    };
    for (cwnd, as_printed, whole) in [(3.5, 4, 3), (3.0, 3, 3), (1.25, 2, 1), (0.75, 1, 1)] {
        assert_eq!(sent(Whole::Never, cwnd), as_printed, "cwnd {cwnd}");
        assert_eq!(sent(Whole::Always, cwnd), whole, "cwnd {cwnd}");
    }
}

#[test]
fn the_window_does_not_grow_while_data_limits_the_sender() {
    let mut run = Run::timed(4);
    run.pr.on_sent(0, at(0));
    run.pr.on_flushed(true);
    run.pr.on_covered(0, None, at(100));
    run.pr.on_ack(at(100), f64::INFINITY);
    assert_eq!(run.cwnd(), 4.0);
}

#[test]
fn a_delayed_acknowledgement_grows_the_window_by_two_only_with_byte_counting() {
    for (byte_counting, cwnd) in [(1, 5.0), (2, 6.0)] {
        let mut run = Run::timed(4);
        run.pr.limits.byte_counting = byte_counting;
        run.flush(at(0));
        run.ack([0, 1], at(100));
        assert_eq!(run.cwnd(), cwnd);
        run.ack([2, 3, 4], at(200));
        assert_eq!(run.cwnd(), cwnd + f64::from(byte_counting));
    }
}

#[test]
fn windows_keep_their_octets_when_packets_become_smaller() {
    // The packets become half as large: cwnd(0) = 8 becomes 16, and cwnd 10 becomes 20. After a
    // drop, 16/2.
    let mut run = eight_and_two_more(Run::timed(8));
    run.pr.window.ssthresh = 12.0;
    run.pr.on_smaller_packets(2.0);
    assert_eq!((run.cwnd(), run.ssthresh()), (20.0, 24.0));
    assert_eq!(run.drop(past(300)), Some((0, Dropped::New)));
    assert_eq!((run.cwnd(), run.ssthresh()), (8.0, 8.0));
}

#[test]
fn slow_start_leads_back_to_the_old_window_after_a_split() {
    // Ten packets are in to-be-ack: the window of ten becomes ssthresh, and one more packet may be
    // sent.
    let mut run = eight_and_two_more(Run::timed(8));
    run.pr.window.ssthresh = 4.0;
    run.pr.slow_start = false;
    run.pr.restart();
    assert_eq!((run.cwnd(), run.ssthresh(), run.pr.slow_start), (11.0, 10.0, true));
}
