//! Headers of TCP, UDP and ESP.

use etherparse::{TcpOptionElement, TcpOptionReadError, TcpOptionsIterator};

use super::octets::{Octets, u16_at, u32_at};
use crate::packet::{Datagram, Esp, Segment, SkipReason};

/// Options of nearly all segments beyond the handshake: two of padding, then a timestamp.
const TIMESTAMP_ALONE: [u8; 4] = [1, 1, 8, 10];

/// Decodes a TCP header (RFC 9293, section 3.1). The capture may have cut off options.
#[inline]
pub(super) fn tcp(octets: Octets<'_>) -> Result<((u16, u16), Segment), SkipReason> {
    let head = octets.peek::<20>()?;
    let header = usize::from(head[12] >> 4) * 4;
    if header < 20 || header as u32 > octets.length {
        return Err(SkipReason::Malformed);
    }
    let flags = head[13];
    let segment = |timestamps| Segment {
        seq: u32_at(head, 4),
        ack: (flags & 0x10 != 0).then(|| u32_at(head, 8)),
        len: octets.length - header as u32,
        syn: flags & 0x02 != 0,
        fin: flags & 0x01 != 0,
        rst: flags & 0x04 != 0,
        urgent: flags & 0x20 != 0,
        window: u16_at(head, 14),
        cut: octets.data.len() < header,
        timestamps,
        ..Segment::default()
    };
    let ports = (u16_at(head, 0), u16_at(head, 2));
    let options = &octets.data[20..header.min(octets.data.len())];
    // Most segments have no other options than these, so they are read without the iterator.
    if options.is_empty() {
        return Ok((ports, segment(None)));
    }
    match options.first_chunk::<12>() {
        Some(option) if options.len() == 12 && option[..4] == TIMESTAMP_ALONE => {
            Ok((ports, segment(Some((u32_at(option, 4), u32_at(option, 8))))))
        }
        _ => Ok((ports, with_options(segment(None), options))),
    }
}

/// Returns a segment with its options, up to the first that is cut off or malformed.
fn with_options(mut segment: Segment, options: &[u8]) -> Segment {
    read_options(options, &mut segment);
    segment
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
pub(super) fn esp(octets: Octets<'_>) -> Result<Esp, SkipReason> {
    let (head, rest) = octets.split::<8>()?;
    Ok(Esp { spi: u32_at(head, 0), seq: u32_at(head, 4), len: rest.length })
}

/// Decodes a UDP header (RFC 768); returns also the payload.
pub(super) fn udp(octets: Octets<'_>) -> Result<((u16, u16), Datagram, Octets<'_>), SkipReason> {
    let (head, payload) = octets.split::<8>()?;
    let mut datagram = Datagram { len: payload.length, ..Datagram::default() };
    let captured = payload.data.len().min(datagram.head.len());
    datagram.head[..captured].copy_from_slice(&payload.data[..captured]);
    datagram.captured = captured as u8;
    Ok(((u16_at(head, 0), u16_at(head, 2)), datagram, payload))
}
