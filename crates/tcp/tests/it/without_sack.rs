//! Peers without SACK: senders that rely on it fall back to RFC 5681 and RFC 6582.

use crate::wire::{End, config};
use unruffled_tcp::Event;

fn end(name: &str, window: u32) -> End {
    let config = config().with(|c| c.window.initial = window);
    End::connected_as(name, config, "S. 0 a1 w10000 mss1000")
}

/// RFC 8985, section 4: "RACK-TLP requires SACK"; RFC 5681, section 3.2.
#[test]
fn three_duplicates_begin_fast_retransmit() {
    for name in ["sack", "rack", "quic", "rack+cubic+f-rto"] {
        let mut t = end(name, 4);
        t.writes(4000).sends(". 1:1001 a1, . 1001:2001 a1, . 2001:3001 a1, P. 3001:4001 a1");
        t.gets(". 1 a1").sends("").gets(". 1 a1").sends("");
        t.gets(". 1 a1").sends(". 1:1001 a1");
        assert!(t.events.contains(&Event::FastRetransmit), "{name}");
        t.gets(". 1 a4001").sends("");
        assert!(t.events.contains(&Event::Recovered), "{name}");
    }
}

/// Returns `count` segments of 1000 octets, from the first one on.
fn segments(count: u32) -> String {
    let all = (0..count).map(|n| format!(". {}:{} a1", n * 1000 + 1, n * 1000 + 1001));
    all.collect::<Vec<_>>().join(", ")
}

/// RFC 4653, section 3.1: without SACK blocks Extended Limited Transmit does not begin. The
/// standard applies, and RFC 3042.
#[test]
fn ncr_waits_no_longer_than_the_standard() {
    for name in ["ncr-careful", "ncr-aggressive"] {
        let mut t = end(name, 9);
        t.writes(12_000);
        t.sends(&segments(9));
        t.gets(". 1 a1").sends(". 9001:10001 a1").gets(". 1 a1").sends("");
        assert_eq!(t.connection.dupthresh(), Some(3), "{name}");
        t.gets(". 1 a1").sends(". 1:1001 a1");
    }
}

/// RFC 5681, section 2 (c): "the SYN and FIN bits are both off".
#[test]
fn a_fin_is_no_duplicate() {
    for name in ["reno", "newreno", "sack", "rack"] {
        let mut t = end(name, 4);
        t.writes(4000).sends(". 1:1001 a1, . 1001:2001 a1, . 2001:3001 a1, P. 3001:4001 a1");
        t.gets(". 1 a1").sends("").gets(". 1 a1").sends("").gets("F. 1 a1").sends(". 4001 a2");
        t.gets(". 2 a1").sends(". 1:1001 a2");
    }
}

/// The first two of six are lost: a partial acknowledgement retransmits the second (RFC 6582).
#[test]
fn a_partial_acknowledgement_retransmits_the_next_hole() {
    for name in ["rack", "quic"] {
        let mut t = end(name, 6);
        t.writes(6000);
        t.sends(&segments(6).replace(". 5001", "P. 5001"));
        t.gets(". 1 a1").sends("").gets(". 1 a1").sends("").gets(". 1 a1").sends(". 1:1001 a1");
        t.gets(". 1 a1").sends("").gets(". 1 a1001").sends(". 1001:2001 a1").gets(". 1 a6001");
        assert!(t.events.contains(&Event::Recovered), "{name}");
    }
}

/// Section 7: the tail loss probe requires SACK; the timeout does not.
#[test]
fn there_is_no_tail_loss_probe() {
    let mut t = end("rack", 4);
    t.writes(2000).sends(". 1:1001 a1, P. 1001:2001 a1").timer_at(1000);
    t.timer().sends(". 1:1001 a1");
    assert!(t.events.iter().any(|event| matches!(event, Event::Timeout { .. })));
}
