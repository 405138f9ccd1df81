//! `unruffled`: the rules of docs/senders/unruffled.md, each with a trace worked out by hand.

mod trace;

use trace::{Setup, Trace};
use unruffled_units::{Duration, Instant};

/// Where the bin of 40 ms ends, and with it the wait before a segment is resent: 5 · 2^23 ns.
const FORTY: Duration = Duration::from_nanos(5 << 23);

/// The application writes a segment at a time, so that each leaves when the trace says. Segment 2
/// was 40 ms late, and resent by RACK meanwhile: from now on a segment is resent 41.9 ms after a
/// round trip of 100 ms, and believed to be lost 50 ms (5/4 of 40) after it.
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
    t.at(135).timer().sees("fast-retransmit").sends("R2");
    // Too soon for R2, which left 15 ms ago: it is the original, 150 − 10 − 100 = 40 ms late. The
    // timestamp says so at once, or else R2's duplicate does. No proof of the reduction is left.
    t.at(150).echoing(10).ack("C3").sends("");
    if timestamps {
        t.sees("spurious-fast-retransmit, recovered");
    } else {
        t.sees("recovered").cwnd(2.0);
        t.at(199).ack("C3 D2").sees("spurious 2, reordered 1, spurious-fast-retransmit");
    }
    t.cwnd(20.0).sends("");
    t
}

/// Two more segments, of which the second arrives.
fn missing_4(timestamps: bool) -> Trace {
    let mut t = late_by_40(timestamps);
    t.at(200).writes(1).sends("4");
    t.at(210).writes(1).sends("5");
    t.at(310).ack("C3 S5").sends("");
    let due = t.connection().poll_timeout().expect("a timer");
    // 4 left at 200 and is resent at 200 + 100 + 41.9.
    assert_eq!(t.wait_until(due), FORTY - Duration::from_millis(10));
    t.timer().sees("").cwnd(20.0).sends("R4");
    t.timer_at(350);
    t
}

/// Section 4: a suspicion costs a packet, not the window.
#[test]
fn what_arrives_before_the_second_wait_ends_does_not_reduce_the_window() {
    let mut t = missing_4(false);
    t.at(345).ack("C5").sees("").cwnd(20.0).sends("").no_timer();
    // R4's duplicate says what is known.
    t.at(442).ack("C5 D4").sees("spurious 4, reordered 1").cwnd(20.0).sends("");
}

/// Section 4: a suspicion that nothing disproves is proof at 200 + 100 + 50.
#[test]
fn what_does_not_arrive_in_time_reduces_the_window() {
    let mut t = missing_4(false);
    // Of a flight of two.
    t.at(350).timer().sees("fast-retransmit").ssthresh(2.0).sends("");
    t.at(443).ack("C5").sees("recovered").cwnd(2.0).sends("").no_timer();
}

/// Section 4: a proof that is disproved is taken back, and with the last one the reduction.
#[test]
fn a_reduction_is_taken_back_when_its_last_proof_is_disproved() {
    let mut t = missing_4(false);
    t.at(350).timer().sees("fast-retransmit").sends("");
    t.at(443).ack("C5").sees("recovered").cwnd(2.0).sends("");
    t.at(500)
        .ack("C5 D4")
        .sees("spurious 4, reordered 1, spurious-fast-retransmit")
        .cwnd(20.0)
        .sends("");
}

/// Section 2: with timestamps, the echo tells the copies apart, however late the original is.
#[test]
fn a_timestamp_that_is_older_than_the_retransmission_disproves() {
    for (echo, seen, cwnd) in
        [(200, "spurious-fast-retransmit, recovered", 20.0), (342, "recovered", 2.0)]
    {
        let mut t = missing_4(true);
        t.at(350).timer().sees("fast-retransmit").sends("");
        t.at(460).echoing(echo).ack("C5").sees(seen).cwnd(cwnd).sends("");
    }
}

/// Section 4: so many at a time are proof by their number.
#[test]
fn three_suspicions_at_a_time_are_proof() {
    let mut t = late_by_40(false);
    for n in 0..5 {
        t.at(200 + n).writes(1).sends(&(4 + n).to_string());
    }
    t.at(304).ack("C3 S8").sends("");
    for n in 4..7 {
        let due = t.connection().poll_timeout().expect("a timer");
        t.wait_until(due);
        t.timer().sees("").sends(&format!("R{n}"));
    }
    // The fourth is due now; three are pending, and that is proof: half of a flight of five.
    let due = t.connection().poll_timeout().expect("a timer");
    t.wait_until(due);
    t.timer().sees("fast-retransmit").ssthresh(2.5).sends("R7");
}

/// Section 5: the retransmission timer restarts with every delivery, so that a hole may be open for
/// longer than the timeout.
#[test]
fn what_is_sacked_restarts_the_retransmission_timer() {
    let mut t = missing_4(false);
    // 4 is lost for good, however often it is resent. All else arrives, a segment in 100 ms.
    for n in 0..20_u64 {
        let (sent, now) = (6 + n, Instant::from_millis(100_400 + 100 * n));
        while let Some(due) = t.connection().poll_timeout().filter(|&due| due < now) {
            t.wait_until(due);
            t.timer();
            t.and_so_on();
        }
        t.at(400 + 100 * n).writes(1).and_so_on();
        t.ack(&format!("C3 S5-{}", sent - 1)).and_so_on();
        // A timeout would have doubled it.
        t.rto(1000.0);
    }
}

/// Section 5: when nothing is delivered for two round trips, the last segment is resent, though a
/// hole is open and recovery is under way; the timeout is still far.
#[test]
fn silence_is_probed_whatever_is_open() {
    let mut t = missing_4(false);
    t.at(349).writes(1).sends("6");
    t.at(350).timer().sees("fast-retransmit").sends("");
    let due = t.connection().poll_timeout().expect("a timer");
    let quiet = t.wait_until(due);
    assert!((Duration::from_millis(190)..Duration::from_millis(250)).contains(&quiet), "{quiet:?}");
    t.timer().sees("probe").sends("P6");
}

/// Section 5: in doubt the window grows by what is delivered, in whatever order, and new data goes
/// while the pipe has room.
#[test]
fn the_window_grows_by_what_is_sacked() {
    for (name, cwnd, sends) in [("unruffled", 5.0, "8 9"), ("rack", 4.0, "8")] {
        let mut t = Trace::of(name).window(4).writes(1).start();
        t.sends("1");
        t.at(10).writes(1).sends("2");
        t.at(20).writes(1).sends("3");
        t.at(100).ack("C1").sends("");
        t.at(120).ack("C1 S3").sends("");
        // RACK finds out by the duplicate of R2 that 2 had only been late.
        t.at(130).ack("C3").sees("reordered 1").cwnd(4.0).sends("");
        t.at(200).writes(10).sends("4-7");
        t.at(300).ack("C3 S5").cwnd(cwnd).sends(sends);
    }
}

/// Section 5: of 20 segments in a round trip of 100 ms, 20 · (40 + 0 + 0) / 3 / 100 = 2.67 are late at
/// a time, by the three samples; so three more than cwnd may be in the pipe.
#[test]
fn what_is_late_as_usual_leaves_room_for_new_data() {
    for (bound, sends) in [(1000, "4-26"), (22, "4-25"), (20, "4-23")] {
        let mut t = late_by_40_in(Trace::of("unruffled").fixed_window(bound).window(20), false);
        t.at(200).writes(40).sends(sends);
    }
}

/// Section 5: with that room for 23, a window of 20 in flight is not full, and does not grow, though
/// nothing is open when the next acknowledgement comes.
#[test]
fn what_is_acknowledged_in_order_grows_the_window_only_if_the_room_is_full() {
    for (written, cwnd) in [(20, 20.0), (23, 21.0)] {
        let mut t = late_by_40_in(Trace::of("unruffled").fixed_window(1000).window(20), false);
        t.at(200).writes(written).sends(&format!("4-{}", written + 3));
        t.at(300).ack("C4").cwnd(cwnd).sends("");
    }
}

/// R2 is spurious by RACK's guard when the hole is closed 15 ms after it left. The next segment that
/// arrives is 4, which was sent before R2 or else as soon as recovery is over.
fn closed_soon_after_being_resent(name: &str, before: bool) -> Trace {
    let mut t = Trace::of(name).fixed_window(20).writes(1).start();
    t.sends("1");
    t.at(10).writes(1).sends("2");
    t.at(20).writes(1).sends("3");
    t.at(100).ack("C1").sends("");
    t.at(120).ack("C1 S3").sends("").timer_at(135);
    if before {
        t.at(130).writes(1).sends("4");
    }
    t.at(135).timer().sees("fast-retransmit").sends("R2");
    t.at(150).ack("C3").sends("");
    if before {
        t.sees("");
        t.at(230).ack("C4").sends("");
    } else {
        t.sees("recovered");
        t.at(151).writes(1).sends("4");
        t.at(251).ack("C4").sends("");
    }
    t
}

/// Section 2: where the order is kept, what was sent before R2 arrives before it. 4 was and did not, so
/// it was not R2 that closed the hole: 2 was late by 150 − 10 − 100 = 40 ms, and the reduction is taken
/// back.
#[test]
fn what_was_sent_before_a_retransmission_and_comes_later_tells_that_the_original_came() {
    let mut t = closed_soon_after_being_resent("unruffled", true);
    t.sees("spurious-fast-retransmit, recovered").cwnd(20.0);
    assert!((t.variable("lateness_longest") - 0.040).abs() < 1e-9);
    assert!((t.variable("tau_cc") - 0.050).abs() < 1e-9);
}

/// Section 2: 4 was sent after R2. It may have been R2 that closed the hole, if the round trips of
/// before were measured behind a queue that is empty now: RACK's reduction stands, and nothing was late.
#[test]
fn what_was_sent_after_a_retransmission_tells_nothing() {
    for name in ["rack", "unruffled"] {
        let mut t = closed_soon_after_being_resent(name, false);
        t.sees("").cwnd(2.0);
        assert_eq!(
            t.connection().variable("tau_cc", Instant::from_millis(100_251)),
            None,
            "{name}"
        );
        // RACK's window: a quarter of the minimum round trip.
        t.at(300).writes(2).sends("5 6");
        t.at(400).ack("C4 S6").sends("").timer_at(425);
        t.at(425).timer().sees("fast-retransmit").sends("R5");
    }
}

/// Section 2: as long as nothing was late, only what was sent once can be the front. R1 is RACK's, and
/// so 3 is resent as soon as 1 is acknowledged: 120 + 110 + 0 < 235. Its original comes, by the
/// timestamp, behind 2 alone, and so in order.
#[test]
fn what_comes_behind_a_retransmission_is_not_late_as_long_as_nothing_was() {
    let mut t = Trace::of("unruffled").fixed_window(20).timestamps().writes(1).start();
    t.sends("1");
    t.at(10).writes(1).sends("2");
    t.at(110).echoing(0).ack("C0 S2").sends("").timer_at(125);
    t.at(120).writes(1).sends("3");
    t.at(125).timer().sees("fast-retransmit").sends("R1");
    t.at(235).echoing(125).ack("C2").rack_segment(110, 125).sends("R3");
    t.at(236).echoing(120).ack("C3").sees("recovered").sends("");
    assert_eq!(t.connection().variable("tau_cc", Instant::from_millis(100_236)), None);
}

/// Nothing came late: RACK in every respect.
#[test]
fn without_lateness_it_is_rack() {
    for name in ["rack", "unruffled"] {
        let mut t = Trace::of(name).fixed_window(10).start();
        t.sends("1-10");
        t.at(100).ack("C0 S2-4").sees("fast-retransmit").sends("R1 11").pipe(8);
        t.at(101).ack("C0 S2-4 S6").sends("").pipe(6);
        t.at(101).ack("C0 S2-4 S6-7").sends("").pipe(5);
        t.at(101).ack("C0 S2-4 S6-8").sends("R5").pipe(5);
    }
}

/// Section 5: after a timeout all is missing, far more than is usually late, and the window grows all
/// the same, by a segment for each that is delivered.
#[test]
fn after_a_timeout_the_window_doubles_in_a_round_trip() {
    let mut t = late_by_40(true);
    t.at(300).writes(9).sends("4-12");
    // All of it is lost: the last one asks in vain, twice it is believed to be, then the timer expires.
    for (sees, sends) in [("probe", "P12"), ("fast-retransmit", ""), ("", ""), ("timeout", "T4")] {
        let due = t.connection().poll_timeout().expect("a timer");
        t.wait_until(due);
        t.timer().sees(sees).sends(sends);
    }
    // What is resent now was sent so long ago that it is proved at once.
    t.timer().sees("").cwnd(1.0);
    t.at(1800).ack("C4").cwnd(2.0).sends("T5 T6").timer();
    t.at(1900).ack("C5").cwnd(3.0).sends("T7 T8").timer();
    t.at(1901).ack("C5 S7").cwnd(4.0).sends("T9 T10").timer();
}
