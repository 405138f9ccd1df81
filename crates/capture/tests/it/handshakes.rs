//! SYNs that are copied, retransmitted, refused or carry data, and what packets without data show.

use unruffled_capture::Segment;

use crate::trace::Trace;

const CLIENT: usize = 0;
const SERVER: usize = 1;

fn syn(seq: u32) -> Segment {
    Segment { seq, syn: true, window: 500, ..Segment::default() }
}

fn syn_ack(seq: u32, ack: u32) -> Segment {
    Segment { ack: Some(ack), ..syn(seq) }
}

fn ack(seq: u32, ack: u32) -> Segment {
    Segment { seq, ack: Some(ack), window: 500, ..Segment::default() }
}

fn data(seq: u32, acked: u32, len: u32) -> Segment {
    Segment { len, ..ack(seq, acked) }
}

#[test]
fn syns_that_pass_two_interfaces_are_copies() {
    for trace in [Trace::at_two_interfaces(false), Trace::at_a_router()] {
        for direction in trace.directions() {
            let resent = direction.retransmissions;
            assert_eq!((resent.syn_duplicates, resent.syns, resent.duplicates), (1, 0, 0));
        }
    }
}

/// A queue may bring both together.
#[test]
fn a_syn_with_another_identification_is_retransmitted_however_soon_it_passes() {
    let mut trace = Trace::empty().with_ids();
    trace.pass(CLIENT, 0, syn(0));
    trace.pass(CLIENT, 8000, syn(0));
    trace.pass(SERVER, 9000, syn_ack(0, 1));
    trace.pass(CLIENT, 50_000, ack(1, 1));
    let [client, server] = trace.directions();
    assert_eq!((client.retransmissions.syns, client.retransmissions.syn_duplicates), (1, 0));
    // It is not known which SYN is answered.
    assert_eq!((client.rtt.beyond_ms, server.rtt.beyond_ms), (None, Some(41.0)));
}

#[test]
fn the_answer_to_a_syn_may_be_captured_before_it() {
    let mut trace = Trace::empty();
    trace.pass(SERVER, 0, syn_ack(0, 1));
    trace.pass(CLIENT, 10, syn(0));
    let directions = trace.directions();
    assert!(directions.iter().all(|direction| direction.retransmissions.syns == 0));
}

/// Windows sends a refused SYN twice more.
#[test]
fn a_refused_syn_is_retransmitted() {
    let mut trace = Trace::empty().with_ids();
    for n in 0..3 {
        trace.pass(CLIENT, n * 500_000, syn(7000));
        let reset = Segment { rst: true, ..ack(0, 7001) };
        trace.pass(SERVER, n * 500_000 + 50_000, reset);
    }
    let analysis = trace.analysis();
    let [connection] = &analysis.connections[..] else { panic!("{:?}", analysis.connections) };
    assert_eq!(connection.directions[0].retransmissions.syns, 2);
    assert_eq!((connection.ended, connection.packets), ("reset", 6));
}

/// RFC 9293, section 3.5.1: the server still has an earlier connection, and the client resets it.
#[test]
fn a_syn_that_follows_a_reset_of_an_old_connection_opens_the_new_one() {
    let mut trace = Trace::empty().with_ids();
    trace.pass(CLIENT, 0, syn(7000));
    trace.pass(SERVER, 20_000, ack(1_000_000_000, 2_000_000_000));
    trace.pass(CLIENT, 20_100, Segment { rst: true, ack: None, ..ack(2_000_000_000, 0) });
    trace.pass(CLIENT, 3_000_000, syn(7000));
    trace.pass(SERVER, 3_020_000, syn_ack(500, 7001));
    trace.pass(CLIENT, 3_020_100, ack(7001, 501));
    trace.pass(SERVER, 3_040_000, data(501, 7001, 1000));
    let analysis = trace.analysis();
    let [connection] = &analysis.connections[..] else { panic!("{:?}", analysis.connections) };
    let [client, server] = &connection.directions;
    assert_eq!((client.retransmissions.syns, connection.ended), (1, "open"));
    assert_eq!((server.traffic.segments, server.traffic.payload_bytes), (1, 1000));
    assert_eq!((server.retransmissions.total, server.reordering_here.reordered), (0, 0));
}

#[test]
fn a_server_may_answer_the_next_syn_with_another_number() {
    let mut trace = Trace::empty().with_ids();
    trace.pass(SERVER, 0, syn_ack(0, 7001));
    trace.pass(SERVER, 2_000_000, syn_ack(3_000_000_000, 7001));
    trace.pass(CLIENT, 2_050_000, data(7001, 3_000_000_001, 500));
    trace.pass(SERVER, 2_100_000, data(3_000_000_001, 7501, 1000));
    let directions = trace.directions();
    let server = directions.iter().find(|direction| direction.from.port() == 80).expect("a server");
    assert_eq!((server.traffic.segments, server.losses.strange), (1, 0));
    assert_eq!((server.retransmissions.total, server.retransmissions.syns), (0, 0));
}

/// RFC 7413.
#[test]
fn data_in_a_syn_counts_as_data() {
    let mut trace = Trace::empty().with_ids();
    trace.pass(CLIENT, 0, Segment { len: 300, ..syn(0) });
    trace.pass(SERVER, 50_000, syn_ack(0, 301));
    trace.pass(CLIENT, 50_100, data(301, 1, 200));
    trace.pass(SERVER, 100_100, ack(1, 501));
    let [client, _] = trace.directions();
    assert_eq!((client.traffic.segments, client.traffic.payload_bytes), (2, 500));
    assert_eq!((client.traffic.stream_bytes, client.losses.not_captured), (500, 0));
    assert_eq!((client.retransmissions.total, client.retransmissions.syns), (0, 0));
}

/// The server accepts the SYN without its data, so the client sends it again.
#[test]
fn data_that_the_answer_to_a_syn_does_not_cover_is_retransmitted() {
    let mut trace = Trace::empty().with_ids();
    trace.pass(CLIENT, 0, Segment { len: 300, ..syn(0) });
    trace.pass(SERVER, 50_000, syn_ack(0, 1));
    trace.pass(CLIENT, 50_100, data(1, 1, 300));
    trace.pass(SERVER, 100_100, ack(1, 301));
    let [client, _] = trace.directions();
    assert_eq!((client.traffic.segments, client.retransmissions.total), (1, 1));
    assert_eq!((client.retransmissions.syns, client.retransmissions.spurious), (0, 0));
}

/// The FIN was sent before the acknowledgement that overtakes it: RFC 4737 holds for it as well.
#[test]
fn an_acknowledgement_may_overtake_data() {
    let mut trace = Trace::at_receiver(false).with_ids();
    trace.data(100.0, 0, 0).data_with_id(101.0, 1, 2);
    let fin = Segment { seq: 2000, fin: true, ..ack(0, 1000) };
    trace.pass_with_id(CLIENT, 102_010, ack(2001, 1001), 4);
    trace.pass_with_id(CLIENT, 102_500, fin, 3);
    let found = trace.found();
    assert_eq!((found.traffic.segments, found.reordering_here.reordered), (3, 1));
    assert_eq!((found.retransmissions.total, found.losses.strange), (0, 0));
    let late = found.reordering_here.late_time.expect("a late time");
    assert!((late.median_ms - 0.49).abs() < 0.01, "{late:?}");
    assert_eq!(found.reordering_here.mean_extent, Some(1.0));
}

#[test]
fn a_packet_without_data_shows_that_the_last_segment_was_lost() {
    let mut trace = Trace::at_receiver(true);
    trace.data(100.0, 0, 100);
    // Segment 1 is lost. The server sends something, which the client acknowledges.
    let stamped = |segment, stamp| Segment { timestamps: Some((stamp, 1)), ..segment };
    trace.pass(SERVER, 150_000, stamped(data(1000, 1000, 10), 1));
    trace.pass(CLIENT, 200_000, stamped(ack(2000, 1010), 200));
    trace.data(400.0, 1, 400).ack(400.1, 2, 400, &[]);
    let found = trace.found();
    assert_eq!((found.retransmissions.total, found.losses.lost), (1, 1));
    assert_eq!((found.reordering_here.reordered, found.losses.not_captured), (0, 0));
}

/// Segments 2 and 3 are joined, and retransmitted as one packet; segment 0 is captured after its
/// acknowledgement.
#[test]
fn old_packets_count_as_captured() {
    let mut trace = Trace::at_sender(false).with_ids();
    trace.ack(100.0, 1, 0, &[]).data(100.1, 0, 0);
    trace.data(101.0, 1, 0).joined(102.0, 2, 2).joined(500.0, 2, 2).ack(551.0, 4, 0, &[]);
    let found = trace.found();
    assert_eq!((found.retransmissions.total, found.reordering_here.reordered), (2, 0));
    assert_eq!(found.retransmissions.old_packets, 2);
}

/// An acknowledgement of half of a joined packet may be captured before it.
#[test]
fn a_packet_that_is_acknowledged_in_part_is_not_old() {
    let mut trace = Trace::at_sender(false).with_ids();
    trace.ack(100.0, 1, 0, &[]).joined(100.1, 0, 2).ack(101.0, 2, 0, &[]);
    assert_eq!(trace.found().retransmissions.old_packets, 0);
}

#[test]
fn a_capture_may_begin_after_the_first_transmission() {
    let mut trace = Trace::empty().with_ids();
    trace.pass(CLIENT, 0, data(9000, 1, 1000));
    trace.pass(CLIENT, 50_000, data(5000, 1, 1000));
    let client = &trace.analysis().connections[0].directions[0];
    assert_eq!((client.retransmissions.old_packets, client.losses.strange), (1, 1));
}

/// The octet of a keep-alive is the last one before the capture.
#[test]
fn a_capture_may_begin_with_a_keep_alive() {
    let mut trace = Trace::empty().with_ids();
    trace.pass(SERVER, 0, ack(1, 7001));
    trace.pass(CLIENT, 120_000, data(7000, 1, 1));
    trace.pass(SERVER, 120_100, ack(1, 7001));
    let analysis = trace.analysis();
    let directions = &analysis.connections[0].directions;
    let client = directions.iter().find(|direction| direction.to.port() == 80).expect("a client");
    assert_eq!((client.retransmissions.keepalives, client.retransmissions.old_packets), (1, 0));
    assert_eq!((client.traffic.segments, client.losses.strange), (0, 0));
}
