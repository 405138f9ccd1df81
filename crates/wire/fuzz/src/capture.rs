//! A capture of any octets is read to its end or refused, in bounded memory, and the results for
//! any packets are consistent.

use std::io::Cursor;
use std::net::SocketAddr;

use unruffled_capture::{
    Analysis, Analyzer, Error, Frame, Interface, Limits, Link, Packet, Segment, Source, Transport,
    judge, read,
};
use unruffled_units::Instant;

const SMALL_LIMITS: Limits =
    Limits { connections: 3, segments: 24, all_segments: 60, reported: 4, dots: 8 };

/// Plays `bytes`, whose first octet selects their kind; returns the number of TCP packets.
pub fn run(bytes: &[u8]) -> Option<u64> {
    let (&kind, rest) = bytes.split_first()?;
    let analysis = match kind % 4 {
        0 => file(rest).ok()?,
        1 => frames(rest),
        _ => packets(rest, kind % 4 == 2),
    };
    check(&analysis);
    Some(analysis.totals.tcp_packets)
}

fn file(bytes: &[u8]) -> Result<Analysis, Error> {
    let source = Source::new(Box::new(Cursor::new(bytes.to_vec())), None)?;
    let mut analyzer = Analyzer::new(SMALL_LIMITS);
    read(source, |frame| analyzer.frame(frame))?;
    Ok(analyzer.finish())
}

/// Reads the octets as frames of up to 255 octets, of any link type.
fn frames(mut bytes: &[u8]) -> Analysis {
    let mut analyzer = Analyzer::new(SMALL_LIMITS);
    let mut at = 0;
    while let [link, length, rest @ ..] = bytes {
        let link = Link::from_number([0, 1, 101, 113, 276, 105][usize::from(link % 6)]);
        let (data, behind) = rest.split_at(usize::from(*length).min(rest.len()));
        let length = u32::from(*length) * 8;
        analyzer.frame(&Frame {
            interface: Interface::default(),
            at: Instant::from_nanos(at),
            link,
            length,
            data,
        });
        at += 1_000_000;
        bytes = behind;
    }
    analyzer.finish()
}

/// Reads the octets as segments of 16 octets each, with numbers that overlap.
fn packets(bytes: &[u8], stamped: bool) -> Analysis {
    let mut analyzer = Analyzer::new(SMALL_LIMITS);
    let mut at: u64 = 0;
    for piece in bytes.chunks_exact(16) {
        let word = |i: usize| u32::from(piece[i]);
        at += u64::from(piece[0]).pow(3) * 1000;
        let flags = piece[1];
        let far = if flags & 0x80 != 0 { 0x7fff_ffff } else { 0 };
        let mut segment = Segment {
            seq: (word(2) * 500).wrapping_sub(far),
            ack: (flags & 1 == 0).then_some((word(3) * 500).wrapping_add(far)),
            len: word(4) * 100,
            syn: flags & 6 == 6,
            fin: flags & 24 == 24,
            rst: flags & 40 == 40,
            window: u16::from(piece[5]),
            mss: Some(u16::from(piece[6]) * 10),
            window_scale: Some(piece[7] % 15),
            sack_permitted: true,
            timestamps: stamped.then_some((word(8), word(9))),
            ..Segment::default()
        };
        for (slot, block) in segment.sack.iter_mut().zip(piece[10..16].chunks_exact(2)) {
            if block[1] > 0 {
                let left = u32::from(block[0]) * 500;
                *slot = (left, left + u32::from(block[1]) * 500);
                segment.sack_count += 1;
            }
        }
        let ends: [SocketAddr; 2] =
            [([192, 0, 2, 1], 1000 + u16::from(flags >> 6)).into(), ([192, 0, 2, 2], 80).into()];
        let back = usize::from(piece[5] & 1);
        analyzer.packet(&Packet {
            at: Instant::from_nanos(at),
            from: ends[back],
            to: ends[1 - back],
            id: (flags & 2 == 0).then_some(u16::from(piece[9])),
            ttl: 64 - (piece[9] & 1),
            interface: 0,
            length: 40 + segment.len,
            transport: Transport::Tcp(segment),
        });
    }
    analyzer.finish()
}

fn check(analysis: &Analysis) {
    for direction in analysis.connections.iter().flat_map(|connection| &connection.directions) {
        let resent = &direction.retransmissions;
        assert_eq!(resent.needed + resent.spurious, resent.total);
        let measured =
            [Some(&direction.reordering_here), direction.reordering_at_receiver.as_ref()];
        for reordering in measured.into_iter().flatten() {
            assert!(reordering.reordered <= reordering.packets);
            assert!(reordering.density.iter().all(|bin| bin.share > 0.0 && bin.share <= 1.0));
        }
        assert!(direction.traffic.goodput_bps.is_finite() && !judge(direction).text.is_empty());
    }
}
