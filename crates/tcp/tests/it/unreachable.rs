//! ICMP messages about unreachable destinations: RFC 1122, section 4.2.3.9, and RFC 5927.

use crate::wire::{End, config, ms};
use unruffled_tcp::{Error, Event, Ignored, State, Unreachable};

/// RFC 5927, section 5.2: messages can be forged, so no established connection ends because of one.
#[test]
fn an_established_connection_continues_and_the_application_gets_a_report() {
    for what in [Unreachable::Host, Unreachable::Port] {
        let mut t = End::established(config());
        t.writes(100).sends("P. 1:101 a1").cannot_reach(what, 1).is(State::Established);
        assert!(t.events.contains(&Event::Unreachable { what }));
        assert_eq!(t.connection.unreachable(), Some(what));
        t.gets(". 1 a101").is(State::Established);
        assert_eq!(t.connection.unreachable(), None, "a segment of the peer has arrived");
    }
}

/// A hard error ends a connection attempt; RFC 1122: a soft one "MUST NOT".
#[test]
fn only_a_hard_error_ends_an_attempt() {
    let mut t = End::connect(config());
    t.sends("S 0").cannot_reach(Unreachable::Host, 0).is(State::SynSent);
    t.timer().sends("S 0").cannot_reach(Unreachable::Port, 0).failed(Error::Refused);
    let mut t = End::listen(config());
    t.gets("S 0").sends("S. 0 a1").cannot_reach(Unreachable::Port, 0).is(State::SynReceived);
}

/// RFC 5927, section 4.1: a packet that is not in flight was not rejected.
#[test]
fn a_message_about_a_packet_not_in_flight_is_ignored() {
    let mut t = End::established(config());
    t.cannot_reach(Unreachable::Host, 1).ignores(Ignored::StaleUnreachable);
    t.writes(100).sends("P. 1:101 a1");
    t.cannot_reach(Unreachable::Host, 101).ignores(Ignored::StaleUnreachable);
    t.cannot_reach(Unreachable::Host, 0).ignores(Ignored::StaleUnreachable);
    assert_eq!(t.connection.unreachable(), None);
    let mut t = End::connect(config());
    t.sends("S 0").cannot_reach(Unreachable::Port, 1).ignores(Ignored::StaleUnreachable);
    t.is(State::SynSent);
}

/// The error of a connection that is given up includes the reason.
#[test]
fn the_reason_is_given_when_the_peer_stays_silent() {
    let mut t = End::established(config().with(|c| c.timeouts.give_up = Some(ms(1500))));
    t.writes(100).sends("P. 1:101 a1").cannot_reach(Unreachable::Host, 1);
    t.timer().sends("P. 1:101 a1").timer().failed(Error::Unreachable);
    let mut t = End::connect(config().with(|c| c.timeouts.syn_retries = Some(0)));
    t.sends("S 0").cannot_reach(Unreachable::Host, 0).timer().failed(Error::Unreachable);
}
