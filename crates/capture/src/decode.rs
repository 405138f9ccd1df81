//! Decoder of frames into packets. Lengths come from the headers, because the capture may hold less.

use std::net::SocketAddr;

use etherparse::{IpNumber, LaxIpSlice, TcpOptionElement, TcpOptionReadError, TcpOptionsIterator};

use crate::link::Link;
use crate::packet::{Datagram, Esp, Packet, Segment, SkipReason, Transport};
use crate::reader::Frame;
use crate::tunnel::TunnelPacket;

/// Decodes one frame.
///
/// Checksums are not verified: in a capture at the sender, the network card fills them in later.
///
/// # Errors
/// When the frame carries no complete header of TCP or UDP over IP.
pub fn decode(frame: &Frame<'_>) -> Result<Packet, SkipReason> {
    let packet = decode_ip(frame)?;
    Ok(decode_tunnelled(frame, &packet).unwrap_or(packet))
}

/// UDP port of GTP-U (3GPP TS 29.281, section 4.4.2).
const GTP_PORT: u16 = 2152;

/// Decodes the packet within a GTP-U tunnel, which mobile networks use, if `outer` carries one.
fn decode_tunnelled(frame: &Frame<'_>, outer: &Packet) -> Option<Packet> {
    let Transport::Udp(datagram) = &outer.transport else { return None };
    // Version 1, protocol type GTP, and message type G-PDU, which carries a packet (section 5.1).
    let [flags, kind, ..] = datagram.head;
    if outer.to.port() != GTP_PORT || flags & 0xf0 != 0x30 || kind != 0xff || datagram.captured < 8
    {
        return None;
    }
    let bytes = frame.link.payload(frame.data).ok()?;
    let before = (outer.length.checked_sub(datagram.len)?) as usize;
    let tunnel = bytes.get(before..)?;
    let mut inner = tunnel.get(8..)?;
    if flags & 0x07 != 0 {
        // Sequence number, N-PDU number, and the type of the next extension header (section 5.2).
        // The length of an extension header is in units of four octets.
        let mut next = *inner.get(3)?;
        inner = inner.get(4..)?;
        while next != 0 {
            let length = usize::from(*inner.first()?) * 4;
            next = *inner.get(length.checked_sub(1)?)?;
            inner = inner.get(length..)?;
        }
    }
    let length = frame.length.saturating_sub((frame.data.len() - inner.len()) as u32);
    decode_ip(&Frame { link: Link::Raw, length, data: inner, ..*frame }).ok()
}

fn decode_ip(frame: &Frame<'_>) -> Result<Packet, SkipReason> {
    let bytes = frame.link.payload(frame.data)?;
    if bytes.is_empty() {
        return Err(SkipReason::Short);
    }
    let (ip, _) = LaxIpSlice::from_slice(bytes).map_err(|error| match error {
        etherparse::err::ip::LaxHeaderSliceError::Len(_) => SkipReason::Short,
        etherparse::err::ip::LaxHeaderSliceError::Content(_) => SkipReason::Malformed,
    })?;
    let carried = ip.payload();
    if carried.fragmented {
        return Err(SkipReason::Fragment);
    }
    let before_ip = frame.data.len() - bytes.len();
    let present = frame.length.saturating_sub(before_ip as u32);
    let (declared, id, ttl) = match &ip {
        LaxIpSlice::Ipv4(v4) => {
            let header = v4.header();
            (u32::from(header.total_len()), Some(header.identification()), header.ttl())
        }
        LaxIpSlice::Ipv6(v6) => match v6.header().payload_length() {
            0 => (0, None, v6.header().hop_limit()),
            payload => (40 + u32::from(payload), None, v6.header().hop_limit()),
        },
    };
    // The length is 0 in jumbograms, and in a sender's capture before segmentation offload.
    let length = if declared == 0 { present } else { declared.min(present) };
    // Both slices are parts of one buffer.
    let offset = (carried.payload.as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize);
    let transport_len = length.saturating_sub(offset as u32);
    let (ports, transport) = match carried.ip_number {
        IpNumber::TCP => {
            let (ports, segment) = tcp(carried.payload, transport_len)?;
            (ports, Transport::Tcp(segment))
        }
        IpNumber::UDP => {
            let (ports, datagram) = udp(carried.payload, transport_len)?;
            let tunnel = TunnelPacket::read(bytes, length);
            (ports, Transport::Udp(Datagram { tunnel, ..datagram }))
        }
        IpNumber::ENCAPSULATING_SECURITY_PAYLOAD => {
            ((0, 0), Transport::Esp(esp(carried.payload, transport_len)?))
        }
        _ => return Err(SkipReason::Protocol),
    };
    let from = SocketAddr::new(ip.source_addr(), ports.0);
    let to = SocketAddr::new(ip.destination_addr(), ports.1);
    Ok(Packet { at: frame.at, from, to, id, ttl, length, transport })
}

/// Decodes a TCP header (RFC 9293, section 3.1). The capture may have cut off options.
fn tcp(bytes: &[u8], length: u32) -> Result<((u16, u16), Segment), SkipReason> {
    let &[a, b, c, d, s0, s1, s2, s3, a0, a1, a2, a3, offset, flags, w0, w1, ..] =
        bytes.first_chunk::<20>().ok_or(SkipReason::Short)?;
    let header = usize::from(offset >> 4) * 4;
    if header < 20 || header as u32 > length {
        return Err(SkipReason::Malformed);
    }
    let mut segment = Segment {
        seq: u32::from_be_bytes([s0, s1, s2, s3]),
        ack: (flags & 0x10 != 0).then(|| u32::from_be_bytes([a0, a1, a2, a3])),
        len: length - header as u32,
        syn: flags & 0x02 != 0,
        fin: flags & 0x01 != 0,
        rst: flags & 0x04 != 0,
        urgent: flags & 0x20 != 0,
        window: u16::from_be_bytes([w0, w1]),
        cut: bytes.len() < header,
        ..Segment::default()
    };
    read_options(&bytes[20..header.min(bytes.len())], &mut segment);
    Ok(((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])), segment))
}

/// Reads the options up to the first that is cut off or malformed.
fn read_options(options: &[u8], segment: &mut Segment) {
    let mut rest = TcpOptionsIterator::from_slice(options);
    loop {
        let before = rest.rest();
        match rest.next() {
            None => return,
            Some(Ok(option)) => take_option(&option, segment),
            Some(Err(TcpOptionReadError::UnknownId(_))) => {
                let len = before.get(1).map_or(0, |&len| usize::from(len));
                let Some(next) = before.get(len..).filter(|_| len >= 2) else { return };
                rest = TcpOptionsIterator::from_slice(next);
            }
            Some(Err(_)) => return,
        }
    }
}

fn take_option(option: &TcpOptionElement, segment: &mut Segment) {
    match *option {
        TcpOptionElement::MaximumSegmentSize(mss) if segment.syn => segment.mss = Some(mss),
        TcpOptionElement::WindowScale(scale) if segment.syn => {
            // The largest permitted scale (RFC 7323, section 2.3).
            segment.window_scale = Some(scale.min(14));
        }
        TcpOptionElement::SelectiveAcknowledgementPermitted if segment.syn => {
            segment.sack_permitted = true;
        }
        TcpOptionElement::SelectiveAcknowledgement(first, others) => {
            let blocks = std::iter::once(first).chain(others.into_iter().flatten());
            segment.sack_count = 0;
            for (slot, block) in segment.sack.iter_mut().zip(blocks) {
                *slot = block;
                segment.sack_count += 1;
            }
        }
        TcpOptionElement::Timestamp(value, echo) => segment.timestamps = Some((value, echo)),
        _ => {}
    }
}

/// Decodes an ESP header (RFC 4303, section 2).
fn esp(bytes: &[u8], length: u32) -> Result<Esp, SkipReason> {
    let &[p0, p1, p2, p3, s0, s1, s2, s3] = bytes.first_chunk::<8>().ok_or(SkipReason::Short)?;
    Ok(Esp {
        spi: u32::from_be_bytes([p0, p1, p2, p3]),
        seq: u32::from_be_bytes([s0, s1, s2, s3]),
        len: length.saturating_sub(8),
    })
}

/// Decodes a UDP header (RFC 768).
fn udp(bytes: &[u8], length: u32) -> Result<((u16, u16), Datagram), SkipReason> {
    let (header, payload) = bytes.split_at_checked(8).ok_or(SkipReason::Short)?;
    let mut datagram = Datagram { len: length.saturating_sub(8), ..Datagram::default() };
    for (slot, &octet) in datagram.head.iter_mut().zip(payload) {
        *slot = octet;
        datagram.captured += 1;
    }
    let port = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    Ok(((port(0), port(2)), datagram))
}
