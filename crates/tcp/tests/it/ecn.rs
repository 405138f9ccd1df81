//! ECN between two ends: negotiation, the ECN fields of what is sent, and the echo of marks (RFC 3168,
//! sections 6.1.1 and 6.1.3 to 6.1.6).

use unruffled_tcp::{Config, EcnMode, Error, State};

use crate::wire::{End, config};

fn with(ecn: EcnMode) -> Config {
    config().with(|c| c.ecn = ecn)
}

/// Returns a client that requested ECN, of a server that agreed.
fn client() -> End {
    let mut t = End::connect(with(EcnMode::Request));
    t.sends("SEW 0").gets("SE. 0 a1 mss1000 sackok").sends(". 1 a1").is(State::Established);
    t
}

// 6.1.1: negotiation.

#[test]
fn both_ends_that_agree_send_new_data_with_ect_0() {
    client().writes(1000).sends("P. 1:1001 a1 ect0");
    let mut t = End::listen(with(EcnMode::Accept));
    t.gets("SEW 0 mss1000").sends("SE. 0 a1").gets(". 1 a1").is(State::Established);
    t.writes(1000).sends("P. 1:1001 a1 ect0");
}

#[test]
fn a_server_that_does_not_agree_gets_no_ect() {
    // No flag, a mirror of both flags (6.1.1.2), and CWR alone.
    for answer in ["S. 0 a1 mss1000", "SEW. 0 a1 mss1000", "SW. 0 a1 mss1000"] {
        let mut t = End::connect(with(EcnMode::Request));
        t.sends("SEW 0").gets(answer).sends(". 1 a1");
        t.writes(1000).sends("P. 1:1001 a1");
        t.gets(". 1:1001 a1001 ce").sends(". 1001 a1001");
    }
}

#[test]
fn a_syn_with_one_of_the_flags_does_not_request_ecn() {
    for syn in ["S 0 mss1000", "SE 0 mss1000", "SW 0 mss1000", "S 0 mss1000 ect0"] {
        let mut t = End::listen(with(EcnMode::Accept));
        t.gets(syn).sends("S. 0 a1").gets(". 1 a1").writes(1000).sends("P. 1:1001 a1");
    }
}

#[test]
fn an_end_without_ecn_neither_requests_nor_accepts_it() {
    End::connect(with(EcnMode::Off)).sends("S 0");
    End::connect(with(EcnMode::Accept)).sends("S 0");
    let mut t = End::listen(with(EcnMode::Off));
    t.gets("SEW 0 mss1000").sends("S. 0 a1").gets(". 1 a1").writes(1000).sends("P. 1:1001 a1");
    t.gets(". 1:1001 a1001 ce").sends(". 1001 a1001");
}

#[test]
fn a_syn_ack_with_ece_alone_means_nothing_to_an_end_that_did_not_request_ecn() {
    let mut t = End::connect(with(EcnMode::Accept));
    t.sends("S 0").gets("SE. 0 a1 mss1000").sends(". 1 a1");
    t.writes(1000).sends("P. 1:1001 a1").gets(". 1:1001 a1001 ce").sends(". 1001 a1001");
}

#[test]
fn a_retransmitted_syn_does_not_request_ecn() {
    // 6.1.1.1. The answer to the first SYN comes nevertheless: this end may not send ECT, because it has
    // sent a SYN without request, but it must process CE, because the server may send ECT.
    let mut t = End::connect(with(EcnMode::Request));
    t.sends("SEW 0").timer().sends("S 0").gets("SE. 0 a1 mss1000").sends(". 1 a1");
    t.writes(1000).sends("P. 1:1001 a1").gets(". 1:1001 a1001 ce").sends("E. 1001 a1001");
    let mut t = End::connect(with(EcnMode::Request));
    t.sends("SEW 0").timer().sends("S 0").gets("S. 0 a1 mss1000").sends(". 1 a1");
    t.writes(1000).sends("P. 1:1001 a1").gets(". 1:1001 a1001 ce").sends(". 1001 a1001");
}

#[test]
fn a_server_follows_a_repeated_syn_that_does_not_request_ecn() {
    let mut t = End::listen(with(EcnMode::Accept));
    t.gets("SEW 0 mss1000").sends("SE. 0 a1").gets("S 0 mss1000").sends("S. 0 a1");
    t.gets(". 1 a1").writes(1000).sends("P. 1:1001 a1");
    t.gets(". 1:1001 a1001 ce").sends(". 1001 a1001");
    // Nor does a later request count.
    let mut t = End::listen(with(EcnMode::Accept));
    t.gets("S 0 mss1000").sends("S. 0 a1").gets("SEW 0 mss1000").sends("S. 0 a1");
    t.gets(". 1 a1").writes(1000).sends("P. 1:1001 a1");
}

#[test]
fn a_retransmitted_syn_ack_keeps_its_answer() {
    let mut t = End::listen(with(EcnMode::Accept));
    t.gets("SEW 0 mss1000").sends("SE. 0 a1").timer().sends("SE. 0 a1");
    t.gets(". 1 a1").writes(1000).sends("P. 1:1001 a1 ect0");
}

#[test]
fn a_reset_in_answer_to_a_request_refuses_the_connection() {
    let mut t = End::connect(with(EcnMode::Request));
    t.sends("SEW 0").gets("R. 0 a1").sends("").failed(Error::Refused);
}

#[test]
fn ends_that_open_simultaneously_agree() {
    let mut t = End::connect(with(EcnMode::Request));
    t.sends("SEW 0").gets("SEW 0 mss1000").sends("SE. 0 a1").gets("SE. 0 a1 mss1000");
    t.sends("").is(State::Established).writes(1000).sends("P. 1:1001 a1 ect0");
    // This end has sent a SYN without request.
    let mut t = End::connect(with(EcnMode::Accept));
    t.sends("S 0").gets("SEW 0 mss1000").sends("S. 0 a1").gets("S. 0 a1 mss1000");
    t.sends("").is(State::Established).writes(1000).sends("P. 1:1001 a1");
}

#[test]
fn a_listener_drops_the_request_of_a_failed_attempt() {
    let mut t = End::listen(with(EcnMode::Accept));
    t.gets("SEW 0 mss1000").sends("SE. 0 a1").gets("R 1").is(State::Listen);
    t.gets("S 0 mss1000").sends("S. 0 a1").gets(". 1 a1").writes(1000).sends("P. 1:1001 a1");
}

// 6.1.3: the receiver.

#[test]
fn acknowledgements_carry_ece_from_ce_until_cwr() {
    let mut t = client();
    t.gets(". 1:1001 a1 ect0").sends(". 1 a1001");
    t.gets(". 1001:2001 a1 ce").sends("E. 1 a2001");
    t.gets(". 2001:3001 a1 ect0").sends("E. 1 a3001");
    t.writes(500).sends("PE. 1:501 a3001 ect0");
    t.gets("W. 3001:4001 a501 ect0").sends(". 501 a4001");
    t.gets(". 4001:5001 a501 ect0").sends(". 501 a5001");
    // A mark on the segment with CWR, or behind it, is a new one.
    t.gets("W. 5001:6001 a501 ce").sends("E. 501 a6001");
    t.gets("W. 6001:7001 a501 ect1").sends(". 501 a7001");
    t.gets(". 7001:8001 a501 ce").sends("E. 501 a8001");
}

#[test]
fn cwr_answers_the_marks_of_earlier_segments_in_any_order() {
    // The segment with CWR overtakes a marked one that was sent before the reduction.
    let mut t = client();
    t.gets(". 1:1001 a1 ce").sends("E. 1 a1001");
    t.gets("W. 2001:3001 a1 ect0").sends(". 1 a1001 sack2001-3001");
    t.gets(". 1001:2001 a1 ce").sends(". 1 a3001");
    // A segment that was marked after the reduction overtakes the one with CWR.
    t.gets(". 4001:5001 a1 ce").sends("E. 1 a3001 sack4001-5001");
    t.gets("W. 3001:4001 a1 ect0").sends("E. 1 a5001");
    t.gets("W. 5001:6001 a1 ect0").sends(". 1 a6001");
}

#[test]
fn a_mark_outside_the_window_or_without_data_does_not_count() {
    let mut t = client();
    t.gets(". 1:1001 a1 ect0").sends(". 1 a1001");
    // Old data (6.1.5), data beyond the window, and an acknowledgement.
    t.gets(". 1:1001 a1 ce").sends(". 1 a1001");
    t.gets(". 50001:51001 a1 ce").sends(". 1 a1001");
    t.gets(". 1001 a1 ce").sends("");
    t.gets(". 1001:2001 a1 ect0").sends(". 1 a2001");
}

#[test]
fn a_mark_on_a_probe_of_a_closed_window_counts() {
    // 6.1.6.
    let mut t = client();
    for n in 0..10 {
        t.gets(&format!(". {}:{} a1", n * 1000 + 1, n * 1000 + 1001));
        t.sends(&format!(". 1 a{}", n * 1000 + 1001));
    }
    t.gets(". 10001:10002 a1 ce").sends("E. 1 a10001 w0");
}

// 6.1.4 to 6.1.6: what is not ECN-capable.

#[test]
fn retransmissions_are_sent_without_ect() {
    let mut t = client();
    t.writes(2000).sends(". 1:1001 a1 ect0, P. 1001:2001 a1 ect0");
    t.timer().sends(". 1:1001 a1");
    t.gets(". 1 a1001").sends("P. 1001:2001 a1");
    t.gets(". 1 a2001").writes(1000).sends("PW. 2001:3001 a1 ect0");
}

#[test]
fn a_fin_and_a_window_probe_are_sent_without_ect() {
    let mut t = client();
    t.gets(". 1 a1 w0").writes(100).sends("").timer().sends(". 1:2 a1");
    let mut t = client();
    // A window too small for a segment: the probe fills it.
    t.gets(". 1:101 a1").sends(". 1 a101").gets(". 101:201 a1 w300").sends(". 1 a201");
    t.writes(1000).sends("").timer().sends(". 1:301 a201");
    let mut t = client();
    t.finishes().sends("F. 1 a1");
}

#[test]
fn cwr_waits_for_new_data_behind_a_window_probe() {
    let mut t = client();
    t.writes(1000).sends("P. 1:1001 a1 ect0").timer().sends("P. 1:1001 a1");
    t.gets(". 1 a1001 w0").writes(100).sends("").timer().sends(". 1001:1002 a1");
    t.gets(". 1 a1002").sends("PW. 1002:1101 a1 ect0");
}
