//! Flow control: closing and opening windows, probes, small segments, and idle peers (RFC 9293,
//! sections 3.7.4, 3.8.4 and 3.8.6).

use crate::wire::{End, config, ms};
use unruffled_tcp::{Config, Error, Event, Ignored, KeepAlive};
use unruffled_units::Instant;

/// Returns a client whose server has room for `window` octets, in segments of 1000.
fn with_window(window: u16) -> End {
    End::connected(config(), &format!("S. 0 a1 w{window} mss1000 sackok"))
}

#[test]
fn the_window_is_the_buffer_without_the_unread_octets() {
    let mut t = End::established(Config { receive_buffer: 4000, ..config() });
    t.gets(". 1:1001 a1").sends(". 1 a1001 w3000").gets(". 1001:2001 a1").sends(". 1 a2001 w2000");
    assert_eq!(t.connection.readable(), 2000);
    // No update: the peer already has half the buffer.
    t.reads(1000).sends("").gets(". 2001:3001 a1").sends(". 1 a3001 w2000");
    t.gets(". 3001:5001 a1").sends(". 1 a5001 w0");
    assert_eq!(t.connection.readable(), 4000);
}

/// The SYN-ACK advertises the buffer of that time, and data within it is accepted.
#[test]
fn a_buffer_set_before_the_handshake_is_advertised_by_it() {
    let mut t = End::listen(Config { receive_buffer: 2000, ..config() });
    t.connection.set_receive_buffer(10_000);
    t.gets("S 0 sackok").sends("S. 0 a1 w10000").gets(". 1 a1").sends("");
    t.gets(". 3001:4001 a1").sends(". 1 a1 sack3001-4001").accepts();
}

/// Octets read while the driver had no memory could not be advertised.
#[test]
fn the_window_opens_when_memory_is_available_again() {
    let mut t = End::established(Config { receive_buffer: 4000, ..config() });
    t.connection.bound_receive_window(0);
    t.gets(". 1:4001 a1").sends(". 1 a4001 w0");
    t.reads(4000).sends("");
    t.connection.bound_receive_window(u64::MAX);
    t.writes(0).sends(". 1 a4001 w4000");
}

/// Section 3.10.7.4: SND.WL1 and SND.WL2 do not order two updates with the same acknowledgement.
#[test]
fn an_older_window_that_arrives_late_does_not_shrink_the_window() {
    let mut t = End::established(config());
    t.writes(3000).sends(". 1:1001 a1, . 1001:2001 a1, P. 2001:3001 a1");
    // The second of these overtook the first, after the application had read.
    t.at(100).gets(". 1 a3001 w10000").gets(". 1 a3001 w500").sends("");
    t.writes(2000).sends(". 3001:4001 a1, P. 4001:5001 a1");
    // A window with a newer acknowledgement counts, whatever its size.
    t.at(200).gets(". 1 a5001 w2500").writes(4000).sends(". 5001:6001 a1, . 6001:7001 a1");
    t.at(300).gets(". 1 a7001 w1000").sends(". 7001:8001 a1");
    // So does a window with newer text, and a closed one.
    t.at(400).gets(". 1:1001 a8001 w1000").sends("P. 8001:9001 a1001").gets(". 1001 a9001 w9000");
    t.gets(". 1001 a9001 w0").writes(1000).sends("");
}

/// RFC 6298, section 3: it is unknown which probe was answered.
#[test]
fn a_repeated_window_probe_gives_no_round_trip_time() {
    let srtt = |t: &End| t.connection.srtt();
    let mut t = End::established(config());
    t.writes(1000).sends("P. 1:1001 a1").at(100).gets(". 1 a1001 w0");
    let before = srtt(&t);
    t.writes(1000).sends("");
    t.at(1100).timer().sends(". 1001:1002 a1");
    t.at(3100).timer().sends(". 1001:1002 a1");
    t.at(3110).gets(". 1 a1002 w10000").sends("P. 1002:2001 a1");
    assert_eq!(srtt(&t), before);
}

/// Section 3.8.6.2.2: an update is sent when the window opens by a segment or half the buffer, and
/// not before.
#[test]
fn a_closed_window_is_opened_by_an_update() {
    let mut t = End::established(Config { receive_buffer: 4000, ..config() });
    t.gets(". 1:4001 a1").sends(". 1 a4001 w0");
    t.reads(999).sends("").reads(1).sends(". 1 a4001 w1000");
    t.reads(999).sends("").reads(1).sends(". 1 a4001 w2000").reads(1000).sends("");
    t.gets(". 4001:4002 a1").sends(". 1 a4002 w2999");
    assert_eq!(t.connection.readable(), 1001);
    t.reads(u64::MAX).sends("");
    assert_eq!(t.connection.readable(), 0);
}

#[test]
fn small_reads_do_not_cause_a_silly_window() {
    let mut t = End::established(Config { receive_buffer: 2000, ..config() });
    t.gets(". 1:1901 a1").sends(". 1 a1901 w100");
    // The edge is at 2001, and stays there after 600 octets were read.
    t.reads(600).sends("").gets(". 1901:1951 a1").sends(". 1 a1951 w50");
    t.reads(399).sends("").reads(1).sends(". 1 a1951 w1050");
}

/// A delayed acknowledgement does not wait when the peer needs the window.
#[test]
fn small_buffers_are_acknowledged_at_once() {
    let config = Config { receive_buffer: 1000, delayed_ack: Some(ms(100)), ..config() };
    let mut t = End::established(config);
    t.gets(". 1:1001 a1").sends("").reads(1000).sends(". 1 a1001 w1000");
}

#[test]
fn no_segment_exceeds_the_window() {
    let mut t = with_window(2500);
    // 500 remain: less than a segment, and less than half of the window.
    t.writes(5000).sends(". 1:1001 a1, . 1001:2001 a1");
    t.gets(". 1 a1001 w2500").sends(". 2001:3001 a1").gets(". 1 a3001 w2500");
    t.sends(". 3001:4001 a1, P. 4001:5001 a1");
}

/// Section 3.8.6.2.1, (3): half of the largest window is worth sending.
#[test]
fn a_peer_without_room_for_a_segment_gets_smaller_ones() {
    let mut t = with_window(600);
    t.writes(1000).sends(". 1:601 a1").gets(". 1 a601 w600").sends("P. 601:1001 a1");
    let mut t = with_window(600);
    t.writes(1000).sends(". 1:601 a1").gets(". 1 a601 w299").sends("").timer_at(1000);
    // (4): a small window that persists is used after all.
    t.timer().sends(". 601:900 a1");
}

/// (4) again: the acknowledgement of a small segment is an answer, so the next wait is no longer.
#[test]
fn a_small_window_in_use_does_not_lengthen_the_wait() {
    let mut t = with_window(600);
    t.writes(2000).sends(". 1:601 a1").gets(". 1 a601 w200").sends("").timer_at(1000);
    t.timer().sends(". 601:801 a1").gets(". 1 a801 w200").sends("").timer_at(2000);
    t.timer().sends(". 801:1001 a1").gets(". 1 a1001 w600").sends(". 1001:1601 a1");
    // Neither does a window that closes later.
    t.gets(". 1 a1601 w0").sends("").timer_at(3000);
}

/// Section 3.8.6.1: the first probe after a timeout, then at growing intervals, without end.
#[test]
fn a_closed_window_is_probed_forever() {
    let config = config().with(|c| c.timeouts.give_up = Some(ms(120_000)));
    let mut t = End::connected(config, "S. 0 a1 w1000 mss1000");
    t.writes(2000).sends(". 1:1001 a1").gets(". 1 a1001 w0").sends("").timer_at(1000);
    let mut now = 0;
    for wait in [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000] {
        now += wait;
        t.timer_at(now).timer().sends(". 1001:1002 a1");
        assert!(t.events.contains(&Event::WindowProbe));
        t.gets(". 1 a1001 w0").sends("");
    }
    assert_eq!(t.connection.in_flight(), 0, "a rejected probe is not lost");
    t.gets(". 1 a1001 w1000").sends("P. 1001:2001 a1");
}

#[test]
fn a_probe_without_an_answer_ends_the_connection_in_time() {
    let config = config().with(|c| c.timeouts.give_up = Some(ms(5000)));
    let mut t = End::connected(config, "S. 0 a1 w1000 mss1000");
    t.writes(2000).sends(". 1:1001 a1").gets(". 1 a1001 w0").sends("");
    t.timer().sends(". 1001:1002 a1").timer().sends(". 1001:1002 a1");
    t.timer_at(5000).timer().failed(Error::TimedOut);
}

/// The update that opened the window is lost: a probe shows this, and its octet counts.
#[test]
fn a_probe_makes_up_for_a_lost_window_update() {
    let mut t = with_window(1000);
    t.writes(3000).sends(". 1:1001 a1").gets(". 1 a1001 w0").sends("");
    t.timer().sends(". 1001:1002 a1").gets(". 1 a1002 w5000");
    t.sends(". 1002:2002 a1, P. 2002:3001 a1");
    assert_eq!(t.connection.unacknowledged_from(), 1001);
    t.gets(". 1 a3001").no_timer();
    assert_eq!(t.connection.unacknowledged_from(), 3000);
}

/// Two probes cross, and each end accepts the other's octet. The peer's acknowledgement comes from
/// one number before, because its probe is not acknowledged yet. So would ours, and both would be
/// dropped forever.
#[test]
fn probes_that_cross_are_acknowledged() {
    let mut t = with_window(1000);
    t.writes(3000).sends(". 1:1001 a1").gets(". 1 a1001 w0").sends("");
    t.timer().sends(". 1001:1002 a1").gets(". 1:2 a1001 w0").sends(". 1001 a2");
    t.gets(". 1 a1002 w5000").ignores(Ignored::OutsideWindow);
    t.sends(". 1002:2002 a2, P. 2002:3001 a2");
}

/// Section 3.8.6: a window may shrink. Data beyond it is then neither sent nor lost.
#[test]
fn a_window_that_shrinks_is_respected() {
    let mut t = with_window(4000);
    t.writes(6000).sends(". 1:1001 a1, . 1001:2001 a1, . 2001:3001 a1, . 3001:4001 a1");
    t.gets(". 1 a1001 w2000").sends("").gets(". 1 a4001 w0").sends("");
    t.gets(". 1 a4001 w2000").sends(". 4001:5001 a1, P. 5001:6001 a1");
}

/// Section 3.10.7.4: SND.WL1 and SND.WL2 prevent old segments from setting the window.
#[test]
fn an_old_segment_does_not_set_the_window() {
    let mut t = with_window(2000);
    t.writes(9000).sends(". 1:1001 a1, . 1001:2001 a1");
    t.gets(". 101 a2001 w1000").sends(". 2001:3001 a1");
    // In the window, sent earlier, and with an older acknowledgement.
    t.gets(". 1 a1001 w9000").sends("").gets(". 101 a1001 w9000").sends("");
    t.gets(". 101 a2001 w2000").sends(". 3001:4001 a1");
    t.gets(". 102 a2001 w3000").sends(". 4001:5001 a1");
}

/// Section 3.7.4.
#[test]
fn nagle_delays_small_segments() {
    let mut t = End::established(Config { nagle: true, ..config() });
    t.writes(10).sends("P. 1:11 a1").writes(20).sends("").writes(30).sends("");
    t.gets(". 1 a11").sends("P. 11:61 a1");
    t.writes(2100).sends(". 61:1061 a1, . 1061:2061 a1").gets(". 1 a61").sends("");
    t.gets(". 1 a2061").sends("P. 2061:2161 a1");
}

#[test]
fn nagle_does_not_delay_the_end() {
    let mut t = End::established(Config { nagle: true, ..config() });
    t.writes(10).sends("P. 1:11 a1").writes(20).sends("").finishes();
    t.sends("P. 11:31 a1, F. 31 a1");
}

#[test]
fn without_nagle_small_segments_are_sent() {
    let mut t = End::established(config());
    t.writes(10).sends("P. 1:11 a1").writes(20).sends("P. 11:31 a1");
}

/// RFC 9293, section 3.9.1.2: the last segment of a write is pushed, and no other.
#[test]
fn the_last_segment_of_a_write_is_pushed() {
    let mut t = End::established(config());
    t.writes(2500).sends(". 1:1001 a1, . 1001:2001 a1, P. 2001:2501 a1");
    t.gets(". 1 a2001").timer().sends("P. 2001:2501 a1");
}

fn keep_alive() -> End {
    let keep_alive = KeepAlive { idle: ms(60_000), interval: ms(5000), count: 2 };
    End::established(config().with(|c| c.timeouts.keep_alive = Some(keep_alive)))
}

#[test]
fn an_idle_peer_is_probed_and_answers() {
    let mut t = keep_alive();
    t.timer_at(60_000).timer().sends(". 0 a1");
    assert!(t.events.contains(&Event::KeepAlive));
    t.at(60_100).gets(". 1 a1").sends("").timer_at(65_000).timer().sends("");
    t.timer_at(120_100).timer().sends(". 0 a1");
}

#[test]
fn a_peer_that_does_not_answer_is_given_up() {
    let mut t = keep_alive();
    t.timer().sends(". 0 a1").timer().sends(". 0 a1").timer_at(70_000).timer();
    t.failed(Error::TimedOut);
}

#[test]
fn traffic_keeps_the_connection_alive() {
    let mut t = keep_alive();
    t.at(59_000).gets("P. 1:11 a1").sends(". 1 a11").timer().sends("").timer_at(119_000);
}

/// A timer that is due again at once would never let the driver sleep.
#[test]
fn a_peer_is_probed_at_most_once_a_second() {
    let none = KeepAlive { idle: ms(0), interval: ms(0), count: 2 };
    let mut t = End::established(config().with(|c| c.timeouts.keep_alive = Some(none)));
    t.timer_at(1000).timer().sends(". 0 a1").timer_at(2000);

    let mut t = keep_alive();
    t.connection.set_keep_alive(Some(none), Instant::from_millis(1_000_000));
    t.writes(10).sends("P. 1:11 a1").gets(". 1 a11").timer_at(1000).timer().sends(". 10 a1");
    t.timer_at(2000).timer().sends(". 10 a1").timer_at(3000).timer().failed(Error::TimedOut);

    // Data in flight already requires an answer.
    let mut t = End::established(config().with(|c| c.timeouts.keep_alive = Some(none)));
    t.at(900).writes(10).sends("P. 1:11 a1").timer_at(1000).timer().sends("").timer_at(1900);
}

#[test]
fn a_keep_alive_is_answered() {
    let mut t = End::established(config());
    t.gets(". 0 a1").sends(". 1 a1").gets(". 0:1 a1").sends(". 1 a1");
}

/// A peer that does not scale windows has 65,535 octets at most, however large the buffer. Updates
/// with each read would look like duplicate acknowledgements, of which three are a loss.
#[test]
fn reading_causes_no_update_that_is_not_news() {
    let mut t = End::connected(Config { receive_buffer: 1 << 20, ..config() }, "S. 0 a1 w10000");
    t.gets(". 1:1001 a1").sends(". 1 a1001 w65535");
    t.gets(". 1001:2001 a1").sends(". 1 a2001 w65535");
    for _ in 0..4 {
        t.reads(500).sends("");
    }
}
