//! The rules in which Table 1 differs from Table 3, computed by hand.

use super::*;

#[test]
fn further_drops_of_a_burst_never_change_the_window() {
    // 0 to 7 are sent with cwnd 8, 8 to 11 with 9 and 10; 1 and 2 are acknowledged. Line 9: 8/2.
    // The other five of the first eight are in memorize (line 11) and change nothing, while in
    // Table 3 the fourth makes the losses extreme. Then nothing is sent, as not 4 > |to-be-ack| = 4
    // (line 24).
    let mut run = eight_and_two_more(Run::basic(8));
    assert_eq!(run.drop(past(300)), Some((0, Dropped::New)));
    for n in 3..8 {
        assert_eq!(run.flush(past(300)), []);
        assert_eq!(run.drop(past(300)), Some((n, Dropped::Burst)));
        assert_eq!((run.cwnd(), run.ssthresh(), run.pr.mxrtt()), (4.0, 4.0, ms(300)));
    }
    assert_eq!((run.pr.lists.to_be_ack(), run.pr.lists.memorized()), (4, 4));
    assert_eq!(run.drop(past(300)), None);
    // The next drop, of a packet sent at 100 ms, permits one packet: line 25, the smallest number.
    assert_eq!(run.drop(past(400)), Some((8, Dropped::Burst)));
    assert_eq!(run.flush(past(400)), [0]);
}

#[test]
fn drops_with_a_window_of_one_leave_mxrtt_alone() {
    // There is no line 9b: mxrtt is 300 ms each time, and the window is not halved below one packet.
    let mut run = Run::basic(1);
    run.flush(at(0));
    for sent in [0, 301, 602, 903] {
        assert_eq!(run.drop(at(sent + 300)), None);
        assert_eq!(run.drop(past(sent + 300)), Some((0, Dropped::New)));
        assert_eq!((run.cwnd(), run.ssthresh(), run.pr.mxrtt()), (1.0, 1.0, ms(300)));
        assert_eq!(run.flush(at(sent + 301)), [0]);
    }
    // Lines 18 to 22: 1 + 1 > ssthresh, so 1 + 1/1.
    assert_eq!(run.ack([0], at(1300)), [1, 2]);
    assert_eq!(run.cwnd(), 2.0);
}

#[test]
fn the_window_grows_while_memorize_has_a_packet() {
    // Lines 18 to 22 do not depend on memorize. 0 is dropped: cwnd 3/2, memorize {1, 2}. The
    // acknowledgement of 1 adds 1/1.5, which gives 13/6. That of 2 adds 6/13.
    let mut run = Run::basic(3);
    run.flush(at(0));
    assert_eq!(run.drop(past(300)), Some((0, Dropped::New)));
    assert_eq!((run.cwnd(), run.pr.lists.memorized()), (1.5, 2));
    assert_eq!(run.ack([1], past(300)), [0, 3]);
    assert!((run.cwnd() - 13.0 / 6.0).abs() < 1e-12, "{}", run.cwnd());
    run.ack([2], past(300));
    assert!((run.cwnd() - (13.0 / 6.0 + 6.0 / 13.0)).abs() < 1e-12, "{}", run.cwnd());
}
