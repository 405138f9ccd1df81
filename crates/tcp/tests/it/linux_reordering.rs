//! `linux-reordering` as packet traces: tp->reordering of Linux 4.14 (net/ipv4/tcp_input.c), with
//! PRR (RFC 9937) and immediate undo.

use crate::trace::Trace;

/// Segment 1 is late by three: three SACKed segments are tcp_reordering, so it is retransmitted,
/// and a DSACK reports it. tcp_update_reordering: from 1 to 4 including both ends is 4.
fn after_a_reordering_of_three() -> Trace {
    let mut t = Trace::of("linux-reordering").window(10).start();
    t.sends("1-10").dupthresh(3);
    // PRR: RecoverFS 10, ssthresh 5, three delivered: ⌈3·5/10⌉ = 2 may be sent.
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").ssthresh(5.0).sends("R1 11");
    // The original arrives; ⌈4·5/10⌉ = 2 have been sent already.
    t.at(110).ack("C4").reports("").sends("");
    // tcp_undo_cwnd_reduction: max(cwnd, prior_cwnd) = 10 at once, with 5 to 11 outstanding.
    t.at(200).ack("C4 D1").reports("spurious 1, reordered 3, spurious-fast-retransmit, recovered");
    t.cwnd(10.0).dupthresh(4).sends("12-14");
    t
}

/// A reordering that was seen before causes no retransmission; one more SACKed segment is a loss.
#[test]
fn the_longest_reordering_seen_is_the_threshold() {
    let mut t = after_a_reordering_of_three();
    t.at(201).ack("C4 S6-8").reports("").sends("15-17");
    t.at(202).ack("C4 S6-9").reports("fast-retransmit").sends_any();
}

/// Shorter reorderings change nothing, and only a timeout lowers the threshold.
#[test]
fn a_shorter_reordering_leaves_the_threshold() {
    let mut t = after_a_reordering_of_three();
    t.at(201).ack("C4 S6-7").reports("").sends_any();
    t.at(202).ack("C7").reports("reordered 2").dupthresh(4).sends_any();
}

/// tcp_enter_loss: "if (icsk->icsk_ca_state <= TCP_CA_Disorder && tp->sacked_out >=
/// net->ipv4.sysctl_tcp_reordering)" resets it to sysctl_tcp_reordering: with three SACKed segments
/// the timer expired nevertheless, so the threshold was too high.
#[test]
fn a_timeout_after_three_sacked_segments_resets_the_threshold() {
    let mut t = after_a_reordering_of_three();
    t.at(201).ack("C4 S6-8").sends("15-17").timer_at(1110);
    t.at(1110).timer().reports("timeout").dupthresh(3).sends_any();
}

/// With fewer segments SACKed, the timeout says nothing about the threshold.
#[test]
fn a_timeout_after_two_sacked_segments_leaves_the_threshold() {
    let mut t = after_a_reordering_of_three();
    t.at(201).ack("C4 S6-7").sends("15 16").timer_at(1110);
    t.at(1110).timer().reports("timeout").dupthresh(4).sends_any();
}

/// Neither does a timeout in recovery: TCP_CA_Recovery is beyond TCP_CA_Disorder.
#[test]
fn a_timeout_in_recovery_leaves_the_threshold() {
    let mut t = after_a_reordering_of_three();
    t.at(201).ack("C4 S6-9").reports("fast-retransmit").sends_any();
    t.timer_at(1201);
    t.at(1201).timer().reports("timeout").dupthresh(4).sends_any();
}

/// Without SACK a duplicate reports no delivery, so PRR would send nothing: RFC 6582 applies, with
/// RFC 5681's inflation.
#[test]
fn without_sack_it_recovers_as_newreno_does() {
    for name in ["newreno", "linux-reordering"] {
        let mut t = Trace::of(name).window(20).without_sack().start();
        t.sends("1-20");
        // 1 and 3 are lost.
        for (k, sent) in (1..=18).zip(
            ["21", "22", "R1"]
                .into_iter()
                .chain([""; 9])
                .chain(["23", "24", "25", "26", "27", "28"]),
        ) {
            t.at(100 + k).ack("C0").sends(sent);
        }
        t.at(200).ack("C2").sends("R3 29");
        t.at(300).ack("C22").reports("recovered").sends_any();
        let window = t.connection().window();
        assert!(window.cwnd <= window.ssthresh, "{name}: {window:?}");
    }
}
