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
    let setup = Trace::of("unruffled").fixed_window(20);
    late_by_40_in(if timestamps { setup.timestamps() } else { setup })
}

fn late_by_40_in(setup: Setup) -> Trace {
    let mut t = setup.writes(1).start();
    t.sends("1");
    t.at(10).writes(1).sends("2");
    t.at(20).writes(1).sends("3");
    t.at(100).echoing(0).ack("C1").sends("");
    // RACK: 2 is due at 10 + 100 + 25.
    t.at(120).ack("C1 S3").sends("").timer_at(135);
    t.at(135).timer().sees("fast-retransmit").sends("R2");
    // Too soon for R2, which left 15 ms ago: it is the original, 150 − 10 − 100 = 40 ms late. No
    // proof of the reduction is left.
    t.at(150)
        .echoing(10)
        .ack("C3")
        .sees("spurious-fast-retransmit, recovered")
        .cwnd(20.0)
        .sends("");
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
        let mut t = late_by_40_in(Trace::of("unruffled").fixed_window(bound).window(20));
        t.at(200).writes(40).sends(sends);
    }
}

/// Section 5: with that room for 23, a window of 20 in flight is not full, and does not grow, though
/// nothing is open when the next acknowledgement comes.
#[test]
fn what_is_acknowledged_in_order_grows_the_window_only_if_the_room_is_full() {
    for (written, cwnd) in [(20, 20.0), (23, 21.0)] {
        let mut t = late_by_40_in(Trace::of("unruffled").fixed_window(1000).window(20));
        t.at(200).writes(written).sends(&format!("4-{}", written + 3));
        t.at(300).ack("C4").cwnd(cwnd).sends("");
    }
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
