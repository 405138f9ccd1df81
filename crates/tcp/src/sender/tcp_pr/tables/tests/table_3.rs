//! Extreme losses and the exponential backoff by Table 3, computed by hand.

use super::*;

#[test]
fn after_extreme_losses_the_sender_backs_off_and_begins_again() {
    // 0 to 7 are sent at 0 ms with cwnd 8 and are lost. mxrtt is 300 ms.
    let mut run = Run::timed(8);
    assert_eq!(run.flush(at(0)), [0, 1, 2, 3, 4, 5, 6, 7]);
    // Lines 8 to 10: memorize {1, …, 7}, cwnd 8/2 = 4, ssthresh 4. 12a and 12b: 1, 2, 3 ≤ 4/2 + 1.
    assert_eq!(run.drop(past(300)), Some((0, Dropped::New)));
    for n in 1..=3 {
        assert_eq!(run.drop(past(300)), Some((n, Dropped::Burst)));
    }
    assert_eq!(run.flush(past(300)), [], "line 24a: cwnd 4, |to-be-ack| 4");
    // 12b: 4 > 3. 12c: cwnd 1; 12d; 12e: mxrtt max(300 ms, 1 s); 12f: slowdown 300 ms + 1 s.
    assert_eq!(run.drop(past(300)), Some((4, Dropped::Extreme)));
    assert_eq!((run.cwnd(), run.ssthresh(), run.pr.slow_start), (1.0, 4.0, true));
    assert_eq!((run.pr.mxrtt(), run.pr.slowdown), (ms(1000), past(1300)));
    // 5 and 6 are overdue at 1 s: 5, 6 > 1/2 + 1, 12c to 12f again: slowdown 1 s + 1 s.
    for n in [5, 6] {
        assert_eq!(run.drop(past(1000)), Some((n, Dropped::Burst)));
    }
    assert_eq!((run.pr.cburst, run.pr.slowdown), (6, past(2000)));
    // 12a: after 7 memorize is empty and cburst is 0, so that 12b, 0 > 3/2, does not hold.
    assert_eq!(run.drop(past(1000)), Some((7, Dropped::Burst)));
    assert_eq!((run.pr.cburst, run.pr.lists.memorized(), run.pr.slowdown), (0, 0, past(2000)));
    // 24a and 25: one packet, with the smallest number and cwnd(0) = 1, is sent, and is lost again.
    assert_eq!(run.flush(at(2000)), []);
    assert_eq!(run.flush(past(2000)), [0]);
    assert_eq!(run.drop(past(3000)), None, "it is not overdue until more than 1 s has passed");
    // 8a: cwnd(0) = 1, so 9b: mxrtt 2 s; 10: ssthresh 1. It is sent again at 3.001 s; then mxrtt 4
    // s.
    assert_eq!(run.drop(at(3001)), Some((0, Dropped::New)));
    assert_eq!((run.cwnd(), run.ssthresh(), run.pr.mxrtt()), (1.0, 1.0, ms(2000)));
    assert_eq!(run.flush(at(3001)), [0]);
    assert_eq!(run.drop(at(5001)), None);
    assert_eq!(run.drop(at(5002)), Some((0, Dropped::New)));
    assert_eq!((run.cwnd(), run.pr.mxrtt()), (1.0, ms(4000)));
    assert_eq!(run.flush(at(5002)), [0]);
    // 14: max(0.995 · 100 ms, 120 ms); 15: 360 ms; 18: 1 + 1 > ssthresh = 1, so 22: 1 + 1/1.
    assert_eq!(run.ack([0], at(5122)), [1, 2]);
    assert_eq!((run.pr.srtt(), run.pr.mxrtt()), (Some(ms(120)), ms(360)));
    assert_eq!((run.cwnd(), run.pr.slow_start), (2.0, false));
}
