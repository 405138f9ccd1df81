//! Half-open connections: bounded, compact, and replaced by cookies when there are too many.

use std::task::{Poll, Waker};

use crate::server::{Said, Server, segment, stamped};
use unruffled_tcp::{Connection, Segment, SeqNr, State};
use unruffled_units::Duration;

/// A SYN with all options.
fn syn(seq: u32) -> Segment {
    let syn = stamped(segment("S", seq, SeqNr(0)), 77, 0);
    Segment { mss: Some(1400), window_scale: Some(9), sack_permitted: true, ..syn }
}

/// A server whose table of requests is full.
fn flooded() -> Server {
    let mut server = Server::with(4, |config| config.limits.requests = 3);
    let good = server.peer;
    for port in 1..=3 {
        server.peer.set_port(port);
        assert_eq!(server.gets("S", 9, SeqNr(0)).len(), 1);
    }
    server.peer = good;
    server
}

#[test]
fn a_flood_keeps_no_connection_and_the_backlog_is_for_those_who_are_through() {
    let mut server = Server::with(1, |config| config.limits.requests = 100);
    for port in 2000..3000 {
        server.peer.set_port(port);
        assert_eq!(server.gets("S", 9, SeqNr(0)).len(), 1);
    }
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (0, 100));
    assert_eq!(server.stack.counters().cookies_sent, 900);
    server.peer.set_port(1000);
    server.serves();
}

#[test]
fn a_syn_ack_is_sent_six_times_in_all() {
    let mut server = Server::new();
    assert_eq!(server.gets("S", 9, SeqNr(0)).len(), 1);
    let again = server.silence(62);
    assert_eq!(again.len(), 5, "{again:?}");
    assert!(again.iter().all(|said| said.0 == "S." && *said == again[0]));
    server.silence(1);
    assert_eq!((server.stack.usage().requests, server.stack.poll_timeout()), (0, None));
    assert_eq!(server.stack.counters().requests_given_up, 1);
}

#[test]
fn a_syn_that_comes_again_is_answered_again_with_the_same_number() {
    let mut server = Server::new();
    let first = server.gets("S", 5000, SeqNr(0));
    server.now += Duration::from_millis(500);
    assert_eq!(server.gets("S", 5000, SeqNr(0)), first);
    assert_eq!(server.stack.usage().requests, 1);
}

/// RFC 7323, section 4.3: what a client takes for the round trip is no longer than that to its last SYN.
#[test]
fn a_syn_that_comes_again_is_answered_with_the_echo_of_its_own_timestamp() {
    let mut server = Server::new();
    let mut echo = |value| {
        server.takes(&stamped(segment("S", 5000, SeqNr(0)), value, 0), &[]);
        server.now += Duration::from_millis(300);
        server.sends()[0].timestamps.map(|timestamps| timestamps.echo)
    };
    assert_eq!([u32::MAX, 999, u32::MAX, 999].map(&mut echo), [u32::MAX, 999, 999, 999].map(Some));
}

/// RFC 7323, sections 2.2 and 3.2, and RFC 2018, section 2: an option may be in the answer only if it
/// was in the SYN. BSD's retransmissions leave options out, in case they are what is not answered.
#[test]
fn options_that_a_syn_that_comes_again_lacks_are_not_agreed_on() {
    let mut server = Server::new();
    server.takes(&syn(5000), &[]);
    let first = server.sends()[0];
    assert!(first.timestamps.is_some() && first.window_scale.is_some() && first.sack_permitted);
    server.takes(&segment("S", 5000, SeqNr(0)), &[]);
    let plain = server.sends()[0];
    assert_eq!((plain.timestamps, plain.window_scale), (None, None));
    assert!(!plain.sack_permitted);
    // The first one comes late: the peer has given its options up.
    server.takes(&syn(5000), &[]);
    assert_eq!(server.sends(), [plain]);
    server.takes(&segment(".", 5001, plain.seq.add(1)), b"hello");
    let accepted = server.stack.poll_accept(server.listener, Waker::noop());
    let Poll::Ready(Ok(id)) = accepted else { panic!("{accepted:?}") };
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(5)));
    assert_eq!(server.stack.info(id).map(|info| info.windows.send), Ok(1000));
}

/// RFC 9293, section 3.10.7.4: what does not belong into SYN-RECEIVED is answered and changes nothing.
#[test]
fn what_does_not_end_the_handshake_leaves_the_request_as_it_is() {
    let mut server = Server::new();
    let syn_ack = server.gets("S", 5000, SeqNr(0));
    let next = syn_ack[0].1.add(1);
    let refused: Said = ("R".to_owned(), next.add(9), SeqNr(0));
    assert_eq!(server.gets(".", 5001, next.add(9)), [refused]);
    let challenge: Said = (".".to_owned(), next, SeqNr(5001));
    assert_eq!(server.gets("R", 5002, SeqNr(0)), [challenge], "not the exact number");
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (0, 1));
    assert_eq!(server.gets(".", 5001, next), []);
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (1, 0));
}

#[test]
fn text_that_comes_with_the_last_acknowledgement_is_read() {
    let mut server = Server::new();
    server.takes(&syn(5000), &[]);
    let answer = server.sends()[0];
    assert_eq!((answer.window_scale, answer.sack_permitted), (Some(7), true));
    let stamp = answer.timestamps.map_or(0, |timestamps| timestamps.value);
    server.takes(&stamped(segment(".", 5001, answer.seq.add(1)), 78, stamp), b"hello");
    let Poll::Ready(Ok(id)) = server.stack.poll_accept(server.listener, Waker::noop()) else {
        panic!("nobody came")
    };
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(5)));
    assert_eq!(server.stack.connection(id).map(Connection::max_payload), Some(1388));
}

/// While too many wait to be accepted, a handshake does not end, and nothing is lost.
#[test]
fn whoever_finds_the_backlog_full_comes_in_when_there_is_room() {
    let mut server = Server::new();
    let first = server.gets("S", 5000, SeqNr(0))[0].1;
    server.peer.set_port(1001);
    server.shakes_hands();
    server.peer.set_port(1000);
    assert_eq!(server.gets(".", 5001, first.add(1)), []);
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (1, 1));
    assert_eq!(server.stack.counters().overflowed, 1);
    assert!(server.stack.poll_accept(server.listener, Waker::noop()).is_ready());
    let again = server.silence(1);
    assert_eq!(again[0].1, first, "the SYN-ACK asks again");
    assert_eq!(server.gets(".", 5001, first.add(1)), []);
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (2, 0));
}

#[test]
fn a_cookie_brings_back_all_that_was_offered() {
    let mut server = flooded();
    server.takes(&syn(5000), &[]);
    let answer = server.sends()[0];
    assert_eq!((answer.window_scale, answer.sack_permitted), (Some(7), true));
    assert_eq!((server.stack.usage().requests, server.stack.counters().cookies_sent), (3, 1));
    let stamp = answer.timestamps.map_or(0, |timestamps| timestamps.value);
    server.now += Duration::from_millis(30);
    let mut ack = stamped(segment(".", 5001, answer.seq.add(1)), 78, stamp);
    ack.window = 200;
    server.takes(&ack, b"hello");
    let Poll::Ready(Ok(id)) = server.stack.poll_accept(server.listener, Waker::noop()) else {
        panic!("nobody came")
    };
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(5)));
    let connection = server.stack.connection(id).expect("a connection");
    assert_eq!((connection.state(), connection.srtt()), (State::Established, None));
    assert_eq!(connection.max_payload(), 1300 - 12, "the next smaller size of the table");
    assert_eq!(server.stack.counters().cookies_accepted, 1);
    // The window counts with its scale: 200 << 9 octets, of which the first window takes ten segments.
    assert!(server.stack.poll_write(id, Waker::noop(), &[0; 50_000]).is_ready());
    let sent: u32 = server.sends().iter().map(|segment| segment.len).sum();
    assert_eq!(sent, 10 * 1288);
}

/// The SYN comes again when there is room for a request, and only then the answer to the first.
#[test]
fn a_cookie_is_good_though_the_syn_came_again() {
    let mut server = flooded();
    let peer = server.peer;
    let cookie = server.gets("S", 5000, SeqNr(0))[0].1;
    assert_eq!(server.stack.counters().cookies_sent, 1);
    server.peer.set_port(1);
    server.gets("R", 10, SeqNr(0));
    server.peer = peer;
    server.now += Duration::from_millis(1000);
    let again = server.gets("S", 5000, SeqNr(0))[0].1;
    assert_ne!(again, cookie);
    let requests = server.stack.usage().requests;
    assert_eq!(server.gets(".", 5001, cookie.add(1)), []);
    assert_eq!(
        (server.stack.usage().connections, server.stack.usage().requests),
        (1, requests - 1)
    );
    assert_eq!(server.stack.counters().cookies_accepted, 1);
}

#[test]
fn without_timestamps_a_cookie_offers_neither_scale_nor_sack() {
    let mut server = flooded();
    server.takes(&Segment { timestamps: None, ..syn(5000) }, &[]);
    let answer = server.sends()[0];
    assert_eq!((answer.window_scale, answer.sack_permitted), (None, false));
    assert_eq!(server.gets(".", 5001, answer.seq.add(1)), []);
    assert_eq!(server.stack.counters().cookies_accepted, 1);
}

#[test]
fn an_acknowledgement_of_no_cookie_is_refused() {
    let mut server = flooded();
    server.takes(&syn(5000), &[]);
    let answer = server.sends()[0];
    let wrong = answer.seq.add(100);
    let refused: Said = ("R".to_owned(), wrong, SeqNr(0));
    assert_eq!(server.gets(".", 5001, wrong), [refused]);
    server.now += Duration::from_secs(200);
    server.gets("S", 1, SeqNr(0));
    let late = answer.seq.add(1);
    assert_eq!(server.gets(".", 5001, late), [("R".to_owned(), late, SeqNr(0))], "too late");
    assert_eq!(
        (server.stack.counters().cookies_accepted, server.stack.usage().connections),
        (0, 0)
    );
}

#[test]
fn requests_go_with_their_listener() {
    let mut server = Server::new();
    let isn = server.gets("S", 5000, SeqNr(0))[0].1;
    server.stack.close_listener(server.listener);
    assert_eq!((server.stack.usage().requests, server.stack.usage().octets), (0, 0));
    assert_eq!(server.gets(".", 5001, isn.add(1))[0].0, "R");
}
