//! Reading packets.

use std::net::{IpAddr, SocketAddr};

use etherparse::{
    IpNumber, IpSlice, Ipv4HeaderSlice, Ipv6HeaderSlice, TcpOptionElement, TcpOptionsIterator,
    TcpSlice,
};
use unruffled_tcp::{Ecn, Flags, Segment, SeqNr, Timestamps, Unreachable};

use super::packet::{Arrival, Checksums, Malformed, Packet, TooBig, Unreached};
use super::sum;

/// Reads one packet, IP header first.
///
/// # Errors
/// The reason why the packet must be dropped.
pub fn decode(bytes: &[u8], checksums: Checksums) -> Result<Packet<'_>, Malformed> {
    let ip = IpSlice::from_slice(bytes).map_err(|_| Malformed::Ip)?;
    if let IpSlice::Ipv4(v4) = &ip
        && !sum::fold(sum::add(0, v4.header().slice())) != 0
    {
        return Err(Malformed::IpChecksum);
    }
    let (from, to) = (ip.source_addr(), ip.destination_addr());
    let carried = ip.payload();
    if carried.fragmented {
        return Err(Malformed::Fragment);
    }
    match carried.ip_number {
        IpNumber::TCP => {}
        IpNumber::ICMP if from.is_ipv4() => return icmp(carried.payload),
        IpNumber::IPV6_ICMP if from.is_ipv6() => return icmpv6(carried.payload, from, to),
        _ => return Err(Malformed::Protocol),
    }
    let tcp = TcpSlice::from_slice(carried.payload).map_err(|_| Malformed::Tcp)?;
    if checksums == Checksums::Verify && sum::transport(from, to, 6, carried.payload) != 0 {
        return Err(Malformed::Checksum);
    }
    if !answerable(from) || !answerable(to) {
        return Err(Malformed::Address);
    }
    let from = SocketAddr::new(from, tcp.source_port());
    let to = SocketAddr::new(to, tcp.destination_port());
    if from.port() == 0 || to.port() == 0 || tcp.syn() && (tcp.fin() || tcp.rst()) {
        return Err(Malformed::Flags);
    }
    if from == to {
        // The answer would arrive here and be answered again in an endless loop (the "land" attack).
        return Err(Malformed::Address);
    }
    let payload = tcp.payload();
    let mut segment = Segment {
        seq: SeqNr(tcp.sequence_number()),
        ack: SeqNr(tcp.acknowledgment_number()),
        len: payload.len() as u32,
        flags: Flags {
            syn: tcp.syn(),
            ack: tcp.ack(),
            fin: tcp.fin(),
            rst: tcp.rst(),
            psh: tcp.psh(),
        },
        ecn: ecn(&ip, &tcp),
        window: tcp.window_size(),
        ..Segment::default()
    };
    read_options(tcp.options(), &mut segment)?;
    Ok(Packet::Tcp(Arrival { from, to, segment, payload }))
}

/// Returns the ECN fields of both headers (RFC 3168, sections 5 and 6.1).
fn ecn(ip: &IpSlice<'_>, tcp: &TcpSlice<'_>) -> Ecn {
    let octet = match ip {
        IpSlice::Ipv4(v4) => v4.header().slice()[1],
        // The traffic class begins in the middle of the first octet.
        IpSlice::Ipv6(v6) => v6.header().slice()[1] >> 4,
    };
    let ece = if tcp.ece() { Ecn::ECE } else { Ecn::NONE };
    let cwr = if tcp.cwr() { Ecn::CWR } else { Ecn::NONE };
    Ecn::from_ip(octet) | ece | cwr
}

/// Returns whether the address can belong to a single host. Packets from other addresses are not
/// answered, and connections to them are not opened (RFC 9293, MUST-46, MUST-57, MUST-63).
pub(crate) fn answerable(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !(address.is_multicast() || address.is_unspecified() || broadcast)
}

fn read_options(options: &[u8], segment: &mut Segment) -> Result<(), Malformed> {
    let mut rest = TcpOptionsIterator::from_slice(options);
    loop {
        let before = rest.rest();
        match rest.next() {
            None => return Ok(()),
            Some(Ok(option)) => take_option(&option, segment),
            // An option of unknown kind, or of a wrong length for its kind, is skipped by its
            // length, as in Linux (RFC 9293, MUST-6 and MUST-7).
            Some(Err(_)) => {
                let len = before.get(1).map_or(0, |&len| usize::from(len));
                let behind = before.get(len..).filter(|_| len >= 2).ok_or(Malformed::Options)?;
                rest = TcpOptionsIterator::from_slice(behind);
            }
        }
    }
}

fn take_option(option: &TcpOptionElement, segment: &mut Segment) {
    let syn = segment.flags.syn;
    match *option {
        TcpOptionElement::MaximumSegmentSize(mss) if syn => segment.mss = Some(mss),
        TcpOptionElement::WindowScale(scale) if syn => segment.window_scale = Some(scale),
        TcpOptionElement::SelectiveAcknowledgementPermitted if syn => {
            segment.sack_permitted = true;
        }
        TcpOptionElement::SelectiveAcknowledgement(first, others) => {
            for (left, right) in std::iter::once(first).chain(others.into_iter().flatten()) {
                segment.sack.push(SeqNr(left), SeqNr(right));
            }
        }
        TcpOptionElement::Timestamp(value, echo) => {
            segment.timestamps = Some(Timestamps { value, echo });
        }
        _ => {}
    }
}

/// The report of an ICMP message about the packet that it quotes.
enum Report {
    TooBig(u32),
    Unreachable(Unreachable),
}

/// Reads an ICMP message: destination unreachable (RFC 792; RFC 1122, section 3.2.2.1), with the
/// MTU of RFC 1191.
fn icmp(message: &[u8]) -> Result<Packet<'static>, Malformed> {
    let (head, quoted) = message.split_at_checked(8).ok_or(Malformed::Protocol)?;
    if !sum::fold(sum::add(0, message)) != 0 {
        return Err(Malformed::Checksum);
    }
    let report = match head[..2] {
        [3, 4] => Report::TooBig(u32::from(u16::from_be_bytes([head[6], head[7]]))),
        [3, 2 | 3 | 13] => Report::Unreachable(Unreachable::Port),
        [3, 0 | 1 | 5..=12] => Report::Unreachable(Unreachable::Host),
        _ => return Err(Malformed::Protocol),
    };
    let ip = Ipv4HeaderSlice::from_slice(quoted).map_err(|_| Malformed::Ip)?;
    if ip.protocol() != IpNumber::TCP || ip.fragments_offset().value() != 0 {
        return Err(Malformed::Protocol);
    }
    let (from, to) = (ip.source_addr().into(), ip.destination_addr().into());
    about(from, to, &quoted[ip.slice().len()..], report)
}

/// Reads an ICMPv6 message: destination unreachable or packet too big (RFC 4443, sections 3.1 and
/// 3.2).
fn icmpv6(message: &[u8], from: IpAddr, to: IpAddr) -> Result<Packet<'static>, Malformed> {
    let (head, quoted) = message.split_at_checked(8).ok_or(Malformed::Protocol)?;
    if sum::transport(from, to, 58, message) != 0 {
        return Err(Malformed::Checksum);
    }
    let report = match head[..2] {
        [2, 0] => Report::TooBig(u32::from_be_bytes([head[4], head[5], head[6], head[7]])),
        [1, 1 | 4] => Report::Unreachable(Unreachable::Port),
        [1, 0 | 2 | 3 | 5 | 6] => Report::Unreachable(Unreachable::Host),
        _ => return Err(Malformed::Protocol),
    };
    let ip = Ipv6HeaderSlice::from_slice(quoted).map_err(|_| Malformed::Ip)?;
    if ip.next_header() != IpNumber::TCP {
        return Err(Malformed::Protocol);
    }
    let (from, to) = (ip.source_addr().into(), ip.destination_addr().into());
    about(from, to, &quoted[ip.slice().len()..], report)
}

/// Returns the report with the ports and the sequence number of the quoted TCP header.
fn about(
    from: IpAddr,
    to: IpAddr,
    tcp: &[u8],
    report: Report,
) -> Result<Packet<'static>, Malformed> {
    // A router must quote only eight octets: the ports and the sequence number.
    let &[a, b, c, d, e, f, g, h] = tcp.first_chunk::<8>().ok_or(Malformed::Tcp)?;
    let from = SocketAddr::new(from, u16::from_be_bytes([a, b]));
    let to = SocketAddr::new(to, u16::from_be_bytes([c, d]));
    let seq = SeqNr(u32::from_be_bytes([e, f, g, h]));
    Ok(match report {
        Report::TooBig(mtu) => Packet::TooBig(TooBig { from, to, seq, mtu }),
        Report::Unreachable(what) => Packet::Unreached(Unreached { from, to, seq, what }),
    })
}
