//! Blanton and Allman's senders as packet traces: how a spurious fast retransmit changes the
//! duplicate threshold, and what bounds it (as described in AVG-DEV, sections II and IV-D, and
//! RR-TCP, section 5.5).

use crate::trace::Trace;
use crate::trace::late::{back_to_twenty, spurious_fast_retransmit};

/// The four rules: d + 1, d + N, (d + N)/2 and 3/4·d + 1/4·N, with d = 3 and N = 9.
#[test]
fn each_rule_moves_the_threshold_in_its_own_way() {
    for (variant, dupthresh) in [("ba-inc", 4), ("ba-inc-n", 12), ("ba-avg", 6), ("ba-ewma", 4)] {
        let mut t = spurious_fast_retransmit(Trace::of(variant));
        back_to_twenty(&mut t);
        t.dupthresh(dupthresh);
        for k in 1..dupthresh {
            t.at(300).ack(&format!("C25 S27-{}", 26 + k)).reports("").sends_any();
        }
        t.at(300).ack(&format!("C25 S27-{}", 26 + dupthresh)).reports("fast-retransmit");
        t.sends("R26");
    }
}

/// "The upper bound of dupthresh is set to 0.9 cwnd" (AVG-DEV, section II), with the present cwnd.
#[test]
fn nine_tenths_of_the_window_bound_the_threshold() {
    let mut t = spurious_fast_retransmit(Trace::of("ba-inc-n"));
    // 12, bounded by 0.9·10 at the first acknowledgement and 0.9·11 at the next, until 0.9·14
    // exceeds 12.
    t.dupthresh(9);
    for (n, dupthresh) in [(16, 9), (17, 9), (18, 10), (19, 11), (20, 12), (21, 12)] {
        t.at(190 + n).ack(&format!("C{n}")).dupthresh(dupthresh).sends_any();
    }
}

/// "Transmit a new segment upon the receipt of the first two duplicate ACKs and every two duplicate
/// ACKs received afterwards" (AVG-DEV, section IV-D).
#[test]
fn duplicates_release_two_segments_and_then_every_second_one() {
    let mut t = spurious_fast_retransmit(Trace::of("ba-inc-n"));
    back_to_twenty(&mut t);
    let released = ["46", "47", "", "48", "", "49", "", "50", "", "51", ""];
    for (last, released) in (27..).zip(released) {
        t.at(300).ack(&format!("C25 S27-{last}")).reports("").sends(released);
    }
    t.at(300).ack("C25 S27-38").reports("fast-retransmit").cwnd(10.0).sends("R26");
}

/// "When a retransmission timeout occurs, dupthresh is reset to three" (AVG-DEV, section II).
#[test]
fn a_timeout_resets_the_threshold() {
    for variant in ["ba-inc", "ba-inc-n", "ba-avg", "ba-ewma"] {
        let mut t = spurious_fast_retransmit(Trace::of(variant));
        back_to_twenty(&mut t);
        t.at(1215).timer().reports("timeout").dupthresh(3).sends("T26");
        t.at(1315).ack("C45").reports("recovered").dupthresh(3).sends_any();
    }
}

/// Two recoveries overlap, and both prove spurious: the window before the first is restored. It
/// bounds the threshold, and not the window of 10 before the second.
#[test]
fn overlapping_recoveries_restore_one_window() {
    let mut t = Trace::of("ba-inc-n").fixed_window(20).start();
    t.sends("1-20");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").cwnd(10.0).sends("R1");
    t.at(103).ack("C4").reports("").sends("");
    t.at(104).ack("C20").reports("recovered").sends("21-30");
    t.at(150).ack("C20 S22-24").reports("fast-retransmit").cwnd(5.0).sends("R21");
    t.at(153).ack("C24").reports("").sends("");
    // Late by (3 + 23)/2 = 13: 3 + 13 = 16 is below 0.9·20. The threshold in force is 0.9·5.
    t.at(200).ack("C24 D1").reports("spurious 1, reordered 13, spurious-fast-retransmit");
    t.ssthresh(5.0).dupthresh(4);
    // 16 + 3 = 19, bounded by 0.9·20.
    t.at(250).ack("C24 D21");
    t.reports("spurious 21, reordered 3, spurious-fast-retransmit, recovered");
    t.ssthresh(20.0).cwnd(5.0).dupthresh(4);
    for n in 25..=39 {
        t.at(226 + n).ack(&format!("C{n}")).reports("").sends_any();
    }
    t.cwnd(20.0).at(270).ack("C40").dupthresh(18);
}

/// DEL leaves the threshold unchanged and restores the window.
#[test]
fn the_delay_does_not_change_the_threshold() {
    let mut t = Trace::of("ba-del").fixed_window(20).start();
    t.sends("1-20");
    t.at(100).ack("C0 S2-5").reports("").sends("21-23");
    t.at(150).timer().reports("fast-retransmit").cwnd(10.0).sends("R1");
    t.at(151).ack("C5").reports("").sends_any();
    t.at(250).ack("C5 D1").reports("spurious 1, reordered 4, spurious-fast-retransmit, recovered");
    t.ssthresh(20.0).cwnd(10.0).dupthresh(3);
}
