//! The window of `rack` as packet traces: proportional rate reduction (RFC 9937), and its undo.

use crate::trace::Trace;

/// RFC 9937, section 6: PRR sends ssthresh/RecoverFS segments for each one delivered, then keeps
/// the pipe at ssthresh.
#[test]
fn the_window_shrinks_in_proportion() {
    let mut t = Trace::of("rack").fixed_window(20).start();
    t.sends("1-20");
    t.at(100).ack("C0 S2").sends("21");
    t.at(100).ack("C0 S2-3").sends("22");
    // 22 outstanding, of which 2 were SACKed before: RecoverFS = 20, ssthresh = 20/2. After k
    // acknowledgements ⌈k·10/20⌉ may have been sent. The pipe is 22 − 3 − 1 + 1 = 19 after the
    // first.
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").ssthresh(10.0).sends("R1").pipe(19);
    let mut new = 23;
    let mut pipe = 19;
    for k in 2_u32..=16 {
        t.at(101).ack(&format!("C0 S2-{}", k + 3));
        let released = k.div_ceil(2) - (k - 1).div_ceil(2);
        t.sends(&if released == 1 { new.to_string() } else { String::new() });
        new += released;
        pipe = pipe - 1 + released;
        t.pipe(pipe);
    }
    assert_eq!((new, pipe), (30, 11), "seven new segments, and one above ssthresh");
    // The pipe reaches ssthresh with the next acknowledgement, and stays there.
    t.at(102).ack("C0 S2-20").sends("").pipe(10);
    t.at(103).ack("C0 S2-21").sends("30").pipe(10);
    t.at(104).ack("C0 S2-22").sends("31").pipe(10);
    // Recovery ends with the window at ssthresh: R1 is delivered, 23-31 are in flight.
    t.at(200).ack("C22").reports("recovered").cwnd(10.0).sends("32").pipe(10);
}

/// RFC 9937, section 6, PRR-CRB and PRR-SSRB: when losses take the pipe below ssthresh, as much is
/// sent as is delivered, and slow start follows once no more is lost.
#[test]
fn heavy_loss_slow_starts_back_to_ssthresh() {
    let mut t = Trace::of("rack").fixed_window(20).writes(20).start();
    t.sends("1-20");
    // 17 of 20 lost. ssthresh 10, pipe 20 − 3 − 17 = 0; 3 delivered: max(3 − 0, 3) = 3.
    t.at(100).ack("C0 S18-20").reports("fast-retransmit").ssthresh(10.0).sends("R1-3").pipe(3);
    // SND.UNA advances: one more is sent than is delivered. Delivered 4, sent 3: max(1, 1) + 1 = 2.
    t.at(200).ack("C1 S18-20").sends("R4 R5").pipe(4);
    t.at(200).ack("C2 S18-20").sends("R6 R7").pipe(5);
    t.at(200).ack("C3 S18-20").sends("R8 R9").pipe(6);
    // Delivered 8, sent 9: max(−1, 2) + 1 = 3.
    t.at(300).ack("C5 S18-20").sends("R10-12").pipe(7);
}

/// RFC 9937, section 6: "If (DeliveredData is 0) Return".
#[test]
fn an_acknowledgement_that_delivers_nothing_releases_nothing() {
    let mut t = Trace::of("rack").fixed_window(20).writes(20).start();
    t.sends("1-20");
    t.at(100).ack("C0 S18-20").reports("fast-retransmit").sends("R1-3").pipe(3);
    t.at(101).ack("C0 S18-20").sends("").pipe(3);
    t.at(102).ack("C0 D18 S18-20").sends("").pipe(3);
}

/// The budget left over from one recovery does not apply to the next, even if that begins by a
/// timer and not with an acknowledgement.
#[test]
fn a_recovery_that_begins_by_the_timer_retransmits_one_segment() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    // 9 delivered, the pipe empty: 5 − 0 may be sent, but there is only 1 to retransmit.
    t.at(100).ack("C0 S2-10").reports("fast-retransmit").sends("R1");
    t.at(200).ack("C10").reports("recovered").cwnd(5.0);
    t.at(300).writes(5).sends("11-15");
    // 11-13 are due at 300 + 100 + 25.
    t.at(400).ack("C10 S14").sends("").timer_at(425);
    t.at(425).timer().reports("fast-retransmit").sends("R11");
}

/// Section 9.3 and `Undo` as in Linux: when every retransmission proves spurious, window and
/// threshold are restored.
#[test]
fn a_dsack_undoes_the_reduction() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").ssthresh(5.0).sends("R1");
    // The original was 3 late.
    t.at(103).ack("C4").reports("").sends("");
    t.at(200).ack("C4 D1").reports("spurious 1, reordered 3, spurious-fast-retransmit, recovered");
    t.cwnd(10.0).ssthresh(f64::INFINITY).reo_wnd(false, 2, 16);
}

/// One of two retransmissions was necessary: nothing is undone.
#[test]
fn a_reduction_with_a_necessary_retransmission_stays() {
    let mut t = Trace::of("rack").fixed_window(10).writes(10).start();
    t.sends("1-10");
    // RecoverFS 10, ssthresh 5, pipe 10 − 4 − 2 = 4 < 5: 5 − 4 may be sent; then one for each.
    t.at(100).ack("C0 S2-4 S6").reports("fast-retransmit").ssthresh(5.0).sends("R1");
    t.at(101).ack("C0 S2-4 S6-7").sends("R5");
    t.at(103).ack("C4 S6-7").reports("");
    t.at(200).ack("C4 D1 S6-7").reports("spurious 1, reordered 6").ssthresh(5.0);
    t.at(201).ack("C10").reports("recovered").cwnd(5.0).ssthresh(5.0);
}

/// Westwood's estimate may exceed the window: a loss does not raise it, neither under PRR nor at
/// once.
#[test]
fn a_loss_does_not_raise_the_window() {
    for name in ["sack+westwood", "rack+westwood", "linux-reordering+westwood"] {
        let mut t = Trace::of(name).fixed_window(40).rtt(20).min_rto(200).start();
        t.sends_any();
        // Two segments in a millisecond, 40 in a round trip.
        for n in 1..=4000 {
            t.at(19 + n).ack(&format!("C{}", 2 * n)).sends_any();
        }
        while t.connection().window().cwnd > 2.0 {
            let due = t.connection().poll_timeout().expect("a timer");
            t.wait_until(due);
            t.timer().sends_any();
        }
        // Two round trips later 8043 is lost, and 8044 to 8047 arrive in two flights.
        for (ms, ack) in [
            (20, "C8040"),
            (20, "C8042"),
            (20, "C8042 S8044"),
            (1, "C8042 S8044-8045"),
            (19, "C8042 S8044-8046"),
            (1, "C8042 S8044-8047"),
            (20, "C8047"),
        ] {
            t.after_ns(ms * 1_000_000).ack(ack).sends_any();
            let window = t.connection().window();
            assert!(window.cwnd < 10.0, "{name}, {ack}: {window:?}");
        }
    }
}
