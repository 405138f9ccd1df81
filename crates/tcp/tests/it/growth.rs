//! Which acknowledgements grow the window, as packet traces: only those that find it used up (RFC
//! 5681, section 3.1; RFC 7661), or all, as in ns-2.

use crate::trace::{Setup, Trace};

/// Sends pages of ten segments, one a second, each acknowledged after 100 ms segment by segment.
/// Returns cwnd after each page.
fn pages(setup: Setup, count: u64) -> Vec<f64> {
    let mut t = setup.window(2).writes(10).start();
    t.sends_any();
    let mut windows = Vec::new();
    for page in 0..count {
        let begin = page * 1_000;
        if page > 0 {
            t.at(begin).writes(10).sends_any();
        }
        for segment in 1..=10 {
            let acked = 10 * page + segment;
            t.at(begin + 90 + segment).ack(&format!("C{acked}")).sends_any();
        }
        windows.push(t.window());
    }
    windows
}

/// Figures of ns-2.35 in the same situation: sender, page, cwnd.
const NS2: &str = include_str!("../../../../peers/ns2/growth.csv");

/// 12, 22, 32 … 92 and 100: slow start adds one for each acknowledgement, whether the window is
/// used or not. When halved, ns-2's cwnd counts no higher than the peer's window; here cwnd never
/// exceeds it.
#[test]
fn a_sender_short_of_data_grows_its_window_as_in_ns2() {
    for (theirs, ours) in [("Reno", "reno"), ("Sack1", "sack"), ("Reno", "tcp-pr-sack")] {
        let rows = NS2.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let rows = rows.filter(|row| row[0] == theirs);
        let windows: Vec<f64> = rows.map(|row| row[2].parse().expect("a number")).collect();
        assert_eq!(windows[..3], [12.0, 22.0, 32.0]);
        let bounded: Vec<f64> = windows.iter().map(|cwnd| cwnd.min(100.0)).collect();
        let setup = Trace::of(ours).peer_window(100).always_grows();
        assert_eq!(pages(setup, bounded.len() as u64), bounded, "{ours}");
    }
}

/// RFC 5681, section 3.1, and RFC 7661: an unused window does not grow. Growth ends when a page no
/// longer fills the window, one above the page: the last growth is by the acknowledgement that
/// found ten of ten used.
#[test]
fn an_unused_window_does_not_grow() {
    let windows = pages(Trace::of("reno").peer_window(60), 8);
    assert_eq!(windows, [7.0, 9.0, 10.0, 11.0, 11.0, 11.0, 11.0, 11.0]);
}

/// ns-2 halves the window and not the part of it in use (TcpAgent::slowdown): 60, of which ten are
/// used, become 30.
#[test]
fn a_loss_halves_a_window_that_grew_unused() {
    let setup = Trace::of("reno").peer_window(60).always_grows().ns2_fast_recovery();
    let mut t = setup.window(2).writes(0).start();
    let mut sent = 0;
    for page in 0..7 {
        t.at(page * 1_000).writes(10).sends_any();
        for segment in 1..=10 {
            t.at(page * 1_000 + 90 + segment).ack(&format!("C{}", sent + segment)).sends_any();
        }
        sent += 10;
    }
    t.cwnd(60.0);
    t.at(8_000).writes(10).sends_any();
    for _ in 0..3 {
        t.at(8_100).ack("C70").sends_any();
    }
    t.ssthresh(30.0);
}
