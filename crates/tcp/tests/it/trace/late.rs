//! Common beginning of the traces of AVG-DEV and of Blanton and Allman's senders: one segment is
//! late.

use super::{Setup, Trace};

/// Plays a window of 20, halved by the spurious fast retransmit of segment 1, which is late by 9:
/// the mean of 5 − 1 and 15 − 1.
pub(crate) fn spurious_fast_retransmit(setup: Setup) -> Trace {
    let mut t = setup.fixed_window(20).start();
    t.sends("1-20").dupthresh(3);
    t.at(100).ack("C0 S2-5").reports("fast-retransmit").cwnd(10.0).sends("R1");
    t.at(101).ack("C5").reports("").sends("");
    t.at(102).ack("C15").reports("").sends("21-25").dupthresh(3);
    t.at(200).ack("C15 D1").reports("spurious 1, reordered 9, spurious-fast-retransmit, recovered");
    t.sends("").ssthresh(20.0).cwnd(10.0);
    t
}

/// Plays slow start back to the window of 20 ("the sender uses slow start to increase the size of
/// the congestion window to its prior value", AVG-DEV, section III-A). All of it is in flight: 26
/// to 45.
pub(crate) fn back_to_twenty(t: &mut Trace) {
    for n in 16..=25 {
        let first = 2 * n - 6;
        let second = 2 * n - 5;
        t.at(190 + n).ack(&format!("C{n}")).reports("").sends(&format!("{first} {second}"));
    }
    t.cwnd(20.0);
}
