//! Acceptance of segments: RFC 9293, Table 6, RFC 5961, and PAWS (RFC 7323, section 5).

use crate::wire::{End, config, ms};
use unruffled_tcp::{Config, Error, Ignored, KeepAlive, State};
use unruffled_units::Instant;

/// Returns an end whose window is closed, because the application has read nothing.
fn closed_window() -> End {
    let mut t = End::established(Config { receive_buffer: 1000, ..config() });
    t.gets("P. 1:1001 a1").sends(". 1 a1001 w0");
    t
}

#[test]
fn at_a_closed_window_an_empty_segment_must_be_at_its_edge() {
    let mut t = closed_window();
    t.gets(". 1001 a1").sends("").accepts();
    t.gets(". 1000 a1").sends(". 1 a1001").ignores(Ignored::OutsideWindow);
    t.gets(". 1002 a1").sends(". 1 a1001").ignores(Ignored::OutsideWindow);
}

#[test]
fn at_an_open_window_an_empty_segment_must_lie_within() {
    let mut t = End::established(config());
    t.gets(". 1 a1").sends("").accepts();
    t.gets(". 10000 a1").sends("").accepts();
    t.gets(". 0 a1").sends(". 1 a1").ignores(Ignored::OutsideWindow);
    t.gets(". 10001 a1").sends(". 1 a1").ignores(Ignored::OutsideWindow);
}

/// The peer has filled the window and sent its FIN after it, and some of that was lost.
#[test]
fn an_acknowledgement_from_beyond_a_full_window_counts() {
    let mut t = End::established(Config { receive_buffer: 2000, ..config() });
    t.writes(10).sends("P. 1:11 a1");
    t.gets("P. 1001:2001 a1").sends(". 11 a1 sack1001-2001");
    t.gets(". 2003 a11").sends(". 11 a1").ignores(Ignored::OutsideWindow);
    assert_eq!(t.connection.in_flight(), 10, "an implausible number");
    t.gets(". 2002 a11").sends(". 11 a1").ignores(Ignored::OutsideWindow);
    assert_eq!(t.connection.in_flight(), 0);
}

/// No data is accepted; "special allowance should be made to accept valid ACKs, URGs, and RSTs".
#[test]
fn data_at_a_closed_window_is_dropped() {
    let mut t = closed_window();
    t.gets("P. 1001:1002 a1").sends(". 1 a1001 w0");
    t.gets("P. 1101:1102 a1").sends(". 1 a1001").ignores(Ignored::OutsideWindow);
    assert_eq!(t.connection.received(), 1000);
    t.writes(10).sends("P. 1:11 a1001");
    t.gets("P. 1001:1101 a11").sends(". 11 a1001").no_timer();
    t.gets("F. 1001 a11").sends(". 11 a1002").is(State::CloseWait);
}

#[test]
fn data_at_an_open_window_must_overlap_it() {
    let mut t = End::established(config());
    t.gets(". -99:1 a1").sends(". 1 a1").ignores(Ignored::OutsideWindow);
    t.gets(". 10001:10101 a1").sends(". 1 a1").ignores(Ignored::OutsideWindow);
    t.gets(". 1:101 a1").sends(". 1 a101").gets(". 51:151 a1").sends(". 1 a151").accepts();
    t.gets(". 10000:10200 a1").sends(". 1 a151 sack10000-10001").accepts();
}

/// Text on both sides of the window's edge is trimmed, together with a FIN after it.
#[test]
fn data_beyond_the_window_is_cut_off() {
    let mut t = End::established(config());
    t.gets("F. 1:12001 a1").sends(". 1 a10001 w0").is(State::Established);
    assert_eq!(t.connection.readable(), 10_000);
}

/// A stream does not continue after its end.
#[test]
fn data_beyond_the_fin_is_cut_off() {
    let mut t = End::established(config());
    t.gets("F. 501 a1").sends(". 1 a1");
    t.gets(". 1:1001 a1").sends(". 1 a502").is(State::CloseWait);
    t.gets(". 502:600 a1").ignores(Ignored::BeyondEnd);
    assert_eq!(t.connection.readable(), 500);
    // It does not end before octets that have arrived either.
    let mut t = End::established(config());
    t.gets(". 501:1001 a1").sends(". 1 a1").gets("F. 301 a1").sends(". 1 a1");
    t.gets(". 1:501 a1").sends(". 1 a1001").is(State::Established);
}

/// RFC 2883: old text is unacceptable, and is reported.
#[test]
fn old_data_is_reported_as_a_duplicate() {
    let mut t = End::established(config());
    t.gets("P. 1:101 a1").sends(". 1 a101").gets("P. 1:101 a1").sends(". 1 a101 sack1-101");
}

/// RFC 5961, section 3.2.
#[test]
fn only_an_exact_reset_resets() {
    let mut t = End::established(config());
    t.gets("R 0").sends("").ignores(Ignored::OutsideWindow);
    t.gets("R 10001").sends("").ignores(Ignored::OutsideWindow);
    t.gets("R 2").sends(". 1 a1").ignores(Ignored::Reset);
    t.gets("R 10000").sends(". 1 a1").ignores(Ignored::Reset);
    t.gets("R 1").sends("").accepts().failed(Error::Reset);
    closed_window().gets("R 1001").failed(Error::Reset);
}

/// RFC 5961, section 4.2: "irrespective of the sequence number".
#[test]
fn a_syn_is_challenged() {
    for syn in ["S 0", "S 1", "S 500", "S 20000", "S. 500 a1"] {
        End::established(config()).gets(syn).sends(". 1 a1").is(State::Established);
    }
    End::established(config()).gets("S 500").sends(". 1 a1").ignores(Ignored::Syn);
    End::established(config()).gets("S 0").sends(". 1 a1").ignores(Ignored::Syn);
}

/// RFC 5961, section 5.2: SND.UNA − MAX.SND.WND =< SEG.ACK =< SND.NXT. The text of any other
/// segment is dropped.
#[test]
fn only_a_segment_with_a_plausible_acknowledgement_is_accepted() {
    let mut t = End::connected(config(), "S. 0 a1 w2000 mss1000 sackok");
    t.writes(3000).sends(". 1:1001 a1, . 1001:2001 a1");
    t.gets(". 1:101 a2001 w2000").sends("P. 2001:3001 a101").gets(". 101 a3001 w2000");
    t.gets(". 101:201 a3002").sends(". 3001 a101").ignores(Ignored::UnacceptableAck);
    t.gets(". 101:201 a1000").sends(". 3001 a101").ignores(Ignored::UnacceptableAck);
    t.gets(". 101:201 a1001 w2000").sends(". 3001 a201").accepts();
    t.gets("P 201:301").sends("").ignores(Ignored::NoAck);
}

/// RFC 9293, section 3.10.7.4: SEG.ACK below SND.UNA sets no window, also before the first octet is
/// acknowledged. The rest of the segment counts (RFC 5961, section 5).
#[test]
fn an_acknowledgement_from_before_the_stream_is_ignored() {
    let mut t = End::established(config());
    t.writes(2000).sends(". 1:1001 a1, P. 1001:2001 a1");
    t.gets(". 1 a0 w0").sends("").gets("P. 1:101 a0 w0").sends(". 2001 a101");
    assert_eq!(t.connection.send_window(), 10_000);
    t.gets(". 101 a4294947295 w0").ignores(Ignored::UnacceptableAck);
}

#[test]
fn challenge_acks_are_limited() {
    let mut t = End::established(Config { challenge_acks: 2, ..config() });
    t.gets("S 5").sends(". 1 a1").gets("R 5").sends(". 1 a1").gets("S 5").sends("");
    t.at(999).gets(". 0 a1").sends("");
    t.at(1000).gets("R 5").sends(". 1 a1");
    t.gets("P. 1:101 a1").sends(". 1 a101");
    t.gets("P. 1:101 a1").sends(". 1 a101").gets("P. 1:101 a1").sends(". 1 a101");
}

#[test]
fn a_segment_too_long_for_a_packet_is_malformed() {
    let mut t = End::established(config());
    t.gets(". 1:70000 a1").sends("").ignores(Ignored::Malformed);
}

fn timestamps() -> End {
    let config = config().with(|c| {
        c.timestamps.offer = true;
        c.timestamps.paws = Some(ms(0));
    });
    End::connected(config, "S. 0 a1 w10000 mss1000 sackok ts100:1000000")
}

#[test]
fn old_duplicates_are_identified_by_their_timestamps() {
    let mut t = timestamps();
    t.gets("P. 1:101 a1 ts100:1000000").sends(". 1 a101 ts1000000:100");
    t.gets("P. 101:201 a1 ts150:1000000").sends(". 1 a201 ts1000000:150");
    // In the window by its sequence number, but with an older timestamp.
    t.gets("P. 201:301 a1 ts149:1000000").sends(". 1 a201").ignores(Ignored::OldTimestamp);
    t.gets(". 201 a1 ts149:1000000").sends(". 1 a201").ignores(Ignored::OldTimestamp);
    t.gets("P. 201:301 a1").sends("").ignores(Ignored::NoTimestamp);
    t.gets("P. 201:301 a1 ts150:1000000").sends(". 1 a301").accepts();
    // A duplicate is reported nevertheless.
    t.gets("P. 1:101 a1 ts120:1000000").sends(". 1 a301 sack1-101").ignores(Ignored::OldTimestamp);
    // Section 5.2: resets need no timestamp.
    t.gets("R 301").failed(Error::Reset);
}

/// RFC 5961, section 5: a timestamp from the future is stored only with a plausible
/// acknowledgement. Otherwise an attacker that guesses a number in the window could make this end
/// drop the peer's segments.
#[test]
fn a_forged_segment_does_not_set_ts_recent() {
    let mut t = timestamps();
    t.gets(". 1 a2 ts900:1000000").sends(". 1 a1 ts1000000:100").ignores(Ignored::UnacceptableAck);
    t.gets(". 1 a-30000 ts900:1000000").sends(". 1 a1").ignores(Ignored::UnacceptableAck);
    t.gets("P 1:101 ts900:1000000").sends("").ignores(Ignored::NoAck);
    t.gets("P. 1:101 a1 ts101:1000000").sends(". 1 a101 ts1000000:101").accepts();
}

/// A forged segment does not keep alive a peer that is gone.
#[test]
fn a_forged_segment_does_not_answer_a_keep_alive() {
    let keep_alive = Some(KeepAlive { idle: ms(10_000), interval: ms(1000), count: 1 });
    let mut t = End::established(config().with(|c| c.timeouts.keep_alive = keep_alive));
    t.at(9000).gets(". 1 a2").sends(". 1 a1").ignores(Ignored::UnacceptableAck);
    t.timer_at(10_000).timer().sends(". 0 a1").gets(". 1 a2").sends(". 1 a1");
    t.timer_at(11_000).timer().failed(Error::TimedOut);
}

/// Section 5.5: TS.Recent is invalid after 24 days.
#[test]
fn ts_recent_expires() {
    let mut t = timestamps();
    t.gets("P. 1:101 a1 ts100:1000000").sends(". 1 a101");
    t.at(25 * 24 * 3600 * 1000).gets("P. 101:201 a1 ts99:1000000").sends(". 1 a201").accepts();
    t.gets("P. 201:301 a1 ts98:1000000").sends(". 1 a201").ignores(Ignored::OldTimestamp);
}

/// Section 4.1: with timestamps, retransmitted segments are timed as well.
#[test]
fn a_retransmission_is_timed_by_its_timestamp() {
    let mut t = timestamps();
    t.at(0).writes(100).sends("P. 1:101 a1").timer().sends("P. 1:101 a1 ts1001000:100");
    // The handshake took no time: the first sample of 200 ms is an eighth of SRTT.
    t.at(1200).gets(". 1 a101 ts300:1001000");
    let srtt = t.connection.srtt().expect("a sample").as_millis_f64();
    assert!((24.0..=25.0).contains(&srtt), "{srtt} ms");
}

/// RFC 7323, section 2.2: options that the SYN does not have are absent from its answer.
#[test]
fn only_offered_options_are_answered() {
    let config = config().with(|c| {
        c.timestamps.offer = true;
        c.receive_buffer = 1 << 20;
    });
    let mut t = End::listen(config.clone());
    t.gets("S 0").sends("S. 0 a1 w65535 nows nots").gets(". 1 a1").is(State::Established);
    t.gets("P. 1:101 a1").sends(". 1 a101 w65535 nots");
    let mut t = End::listen(config.with(|c| c.window.initial = 30));
    t.gets("S 0 ws15 sackok ts5:0").sends("S. 0 a1 w65535 ws5 sackok ts1000000:5");
    t.gets(". 1 a1 w1 ts6:1000000").is(State::Established);
    // A window of 1 << 14 octets: a greater shift is taken for 14 (section 2.3).
    t.connection.write(20_000);
    t.connection.finish();
    let sent = std::iter::from_fn(|| t.connection.poll_transmit(Instant::ZERO, &mut ()));
    assert_eq!(sent.count(), 16, "segments of 1000 octets into a window of 16384");
}

/// RFC 5961, section 4.2: a SYN is challenged "irrespective of the sequence number", also if it
/// lacks the negotiated timestamps. A peer that has lost its state then resets the connection.
#[test]
fn a_syn_without_timestamps_is_challenged() {
    let mut t = timestamps();
    t.gets("S 500").sends(". 1 a1").ignores(Ignored::NoTimestamp).is(State::Established);
    t.gets("R 1").failed(Error::Reset);
}

/// RFC 7323, section 3.2: timestamps "SHOULD" be in a reset. Without an acknowledgement they echo
/// nothing.
#[test]
fn a_reset_has_a_timestamp_if_timestamps_were_negotiated() {
    let mut t = timestamps();
    t.at(1000).aborts().sends("R 1 ts1001000:0");
    let mut t = End::established(config());
    t.aborts().sends("R 1 nots");
    // In SYN-SENT nothing has been negotiated yet.
    let mut t = End::connect(config().with(|c| c.timestamps.offer = true));
    t.sends("S 0").gets(". 1 a7").sends("R 7 nots");
    let mut t = End::listen(config().with(|c| c.timestamps.offer = true));
    t.gets("S 0 ts5:0").sends("S. 0 a1").gets(". 1 a7 ts6:0").sends("R 7 ts1000000:0");
}
