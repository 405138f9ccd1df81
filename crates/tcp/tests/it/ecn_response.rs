//! The sender's response to marks (RFC 3168, section 6.1.2).

use crate::trace::Trace;

/// Starts a sender with a window of 10 segments, which are sent.
fn sender(variant: &str) -> Trace {
    let mut t = Trace::of(variant).ecn().window(10).rtt(100).start();
    t.sends("1-10");
    t
}

/// Acknowledges segments `from` to `to`, a millisecond apart, with ECE; nothing may be sent.
fn echoes(t: &mut Trace, from: u64, to: u64) {
    for n in from..=to {
        t.at(100 + n).ack(&format!("C{n} ece")).reports("").sends("");
    }
}

#[test]
fn a_mark_halves_the_window_once_for_a_window_of_data_without_a_retransmission() {
    let mut t = sender("sack");
    // Nine segments are in flight: half of them is 4.5.
    t.at(101).ack("C1 ece").reports("ecn-reduction").cwnd(4.5).ssthresh(4.5).sends("");
    echoes(&mut t, 2, 6);
    // Three are in flight, and four may be. The first new data carries CWR.
    t.at(107).ack("C7 ece").cwnd(4.5).sends("11").cwr(&[11]);
    t.at(108).ack("C8 ece").sends("12");
    t.at(109).ack("C9 ece").sends("13");
    // The acknowledgement of the last segment before the reduction precedes the arrival of CWR.
    t.at(110).ack("C10 ece").reports("").cwnd(4.5).sends("14");
    // An acknowledgement without ECE grows the window: 4.5 + 1/4.5.
    t.at(207).ack("C11").cwnd(4.5 + 1.0 / 4.5).sends("15").cwr(&[11]);
    // The next mark is of the next window of data. Segments 13 to 15 are in flight.
    t.at(208).ack("C12 ece").reports("ecn-reduction").cwnd(2.0).ssthresh(2.0).sends("");
    t.at(209).ack("C13 ece").reports("").sends("");
    t.at(210).ack("C14 ece").reports("").sends("16").cwr(&[11, 16]);
}

#[test]
fn an_older_acknowledgement_does_not_report_a_new_mark() {
    let mut t = sender("sack");
    t.at(101).ack("C1 ece").reports("ecn-reduction").sends("");
    t.at(107).ack("C8").sends("11 12");
    t.at(110).ack("C10").sends("13 14");
    t.at(207).ack("C11").sends_any();
    let window = t.window();
    // It was overtaken by those behind it.
    t.at(208).ack("C9 ece").reports("").cwnd(window).sends("");
}

#[test]
fn a_loss_in_the_same_window_of_data_does_not_reduce_the_window_again() {
    let mut t = sender("sack");
    t.at(101).ack("C1 ece").reports("ecn-reduction").cwnd(4.5).sends("");
    t.at(103).ack("C1 S3 ece").sends("");
    t.at(104).ack("C1 S3-4 ece").sends("");
    t.at(105).ack("C1 S3-5 ece").reports("fast-retransmit").sends("R2").ssthresh(4.5).cwnd(4.5);
    t.at(205).ack("C10").reports("recovered").ssthresh(4.5).sends_any();
}

#[test]
fn the_loss_of_the_segment_with_cwr_reduces_the_window_again() {
    let mut t = sender("sack");
    t.at(101).ack("C1 ece").reports("ecn-reduction").cwnd(4.5).sends("");
    t.at(107).ack("C10 ece").cwnd(4.5).sends("11-14").cwr(&[11]);
    t.at(208).ack("C10 S12 ece").sends("15");
    t.at(209).ack("C10 S12-13 ece").sends("16");
    // Segments 11 to 16 are outstanding, and two of them were sent beyond the window of 4.5.
    t.at(210).ack("C10 S12-14 ece").reports("fast-retransmit").ssthresh(2.25).sends("R11");
}

#[test]
fn a_mark_in_recovery_does_not_reduce_the_window_again() {
    let mut t = sender("sack");
    t.at(102).ack("C0 S2").sends("11");
    t.at(103).ack("C0 S2-3").sends("12");
    t.at(104).ack("C0 S2-4 ece").reports("fast-retransmit").ssthresh(5.0).sends("R1");
    t.at(105).ack("C0 S2-5 ece").reports("").ssthresh(5.0).sends("");
}

#[test]
fn cwr_follows_a_reduction_of_any_cause() {
    let mut t = sender("sack");
    t.at(102).ack("C0 S2").sends("11");
    t.at(103).ack("C0 S2-3").sends("12").cwr(&[]);
    t.at(104).ack("C0 S2-4").reports("fast-retransmit").sends("R1").cwr(&[]);
    for n in 5..=9 {
        t.at(100 + n).ack(&format!("C0 S2-{n}")).sends_any();
    }
    t.cwr(&[13]);
}

#[test]
fn a_reduction_that_a_mark_supports_is_not_undone() {
    // Segment 1 is late, and a DSACK reports its retransmission. With a mark in the window of data, the
    // reduction stands.
    for marked in [false, true] {
        let mut t = sender("dsack-r");
        let ece = if marked { " ece" } else { "" };
        t.at(102).ack("C0 S2").sends("11");
        t.at(103).ack("C0 S2-3").sends("12");
        t.at(104).ack("C0 S2-4").reports("fast-retransmit").sends("R1").ssthresh(5.0);
        t.at(105).ack(&format!("C5{ece}")).sends_any();
        t.at(205).ack(&format!("C12 D1{ece}"));
        let undone = t.connection().window().ssthresh > 5.0;
        assert_eq!(undone, !marked);
        t.sends_any();
    }
}

#[test]
fn cubic_and_proportional_senders_reduce_at_once_by_their_own_factor() {
    let mut t = sender("rack+cubic");
    // 0.7 of nine segments in flight.
    t.at(101).ack("C1 ece").reports("ecn-reduction").sends("");
    let window = t.connection().window();
    assert!((window.cwnd - 7.0).abs() < 0.71 && window.cwnd == window.ssthresh, "{window:?}");
    t.at(105).ack("C5 ece").reports("").sends_any().cwr(&[11]);
}

#[test]
fn a_mark_needs_no_suspicion() {
    let mut t = sender("unruffled");
    t.at(101).ack("C1 ece").reports("ecn-reduction").cwnd(4.5).sends("");
    t.at(107).ack("C7 ece").reports("").cwnd(4.5).sends("11").cwr(&[11]);
}

#[test]
fn tcp_pr_halves_its_window_once_for_a_window_of_data() {
    let mut t = sender("tcp-pr-sack");
    t.at(101).ack("C1 ece").reports("ecn-reduction").cwnd(5.0).ssthresh(5.0).sends("");
    echoes(&mut t, 2, 5);
    t.at(106).ack("C6 ece").reports("").cwnd(5.0).sends("11").cwr(&[11]);
    t.at(110).ack("C10 ece").reports("").cwnd(5.0).sends("12-15");
    t.at(206).ack("C11 ece").reports("ecn-reduction").cwnd(2.5).sends("");
}

#[test]
fn a_peer_without_ecn_cannot_reduce_the_window() {
    let mut t = Trace::of("sack").window(10).rtt(100).start();
    t.sends("1-10").at(101).ack("C1 ece").reports("").cwnd(11.0).sends("11 12").cwr(&[]);
}
