//! What a stack makes of arriving data: an octet that was acknowledged is not overwritten, and only
//! a segment larger than the peer can send counts as several.

use std::net::SocketAddr;
use std::task::{Poll, Waker};

use unruffled_stack::codec::{Checksums, Packet, decode, encode};
use unruffled_stack::{ConnectionId, Duration, Instant, Stack, StackConfig, Urgency, Variant};
use unruffled_tcp::{Flags, Segment, SeqNr, Timestamps};

const ISN: SeqNr = SeqNr(u32::MAX - 3);

/// What an acknowledgement reports, in octets of the peer's stream: everything before the first
/// number, and the first SACK block.
type Report = (u32, Option<(u32, u32)>);

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
        Self::with_syn(segment(0, 100))
    }

    /// Returns a server after a handshake with this SYN.
    fn with_syn(syn: Segment) -> Self {
        Self::with_variant("sack", syn)
    }

    fn with_variant(variant: &str, syn: Segment) -> Self {
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
        encode(peer, local, &syn, (&[], &[]), &mut packet).expect("the packet fits");
        let _ = stack.receive(&packet, Checksums::Verify, now);
        let mut out = Vec::new();
        stack.poll_transmit(now, &mut out).expect("a SYN-ACK");
        let Ok(Packet::Tcp(answer)) = decode(&out, Checksums::Verify) else { panic!("{out:?}") };
        let ack = answer.segment.seq.add(1);
        packet.clear();
        let third = Segment { ack, ..third };
        encode(peer, local, &third, (&[], &[]), &mut packet).expect("the packet fits");
        let _ = stack.receive(&packet, Checksums::Verify, now);
        let Poll::Ready(Ok(id)) = stack.poll_accept(listener, Waker::noop()) else {
            panic!("no connection")
        };
        Self { stack, id, now, local, peer, ack }
    }

    /// Receives a packet and sends its answer.
    fn receive(&mut self, segment: Segment, payload: &[u8]) -> &mut Self {
        self.reports(segment, payload);
        self
    }

    /// Receives a packet, and returns what is acknowledged at once.
    fn reports(&mut self, segment: Segment, payload: &[u8]) -> Vec<Report> {
        let _ = self.urgency(segment, payload);
        self.sent()
    }

    /// Receives a packet and returns the urgency of its answer.
    fn urgency(&mut self, segment: Segment, payload: &[u8]) -> Urgency {
        self.now += Duration::from_millis(1);
        let len = payload.len() as u32;
        let segment = Segment { ack: self.ack.at(u64::from(segment.ack.0)), len, ..segment };
        let mut packet = Vec::new();
        encode(self.peer, self.local, &segment, (payload, &[]), &mut packet)
            .expect("the packet fits");
        self.stack.receive(&packet, Checksums::Verify, self.now)
    }

    /// Returns what the segments that leave acknowledge.
    fn sent(&mut self) -> Vec<Report> {
        let mut out = Vec::new();
        let mut sent = Vec::new();
        while self.stack.poll_transmit(self.now, &mut out).is_some() {
            let Ok(Packet::Tcp(answer)) = decode(&out, Checksums::Verify) else {
                panic!("{out:?}")
            };
            let place = |number: SeqNr| number.distance(ISN.add(1)) as u32;
            let block = answer.segment.sack.as_slice().first();
            let block = block.map(|block| (place(block.left), place(block.right)));
            sent.push((place(answer.segment.ack), block));
            out.clear();
        }
        sent
    }

    /// Returns the factor of RACK's reordering window.
    fn reo_wnd_mult(&self) -> Option<f64> {
        let variables = self.stack.connection(self.id)?.variables(self.now);
        variables.iter().find(|variable| variable.name == "reo_wnd_mult").map(|found| found.value)
    }

    fn read(&mut self, len: usize) -> String {
        let mut out = vec![0; len];
        match self.stack.poll_read(self.id, Waker::noop(), &mut out) {
            Poll::Ready(Ok(len)) => String::from_utf8_lossy(&out[..len]).into_owned(),
            other => format!("{other:?}"),
        }
    }
}

/// Returns an acceptable segment, so many numbers behind the SYN.
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
fn a_duplicate_does_not_change_acknowledged_data() {
    let mut server = Server::new();
    server.receive(segment(1, 100), b"abcdefghij").receive(segment(1, 100), b"ABCDEFGHIJ");
    server.receive(segment(4, 100), b"DEF");
    assert_eq!(server.read(100), "abcdefghij");
}

/// RFC 5681, section 4.2: "a TCP receiver SHOULD send an immediate ACK when it receives a data
/// segment that fills in all or part of a gap".
#[test]
fn a_segment_that_fills_part_of_a_hole_is_answered_before_the_next_one() {
    let mut server = Server::with_syn(Segment { sack_permitted: true, ..segment(0, 100) });
    assert_eq!(server.urgency(segment(1, 100), &[1; 10]), Urgency::Deferrable);
    assert_eq!(server.sent(), []);
    assert_eq!(server.urgency(segment(41, 100), &[5; 10]), Urgency::Immediate);
    assert_eq!(server.sent(), [(10, Some((40, 50)))]);
    assert_eq!(server.urgency(segment(11, 100), &[2; 10]), Urgency::Immediate);
    assert_eq!(server.sent(), [(20, Some((40, 50)))]);
    assert_eq!(server.urgency(segment(21, 100), &[3; 20]), Urgency::Immediate);
    assert_eq!(server.sent(), [(50, None)]);
    assert_eq!(server.urgency(segment(51, 100), &[6; 10]), Urgency::Deferrable);
}

#[test]
fn a_segment_that_overlaps_acknowledged_data_does_not_change_it() {
    let mut server = Server::new();
    server.receive(segment(1, 100), b"abcdefghij").receive(segment(6, 100), b"FGHIJklm");
    assert_eq!(server.read(100), "abcdefghijklm");
    server.receive(segment(20, 100), b"tuv").receive(segment(14, 100), b"nopqrsTUVwx");
    assert_eq!(server.read(100), "nopqrstuvwx");
}

#[test]
fn an_unacceptable_segment_does_not_change_acknowledged_data() {
    let mut server = Server::new();
    server.receive(segment(1, 100), b"abcdefghij").receive(segment(11, 105), b"klmnopqrst");
    let without_ack = Segment { flags: Flags::default(), ..segment(1, 105) };
    let without_stamp = Segment { timestamps: None, ..segment(11, 105) };
    let acks_too_much = Segment { ack: SeqNr(7), ..segment(11, 105) };
    for forged in [without_ack, segment(1, 50), segment(11, 50), without_stamp, acks_too_much] {
        server.receive(forged, b"##########");
        server.receive(Segment { seq: ISN.add(21), ..forged }, b"##########");
    }
    assert_eq!(server.read(5), "abcde");
    assert_eq!(server.read(100), "fghijklmnopqrst");
    server.receive(segment(21, 105), b"uvwxyz");
    assert_eq!(server.read(100), "uvwxyz");
}

/// The expected number lies within the payload of the reset; its own number is another one.
#[test]
fn a_reset_with_much_payload_is_judged_by_its_own_number() {
    let syn = Segment { mss: Some(1460), timestamps: None, ..segment(0, 0) };
    let data = |offset: u32| Segment { timestamps: None, ..segment(1 + offset, 0) };
    let mut server = Server::with_syn(syn);
    server.receive(data(0), &[1; 1460]).receive(data(1460), &[2; 1460]);
    let reset = Flags { rst: true, ack: true, ..Flags::default() };
    server.receive(Segment { flags: reset, ..data(1460) }, &[0; 2920]);
    assert_eq!(server.reports(data(2920), &[3; 1460]), []);
    assert_eq!(server.reports(data(4380), &[4; 1460]), [(5840, None)], "not reset");
}

/// A peer that accepts segments of 1000 octets may send segments of 1460, since this end's MSS
/// allows it.
#[test]
fn a_segment_larger_than_those_of_this_end_is_one_segment() {
    let syn = Segment { mss: Some(1000), sack_permitted: true, timestamps: None, ..segment(0, 0) };
    let data = |offset: u32| Segment { timestamps: None, ..segment(1 + offset, 0) };
    let mut server = Server::with_syn(syn);
    assert_eq!(server.reports(data(0), &[1; 1460]), [], "the acknowledgement is delayed");
    assert_eq!(server.reports(data(1460), &[2; 1460]), [(2920, None)]);
    assert_eq!(server.reports(data(0), &[3; 1460]), [(2920, Some((0, 1460)))], "a duplicate");
    // Two segments that a network card has joined are acknowledged as two, and so are duplicates.
    assert_eq!(server.reports(data(2920), &[4; 2920]), [(5840, None)]);
    assert_eq!(server.reports(data(2920), &[5; 2920]), [(5840, Some((2920, 5840)))]);
    let mut out = vec![0; 6000];
    let read = server.stack.poll_read(server.id, Waker::noop(), &mut out);
    assert!(matches!(read, Poll::Ready(Ok(5840))));
    let expected = [[1; 1460], [2; 1460], [4; 1460], [4; 1460]].concat();
    assert!(out[..5840] == expected);
}

/// RFC 8985, section 6.2, step 4: the reordering window grows with each DSACK while nothing is in
/// flight. A sender's network card puts the options of a burst into each of its segments.
#[test]
fn joined_segments_report_a_duplicate_once() {
    let syn = Segment { mss: Some(1460), sack_permitted: true, timestamps: None, ..segment(0, 0) };
    let data = |offset: u32| Segment { timestamps: None, ..segment(1 + offset, 0) };
    let mut server = Server::with_variant("rack", syn);
    let wrote = server.stack.poll_write(server.id, Waker::noop(), &[7; 1000]);
    assert_eq!(wrote, Poll::Ready(Ok(1000)));
    assert_eq!(server.sent().len(), 1);
    let start = server.ack;
    server.ack = start.add(1000);
    let with_dsack = |offset| {
        let mut segment = data(offset);
        segment.sack.push(start, start.add(1000));
        segment
    };
    assert_eq!(server.reports(with_dsack(0), &[1; 4 * 1460]), [(4 * 1460, None)]);
    assert_eq!(server.reo_wnd_mult(), Some(2.0));
    // The DSACK counts with the new data, behind the data that had arrived before.
    let old = Some((2 * 1460, 4 * 1460));
    assert_eq!(server.reports(with_dsack(2 * 1460), &[1; 4 * 1460]), [(6 * 1460, old)]);
    assert_eq!(server.reo_wnd_mult(), Some(3.0));
}
