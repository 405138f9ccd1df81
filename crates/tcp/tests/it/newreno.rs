//! Recovery without SACK, as packet traces: RFC 6582 (`newreno`) and RFC 5681 (`reno`).

use crate::trace::Trace;

/// Plays up to the acknowledgement of R2: segments 2 and 5 of a window of eleven are lost.
fn two_losses(variant: &str) -> Trace {
    let mut t = Trace::of(variant).window(10).start();
    t.sends("1-10");
    t.at(100).ack("C1").cwnd(11.0).sends("11 12");
    // RFC 3042: one for each of the first two duplicates, of 3 and 4.
    t.at(101).ack("C1").reports("").sends("13");
    t.at(102).ack("C1").reports("").sends("14");
    // RFC 5681, section 3.2: ssthresh = 11/2; 13 and 14, sent by limited transmit, do not count.
    t.at(103).ack("C1").reports("fast-retransmit").ssthresh(5.5).cwnd(5.5).sends("R2");
    // The RFC's cwnd is 5.5 + 3, and one more with each further duplicate (7 to 14): 16.5 after the
    // eleventh. 13 are outstanding: the ninth is the first that releases a segment.
    for _ in 4..=8 {
        t.at(104).ack("C1").sends("");
    }
    t.at(105).ack("C1").sends("15");
    t.at(105).ack("C1").sends("16");
    t.at(105).ack("C1").sends("17");
    t
}

/// RFC 6582, section 3.2, step 3: a partial acknowledgement retransmits the first unacknowledged
/// segment, deflates the window by what was acknowledged less one, and does not end recovery.
#[test]
fn a_partial_acknowledgement_retransmits_the_next_hole() {
    let mut t = two_losses("newreno");
    // The RFC's cwnd: 16.5 − 3 + 1 = 14.5; of 5-17 13 are outstanding, so one more may be sent.
    t.at(203).ack("C4").reports("").sends("R5 18").ssthresh(5.5);
    // recover is 14: a full acknowledgement. 15-18 are outstanding, cwnd = ssthresh.
    t.at(303).ack("C14").reports("recovered").cwnd(5.5).sends("19");
}

/// RFC 6582, section 3.2, step 3: only the first partial acknowledgement restarts the timer
/// (section 4: "Impatient").
#[test]
fn the_first_partial_acknowledgement_restarts_the_timer() {
    let mut t = two_losses("newreno");
    t.timer_at(1103);
    t.at(203).ack("C4").sends("R5 18").timer_at(1203);
    // 14.5 − 3 + 1 = 12.5; of 8-18 11 are outstanding.
    t.at(303).ack("C7").sends("R8 19").timer_at(1203);
}

/// RFC 5681, section 3.2, step 6: Reno's recovery ends with the first new acknowledgement. The
/// second loss waits for its own duplicates.
#[test]
fn renos_first_new_acknowledgement_ends_recovery() {
    let mut t = two_losses("reno");
    // 5-17 are outstanding, far more than cwnd.
    t.at(203).ack("C4").reports("recovered").cwnd(5.5).sends("");
    // 15, 16 and 17 cause duplicates. ssthresh = 5.5/2.
    t.at(204).ack("C4").reports("").sends("");
    t.at(205).ack("C4").reports("").sends("");
    t.at(206).ack("C4").reports("fast-retransmit").ssthresh(2.75).sends("R5");
    t.at(303).ack("C17").reports("recovered").cwnd(2.75).sends("18 19");
}

/// ns-2, tcp-reno.cc: the acknowledgement that ends recovery grows the window too. With `bugFix_`
/// no duplicates count until more than was outstanding at the fast retransmit is acknowledged.
#[test]
fn renos_recovery_in_ns2_happens_once_a_window() {
    let mut t = Trace::of("reno").ns2_fast_recovery().window(10).start();
    t.sends("1-10");
    t.at(100).ack("C1").sends("11 12");
    t.at(101).ack("C1").sends("13");
    t.at(102).ack("C1").sends("14");
    t.at(103).ack("C1").reports("fast-retransmit").cwnd(5.5).sends("R2");
    // 2 was late, and so is 5.
    t.at(104).ack("C4").reports("recovered").cwnd(5.5 + 1.0 / 5.5).sends("");
    for _ in 0..5 {
        t.at(105).ack("C4").reports("").sends("");
    }
    // Everything sent before the fast retransmit is acknowledged, and no more.
    t.at(106).ack("C14").reports("").sends_any();
    for _ in 0..5 {
        t.at(107).ack("C14").reports("").sends_any();
    }
    t.at(108).ack("C15").reports("").sends_any();
    t.at(109).ack("C15").sends_any();
    t.at(110).ack("C15").sends_any();
    t.at(111).ack("C15").reports("fast-retransmit").sends("R16");
}

/// RFC 6582, section 3.2, step 2: duplicates caused by spurious retransmissions have no effect
/// before more than `recover` is acknowledged.
#[test]
fn duplicates_caused_by_spurious_retransmissions_have_no_effect() {
    let mut t = Trace::of("newreno").window(10).start();
    t.sends("1-10");
    t.at(100).ack("C1").sends("11 12");
    t.at(101).ack("C1").sends("13");
    t.at(102).ack("C1").sends("14");
    t.at(103).ack("C1").reports("fast-retransmit").sends("R2");
    // 2 was late and nothing is lost: each acknowledgement is a partial one.
    t.at(104).ack("C5").reports("").sends("R6");
    for acknowledged in 6..=13 {
        t.at(105).ack(&format!("C{acknowledged}")).reports("").sends_any();
    }
    t.at(106).ack("C14").reports("recovered").sends_any();
    // The second copies of 2 and 6 to 9 arrive.
    for _ in 0..5 {
        t.at(205).ack("C14").reports("").sends_any();
    }
    t.at(206).ack("C15").reports("").sends_any();
    t.at(207).ack("C15").sends_any();
    t.at(208).ack("C15").sends_any();
    t.at(209).ack("C15").reports("fast-retransmit").sends("R16");
}

/// TcpAgent::slowdown of ns-2: Reno's ssthresh is a whole number; NewReno's is that of RFC 5681
/// there too.
#[test]
fn in_ns2_mode_fast_retransmit_leaves_reno_a_whole_threshold() {
    for (name, ssthresh) in [("reno", 7.0), ("newreno", 7.5)] {
        let mut t = Trace::of(name).ns2_fast_recovery().fixed_window(15).start();
        t.sends("1-15");
        t.at(100).ack("C0").sends("16").at(101).ack("C0").sends("17");
        t.at(102).ack("C0").reports("fast-retransmit").ssthresh(ssthresh).sends("R1");
    }
}

/// RFC 5681, section 2: an acknowledgement that changes the window is no duplicate.
#[test]
fn a_window_update_is_no_duplicate() {
    let mut t = Trace::of("newreno").fixed_window(10).start();
    t.sends("1-10");
    t.at(100).ack("C1").sends("11");
    t.at(101).window_changes().ack("C1").sends("");
    t.at(102).window_changes().ack("C1").sends("");
    t.at(103).window_changes().ack("C1").reports("").sends("");
}

/// RFC 5681, section 2: neither is one that arrives when nothing is outstanding.
#[test]
fn without_outstanding_data_there_are_no_duplicates() {
    let mut t = Trace::of("newreno").fixed_window(4).writes(4).start();
    t.sends("1-4");
    t.at(100).ack("C4");
    t.at(101).ack("C4").at(102).ack("C4").at(103).ack("C4").reports("");
    t.at(110).writes(8).sends("5-8");
    t.at(111).ack("C4").reports("").sends("9");
}

/// RFC 6582, section 3.2, step 4: no fast retransmit for data sent before a timeout.
#[test]
fn duplicates_after_a_timeout_have_no_effect() {
    let mut t = Trace::of("newreno").fixed_window(8).writes(8).start();
    t.sends("1-8");
    t.at(100).ack("C1");
    t.at(1100).timer().reports("timeout").ssthresh(3.5).sends("T2");
    t.at(1200).ack("C2").cwnd(2.0).sends("T3 T4");
    // 3 and 4 had arrived: these are duplicates, and no sign of loss.
    for _ in 0..4 {
        t.at(1201).ack("C2").reports("").sends_any();
    }
    t.at(1300).ack("C8").reports("recovered");
}

/// RFC 5682, section 2.1, step 3b: after a timeout that proves spurious, fast retransmit is
/// possible.
#[test]
fn a_spurious_timeout_does_not_prevent_fast_retransmit() {
    let mut t = Trace::of("newreno+f-rto").window(8).start();
    t.sends("1-8");
    t.at(1000).timer().reports("timeout").sends("T1");
    t.at(1001).ack("C1").sends("9 10");
    t.at(1002).ack("C2").reports("spurious-timeout, recovered").sends_any();
    t.at(1003).ack("C2").sends_any();
    t.at(1004).ack("C2").sends_any();
    t.at(1005).ack("C2").reports("fast-retransmit").sends("R3");
}

/// ns-2's halving applies to Reno: other congestion controls respond to a loss as usual.
#[test]
fn only_reno_halves_as_in_ns2() {
    for (name, ssthresh) in [("reno", 5.0), ("reno+cubic", 7.0)] {
        let mut t = Trace::of(name).ns2_fast_recovery().fixed_window(10).start();
        t.sends("1-10").at(100);
        for _ in 0..3 {
            t.ack("C0").sends_any();
        }
        t.reports("fast-retransmit").ssthresh(ssthresh);
    }
}
