//! Encoding and decoding are inverse, and no octets make the decoder panic.

use std::net::SocketAddr;

use etherparse::PacketBuilder;
use proptest::prelude::*;
use unruffled_stack::codec::{
    Arrival, Checksums, Malformed, Packet, TooBig, Unreached, decode, encode, header_len,
};
use unruffled_tcp::{Ecn, Flags, SackBlocks, Segment, SeqNr, Timestamps, Unreachable};

fn ends(v6: bool) -> (SocketAddr, SocketAddr) {
    let (a, b) =
        if v6 { ("[fd00::1]:4000", "[fd00::2]:80") } else { ("10.0.0.1:4000", "10.0.0.2:80") };
    (a.parse().unwrap(), b.parse().unwrap())
}

fn packet(v6: bool, segment: &Segment, payload: &[u8]) -> Vec<u8> {
    let (from, to) = ends(v6);
    let mut out = Vec::new();
    let (a, b) = payload.split_at(payload.len() / 3);
    assert_eq!(encode(from, to, segment, (a, b), &mut out), Some(out.len()));
    assert_eq!(out.len(), header_len(to.ip(), segment) + payload.len());
    out
}

fn verdict(bytes: &[u8]) -> Malformed {
    decode(bytes, Checksums::Verify).expect_err("must be dropped")
}

fn data() -> Segment {
    Segment {
        seq: SeqNr(7),
        ack: SeqNr(9),
        len: 5,
        flags: Flags { ack: true, ..Flags::default() },
        window: 1000,
        ..Segment::default()
    }
}

prop_compose! {
    fn ecn()(field in 0_u8..4, ece: bool, cwr: bool) -> Ecn {
        let ece = if ece { Ecn::ECE } else { Ecn::NONE };
        let cwr = if cwr { Ecn::CWR } else { Ecn::NONE };
        Ecn::from_ip(field) | ece | cwr
    }
}

prop_compose! {
    fn segments()(
        (seq, ack, window, len) in (any::<u32>(), any::<u32>(), any::<u16>(), 0_u32..1500),
        (syn, with_ack, psh, end) in (any::<bool>(), any::<bool>(), any::<bool>(), 0..3),
        mss in any::<Option<u16>>(),
        window_scale in any::<Option<u8>>(),
        sack_permitted in any::<bool>(),
        ecn in ecn(),
        timestamps in any::<Option<(u32, u32)>>(),
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..5),
    ) -> Segment {
        let mut sack = SackBlocks::default();
        let room = if timestamps.is_some() { 3 } else { 4 };
        for &(l, r) in blocks.iter().take(if syn { 0 } else { room }) {
            sack.push(SeqNr(l), SeqNr(r));
        }
        Segment {
            seq: SeqNr(seq),
            ack: SeqNr(if with_ack { ack } else { 0 }),
            len,
            flags: Flags {
                syn,
                ack: with_ack,
                fin: end == 1 && !syn,
                rst: end == 2 && !syn,
                psh,
            },
            ecn,
            window,
            mss: mss.filter(|_| syn),
            window_scale: window_scale.filter(|_| syn),
            sack_permitted: sack_permitted && syn,
            sack,
            timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
            rtx: false,
            packet: unruffled_tcp::Packet::NONE,
        }
    }
}

proptest! {
    #[test]
    fn a_decoded_segment_equals_the_encoded_one(segment in segments(), v6: bool, fill: u8) {
        let payload = vec![fill; segment.len as usize];
        let bytes = packet(v6, &segment, &payload);
        let (from, to) = ends(v6);
        let arrival = Arrival { from, to, segment, payload: &payload };
        prop_assert_eq!(decode(&bytes, Checksums::Verify), Ok(Packet::Tcp(arrival)));
    }

    #[test]
    fn no_octets_make_the_decoder_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200), version: u8,
    ) {
        let _ = decode(&bytes, Checksums::Trust);
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = if version % 2 == 0 { 0x45 } else { 0x60 };
            let _ = decode(&bytes, Checksums::Trust);
        }
    }

    #[test]
    fn a_changed_bit_is_detected_and_a_cut_packet_does_not_panic(
        segment in segments(), v6: bool, at in any::<prop::sample::Index>(), bit in 0..8,
    ) {
        let bytes = packet(v6, &segment, &vec![0xa5; segment.len as usize]);
        let at = at.index(bytes.len());
        let _ = decode(&bytes[..at], Checksums::Trust);
        let mut changed = bytes.clone();
        changed[at] ^= 1_u8 << bit;
        let _ = decode(&changed, Checksums::Trust);
        // IPv6 has no checksum over traffic class, flow label and hop limit.
        if !(v6 && matches!(at, 0..=3 | 7)) {
            prop_assert!(decode(&changed, Checksums::Verify).is_err());
        }
    }
}

#[test]
fn packets_equal_those_of_another_library() {
    let (segment, payload) = (Segment { len: 3, ..data() }, b"abc");
    let mut theirs = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(4000, 80, 7, 1000)
        .ack(9)
        .write(&mut theirs, payload)
        .unwrap();
    let mut ours = packet(false, &segment, payload);
    // The other library does not set DF. Apart from that and the header's checksum, the two are
    // equal.
    assert_eq!(ours[6], 0x40);
    ours[6] = theirs[6];
    ours[10..12].copy_from_slice(&theirs[10..12]);
    assert_eq!(ours, theirs);
}

#[test]
fn ecn_is_in_the_bits_of_the_standards() {
    // RFC 3168, figures 1, 3 and 4: CE, CWR and ECE, beside ACK.
    let segment = Segment { ecn: Ecn::CE | Ecn::CWR | Ecn::ECE, ..data() };
    let v4 = packet(false, &segment, b"hello");
    assert_eq!((v4[1], v4[33]), (0b11, 0b1101_0000));
    let v6 = packet(true, &segment, b"hello");
    assert_eq!((v6[0], v6[1], v6[53]), (0x60, 0b11 << 4, 0b1101_0000));
    // Other bits of the traffic class do not count.
    let mut marked = v6;
    marked[0] = 0x6b;
    marked[1] |= 0x80;
    let Ok(Packet::Tcp(arrival)) = decode(&marked, Checksums::Verify) else { panic!("a segment") };
    assert_eq!(arrival.segment.ecn, segment.ecn);
}

#[test]
fn each_invalid_packet_is_dropped_for_its_reason() {
    let good = packet(false, &data(), b"hello");
    let change = |at: usize, to: u8| {
        let mut bytes = good.clone();
        bytes[at] = to;
        bytes
    };
    assert_eq!(verdict(&[]), Malformed::Ip);
    assert_eq!(verdict(&good[..30]), Malformed::Ip, "shorter than its length field");
    assert_eq!(verdict(&change(8, 63)), Malformed::IpChecksum);
    assert_eq!(verdict(&change(44, 0)), Malformed::Checksum);
    let trusted = |bytes: &[u8]| decode(bytes, Checksums::Trust).expect_err("must be dropped");
    assert_eq!(trusted(&change(32, 0x40)), Malformed::Tcp, "data offset below five");
    assert_eq!(trusted(&change(32, 0xf0)), Malformed::Tcp, "header longer than the packet");
    assert_eq!(trusted(&change(33, 0x06)), Malformed::Flags, "SYN and RST");
    assert_eq!(trusted(&change(33, 0x03)), Malformed::Flags, "SYN and FIN");
    let mut port_0 = good.clone();
    port_0[20..22].fill(0);
    assert_eq!(trusted(&port_0), Malformed::Flags);
    let mut fragment = Vec::new();
    let mut ip =
        etherparse::Ipv4Header::new(8, 64, etherparse::IpNumber::TCP, [10, 0, 0, 1], [10, 0, 0, 2])
            .unwrap();
    ip.more_fragments = true;
    ip.header_checksum = ip.calc_header_checksum();
    fragment.extend_from_slice(&ip.to_bytes());
    fragment.extend_from_slice(&[0; 8]);
    assert_eq!(verdict(&fragment), Malformed::Fragment);
    let mut udp = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(1, 2).write(&mut udp, &[]).unwrap();
    assert_eq!(verdict(&udp), Malformed::Protocol);
    let mut multicast = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 1], [224, 0, 0, 1], 64)
        .tcp(1, 2, 3, 4)
        .write(&mut multicast, &[])
        .unwrap();
    assert_eq!(verdict(&multicast), Malformed::Address);
}

/// Returns a TCP packet with these octets as options.
fn with_options(options: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(1, 2, 3, 4)
        .syn()
        .options_raw(options)
        .unwrap()
        .write(&mut bytes, &[])
        .unwrap();
    bytes
}

#[test]
fn unknown_options_are_skipped_and_impossible_ones_drop_the_packet() {
    // Kind 34 (TCP Fast Open) of 4 octets, then MSS 1000.
    let bytes = with_options(&[34, 4, 1, 2, 2, 4, 3, 232]);
    let Ok(Packet::Tcp(arrival)) = decode(&bytes, Checksums::Verify) else { panic!("dropped") };
    assert_eq!(arrival.segment.mss, Some(1000));
    assert_eq!(verdict(&with_options(&[34, 0, 1, 2])), Malformed::Options, "no length");
    assert_eq!(verdict(&with_options(&[34, 1, 1, 2])), Malformed::Options, "too short a length");
    assert_eq!(verdict(&with_options(&[34, 9, 1, 2])), Malformed::Options, "beyond the header");
    assert_eq!(verdict(&with_options(&[1, 1, 1, 34])), Malformed::Options, "kind without length");
    assert_eq!(verdict(&with_options(&[1, 1, 2, 4])), Malformed::Options, "half an MSS");
}

/// RFC 9293, MUST-7: such an option has no meaning, but the others keep theirs.
#[test]
fn known_options_of_a_wrong_length_are_skipped() {
    let wrong: [&[u8]; 8] = [
        &[2, 3, 1],
        &[2, 6, 1, 2, 3, 4],
        &[3, 4, 7, 7],
        &[4, 3, 0],
        &[5, 2],
        &[5, 6, 0, 0, 0, 1],
        &[8, 4, 1, 2],
        &[8, 2],
    ];
    for wrong in wrong {
        for options in [[wrong, &[2, 4, 3, 232]].concat(), [&[2, 4, 3, 232], wrong].concat()] {
            let bytes = with_options(&options);
            let decoded = decode(&bytes, Checksums::Verify);
            let Ok(Packet::Tcp(arrival)) = decoded else { panic!("{wrong:?}: {decoded:?}") };
            let Segment { mss, window_scale, sack_permitted, sack, timestamps, .. } =
                arrival.segment;
            assert_eq!((mss, window_scale, sack_permitted), (Some(1000), None, false), "{wrong:?}");
            assert!(sack.is_empty() && timestamps.is_none(), "{wrong:?}");
        }
    }
}

#[test]
fn packet_too_big_messages_are_read() {
    let sent = packet(false, &data(), b"hello");
    let mut bytes = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 9], [10, 0, 0, 1], 64)
        .icmpv4_raw(3, 4, [0, 0, 5, 0])
        .write(&mut bytes, &sent[..28])
        .unwrap();
    let (from, to) = ends(false);
    let report = TooBig { from, to, seq: SeqNr(7), mtu: 1280 };
    assert_eq!(decode(&bytes, Checksums::Verify), Ok(Packet::TooBig(report)));

    let sent = packet(true, &data(), b"hello");
    let mut bytes = Vec::new();
    let router = "fd00::9".parse::<std::net::Ipv6Addr>().unwrap().octets();
    let local = "fd00::1".parse::<std::net::Ipv6Addr>().unwrap().octets();
    PacketBuilder::ipv6(router, local, 64)
        .icmpv6_raw(2, 0, [0, 0, 5, 0])
        .write(&mut bytes, &sent)
        .unwrap();
    let (from, to) = ends(true);
    let report = TooBig { from, to, seq: SeqNr(7), mtu: 1280 };
    assert_eq!(decode(&bytes, Checksums::Verify), Ok(Packet::TooBig(report)));
}

/// RFC 1122, sections 3.2.2.1 and 4.2.3.9; RFC 4443, section 3.1.
#[test]
fn destination_unreachable_messages_are_read() {
    let about = |v6: bool, kind: u8, code: u8| {
        let sent = packet(v6, &data(), b"hello");
        let mut bytes = Vec::new();
        if v6 {
            let at = |ip: &str| ip.parse::<std::net::Ipv6Addr>().unwrap().octets();
            PacketBuilder::ipv6(at("fd00::9"), at("fd00::1"), 64)
                .icmpv6_raw(kind, code, [0; 4])
                .write(&mut bytes, &sent)
                .unwrap();
        } else {
            PacketBuilder::ipv4([10, 0, 0, 9], [10, 0, 0, 1], 64)
                .icmpv4_raw(kind, code, [0; 4])
                .write(&mut bytes, &sent[..28])
                .unwrap();
        }
        match decode(&bytes, Checksums::Verify) {
            Ok(Packet::Unreached(report)) => {
                let (from, to) = ends(v6);
                assert_eq!(report, Unreached { from, to, seq: SeqNr(7), what: report.what });
                Some(report.what)
            }
            Ok(other) => panic!("{other:?}"),
            Err(reason) => {
                assert_eq!(reason, Malformed::Protocol);
                None
            }
        }
    };
    for (kind, code, what) in [
        (3, 0, Some(Unreachable::Host)),
        (3, 1, Some(Unreachable::Host)),
        (3, 2, Some(Unreachable::Port)),
        (3, 3, Some(Unreachable::Port)),
        (3, 13, Some(Unreachable::Port)),
        (3, 14, None),
        (11, 0, None),
    ] {
        assert_eq!(about(false, kind, code), what, "type {kind}, code {code}");
    }
    for (kind, code, what) in [
        (1, 0, Some(Unreachable::Host)),
        (1, 1, Some(Unreachable::Port)),
        (1, 3, Some(Unreachable::Host)),
        (1, 4, Some(Unreachable::Port)),
        (1, 7, None),
        (3, 0, None),
    ] {
        assert_eq!(about(true, kind, code), what, "type {kind}, code {code}");
    }
}
