//! What a stack makes of what arrives: what it has acknowledged and its application has not read yet
//! is not overwritten, and only what is larger than a segment of the peer's is taken for several.

use std::net::SocketAddr;
use std::task::{Poll, Waker};

use unruffled_stack::codec::{Checksums, Packet, decode, encode};
use unruffled_stack::{ConnectionId, Stack, StackConfig};
use unruffled_tcp::{Flags, Segment, SeqNr, Timestamps, Variant};
use unruffled_units::{Duration, Instant};

const ISN: SeqNr = SeqNr(u32::MAX - 3);

/// A stack with one connection, and the other end of that.
struct Server {
    stack: Stack,
    id: ConnectionId,
    now: Instant,
    local: SocketAddr,
    peer: SocketAddr,
    /// The number that the peer acknowledges.
    ack: SeqNr,
}

impl Server {
    fn new() -> Self {
        Self::meets(segment(0, 100))
    }

    /// After a handshake with this SYN.
    fn meets(syn: Segment) -> Self {
        Self::of_variant("sack", syn)
    }

    /// The same, with a stack whose senders are such.
    fn of_variant(variant: &str, syn: Segment) -> Self {
        let local: SocketAddr = "10.0.0.2:80".parse().expect("an address");
        let peer = "10.0.0.1:1000".parse().expect("an address");
        let variant = Variant::named(variant).expect("a variant");
        let config = StackConfig::new(vec![local.ip()], variant).expect("randomness");
        let mut stack = Stack::new(config);
        let listener = stack.listen(local, 1).expect("a free port");
        let now = Instant::from_millis(1000);
        let mut packet = Vec::new();
        let third = Segment { seq: syn.seq.add(1), mss: None, sack_permitted: false, ..syn };
        let syn = Segment { flags: Flags { syn: true, ..Flags::default() }, ..syn };
        encode(peer, local, &syn, (&[], &[]), &mut packet).expect("it fits");
        let _ = stack.receive(&packet, Checksums::Verify, now);
        let mut out = Vec::new();
        stack.poll_transmit(now, &mut out).expect("a SYN-ACK");
        let Ok(Packet::Tcp(answer)) = decode(&out, Checksums::Verify) else { panic!("{out:?}") };
        let ack = answer.segment.seq.add(1);
        packet.clear();
        let third = Segment { ack, ..third };
        encode(peer, local, &third, (&[], &[]), &mut packet).expect("it fits");
        let _ = stack.receive(&packet, Checksums::Verify, now);
        let Poll::Ready(Ok(id)) = stack.poll_accept(listener, Waker::noop()) else {
            panic!("no connection")
        };
        Self { stack, id, now, local, peer, ack }
    }

    /// A packet arrives.
    fn gets(&mut self, segment: Segment, payload: &[u8]) -> &mut Self {
        self.hears(segment, payload);
        self
    }

    /// A packet arrives; gives what is acknowledged at once, in octets of the peer's stream, and the
    /// first SACK block.
    fn hears(&mut self, segment: Segment, payload: &[u8]) -> Vec<(u32, Option<(u32, u32)>)> {
        self.takes(segment, payload);
        self.says()
    }

    /// A packet arrives; says whether its answer must leave before the next one goes in.
    fn takes(&mut self, segment: Segment, payload: &[u8]) -> bool {
        self.now += Duration::from_millis(1);
        let len = payload.len() as u32;
        let segment = Segment { ack: self.ack.at(u64::from(segment.ack.0)), len, ..segment };
        let mut packet = Vec::new();
        encode(self.peer, self.local, &segment, (payload, &[]), &mut packet).expect("it fits");
        self.stack.receive(&packet, Checksums::Verify, self.now).is_immediate()
    }

    fn says(&mut self) -> Vec<(u32, Option<(u32, u32)>)> {
        let (mut out, mut said) = (Vec::new(), Vec::new());
        while self.stack.poll_transmit(self.now, &mut out).is_some() {
            let Ok(Packet::Tcp(answer)) = decode(&out, Checksums::Verify) else {
                panic!("{out:?}")
            };
            let place = |number: SeqNr| number.distance(ISN.add(1)) as u32;
            let block = answer.segment.sack.as_slice().first();
            let block = block.map(|block| (place(block.left), place(block.right)));
            said.push((place(answer.segment.ack), block));
            out.clear();
        }
        said
    }

    /// RACK's factor of its reordering window.
    fn factor(&self) -> Option<f64> {
        let variables = self.stack.connection(self.id)?.variables(self.now);
        variables.iter().find(|variable| variable.name == "reo_wnd_mult").map(|found| found.value)
    }

    fn reads(&mut self, most: usize) -> String {
        let mut out = vec![0; most];
        match self.stack.poll_read(self.id, Waker::noop(), &mut out) {
            Poll::Ready(Ok(len)) => String::from_utf8_lossy(&out[..len]).into_owned(),
            other => format!("{other:?}"),
        }
    }
}

/// A segment that is acceptable, so many numbers behind the SYN.
fn segment(number: u32, stamp: u32) -> Segment {
    Segment {
        seq: ISN.add(number),
        flags: Flags { ack: true, ..Flags::default() },
        window: 1000,
        timestamps: Some(Timestamps { value: stamp, echo: 0 }),
        ..Segment::default()
    }
}

#[test]
fn a_duplicate_does_not_change_what_was_acknowledged() {
    let mut server = Server::new();
    server.gets(segment(1, 100), b"abcdefghij").gets(segment(1, 100), b"ABCDEFGHIJ");
    server.gets(segment(4, 100), b"DEF");
    assert_eq!(server.reads(100), "abcdefghij");
}

/// RFC 5681, section 4.2: "a TCP receiver SHOULD send an immediate ACK when it receives a data segment
/// that fills in all or part of a gap".
#[test]
fn what_fills_part_of_a_hole_is_answered_before_the_next_is_read() {
    let mut server = Server::meets(Segment { sack_permitted: true, ..segment(0, 100) });
    assert!(!server.takes(segment(1, 100), &[1; 10]));
    assert_eq!(server.says(), []);
    assert!(server.takes(segment(41, 100), &[5; 10]));
    assert_eq!(server.says(), [(10, Some((40, 50)))]);
    assert!(server.takes(segment(11, 100), &[2; 10]));
    assert_eq!(server.says(), [(20, Some((40, 50)))]);
    assert!(server.takes(segment(21, 100), &[3; 20]));
    assert_eq!(server.says(), [(50, None)]);
    assert!(!server.takes(segment(51, 100), &[6; 10]));
}

#[test]
fn nor_does_a_segment_that_reaches_beyond_it() {
    let mut server = Server::new();
    server.gets(segment(1, 100), b"abcdefghij").gets(segment(6, 100), b"FGHIJklm");
    assert_eq!(server.reads(100), "abcdefghijklm");
    server.gets(segment(20, 100), b"tuv").gets(segment(14, 100), b"nopqrsTUVwx");
    assert_eq!(server.reads(100), "nopqrstuvwx");
}

#[test]
fn nor_does_one_that_is_not_acceptable() {
    let mut server = Server::new();
    server.gets(segment(1, 100), b"abcdefghij").gets(segment(11, 105), b"klmnopqrst");
    let without_ack = Segment { flags: Flags::default(), ..segment(1, 105) };
    let without_stamp = Segment { timestamps: None, ..segment(11, 105) };
    let acks_too_much = Segment { ack: SeqNr(7), ..segment(11, 105) };
    for forged in [without_ack, segment(1, 50), segment(11, 50), without_stamp, acks_too_much] {
        server.gets(forged, b"##########");
        server.gets(Segment { seq: ISN.add(21), ..forged }, b"##########");
    }
    assert_eq!(server.reads(5), "abcde");
    assert_eq!(server.reads(100), "fghijklmnopqrst");
    server.gets(segment(21, 105), b"uvwxyz");
    assert_eq!(server.reads(100), "uvwxyz");
}

/// Nobody sent the number amid its payload, which is the one expected.
#[test]
fn a_reset_with_much_text_is_judged_by_its_own_number() {
    let syn = Segment { mss: Some(1460), timestamps: None, ..segment(0, 0) };
    let data = |offset: u32| Segment { timestamps: None, ..segment(1 + offset, 0) };
    let mut server = Server::meets(syn);
    server.gets(data(0), &[1; 1460]).gets(data(1460), &[2; 1460]);
    let reset = Flags { rst: true, ack: true, ..Flags::default() };
    server.gets(Segment { flags: reset, ..data(1460) }, &[0; 2920]);
    assert_eq!(server.hears(data(2920), &[3; 1460]), []);
    assert_eq!(server.hears(data(4380), &[4; 1460]), [(5840, None)], "it lives");
}

/// A peer that takes segments of 1000 octets may send such of 1460: it is told by our MSS.
#[test]
fn a_segment_larger_than_our_own_is_one_segment() {
    let syn = Segment { mss: Some(1000), sack_permitted: true, timestamps: None, ..segment(0, 0) };
    let data = |offset: u32| Segment { timestamps: None, ..segment(1 + offset, 0) };
    let mut server = Server::meets(syn);
    assert_eq!(server.hears(data(0), &[1; 1460]), [], "the acknowledgement is delayed");
    assert_eq!(server.hears(data(1460), &[2; 1460]), [(2920, None)]);
    assert_eq!(server.hears(data(0), &[3; 1460]), [(2920, Some((0, 1460)))], "as a duplicate");
    // Two that a network card has joined are acknowledged as two, and so are duplicates.
    assert_eq!(server.hears(data(2920), &[4; 2920]), [(5840, None)]);
    assert_eq!(server.hears(data(2920), &[5; 2920]), [(5840, Some((2920, 5840)))]);
    let mut out = vec![0; 6000];
    let read = server.stack.poll_read(server.id, Waker::noop(), &mut out);
    assert!(matches!(read, Poll::Ready(Ok(5840))));
    let expected = [[1; 1460], [2; 1460], [4; 1460], [4; 1460]].concat();
    assert!(out[..5840] == expected);
}

/// RFC 8985, section 6.2, step 4: the reordering window grows with each DSACK while nothing is on its
/// way. A sender's network card puts the options of a burst into each segment of it.
#[test]
fn segments_that_were_joined_report_a_duplicate_once() {
    let syn = Segment { mss: Some(1460), sack_permitted: true, timestamps: None, ..segment(0, 0) };
    let data = |offset: u32| Segment { timestamps: None, ..segment(1 + offset, 0) };
    let mut server = Server::of_variant("rack", syn);
    let wrote = server.stack.poll_write(server.id, Waker::noop(), &[7; 1000]);
    assert_eq!(wrote, Poll::Ready(Ok(1000)));
    assert_eq!(server.says().len(), 1);
    let start = server.ack;
    server.ack = start.add(1000);
    let reporting = |offset| {
        let mut segment = data(offset);
        segment.sack.push(start, start.add(1000));
        segment
    };
    assert_eq!(server.hears(reporting(0), &[1; 4 * 1460]), [(4 * 1460, None)]);
    assert_eq!(server.factor(), Some(2.0));
    // Text that has arrived before says nothing; what comes behind it does.
    let old = Some((2 * 1460, 4 * 1460));
    assert_eq!(server.hears(reporting(2 * 1460), &[1; 4 * 1460]), [(6 * 1460, old)]);
    assert_eq!(server.factor(), Some(3.0));
}
