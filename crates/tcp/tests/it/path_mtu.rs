//! The payload that fits into a segment: options (RFC 6691), and the path MTU (RFC 1191, RFC 8201).

use crate::wire::{End, OURS, config};
use unruffled_tcp::{Config, Event, Ignored, IpVersion, State};

fn wire(mss: u32) -> Config {
    let timestamps = false;
    Config::wire(IpVersion::V4).with(|c| {
        c.mss = mss;
        c.isn = OURS.0;
        c.timestamps.offer = timestamps;
        c.nagle = false;
    })
}

fn established() -> End {
    End::connected(wire(1460), "S. 0 a1 w65535 mss1460 sackok")
}

#[test]
fn the_smaller_of_both_sizes_limits_the_payload() {
    let mut t = End::connected(wire(1460), "S. 0 a1 mss1000");
    assert_eq!(t.connection.max_payload(), 1000);
    t.writes(2000).sends(". 1:1001 a1, P. 1001:2001 a1");
    let mut t = End::connected(wire(900), "S. 0 a1 mss1000");
    t.writes(1000).sends(". 1:901 a1, P. 901:1001 a1");
}

/// Linux's TCP_MIN_SND_MSS: a peer that requests single octets would make the sender store an entry
/// for each. Timestamps take 12 of the 48.
#[test]
fn no_peer_makes_segments_smaller_than_48_octets() {
    for mss in [0, 1, 47] {
        let t = End::connected(wire(1460), &format!("S. 0 a1 mss{mss}"));
        assert_eq!(t.connection.max_payload(), 48);
        let t =
            End::connected(wire(1460).with(|c| c.timestamps.offer = true), "S. 0 a1 mss1 ts1:0");
        assert_eq!(t.connection.max_payload(), 36);
        let config = wire(1460).with(|c| c.segments.count_options = false);
        let t = End::connected(config, &format!("S. 0 a1 mss{mss}"));
        assert_eq!(t.connection.max_payload(), 48);
    }
    assert_eq!(End::connected(wire(1460), "S. 0 a1 mss49").connection.max_payload(), 49);
}

/// RFC 9293, section 3.7.1: "assume a default send MSS of 536 (…) for IPv4 or 1220 (…) for IPv6".
#[test]
fn a_peer_without_an_mss_option_gets_the_default() {
    let t = End::connected(wire(1460), "S. 0 a1");
    assert_eq!(t.connection.max_payload(), 536);
    let v6 = Config::wire(IpVersion::V6).with(|c| {
        c.isn = OURS.0;
        c.timestamps.offer = false;
    });
    assert_eq!(v6.mss, 1440);
    let t = End::connected(v6, "S. 0 a1");
    assert_eq!(t.connection.max_payload(), 1220);
}

/// RFC 6691, section 2: "when TCP options are included, the sender must reduce the TCP data length".
#[test]
fn options_reduce_the_payload() {
    let config = wire(1460).with(|c| {
        c.timestamps.offer = true;
        c.timestamps.paws = None;
    });
    let mut t = End::connected(config, "S. 0 a1 w65535 mss1460 sackok ts1:1000000");
    assert_eq!(t.connection.max_payload(), 1448);
    t.writes(1500).sends(". 1:1449 a1, P. 1449:1501 a1").gets(". 1 a1501 ts1:1000000");
    // With a hole to report, 12 octets more: one block, and padding.
    t.connection.write(5000);
    t.gets(". 101:201 a1501 ts1:1000000");
    t.sends(
        ". 1501:2937 a1 sack101-201, . 2937:4373 a1 sack101-201, . 4373:5809 a1 sack101-201, \
         P. 5809:6501 a1 sack101-201",
    );
}

#[test]
fn a_packet_that_was_too_big_is_split_and_retransmitted() {
    let mut t = established();
    t.writes(4380).sends(". 1:1461 a1, . 1461:2921 a1, P. 2921:4381 a1");
    t.too_big(1000, 1461).sends(". 1:961 a1");
    assert!(t.events.contains(&Event::PathMtu { mtu: 1000 }));
    assert_eq!(t.connection.max_payload(), 960);
    // Slow start: the acknowledgement of one segment releases two.
    t.gets(". 1 a961").sends(". 961:1461 a1, . 1461:2421 a1");
    t.gets(". 1 a2421").sends(". 2421:2921 a1, . 2921:3881 a1, P. 3881:4381 a1");
    t.writes(2000).gets(". 1 a4381").sends(". 4381:5341 a1, . 5341:6301 a1, P. 6301:6381 a1");
    t.gets(". 1 a6381").is(State::Established).no_timer();
}

/// It is no sign of congestion: the window returns to its previous size in octets.
#[test]
fn the_window_is_preserved_in_octets() {
    let mut t = established();
    t.writes(1460).sends("P. 1:1461 a1").too_big(770, 1);
    t.sends(". 1:731 a1");
    let window = t.connection.window();
    assert_eq!((window.cwnd, window.ssthresh), (1.0, f64::INFINITY));
}

/// Above the slow-start threshold too: the threshold becomes the window, so that slow start fills
/// it again.
#[test]
fn the_threshold_becomes_the_window_in_octets() {
    let mut t = established();
    t.writes(1460).sends("P. 1:1461 a1").timer().sends("P. 1:1461 a1").gets(". 1 a1461").sends("");
    t.writes(2920).sends(". 1461:2921 a1, P. 2921:4381 a1").gets(". 1 a2921").gets(". 1 a4381");
    t.writes(2920).sends(". 4381:5841 a1, P. 5841:7301 a1");
    let before = t.connection.window();
    assert!(before.cwnd > before.ssthresh, "{before:?}");
    t.too_big(770, 4381).sends(". 4381:5111 a1");
    let after = t.connection.window();
    assert_eq!((after.cwnd, after.ssthresh), (1.0, 2.0 * before.cwnd));
}

/// A retransmission with as much text as fits without options has no room for SACK blocks.
#[test]
fn a_full_segment_reports_no_ranges() {
    let config = wire(1460).with(|c| {
        c.timestamps.offer = true;
        c.timestamps.paws = None;
    });
    let mut t = End::connected(config, "S. 0 a1 w65535 mss1460 sackok ts1:1000000");
    t.writes(1448)
        .sends("P. 1:1449 a1")
        .gets(". 101:201 a1 ts1:1000000")
        .sends(". 1449 a1 sack101-201");
    let due = t.connection.poll_timeout().expect("a timer");
    t.connection.handle_timeout(due, &mut ());
    let again = t.connection.poll_transmit(due, &mut ()).expect("a retransmission");
    assert_eq!((again.len, again.sack.is_empty()), (1448, true));
}

/// If such a segment has no room for SACK blocks and an answer is due, an acknowledgement with them
/// follows (RFC 2018, section 4; RFC 2883). Otherwise a duplicate would never be reported.
#[test]
fn a_full_segment_does_not_replace_an_answer_with_ranges() {
    for (arrives, blocks) in [("101:201", "sack101-201"), ("1:51", "sack1-51")] {
        let mut t = established();
        t.gets(". 1:51 a1").timer().sends(". 1 a51");
        t.writes(1460).sends("P. 1:1461 a51").at(1040);
        let due = t.connection.poll_timeout().expect("a timer");
        t.connection.handle_timeout(due, &mut ());
        t.gets(&format!(". {arrives} a1")).sends(&format!("P. 1:1461 a51, . 1461 a51 {blocks}"));
    }
}

#[test]
fn data_that_has_arrived_is_not_retransmitted() {
    let mut t = established();
    t.writes(4380).sends(". 1:1461 a1, . 1461:2921 a1, P. 2921:4381 a1");
    t.gets(". 1 a1 sack1461-2921").sends("").too_big(1000, 2921).sends(". 1:961 a1");
    t.gets(". 1 a961 sack1461-2921").sends(". 961:1461 a1, . 2921:3881 a1");
    t.gets(". 1 a2921").sends("P. 3881:4381 a1").gets(". 1 a3881").gets(". 1 a4381").no_timer();
}

/// RFC 2018, section 8: the receiver may drop SACKed data before it is acknowledged. It is
/// retransmitted in sizes that fit by then.
#[test]
fn data_that_the_receiver_has_dropped_is_split_as_well() {
    let mut t = established();
    t.writes(2920).sends(". 1:1461 a1, P. 1461:2921 a1");
    t.gets(". 1 a1 sack1461-2921").sends("").too_big(1000, 1).sends(". 1:961 a1");
    t.gets(". 1 a961").sends(". 961:1461 a1").gets(". 1 a1461").sends("");
    t.timer().sends(". 1461:2421 a1").gets(". 1 a2421").sends("P. 2421:2921 a1");
    t.gets(". 1 a2921").no_timer();
}

/// RFC 8201, section 4, and RFC 5927: a message about a packet that is not in flight is forged or
/// late.
#[test]
fn a_message_about_a_packet_not_in_flight_is_ignored() {
    let mut t = established();
    t.too_big(1000, 1).sends("").ignores(Ignored::StaleMtu);
    t.writes(1460).sends("P. 1:1461 a1");
    t.too_big(1000, 1461).sends("").ignores(Ignored::StaleMtu);
    t.too_big(1000, 0).ignores(Ignored::StaleMtu);
    t.too_big(1500, 1).sends("").ignores(Ignored::StaleMtu);
    assert_eq!(t.connection.max_payload(), 1460);
}

#[test]
fn there_is_a_minimum_size() {
    let mut t = established();
    t.writes(1460).sends("P. 1:1461 a1").too_big(68, 1).sends(". 1:537 a1");
    assert!(t.events.contains(&Event::PathMtu { mtu: 576 }));
    t.too_big(68, 1).sends("").ignores(Ignored::StaleMtu);
}

/// RFC 8201, section 4: "If a node receives a Packet Too Big message reporting a next-hop MTU that is
/// less than the IPv6 minimum link MTU, it must discard it."
#[test]
fn no_ipv6_path_takes_less_than_1280_octets() {
    let v6 = Config::wire(IpVersion::V6).with(|c| {
        c.isn = OURS.0;
        c.timestamps.offer = false;
        c.nagle = false;
    });
    let mut t = End::connected(v6, "S. 0 a1 w65535 mss1440");
    t.writes(1440).sends("P. 1:1441 a1");
    for mtu in [0, 68, 1279] {
        t.too_big(mtu, 1).sends("").ignores(Ignored::StaleMtu);
    }
    t.too_big(1280, 1).sends(". 1:1221 a1");
    assert!(t.events.contains(&Event::PathMtu { mtu: 1280 }));
}

/// RFC 1191, section 5: old routers report no size, so the next lower plateau is tried.
#[test]
fn without_a_reported_size_the_next_plateau_is_tried() {
    let mut t = established();
    t.writes(1460).sends("P. 1:1461 a1").too_big(0, 1).sends(". 1:1453 a1");
    t.gets(". 1 a1453").sends("P. 1453:1461 a1").too_big(0, 1453).sends("");
    assert_eq!(t.connection.max_payload(), 1006 - 40);
}

/// In simulation sizes are payload, and only the bound changes.
#[test]
fn without_counted_options_sizes_are_payload() {
    let mut t = End::established(config());
    t.writes(2000).sends(". 1:1001 a1, P. 1001:2001 a1").too_big(640, 1).sends(". 1:601 a1");
}

/// TCP-PR has its own window, and stores with each packet the window when it was sent. All are in
/// packets, which are half as large now: 4 of 1460 octets are 8 of 730, filled by slow start.
#[test]
fn tcp_pr_counts_its_windows_in_the_smaller_packets() {
    let config = wire(1460).with(|c| c.window.initial = 4);
    let mut t = End::connected_as("tcp-pr", config, "S. 0 a1 w65535 mss1460 sackok");
    t.writes(20_000).sends(". 1:1461 a1, . 1461:2921 a1, . 2921:4381 a1, . 4381:5841 a1");
    t.too_big(770, 1).sends(". 1:731 a1");
    let window = t.connection.window();
    assert_eq!((window.cwnd, window.ssthresh), (1.0, f64::INFINITY));
    t.gets(". 1 a731").sends(". 731:1461 a1, . 1461:2191 a1");
}
