//! Frames of any link and any encapsulation are decoded or skipped, and lengths are consistent.

use unruffled_capture::{Analyzer, Frame, Interface, Limits, Link, Packet, Transport, decode};
use unruffled_units::Instant;

/// Numbers of the link types that are read, and one that is not.
const LINKS: [u32; 48] = [
    0, 1, 6, 9, 10, 11, 12, 14, 50, 51, 100, 101, 104, 105, 107, 108, 109, 113, 117, 119, 122, 123,
    127, 138, 149, 163, 166, 192, 197, 204, 205, 206, 226, 228, 229, 239, 240, 241, 242, 258, 274,
    276, 147, 1, 1, 101, 105, 276,
];

/// Returns the number of packets of TCP in frames, each of which an octet with the link type and two with
/// the length precede.
pub fn run(mut bytes: &[u8]) -> u64 {
    let mut analyzer = Analyzer::new(Limits { connections: 4, ..Limits::default() });
    let mut at = 0;
    while let [link, low, high, rest @ ..] = bytes {
        let link = Link::from_number(LINKS[usize::from(*link) % LINKS.len()]);
        let captured = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (data, behind) = rest.split_at(captured);
        // Every other frame is longer on the network than in the capture.
        let length = (captured as u32) << (at & 1);
        let frame = Frame {
            interface: Interface::default(),
            at: Instant::from_millis(at),
            link,
            length,
            data,
        };
        if let Ok(packet) = decode(&frame) {
            check(&packet);
        }
        analyzer.frame(&frame);
        at += 1;
        bytes = behind;
    }
    let totals = analyzer.finish().totals;
    assert_eq!(totals.frames, at);
    assert!(totals.skipped.kinds.len() <= 1100);
    totals.tcp_packets
}

fn check(packet: &Packet) {
    if let Transport::Tcp(segment) = packet.transport {
        assert!(segment.len <= packet.length.saturating_sub(40));
        assert!(segment.sack_count <= 4 && segment.window_scale.is_none_or(|scale| scale <= 14));
    }
    if let Transport::Udp(datagram) = packet.transport {
        assert!(datagram.len <= packet.length.saturating_sub(28));
        assert!(usize::from(datagram.captured) <= datagram.head.len());
    }
}
