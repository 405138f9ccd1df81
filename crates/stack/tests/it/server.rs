//! A stack that listens, and peers made of segments.

use std::net::SocketAddr;
use std::task::{Poll, Waker};

use unruffled_stack::codec::{Checksums, Packet, decode, encode};
use unruffled_stack::{ConnectionId, ListenerId, Stack, StackConfig};
use unruffled_tcp::{Flags, Segment, SeqNr, Timestamps, Variant};
use unruffled_units::{Duration, Instant};

/// What a stack says, without numbers.
pub(crate) type Said = (String, SeqNr, SeqNr);

pub(crate) struct Server {
    pub(crate) stack: Stack,
    pub(crate) listener: ListenerId,
    pub(crate) local: SocketAddr,
    pub(crate) peer: SocketAddr,
    pub(crate) now: Instant,
}

/// A segment with these flags: S, F, R, and a full stop for ACK.
pub(crate) fn segment(letters: &str, seq: u32, ack: SeqNr) -> Segment {
    let has = |letter| letters.contains(letter);
    Segment {
        seq: SeqNr(seq),
        ack,
        flags: Flags { syn: has('S'), fin: has('F'), rst: has('R'), ack: has('.'), psh: false },
        window: 1000,
        ..Segment::default()
    }
}

pub(crate) fn stamped(segment: Segment, value: u32, echo: u32) -> Segment {
    Segment { timestamps: Some(Timestamps { value, echo }), ..segment }
}

fn said(segment: &Segment) -> Said {
    let Segment { seq, ack, flags, .. } = *segment;
    let letters = [(flags.syn, 'S'), (flags.fin, 'F'), (flags.rst, 'R'), (flags.ack, '.')];
    (letters.iter().filter_map(|&(set, letter)| set.then_some(letter)).collect(), seq, ack)
}

impl Server {
    pub(crate) fn new() -> Self {
        Self::with(1, |_| ())
    }

    pub(crate) fn with(backlog: usize, set: impl FnOnce(&mut StackConfig)) -> Self {
        let local: SocketAddr = "10.0.0.2:80".parse().expect("an address");
        let variant = Variant::named("sack").expect("a variant");
        let mut config = StackConfig::new(vec![local.ip()], variant).expect("randomness");
        set(&mut config);
        let mut stack = Stack::new(config);
        let listener = stack.listen(local, backlog).expect("a free port");
        let peer = "10.0.0.1:1000".parse().expect("an address");
        Self { stack, listener, local, peer, now: Instant::from_millis(1000) }
    }

    /// A segment arrives; gives the answers, of which all but the flags and numbers is left out.
    pub(crate) fn gets(&mut self, letters: &str, seq: u32, ack: SeqNr) -> Vec<Said> {
        self.receives(letters, seq, ack);
        self.says()
    }

    /// A segment arrives, and another one before the answer leaves.
    pub(crate) fn receives(&mut self, letters: &str, seq: u32, ack: SeqNr) {
        self.takes(&segment(letters, seq, ack), &[]);
    }

    /// This segment arrives.
    pub(crate) fn takes(&mut self, segment: &Segment, payload: &[u8]) {
        let segment = Segment { len: payload.len() as u32, ..*segment };
        let mut packet = Vec::new();
        encode(self.peer, self.local, &segment, (payload, &[]), &mut packet).expect("it fits");
        let _ = self.stack.receive(&packet, Checksums::Verify, self.now);
    }

    /// What leaves.
    pub(crate) fn says(&mut self) -> Vec<Said> {
        self.sends().iter().map(said).collect()
    }

    /// What leaves, whole.
    pub(crate) fn sends(&mut self) -> Vec<Segment> {
        let mut sent = Vec::new();
        let mut out = Vec::new();
        while self.stack.poll_transmit(self.now, &mut out).is_some() {
            let Ok(Packet::Tcp(answer)) = decode(&out, Checksums::Verify) else {
                panic!("unreadable: {out:?}")
            };
            sent.push(answer.segment);
            out.clear();
        }
        sent
    }

    /// A handshake works, and the application gets the connection; gives the next number of ours.
    pub(crate) fn serves(&mut self) -> (ConnectionId, SeqNr) {
        let next = self.shakes_hands();
        match self.stack.poll_accept(self.listener, Waker::noop()) {
            Poll::Ready(Ok(id)) => (id, next),
            other => panic!("{other:?}"),
        }
    }

    /// A handshake works; gives the next number of ours.
    pub(crate) fn shakes_hands(&mut self) -> SeqNr {
        let syn_ack = self.gets("S", 5000, SeqNr(0));
        let [(letters, isn, ack)] = syn_ack.as_slice() else { panic!("{syn_ack:?}") };
        assert_eq!((letters.as_str(), *ack), ("S.", SeqNr(5001)));
        assert_eq!(self.gets(".", 5001, isn.add(1)), []);
        isn.add(1)
    }

    /// Nobody says anything any more, for so many seconds; gives what leaves.
    pub(crate) fn silence(&mut self, seconds: u64) -> Vec<Said> {
        self.hears_nothing(seconds).iter().map(said).collect()
    }

    /// As [`Server::silence`]; gives what leaves, whole.
    pub(crate) fn hears_nothing(&mut self, seconds: u64) -> Vec<Segment> {
        let end = self.now + Duration::from_secs(seconds);
        let mut sent = Vec::new();
        while let Some(due) = self.stack.poll_timeout().filter(|&due| due <= end) {
            self.now = self.now.max(due);
            self.stack.handle_timeout(self.now);
            sent.extend(self.sends());
        }
        self.now = end;
        sent
    }
}
