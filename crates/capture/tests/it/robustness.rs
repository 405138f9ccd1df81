//! Random captures and packets: they are read without a panic and in bounded memory.

use std::io::Cursor;
use std::net::SocketAddr;

use proptest::prelude::*;
use unruffled_capture::{
    Analysis, Analyzer, Datagram, Error, Limits, Packet, Segment, Source, Transport, judge, read,
};
use unruffled_units::Instant;

const SMALL_LIMITS: Limits =
    Limits { connections: 3, segments: 16, all_segments: 40, reported: 4, dots: 8 };

fn analysed(octets: Vec<u8>) -> Result<(Analysis, Option<Error>), Error> {
    let source = Source::new(Box::new(Cursor::new(octets)), None)?;
    let mut analyzer = Analyzer::new(SMALL_LIMITS);
    let damage = read(source, |frame| analyzer.frame(frame))?;
    Ok((analyzer.finish(), damage))
}

/// Generates packets of few connections, whose sequence numbers often coincide.
fn packets() -> impl Strategy<Value = (bool, u8, u32, Segment, Option<u16>)> {
    let numbers = (0..40_u32, 0..40_u32, 0..4_u32, any::<(bool, bool, bool, bool)>());
    let blocks = proptest::collection::vec((0..40_u32, 0..5_u32), 0..4);
    let far = prop_oneof![9 => Just(0_u32), 1 => any::<u32>()];
    let rest = (any::<u16>(), proptest::option::of((0..50_u32, 0..50_u32)), 0..20_u32, far);
    (any::<bool>(), 0..5_u8, numbers, blocks, rest, proptest::option::of(0..60_u16)).prop_map(
        |(back, port, (seq, ack, len, flags), blocks, (window, timestamps, later, far), id)| {
            let mut segment = Segment {
                seq: (seq * 1000).wrapping_add(far),
                ack: flags.0.then_some(ack * 1000),
                len: len * 700,
                syn: flags.1 && flags.2,
                fin: flags.2 && flags.3,
                rst: flags.1 && flags.3 && !flags.2,
                window,
                mss: flags.1.then_some(window),
                window_scale: flags.2.then_some(14),
                sack_permitted: true,
                timestamps,
                ..Segment::default()
            };
            for (slot, (left, count)) in segment.sack.iter_mut().zip(blocks) {
                *slot = (left * 1000, (left + count) * 1000);
                segment.sack_count += 1;
            }
            (back, port, later, segment, id)
        },
    )
}

proptest! {
    #[test]
    fn any_octets_are_read_or_rejected(mut octets in proptest::collection::vec(any::<u8>(), 0..400), magic in 0..4_usize) {
        let magics: [&[u8]; 4] = [
            &[],
            &[0xd4, 0xc3, 0xb2, 0xa1],
            &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a],
            &[0x1f, 0x8b, 8],
        ];
        octets.splice(0..0, magics[magic].iter().copied());
        let _ = analysed(octets);
    }

    #[test]
    fn counts_of_any_packets_are_consistent(packets in proptest::collection::vec(packets(), 1..200)) {
        let mut analyzer = Analyzer::new(SMALL_LIMITS);
        let mut at = 0;
        for (back, port, later, segment, id) in &packets {
            at += u64::from(*later) * 3_000_000;
            let ends: [SocketAddr; 2] = [([192, 0, 2, 1], 1000 + u16::from(*port)).into(), ([192, 0, 2, 2], 80).into()];
            let back = usize::from(*back);
            analyzer.packet(&Packet {
                at: Instant::from_nanos(at),
                from: ends[back],
                to: ends[1 - back],
                id: *id,
                ttl: 64 - (at % 3) as u8,
                interface: (at % 2) as u32,
                length: 40 + segment.len,
                transport: Transport::Tcp(*segment),
            });
        }
        let analysis = analyzer.finish();
        prop_assert_eq!(analysis.totals.tcp_packets, packets.len() as u64);
        for direction in analysis.connections.iter().flat_map(|c| &c.directions) {
            let resent = &direction.retransmissions;
            prop_assert!(resent.spurious <= resent.total);
            prop_assert_eq!(resent.needed + resent.spurious, resent.total);
            let both = [Some(&direction.reordering_here), direction.reordering_at_receiver.as_ref()];
            for reordering in both.into_iter().flatten() {
                prop_assert!(reordering.reordered <= reordering.packets);
                prop_assert!((0.0..=1.0).contains(&reordering.ratio));
            }
            prop_assert!(direction.traffic.goodput_bps.is_finite());
            prop_assert!(!judge(direction).text.is_empty());
        }
    }
}

#[test]
fn a_million_connections_fit_into_bounded_memory() {
    let limits = Limits { connections: 100, reported: 10, ..Limits::default() };
    let mut analyzer = Analyzer::new(limits);
    let server: SocketAddr = ([192, 0, 2, 1], 80).into();
    for n in 0..1_000_000_u32 {
        let client: SocketAddr = ([10, (n >> 16) as u8, (n >> 8) as u8, n as u8], 4000).into();
        let datagram = Datagram { len: n % 1000, ..Datagram::default() };
        analyzer.packet(&Packet {
            at: Instant::from_nanos(u64::from(n) * 1000),
            from: client,
            to: server,
            id: None,
            ttl: 64,
            interface: 0,
            length: 28 + n % 1000,
            transport: Transport::Udp(datagram),
        });
    }
    let analysis = analyzer.finish();
    assert_eq!((analysis.totals.udp_pairs, analysis.udp.len()), (1_000_000, 10));
    assert_eq!(analysis.totals.given_up, 999_900);
    // The largest are reported, and of equally large ones the first.
    assert!(analysis.udp.iter().all(|pair| pair.payload_bytes == [999, 0]));
    assert_eq!(analysis.udp[0].start_s, 0.000_999);
}
