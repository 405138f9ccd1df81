//! Files of libpcap, with microseconds or nanoseconds, and their variants.

use pcap_parser::parse_pcap_header;
use unruffled_units::Instant;

use super::{Block, Format, Frame, pass};
use crate::Link;
use crate::error::Damage;

/// Length of the file header, in octets.
const HEADER_OCTETS: usize = 24;

/// Magic numbers of the variants, as the file's byte order has them.
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// The variant of A. Kuznetsov's patches, with an interface and a protocol for each packet.
const MODIFIED: u32 = 0xa1b2_cd34;
/// The variant of Ixia's hardware and software, with four more octets in the header.
const IXIA: [u32; 2] = [0x1c00_01ac, 0x1c00_01ab];

/// Parser of the packets of a pcap file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pcap {
    is_big: bool,
    link: Link,
    /// Nanoseconds in a unit of the fraction of a second.
    unit: u64,
    /// Length of the header of each packet, in octets.
    packet_header: usize,
    /// Whether the file is so old that both lengths may be in the other order.
    is_old: bool,
}

impl Pcap {
    /// Recognises a file; returns also the length of its header.
    pub(super) fn open(head: &[u8]) -> Option<(Self, usize)> {
        let magic = head.first_chunk::<4>()?;
        let known = |number: u32| {
            matches!(number, MICROSECONDS | NANOSECONDS | MODIFIED) || IXIA.contains(&number)
        };
        let (number, is_big) = match (u32::from_le_bytes(*magic), u32::from_be_bytes(*magic)) {
            (little, _) if known(little) => (little, false),
            (_, big) if known(big) => (big, true),
            _ => return None,
        };
        // The fields behind the magic number are those of plain pcap in all variants.
        let mut header: [u8; HEADER_OCTETS] = *head.first_chunk()?;
        let plain = if is_big { MICROSECONDS.to_be_bytes() } else { MICROSECONDS.to_le_bytes() };
        header[..4].copy_from_slice(&plain);
        let (_, fields) = parse_pcap_header(&header).ok()?;
        let format = Self {
            is_big,
            // The upper bits are the length of the frame check sequence.
            link: Link::from_number((fields.network.0 & 0x0fff_ffff) as u32),
            unit: if matches!(number, MICROSECONDS | MODIFIED) { 1000 } else { 1 },
            packet_header: if number == MODIFIED { 24 } else { 16 },
            is_old: (fields.version_major, fields.version_minor) < (2, 4),
        };
        Some((format, HEADER_OCTETS + if IXIA.contains(&number) { 4 } else { 0 }))
    }
}

impl Format for Pcap {
    fn block(&mut self, octets: &[u8], each: &mut impl FnMut(&Frame<'_>)) -> Result<Block, Damage> {
        let Some(head) = octets.first_chunk::<16>() else {
            return Ok(Block::Needs(self.packet_header));
        };
        let word = |at: usize| {
            let word = [head[at], head[at + 1], head[at + 2], head[at + 3]];
            if self.is_big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        let mut captured = word(8);
        let mut length = word(12);
        if self.is_old && captured > length {
            std::mem::swap(&mut captured, &mut length);
        }
        let end = self.packet_header.saturating_add(captured as usize);
        let Some(data) = octets.get(self.packet_header..end) else {
            return Ok(Block::Needs(end));
        };
        let nanoseconds =
            u64::from(word(0)) * 1_000_000_000 + u64::from(word(4)).saturating_mul(self.unit);
        pass(Instant::from_nanos(nanoseconds), self.link, length, data, each);
        Ok(Block::Frame(end))
    }
}
