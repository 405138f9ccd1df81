//! Captures at two places, built packet by packet: what became of each packet between both.

use std::net::SocketAddr;

use proptest::prelude::*;
use unruffled_capture::{
    Datagram, Match, MatchedFlow, Packet, Segment, Trace, Transport, match_traces,
};
use unruffled_units::Instant;

/// Octets in a segment.
const MSS: u32 = 1000;

/// Delay of the path in either direction, in microseconds.
const DELAY_US: u64 = 20_000;

/// Two captures of a connection from the client, where the first is made, to the server, where the second is.
struct Captures {
    near: Trace,
    far: Trace,
}

impl Captures {
    /// Begins with a handshake from 0 to 40 ms.
    fn new() -> Self {
        let mut captures = Self { near: Trace::new(usize::MAX), far: Trace::new(usize::MAX) };
        let syn = Segment { seq: 999, syn: true, mss: Some(MSS as u16), ..Segment::default() };
        captures.client(0, syn).server_sees(DELAY_US, syn);
        let answer = Segment { seq: 4999, ack: Some(1000), ..syn };
        captures.server(DELAY_US, answer);
        captures.client_sees(2 * DELAY_US, answer);
        captures
    }

    fn client(&mut self, us: u64, segment: Segment) -> &mut Self {
        self.near.packet(&packet(us, 0, segment));
        self
    }

    fn server_sees(&mut self, us: u64, segment: Segment) -> &mut Self {
        self.far.packet(&packet(us, 0, segment));
        self
    }

    fn server(&mut self, us: u64, segment: Segment) -> &mut Self {
        self.far.packet(&packet(us, 1, segment));
        self
    }

    fn client_sees(&mut self, us: u64, segment: Segment) -> &mut Self {
        self.near.packet(&packet(us, 1, segment));
        self
    }

    /// The server acknowledges the segments before number `n`; the client receives it.
    fn ack(&mut self, us: u64, n: u32) -> &mut Self {
        let ack =
            Segment { seq: 5000, ack: Some(1000 + n * MSS), window: 500, ..Segment::default() };
        self.server(us, ack).client_sees(us + DELAY_US, ack)
    }

    fn found(&self) -> Match {
        match_traces(&self.near, &self.far).expect("the same connection")
    }
}

/// Returns `count` segments from number `n` on, as one packet.
fn data(n: u32, count: u32) -> Segment {
    Segment { seq: 1000 + n * MSS, len: count * MSS, ack: Some(5000), ..Segment::default() }
}

fn packet(us: u64, from: usize, segment: Segment) -> Packet {
    let ends = ["192.0.2.1:40000", "198.51.100.1:80"];
    let ends = ends.map(|end| end.parse::<SocketAddr>().expect("an address"));
    Packet {
        at: Instant::from_nanos(1_000_000_000 + us * 1000),
        from: ends[from],
        to: ends[1 - from],
        id: None,
        ttl: 64,
        interface: 0,
        length: 40 + segment.len,
        transport: Transport::Tcp(segment),
    }
}

fn data_flow(found: &Match) -> &MatchedFlow {
    found.flows.iter().find(|flow| flow.departs_at == 0).expect("data departs at the client")
}

/// The client's card cuts three packets into ten segments each. Number 7 is lost, and 12 arrives 4 ms after 15.
fn lossy(joined_at_server: bool) -> Captures {
    let mut captures = Captures::new();
    for burst in 0..3 {
        captures.client(100_000 + u64::from(burst) * 10_000, data(burst * 10, 10));
    }
    let at = |n: u32| 100_000 + u64::from(n / 10) * 10_000 + u64::from(n % 10) * 100 + DELAY_US;
    let order = (0..30).filter(|&n| n != 7 && n != 12).map(|n| (at(n), n));
    let mut order: Vec<(u64, u32)> = order.chain([(at(15) + 4_000, 12)]).collect();
    order.sort_unstable();
    let mut arrivals = order.into_iter().peekable();
    while let Some((us, n)) = arrivals.next() {
        let mut count = 1;
        // The server's card joins up to four segments that follow each other.
        while joined_at_server
            && count < 4
            && arrivals.next_if(|&(later, next)| next == n + count && later < us + 1000).is_some()
        {
            count += 1;
        }
        captures.server_sees(us, data(n, count));
    }
    captures.ack(at(29) + 1000, 7);
    captures.client(200_000, data(7, 1)).server_sees(200_000 + DELAY_US, data(7, 1));
    captures.ack(230_000, 30);
    captures
}

#[test]
fn segments_that_cards_cut_up_and_join_match_one_by_one() {
    for joined_at_server in [false, true] {
        let captures = lossy(joined_at_server);
        let found = captures.found();
        let flow = data_flow(&found);
        let counts = (flow.data_packets, flow.arrived, flow.lost, flow.data_lost);
        assert_eq!(counts, (31, 31, 1, 1), "30 segments, one of them twice, and a SYN: {flow:?}");
        let order = &flow.reordering;
        assert_eq!((order.reordered, order.max_extent), (1, 7));
        assert_eq!(flow.uncaptured + flow.undeparted + flow.duplicated, 0);
        assert_eq!(flow.ambiguous, 1, "by its time alone, number 7 may be the first one");
        let acks = found.flows.iter().find(|flow| flow.departs_at == 1).expect("acknowledgements");
        assert_eq!((acks.packets, acks.lost), (3, 0));
        assert!(found.clocks.offset_ms.abs() < 1.0, "{:?}", found.clocks);
    }
}

/// Number 3 arrived, as its acknowledgement shows, but the capture at the server lacks it. Number 5 is lost and
/// sent again.
#[test]
fn a_packet_that_its_receiver_acknowledged_is_missing_in_the_capture_and_not_lost() {
    let mut captures = Captures::new();
    for n in 0..10 {
        let us = 100_000 + u64::from(n) * 1000;
        captures.client(us, data(n, 1));
        if n != 3 && n != 5 {
            captures.server_sees(us + DELAY_US, data(n, 1));
        }
    }
    captures.ack(130_000, 5);
    captures.client(160_000, data(5, 1)).server_sees(160_000 + DELAY_US, data(5, 1));
    captures.ack(181_000, 10);
    let found = captures.found();
    let flow = data_flow(&found);
    assert_eq!((flow.lost, flow.uncaptured, flow.arrived), (1, 1, 10));
}

#[test]
fn what_the_network_duplicated_is_not_lost_and_what_the_first_capture_lacks_is_no_copy() {
    let mut captures = Captures::new();
    for n in 0..10 {
        let us = 100_000 + u64::from(n) * 1000;
        if n != 4 {
            captures.client(us, data(n, 1));
        }
        captures.server_sees(us + DELAY_US, data(n, 1));
        if n == 6 {
            captures.server_sees(us + DELAY_US + 300, data(n, 1));
        }
    }
    captures.ack(130_000, 10);
    let found = captures.found();
    let flow = data_flow(&found);
    assert_eq!((flow.packets, flow.arrived, flow.lost), (10, 10, 0));
    assert_eq!((flow.duplicated, flow.undeparted), (1, 1));
}

/// The second capture begins after number 4 arrived, and ends before number 95 arrives.
#[test]
fn packets_outside_the_other_capture_are_not_lost() {
    let mut captures = Captures { near: Trace::new(usize::MAX), far: Trace::new(usize::MAX) };
    for n in 0..100 {
        let us = 100_000 + u64::from(n) * 1000;
        captures.client(us, data(n, 1));
        if (5..95).contains(&n) && n != 50 {
            captures.server_sees(us + DELAY_US, data(n, 1));
        }
    }
    let found = captures.found();
    let flow = data_flow(&found);
    assert_eq!((flow.arrived, flow.lost), (89, 1));
    assert!((5..=6).contains(&flow.unsettled), "{flow:?}");
    assert_eq!(found.clocks.uncertainty_ms, None, "one direction does not show the offset");
}

fn datagram(us: u64, from: SocketAddr, head: u8, len: u32) -> Packet {
    let datagram = Datagram { len, head: [head; 16], captured: 16, tunnel: None };
    Packet {
        at: Instant::from_nanos(1_000_000_000 + us * 1000),
        from,
        to: ([198, 51, 100, 1], 51_820).into(),
        id: None,
        ttl: 64,
        interface: 0,
        length: 28 + len,
        transport: Transport::Udp(datagram),
    }
}

/// A NAT changes address and port of the sender. Datagrams 40 and 41 are lost, and 60 comes after 62.
#[test]
fn datagrams_match_by_their_first_octets() {
    let mut near = Trace::new(usize::MAX);
    let mut far = Trace::new(usize::MAX);
    for n in 0..100_u8 {
        let us = u64::from(n) * 1000;
        near.packet(&datagram(us, ([192, 0, 2, 1], 4000).into(), n, 500));
    }
    for n in (0..60).chain([61, 62, 60]).chain(63..100).filter(|n| ![40, 41].contains(n)) {
        let late = if n == 60 { 2500 } else { 0 };
        let us = u64::from(n) * 1000 + DELAY_US + late;
        far.packet(&datagram(us, ([203, 0, 113, 9], 999).into(), n, 500));
    }
    let found = match_traces(&near, &far).expect("the same flow");
    let flow = &found.flows[0];
    assert_eq!((flow.transport, flow.packets, flow.arrived, flow.lost), ("udp", 100, 98, 2));
    assert_eq!((flow.reordering.reordered, flow.reordering.max_extent), (1, 2));
    assert_eq!(flow.arrives_from, ([203, 0, 113, 9], 999).into());
}

/// A capture that is longer than the memory for matching.
#[test]
fn packets_beyond_the_limit_are_left_out_and_not_lost() {
    let mut near = Trace::new(usize::MAX);
    let mut far = Trace::new(50);
    for n in 0..100_u8 {
        let us = u64::from(n) * 1000;
        near.packet(&datagram(us, ([192, 0, 2, 1], 4000).into(), n, 500));
        far.packet(&datagram(us + DELAY_US, ([192, 0, 2, 1], 4000).into(), n, 500));
    }
    let found = match_traces(&near, &far).expect("the same flow");
    assert_eq!((found.left_out, found.flows[0].lost), ([0, 50], 0));
    assert_eq!(found.flows[0].arrived, 50);
}

/// Fields of a packet: capture, direction, time, sequence number, acknowledgement, length, flags, timestamp.
type Fields = (bool, bool, u64, u32, Option<u32>, u32, [bool; 3], Option<u32>);

fn fields() -> impl Strategy<Value = Fields> {
    let time = prop_oneof![9 => 0..20_000_000_u64, 1 => any::<u64>().prop_map(|us| us / 1000)];
    let seq = prop_oneof![9 => 0..20_000_u32, 1 => any::<u32>()];
    let ack = proptest::option::of(prop_oneof![9 => 0..20_000_u32, 1 => any::<u32>()]);
    let len = prop_oneof![9 => 0..3000_u32, 1 => 0..100_000_u32];
    let flags = proptest::array::uniform3(proptest::bool::weighted(0.05));
    (any::<bool>(), any::<bool>(), time, seq, ack, len, flags, proptest::option::of(0..9_u32))
}

proptest! {
    /// Whatever both captures hold, each packet has one fate.
    #[test]
    fn any_two_captures_have_consistent_counts(packets in proptest::collection::vec(fields(), 1..300)) {
        let mut captures = Captures { near: Trace::new(500), far: Trace::new(500) };
        for (far, back, us, seq, ack, len, [syn, fin, rst], stamp) in packets {
            let timestamps = stamp.map(|stamp| (stamp, 0));
            let mss = syn.then_some(len as u16);
            let segment = Segment { seq, ack, len, syn, fin, rst, timestamps, mss, ..Segment::default() };
            let trace = if far { &mut captures.far } else { &mut captures.near };
            trace.packet(&packet(us, usize::from(back), segment));
        }
        let found = match_traces(&captures.near, &captures.far);
        for flow in found.iter().flat_map(|found| &found.flows) {
            prop_assert_eq!(
                flow.packets,
                flow.arrived + flow.lost + flow.unsettled + flow.uncaptured
            );
            prop_assert_eq!(flow.reordering.packets, flow.arrived);
            prop_assert!(flow.data_lost <= flow.lost && flow.ambiguous <= flow.arrived);
            prop_assert_eq!(flow.delay.map_or(0, |delay| delay.packets), flow.arrived);
        }
    }
}
