//! What a stack refuses, keeps and gives back, and what it counts of that.

use std::task::{Poll, Waker};

use crate::server::{Server, segment, stamped};
use unruffled_stack::{ConnectionId, StackError};
use unruffled_tcp::{Connection, Segment, SeqNr, State, Variant};
use unruffled_units::Duration;

impl Server {
    /// The peer's port from now on.
    fn from(&mut self, port: u16) -> &mut Self {
        self.peer.set_port(port);
        self
    }

    fn writes(&mut self, id: ConnectionId, octets: usize) -> usize {
        let data = vec![0; octets];
        let mut written = 0;
        while let Poll::Ready(n) = self.stack.poll_write(id, Waker::noop(), &data[written..]) {
            written += n.expect("an open connection");
            if written == octets {
                break;
            }
        }
        written
    }
}

#[test]
fn connections_beyond_the_limit_are_refused_to_either_side() {
    let mut server = Server::with(10, |config| config.limits.connections = 2);
    server.from(1).shakes_hands();
    server.from(2).shakes_hands();
    assert_eq!(server.from(3).gets("S", 9, SeqNr(0)), []);
    let remote = "10.0.0.1:80".parse().expect("an address");
    assert_eq!(server.stack.connect(remote, None, server.now), Err(StackError::NoRoom));
    assert_eq!(server.stack.counters().connections_refused, 2);
}

/// Found by the fuzzer: an answer to a SYN-ACK that is a SYN-ACK itself went past the limits.
#[test]
fn a_syn_ack_in_answer_to_a_syn_ack_opens_nothing() {
    let mut server = Server::with(10, |config| config.limits.connections = 2);
    server.from(1).shakes_hands();
    server.from(3);
    let syn_ack = server.gets("S", 5000, SeqNr(0));
    let [(_, isn, _)] = syn_ack.as_slice() else { panic!("{syn_ack:?}") };
    assert_eq!(server.gets("S.", 5000, isn.add(1)), syn_ack, "as to a SYN that comes again");
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (1, 1));
    server.from(2).shakes_hands();
    server.from(3);
    for letters in ["S.", ".", "F."] {
        let seq = if letters == "S." { 5000 } else { 5001 };
        server.gets(letters, seq, isn.add(1));
        assert_eq!(
            (server.stack.usage().connections, server.stack.usage().requests),
            (2, 1),
            "{letters}"
        );
    }
    assert_eq!(server.stack.counters().connections_refused, 3);
}

/// RFC 9293, MUST-46: a call for an address that is no host's is an error.
#[test]
fn nobody_is_called_where_nobody_can_be() {
    let mut server = Server::new();
    for nobody in ["224.0.0.1:80", "255.255.255.255:80", "0.0.0.0:80", "10.0.0.1:0"] {
        let remote = nobody.parse().expect("an address");
        let called = server.stack.connect(remote, None, server.now);
        assert_eq!(called, Err(StackError::NoHost), "{nobody}");
    }
    assert_eq!(server.stack.usage().connections, 0);
}

#[test]
fn buffers_are_there_while_they_are_used_and_given_back_afterwards() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    let empty = server.stack.usage().octets;
    server.takes(&segment(".", 5001, next), &[7; 1000]);
    assert_eq!(server.stack.usage().octets - empty, 4096);
    let mut out = [0; 2000];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(1000)));
    assert_eq!(server.writes(id, 500), 500);
    assert_eq!(server.says()[0].0, ".");
    // With what is written come the tables of its segments.
    let segments = 4096 / 536;
    let tables = segments * Connection::SEGMENT_OCTETS * 9 / 8;
    assert_eq!(server.stack.usage().octets - empty, 8192 + tables);
    assert_eq!(server.gets(".", 6001, next.add(500)), []);
    server.silence(3);
    assert_eq!((server.stack.usage().octets, server.stack.poll_timeout()), (empty, None));
    server.stack.abort(id);
    server.stack.release(id);
    server.says();
    assert_eq!(server.stack.usage().octets, 0);
}

/// A peer that asks for the smallest segments and acknowledges all of them; then the connection rests.
#[test]
fn the_tables_of_many_segments_are_charged_and_given_back() {
    let mut server = Server::new();
    let syn = Segment { mss: Some(48), window: 60_000, ..segment("S", 5000, SeqNr(0)) };
    server.takes(&syn, &[]);
    let mut next = server.sends()[0].seq.add(1);
    let empty = server.stack.usage().octets;
    server.takes(&Segment { window: 60_000, ..segment(".", 5001, next) }, &[]);
    let Poll::Ready(Ok(id)) = server.stack.poll_accept(server.listener, Waker::noop()) else {
        panic!("nobody came")
    };
    let tables = |server: &Server| server.stack.connection(id).map(Connection::table_octets);
    let (mut most, mut sent) = (0, Vec::new());
    for round in 0..20 {
        for Segment { len, .. } in sent.drain(..) {
            next = next.add(len);
            server.takes(&Segment { window: 60_000, ..segment(".", 5001, next) }, &[]);
        }
        if round < 10 {
            server.writes(id, 32 << 10);
        }
        sent = server.sends();
        let (charged, taken) = (server.stack.usage().octets, tables(&server).unwrap_or(0));
        assert!(charged - empty >= taken, "{charged} for {taken}");
        most = most.max(taken);
    }
    assert!(most > 20_000, "{most} octets of tables");
    server.silence(3);
    assert_eq!(tables(&server), Some(0));
    assert!(server.stack.usage().octets <= empty + 4096, "{}", server.stack.usage().octets);
}

#[test]
fn a_connection_at_rest_wakes_nobody_though_something_had_been_lost() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    server.writes(id, 500);
    server.says();
    assert!(!server.silence(2).is_empty(), "it is sent again");
    server.gets(".", 5001, next.add(500));
    server.silence(4);
    assert_eq!(server.stack.poll_timeout(), None);
}

#[test]
fn every_second_octet_fills_no_more_than_what_may_lie_unread() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    for n in 0..2000 {
        server.takes(&segment(".", 5002 + 2 * n, next), &[7]);
        server.sends();
    }
    let taken = server.stack.connection(id).map_or(0, Connection::table_octets);
    assert!((1..=4096).contains(&taken), "{taken} octets of ranges");
}

/// Peers whose windows are closed, and an application that writes to them as much as it can.
#[test]
fn those_who_take_nothing_leave_memory_for_one_who_does() {
    const BUDGET: usize = 8 << 20;
    let mut server = Server::with(1000, |config| config.limits.octets = BUDGET);
    let mut took = Vec::new();
    for port in 1..=250 {
        let (id, _) = server.from(port).serves();
        took.push(server.writes(id, 8 << 20));
        server.says();
        assert!(server.stack.usage().octets <= BUDGET);
    }
    assert!(took[0] == 32 << 10 && took[249] <= 8 << 10, "{} {}", took[0], took[249]);
    // One more, who takes what comes.
    let (id, mut acknowledged) = server.from(1000).serves();
    let (mut written, mut rounds) = (0, 0);
    while written < 1 << 20 && rounds < 500 {
        written += server.writes(id, 64 << 10);
        for segment in server.sends() {
            acknowledged = acknowledged.add(segment.len);
        }
        let ack = Segment { window: 60_000, ..segment(".", 5001, acknowledged) };
        server.takes(&ack, &[]);
        rounds += 1;
    }
    assert!(written >= 1 << 20, "{written} octets in {rounds} rounds");
    assert!(server.stack.usage().octets <= BUDGET);
}

/// Its SYN-ACK comes when nothing is left to write into.
#[test]
fn who_connects_is_told_though_memory_is_used_up() {
    let mut server = Server::with(10, |config| config.limits.octets = 64 << 10);
    let others: Vec<_> = (1..=10).map(|port| server.from(port).serves().0).collect();
    let peer = "10.0.0.1:80".parse().expect("an address");
    let id = server.stack.connect(peer, None, server.now).expect("room for one more");
    let isn = server.sends()[0].seq;
    let connected = |server: &mut Server| server.stack.poll_connected(id, Waker::noop());
    assert!(connected(&mut server).is_pending());
    for id in others {
        server.writes(id, 4096);
    }
    (server.local, server.peer) = (server.stack.ends(id).expect("a connection").local, peer);
    let mut woken = Vec::new();
    server.stack.take_wakers(&mut woken);
    woken.clear();
    assert_eq!(server.gets("S.", 5000, isn.add(1)).last().map(|said| said.0.as_str()), Some("."));
    server.stack.take_wakers(&mut woken);
    assert_eq!(woken.len(), 1);
    assert_eq!(connected(&mut server), Poll::Ready(Ok(())));
    assert_eq!(server.writes(id, 1), 0, "there is no memory");
}

/// A peer that always has something to say says it with each acknowledgement.
#[test]
fn what_is_acknowledged_beside_text_counts_though_there_is_no_memory_for_that() {
    let mut server = Server::with(11, |config| config.limits.octets = 64 << 10);
    let (id, next) = server.from(11).serves();
    assert_eq!(server.writes(id, 500), 500);
    assert_eq!(server.says().len(), 1);
    let others: Vec<_> = (1..=10).map(|port| server.from(port).serves().0).collect();
    for id in others {
        server.writes(id, 4096);
    }
    server.from(11).takes(&segment("F.", 5001, next.add(500)), b"text");
    assert_eq!(server.stack.counters().segments_refused, 1);
    assert_eq!(server.stack.poll_acknowledged(id, Waker::noop()), Poll::Ready(Ok(())));
    assert!(server.stack.poll_read(id, Waker::noop(), &mut [0; 9]).is_pending());
    // Once it is used no more, its memory is there for what comes again.
    server.silence(2);
    server.takes(&segment("F.", 5001, next.add(500)), b"text");
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(4)));
}

/// RFC 5681, section 2: a duplicate acknowledgement carries no data, and is sent for a segment that
/// arrived out of order. What carries some and is refused is none.
#[test]
fn text_for_which_there_is_no_memory_is_no_duplicate_acknowledgement() {
    let mut server = Server::with(11, |config| {
        config.limits.octets = 64 << 10;
        config.variant = Variant::named("reno").expect("a row");
    });
    let (id, next) = server.from(11).serves();
    let ack = Segment { window: 60_000, ..segment(".", 5001, next) };
    server.takes(&ack, &[]);
    assert_eq!(server.writes(id, 5 * 536), 5 * 536);
    assert_eq!(server.says().len(), 5);
    let others: Vec<_> = (1..=10).map(|port| server.from(port).serves().0).collect();
    for id in others {
        server.writes(id, 4096);
        server.says();
    }
    server.from(11);
    for n in 0..5 {
        server.takes(&Segment { seq: SeqNr(5001 + 4 * n), ..ack }, b"text");
    }
    assert_eq!(server.stack.counters().segments_refused, 5);
    assert_eq!(server.says(), []);
}

/// A window that was promised is not taken back, but where there is no memory for what comes it is
/// dropped, as if it had been lost on its way; what is told from then on shrinks.
#[test]
fn receivers_who_are_not_read_do_not_take_more_than_there_is() {
    const BUDGET: usize = 4 << 20;
    let mut server = Server::with(1000, |config| config.limits.octets = BUDGET);
    let mut windows = Vec::new();
    for port in 1..=400 {
        let syn_ack = server.from(port).gets("S", 5000, SeqNr(0));
        let Some(&(_, isn, _)) = syn_ack.first() else { break };
        let next = isn.add(1);
        server.receives(".", 5001, next);
        let _ = server.stack.poll_accept(server.listener, Waker::noop());
        let mut seq = 5001;
        for _ in 0..40 {
            server.takes(&segment(".", seq, next), &[7; 1400]);
            seq += 1400;
        }
        assert!(server.stack.usage().octets <= BUDGET);
        windows.extend(server.sends().last().map(|segment| (segment.ack, segment.window)));
    }
    assert!(server.stack.counters().segments_refused > 0);
    let edge = |(ack, window): (SeqNr, u16)| ack.distance(SeqNr(5001)) as u32 + u32::from(window);
    assert!(windows.iter().all(|&told| edge(told) >= 65_535), "{windows:?}");
    assert!((40..100).contains(&windows.len()), "{} of them", windows.len());
    assert!(server.stack.counters().connections_refused > 0);
}

/// Found by the fuzzer: a joined segment that begins before the stream does.
#[test]
fn what_begins_before_the_stream_takes_no_more_than_there_is() {
    const BUDGET: usize = 20_000;
    let mut server = Server::with(9, |config| config.limits.octets = BUDGET);
    let (_, next) = server.serves();
    for (seq, len) in [(5001 + 3000, 3000), (5001 - 30, 60_000), (5001 + 20_000, 40_000)] {
        server.takes(&segment(".", seq, next), &vec![7; len]);
        assert!(server.stack.usage().octets <= BUDGET, "{} octets", server.stack.usage().octets);
    }
}

#[test]
fn time_wait_keeps_few_octets_and_still_answers() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    server.stack.release(id);
    assert_eq!(server.says()[0].0, "F.");
    let last = server.gets("F.", 5001, next.add(1));
    assert_eq!(last, [(".".to_owned(), next.add(1), SeqNr(5002))]);
    assert_eq!((server.stack.usage().connections, server.stack.usage().time_waits), (0, 1));
    assert!(server.stack.usage().octets < 512, "{}", server.stack.usage().octets);
    server.now += Duration::from_secs(100);
    assert_eq!(
        server.gets("F.", 5001, next.add(1)),
        last,
        "it comes again, and so does the answer"
    );
    server.silence(239);
    assert_eq!(server.stack.usage().time_waits, 1);
    server.silence(1);
    assert_eq!((server.stack.usage().time_waits, server.stack.usage().octets), (0, 0));
    assert_eq!(server.stack.poll_timeout(), None);
}

#[test]
fn beyond_the_limit_connections_end_without_time_wait() {
    let mut server = Server::with(10, |config| config.limits.time_waits = 2);
    for port in 1..=3 {
        let (id, next) = server.from(port).serves();
        server.stack.release(id);
        server.says();
        server.gets("F.", 5001, next.add(1));
    }
    assert_eq!((server.stack.usage().time_waits, server.stack.usage().connections), (2, 0));
    assert_eq!(server.stack.counters().time_waits_refused, 1);
}

/// The orphan `id`, whose peer says each second that its window is `closed`, ends after two minutes.
#[track_caller]
fn ends_after_two_minutes(server: &mut Server, id: ConnectionId, closed: &Segment) {
    for second in 0..130 {
        server.silence(1);
        server.takes(closed, &[]);
        let state = server.stack.connection(id).map(|c| c.state());
        assert_eq!(state.is_none(), second >= 119, "after {second} s: {state:?}");
        server.says();
    }
    assert_eq!(server.stack.counters().orphans_given_up, 1);
}

/// A peer who keeps its window closed acknowledges each probe, and would keep the connection for ever.
#[test]
fn an_orphan_in_fin_wait_1_ends_although_closed_windows_are_acknowledged() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    server.writes(id, 3000);
    server.stack.release(id);
    server.says();
    let closed = Segment { window: 0, ..segment(".", 5001, next.add(536)) };
    server.takes(&closed, &[]);
    assert_eq!(server.stack.connection(id).map(|c| c.state()), Some(State::FinWait1));
    ends_after_two_minutes(&mut server, id, &closed);
}

/// It is the same in the states that the peer's FIN leads to.
#[test]
fn nor_do_they_keep_one_in_closing_or_last_ack() {
    for (finishes_first, expected) in [(false, State::Closing), (true, State::LastAck)] {
        let mut server = Server::new();
        let (id, next) = server.serves();
        server.writes(id, 3000);
        if finishes_first {
            server.gets("F.", 5001, next);
        }
        server.stack.release(id);
        server.says();
        if !finishes_first {
            server.gets("F.", 5001, next);
        }
        let closed = Segment { window: 0, ..segment(".", 5002, next.add(536)) };
        server.takes(&closed, &[]);
        assert_eq!(server.stack.connection(id).map(|c| c.state()), Some(expected));
        ends_after_two_minutes(&mut server, id, &closed);
    }
}

/// So would one who takes an octet now and then.
#[test]
fn an_orphan_ends_although_its_peer_acknowledges_a_little() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    server.writes(id, 3000);
    server.stack.release(id);
    let (mut seconds, mut acknowledged) = (0, next);
    while server.stack.usage().connections > 0 && seconds < 2000 {
        seconds += 10;
        let mut sent = server.sends();
        sent.extend(server.hears_nothing(10));
        if let Some(segment) = sent.iter().find(|segment| segment.seq == acknowledged) {
            acknowledged = segment.seq.add(segment.len);
        }
        server.takes(&Segment { window: 1, ..segment(".", 5001, acknowledged) }, &[]);
    }
    assert!((900..=920).contains(&seconds), "{seconds} s");
}

#[test]
fn too_many_orphans_are_reset() {
    let mut server = Server::with(10, |config| config.limits.orphans = 1);
    for (port, letters) in [(1, "F."), (2, "R")] {
        let (id, _) = server.from(port).serves();
        server.stack.release(id);
        let said = server.says();
        assert_eq!(said.last().map(|said| said.0.as_str()), Some(letters));
    }
    assert_eq!(server.stack.usage().connections, 1);
    assert_eq!(server.stack.counters().orphans_refused, 1);
    server.silence(200);
    assert_eq!((server.stack.usage().connections, server.stack.usage().octets), (0, 0));
}

/// The minute of FIN-WAIT-2 begins with the state, not when the application let go.
#[test]
fn the_peer_has_a_minute_from_fin_wait_2_on() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    server.stack.release(id);
    server.says();
    server.silence(50);
    server.gets(".", 5001, next.add(1));
    server.silence(59);
    assert_eq!(server.stack.connection(id).map(|c| c.state()), Some(State::FinWait2));
    server.silence(1);
    assert_eq!(server.stack.usage().connections, 0);
}

/// A server one of whose connections is in TIME-WAIT; gives the next number of ours.
fn waiting(stamps: bool) -> (Server, SeqNr) {
    let mut server = Server::new();
    let stamp = |segment, value| if stamps { stamped(segment, value, 0) } else { segment };
    server.takes(&stamp(segment("S", 5000, SeqNr(0)), 100), &[]);
    let next = server.sends()[0].seq.add(1);
    server.takes(&stamp(segment(".", 5001, next), 100), &[]);
    let Poll::Ready(Ok(id)) = server.stack.poll_accept(server.listener, Waker::noop()) else {
        panic!("nobody came")
    };
    server.stack.release(id);
    server.says();
    server.takes(&stamp(segment("F.", 5001, next.add(1)), 100), &[]);
    server.says();
    assert_eq!(server.stack.usage().time_waits, 1);
    (server, next.add(1))
}

/// RFC 9293, section 3.6.1: the new connection's numbers lie beyond those of the old one.
#[test]
fn a_new_connection_takes_the_place_of_time_wait_with_numbers_beyond_it() {
    let (mut server, next) = waiting(false);
    let syn_ack = server.gets("S", 9000, SeqNr(0));
    assert_eq!(syn_ack[0].0, "S.");
    assert!(syn_ack[0].1.distance(next) > 0, "{syn_ack:?} after {next:?}");
    assert_eq!((server.stack.usage().time_waits, server.stack.usage().requests), (0, 1));
}

/// A SYN that is dropped begins no connection: what is left of the old one goes on.
#[test]
fn a_syn_that_finds_no_room_does_not_end_time_wait() {
    for held in [true, false] {
        let mut server = Server::new();
        let (id, next) = server.serves();
        server.stack.finish(id);
        server.says();
        let last = server.gets("F.", 5001, next.add(1));
        assert_eq!(last, [(".".to_owned(), next.add(1), SeqNr(5002))]);
        if !held {
            server.stack.release(id);
            server.says();
        }
        server.from(2).shakes_hands();
        assert_eq!(server.from(1000).gets("S", 9000, SeqNr(0)), [], "the backlog is full");
        assert_eq!(server.gets("F.", 5001, next.add(1)), last, "held: {held}");
        assert!(server.stack.poll_accept(server.listener, Waker::noop()).is_ready());
        assert_eq!(server.gets("S", 9000, SeqNr(0))[0].0, "S.");
    }
}

#[test]
fn where_nobody_listens_a_syn_does_not_end_time_wait() {
    let (mut server, next) = waiting(false);
    server.stack.close_listener(server.listener);
    assert_eq!(server.gets("S", 9000, SeqNr(0)), [(".".to_owned(), next, SeqNr(5002))]);
    assert_eq!(server.stack.usage().time_waits, 1);
}

#[test]
fn an_old_syn_does_not_end_time_wait() {
    let (mut server, next) = waiting(true);
    server.takes(&stamped(segment("S", 4000, SeqNr(0)), 100, 0), &[]);
    assert_eq!(server.says(), [(".".to_owned(), next, SeqNr(5002))]);
    server.takes(&stamped(segment("S", 4000, SeqNr(0)), 101, 0), &[]);
    assert_eq!(server.says()[0].0, "S.");
}

/// As Linux with `tcp_tw_reuse`: a second later the peer tells old from new by the timestamps.
#[test]
fn connect_takes_a_port_in_time_wait_again_after_a_second() {
    for stamps in [true, false] {
        let (mut server, next) = waiting(stamps);
        let (local, peer) = (server.local, server.peer);
        server.stack.close_listener(server.listener);
        let connect = |server: &mut Server| server.stack.connect(peer, Some(local), server.now);
        assert_eq!(connect(&mut server), Err(StackError::InUse));
        server.now += Duration::from_millis(1001);
        if !stamps {
            assert_eq!(connect(&mut server), Err(StackError::InUse));
            continue;
        }
        assert!(connect(&mut server).is_ok());
        let syn = server.sends()[0];
        assert!(syn.flags.syn && syn.seq.distance(next) > 0);
        assert_eq!(server.stack.usage().time_waits, 0);
    }
}
