//! From a segment to octets.

use std::net::{IpAddr, SocketAddr};

use etherparse::{IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header, TcpHeader, TcpOptionElement};
use unruffled_tcp::Segment;

use super::decode::{pseudo_sum, transport_sum};

/// TTL, or hop limit, of what leaves.
const HOPS: u8 = 64;

/// Appends the packet that carries `segment` to `out`. The payload comes in two pieces, as it lies
/// in a ring; together they are as long as the segment says. Gives the packet's length, or nothing
/// if no packet can hold it (or the addresses are of different families), and then appends nothing.
pub fn encode(
    from: SocketAddr,
    to: SocketAddr,
    segment: &Segment,
    payload: (&[u8], &[u8]),
    out: &mut Vec<u8>,
) -> Option<usize> {
    let (len, transport) = assemble(from, to, segment, payload, out)?;
    let sum = transport_sum(from.ip(), to.ip(), 6, &out[transport..]);
    out[transport + 16..transport + 18].copy_from_slice(&sum.to_be_bytes());
    Some(len)
}

/// As [`encode`], but where the checksum belongs stands only the sum over the pseudo header: whoever
/// cuts the packet into segments, or sends it, sums up the rest. Gives the length of the packet and
/// where in it the TCP header begins.
pub fn encode_for_offload(
    from: SocketAddr,
    to: SocketAddr,
    segment: &Segment,
    payload: (&[u8], &[u8]),
    out: &mut Vec<u8>,
) -> Option<(usize, usize)> {
    let start = out.len();
    let (len, transport) = assemble(from, to, segment, payload, out)?;
    let sum = tun_rs::checksum(&[], pseudo_sum(from.ip(), to.ip(), 6, out.len() - transport));
    out[transport + 16..transport + 18].copy_from_slice(&sum.to_be_bytes());
    Some((len, transport - start))
}

/// Does what [`encode_for_offload`] left to others, for a packet that is one segment.
pub fn sum_up(packet: &mut [u8], transport: usize) {
    let sum = !tun_rs::checksum(&packet[transport..], 0);
    packet[transport + 16..transport + 18].copy_from_slice(&sum.to_be_bytes());
}

/// Appends the packet, its TCP checksum zero; gives its length, and where TCP begins in `out`.
fn assemble(
    from: SocketAddr,
    to: SocketAddr,
    segment: &Segment,
    payload: (&[u8], &[u8]),
    out: &mut Vec<u8>,
) -> Option<(usize, usize)> {
    let tcp = header(from, to, segment);
    let payload_len = payload.0.len() + payload.1.len();
    debug_assert_eq!(payload_len, segment.len as usize);
    let carried = u16::try_from(tcp.header_len() + payload_len).ok()?;
    let start = out.len();
    match (from.ip(), to.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let len = Some(carried).filter(|&len| len <= u16::MAX - 20)?;
            let (source, destination) = (source.octets(), destination.octets());
            let mut ip = Ipv4Header::new(len, HOPS, IpNumber::TCP, source, destination).ok()?;
            // Never fragmented, so the identification says nothing (RFC 6864, section 4.1).
            ip.dont_fragment = true;
            ip.header_checksum = ip.calc_header_checksum();
            out.extend_from_slice(&ip.to_bytes());
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let ip = Ipv6Header {
                traffic_class: 0,
                flow_label: Ipv6FlowLabel::ZERO,
                payload_length: carried,
                next_header: IpNumber::TCP,
                hop_limit: HOPS,
                source: source.octets(),
                destination: destination.octets(),
            };
            out.extend_from_slice(&ip.to_bytes());
        }
        _ => return None,
    }
    let transport = out.len();
    out.extend_from_slice(&tcp.to_bytes());
    out.extend_from_slice(payload.0);
    out.extend_from_slice(payload.1);
    Some((out.len() - start, transport))
}

/// Octets of IP and TCP headers that go before the payload of `segment`.
pub fn header_len(to: IpAddr, segment: &Segment) -> usize {
    let mut options = 0;
    if segment.mss.is_some() {
        options += 4;
    }
    if segment.window_scale.is_some() {
        options += 4;
    }
    if segment.sack_permitted && segment.timestamps.is_none() {
        options += 4;
    }
    if segment.timestamps.is_some() {
        options += 12;
    }
    if !segment.sack.is_empty() {
        options += 4 + 8 * segment.sack.as_slice().len().min(room_for_blocks(segment));
    }
    pure_len(to) + options
}

/// Octets of IP and TCP headers without options.
pub fn pure_len(to: IpAddr) -> usize {
    if to.is_ipv4() { 40 } else { 60 }
}

/// Four blocks do not fit beside timestamps (RFC 2018, section 3).
fn room_for_blocks(segment: &Segment) -> usize {
    if segment.timestamps.is_some() { 3 } else { 4 }
}

fn header(from: SocketAddr, to: SocketAddr, segment: &Segment) -> TcpHeader {
    let mut tcp = TcpHeader::new(from.port(), to.port(), segment.seq.0, segment.window);
    tcp.acknowledgment_number = if segment.flags.ack { segment.ack.0 } else { 0 };
    tcp.syn = segment.flags.syn;
    tcp.ack = segment.flags.ack;
    tcp.fin = segment.flags.fin;
    tcp.rst = segment.flags.rst;
    tcp.psh = segment.flags.psh;
    // Each option is padded in front to a word, as everybody does (RFC 7323, appendix A).
    let mut options = [const { TcpOptionElement::Noop }; 12];
    let mut count = 0;
    let mut push = |option| {
        options[count] = option;
        count += 1;
    };
    if let Some(mss) = segment.mss {
        push(TcpOptionElement::MaximumSegmentSize(mss));
    }
    if let Some(scale) = segment.window_scale {
        push(TcpOptionElement::Noop);
        push(TcpOptionElement::WindowScale(scale));
    }
    let permitted = segment.sack_permitted;
    if permitted {
        if segment.timestamps.is_none() {
            push(TcpOptionElement::Noop);
            push(TcpOptionElement::Noop);
        }
        push(TcpOptionElement::SelectiveAcknowledgementPermitted);
    }
    if let Some(timestamps) = segment.timestamps {
        if !permitted {
            push(TcpOptionElement::Noop);
            push(TcpOptionElement::Noop);
        }
        push(TcpOptionElement::Timestamp(timestamps.value, timestamps.echo));
    }
    let blocks = segment.sack.as_slice();
    let blocks = &blocks[..blocks.len().min(room_for_blocks(segment))];
    if let Some((first, rest)) = blocks.split_first() {
        let mut others = [None; 3];
        for (slot, block) in others.iter_mut().zip(rest) {
            *slot = Some((block.left.0, block.right.0));
        }
        push(TcpOptionElement::Noop);
        push(TcpOptionElement::Noop);
        push(TcpOptionElement::SelectiveAcknowledgement((first.left.0, first.right.0), others));
    }
    let written = tcp.set_options(&options[..count]);
    debug_assert!(written.is_ok(), "options of {segment:?} take more than 40 octets");
    tcp
}
