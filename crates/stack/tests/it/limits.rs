//! What a stack refuses, keeps and frees, and how it counts that.

use std::task::{Poll, Waker};

use crate::server::{Server, segment, stamped};
use unruffled_stack::{ConnectionId, Duration, Instant, StackError, State, Variant};
use unruffled_tcp::{Connection, SackBlocks, Segment, SeqNr};

impl Server {
    /// Sets the port of the peer.
    fn at_port(&mut self, port: u16) -> &mut Self {
        self.peer.set_port(port);
        self
    }

    fn write(&mut self, id: ConnectionId, octets: usize) -> usize {
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
fn connections_beyond_the_limit_are_refused_in_either_direction() {
    let mut server = Server::with(10, |config| config.limits.connections = 2);
    server.at_port(1).handshake();
    server.at_port(2).handshake();
    assert_eq!(server.at_port(3).answers("S", 9, SeqNr(0)), []);
    let remote = "10.0.0.1:80".parse().expect("an address");
    assert_eq!(server.stack.connect(remote, None, server.now), Err(StackError::NoRoom));
    assert_eq!(server.stack.counters().connections_refused, 2);
}

/// Found by the fuzzer: a SYN-ACK in answer to a SYN-ACK passed the limits.
#[test]
fn a_syn_ack_in_answer_to_a_syn_ack_opens_nothing() {
    let mut server = Server::with(10, |config| config.limits.connections = 2);
    server.at_port(1).handshake();
    server.at_port(3);
    let syn_ack = server.answers("S", 5000, SeqNr(0));
    let [(_, isn, _)] = syn_ack.as_slice() else { panic!("{syn_ack:?}") };
    assert_eq!(server.answers("S.", 5000, isn.add(1)), syn_ack, "the answer to a repeated SYN");
    assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (1, 1));
    server.at_port(2).handshake();
    server.at_port(3);
    for letters in ["S.", ".", "F."] {
        let seq = if letters == "S." { 5000 } else { 5001 };
        server.answers(letters, seq, isn.add(1));
        assert_eq!(
            (server.stack.usage().connections, server.stack.usage().requests),
            (2, 1),
            "{letters}"
        );
    }
    assert_eq!(server.stack.counters().connections_refused, 3);
}

/// RFC 9293, MUST-46: an OPEN call to an address that is not a host's is an error.
#[test]
fn a_connection_to_an_address_without_a_host_is_refused() {
    let mut server = Server::new();
    for address in ["224.0.0.1:80", "255.255.255.255:80", "0.0.0.0:80", "10.0.0.1:0"] {
        let remote = address.parse().expect("an address");
        let result = server.stack.connect(remote, None, server.now);
        assert_eq!(result, Err(StackError::NoHost), "{address}");
    }
    assert_eq!(server.stack.usage().connections, 0);
}

#[test]
fn buffers_exist_while_they_are_used_and_are_freed_afterwards() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    let empty = server.stack.usage().octets;
    server.receive_segment(&segment(".", 5001, next), &[7; 1000]);
    assert_eq!(server.stack.usage().octets - empty, 4096);
    let mut out = [0; 2000];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(1000)));
    assert_eq!(server.write(id, 500), 500);
    assert_eq!(server.sent()[0].0, ".");
    // Written data is charged with the tables of its segments.
    let segments = 4096 / 536;
    let connection = server.stack.connection(id).expect("an open connection");
    let tables = segments * (connection.segment_octets() * 9 / 8);
    assert_eq!(server.stack.usage().octets - empty, 8192 + tables);
    assert_eq!(server.answers(".", 6001, next.add(500)), []);
    server.wait(3);
    assert_eq!((server.stack.usage().octets, server.stack.poll_timeout()), (empty, None));
    server.stack.abort(id);
    server.stack.release(id);
    server.sent();
    assert_eq!(server.stack.usage().octets, 0);
}

/// The peer requests the smallest segments and acknowledges all of them. Then the connection is
/// idle.
#[test]
fn the_tables_of_many_segments_are_charged_and_freed() {
    let mut server = Server::new();
    let syn = Segment { mss: Some(48), window: 60_000, ..segment("S", 5000, SeqNr(0)) };
    server.receive_segment(&syn, &[]);
    let mut next = server.sent_segments()[0].seq.add(1);
    let empty = server.stack.usage().octets;
    server.receive_segment(&Segment { window: 60_000, ..segment(".", 5001, next) }, &[]);
    let Poll::Ready(Ok(id)) = server.stack.poll_accept(server.listener, Waker::noop()) else {
        panic!("no connection")
    };
    let tables = |server: &Server| server.stack.connection(id).map(Connection::table_octets);
    let mut max = 0;
    let mut sent = Vec::new();
    for round in 0..20 {
        for Segment { len, .. } in sent.drain(..) {
            next = next.add(len);
            server.receive_segment(&Segment { window: 60_000, ..segment(".", 5001, next) }, &[]);
        }
        if round < 10 {
            server.write(id, 32 << 10);
        }
        sent = server.sent_segments();
        let (charged, taken) = (server.stack.usage().octets, tables(&server).unwrap_or(0));
        assert!(charged - empty >= taken, "{charged} for {taken}");
        max = max.max(taken);
    }
    assert!(max > 20_000, "{max} octets of tables");
    server.wait(3);
    assert_eq!(tables(&server), Some(0));
    assert!(server.stack.usage().octets <= empty + 4096, "{}", server.stack.usage().octets);
}

/// The receiving half of a peer that acknowledges every segment, with SACK and DSACK.
struct Receiver {
    /// Next sequence number in order.
    next: SeqNr,
    /// Segments beyond it, and their length.
    ahead: Vec<(SeqNr, u32)>,
}

impl Receiver {
    /// Returns the acknowledgement of a segment.
    fn receive(&mut self, seq: SeqNr, len: u32) -> Segment {
        let mut sack = SackBlocks::default();
        let is_duplicate = self.next.distance(seq) > 0 || self.ahead.contains(&(seq, len));
        if is_duplicate {
            sack.push(seq, seq.add(len));
        } else if seq == self.next {
            self.next = seq.add(len);
            while let Some(at) = self.ahead.iter().position(|&(seq, _)| seq == self.next) {
                let (seq, len) = self.ahead.swap_remove(at);
                self.next = seq.add(len);
            }
        } else {
            self.ahead.push((seq, len));
            sack.push(seq, seq.add(len));
        }
        Segment { window: 60_000, sack, ..segment(".", 5001, self.next) }
    }
}

/// BBR keeps records of the segments on their way, and of those that it suspects and that are only late.
/// One segment in ten is late.
#[test]
fn the_records_of_senders_that_sample_the_path_are_charged() {
    for variant in ["unruffled", "rack+bbr", "unruffled+bbr", "unruffled+bbr3"] {
        let mut server = Server::with(1, |config| {
            config.variant = Variant::named(variant).expect("a variant");
        });
        let syn = segment("S", 5000, SeqNr(0));
        let syn = Segment { mss: Some(48), sack_permitted: true, window: 60_000, ..syn };
        server.receive_segment(&syn, &[]);
        let first = server.sent_segments()[0].seq.add(1);
        let mut peer = Receiver { next: first, ahead: Vec::new() };
        let empty = server.stack.usage().octets;
        server.now += Duration::from_millis(50);
        server.receive_segment(&Segment { window: 60_000, ..segment(".", 5001, first) }, &[]);
        let Poll::Ready(Ok(id)) = server.stack.poll_accept(server.listener, Waker::noop()) else {
            panic!("no connection")
        };
        let tables = |server: &Server| server.stack.connection(id).map(Connection::table_octets);
        let mut max = 0;
        let mut sent: u64 = 0;
        let mut written = 0;
        // Segments on their way, and when they arrive.
        let mut underway: Vec<(Instant, Segment)> = Vec::new();
        for millisecond in 0..20_000 {
            if millisecond % 50 == 0 && millisecond < 5000 {
                written += server.write(id, 32 << 10);
            }
            for segment in server.sent_segments().into_iter().filter(|segment| segment.len > 0) {
                sent += 1;
                let delay = if sent.is_multiple_of(10) { 90 } else { 50 };
                underway.push((server.now + Duration::from_millis(delay), segment));
            }
            server.now += Duration::from_millis(1);
            server.stack.handle_timeout(server.now);
            let now = server.now;
            for (_, Segment { seq, len, .. }) in underway.extract_if(.., |(at, _)| *at <= now) {
                server.receive_segment(&peer.receive(seq, len), &[]);
                let (charged, taken) = (server.stack.usage().octets, tables(&server).unwrap_or(0));
                assert!(charged - empty >= taken, "{variant}: {charged} for {taken}");
                max = max.max(taken);
            }
        }
        assert_eq!(peer.next, first.add(written as u32), "{variant}: all data has arrived");
        assert!(max > 20_000, "{variant}: {max} octets of tables");
    }
}

#[test]
fn an_idle_connection_has_no_timer_after_a_loss() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    server.write(id, 500);
    server.sent();
    assert!(!server.wait(2).is_empty(), "retransmissions");
    server.answers(".", 5001, next.add(500));
    server.wait(4);
    assert_eq!(server.stack.poll_timeout(), None);
}

#[test]
fn ranges_of_single_octets_take_a_bounded_table() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    for n in 0..2000 {
        server.receive_segment(&segment(".", 5002 + 2 * n, next), &[7]);
        server.sent_segments();
    }
    let taken = server.stack.connection(id).map_or(0, Connection::table_octets);
    assert!((1..=4096).contains(&taken), "{taken} octets of ranges");
}

/// The application writes as much as it can to peers whose windows are closed.
#[test]
fn peers_that_take_nothing_leave_memory_for_one_that_does() {
    const BUDGET: usize = 8 << 20;
    let mut server = Server::with(1000, |config| config.limits.octets = BUDGET);
    let mut accepted = Vec::new();
    for port in 1..=250 {
        let (id, _) = server.at_port(port).accept();
        accepted.push(server.write(id, 8 << 20));
        server.sent();
        assert!(server.stack.usage().octets <= BUDGET);
    }
    assert!(
        accepted[0] == 32 << 10 && accepted[249] <= 8 << 10,
        "{} {}",
        accepted[0],
        accepted[249]
    );
    // One more peer acknowledges everything.
    let (id, mut acknowledged) = server.at_port(1000).accept();
    let mut written = 0;
    let mut rounds = 0;
    while written < 1 << 20 && rounds < 500 {
        written += server.write(id, 64 << 10);
        for segment in server.sent_segments() {
            acknowledged = acknowledged.add(segment.len);
        }
        let ack = Segment { window: 60_000, ..segment(".", 5001, acknowledged) };
        server.receive_segment(&ack, &[]);
        rounds += 1;
    }
    assert!(written >= 1 << 20, "{written} octets in {rounds} rounds");
    assert!(server.stack.usage().octets <= BUDGET);
}

/// The SYN-ACK arrives when no memory is left to write into.
#[test]
fn the_end_of_the_handshake_wakes_though_memory_is_used_up() {
    let mut server = Server::with(10, |config| config.limits.octets = 64 << 10);
    let others: Vec<_> = (1..=10).map(|port| server.at_port(port).accept().0).collect();
    let peer = "10.0.0.1:80".parse().expect("an address");
    let id = server.stack.connect(peer, None, server.now).expect("room for one more");
    let isn = server.sent_segments()[0].seq;
    let connected = |server: &mut Server| server.stack.poll_connected(id, Waker::noop());
    assert!(connected(&mut server).is_pending());
    for id in others {
        server.write(id, 4096);
    }
    server.local = server.stack.ends(id).expect("a connection").local;
    server.peer = peer;
    let mut woken = Vec::new();
    server.stack.take_wakers(&mut woken);
    woken.clear();
    assert_eq!(
        server.answers("S.", 5000, isn.add(1)).last().map(|sent| sent.0.as_str()),
        Some(".")
    );
    server.stack.take_wakers(&mut woken);
    assert_eq!(woken.len(), 1);
    assert_eq!(connected(&mut server), Poll::Ready(Ok(())));
    assert_eq!(server.write(id, 1), 0, "there is no memory");
}

/// A peer that always has data to send sends some with each acknowledgement.
#[test]
fn an_acknowledgement_counts_even_without_memory_for_the_data_in_its_segment() {
    let mut server = Server::with(11, |config| config.limits.octets = 64 << 10);
    let (id, next) = server.at_port(11).accept();
    assert_eq!(server.write(id, 500), 500);
    assert_eq!(server.sent().len(), 1);
    let others: Vec<_> = (1..=10).map(|port| server.at_port(port).accept().0).collect();
    for id in others {
        server.write(id, 4096);
    }
    server.at_port(11).receive_segment(&segment("F.", 5001, next.add(500)), b"data");
    assert_eq!(server.stack.counters().segments_refused, 1);
    assert_eq!(server.stack.poll_acknowledged(id, Waker::noop()), Poll::Ready(Ok(())));
    assert!(server.stack.poll_read(id, Waker::noop(), &mut [0; 9]).is_pending());
    // Once the others are idle, there is memory for the retransmission.
    server.wait(2);
    server.receive_segment(&segment("F.", 5001, next.add(500)), b"data");
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(4)));
}

/// RFC 5681, section 2: a duplicate acknowledgement carries no data. A segment whose data is
/// refused must not count as one.
#[test]
fn a_segment_whose_data_is_refused_is_no_duplicate_acknowledgement() {
    let mut server = Server::with(11, |config| {
        config.limits.octets = 64 << 10;
        config.variant = Variant::named("reno").expect("a row");
    });
    let (id, next) = server.at_port(11).accept();
    let ack = Segment { window: 60_000, ..segment(".", 5001, next) };
    server.receive_segment(&ack, &[]);
    assert_eq!(server.write(id, 5 * 536), 5 * 536);
    assert_eq!(server.sent().len(), 5);
    let others: Vec<_> = (1..=10).map(|port| server.at_port(port).accept().0).collect();
    for id in others {
        server.write(id, 4096);
        server.sent();
    }
    server.at_port(11);
    for n in 0..5 {
        server.receive_segment(&Segment { seq: SeqNr(5001 + 4 * n), ..ack }, b"data");
    }
    assert_eq!(server.stack.counters().segments_refused, 5);
    assert_eq!(server.sent(), []);
}

/// An advertised window is not taken back. Data for which there is no memory is dropped, as if it
/// had been lost on the path, and the windows that are advertised from then on shrink.
#[test]
fn unread_receive_buffers_stay_within_the_budget() {
    const BUDGET: usize = 4 << 20;
    let mut server = Server::with(1000, |config| config.limits.octets = BUDGET);
    let mut windows = Vec::new();
    for port in 1..=400 {
        let syn_ack = server.at_port(port).answers("S", 5000, SeqNr(0));
        let Some(&(_, isn, _)) = syn_ack.first() else { break };
        let next = isn.add(1);
        server.receive(".", 5001, next);
        let _ = server.stack.poll_accept(server.listener, Waker::noop());
        let mut seq = 5001;
        for _ in 0..40 {
            server.receive_segment(&segment(".", seq, next), &[7; 1400]);
            seq += 1400;
        }
        assert!(server.stack.usage().octets <= BUDGET);
        windows.extend(server.sent_segments().last().map(|segment| (segment.ack, segment.window)));
    }
    assert!(server.stack.counters().segments_refused > 0);
    let edge = |(ack, window): (SeqNr, u16)| ack.distance(SeqNr(5001)) as u32 + u32::from(window);
    assert!(windows.iter().all(|&advertised| edge(advertised) >= 65_535), "{windows:?}");
    assert!((40..100).contains(&windows.len()), "{} of them", windows.len());
    assert!(server.stack.counters().connections_refused > 0);
}

/// Found by the fuzzer: a joined segment that begins before the stream does.
#[test]
fn a_segment_that_begins_before_the_stream_stays_within_the_budget() {
    const BUDGET: usize = 20_000;
    let mut server = Server::with(9, |config| config.limits.octets = BUDGET);
    let (_, next) = server.accept();
    for (seq, len) in [(5001 + 3000, 3000), (5001 - 30, 60_000), (5001 + 20_000, 40_000)] {
        server.receive_segment(&segment(".", seq, next), &vec![7; len]);
        assert!(server.stack.usage().octets <= BUDGET, "{} octets", server.stack.usage().octets);
    }
}

#[test]
fn time_wait_takes_few_octets_and_still_answers() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    server.stack.release(id);
    assert_eq!(server.sent()[0].0, "F.");
    let last = server.answers("F.", 5001, next.add(1));
    assert_eq!(last, [(".".to_owned(), next.add(1), SeqNr(5002))]);
    assert_eq!((server.stack.usage().connections, server.stack.usage().time_waits), (0, 1));
    assert!(server.stack.usage().octets < 512, "{}", server.stack.usage().octets);
    server.now += Duration::from_secs(100);
    assert_eq!(server.answers("F.", 5001, next.add(1)), last, "the answer to a repeated FIN");
    server.wait(239);
    assert_eq!(server.stack.usage().time_waits, 1);
    server.wait(1);
    assert_eq!((server.stack.usage().time_waits, server.stack.usage().octets), (0, 0));
    assert_eq!(server.stack.poll_timeout(), None);
}

#[test]
fn connections_beyond_the_limit_end_without_time_wait() {
    let mut server = Server::with(10, |config| config.limits.time_waits = 2);
    for port in 1..=3 {
        let (id, next) = server.at_port(port).accept();
        server.stack.release(id);
        server.sent();
        server.answers("F.", 5001, next.add(1));
    }
    assert_eq!((server.stack.usage().time_waits, server.stack.usage().connections), (2, 0));
    assert_eq!(server.stack.counters().time_waits_refused, 1);
}

/// Asserts that the orphan `id` ends after two minutes, though its peer sends `closed` every
/// second.
#[track_caller]
fn ends_after_two_minutes(server: &mut Server, id: ConnectionId, closed: &Segment) {
    for second in 0..130 {
        server.wait(1);
        server.receive_segment(closed, &[]);
        let state = server.stack.connection(id).map(|c| c.state());
        assert_eq!(state.is_none(), second >= 119, "after {second} s: {state:?}");
        server.sent();
    }
    assert_eq!(server.stack.counters().orphans_given_up, 1);
}

/// A peer that keeps its window closed acknowledges each probe. This must not keep the connection.
#[test]
fn acknowledged_probes_do_not_keep_an_orphan_in_fin_wait_1() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    server.write(id, 3000);
    server.stack.release(id);
    server.sent();
    let closed = Segment { window: 0, ..segment(".", 5001, next.add(536)) };
    server.receive_segment(&closed, &[]);
    assert_eq!(server.stack.connection(id).map(|c| c.state()), Some(State::FinWait1));
    ends_after_two_minutes(&mut server, id, &closed);
}

/// The peer's FIN leads to these states.
#[test]
fn acknowledged_probes_do_not_keep_an_orphan_in_closing_or_last_ack() {
    for (finishes_first, expected) in [(false, State::Closing), (true, State::LastAck)] {
        let mut server = Server::new();
        let (id, next) = server.accept();
        server.write(id, 3000);
        if finishes_first {
            server.answers("F.", 5001, next);
        }
        server.stack.release(id);
        server.sent();
        if !finishes_first {
            server.answers("F.", 5001, next);
        }
        let closed = Segment { window: 0, ..segment(".", 5002, next.add(536)) };
        server.receive_segment(&closed, &[]);
        assert_eq!(server.stack.connection(id).map(|c| c.state()), Some(expected));
        ends_after_two_minutes(&mut server, id, &closed);
    }
}

#[test]
fn an_orphan_ends_though_its_peer_acknowledges_an_octet_now_and_then() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    server.write(id, 3000);
    server.stack.release(id);
    let mut seconds = 0;
    let mut acknowledged = next;
    while server.stack.usage().connections > 0 && seconds < 2000 {
        seconds += 10;
        let mut sent = server.sent_segments();
        sent.extend(server.wait_for_segments(10));
        if let Some(segment) = sent.iter().find(|segment| segment.seq == acknowledged) {
            acknowledged = segment.seq.add(segment.len);
        }
        server.receive_segment(&Segment { window: 1, ..segment(".", 5001, acknowledged) }, &[]);
    }
    assert!((900..=920).contains(&seconds), "{seconds} s");
}

#[test]
fn too_many_orphans_are_reset() {
    let mut server = Server::with(10, |config| config.limits.orphans = 1);
    for (port, letters) in [(1, "F."), (2, "R")] {
        let (id, _) = server.at_port(port).accept();
        server.stack.release(id);
        let sent = server.sent();
        assert_eq!(sent.last().map(|sent| sent.0.as_str()), Some(letters));
    }
    assert_eq!(server.stack.usage().connections, 1);
    assert_eq!(server.stack.counters().orphans_refused, 1);
    server.wait(200);
    assert_eq!((server.stack.usage().connections, server.stack.usage().octets), (0, 0));
}

/// The minute begins with FIN-WAIT-2, not with the release.
#[test]
fn the_peer_of_an_orphan_has_a_minute_from_fin_wait_2_on() {
    let mut server = Server::new();
    let (id, next) = server.accept();
    server.stack.release(id);
    server.sent();
    server.wait(50);
    server.answers(".", 5001, next.add(1));
    server.wait(59);
    assert_eq!(server.stack.connection(id).map(|c| c.state()), Some(State::FinWait2));
    server.wait(1);
    assert_eq!(server.stack.usage().connections, 0);
}

/// Returns a server with a connection in TIME-WAIT, and its next number.
fn in_time_wait(stamps: bool) -> (Server, SeqNr) {
    let mut server = Server::new();
    let stamp = |segment, value| if stamps { stamped(segment, value, 0) } else { segment };
    server.receive_segment(&stamp(segment("S", 5000, SeqNr(0)), 100), &[]);
    let next = server.sent_segments()[0].seq.add(1);
    server.receive_segment(&stamp(segment(".", 5001, next), 100), &[]);
    let Poll::Ready(Ok(id)) = server.stack.poll_accept(server.listener, Waker::noop()) else {
        panic!("no connection")
    };
    server.stack.release(id);
    server.sent();
    server.receive_segment(&stamp(segment("F.", 5001, next.add(1)), 100), &[]);
    server.sent();
    assert_eq!(server.stack.usage().time_waits, 1);
    (server, next.add(1))
}

/// RFC 9293, section 3.6.1: the new connection's numbers lie beyond those of the old one.
#[test]
fn a_new_connection_replaces_one_in_time_wait_with_numbers_beyond_it() {
    let (mut server, next) = in_time_wait(false);
    let syn_ack = server.answers("S", 9000, SeqNr(0));
    assert_eq!(syn_ack[0].0, "S.");
    assert!(syn_ack[0].1.distance(next) > 0, "{syn_ack:?} after {next:?}");
    assert_eq!((server.stack.usage().time_waits, server.stack.usage().requests), (0, 1));
}

/// A dropped SYN begins no connection, so the old one continues.
#[test]
fn a_syn_without_room_in_the_backlog_does_not_end_time_wait() {
    for held in [true, false] {
        let mut server = Server::new();
        let (id, next) = server.accept();
        server.stack.finish(id);
        server.sent();
        let last = server.answers("F.", 5001, next.add(1));
        assert_eq!(last, [(".".to_owned(), next.add(1), SeqNr(5002))]);
        if !held {
            server.stack.release(id);
            server.sent();
        }
        server.at_port(2).handshake();
        assert_eq!(server.at_port(1000).answers("S", 9000, SeqNr(0)), [], "the backlog is full");
        assert_eq!(server.answers("F.", 5001, next.add(1)), last, "held: {held}");
        assert!(server.stack.poll_accept(server.listener, Waker::noop()).is_ready());
        assert_eq!(server.answers("S", 9000, SeqNr(0))[0].0, "S.");
    }
}

#[test]
fn a_syn_without_a_listener_does_not_end_time_wait() {
    let (mut server, next) = in_time_wait(false);
    server.stack.close_listener(server.listener);
    assert_eq!(server.answers("S", 9000, SeqNr(0)), [(".".to_owned(), next, SeqNr(5002))]);
    assert_eq!(server.stack.usage().time_waits, 1);
}

#[test]
fn an_old_syn_does_not_end_time_wait() {
    let (mut server, next) = in_time_wait(true);
    server.receive_segment(&stamped(segment("S", 4000, SeqNr(0)), 100, 0), &[]);
    assert_eq!(server.sent(), [(".".to_owned(), next, SeqNr(5002))]);
    server.receive_segment(&stamped(segment("S", 4000, SeqNr(0)), 101, 0), &[]);
    assert_eq!(server.sent()[0].0, "S.");
}

/// As in Linux with `tcp_tw_reuse`: a second later, timestamps distinguish the new connection from
/// the old.
#[test]
fn connect_reuses_a_port_in_time_wait_after_a_second() {
    for stamps in [true, false] {
        let (mut server, next) = in_time_wait(stamps);
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
        let syn = server.sent_segments()[0];
        assert!(syn.flags.syn && syn.seq.distance(next) > 0);
        assert_eq!(server.stack.usage().time_waits, 0);
    }
}
