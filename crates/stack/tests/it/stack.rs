//! A stack with one peer, as packet traces: its answers and its state.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

use crate::server::{Server, segment, stamped};
use unruffled_stack::codec::{Checksums, Malformed};
use unruffled_stack::{Error, StackConfig, StackError, State, Variant};
use unruffled_tcp::{Connection, SeqNr};

/// QUIC stacks need packet numbers, and `rr-fa-rtx` needs to know which of two copies arrived.
#[test]
fn senders_for_simulation_only_are_refused() {
    for name in ["quiche", "rr-fa-rtx"] {
        let variant = Variant::named(name).unwrap();
        let error = StackConfig::new(vec![[10, 0, 0, 2].into()], variant).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        let expected = format!("{name}: for simulation only: expected another sender");
        assert_eq!(error.to_string(), expected);
    }
}

/// RFC 9293, section 3.10.7.4: "If the connection was initiated with a passive OPEN, then return
/// this connection to the LISTEN state". In a stack the listener is in LISTEN, so the attempt must
/// leave the backlog.
#[test]
fn an_attempt_that_is_reset_leaves_the_backlog() {
    let mut server = Server::new();
    assert_eq!(server.answers("S", 100, SeqNr(0)).len(), 1);
    assert_eq!(server.answers("R", 101, SeqNr(0)), []);
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (0, 0));
    server.accept();
}

#[test]
fn an_attempt_that_another_syn_ends_leaves_the_backlog() {
    let mut server = Server::new();
    assert_eq!(server.answers("S", 100, SeqNr(0)).len(), 1);
    assert_eq!(server.answers("S", 101, SeqNr(0)), []);
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (0, 0));
    server.accept();
}

/// A second reset, before the attempt is removed, makes no more room.
#[test]
fn an_attempt_leaves_the_backlog_once() {
    let mut server = Server::new();
    assert_eq!(server.answers("S", 100, SeqNr(0)).len(), 1);
    server.receive("R", 101, SeqNr(0));
    server.receive("R", 101, SeqNr(0));
    assert_eq!(server.sent(), []);
    server.accept();
}

/// In FIN-WAIT-2 nothing is sent, and the engine runs no timer. A connection that is released in
/// this state must still end.
#[test]
fn a_connection_released_in_fin_wait_2_waits_a_minute_for_its_peer() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    server.stack.finish(id);
    assert_eq!(server.sent(), [("F.".to_owned(), next, SeqNr(5001))]);
    assert_eq!(server.answers(".", 5001, next.add(1)), []);
    assert_eq!(server.stack.connection(id).map(Connection::state), Some(State::FinWait2));
    server.stack.release(id);
    server.sent();
    server.wait(59);
    assert_eq!(server.stack.usage().connections, 1);
    server.wait(1);
    assert_eq!((server.stack.usage().connections, server.stack.poll_timeout()), (0, None));
}

/// RFC 9293, section 3.6.1: "if new data is received after CLOSE is called, its TCP implementation
/// SHOULD send a RST to show that data was lost". This includes data in one segment with the peer's
/// FIN.
#[test]
fn data_with_the_fin_resets_a_released_connection() {
    for acknowledged in [true, false] {
        let mut server = Server::new();
        let (id, next) = server.accept();
        server.stack.release(id);
        assert_eq!(server.sent(), [("F.".to_owned(), next, SeqNr(5001))]);
        let ack = if acknowledged { next.add(1) } else { next };
        if acknowledged {
            assert_eq!(server.answers(".", 5001, ack), []);
        }
        server.receive_segment(&segment("F.", 5001, ack), b"too late");
        assert_eq!(server.sent(), [("R".to_owned(), next.add(1), SeqNr(0))]);
        assert_eq!(server.stack.usage().connections, 0);
    }
}

#[test]
fn data_that_arrives_after_a_later_fin_resets_a_released_connection() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    server.stack.release(id);
    server.sent();
    server.answers("F.", 5009, next.add(1));
    server.receive_segment(&segment(".", 5001, next.add(1)), b"too late");
    assert_eq!(server.sent(), [("R".to_owned(), next.add(1), SeqNr(0))]);
}

/// RFC 9293, section 3.10.5: in LAST-ACK an abort sends nothing. A lost FIN must be sent again,
/// since the peer waits for it.
#[test]
fn unread_data_does_not_suppress_the_fin_when_both_ends_have_finished() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    server.receive_segment(&segment("F.", 5001, next), b"unread");
    assert_eq!(server.sent(), [(".".to_owned(), next, SeqNr(5008))]);
    server.stack.finish(id);
    let fin = server.sent();
    assert_eq!(fin, [("F.".to_owned(), next, SeqNr(5008))]);
    server.stack.release(id);
    assert_eq!(server.sent(), []);
    assert_eq!(server.wait(3)[..1], fin);
    // The peer's FIN arrives again, and is acknowledged again.
    assert_eq!(server.answers("F.", 5007, next), [(".".to_owned(), next.add(1), SeqNr(5008))]);
    assert_eq!(server.answers(".", 5008, next.add(1)), []);
    assert_eq!(server.stack.usage().connections, 0);
}

/// A FIN counts if only data that has been read before arrives with it.
#[test]
fn old_data_with_the_fin_resets_nothing() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    server.receive_segment(&segment(".", 5001, next), b"in time");
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(7)));
    server.stack.release(id);
    assert_eq!(server.sent(), [("F.".to_owned(), next, SeqNr(5008))]);
    server.receive_segment(&segment("F.", 5001, next.add(1)), b"in time");
    assert_eq!(server.sent(), [(".".to_owned(), next.add(1), SeqNr(5009))]);
    assert_eq!(server.stack.usage().time_waits, 1);
}

/// A waker keeps its task alive. An orphan must not keep tasks for as long as it lasts.
#[test]
fn releasing_a_connection_drops_its_wakers() {
    struct Nothing;
    impl Wake for Nothing {
        fn wake(self: Arc<Self>) {}
    }
    let mut server = Server::new();
    let (id, _) = server.accept();
    let task = Arc::new(Nothing);
    let waker = Waker::from(task.clone());
    assert_eq!(server.stack.poll_read(id, &waker, &mut [0; 9]), Poll::Pending);
    drop(waker);
    server.stack.release(id);
    let mut wakers = Vec::new();
    server.stack.take_wakers(&mut wakers);
    assert_eq!((server.stack.usage().connections, wakers.len()), (1, 1));
    drop(wakers);
    assert_eq!(Arc::strong_count(&task), 1);
}

/// RFC 9293, section 3.10.7.2: a listener drops a segment with neither SYN nor ACK. A port without
/// a listener answers it (section 3.10.7.1).
#[test]
fn a_listener_answers_no_segment_without_ack_except_a_syn() {
    let mut server = Server::new();
    assert_eq!(server.answers("F", 100, SeqNr(0)), []);
    assert_eq!(server.answers("", 100, SeqNr(0)), []);
    assert_eq!(server.answers(".", 100, SeqNr(7)), [("R".to_owned(), SeqNr(7), SeqNr(0))]);
    server.local.set_port(81);
    assert_eq!(server.answers("F", 100, SeqNr(0)), [("R.".to_owned(), SeqNr(0), SeqNr(101))]);
}

/// RFC 7323, section 7.1: a timestamp must not reveal the uptime, nor to one peer what another peer
/// receives.
#[test]
fn the_timestamp_clock_has_a_different_start_for_each_peer() {
    let mut stamps = Vec::new();
    for key in [[1; 16], [2; 16]] {
        let mut server = Server::with(10, |config| config.key = key.into());
        for peer in ["10.0.0.1:1000", "10.0.0.1:1001", "10.0.0.3:1000"] {
            server.peer = peer.parse().expect("an address");
            server.receive_segment(&stamped(segment("S", 5000, SeqNr(0)), 77, 0), &[]);
            stamps.extend(server.sent_segments()[0].timestamps.map(|stamps| stamps.value));
        }
    }
    assert_eq!(stamps[0], stamps[1], "timestamps towards one host are comparable");
    stamps.sort_unstable();
    stamps.dedup();
    assert_eq!(stamps.len(), 4, "{stamps:?}");
    assert!(!stamps.contains(&1000), "the time since the start");
}

/// RFC 5927, section 5.2, and RFC 1122, section 4.2.3.9: "port unreachable" ends an attempt to
/// connect, but no established connection.
#[test]
fn port_unreachable_ends_an_attempt_but_no_established_connection() {
    let unreachable = |quoted: &[u8]| {
        let mut message = Vec::new();
        etherparse::PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .icmpv4_raw(3, 3, [0; 4])
            .write(&mut message, &quoted[..28])
            .expect("the packet fits");
        message
    };
    let mut server = Server::new();
    let id = server.stack.connect(server.peer, None, server.now).expect("a port");
    let mut syn = Vec::new();
    server.stack.poll_transmit(server.now, &mut syn).expect("a SYN");
    let _ = server.stack.receive(&unreachable(&syn), Checksums::Verify, server.now);
    let mut out = [0; 9];
    let read = server.stack.poll_read(id, Waker::noop(), &mut out);
    assert_eq!(read, Poll::Ready(Err(Error::Refused.into())));

    let (id, next) = server.accept();
    let written = server.stack.poll_write(id, Waker::noop(), b"hello");
    assert_eq!(written, Poll::Ready(Ok(5)));
    let mut sent = Vec::new();
    server.stack.poll_transmit(server.now, &mut sent).expect("the written data");
    let _ = server.stack.receive(&unreachable(&sent), Checksums::Verify, server.now);
    let report = server.stack.connection(id).and_then(Connection::unreachable);
    assert_eq!(report, Some(unruffled_tcp::Unreachable::Port));
    assert_eq!(server.answers(".", 5001, next.add(5)), []);
    assert_eq!(server.stack.connection(id).map(Connection::state), Some(State::Established));
}

/// RFC 9293, section 3.10.3: in CLOSE-WAIT a reader receives the data that has arrived, and then
/// the end. This must not depend on how soon it reads.
#[test]
fn a_reader_after_a_reset_still_receives_the_end_that_came_before() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    server.receive_segment(&segment("F.", 5001, next), b"all");
    let read = |server: &mut Server| server.stack.poll_read(id, Waker::noop(), &mut [0; 9]);
    let write = |server: &mut Server| server.stack.poll_write(id, Waker::noop(), b"answer");
    assert_eq!(write(&mut server), Poll::Ready(Ok(6)));
    server.sent();
    // The peer's end no longer exists.
    assert_eq!(server.answers("R", 5005, SeqNr(0)), []);
    assert_eq!([(); 3].map(|()| read(&mut server)), [3, 0, 0].map(|n| Poll::Ready(Ok(n))));
    let reset = Error::Reset.into();
    assert_eq!(write(&mut server), Poll::Ready(Err(reset)));
}

/// Packets carry no scope, and a flow label is no part of an address. Addresses that differ only in
/// these are of the same host and port.
#[test]
fn an_address_with_a_scope_and_a_flow_label_is_the_same_address() {
    let with_scope =
        |port| SocketAddrV6::new("fe80::1".parse().expect("an address"), port, 7, 3).into();
    let ours: IpAddr = "fe80::1".parse().expect("an address");
    let theirs: IpAddr = "fe80::2".parse().expect("an address");
    let mut server = Server::with(1, |config| config.addresses.push(ours));
    let listener = server.stack.listen(with_scope(443), 1);
    server.listener = listener.expect("a free port");
    assert!(server.stack.listen(SocketAddr::new(ours, 443), 1).is_err());
    server.local = SocketAddr::new(ours, 443);
    server.peer = SocketAddr::new(theirs, 1000);
    server.accept();

    let mut theirs = SocketAddrV6::new("fe80::2".parse().expect("an address"), 80, 0, 3);
    theirs.set_flowinfo(9);
    let (local, now) = (with_scope(2000), server.now);
    let id = server.stack.connect(theirs.into(), Some(local), now).expect("a free port");
    let [(_, isn, _)] = server.sent()[..] else { panic!("no SYN") };
    server.local.set_port(2000);
    server.peer.set_port(80);
    assert_eq!(server.answers("S.", 5000, isn.add(1)), [(".".to_owned(), isn.add(1), SeqNr(5001))]);
    assert_eq!(server.stack.connection(id).map(Connection::state), Some(State::Established));
}

#[test]
fn connect_accepts_a_local_port_without_an_address() {
    let mut server = Server::with(1, |config| config.addresses.push([10, 0, 0, 7].into()));
    let (remote, now) = (server.peer, server.now);
    let mut ends = |local: &str| {
        let id = server.stack.connect(remote, Some(local.parse().expect("an address")), now);
        id.map(|id| server.stack.ends(id).expect("a connection").local)
    };
    assert_eq!(ends("0.0.0.0:2000"), Ok(([10, 0, 0, 2], 2000).into()));
    assert_eq!(ends("0.0.0.0:2000"), Err(StackError::InUse));
    assert_eq!(ends("10.0.0.7:2000"), Ok(([10, 0, 0, 7], 2000).into()));
    assert_eq!(ends("10.0.0.7:0").map(|end| end.ip()), Ok([10, 0, 0, 7].into()));
    assert_eq!(ends("0.0.0.0:0").map(|end| end.ip()), Ok([10, 0, 0, 2].into()));
    assert_eq!(ends("[::1]:2001"), Err(StackError::NoAddress));
}

/// The "land" attack: a SYN whose source is its destination. Where the path returns the answers,
/// they must not continue without end.
#[test]
fn a_stack_does_not_connect_a_port_to_itself() {
    let mut server = Server::new();
    server.peer = server.local;
    assert_eq!(server.answers("S", 5000, SeqNr(0)), []);
    assert_eq!(server.stack.usage().requests, 0);
    assert_eq!(server.stack.counters().malformed.get(Malformed::Address), 1);
    let (ours, now) = (server.local, server.now);
    assert_eq!(server.stack.connect(ours, Some(ours), now), Err(StackError::InUse));
}
