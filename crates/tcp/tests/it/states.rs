//! State transitions: all of RFC 9293, figure 5, and those that the text adds.

use crate::wire::{End, OURS, THEIRS, config, ms, parse};
use unruffled_tcp::{Config, Error, Ignored, State, Unreachable, reset_for};

#[test]
fn a_passive_open_takes_three_segments() {
    let mut t = End::listen(config());
    t.is(State::Listen).no_timer();
    t.gets("S 0 w5000 mss900 sackok").sends("S. 0 a1 w10000 mss1000 sackok").is(State::SynReceived);
    t.at(10).gets(". 1 a1").sends("").is(State::Established).no_timer();
}

#[test]
fn an_active_open_takes_three_segments() {
    let mut t = End::connect(config());
    t.sends("S 0 w10000 mss1000 ws0 sackok").is(State::SynSent).timer_at(1000);
    t.at(10).gets("S. 0 a1").sends(". 1 a1").is(State::Established).no_timer();
}

/// Figure 7: both SYNs cross, and then both answers do.
#[test]
fn a_simultaneous_open_ends_by_either_answer() {
    let mut t = End::connect(config());
    t.sends("S 0").gets("S 0").sends("S. 0 a1").is(State::SynReceived);
    t.gets("S. 0 a1").sends("").is(State::Established);
    // It also ends if the peer has our SYN-ACK already.
    let mut t = End::connect(config());
    t.sends("S 0").gets("S 0").sends("S. 0 a1").gets(". 1 a1").is(State::Established);
}

/// A passive end has sent no SYN that a SYN-ACK could answer.
#[test]
fn a_syn_ack_does_not_complete_a_passive_open() {
    let mut t = End::listen(config());
    t.gets("S 0").sends("S. 0 a1").gets("S. 0 a1").sends("S. 0 a1").is(State::SynReceived);
    t.gets(". 1 a1").sends("").is(State::Established);
}

/// The peer's answer is lost: ours is repeated, and so is the peer's.
#[test]
fn a_simultaneous_open_survives_losses() {
    let mut t = End::connect(config());
    t.sends("S 0").gets("S 0").sends("S. 0 a1").timer_at(1000);
    t.timer().sends("S. 0 a1").is(State::SynReceived);
    t.gets("S 0").sends("S. 0 a1").gets("S. 0 a1").is(State::Established);
    // The peer repeats its answer, because it lacks our acknowledgement.
    t.gets("S. 0 a1").sends(". 1 a1").is(State::Established);
}

#[test]
fn a_syn_is_repeated_at_growing_intervals_and_given_up() {
    let mut t = End::connect(config().with(|c| c.timeouts.syn_retries = Some(3)));
    t.sends("S 0").timer_at(1000).timer().sends("S 0").timer_at(3000);
    t.timer().sends("S 0").timer_at(7000).timer().sends("S 0").timer_at(15_000);
    t.timer().sends("").failed(Error::TimedOut);
}

#[test]
fn a_syn_ack_is_given_up_as_well() {
    let mut t = End::listen(config().with(|c| c.timeouts.syn_retries = Some(1)));
    t.gets("S 0").sends("S. 0 a1").timer().sends("S. 0 a1").timer().failed(Error::TimedOut);
}

#[test]
fn only_a_reset_that_acknowledges_the_syn_refuses_an_attempt() {
    let mut t = End::connect(config());
    t.sends("S 0").gets("R 0").ignores(Ignored::Reset).is(State::SynSent);
    t.gets("R. 0 a7").ignores(Ignored::UnacceptableAck).is(State::SynSent);
    t.gets("R. 0 a1").sends("").failed(Error::Refused);
}

/// Section 3.5.1, figure 9: at the peer the connection is still established.
#[test]
fn a_half_open_connection_is_reset() {
    let mut t = End::connect(config());
    t.sends("S 0").gets(". 300 a100").ignores(Ignored::UnacceptableAck).sends("R 100");
    t.is(State::SynSent).timer().sends("S 0").gets("S. 0 a1").sends(". 1 a1");
}

#[test]
fn a_listener_answers_segments_that_are_not_syns() {
    let mut t = End::listen(config());
    t.gets("R 5").sends("").ignores(Ignored::NoConnection);
    t.gets(". 5 a70").sends("R 70").ignores(Ignored::UnacceptableAck);
    t.gets("S. 5 a70").sends("R 70");
    t.gets("F 5").sends("").ignores(Ignored::NoConnection);
    t.is(State::Listen);
}

/// Section 3.10.7.4, second and fourth check: the state of a failed passive attempt is dropped.
#[test]
fn a_listener_drops_the_state_of_a_failed_attempt() {
    let mut t = End::listen(config());
    t.gets("S 0 mss500 ws3").sends("S. 0 a1 mss1000 ws0 nots");
    t.gets("R 1").sends("").is(State::Listen).no_timer();
    t.gets("S 0 mss500").sends("S. 0 a1 nows").gets("S 7").sends("").is(State::Listen);
    t.gets("S 0 mss2000").sends("S. 0 a1").gets(". 1 a1 w10000").is(State::Established);
    t.writes(1000).sends("P. 1:1001 a1");
}

/// The driver's limit on memory holds for every peer.
#[test]
fn a_listener_keeps_its_buffer_after_a_failed_attempt() {
    let mut t = End::listen(Config { receive_buffer: 100_000, ..config() });
    t.connection.set_receive_buffer(20_000);
    t.gets("S 0 ws3").sends("S. 0 a1 w20000 ws1").gets("R 1").sends("").is(State::Listen);
    t.gets("S 0").sends("S. 0 a1 w20000 nows").gets("S 7").sends("").is(State::Listen);
    t.gets("S 0 ws3").sends("S. 0 a1 w20000 ws1").gets(". 1 a1").sends("").is(State::Established);
    assert_eq!(t.connection.receive_buffer(), 20_000);
}

/// The back-off towards one peer does not apply to the next.
#[test]
fn the_next_attempt_begins_with_the_first_timeout() {
    let mut t = End::listen(config().with(|c| c.timeouts.syn_retries = Some(1)));
    t.gets("S 0").sends("S. 0 a1").timer_at(1000).timer().sends("S. 0 a1").timer_at(3000);
    t.cannot_reach(Unreachable::Host, 0).gets("R 1").sends("").is(State::Listen).no_timer();
    t.gets("S 0").sends("S. 0 a1").timer_at(2000).timer().sends("S. 0 a1").timer_at(4000);
    t.timer().failed(Error::TimedOut);
}

/// RFC 7323, section 4.3: otherwise the client would take the second that it waited for a round
/// trip. A late SYN changes nothing.
#[test]
fn the_answer_to_a_repeated_syn_echoes_that_syn() {
    let mut t = End::listen(config().with(|c| {
        c.timestamps.offer = true;
        c.timestamps.paws = Some(ms(0));
    }));
    t.gets("S 0 ts100:0").sends("S. 0 a1 ts1000000:100");
    t.at(900).gets("S 0 ts1100:0").sends("S. 0 a1 ts1000900:1100");
    t.at(901).gets("S 0 ts100:0").sends("S. 0 a1 ts1000901:1100");
    t.at(910).gets(". 1 a1 ts1110:1000900").sends("").is(State::Established);
}

#[test]
fn an_active_attempt_is_refused_after_both_syns() {
    let mut t = End::connect(config());
    t.sends("S 0").gets("S 0").sends("S. 0 a1").gets("R 1").sends("").failed(Error::Refused);
}

#[test]
fn an_implausible_acknowledgement_of_the_syn_is_reset() {
    let mut t = End::listen(config());
    t.gets("S 0").sends("S. 0 a1").gets(". 1 a2").sends("R 2").ignores(Ignored::UnacceptableAck);
    t.is(State::SynReceived).gets(". 1 a1").is(State::Established);
}

/// Figure 12, the end that closes first.
#[test]
fn this_end_closes_first() {
    let mut t = End::established(config());
    t.finishes().sends("F. 1 a1").is(State::FinWait1);
    t.at(10).gets(". 1 a2").sends("").is(State::FinWait2).no_timer();
    t.at(20).gets("F. 1 a2").sends(". 2 a2").is(State::TimeWait).timer_at(240_020);
    t.timer().sends("").is(State::Closed).no_timer();
    assert_eq!(t.connection.error(), None);
}

/// Figure 12, the end that closes second.
#[test]
fn the_peer_closes_first() {
    let mut t = End::established(config());
    t.gets("F. 1 a1").sends(". 1 a2").is(State::CloseWait);
    assert!(t.connection.peer_finished());
    t.finishes().sends("F. 1 a2").is(State::LastAck);
    t.gets(". 2 a2").sends("").is(State::Closed).no_timer();
}

/// RFC 5681, section 4.2: a segment that fills a gap is acknowledged at once, even if only the FIN
/// is beyond the gap.
#[test]
fn a_segment_that_completes_the_stream_is_acknowledged_at_once() {
    let mut t = End::established(config().with(|c| c.delayed_ack = Some(ms(40))));
    t.gets("F. 201 a1").sends(". 1 a1");
    assert!(t.connection.has_hole());
    t.gets(". 1:101 a1").sends(". 1 a101");
    t.gets("P. 101:201 a1").sends(". 1 a202").is(State::CloseWait);
    assert!(!t.connection.has_hole());
}

/// Figure 13.
#[test]
fn both_close_at_the_same_time() {
    let mut t = End::established(config());
    t.finishes().sends("F. 1 a1").gets("F. 1 a1").sends(". 2 a2").is(State::Closing);
    t.at(5).gets(". 2 a2").sends("").is(State::TimeWait).timer_at(240_005);
}

/// The peer's FIN carries the acknowledgement of ours: FIN-WAIT-1 to TIME-WAIT.
#[test]
fn the_peers_fin_acknowledges_ours() {
    let mut t = End::established(config());
    t.finishes().sends("F. 1 a1").gets("F. 1 a2").sends(". 2 a2").is(State::TimeWait);
}

#[test]
fn a_half_closed_connection_receives_and_sends_data() {
    let mut t = End::established(config());
    t.finishes().sends("F. 1 a1").gets(". 1 a2").is(State::FinWait2);
    t.gets("P. 1:1001 a2").sends(". 2 a1001");
    assert_eq!(t.connection.readable(), 1000);
    let mut t = End::established(config());
    t.gets("F. 1 a1").sends(". 1 a2").writes(1500).sends(". 1:1001 a2, P. 1001:1501 a2");
    t.gets(". 2 a1501").finishes().sends("F. 1501 a2").is(State::LastAck);
}

/// The FIN has a number, so it is SACKed like text (RFC 2018, section 3; so does Linux).
#[test]
fn a_fin_out_of_order_is_sacked_and_waits() {
    let mut t = End::established(config());
    t.gets("F. 1001 a1").sends(". 1 a1 sack1001-1002").is(State::Established);
    t.gets(". 501:1001 a1").sends(". 1 a1 sack501-1002");
    t.gets(". 1:501 a1").sends(". 1 a1002").is(State::CloseWait);
    let mut t = End::established(config());
    t.gets("F. 501:1001 a1").sends(". 1 a1 sack501-1002");
    assert_eq!(t.connection.readable(), 0);
    t.gets(". 1:501 a1").sends(". 1 a1002").is(State::CloseWait);
    assert_eq!((t.connection.readable(), t.connection.received()), (1000, 1001));
}

/// A repeated FIN is reported too (RFC 2883).
#[test]
fn a_repeated_fin_is_reported_as_a_duplicate() {
    let mut t = End::established(config());
    t.gets("F. 1001 a1").sends(". 1 a1 sack1001-1002");
    t.gets("F. 1001 a1").sends(". 1 a1 sack1001-1002 sack1001-1002");
    t.gets(". 1:1001 a1").sends(". 1 a1002").is(State::CloseWait);
    t.gets("F. 1001 a1").sends(". 1 a1002 sack1001-1002");
    t.gets("F. 501:1001 a1").sends(". 1 a1002 sack501-1002");
}

/// Before the handshake is complete.
#[test]
fn finishing_early_takes_effect_after_the_handshake() {
    let mut t = End::connect(config());
    t.sends("S 0").writes(10).finishes().is(State::SynSent).gets("S. 0 a1");
    t.sends("P. 1:11 a1, F. 11 a1").is(State::FinWait1);
    let mut t = End::listen(config());
    t.gets("S 0").sends("S. 0 a1").finishes().is(State::SynReceived).gets(". 1 a1");
    t.sends("F. 1 a1").is(State::FinWait1);
}

/// "The only thing that can arrive in this state is a retransmission of the remote FIN. Acknowledge
/// it", even if its sequence number lies further on.
#[test]
fn time_wait_acknowledges_a_fin_at_any_plausible_place() {
    let mut t = End::established(config());
    t.finishes().sends("F. 1 a1").gets("F. 1 a2").sends(". 2 a2").is(State::TimeWait);
    t.at(1000).gets("F. 2 a2").sends(". 2 a2").is(State::TimeWait).timer_at(241_000);
    t.at(2000).gets("F. 2:102 a2").sends(". 2 a2").is(State::TimeWait).timer_at(242_000);
    t.at(3000).gets("F. 1 a2").sends(". 2 a2").is(State::TimeWait).timer_at(243_000);
    // Outside the window it is not the peer's FIN: an attacker must not keep the connection.
    t.at(4000).gets("F. 500000000 a77777777").sends(". 2 a2").timer_at(243_000);
}

/// RFC 7323, section 2.2: without the peer's offer no window is scaled, also before the handshake
/// is complete. Another peer's offer counts again.
#[test]
fn a_window_is_not_scaled_in_syn_received_unless_the_peer_offered_it() {
    let mut t = End::listen(Config { receive_buffer: 1 << 20, ..config() });
    t.gets("S 0").sends("S. 0 a1 w65535 nows");
    t.gets(". 70001 a1").sends(". 1 a1 w65535").is(State::SynReceived);
    t.gets("R 1").is(State::Listen);
    t.gets("S 0 ws2").sends("S. 0 a1 w65535 ws5");
    t.gets(". 2000001 a1").sends(". 1 a1 w32768").is(State::SynReceived);
}

/// Section 3.10.7.4, eighth check: TIME-WAIT answers a repeated FIN, and restarts.
#[test]
fn time_wait_answers_a_repeated_fin() {
    let mut t = End::established(Config { msl: ms(30_000), ..config() });
    t.finishes().sends("F. 1 a1").gets("F. 1:51 a2").sends(". 2 a52").timer_at(60_000);
    t.at(50_000).gets("F. 51 a2").sends(". 2 a52").timer_at(110_000);
    t.at(60_000).gets(". 1:51 a2").sends(". 2 a52 sack1-51").timer_at(110_000);
    t.at(70_000).gets("F. 1:51 a2").sends(". 2 a52").timer_at(130_000);
    t.timer().is(State::Closed);
    t.gets("F. 51 a2").sends("").ignores(Ignored::NoConnection);
}

/// RFC 6191 and section 3.6.1: SYNs that may replace a connection in TIME-WAIT.
#[test]
fn time_wait_gives_way_to_a_later_syn() {
    let mut t = End::established(config());
    let later = parse("S 5000", THEIRS, OURS);
    assert!(!t.connection.gives_way_to(&later));
    t.finishes().sends("F. 1 a1").gets("F. 1 a2").sends(". 2 a2");
    assert!(t.connection.gives_way_to(&later));
    assert!(!t.connection.gives_way_to(&parse("S 0", THEIRS, OURS)));
    assert!(!t.connection.gives_way_to(&parse(". 5000 a2", THEIRS, OURS)));
}

#[test]
fn aborting_resets_a_connection_whose_peer_would_wait() {
    let mut t = End::listen(config());
    t.aborts().sends("").failed(Error::Aborted);
    let mut t = End::connect(config());
    t.sends("S 0").aborts().sends("").failed(Error::Aborted);
    let mut t = End::listen(config());
    t.gets("S 0").sends("S. 0 a1").aborts().sends("R 1").failed(Error::Aborted);
    let mut t = End::established(config());
    t.writes(500).sends("P. 1:501 a1").aborts().sends("R 501").failed(Error::Aborted);
    let mut t = End::established(config());
    t.finishes().sends("F. 1 a1").aborts().sends("R 2").failed(Error::Aborted);
    let mut t = End::established(config());
    t.gets("F. 1 a1").sends(". 1 a2").aborts().sends("R 1").failed(Error::Aborted);
    // The FIN may be lost.
    let mut t = End::established(config());
    t.gets("F. 1 a1").sends(". 1 a2").finishes().sends("F. 1 a2").aborts().sends("R 2");
    t.failed(Error::Aborted);
    // In TIME-WAIT the peer needs no reset.
    let mut t = End::established(config());
    t.finishes().sends("F. 1 a1").gets("F. 1 a2").sends(". 2 a2").aborts().sends("");
    t.failed(Error::Aborted);
}

/// Returns an end that has read the peer's FIN and closed, with 4000 octets that do not fit the
/// window. By RFC 9293, section 3.10.4, it is in CLOSE-WAIT until they are sent.
fn closed_with_data_to_send() -> End {
    let mut t = End::connected(config(), "S. 0 a1 w1000 mss1000");
    t.gets("F. 1 a1 w1000").sends(". 1 a2").writes(5000).sends(". 1:1001 a2");
    t.finishes().sends("").gets(". 2 a1001 w0").sends("");
    t
}

#[test]
fn aborting_resets_while_data_is_unsent() {
    closed_with_data_to_send().aborts().sends("R 1001").failed(Error::Aborted);
}

#[test]
fn a_reset_is_a_failure_while_data_is_not_acknowledged() {
    closed_with_data_to_send().gets("R 2").sends("").failed(Error::Reset);
    // All of the text was sent.
    let mut t = End::established(config());
    t.gets("F. 1 a1").sends(". 1 a2");
    t.writes(500).sends("P. 1:501 a2").finishes().sends("F. 501 a2");
    t.gets("R 2").failed(Error::Reset);
}

#[test]
fn a_reset_ends_the_connection_in_every_state() {
    let mut t = End::established(config());
    t.writes(500).sends("P. 1:501 a1").gets("R 1").sends("").failed(Error::Reset);
    let mut t = End::established(config());
    t.finishes().sends("F. 1 a1").gets("R 1").failed(Error::Reset);
    let mut t = End::established(config());
    t.gets("F. 1 a1").sends(". 1 a2").gets("R 2").failed(Error::Reset);
    // After both have finished, a reset is no failure.
    let mut t = End::established(config());
    t.finishes().sends("F. 1 a1").gets("F. 1 a1").sends(". 2 a2").gets("R 2").is(State::Closed);
    assert_eq!(t.connection.error(), None);
}

#[test]
fn segments_after_the_end_are_for_the_driver_to_reset() {
    let mut t = End::established(config());
    t.aborts().sends("R 1").gets(". 1 a1").sends("").ignores(Ignored::NoConnection);
    let reset = reset_for(&parse(". 1 a1", THEIRS, OURS)).expect("a reset");
    assert_eq!((reset.seq, reset.flags.rst), (OURS.add(1), true));
    t.writes(100).finishes().aborts().sends("").reads(10).sends("");
}

/// Section 3.8.3: data sent gets no answer.
#[test]
fn silence_ends_the_connection_in_time() {
    let mut t = End::established(config().with(|c| c.timeouts.give_up = Some(ms(10_000))));
    t.no_timer().writes(100).sends("P. 1:101 a1");
    t.timer().sends("P. 1:101 a1").timer().sends("P. 1:101 a1").timer().sends("P. 1:101 a1");
    t.timer_at(10_000).timer().sends("").failed(Error::TimedOut);
}

#[test]
fn an_answer_in_time_keeps_the_connection() {
    let mut t = End::established(config().with(|c| c.timeouts.give_up = Some(ms(10_000))));
    t.writes(100).sends("P. 1:101 a1").timer().sends("P. 1:101 a1");
    t.at(2000).gets(". 1 a101").sends("").no_timer();
    t.at(60_000).writes(1).sends("P. 101:102 a1").at(60_100).gets(". 1 a102").no_timer();
}
