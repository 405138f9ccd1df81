//! Encapsulations: a transfer gives the same analysis in any nesting of them as without.

mod wrap;

use proptest::prelude::*;
use unruffled_capture::{
    Analysis, Analyzer, Frame, Interface, Limits, Link, Reordering, Retransmissions, decode,
};
use unruffled_units::Instant;

use wrap::{Body, Choices, LINKS, WRAPS, fragments, on_link, wrap};

/// Number of data segments.
const SEGMENTS: u32 = 40;

/// Length of each, in octets.
const SEGMENT_OCTETS: u32 = 300;

/// Segment that is late by three places.
const LATE: u32 = 20;

/// Returns an IP packet of a transfer between two hosts.
fn segment(v6: bool, number: u32, back: bool, seq: u32, ack: u32, octets: u32) -> Vec<u8> {
    use etherparse::TcpOptionElement::{Noop, Timestamp};
    let (from, to) = if back { (5001, 40_000) } else { (40_000, 5001) };
    let builder = if v6 {
        let ends = [[0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [0xfd; 16]];
        etherparse::PacketBuilder::ipv6(ends[usize::from(back)], ends[usize::from(!back)], 64)
    } else {
        let ends = [[192, 0, 2, 1], [198, 51, 100, 2]];
        let mut header = etherparse::Ipv4Header::new(
            0,
            64,
            etherparse::IpNumber::TCP,
            ends[usize::from(back)],
            ends[usize::from(!back)],
        )
        .expect("the length fits");
        header.identification = number as u16;
        etherparse::PacketBuilder::ip(etherparse::IpHeaders::Ipv4(header, Default::default()))
    };
    let mut packet = Vec::new();
    builder
        .tcp(from, to, seq, 1000)
        .ack(ack)
        .options(&[Noop, Noop, Timestamp(number, number)])
        .expect("the options fit")
        .write(&mut packet, &vec![0; octets as usize])
        .expect("writing to memory succeeds");
    packet
}

/// Returns a transfer with one late segment, seen at the receiver: times in microseconds, and packets.
fn transfer(v6: bool) -> Vec<(u64, Vec<u8>)> {
    let mut order: Vec<u32> = (0..SEGMENTS).collect();
    let late = order.remove(LATE as usize);
    order.insert(LATE as usize + 3, late);
    let mut packets = Vec::new();
    for (place, n) in (0_u64..).zip(order) {
        let data = segment(v6, 1 + n, false, 1 + n * SEGMENT_OCTETS, 1, SEGMENT_OCTETS);
        packets.push((place * 1217, data));
        let ack = 1 + SEGMENT_OCTETS
            * if (LATE..LATE + 3).contains(&(place as u32)) { LATE } else { place as u32 + 1 };
        let answer = segment(v6, 100 + n, true, 1, ack, 0);
        packets.push((place * 1217 + 200, answer));
    }
    packets
}

fn analysed<'a>(frames: impl IntoIterator<Item = (u64, Link, &'a [u8])>) -> Analysis {
    let mut analyzer = Analyzer::new(Limits::default());
    for (us, link, data) in frames {
        let at = Instant::from_nanos(1_700_000_000_000_000_000 + us * 1000);
        analyzer.frame(&Frame {
            interface: Interface::default(),
            at,
            link,
            length: data.len() as u32,
            data,
        });
    }
    analyzer.finish()
}

/// Returns the analysis of the transfer without any encapsulation.
fn plain(v6: bool) -> Analysis {
    let packets = transfer(v6);
    let found = analysed(packets.iter().map(|(us, data)| (*us, Link::RAW, &data[..])));
    let direction = &found.connections[0].directions[0];
    assert_eq!(direction.traffic.segments, u64::from(SEGMENTS));
    assert_eq!(direction.reordering_here.reordered, 1);
    found
}

/// tcpdump writes InfiniBand's global route header, and Cisco's HDLC with the link type of PPP.
#[test]
fn headers_that_share_a_link_type_are_distinguished() {
    for v6 in [false, true] {
        let kind: [u8; 2] = if v6 { [0x86, 0xdd] } else { [0x08, 0x00] };
        let route = [&[0; 40], &kind[..], &[0, 0]].concat();
        let hdlc = [&[0x0f, 0], &kind[..]].concat();
        for (number, header) in [(242, route), (9, hdlc)] {
            let link = Link::from_number(number);
            let frames: Vec<_> = transfer(v6)
                .into_iter()
                .map(|(us, packet)| (us, [&header[..], &packet].concat()))
                .collect();
            let found = analysed(frames.iter().map(|(us, data)| (*us, link, &data[..])));
            assert_eq!(found.connections, plain(v6).connections, "{link:?}");
        }
    }
}

/// Returns what the analysis found about the order of the first direction.
fn order(analysis: &Analysis) -> (u64, u64, &Reordering, Retransmissions) {
    assert_eq!(analysis.connections.len(), 1);
    let there = &analysis.connections[0].directions[0];
    let traffic = &there.traffic;
    (traffic.segments, traffic.stream_bytes, &there.reordering_here, there.retransmissions)
}

/// Puts random headers around a packet.
fn nested(packet: Vec<u8>, choices: &[u8], depth: usize) -> (Link, Vec<u8>) {
    let mut choices = Choices::new(choices);
    let mut body = Body::Ip(packet);
    for _ in 0..depth {
        body = wrap(body, &mut choices);
    }
    on_link(body, &mut choices)
}

fn assert_same(choices: &[u8], depth: usize, v6: bool) {
    let frames: Vec<_> =
        transfer(v6).into_iter().map(|(us, packet)| (us, nested(packet, choices, depth))).collect();
    let found = analysed(frames.iter().map(|(us, (link, data))| (*us, *link, &data[..])));
    let link = frames[0].1.0;
    assert_eq!(found.connections, plain(v6).connections, "{link:?} {:02x?}", frames[0].1.1);
    assert_eq!(found.totals.tcp_packets, 2 * u64::from(SEGMENTS));
    assert_eq!((found.totals.udp_packets, found.totals.skipped.malformed), (0, 0));
}

#[test]
fn a_transfer_on_each_link_gives_the_same_analysis() {
    for v6 in [false, true] {
        for link in 0..LINKS {
            for variant in 0..16 {
                let bits = [variant & 1, variant >> 1 & 1, variant >> 2 & 1, variant >> 3];
                assert_same(&[&[link as u8], &bits[..], &[variant; 4]].concat(), 0, v6);
            }
        }
    }
}

#[test]
fn a_transfer_in_each_encapsulation_gives_the_same_analysis() {
    for v6 in [false, true] {
        for kind in 0..WRAPS {
            for variant in 0..24 {
                let bits = [variant & 1, variant >> 1 & 1, variant >> 2 & 1, variant >> 3];
                assert_same(&[&[kind as u8, variant], &bits[..], &[variant; 3]].concat(), 1, v6);
            }
        }
    }
}

#[test]
fn headers_nested_without_end_are_not_followed() {
    let tags = [&[2; 12][..], &[0x81, 0, 0, 5].repeat(400)].concat();
    let labels = [&[2; 12][..], &[0x88, 0x47], &[0, 1, 0, 64].repeat(400)].concat();
    let mut tunnels = segment(false, 1, false, 1, 1, 10);
    for _ in 0..200 {
        tunnels = wrap::ip(4, &tunnels, &mut Choices::new(&[1]));
    }
    for (link, frame) in [(Link::ETHERNET, tags), (Link::ETHERNET, labels), (Link::RAW, tunnels)] {
        let found = analysed([(0, link, &frame[..])]);
        assert_eq!(found.totals.skipped.malformed, 1);
    }
}

/// The octets of a datagram to the port of VXLAN that carries something else.
#[test]
fn a_datagram_with_the_port_of_a_tunnel_may_carry_something_else() {
    for (port, payload) in [(4789, &[8, 0, 0, 0, 0, 0, 7, 0, 1, 2][..]), (2152, b"0123"), (9, b"E")]
    {
        let udp = [&[0x9c, 0x40][..], &u16::to_be_bytes(port), &[0, 18, 0, 0], payload].concat();
        let packet = wrap::ip(17, &udp, &mut Choices::new(&[1]));
        let found = analysed([(0, Link::RAW, &packet[..])]);
        assert_eq!((found.totals.udp_packets, found.udp.len()), (1, 1), "{port}");
    }
}

#[test]
fn frames_that_are_skipped_are_counted_by_kind() {
    let framed = |kind: u16| [&[2; 12][..], &kind.to_be_bytes(), &[0; 40]].concat();
    let icmp = wrap::ip(1, &[8; 8], &mut Choices::new(&[1]));
    let mut encrypted = vec![0x08, 0x41, 0, 0];
    encrypted.extend([2; 18]);
    encrypted.extend([0; 22]);
    let frames = [
        (1, framed(0x0806)),
        (1, framed(0x0806)),
        (1, framed(0x88cc)),
        (101, icmp.clone()),
        (101, icmp[..12].to_vec()),
        (105, encrypted),
        (147, vec![0; 40]),
    ];
    let frames = frames.iter().map(|(link, data)| (0, Link::from_number(*link), &data[..]));
    let skipped = analysed(frames).totals.skipped;
    let kinds: Vec<_> =
        skipped.kinds.iter().map(|kind| (kind.what.as_ref(), kind.packets)).collect();
    assert_eq!(
        kinds,
        [
            ("ARP", 2),
            ("ICMP", 1),
            ("LLDP", 1),
            ("encrypted frames", 1),
            ("truncated", 1),
            ("unsupported link type 147", 1)
        ]
    );
}

/// IPv4 as protocol 94 in IPv6, in UDP of any port, in IPv6 with LLC and SNAP.
#[test]
fn an_ip_packet_in_udp_of_any_port_may_carry_each_protocol_that_is_read() {
    let mut choices = vec![15, 19, 216, 71, 18, 45];
    choices.resize(40, 0);
    assert_same(&choices, 2, false);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_transfer_in_any_nesting_gives_the_same_analysis(
        choices in proptest::collection::vec(any::<u8>(), 40),
        depth in 0..5_usize,
        v6 in any::<bool>(),
    ) {
        assert_same(&choices, depth, v6);
    }

    /// The fragments of a packet come at the same time, in any order, and some of them twice.
    #[test]
    fn a_transfer_in_fragments_gives_the_same_analysis(
        choices in proptest::collection::vec(any::<u8>(), 40),
        depth in 0..4_usize,
        octets in 1..60_usize,
        reversed in any::<bool>(),
        twice in any::<bool>(),
        v6 in any::<bool>(),
    ) {
        let mut frames = Vec::new();
        for (n, (us, packet)) in transfer(v6).into_iter().enumerate() {
            let mut choices = Choices::new(&choices);
            let mut body = Body::Ip(packet);
            for _ in 0..depth {
                body = wrap(body, &mut choices);
            }
            let mut packet = body.into_ip(&mut choices);
            if packet[0] >> 4 == 4 {
                packet[4..6].copy_from_slice(&(n as u16 + 1).to_be_bytes());
            }
            let mut pieces = fragments(&packet, octets * 8);
            if reversed {
                pieces.reverse();
            }
            // The last fragment comes once, since its copy would begin another packet.
            let copies = if twice && pieces.len() > 1 { 2 } else { 1 };
            for piece in &pieces[..pieces.len() - 1] {
                frames.extend(std::iter::repeat_n((us, piece.clone()), copies));
            }
            frames.extend(pieces.pop().map(|last| (us, last)));
        }
        let found = analysed(frames.iter().map(|(us, data)| (*us, Link::RAW, &data[..])));
        let expected = plain(v6);
        prop_assert_eq!(order(&found), order(&expected));
    }

    /// A frame that is cut off anywhere, or in which octets are changed, is decoded or skipped.
    #[test]
    fn any_damage_to_a_frame_is_harmless(
        choices in proptest::collection::vec(any::<u8>(), 40),
        depth in 0..5_usize,
        flips in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..20),
    ) {
        let (link, whole) = nested(segment(false, 1, false, 1, 1, 40), &choices, depth);
        let length = whole.len() as u32;
        let at = Instant::ZERO;
        let expected = decode(&Frame { interface: Interface::default(), at, link, length, data: &whole }).expect("is decoded");
        for cut in 0..whole.len() {
            // Without its payload, the segment is the same.
            if let Ok(packet) = decode(&Frame { interface: Interface::default(), at, link, length, data: &whole[..cut] })
                && packet.to == expected.to
                && packet.from == expected.from
            {
                prop_assert_eq!(packet.length, expected.length);
            }
        }
        let mut changed = whole;
        for (place, octet) in flips {
            let place = usize::from(place) % changed.len();
            changed[place] ^= octet;
            let _ = decode(&Frame { interface: Interface::default(), at, link, length, data: &changed });
        }
    }
}
