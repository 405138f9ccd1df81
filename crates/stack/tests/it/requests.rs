//! Half-open connections: their table is bounded, and cookies take its place when it is full.

use std::task::{Poll, Waker};

use crate::server::{Server, Summary, segment, stamped};
use unruffled_stack::{Duration, State};
use unruffled_tcp::{Connection, Ecn, EcnMode, Segment, SeqNr};

/// Returns a SYN with all options.
fn syn(seq: u32) -> Segment {
    let syn = stamped(segment("S", seq, SeqNr(0)), 77, 0);
    Segment { mss: Some(1400), window_scale: Some(9), sack_permitted: true, ..syn }
}

/// Returns a server whose table of requests is full.
fn flooded() -> Server {
    let mut server = Server::with(4, |config| config.limits.requests = 3);
    let peer = server.peer;
    for port in 1..=3 {
        server.peer.set_port(port);
        assert_eq!(server.answers("S", 9, SeqNr(0)).len(), 1);
    }
    server.peer = peer;
    server
}

#[test]
fn a_flood_of_syns_makes_no_connection_and_leaves_the_backlog_free() {
    let mut server = Server::with(1, |config| config.limits.requests = 100);
    for port in 2000..3000 {
        server.peer.set_port(port);
        assert_eq!(server.answers("S", 9, SeqNr(0)).len(), 1);
    }
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (0, 100));
    assert_eq!(server.stack.counters().cookies_sent, 900);
    server.peer.set_port(1000);
    server.accept();
}

/// Opens a connection by SYNs with these ECN fields; returns the fields of the answers, and whether the
/// connection uses ECN. The server has `requests` places for half-open connections.
fn opened(mode: EcnMode, requests: usize, syns: &[Ecn]) -> (Vec<Ecn>, bool) {
    let mut server = Server::with(1, |config| {
        config.limits.requests = requests;
        config.connection.ecn = mode;
    });
    let mut answers = Vec::new();
    let mut last = Segment::default();
    for &ecn in syns {
        server.receive_segment(&Segment { ecn, ..syn(8) }, &[]);
        last = server.sent_segments().remove(0);
        answers.push(last.ecn);
    }
    let echo = last.timestamps.expect("offered").value;
    let ack = stamped(segment(".", 9, last.seq.add(1)), 78, echo);
    server.receive_segment(&ack, &[]);
    let id = match server.stack.poll_accept(server.listener, Waker::noop()) {
        Poll::Ready(Ok(id)) => id,
        other => panic!("{other:?}"),
    };
    (answers, server.stack.info(id).expect("is open").congestion.ecn)
}

#[test]
fn ecn_is_used_if_each_syn_requests_it() {
    let request = Ecn::ECE | Ecn::CWR;
    // With a place in the table, and by a cookie.
    for requests in [1, 0] {
        let open = |mode, syns: &[Ecn]| opened(mode, requests, syns);
        assert_eq!(open(EcnMode::Accept, &[request]), (vec![Ecn::ECE], true));
        assert_eq!(open(EcnMode::Request, &[request]), (vec![Ecn::ECE], true));
        assert_eq!(open(EcnMode::Off, &[request]), (vec![Ecn::NONE], false));
        assert_eq!(open(EcnMode::Accept, &[Ecn::ECE]), (vec![Ecn::NONE], false));
        let answers = vec![Ecn::ECE, Ecn::NONE];
        assert_eq!(open(EcnMode::Accept, &[request, Ecn::NONE]), (answers, false));
    }
    let answers = vec![Ecn::NONE, Ecn::NONE];
    assert_eq!(opened(EcnMode::Accept, 1, &[Ecn::NONE, request]), (answers, false));
}

#[test]
fn a_syn_ack_is_sent_six_times_in_all() {
    let mut server = Server::new();
    assert_eq!(server.answers("S", 9, SeqNr(0)).len(), 1);
    let again = server.wait(62);
    assert_eq!(again.len(), 5, "{again:?}");
    assert!(again.iter().all(|sent| sent.0 == "S." && *sent == again[0]));
    server.wait(1);
    assert_eq!((server.stack.usage().requests, server.stack.poll_timeout()), (0, None));
    assert_eq!(server.stack.counters().requests_given_up, 1);
}

#[test]
fn a_repeated_syn_is_answered_with_the_same_number() {
    let mut server = Server::new();
    let first = server.answers("S", 5000, SeqNr(0));
    server.now += Duration::from_millis(500);
    assert_eq!(server.answers("S", 5000, SeqNr(0)), first);
    assert_eq!(server.stack.usage().requests, 1);
}

/// RFC 7323, section 4.3: a client must not measure a longer round trip than that of its last SYN.
#[test]
fn a_repeated_syn_is_answered_with_the_echo_of_its_own_timestamp() {
    let mut server = Server::new();
    let mut echo = |value| {
        server.receive_segment(&stamped(segment("S", 5000, SeqNr(0)), value, 0), &[]);
        server.now += Duration::from_millis(300);
        server.sent_segments()[0].timestamps.map(|timestamps| timestamps.echo)
    };
    assert_eq!([u32::MAX, 999, u32::MAX, 999].map(&mut echo), [u32::MAX, 999, 999, 999].map(Some));
}

/// RFC 7323, sections 2.2 and 3.2, and RFC 2018, section 2: an option may be in the answer only if
/// it was in the SYN. BSD retransmits a SYN without options, in case a host does not answer SYNs
/// with them.
#[test]
fn options_that_a_repeated_syn_lacks_are_not_negotiated() {
    let mut server = Server::new();
    server.receive_segment(&syn(5000), &[]);
    let first = server.sent_segments()[0];
    assert!(first.timestamps.is_some() && first.window_scale.is_some() && first.sack_permitted);
    server.receive_segment(&segment("S", 5000, SeqNr(0)), &[]);
    let plain = server.sent_segments()[0];
    assert_eq!((plain.timestamps, plain.window_scale), (None, None));
    assert!(!plain.sack_permitted);
    // The first SYN arrives late; the peer has given its options up.
    server.receive_segment(&syn(5000), &[]);
    assert_eq!(server.sent_segments(), [plain]);
    server.receive_segment(&segment(".", 5001, plain.seq.add(1)), b"hello");
    let accepted = server.stack.poll_accept(server.listener, Waker::noop());
    let Poll::Ready(Ok(id)) = accepted else { panic!("{accepted:?}") };
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(5)));
    assert_eq!(server.stack.info(id).map(|info| info.windows.send), Ok(1000));
}

/// RFC 9293, section 3.10.7.4: a segment that is unacceptable in SYN-RECEIVED is answered and
/// changes nothing.
#[test]
fn an_unacceptable_segment_does_not_change_a_request() {
    let mut server = Server::new();
    let syn_ack = server.answers("S", 5000, SeqNr(0));
    let next = syn_ack[0].1.add(1);
    let refused: Summary = ("R".to_owned(), next.add(9), SeqNr(0));
    assert_eq!(server.answers(".", 5001, next.add(9)), [refused]);
    let challenge: Summary = (".".to_owned(), next, SeqNr(5001));
    assert_eq!(server.answers("R", 5002, SeqNr(0)), [challenge], "not the exact number");
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (0, 1));
    assert_eq!(server.answers(".", 5001, next), []);
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (1, 0));
}

#[test]
fn data_in_the_last_segment_of_a_handshake_is_read() {
    let mut server = Server::new();
    server.receive_segment(&syn(5000), &[]);
    let answer = server.sent_segments()[0];
    assert_eq!((answer.window_scale, answer.sack_permitted), (Some(7), true));
    let stamp = answer.timestamps.map_or(0, |timestamps| timestamps.value);
    server.receive_segment(&stamped(segment(".", 5001, answer.seq.add(1)), 78, stamp), b"hello");
    let Poll::Ready(Ok(id)) = server.stack.poll_accept(server.listener, Waker::noop()) else {
        panic!("no connection")
    };
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(5)));
    assert_eq!(server.stack.connection(id).map(Connection::max_payload), Some(1388));
}

/// While the backlog is full, the handshake does not end, and nothing is lost.
#[test]
fn a_handshake_ends_once_the_backlog_has_room() {
    let mut server = Server::new();
    let first = server.answers("S", 5000, SeqNr(0))[0].1;
    server.peer.set_port(1001);
    server.handshake();
    server.peer.set_port(1000);
    assert_eq!(server.answers(".", 5001, first.add(1)), []);
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (1, 1));
    assert_eq!(server.stack.counters().overflowed, 1);
    assert!(server.stack.poll_accept(server.listener, Waker::noop()).is_ready());
    let again = server.wait(1);
    assert_eq!(again[0].1, first, "the SYN-ACK is sent again");
    assert_eq!(server.answers(".", 5001, first.add(1)), []);
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (2, 0));
}

#[test]
fn a_cookie_restores_all_options_of_the_syn() {
    let mut server = flooded();
    server.receive_segment(&syn(5000), &[]);
    let answer = server.sent_segments()[0];
    assert_eq!((answer.window_scale, answer.sack_permitted), (Some(7), true));
    assert_eq!((server.stack.usage().requests, server.stack.counters().cookies_sent), (3, 1));
    let stamp = answer.timestamps.map_or(0, |timestamps| timestamps.value);
    server.now += Duration::from_millis(30);
    let mut ack = stamped(segment(".", 5001, answer.seq.add(1)), 78, stamp);
    ack.window = 200;
    server.receive_segment(&ack, b"hello");
    let Poll::Ready(Ok(id)) = server.stack.poll_accept(server.listener, Waker::noop()) else {
        panic!("no connection")
    };
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(5)));
    let connection = server.stack.connection(id).expect("a connection");
    assert_eq!((connection.state(), connection.srtt()), (State::Established, None));
    assert_eq!(connection.max_payload(), 1300 - 12, "the next smaller size of the table");
    assert_eq!(server.stack.counters().cookies_accepted, 1);
    // The peer's window is scaled to 200 << 9 octets. The initial congestion window allows ten
    // segments.
    assert!(server.stack.poll_write(id, Waker::noop(), &[0; 50_000]).is_ready());
    let sent: u32 = server.sent_segments().iter().map(|segment| segment.len).sum();
    assert_eq!(sent, 10 * 1288);
}

/// The SYN arrives again when there is room for a request, and then the acknowledgement of the
/// cookie.
#[test]
fn a_cookie_is_accepted_though_the_syn_was_repeated() {
    let mut server = flooded();
    let peer = server.peer;
    let cookie = server.answers("S", 5000, SeqNr(0))[0].1;
    assert_eq!(server.stack.counters().cookies_sent, 1);
    server.peer.set_port(1);
    server.answers("R", 10, SeqNr(0));
    server.peer = peer;
    server.now += Duration::from_millis(1000);
    let again = server.answers("S", 5000, SeqNr(0))[0].1;
    assert_ne!(again, cookie);
    let requests = server.stack.usage().requests;
    assert_eq!(server.answers(".", 5001, cookie.add(1)), []);
    assert_eq!(
        (server.stack.usage().connections, server.stack.usage().requests),
        (1, requests - 1)
    );
    assert_eq!(server.stack.counters().cookies_accepted, 1);
}

#[test]
fn without_timestamps_a_cookie_offers_neither_scale_nor_sack() {
    let mut server = flooded();
    server.receive_segment(&Segment { timestamps: None, ..syn(5000) }, &[]);
    let answer = server.sent_segments()[0];
    assert_eq!((answer.window_scale, answer.sack_permitted), (None, false));
    assert_eq!(server.answers(".", 5001, answer.seq.add(1)), []);
    assert_eq!(server.stack.counters().cookies_accepted, 1);
}

#[test]
fn an_acknowledgement_of_no_cookie_is_refused() {
    let mut server = flooded();
    server.receive_segment(&syn(5000), &[]);
    let answer = server.sent_segments()[0];
    let wrong = answer.seq.add(100);
    let refused: Summary = ("R".to_owned(), wrong, SeqNr(0));
    assert_eq!(server.answers(".", 5001, wrong), [refused]);
    server.now += Duration::from_secs(200);
    server.answers("S", 1, SeqNr(0));
    let late = answer.seq.add(1);
    assert_eq!(server.answers(".", 5001, late), [("R".to_owned(), late, SeqNr(0))], "too late");
    assert_eq!(
        (server.stack.counters().cookies_accepted, server.stack.usage().connections),
        (0, 0)
    );
}

#[test]
fn closing_a_listener_removes_its_requests() {
    let mut server = Server::new();
    let isn = server.answers("S", 5000, SeqNr(0))[0].1;
    server.stack.close_listener(server.listener);
    assert_eq!((server.stack.usage().requests, server.stack.usage().octets), (0, 0));
    assert_eq!(server.answers(".", 5001, isn.add(1))[0].0, "R");
}
