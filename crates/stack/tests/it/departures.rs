//! What leaves in bursts, where a segment that does not go together with those before it is held back
//! until the next one is asked for.

use std::task::{Poll, Waker};

use crate::server::{Server, segment};
use unruffled_stack::codec::{Checksums, Packet, decode};
use unruffled_tcp::{Segment, SeqNr};

const MSS: u32 = 1460;

/// The next packet: where its payload begins behind `from`, and how many octets it has.
fn leaves(server: &mut Server, from: SeqNr) -> Option<(i32, u32)> {
    let mut out = Vec::new();
    server.stack.poll_departure(true, server.now, &mut out)?;
    let Ok(Packet::Tcp(sent)) = decode(&out, Checksums::Trust) else { panic!("{out:?}") };
    Some((sent.segment.seq.distance(from), sent.segment.len))
}

/// The peer acknowledges all before `until`, and has in addition what these blocks say.
fn acknowledges(server: &mut Server, from: SeqNr, until: u32, blocks: &[(u32, u32)]) {
    let mut ack = Segment { window: 60_000, ..segment(".", 5001, from.add(until)) };
    for &(left, right) in blocks {
        ack.sack.push(from.add(left), from.add(right));
    }
    server.takes(&ack, &[]);
}

/// Of ten segments the peer lacks the first, the third and the fourth; the first of them has left
/// again, and the third is held back.
fn holding_the_third() -> (Server, SeqNr) {
    let mut server = Server::new();
    let syn = Segment {
        mss: Some(MSS as u16),
        sack_permitted: true,
        window: 60_000,
        ..segment("S", 5000, SeqNr(0))
    };
    server.takes(&syn, &[]);
    let from = server.sends()[0].seq.add(1);
    acknowledges(&mut server, from, 0, &[]);
    let accepted = server.stack.poll_accept(server.listener, Waker::noop());
    let Poll::Ready(Ok(id)) = accepted else { panic!("{accepted:?}") };
    let written = server.stack.poll_write(id, Waker::noop(), &[7; 10 * MSS as usize]);
    assert_eq!(written, Poll::Ready(Ok(10 * MSS as usize)));
    assert_eq!(leaves(&mut server, from), Some((0, 10 * MSS)));
    assert_eq!(leaves(&mut server, from), None);
    acknowledges(&mut server, from, 0, &[(MSS, 2 * MSS), (4 * MSS, 10 * MSS)]);
    assert_eq!(leaves(&mut server, from), Some((0, MSS)));
    (server, from)
}

#[test]
fn what_was_acknowledged_while_it_was_held_back_takes_nothing_along() {
    let (mut server, from) = holding_the_third();
    acknowledges(&mut server, from, 3 * MSS, &[(4 * MSS, 10 * MSS)]);
    // What it acknowledges itself, nothing else has told the peer.
    assert_eq!(leaves(&mut server, from), Some((10 * MSS as i32, 0)));
    assert_eq!(leaves(&mut server, from), Some((3 * MSS as i32, MSS)));
    assert_eq!(leaves(&mut server, from), None);
}

#[test]
fn of_what_was_partly_acknowledged_while_it_was_held_back_the_rest_leaves() {
    let (mut server, from) = holding_the_third();
    acknowledges(&mut server, from, 2 * MSS + 500, &[(4 * MSS, 10 * MSS)]);
    assert_eq!(leaves(&mut server, from), Some((2 * MSS as i32 + 500, MSS - 500)));
    assert_eq!(leaves(&mut server, from), Some((3 * MSS as i32, MSS)));
    assert_eq!(leaves(&mut server, from), None);
}

#[test]
fn what_was_not_acknowledged_while_it_was_held_back_leaves_whole() {
    let (mut server, from) = holding_the_third();
    acknowledges(&mut server, from, 2 * MSS, &[(4 * MSS, 10 * MSS)]);
    assert_eq!(leaves(&mut server, from), Some((2 * MSS as i32, 2 * MSS)));
    assert_eq!(leaves(&mut server, from), None);
}
