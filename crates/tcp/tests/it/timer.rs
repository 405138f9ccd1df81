//! RFC 6298's retransmission timer, as packet traces. Sections are those of the RFC.

use crate::trace::Trace;

/// (2.2) and (2.3) with a window of one, so that every segment is a sample.
#[test]
fn the_timeout_follows_the_round_trips() {
    // SRTT = 100, RTTVAR = 50, RTO = 100 + 4·50.
    let mut t = Trace::of("sack").fixed_window(1).min_rto(10).start();
    t.sends("1").srtt(100.0).rto(300.0).timer_at(300);
    // RTTVAR = 3/4·50 + 1/4·|100 − 140| = 47.5, SRTT = 7/8·100 + 1/8·140 = 105, RTO = 105 + 190.
    t.at(140).ack("C1").srtt(105.0).rto(295.0).sends("2").timer_at(435);
}

/// RFC 7323, appendix G: the gains are per round trip, so each of n samples counts 1/n.
#[test]
fn several_samples_per_round_trip_share_the_gain() {
    let mut t = Trace::of("sack").fixed_window(4).writes(4).start();
    t.sends("1-4");
    // SRTT = 100 + (140 − 100)/(8·4), then three are in flight: 101.25 + (140 − 101.25)/(8·3).
    t.at(140).ack("C1").srtt(101.25);
    t.at(140).ack("C2").srtt(101.25 + 38.75 / 24.0);
}

/// (5.1), (5.2) and (5.3), and the minimum timeout of (2.4).
#[test]
fn the_timer_starts_restarts_and_stops() {
    let mut t = Trace::of("sack").window(10).writes(2).start();
    // (5.1)
    t.sends("1 2").timer_at(1000);
    t.at(50).writes(1).sends("3").timer_at(1000);
    // (5.3)
    t.at(100).ack("C1").timer_at(1100);
    // Neither a SACK nor a duplicate acknowledges new data.
    t.at(150).ack("C1 S3").timer_at(1100);
    t.at(160).ack("C1").timer_at(1100);
    // (5.2)
    t.at(200).ack("C3").no_timer();
    t.at(250).writes(1).sends("4").timer_at(1250);
}

/// (5.5) and (5.6): every timeout doubles, up to a maximum (2.5).
#[test]
fn timeouts_double_up_to_the_maximum() {
    let mut t = Trace::of("sack").window(4).writes(4).start();
    t.sends("1-4");
    let mut now = 1000;
    let mut wait = 1000;
    for _ in 0..9 {
        t.at(now).timer().reports("timeout").sends("T1").cwnd(1.0);
        // RFC 5681, section 3.1: ssthresh stays at the value that the first timeout for this data
        // set.
        t.ssthresh(2.0);
        wait = u64::min(wait * 2, 60_000);
        now += wait;
        t.timer_at(now);
    }
    assert_eq!(wait, 60_000);
}

/// Karn's rule (section 3): a retransmitted segment's acknowledgement is no sample.
#[test]
fn an_ambiguous_acknowledgement_is_no_sample() {
    let mut t = Trace::of("sack").fixed_window(1).start();
    t.sends("1");
    t.at(1000).timer().sends("T1");
    t.at(1010).ack("C1").srtt(100.0).sends("2");
    // SRTT = 7/8·100 + 1/8·180.
    t.at(1190).ack("C2").srtt(110.0).sends("3");
}

/// Section 5, after (5.7): "once a new RTT measurement is obtained … 'collapsing' RTO back down",
/// and not before: a slower path would time out every time, and never yield a sample.
#[test]
fn the_doubled_timeout_stays_until_there_is_a_sample() {
    let mut t = Trace::of("sack").fixed_window(1).start();
    t.sends("1");
    t.at(1000).timer().sends("T1").timer_at(3000);
    // The original arrives 1.5 s late; the sample is ambiguous.
    t.at(1500).ack("C1").rto(2000.0).sends("2").timer_at(3500);
    // SRTT = 100 + 1400/8 = 275, RTTVAR = 3/4·50 + 1400/4 = 387.5: 275 + 1550.
    t.at(3000).ack("C2").srtt(275.0).rto(1825.0).sends("3").timer_at(4825);
}

/// SACKed segments are samples when they are SACKed, and not again when the hole below is filled.
#[test]
fn a_sacked_segment_is_a_sample_once() {
    let mut t = Trace::of("sack").fixed_window(2).writes(2).start();
    t.sends("1 2");
    t.at(100).ack("C0 S2").srtt(100.0);
    // The late segment: 100 + 100/(8·2).
    t.at(200).ack("C2").srtt(106.25);
}

/// RFC 5681, section 3.1: after a timeout cwnd is one segment. Duplicates inflate it only in fast
/// recovery (section 3.2).
#[test]
fn duplicates_after_a_timeout_release_nothing() {
    for name in ["reno", "newreno", "westwood"] {
        let mut t = Trace::of(name).window(10).without_sack().start();
        t.sends("1-10");
        t.at(1000).timer().reports("timeout").sends("T1").cwnd(1.0);
        for late in 1..=9 {
            t.at(1000 + late).ack("C0").sends("").cwnd(1.0);
        }
    }
}

/// ns-2's limited transmit (`singledup_`) retransmits after a timeout, for the first two
/// duplicates.
#[test]
fn in_ns2_two_duplicates_after_a_timeout_release_a_segment_each() {
    let mut t = Trace::of("reno").window(10).without_sack().ns2_fast_recovery().start();
    t.sends("1-10");
    t.at(1000).timer().sends("T1").cwnd(1.0);
    for (late, sent) in (1..=9).zip(["T2", "T3"].into_iter().chain([""; 7])) {
        t.at(1000 + late).ack("C0").sends(sent).cwnd(1.0);
    }
}

/// RFC 3465, section 2.3: segments covered by the acknowledgement that ends the recovery from a
/// timeout left the network long ago. RFC 5681, section 3.1: slow start ends at ssthresh, in the
/// middle of an acknowledgement that counts for several segments.
#[test]
fn after_a_timeout_one_segment_counts_and_slow_start_stops_at_ssthresh() {
    let mut t = Trace::of("sack").window(12).byte_counting(8).start();
    t.sends("1-12");
    t.at(1000).timer().sends("T1").cwnd(1.0).ssthresh(6.0);
    t.at(1100).ack("C12").cwnd(2.0).sends("13 14");
    t.at(1200).ack("C14").cwnd(4.0).sends("15-18");
    // Of the four that count, two lead to ssthresh, and two add a sixth each.
    t.at(1300).ack("C18").cwnd(6.0 + 2.0 / 6.0).sends("19-24");
}

/// RFC 5681, section 3.1: the first timeout reduces ssthresh, also while slow start retransmits
/// segments that were too big for the path.
#[test]
fn a_timeout_reduces_ssthresh_while_segments_that_were_too_big_are_retransmitted() {
    let mut t = Trace::of("sack").window(20).min_mss(100).start();
    t.sends("1-20");
    t.at(50).too_big(900, 1).sends_any();
    let due = t.connection().poll_timeout().expect("a timer");
    t.wait_until(due);
    // Each of the twenty is two segments by then.
    t.timer().reports("timeout").ssthresh(20.0).cwnd(1.0).sends_any();
}
