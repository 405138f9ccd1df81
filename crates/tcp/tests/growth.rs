//! Which acknowledgements let the window grow, as packet traces: only those that find it used up
//! (RFC 5681, section 3.1; RFC 7661), or all, as in ns-2.

mod trace;

use trace::{Setup, Trace};

/// Pages of ten segments, one a second, each acknowledged after 100 ms segment by segment. Gives cwnd
/// after each page.
fn pages(setup: Setup, count: u64) -> Vec<f64> {
    let mut t = setup.window(2).writes(10).start();
    t.and_so_on();
    let mut windows = Vec::new();
    for page in 0..count {
        let begin = page * 1_000;
        if page > 0 {
            t.at(begin).writes(10).and_so_on();
        }
        for segment in 1..=10 {
            let acked = 10 * page + segment;
            t.at(begin + 90 + segment).ack(&format!("C{acked}")).and_so_on();
        }
        windows.push(t.window());
    }
    windows
}

/// ns-2.35 (Agent/TCP/Reno, `windowInit_` 2, `window_` 100) has 12, 22, 32 … 92 and 100 after pages of
/// ten packets a second: slow start adds one for each acknowledgement, whether the window is used or not,
/// and ends at the peer's window.
#[test]
fn in_ns2_a_sender_short_of_data_grows_its_window_to_the_peer_s() {
    for sender in ["reno", "sack", "tcp-pr-sack"] {
        let windows = pages(Trace::of(sender).peer_window(60).always_grows(), 8);
        assert_eq!(windows, [12.0, 22.0, 32.0, 42.0, 52.0, 60.0, 60.0, 60.0], "{sender}");
    }
}

/// RFC 5681, section 3.1, and RFC 7661: what is not used does not grow. It ends where a page no longer
/// fills it, one above the page: the last growth is by the acknowledgement that found ten of ten used.
#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let windows = pages(Trace::of("reno").peer_window(60), 8);
    assert_eq!(windows, [7.0, 9.0, 10.0, 11.0, 11.0, 11.0, 11.0, 11.0]);
}

/// ns-2 halves what the window is, not what of it is used (TcpAgent::slowdown): 60 of which ten are used
/// become 30.
#[test]
fn a_window_that_grew_unused_is_what_a_loss_halves() {
    let setup = Trace::of("reno").peer_window(60).always_grows().fast_recovery_of_ns2();
    let mut t = setup.window(2).writes(0).start();
    let mut sent = 0;
    for page in 0..7 {
        t.at(page * 1_000).writes(10).and_so_on();
        for segment in 1..=10 {
            t.at(page * 1_000 + 90 + segment).ack(&format!("C{}", sent + segment)).and_so_on();
        }
        sent += 10;
    }
    t.cwnd(60.0);
    t.at(8_000).writes(10).and_so_on();
    for _ in 0..3 {
        t.at(8_100).ack("C70").and_so_on();
    }
    t.ssthresh(30.0);
}
