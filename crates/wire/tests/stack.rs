//! A stack with one peer, as packet traces: what it answers, and what it keeps.

use std::net::SocketAddr;
use std::task::{Poll, Waker};

use unruffled_tcp::{Connection, Flags, Segment, SeqNr, State, Variant};
use unruffled_units::{Duration, Instant};
use unruffled_wire::codec::{Checksums, Packet, decode, encode};
use unruffled_wire::stack::{ConnectionId, ListenerId, Stack, StackConfig};

const BACKLOG: usize = 1;

/// A stack that listens, and a peer made of segments.
struct Server {
    stack: Stack,
    listener: ListenerId,
    local: SocketAddr,
    peer: SocketAddr,
    now: Instant,
}

impl Server {
    fn new() -> Self {
        let local: SocketAddr = "10.0.0.2:80".parse().expect("an address");
        let variant = Variant::named("sack").expect("a variant");
        let config = StackConfig::new(vec![local.ip()], variant).expect("randomness");
        let mut stack = Stack::new(config);
        let listener = stack.listen(local, BACKLOG).expect("a free port");
        let peer = "10.0.0.1:1000".parse().expect("an address");
        Self { stack, listener, local, peer, now: Instant::from_millis(1000) }
    }

    /// A segment arrives; gives the answers, of which all but the flags and numbers is left out.
    fn gets(&mut self, letters: &str, seq: u32, ack: SeqNr) -> Vec<(String, SeqNr, SeqNr)> {
        self.receives(letters, seq, ack);
        self.says()
    }

    /// A segment arrives, and another one before the answer leaves.
    fn receives(&mut self, letters: &str, seq: u32, ack: SeqNr) {
        let has = |letter| letters.contains(letter);
        let segment = Segment {
            seq: SeqNr(seq),
            ack,
            flags: Flags { syn: has('S'), fin: has('F'), rst: has('R'), ack: has('.'), psh: false },
            window: 1000,
            ..Segment::default()
        };
        let mut packet = Vec::new();
        encode(self.peer, self.local, &segment, (&[], &[]), &mut packet).expect("it fits");
        self.stack.receive(&packet, Checksums::Verify, self.now);
    }

    /// What leaves.
    fn says(&mut self) -> Vec<(String, SeqNr, SeqNr)> {
        let mut said = Vec::new();
        let mut out = Vec::new();
        while self.stack.poll_transmit(self.now, &mut out).is_some() {
            let Ok(Packet::Tcp(answer)) = decode(&out, Checksums::Verify) else {
                panic!("unreadable: {out:?}")
            };
            let Segment { seq, ack, flags, .. } = answer.segment;
            let letters = [(flags.syn, 'S'), (flags.fin, 'F'), (flags.rst, 'R'), (flags.ack, '.')];
            let letters = letters.iter().filter_map(|&(set, letter)| set.then_some(letter));
            said.push((letters.collect(), seq, ack));
            out.clear();
        }
        said
    }

    /// A handshake works, and the application gets the connection; gives the next number of ours.
    fn serves(&mut self) -> (ConnectionId, SeqNr) {
        let syn_ack = self.gets("S", 5000, SeqNr(0));
        let [(letters, isn, ack)] = syn_ack.as_slice() else { panic!("{syn_ack:?}") };
        assert_eq!((letters.as_str(), *ack), ("S.", SeqNr(5001)));
        assert_eq!(self.gets(".", 5001, isn.add(1)), []);
        match self.stack.poll_accept(self.listener, Waker::noop()) {
            Poll::Ready(Ok(id)) => (id, isn.add(1)),
            other => panic!("{other:?}"),
        }
    }

    /// Nobody says anything any more, for so many seconds.
    fn silence(&mut self, seconds: u64) {
        let end = self.now + Duration::from_secs(seconds);
        while let Some(due) = self.stack.poll_timeout().filter(|&due| due <= end) {
            self.now = self.now.max(due);
            self.stack.handle_timeout(self.now);
            self.says();
        }
        self.now = end;
    }
}

/// RFC 9293, section 3.10.7.4: "If the connection was initiated with a passive OPEN, then return this
/// connection to the LISTEN state". In a stack it is the listener that is in LISTEN: the attempt must
/// not keep its place in the backlog.
#[test]
fn an_attempt_that_is_reset_leaves_the_backlog() {
    let mut server = Server::new();
    assert_eq!(server.gets("S", 100, SeqNr(0)).len(), 1);
    assert_eq!(server.gets("R", 101, SeqNr(0)), []);
    assert_eq!(server.stack.connections(), 0);
    server.serves();
}

#[test]
fn so_does_one_that_another_syn_ends() {
    let mut server = Server::new();
    assert_eq!(server.gets("S", 100, SeqNr(0)).len(), 1);
    assert_eq!(server.gets("S", 101, SeqNr(0)), []);
    assert_eq!(server.stack.connections(), 0);
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
    assert_eq!(server.stack.connections(), 1);
    server.silence(1);
    assert_eq!((server.stack.connections(), server.stack.poll_timeout()), (0, None));
}
