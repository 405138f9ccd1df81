//! The rows of TCP stacks in user space as packet traces. The round trip takes 100 ms.

use crate::trace::Trace;

/// smoltcp has no congestion control: the peer's window alone limits what is in flight. When its timer of a
/// second expires, all of it leaves again at once.
#[test]
fn smoltcp_sends_its_whole_window_again_at_a_timeout() {
    let mut t = Trace::of("smoltcp").rtt(100).peer_window(6).start();
    t.sends("1-6");
    t.at(1000).timer().sends("T1 T2 T3 T4 T5 T6");
    // The next timeout is twice as long.
    t.timer_at(3000);
}

/// Three duplicates are a loss at any time, after a timeout as well (RFC 6582, section 3.2, step 2 would
/// ignore them).
#[test]
fn smoltcp_counts_duplicates_after_a_timeout() {
    let mut t = Trace::of("smoltcp").rtt(100).peer_window(6).start();
    t.sends("1-6");
    t.at(1000).timer().sends("T1 T2 T3 T4 T5 T6");
    t.at(1100).ack("C1").sends("7");
    t.at(1101).ack("C1").ack("C1").reports("").sends("");
    t.at(1102).ack("C1").reports("fast-retransmit").sends("R2");
}
