//! Files of Solaris' snoop (RFC 1761).

use unruffled_units::Instant;

use super::{Block, Format, Frame, pass};
use crate::Link;
use crate::error::Damage;

/// First octets of a file.
const MAGIC: [u8; 8] = *b"snoop\0\0\0";

/// Length of the file header, in octets.
const HEADER_OCTETS: usize = 16;

/// Length of the header of each packet, in octets.
const PACKET_HEADER_OCTETS: usize = 24;

/// Number above those of LINKTYPE_ values, for link types that only snoop has.
const OTHER_LINKS: u32 = 1 << 16;

/// Parser of the packets of a snoop file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Snoop {
    link: Link,
}

impl Snoop {
    /// Recognises a file; returns also the length of its header.
    pub(super) fn open(head: &[u8]) -> Option<(Self, usize)> {
        let head = head.first_chunk::<HEADER_OCTETS>()?;
        let link = match u32_at(head, 12) {
            // IEEE 802.3 and Ethernet.
            0 | 4 => Link::ETHERNET,
            2 => Link::TOKEN_RING,
            8 => Link::FDDI,
            10 | 11 => Link::FRAME_RELAY,
            16 => Link::FIBRE_CHANNEL,
            18 => Link::SUN_ATM,
            other => Link::from_number(OTHER_LINKS.saturating_add(other)),
        };
        head.starts_with(&MAGIC).then_some((Self { link }, HEADER_OCTETS))
    }
}

impl Format for Snoop {
    fn block(&mut self, octets: &[u8], each: &mut impl FnMut(&Frame<'_>)) -> Result<Block, Damage> {
        let Some(head) = octets.first_chunk::<PACKET_HEADER_OCTETS>() else {
            return Ok(Block::Needs(PACKET_HEADER_OCTETS));
        };
        let captured = u32_at(head, 4) as usize;
        let record = u32_at(head, 8) as usize;
        if record < PACKET_HEADER_OCTETS.saturating_add(captured) {
            return Err(Damage::LongPacket);
        }
        let Some(whole) = octets.get(..record) else { return Ok(Block::Needs(record)) };
        let data = &whole[PACKET_HEADER_OCTETS..][..captured];
        let nanoseconds =
            u64::from(u32_at(head, 16)) * 1_000_000_000 + u64::from(u32_at(head, 20)) * 1000;
        pass(Instant::from_nanos(nanoseconds), self.link, u32_at(head, 0), data, each);
        Ok(Block::Frame(record))
    }
}

fn u32_at(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]])
}
