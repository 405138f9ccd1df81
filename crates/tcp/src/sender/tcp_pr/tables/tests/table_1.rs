//! Table 1 where it differs from Table 3, computed by hand.

use super::*;

#[test]
fn however_many_drops_of_a_burst_leave_the_window_alone() {
    // 0 to 7 with cwnd 8, 8 to 11 with 9 and 10; 1 and 2 are acknowledged. Line 9: 8/2. The other
    // five of the eight are in memorize (line 11): nothing more, where Table 3 has extreme losses
    // with the fourth. Then 4 > |to-be-ack| = 4 lets nothing leave (line 24).
    let mut run = eight_and_two_more(Run::basic(8));
    assert_eq!(run.drop(past(300)), Some((0, Dropped::New)));
    for n in 3..8 {
        assert_eq!(run.flush(past(300)), []);
        assert_eq!(run.drop(past(300)), Some((n, Dropped::Burst)));
        assert_eq!((run.cwnd(), run.ssthresh(), run.pr.mxrtt()), (4.0, 4.0, ms(300)));
    }
    assert_eq!((run.pr.lists.to_be_ack(), run.pr.lists.memorized()), (4, 4));
    assert_eq!(run.drop(past(300)), None);
    // With the next, sent at 100 ms, one may leave: line 25, the smallest number.
    assert_eq!(run.drop(past(400)), Some((8, Dropped::Burst)));
    assert_eq!(run.flush(past(400)), [0]);
}

#[test]
fn with_a_window_of_one_the_wait_stays() {
    // No line 9b: 300 ms each time, and the window is not halved below one packet.
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
fn the_window_grows_while_memorize_holds_a_packet() {
    // Lines 18 to 22 know no memorize. 0 dropped, cwnd 3/2, memorize {1, 2}: the acknowledgement of
    // 1 adds 1/1.5, to 13/6; that of 2 adds 6/13.
    let mut run = Run::basic(3);
    run.flush(at(0));
    assert_eq!(run.drop(past(300)), Some((0, Dropped::New)));
    assert_eq!((run.cwnd(), run.pr.lists.memorized()), (1.5, 2));
    assert_eq!(run.ack([1], past(300)), [0, 3]);
    assert!((run.cwnd() - 13.0 / 6.0).abs() < 1e-12, "{}", run.cwnd());
    run.ack([2], past(300));
    assert!((run.cwnd() - (13.0 / 6.0 + 6.0 / 13.0)).abs() < 1e-12, "{}", run.cwnd());
}
