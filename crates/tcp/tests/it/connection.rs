//! Both ends of a connection, segment by segment: handshake, timestamps and close.

use unruffled_tcp::{Config, Connection, Flags, Segment, SeqNr, State, Timestamps, Variant};
use unruffled_units::{Duration, Instant};

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn variant() -> Variant {
    Variant::sack()
}

fn send(connection: &mut Connection, ms: u64) -> Vec<Segment> {
    std::iter::from_fn(|| connection.poll_transmit(at(ms), &mut ())).collect()
}

/// Delivers everything that `from` sends to `to`, and returns how many segments that were.
fn exchange(from: &mut Connection, to: &mut Connection, ms: u64) -> usize {
    let segments = send(from, ms);
    for segment in &segments {
        to.handle_segment(segment, at(ms), &mut ());
    }
    segments.len()
}

/// Returns a client with 1000-octet segments and its server, connected at 100 ms.
fn connected(config: &Config) -> (Connection, Connection) {
    let config = Config { mss: 1000, ..config.clone() };
    let mut client = Connection::connect(Config { isn: 7, ..config.clone() }, &variant());
    let mut server = Connection::listen(Config { isn: u32::MAX, ..config }, &variant());
    exchange(&mut client, &mut server, 0);
    exchange(&mut server, &mut client, 100);
    exchange(&mut client, &mut server, 100);
    assert_eq!((client.state(), server.state()), (State::Established, State::Established));
    (client, server)
}

#[test]
fn the_handshake_times_the_round_trip() {
    let (client, server) = connected(&Config::simulated());
    assert_eq!(client.srtt(), Some(Duration::from_millis(100)));
    assert_eq!(server.srtt(), Some(Duration::ZERO));
}

/// RFC 6298, section 3 (Karn): it is unknown which SYN was answered, and the timeout stays doubled.
#[test]
fn a_handshake_with_a_repeated_syn_gives_no_sample() {
    let mut client = Connection::connect(Config::simulated(), &variant());
    let mut server = Connection::listen(Config::simulated(), &variant());
    assert_eq!(send(&mut client, 0).len(), 1, "this SYN is lost");
    assert_eq!(client.poll_timeout(), Some(at(1000)));
    client.handle_timeout(at(1000), &mut ());
    exchange(&mut client, &mut server, 1000);
    exchange(&mut server, &mut client, 1100);
    assert_eq!(client.state(), State::Established);
    assert_eq!((client.srtt(), client.rto()), (None, Duration::from_secs(2)));
}

/// The same holds for the answer, which a repeated SYN repeats.
#[test]
fn a_handshake_with_a_repeated_answer_gives_no_sample() {
    let mut client = Connection::connect(Config::simulated(), &variant());
    let mut server = Connection::listen(Config::simulated(), &variant());
    let syn = send(&mut client, 0)[0];
    server.handle_segment(&syn, at(0), &mut ());
    assert_eq!(send(&mut server, 0).len(), 1, "this answer is lost");
    server.handle_segment(&syn, at(900), &mut ());
    exchange(&mut server, &mut client, 900);
    exchange(&mut client, &mut server, 950);
    assert_eq!((server.state(), server.srtt()), (State::Established, None));
}

/// In a simultaneous open SYN and SYN-ACK have the same number, and the first may be lost.
#[test]
fn a_simultaneous_open_gives_no_sample() {
    let [mut one, mut other] =
        [(); 2].map(|()| Connection::connect(Config::simulated(), &variant()));
    assert_eq!(send(&mut one, 0).len(), 1, "this SYN is lost");
    exchange(&mut other, &mut one, 900);
    exchange(&mut one, &mut other, 950);
    exchange(&mut other, &mut one, 1000);
    assert_eq!((one.state(), one.srtt()), (State::Established, None));
}

fn data(number: u32, timestamp: u32) -> Segment {
    Segment {
        seq: SeqNr(8).add((number - 1) * 1000),
        ack: SeqNr(0),
        len: 1000,
        flags: Flags { ack: true, ..Flags::default() },
        window: 1000,
        timestamps: Some(Timestamps { value: timestamp, echo: 0 }),
        ..Segment::default()
    }
}

/// RFC 7323, section 4.3, second example: segments out of order, each acknowledged.
#[test]
fn the_timestamp_of_the_segment_that_moved_the_edge_is_echoed() {
    let (_, mut server) = connected(&Config::simulated().with(|c| c.timestamps.offer = true));
    // A, C, B, E, D with the times 101, 103, 102, 105, 104.
    for (number, time, echo) in
        [(1, 101, 101), (3, 103, 101), (2, 102, 102), (5, 105, 102), (4, 104, 104)]
    {
        server.handle_segment(&data(number, time), at(200), &mut ());
        let ack = send(&mut server, 200)[0];
        assert_eq!(ack.timestamps.map(|t| t.echo), Some(echo), "segment {number}");
    }
    // An old duplicate does not move the echo back: "SEG.TSval >= TS.Recent".
    server.handle_segment(&data(2, 90), at(200), &mut ());
    assert_eq!(send(&mut server, 200)[0].timestamps.map(|t| t.echo), Some(104));
}

/// RFC 7323, section 4.3, first example: "the timestamp from the oldest unacknowledged segment is
/// echoed".
#[test]
fn a_delayed_acknowledgement_echoes_the_oldest_segment() {
    let delayed_ack = Some(Duration::from_millis(50));
    let (_, mut server) = connected(&Config::simulated().with(|c| {
        c.timestamps.offer = true;
        c.delayed_ack = delayed_ack;
    }));
    server.handle_segment(&data(1, 101), at(200), &mut ());
    assert!(send(&mut server, 200).is_empty());
    server.handle_segment(&data(2, 102), at(201), &mut ());
    assert_eq!(send(&mut server, 201)[0].timestamps.map(|t| t.echo), Some(101));
}

#[test]
fn both_ends_close_after_both_have_finished() {
    let (mut client, mut server) = connected(&Config::simulated());
    client.write(2500);
    client.finish();
    assert_eq!(client.state(), State::FinWait1);
    assert_eq!(exchange(&mut client, &mut server, 200), 4, "three of data, and the FIN");
    assert_eq!((server.state(), server.received()), (State::CloseWait, 2501));
    server.finish();
    assert_eq!(server.state(), State::LastAck);
    exchange(&mut server, &mut client, 300);
    assert_eq!(client.state(), State::TimeWait);
    exchange(&mut client, &mut server, 300);
    assert_eq!((server.state(), server.poll_timeout()), (State::Closed, None));
    let due = client.poll_timeout().expect("the end of TIME-WAIT");
    client.handle_timeout(due, &mut ());
    assert_eq!((client.state(), client.poll_timeout()), (State::Closed, None));
}

/// Data written, and a close requested, before the handshake take effect after it.
#[test]
fn a_connection_may_be_finished_before_it_is_established() {
    let mut client = Connection::connect(Config::simulated(), &variant());
    let mut server = Connection::listen(Config::simulated(), &variant());
    client.finish();
    exchange(&mut client, &mut server, 0);
    exchange(&mut server, &mut client, 100);
    assert_eq!(client.state(), State::FinWait1);
    exchange(&mut client, &mut server, 100);
    assert_eq!(server.state(), State::CloseWait);
}

/// RFC 9293, section 3.6.1 (TIME-WAIT): the last acknowledgement may be lost, so a repeated FIN is
/// answered again.
#[test]
fn a_closed_end_answers_a_repeated_fin() {
    let (mut client, mut server) = connected(&Config::simulated());
    client.finish();
    exchange(&mut client, &mut server, 200);
    server.finish();
    exchange(&mut server, &mut client, 300);
    assert_eq!(send(&mut client, 300).len(), 1, "this acknowledgement is lost");
    assert_eq!((client.state(), server.state()), (State::TimeWait, State::LastAck));
    let due = server.poll_timeout().expect("a timer for the FIN");
    server.handle_timeout(due, &mut ());
    exchange(&mut server, &mut client, 2000);
    assert_eq!(exchange(&mut client, &mut server, 2100), 1);
    assert_eq!(server.state(), State::Closed);
}
