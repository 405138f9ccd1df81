//! `unruffled`: the rules of docs/senders/unruffled.md, each with a hand-computed trace.

use crate::trace::{Setup, Trace};
use unruffled_units::{Duration, Instant};

/// Upper end of the bin of 40 ms, which is the wait before a segment is retransmitted: 5 · 2^23 ns.
const BIN_OF_40_MS: Duration = Duration::from_nanos(5 << 23);

/// Upper end of the bin of 250 ms: 2^28 ns.
const BIN_OF_250_MS: Duration = Duration::from_nanos(1 << 28);

/// Plays a segment that is 40 ms late. The application writes one segment at a time, so that each
/// is sent when the trace says. Segment 2 is 40 ms late, and RACK retransmits it meanwhile. From
/// then on a segment is retransmitted 41.9 ms after a round trip of 100 ms, and its loss is
/// confirmed 50 ms (5/4 of 40) after it.
fn late_by_40(timestamps: bool) -> Trace {
    late_by_40_in(Trace::of("unruffled").fixed_window(20), timestamps)
}

fn late_by_40_in(setup: Setup, timestamps: bool) -> Trace {
    let setup = if timestamps { setup.timestamps() } else { setup };
    let mut t = setup.writes(1).start();
    t.sends("1");
    t.at(10).writes(1).sends("2");
    t.at(20).writes(1).sends("3");
    t.at(100).echoing(0).ack("C1").sends("");
    // RACK: 2 is due at 10 + 100 + 25.
    t.at(120).ack("C1 S3").sends("").timer_at(135);
    t.at(135).timer().reports("fast-retransmit").sends("R2");
    // Too soon for R2, which was sent 15 ms ago: it is the original, 150 − 10 − 100 = 40 ms late.
    // The timestamp shows this at once; without timestamps R2's duplicate does. The reduction has
    // no confirmed loss left.
    t.at(150).echoing(10).ack("C3").sends("");
    if timestamps {
        t.reports("spurious-fast-retransmit, recovered");
    } else {
        t.reports("recovered").cwnd(2.0);
        t.at(199).ack("C3 D2").reports("spurious 2, reordered 1, spurious-fast-retransmit");
    }
    t.cwnd(20.0).sends("");
    t
}

/// Plays two more segments, of which the second arrives.
fn missing_4(timestamps: bool) -> Trace {
    let mut t = late_by_40(timestamps);
    t.at(200).writes(1).sends("4");
    t.at(210).writes(1).sends("5");
    t.at(310).ack("C3 S5").sends("");
    let due = t.connection().poll_timeout().expect("a timer");
    // 4 was sent at 200 and is retransmitted at 200 + 100 + 41.9.
    assert_eq!(t.wait_until(due), BIN_OF_40_MS - Duration::from_millis(10));
    t.timer().reports("").cwnd(20.0).sends("R4");
    t.timer_at(350);
    t
}

/// Section 4: a suspicion costs a packet, not the window.
#[test]
fn a_segment_that_arrives_before_the_second_wait_ends_does_not_reduce_the_window() {
    let mut t = missing_4(false);
    t.at(345).ack("C5").reports("").cwnd(20.0).sends("").no_timer();
    // R4's duplicate reports what is known already.
    t.at(442).ack("C5 D4").reports("spurious 4, reordered 1").cwnd(20.0).sends("");
}

/// Section 4: a suspicion that is not refuted is confirmed at 200 + 100 + 50.
#[test]
fn a_segment_that_does_not_arrive_in_time_reduces_the_window() {
    let mut t = missing_4(false);
    // Half of a flight of two.
    t.at(350).timer().reports("fast-retransmit").ssthresh(2.0).sends("");
    t.at(443).ack("C5").reports("recovered").cwnd(2.0).sends("").no_timer();
}

/// Section 4: a confirmed loss that is refuted no longer counts, and the last one undoes the
/// reduction.
#[test]
fn a_reduction_is_undone_when_its_last_loss_is_refuted() {
    let mut t = missing_4(false);
    t.at(350).timer().reports("fast-retransmit").sends("");
    t.at(443).ack("C5").reports("recovered").cwnd(2.0).sends("");
    t.at(500)
        .ack("C5 D4")
        .reports("spurious 4, reordered 1, spurious-fast-retransmit")
        .cwnd(20.0)
        .sends("");
}

/// Section 4: nothing had been late when RACK deemed 2 lost, and the duplicate that would refute it
/// never arrives. When sixteen others were late by more than RACK's 25 ms, it counts as late, too.
#[test]
fn a_reduction_from_before_any_lateness_is_judged_again() {
    let mut t = Trace::of("unruffled").fixed_window(20).writes(1).start();
    t.sends("1");
    t.at(10).writes(1).sends("2");
    t.at(20).writes(1).sends("3");
    t.at(100).ack("C1").sends("");
    t.at(120).ack("C1 S3").sends("").timer_at(135);
    t.at(135).timer().reports("fast-retransmit").sends("R2");
    t.at(235).ack("C3").reports("recovered").cwnd(2.0).sends("").no_timer();
    // 4 is 24 ms late, for which RACK waits: it does not count.
    t.at(300).writes(1).sends("4").at(310).writes(1).sends("5");
    t.at(410).ack("C3 S5").sends("").at(424).ack("C5").reports("reordered 1").sends("");
    // 6, 8, … 36 are 28 ms late. The first of them is retransmitted at the end of the bin of 24 ms.
    for n in 0..16 {
        let began = 500 + 300 * n;
        let late = 6 + 2 * n;
        let next = 7 + 2 * n;
        t.at(began).writes(1).sends(&format!("{late}"));
        t.at(began + 10).writes(1).sends(&format!("{next}")).ssthresh(2.0);
        t.at(began + 110).ack(&format!("C{} S{next}", late - 1)).sends("");
        if n == 0 {
            let due = t.connection().poll_timeout().expect("a timer");
            t.wait_until(due);
            t.timer().reports("").sends("R6");
        }
        t.at(began + 128).ack(&format!("C{next}")).sends("");
        if n == 0 {
            t.reports("").at(began + 225).ack("C7 D6").reports("spurious 6, reordered 1");
        } else if n < 15 {
            t.reports("reordered 1");
        }
    }
    t.reports("reordered 1, spurious-fast-retransmit").cwnd(20.0).sends("");
}

/// Section 4: of two such reductions, the loss of the first is out of memory when the second one is
/// judged again, two generations of 1000 segments later. The window before the first is not
/// restored.
#[test]
fn a_reduction_whose_loss_is_out_of_memory_stands() {
    let mut t = Trace::of("unruffled").fixed_window(20).writes(1).start();
    t.sends("1").at(10).writes(1).sends("2");
    t.at(110).ack("C0 S2").sends("").at(125).timer().reports("fast-retransmit").sends("R1");
    t.at(225).ack("C2").reports("recovered").cwnd(2.0).sends("").no_timer();
    let mut n = 3;
    let mut began = 300;
    for _ in 0..2100 {
        t.at(began).writes(1).sends(&n.to_string()).at(began + 100).ack(&format!("C{n}"));
        t.sends("");
        n += 1;
        began += 100;
    }
    t.at(began).writes(1).sends_any().at(began + 10).writes(1).sends_any();
    t.at(began + 110).ack(&format!("C{} S{}", n - 1, n + 1)).sends("");
    t.at(began + 125).timer().reports("fast-retransmit").sends(&format!("R{n}"));
    t.at(began + 225).ack(&format!("C{}", n + 1)).reports("recovered").cwnd(2.0).sends("");
    // The next one is 24 ms late, for which RACK waits, and sixteen are 28 ms late.
    for late in 0..17 {
        n += 2;
        began += 300;
        t.at(began).writes(1).sends(&n.to_string());
        t.at(began + 10).writes(1).sends(&(n + 1).to_string());
        t.at(began + 110).ack(&format!("C{} S{}", n - 1, n + 1)).sends("");
        // Retransmitted until more of them are known than may be retransmitted spuriously.
        let resent = late == 1 || late == 2;
        if resent {
            let due = t.connection().poll_timeout().expect("a timer");
            t.wait_until(due);
            t.timer().reports("").sends(&format!("R{n}"));
        }
        t.at(began + if late == 0 { 124 } else { 128 }).ack(&format!("C{}", n + 1)).sends("");
        if resent {
            t.at(began + 225).ack(&format!("C{} D{n}", n + 1)).sends("");
        }
    }
    t.reports("reordered 1, spurious-fast-retransmit").sends("");
    let cwnd = t.connection().window().cwnd;
    assert!(cwnd < 4.0, "the growth since, and not {cwnd}");
}

/// Section 4: the flight is halved although nothing is in flight any more when the loss is
/// confirmed. 2 is 1 s late, so τ_rtx is 1 s and τ_cc 1.25 s.
#[test]
fn a_confirmed_loss_halves_what_was_in_flight_when_it_was_suspected() {
    let mut t = Trace::of("unruffled").window(20).timestamps().writes(1).start();
    t.sends("1");
    t.at(10).writes(1).sends("2");
    t.at(20).writes(1).sends("3");
    t.at(100).echoing(0).ack("C1").sends("");
    t.at(120).ack("C1 S3").sends("").at(135).timer().sends("R2");
    t.at(1110).echoing(10).ack("C3").cwnd(20.0).sends("");
    // 4 is lost.
    t.at(2000).writes(20).sends("4-23");
    t.at(2100).echoing(2000).ack("C3 S5-23").sends("");
    let due = t.connection().poll_timeout().expect("a timer");
    t.wait_until(due);
    t.timer().reports("probe").sends("P4");
    let sent = due.since(Instant::from_millis(100_000)).as_nanos() / 1_000_000;
    t.wait_until(due + Duration::from_millis(100));
    t.echoing(sent).ack("C23").reports("").cwnd(20.0).sends("").no_timer();
    // Due at 2000 + 100 + 1250, and judged when the next acknowledgement arrives.
    t.at(3400).writes(1).sends("24");
    t.at(3500).echoing(3400).ack("C24").reports("fast-retransmit").ssthresh(10.0);
}

/// Section 4: a suspicion waits as long as before if the latenesses expire meanwhile.
#[test]
fn a_pending_suspicion_keeps_its_wait_when_latenesses_expire() {
    let t = Trace::of("unruffled").set("memory", "100ms").set("margin", "20");
    let mut t = t.window(3000).writes(1).start();
    t.sends("1");
    t.at(10).writes(1).sends("2");
    t.at(20).writes(1).sends("3");
    t.at(100).ack("C1").sends("").at(120).ack("C1 S3").sends("");
    // 2 was 20 ms late: a loss is confirmed after 400 ms, bounded by a round trip of 100 ms for
    // each ten segments.
    t.at(130).ack("C3").reports("reordered 1").sends("");
    t.at(200).writes(1010).sends_any().at(300).ack("C1013").sends_any();
    t.at(310).writes(1).sends("1014").at(320).writes(500).sends_any();
    t.at(420).ack("C1013 S1015-1514").sends("");
    let due = t.connection().poll_timeout().expect("a timer");
    t.wait_until(due);
    t.timer().reports("").sends("R1014");
    // It expires when the first of these arrives. R1014 is lost as well, as RACK detects at 435 +
    // 100 + 25.
    t.writes(1000).sends_any();
    t.at(535).ack("C1013 S1015-2100").reports("").sends("");
    t.at(536).ack("C1013 S1015-2101").reports("").sends("");
    let due = t.connection().poll_timeout().expect("a timer");
    let quiet = t.wait_until(due);
    assert!((Duration::from_millis(24)..Duration::from_millis(26)).contains(&quiet), "{quiet:?}");
    t.timer().reports("fast-retransmit").sends("R1014");
}

/// Section 4: a segment retransmitted because it was too big for the path was not lost.
#[test]
fn a_segment_that_was_too_big_is_no_loss() {
    let mut t = late_by_40_in(Trace::of("unruffled").window(20).min_mss(100), true);
    t.at(200).writes(10).sends("4-13");
    t.at(220).too_big(540, 4).cwnd(1.0).ssthresh(f64::INFINITY).sends_any();
    t.at(320).echoing(220).ack("C4").sends_any();
    while let Some(due) =
        t.connection().poll_timeout().filter(|due| *due < Instant::from_millis(100_400))
    {
        t.wait_until(due);
        t.timer().sends_any();
    }
    t.ssthresh(f64::INFINITY);
}

/// Section 2: with timestamps, the echo distinguishes the copies, however late the original is.
#[test]
fn a_timestamp_older_than_the_retransmission_refutes_the_loss() {
    for (echo, reported, cwnd) in
        [(200, "spurious-fast-retransmit, recovered", 20.0), (342, "recovered", 2.0)]
    {
        let mut t = missing_4(true);
        t.at(350).timer().reports("fast-retransmit").sends("");
        t.at(460).echoing(echo).ack("C5").reports(reported).cwnd(cwnd).sends("");
    }
}

/// RFC 7323, section 4.3: the echo is that of the first segment that an acknowledgement covers. It
/// says nothing about those after it, which were retransmitted as well: nothing was late here.
#[test]
fn an_echo_applies_to_the_first_segment_only() {
    for together in [false, true] {
        let mut t = Trace::of("unruffled").fixed_window(20).timestamps().writes(1).start();
        t.sends("1");
        for n in 1..12 {
            t.at(n).writes(1).sends_any();
        }
        t.at(100).echoing(0).ack("C1").sends("").at(101).echoing(1).ack("C2").sends("");
        for n in 5..=12_u64 {
            let resent = [(7, "R3"), (9, "R4")].iter().find(|(at, _)| *at == n).map_or("", |r| r.1);
            t.at(99 + n).ack(&format!("C2 S5-{n}")).sends(resent);
        }
        // R3 and R4 were sent at 106 and 108; the receiver answers each, or both together.
        if !together {
            t.at(206).echoing(106).ack("C3");
        }
        t.at(208).echoing(if together { 106 } else { 108 });
        t.ack("C12").reports("recovered").sends("");
        assert_eq!(t.connection().variable("tau_cc", Instant::from_millis(100_208)), None);
    }
}

/// The same for a probe that repairs a loss while the acknowledgement of the data before it is
/// delayed.
#[test]
fn a_delayed_acknowledgement_does_not_refute_a_loss_that_a_probe_repaired() {
    for echo in [300, 505] {
        let mut t = late_by_40_in(Trace::of("unruffled").fixed_window(20), true);
        t.at(300).writes(2).sends("4 5");
        let due = t.connection().poll_timeout().expect("a timer");
        t.wait_until(due);
        t.timer().reports("probe").sends("P5").timer().reports("fast-retransmit").sends("");
        t.wait_until(due + Duration::from_millis(100));
        t.echoing(echo).ack("C5").reports("recovered").cwnd(2.0).sends("");
    }
}

/// Sends `sent` more segments, of which all but the last are lost. Three are suspected, and the
/// fourth is due.
fn three_suspected_of(sent: u64) -> Trace {
    let mut t = late_by_40(false);
    for n in 0..sent {
        t.at(200 + n).writes(1).sends(&(4 + n).to_string());
    }
    t.at(299 + sent).ack(&format!("C3 S{}", 3 + sent)).sends("");
    for n in 4..7 {
        let due = t.connection().poll_timeout().expect("a timer");
        t.wait_until(due);
        t.timer().reports("").sends(&format!("R{n}"));
    }
    let due = t.connection().poll_timeout().expect("a timer");
    t.wait_until(due);
    t
}

/// Section 4: a number of suspicions at a time confirms them all.
#[test]
fn three_suspicions_at_a_time_are_confirmed() {
    // Three are pending, which confirms them: half of a flight of five.
    three_suspected_of(5).timer().reports("fast-retransmit").ssthresh(2.5).sends("R7");
}

/// Section 4: the round trip of a reduction ends while much is still missing. What ssthresh permits
/// beyond what was sent until then is found by slow start, and not sent at once.
#[test]
fn segments_still_missing_after_a_reduction_are_not_retransmitted_in_a_burst() {
    let mut t = three_suspected_of(20);
    t.timer().reports("fast-retransmit").ssthresh(10.0).sends("R7");
    // The others come due, but nothing more is sent.
    let silent = |t: &mut Trace, until: u64| {
        while let Some(due) = t.connection().poll_timeout() {
            if due >= Instant::from_millis(100_000 + until) {
                break;
            }
            t.wait_until(due);
            t.timer().sends("");
        }
    };
    silent(&mut t, 446);
    // PRR: as many as arrived, and one.
    t.at(446).ack("C7 S23").cwnd(5.0).sends("R8-12");
    silent(&mut t, 546);
    // 5, of which a tenth is room for the usual late segments.
    t.at(546).ack("C8 S23").reports("recovered").cwnd(5.0 / 1.1).pipe(4).ssthresh(10.0).sends("");
    // Slow start: the reduction was already made for 13 to 22, which are missing.
    t.at(547).ack("C9 S23").reports("").cwnd(5.0 / 1.1 + 1.0).sends("R13-15");
}

/// Section 4: what was sent at the reduction, at 350, arrives at 451, but what was sent before it
/// may be suspected until 350 + 100 + 41.9.
#[test]
fn a_reduction_lasts_until_what_was_sent_before_it_would_be_suspected() {
    let mut t = missing_4(false);
    t.at(350).timer().reports("fast-retransmit").at(351).writes(1).sends("6");
    t.at(451).ack("C3 S5-6").reports("").writes(1).sends("7");
    let due = t.connection().poll_timeout().expect("a timer");
    t.wait_until(due);
    t.timer().reports("").sends("").at(551).ack("C3 S5-7").reports("recovered");
}

/// Section 4: until the window has shrunk, the queue is as full as before; 6 was sent before that.
#[test]
fn a_reduction_covers_what_was_sent_until_the_window_has_shrunk() {
    let mut t = missing_4(false);
    t.at(350).timer().reports("fast-retransmit").at(351).writes(1).sends("6");
    t.at(443).ack("C5").reports("recovered").cwnd(2.0).at(444).writes(1).sends("7");
    t.at(544).ack("C5 S7").reports("").ssthresh(2.0).sends("R6");
    // This is confirmed by now: 351 + 100 + 50 has passed.
    t.timer().reports("").ssthresh(2.0);
}

/// Section 5: the retransmission timer restarts with every delivery, so a hole may be open for
/// longer than the timeout.
#[test]
fn a_sacked_segment_restarts_the_retransmission_timer() {
    let mut t = missing_4(false);
    // 4 never arrives, however often it is retransmitted. Everything else arrives, one segment in
    // 100 ms.
    for n in 0..20_u64 {
        let sent = 6 + n;
        let now = Instant::from_millis(100_400 + 100 * n);
        while let Some(due) = t.connection().poll_timeout().filter(|&due| due < now) {
            t.wait_until(due);
            t.timer();
            t.sends_any();
        }
        t.at(400 + 100 * n).writes(1).sends_any();
        t.ack(&format!("C3 S5-{}", sent - 1)).sends_any();
        // A timeout would have doubled it.
        t.rto(1000.0);
    }
}

/// Section 5: it does not restart if the receiver has dropped what it had SACKed (RFC 2018, section
/// 8), which only the timeout retransmits.
#[test]
fn data_that_the_receiver_dropped_is_retransmitted_after_the_timeout() {
    let mut t = missing_4(false);
    // 4 arrives, and 5, which was SACKed, is missing again.
    t.at(345).ack("C4").sends("");
    for n in 0..10 {
        t.at(400 + 100 * n).writes(1).sends(&(6 + n).to_string());
        t.ack(&format!("C4 S6-{}", 6 + n)).sends("").timer_at(1345);
    }
    t.at(1345).timer().reports("timeout").sends("T5");
}

/// Section 5: when nothing is delivered for two round trips, the last segment is retransmitted,
/// although a hole is open and recovery is in progress; the timeout is still far.
#[test]
fn silence_is_also_probed_during_recovery() {
    let mut t = missing_4(false);
    t.at(349).writes(1).sends("6");
    t.at(350).timer().reports("fast-retransmit").sends("");
    let due = t.connection().poll_timeout().expect("a timer");
    let quiet = t.wait_until(due);
    assert!((Duration::from_millis(190)..Duration::from_millis(250)).contains(&quiet), "{quiet:?}");
    t.timer().reports("probe").sends("P6");
}

/// Section 5: while losses are uncertain the window grows by what is delivered, in any order, and
/// new data is sent while the pipe has room.
#[test]
fn the_window_grows_by_what_is_sacked() {
    for (name, cwnd, sent) in [("unruffled", 5.0, "8 9"), ("rack", 4.0, "8")] {
        let mut t = Trace::of(name).window(4).writes(1).start();
        t.sends("1");
        t.at(10).writes(1).sends("2");
        t.at(20).writes(1).sends("3");
        t.at(100).ack("C1").sends("");
        t.at(120).ack("C1 S3").sends("");
        // RACK detects by the duplicate of R2 that 2 was only late.
        t.at(130).ack("C3").reports("reordered 1").cwnd(4.0).sends("");
        t.at(200).writes(10).sends("4-7");
        t.at(300).ack("C3 S5").cwnd(cwnd).sends(sent);
    }
}

/// Section 5: of 20 segments in a round trip of 100 ms, 20 · (40 + 0 + 0) / 3 / 100 = 2.67 are late
/// at a time, by the three samples; so three more than cwnd may be in the pipe.
#[test]
fn the_usual_late_segments_leave_room_for_new_data() {
    for (bound, sends) in [(1000, "4-26"), (22, "4-25"), (20, "4-23")] {
        let mut t = late_by_40_in(Trace::of("unruffled").fixed_window(bound).window(20), false);
        t.at(200).writes(40).sends(sends);
    }
}

/// Section 5: with that room for 23, a window of 20 in flight is not full and does not grow,
/// although nothing is open when the next acknowledgement arrives.
#[test]
fn acknowledgements_in_order_grow_the_window_only_if_the_room_is_full() {
    for (written, cwnd) in [(20, 20.0), (23, 21.0)] {
        let mut t = late_by_40_in(Trace::of("unruffled").fixed_window(1000).window(20), false);
        t.at(200).writes(written).sends(&format!("4-{}", written + 3));
        t.at(300).ack("C4").cwnd(cwnd).sends("");
    }
}

/// docs/internals/differences.md: acknowledgements processed together all count, if the window was full
/// before the first.
#[test]
fn acknowledgements_delivered_together_all_grow_the_window() {
    for batch in [1, 4, 8] {
        let mut t = late_by_40_in(Trace::of("unruffled").window(20), true);
        t.at(200).writes(1000).sends_any().at(300).echoing(200);
        for n in 0..16_u64 {
            t.receives(&format!("C{}", 4 + n));
            if (n + 1) % batch == 0 {
                t.polls().sends_any();
            }
        }
        t.cwnd(36.0);
    }
}

/// Plays a hole that is closed 15 ms after its retransmission R2, which is spurious by RACK's
/// guard. The next segment that arrives is 4, which was sent before R2 or as soon as recovery has
/// ended.
fn closed_soon_after_its_retransmission(name: &str, before: bool) -> Trace {
    let mut t = Trace::of(name).fixed_window(20).writes(1).start();
    t.sends("1");
    t.at(10).writes(1).sends("2");
    t.at(20).writes(1).sends("3");
    t.at(100).ack("C1").sends("");
    t.at(120).ack("C1 S3").sends("").timer_at(135);
    if before {
        t.at(130).writes(1).sends("4");
    }
    t.at(135).timer().reports("fast-retransmit").sends("R2");
    t.at(150).ack("C3").sends("");
    if before {
        t.reports("");
        t.at(230).ack("C4").sends("");
    } else {
        t.reports("recovered");
        t.at(151).writes(1).sends("4");
        t.at(251).ack("C4").sends("");
    }
    t
}

/// Section 2: on a path that keeps order, what was sent before R2 arrives before it. 4 was sent
/// before R2 and arrives later, so R2 did not close the hole: 2 was late by 150 − 10 − 100 = 40 ms,
/// and the reduction is undone.
#[test]
fn a_segment_sent_before_a_retransmission_and_arriving_later_proves_that_the_original_came() {
    let mut t = closed_soon_after_its_retransmission("unruffled", true);
    t.reports("spurious-fast-retransmit, recovered").cwnd(20.0);
    assert!((t.variable("lateness_longest") - 0.040).abs() < 1e-9);
    assert!((t.variable("tau_cc") - 0.050).abs() < 1e-9);
}

/// Section 2: 4 was sent after R2. R2 may have closed the hole, if earlier round trips were
/// measured behind a queue that is empty now. RACK's reduction stands, and nothing was late.
#[test]
fn a_segment_sent_after_a_retransmission_proves_nothing() {
    for name in ["rack", "unruffled"] {
        let mut t = closed_soon_after_its_retransmission(name, false);
        t.reports("").cwnd(2.0);
        assert_eq!(
            t.connection().variable("tau_cc", Instant::from_millis(100_251)),
            None,
            "{name}"
        );
        // RACK's window: a quarter of the minimum round trip.
        t.at(300).writes(2).sends("5 6");
        t.at(400).ack("C4 S6").sends("").timer_at(425);
        t.at(425).timer().reports("fast-retransmit").sends("R5");
    }
}

/// Section 2: as long as nothing was late, only segments sent once can be the front. RACK sends R1,
/// and so 3 is retransmitted as soon as 1 is acknowledged: 120 + 110 + 0 < 235. By its timestamp
/// the original of 3 arrives after 2 only, and so in order.
#[test]
fn a_segment_that_arrives_after_a_retransmission_is_not_late_until_another_one_was() {
    let mut t = Trace::of("unruffled").fixed_window(20).timestamps().writes(1).start();
    t.sends("1");
    t.at(10).writes(1).sends("2");
    t.at(110).echoing(0).ack("C0 S2").sends("").timer_at(125);
    t.at(120).writes(1).sends("3");
    t.at(125).timer().reports("fast-retransmit").sends("R1");
    t.at(235).echoing(125).ack("C2").rack_segment(110, 125).sends("R3");
    t.at(236).echoing(120).ack("C3").reports("recovered").sends("");
    assert_eq!(t.connection().variable("tau_cc", Instant::from_millis(100_236)), None);
}

/// Nothing was late: the sender equals RACK.
#[test]
fn without_lateness_it_is_rack() {
    for name in ["rack", "unruffled"] {
        let mut t = Trace::of(name).fixed_window(10).start();
        t.sends("1-10");
        t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends("R1 11").pipe(8);
        t.at(101).ack("C0 S2-4 S6").sends("").pipe(6);
        t.at(101).ack("C0 S2-4 S6-7").sends("").pipe(5);
        t.at(101).ack("C0 S2-4 S6-8").sends("R5").pipe(5);
    }
}

/// Section 5: after a timeout everything is missing, far more than is usually late. The window
/// grows nevertheless, by a segment for each one delivered.
#[test]
fn after_a_timeout_the_window_doubles_in_a_round_trip() {
    let mut t = late_by_40(true);
    t.at(300).writes(9).sends("4-12");
    // Everything is lost: the probe gets no answer, two losses are confirmed, then the timer
    // expires.
    for (reported, sent) in [("probe", "P12"), ("fast-retransmit", ""), ("", ""), ("timeout", "T4")]
    {
        let due = t.connection().poll_timeout().expect("a timer");
        t.wait_until(due);
        t.timer().reports(reported).sends(sent);
    }
    // Segments retransmitted now were sent so long ago that their loss is confirmed at once.
    t.timer().reports("").cwnd(1.0);
    t.at(1800).ack("C4").cwnd(2.0).sends("T5 T6").timer();
    t.at(1900).ack("C5").cwnd(3.0).sends("T7 T8").timer();
    t.at(1901).ack("C5 S7").cwnd(4.0).sends("T9 T10").timer();
    t.at(1902).ack("C5 S7-8").cwnd(5.0).sends("T11 T12").timer();
    t.at(1903).ack("C5 S7-9").cwnd(5.2).ssthresh(4.5).sends("");
}

/// Sends segment `n`, and 10 ms later the next one, which arrives. Returns the time after which `n`
/// is retransmitted.
fn retransmitted_after(t: &mut Trace, began: u64, n: u64) -> Duration {
    t.at(began).writes(1).sends(&format!("{n}"));
    t.at(began + 10).writes(1).sends(&format!("{}", n + 1));
    t.at(began + 110).ack(&format!("C{} S{}", n - 1, n + 1)).sends("");
    let due = t.connection().poll_timeout().expect("a timer");
    let waited = t.wait_until(due);
    t.timer().reports("").sends(&format!("R{n}"));
    Duration::from_millis(110) + waited
}

/// Section 4: a DSACK that would have refuted a loss was itself lost, like another expected one.
#[test]
fn losses_within_the_expected_number_of_lost_reports_do_not_count() {
    let mut t = Trace::of("unruffled").fixed_window(20).writes(1).start();
    t.sends("1");
    t.at(10).writes(1).sends("2");
    t.at(20).writes(1).sends("3");
    t.at(100).ack("C1").sends("");
    t.at(120).ack("C1 S3").sends("").at(135).timer().reports("fast-retransmit").sends("R2");
    t.at(235).ack("C3").reports("recovered").sends("");
    // 2 is 250 ms late: from now on a loss is confirmed after 312.5 ms.
    t.at(360).ack("C3 D2").reports("spurious 2, reordered 1, spurious-fast-retransmit").sends("");
    for n in 0..5 {
        let first = 4 + 20 * n;
        let last = 23 + 20 * n;
        t.at(600 + 100 * n).writes(20).sends(&format!("{first}-{last}"));
        t.at(700 + 100 * n).ack(&format!("C{last}")).sends("");
    }
    // 104 is lost: of a hundred, one may now be later than the wait.
    assert_eq!(retransmitted_after(&mut t, 2000, 104), Duration::from_millis(100) + BIN_OF_250_MS);
    t.past(2412).after_ns(499_999).timer().reports("fast-retransmit");
    t.at(2469).ack("C105").reports("recovered").sends("");
    // 106 and 108 arrive before their copies can. One of the two reports that are due arrives.
    assert_eq!(retransmitted_after(&mut t, 3000, 106), Duration::from_millis(125));
    t.at(3130).ack("C107").sends("").at(3226).ack("C107 D106").reports("spurious 106, reordered 1");
    retransmitted_after(&mut t, 4000, 108);
    t.at(4140).ack("C109").reports("").sends("");
    // 110 and 112 arrive after their copies can, and nothing shows which transmission arrived. Only
    // a report refuted the loss of 2, so one of the reports for these may have been lost.
    for (n, began) in [(110, 5000), (112, 6000)] {
        retransmitted_after(&mut t, began, n);
        t.at(began + 250).ack(&format!("C{}", n + 1)).reports("").sends("");
    }
    t.at(7000).writes(1).sends("114").at(7100).ack("C114").reports("fast-retransmit").sends("");
}
