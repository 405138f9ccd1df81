//! A stack with one peer, as packet traces: what it answers, and what it keeps.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

use crate::server::{Server, segment, stamped};
use unruffled_stack::StackError;
use unruffled_stack::codec::{Checksums, Malformed};
use unruffled_tcp::{Connection, SeqNr, State};

/// RFC 9293, section 3.10.7.4: "If the connection was initiated with a passive OPEN, then return this
/// connection to the LISTEN state". In a stack it is the listener that is in LISTEN: the attempt must
/// not keep its place in the backlog.
#[test]
fn an_attempt_that_is_reset_leaves_the_backlog() {
    let mut server = Server::new();
    assert_eq!(server.gets("S", 100, SeqNr(0)).len(), 1);
    assert_eq!(server.gets("R", 101, SeqNr(0)), []);
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (0, 0));
    server.serves();
}

#[test]
fn so_does_one_that_another_syn_ends() {
    let mut server = Server::new();
    assert_eq!(server.gets("S", 100, SeqNr(0)).len(), 1);
    assert_eq!(server.gets("S", 101, SeqNr(0)), []);
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (0, 0));
    server.serves();
}

/// What comes for an attempt that has failed, before it is cleared away, makes no more room.
#[test]
fn an_attempt_leaves_the_backlog_once() {
    let mut server = Server::new();
    assert_eq!(server.gets("S", 100, SeqNr(0)).len(), 1);
    server.receives("R", 101, SeqNr(0));
    server.receives("R", 101, SeqNr(0));
    assert_eq!(server.says(), []);
    server.serves();
}

/// In FIN-WAIT-2 nothing is sent and no timer of the engine's runs. Whoever lets go of the connection
/// only then must not leave it there for ever.
#[test]
fn a_connection_released_in_fin_wait_2_waits_for_the_peer_a_minute_and_no_longer() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    server.stack.finish(id);
    assert_eq!(server.says(), [("F.".to_owned(), next, SeqNr(5001))]);
    assert_eq!(server.gets(".", 5001, next.add(1)), []);
    assert_eq!(server.stack.connection(id).map(Connection::state), Some(State::FinWait2));
    server.stack.release(id);
    server.says();
    server.silence(59);
    assert_eq!(server.stack.usage().connections, 1);
    server.silence(1);
    assert_eq!((server.stack.usage().connections, server.stack.poll_timeout()), (0, None));
}

/// RFC 9293, section 3.6.1: "if new data is received after CLOSE is called, its TCP implementation
/// SHOULD send a RST to show that data was lost". So it is when the peer's last text and its FIN come
/// in one segment.
#[test]
fn text_that_comes_with_the_fin_for_a_connection_that_was_released_resets_it() {
    for acknowledged in [true, false] {
        let mut server = Server::new();
        let (id, next) = server.serves();
        server.stack.release(id);
        assert_eq!(server.says(), [("F.".to_owned(), next, SeqNr(5001))]);
        let ack = if acknowledged { next.add(1) } else { next };
        if acknowledged {
            assert_eq!(server.gets(".", 5001, ack), []);
        }
        server.takes(&segment("F.", 5001, ack), b"too late");
        assert_eq!(server.says(), [("R".to_owned(), next.add(1), SeqNr(0))]);
        assert_eq!(server.stack.usage().connections, 0);
    }
}

#[test]
fn so_does_text_that_comes_behind_its_fin() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    server.stack.release(id);
    server.says();
    server.gets("F.", 5009, next.add(1));
    server.takes(&segment(".", 5001, next.add(1)), b"too late");
    assert_eq!(server.says(), [("R".to_owned(), next.add(1), SeqNr(0))]);
}

/// RFC 9293, section 3.10.5: in LAST-ACK an abort sends nothing. If our FIN has been lost, it must be
/// sent again all the same, or the peer waits for it for ever.
#[test]
fn what_is_left_unread_when_both_have_finished_does_not_keep_the_fin_from_the_peer() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    server.takes(&segment("F.", 5001, next), b"unread");
    assert_eq!(server.says(), [(".".to_owned(), next, SeqNr(5008))]);
    server.stack.finish(id);
    let fin = server.says();
    assert_eq!(fin, [("F.".to_owned(), next, SeqNr(5008))]);
    server.stack.release(id);
    assert_eq!(server.says(), []);
    assert_eq!(server.silence(3)[..1], fin);
    // The FIN of the peer's comes again, and has been heard.
    assert_eq!(server.gets("F.", 5007, next), [(".".to_owned(), next.add(1), SeqNr(5008))]);
    assert_eq!(server.gets(".", 5008, next.add(1)), []);
    assert_eq!(server.stack.usage().connections, 0);
}

/// A FIN counts though text that has been read before comes again with it.
#[test]
fn old_text_that_comes_with_the_fin_resets_nothing() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    server.takes(&segment(".", 5001, next), b"in time");
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(7)));
    server.stack.release(id);
    assert_eq!(server.says(), [("F.".to_owned(), next, SeqNr(5008))]);
    server.takes(&segment("F.", 5001, next.add(1)), b"in time");
    assert_eq!(server.says(), [(".".to_owned(), next.add(1), SeqNr(5009))]);
    assert_eq!(server.stack.usage().time_waits, 1);
}

/// Tasks are kept by their wakers: what has been let go must not keep them as long as an orphan lasts.
#[test]
fn who_waited_for_a_connection_that_is_released_is_forgotten() {
    struct Nothing;
    impl Wake for Nothing {
        fn wake(self: Arc<Self>) {}
    }
    let mut server = Server::new();
    let (id, _) = server.serves();
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

/// RFC 9293, section 3.10.7.2: what has neither SYN nor ACK is dropped by a listener. Where nobody
/// listens it is answered (section 3.10.7.1).
#[test]
fn a_listener_answers_no_segment_without_acknowledgement_but_a_syn() {
    let mut server = Server::new();
    assert_eq!(server.gets("F", 100, SeqNr(0)), []);
    assert_eq!(server.gets("", 100, SeqNr(0)), []);
    assert_eq!(server.gets(".", 100, SeqNr(7)), [("R".to_owned(), SeqNr(7), SeqNr(0))]);
    server.local.set_port(81);
    assert_eq!(server.gets("F", 100, SeqNr(0)), [("R.".to_owned(), SeqNr(0), SeqNr(101))]);
}

/// RFC 7323, section 7.1: a timestamp must not tell how long we have been up, nor one peer what it
/// tells another.
#[test]
fn the_timestamp_clock_starts_elsewhere_towards_each_peer() {
    let mut stamps = Vec::new();
    for key in [[1; 16], [2; 16]] {
        let mut server = Server::with(10, |config| config.key = key.into());
        for peer in ["10.0.0.1:1000", "10.0.0.1:1001", "10.0.0.3:1000"] {
            server.peer = peer.parse().expect("an address");
            server.takes(&stamped(segment("S", 5000, SeqNr(0)), 77, 0), &[]);
            stamps.extend(server.sends()[0].timestamps.map(|stamps| stamps.value));
        }
    }
    assert_eq!(stamps[0], stamps[1], "the same host: a later connection has later ones");
    stamps.sort_unstable();
    stamps.dedup();
    assert_eq!(stamps.len(), 4, "{stamps:?}");
    assert!(!stamps.contains(&1000), "the time since the start");
}

/// RFC 5927, section 5.2, and RFC 1122, section 4.2.3.9: "port unreachable" ends an attempt to connect
/// and no connection that stands.
#[test]
fn a_port_that_cannot_be_reached_refuses_who_connects_and_nobody_else() {
    let unreachable = |quoted: &[u8]| {
        let mut message = Vec::new();
        etherparse::PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .icmpv4_raw(3, 3, [0; 4])
            .write(&mut message, &quoted[..28])
            .expect("it fits");
        message
    };
    let mut server = Server::new();
    let id = server.stack.connect(server.peer, None, server.now).expect("a port");
    let mut syn = Vec::new();
    server.stack.poll_transmit(server.now, &mut syn).expect("a SYN");
    let _ = server.stack.receive(&unreachable(&syn), Checksums::Verify, server.now);
    let mut out = [0; 9];
    let read = server.stack.poll_read(id, Waker::noop(), &mut out);
    assert_eq!(read, Poll::Ready(Err(unruffled_tcp::Error::Refused.into())));

    let (id, next) = server.serves();
    let written = server.stack.poll_write(id, Waker::noop(), b"hello");
    assert_eq!(written, Poll::Ready(Ok(5)));
    let mut sent = Vec::new();
    server.stack.poll_transmit(server.now, &mut sent).expect("what was written");
    let _ = server.stack.receive(&unreachable(&sent), Checksums::Verify, server.now);
    let told = server.stack.connection(id).and_then(Connection::unreachable);
    assert_eq!(told, Some(unruffled_tcp::Unreachable::Port));
    assert_eq!(server.gets(".", 5001, next.add(5)), []);
    assert_eq!(server.stack.connection(id).map(Connection::state), Some(State::Established));
}

/// RFC 9293, section 3.10.3: in CLOSE-WAIT a reader is given what has arrived, and then told of the end.
/// That must not depend on how soon it reads.
#[test]
fn who_reads_after_a_reset_is_told_of_the_end_that_came_before_it() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    server.takes(&segment("F.", 5001, next), b"all");
    let read = |server: &mut Server| server.stack.poll_read(id, Waker::noop(), &mut [0; 9]);
    let write = |server: &mut Server| server.stack.poll_write(id, Waker::noop(), b"answer");
    assert_eq!(write(&mut server), Poll::Ready(Ok(6)));
    server.says();
    // Nobody is there any more to be answered.
    assert_eq!(server.gets("R", 5005, SeqNr(0)), []);
    assert_eq!([(); 3].map(|()| read(&mut server)), [3, 0, 0].map(|n| Poll::Ready(Ok(n))));
    let reset = unruffled_tcp::Error::Reset.into();
    assert_eq!(write(&mut server), Poll::Ready(Err(reset)));
}

/// Packets do not tell the scope of an address, nor is a flow label part of one: whoever names them
/// means the same host and port.
#[test]
fn an_address_with_a_scope_and_a_flow_label_is_the_same_address() {
    let with_scope = |port| SocketAddrV6::new("fe80::1".parse().expect("one"), port, 7, 3).into();
    let (ours, theirs): (IpAddr, IpAddr) =
        ("fe80::1".parse().expect("one"), "fe80::2".parse().expect("another"));
    let mut server = Server::with(1, |config| config.addresses.push(ours));
    let listener = server.stack.listen(with_scope(443), 1);
    server.listener = listener.expect("a free port");
    assert!(server.stack.listen(SocketAddr::new(ours, 443), 1).is_err());
    (server.local, server.peer) = (SocketAddr::new(ours, 443), SocketAddr::new(theirs, 1000));
    server.serves();

    let mut theirs = SocketAddrV6::new("fe80::2".parse().expect("one"), 80, 0, 3);
    theirs.set_flowinfo(9);
    let (local, now) = (with_scope(2000), server.now);
    let id = server.stack.connect(theirs.into(), Some(local), now).expect("a free port");
    let [(_, isn, _)] = server.says()[..] else { panic!("no SYN") };
    server.local.set_port(2000);
    server.peer.set_port(80);
    assert_eq!(server.gets("S.", 5000, isn.add(1)), [(".".to_owned(), isn.add(1), SeqNr(5001))]);
    assert_eq!(server.stack.connection(id).map(Connection::state), Some(State::Established));
}

#[test]
fn a_port_alone_is_enough_to_connect_from() {
    let mut server = Server::with(1, |config| config.addresses.push([10, 0, 0, 7].into()));
    let (remote, now) = (server.peer, server.now);
    let mut ends = |local: &str| {
        let id = server.stack.connect(remote, Some(local.parse().expect("an address")), now);
        id.map(|id| server.stack.ends(id).expect("is there").local)
    };
    assert_eq!(ends("0.0.0.0:2000"), Ok(([10, 0, 0, 2], 2000).into()));
    assert_eq!(ends("0.0.0.0:2000"), Err(StackError::InUse));
    assert_eq!(ends("10.0.0.7:2000"), Ok(([10, 0, 0, 7], 2000).into()));
    assert_eq!(ends("10.0.0.7:0").map(|end| end.ip()), Ok([10, 0, 0, 7].into()));
    assert_eq!(ends("0.0.0.0:0").map(|end| end.ip()), Ok([10, 0, 0, 2].into()));
    assert_eq!(ends("[::1]:2001"), Err(StackError::NoAddress));
}

/// The "land" attack: a SYN that claims to be from the very end that it is for. Where the path brings
/// the answers back, they must not go on for ever.
#[test]
fn a_stack_does_not_talk_to_itself_at_one_port() {
    let mut server = Server::new();
    server.peer = server.local;
    assert_eq!(server.gets("S", 5000, SeqNr(0)), []);
    assert_eq!(server.stack.usage().requests, 0);
    assert_eq!(server.stack.counters().malformed.get(Malformed::Address), 1);
    let (ours, now) = (server.local, server.now);
    assert_eq!(server.stack.connect(ours, Some(ours), now), Err(StackError::InUse));
}
