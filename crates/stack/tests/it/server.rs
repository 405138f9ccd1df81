//! A stack that listens, and peers made of segments.

#![allow(dead_code)] // `blocked.rs` uses a part of it.

use std::net::SocketAddr;
use std::task::{Poll, Waker};

use unruffled_stack::codec::{Checksums, Packet, decode, encode};
use unruffled_stack::{ConnectionId, Duration, Instant, ListenerId, Stack, StackConfig, Variant};
use unruffled_tcp::{Flags, Segment, SeqNr, Timestamps};

/// The flags, sequence number and acknowledgement number of a segment.
pub(crate) type Summary = (String, SeqNr, SeqNr);

pub(crate) struct Server {
    pub(crate) stack: Stack,
    pub(crate) listener: ListenerId,
    pub(crate) local: SocketAddr,
    pub(crate) peer: SocketAddr,
    pub(crate) now: Instant,
}

/// Returns a segment with these flags: S, F, R, and a full stop for ACK.
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

fn summary(segment: &Segment) -> Summary {
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

    /// Receives a segment without payload, and returns the answers.
    pub(crate) fn answers(&mut self, letters: &str, seq: u32, ack: SeqNr) -> Vec<Summary> {
        self.receive(letters, seq, ack);
        self.sent()
    }

    /// Receives a segment without payload. Its answer does not leave yet.
    pub(crate) fn receive(&mut self, letters: &str, seq: u32, ack: SeqNr) {
        self.receive_segment(&segment(letters, seq, ack), &[]);
    }

    /// Receives a segment. Its answer does not leave yet.
    pub(crate) fn receive_segment(&mut self, segment: &Segment, payload: &[u8]) {
        let segment = Segment { len: payload.len() as u32, ..*segment };
        let mut packet = Vec::new();
        encode(self.peer, self.local, &segment, (payload, &[]), &mut packet)
            .expect("the packet fits");
        let _ = self.stack.receive(&packet, Checksums::Verify, self.now);
    }

    /// Returns the summaries of what leaves.
    pub(crate) fn sent(&mut self) -> Vec<Summary> {
        self.sent_segments().iter().map(summary).collect()
    }

    /// Returns the segments that leave.
    pub(crate) fn sent_segments(&mut self) -> Vec<Segment> {
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

    /// Completes a handshake and accepts the connection; returns it and the stack's next number.
    pub(crate) fn accept(&mut self) -> (ConnectionId, SeqNr) {
        let next = self.handshake();
        match self.stack.poll_accept(self.listener, Waker::noop()) {
            Poll::Ready(Ok(id)) => (id, next),
            other => panic!("{other:?}"),
        }
    }

    /// Completes a handshake; returns the stack's next number.
    pub(crate) fn handshake(&mut self) -> SeqNr {
        let syn_ack = self.answers("S", 5000, SeqNr(0));
        let [(letters, isn, ack)] = syn_ack.as_slice() else { panic!("{syn_ack:?}") };
        assert_eq!((letters.as_str(), *ack), ("S.", SeqNr(5001)));
        assert_eq!(self.answers(".", 5001, isn.add(1)), []);
        isn.add(1)
    }

    /// Lets so many seconds pass without an arrival; returns the summaries of what leaves.
    pub(crate) fn wait(&mut self, seconds: u64) -> Vec<Summary> {
        self.wait_for_segments(seconds).iter().map(summary).collect()
    }

    /// Lets so many seconds pass without an arrival; returns the segments that leave.
    pub(crate) fn wait_for_segments(&mut self, seconds: u64) -> Vec<Segment> {
        let end = self.now + Duration::from_secs(seconds);
        let mut sent = Vec::new();
        while let Some(due) = self.stack.poll_timeout().filter(|&due| due <= end) {
            self.now = self.now.max(due);
            self.stack.handle_timeout(self.now);
            sent.extend(self.sent_segments());
        }
        self.now = end;
        sent
    }
}
