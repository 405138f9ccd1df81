//! Segments that leave joined. A segment that cannot be joined to those before it is held back
//! until the next call.

use std::task::{Poll, Waker};

use crate::server::{Server, segment};
use unruffled_stack::codec::{Checksums, Packet, decode};
use unruffled_tcp::{Segment, SeqNr};

const MSS: u32 = 1460;

/// Returns the next packet: the start of its payload relative to `from`, and its length.
fn next_packet(server: &mut Server, from: SeqNr) -> Option<(i32, u32)> {
    let mut out = Vec::new();
    server.stack.poll_departure(true, server.now, &mut out)?;
    let Ok(Packet::Tcp(sent)) = decode(&out, Checksums::Trust) else { panic!("{out:?}") };
    Some((sent.segment.seq.distance(from), sent.segment.len))
}

/// Receives an acknowledgement of everything before `until`, with these SACK blocks.
fn acknowledge(server: &mut Server, from: SeqNr, until: u32, blocks: &[(u32, u32)]) {
    let mut ack = Segment { window: 60_000, ..segment(".", 5001, from.add(until)) };
    for &(left, right) in blocks {
        ack.sack.push(from.add(left), from.add(right));
    }
    server.receive_segment(&ack, &[]);
}

/// Returns a server whose peer lacks the first, third and fourth of ten segments. The first has
/// been sent again, and the third is held back.
fn holding_the_third() -> (Server, SeqNr) {
    let mut server = Server::new();
    let syn = Segment {
        mss: Some(MSS as u16),
        sack_permitted: true,
        window: 60_000,
        ..segment("S", 5000, SeqNr(0))
    };
    server.receive_segment(&syn, &[]);
    let from = server.sent_segments()[0].seq.add(1);
    acknowledge(&mut server, from, 0, &[]);
    let accepted = server.stack.poll_accept(server.listener, Waker::noop());
    let Poll::Ready(Ok(id)) = accepted else { panic!("{accepted:?}") };
    let written = server.stack.poll_write(id, Waker::noop(), &[7; 10 * MSS as usize]);
    assert_eq!(written, Poll::Ready(Ok(10 * MSS as usize)));
    assert_eq!(next_packet(&mut server, from), Some((0, 10 * MSS)));
    assert_eq!(next_packet(&mut server, from), None);
    acknowledge(&mut server, from, 0, &[(MSS, 2 * MSS), (4 * MSS, 10 * MSS)]);
    assert_eq!(next_packet(&mut server, from), Some((0, MSS)));
    (server, from)
}

#[test]
fn a_segment_acknowledged_while_held_back_leaves_as_an_acknowledgement_only() {
    let (mut server, from) = holding_the_third();
    acknowledge(&mut server, from, 3 * MSS, &[(4 * MSS, 10 * MSS)]);
    // No other segment carries its acknowledgement.
    assert_eq!(next_packet(&mut server, from), Some((10 * MSS as i32, 0)));
    assert_eq!(next_packet(&mut server, from), Some((3 * MSS as i32, MSS)));
    assert_eq!(next_packet(&mut server, from), None);
}

#[test]
fn a_segment_acknowledged_in_part_while_held_back_leaves_without_that_part() {
    let (mut server, from) = holding_the_third();
    acknowledge(&mut server, from, 2 * MSS + 500, &[(4 * MSS, 10 * MSS)]);
    assert_eq!(next_packet(&mut server, from), Some((2 * MSS as i32 + 500, MSS - 500)));
    assert_eq!(next_packet(&mut server, from), Some((3 * MSS as i32, MSS)));
    assert_eq!(next_packet(&mut server, from), None);
}

#[test]
fn a_segment_not_acknowledged_while_held_back_leaves_whole() {
    let (mut server, from) = holding_the_third();
    acknowledge(&mut server, from, 2 * MSS, &[(4 * MSS, 10 * MSS)]);
    assert_eq!(next_packet(&mut server, from), Some((2 * MSS as i32, 2 * MSS)));
    assert_eq!(next_packet(&mut server, from), None);
}
