//! Files of pcapng (draft-ietf-opsawg-pcapng).

use pcap_parser::pcapng::{Block as Parsed, parse_block_be, parse_block_le};
use unruffled_units::Instant;

use super::{Block, Format, Frame};
use crate::error::Damage;
use crate::{Link, interface};

/// Maximum number of interfaces that one section may describe.
const MAX_INTERFACES: usize = 4096;

/// Types of blocks. That of a section header is the same in both byte orders.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
/// The block that the Enhanced Packet Block has made obsolete.
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Byte-order magic of a section header, in the byte order of the section.
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// Smallest length of a block: its type and twice its length, in octets.
const MIN_BLOCK_OCTETS: usize = 12;

/// Parser of the blocks of a pcapng file.
#[derive(Clone, Debug)]
pub(super) struct PcapNg {
    order: ByteOrder,
    interfaces: Vec<Interface>,
    /// Interfaces of earlier sections.
    earlier: u32,
    latest: Instant,
}

/// Byte order of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// Returns the byte order of the section header that `octets` begin with.
    fn of_section(octets: &[u8]) -> Option<Self> {
        let &[_, _, _, _, _, _, _, _, a, b, c, d] = octets.first_chunk()?;
        match [a, b, c, d] {
            magic if u32::from_le_bytes(magic) == BYTE_ORDER_MAGIC => Some(Self::Little),
            magic if u32::from_be_bytes(magic) == BYTE_ORDER_MAGIC => Some(Self::Big),
            _ => None,
        }
    }

    fn u16(self, octets: &[u8], at: usize) -> u16 {
        let octets = [octets[at], octets[at + 1]];
        match self {
            Self::Little => u16::from_le_bytes(octets),
            Self::Big => u16::from_be_bytes(octets),
        }
    }

    fn u32(self, octets: &[u8], at: usize) -> u32 {
        let octets = [octets[at], octets[at + 1], octets[at + 2], octets[at + 3]];
        match self {
            Self::Little => u32::from_le_bytes(octets),
            Self::Big => u32::from_be_bytes(octets),
        }
    }
}

#[derive(Clone, Debug)]
struct Interface {
    /// Number in the file, where the numbers of each section begin at 0.
    number: u32,
    name: Option<String>,
    link: Link,
    snap: u32,
    clock: InterfaceClock,
}

/// Units in which an interface counts time.
#[derive(Clone, Copy, Debug)]
struct InterfaceClock {
    units_per_second: u64,
    /// Nanoseconds in a unit, if that is a whole number.
    whole_nanos: Option<u64>,
    /// Seconds to be added to each time.
    offset_s: i64,
}

impl InterfaceClock {
    /// Reads `if_tsresol` (section 4.2): a power of 10, or of 2 where the first bit is set.
    fn new(resolution: u8, offset_s: i64) -> Option<Self> {
        let units_per_second = match resolution {
            power @ 0..=19 => 10u64.pow(u32::from(power)),
            power if power & 0x80 != 0 && power & 0x7f < 64 => 1 << (power & 0x7f),
            _ => return None,
        };
        let divides = units_per_second <= 1_000_000_000 && 1_000_000_000 % units_per_second == 0;
        let whole_nanos = divides.then(|| 1_000_000_000 / units_per_second);
        Some(Self { units_per_second, whole_nanos, offset_s })
    }

    fn at(self, ticks: u64) -> Instant {
        if let (Some(nanos), 0) = (self.whole_nanos, self.offset_s) {
            return Instant::from_nanos(ticks.saturating_mul(nanos));
        }
        let units = self.units_per_second;
        let seconds = (ticks / units).saturating_add_signed(self.offset_s);
        let rest = u128::from(ticks % units) * 1_000_000_000 / u128::from(units);
        Instant::from_nanos(seconds.saturating_mul(1_000_000_000).saturating_add(rest as u64))
    }
}

impl PcapNg {
    /// Recognises a file by the section header that it begins with.
    pub(super) fn open(head: &[u8]) -> Option<Self> {
        let order = ByteOrder::of_section(head)?;
        let is_section = order.u32(head, 0) == SECTION_HEADER;
        is_section.then(|| Self {
            order,
            interfaces: Vec::new(),
            earlier: 0,
            latest: Instant::ZERO,
        })
    }

    /// Passes a packet on. The length on the network is at least the captured one.
    fn pass(
        at: Instant,
        interface: &Interface,
        length: u32,
        data: &[u8],
        each: &mut impl FnMut(&Frame<'_>),
    ) {
        let link = interface.link;
        let length = length.max(data.len() as u32);
        let interface =
            interface::Interface { number: interface.number, name: interface.name.as_deref() };
        each(&Frame { at, link, interface, length, data });
    }

    /// Parses an Enhanced Packet Block (section 4.3).
    fn enhanced_packet(
        &mut self,
        body: &[u8],
        each: &mut impl FnMut(&Frame<'_>),
    ) -> Result<(), Damage> {
        let (head, rest) = body.split_first_chunk::<20>().ok_or(Damage::ShortPacketBlock)?;
        let interface = self.order.u32(head, 0);
        self.packet(interface, head, rest, each)
    }

    /// Parses an obsolete Packet Block (appendix "Packet Block (obsolete!)").
    ///
    /// It has the fields of an Enhanced Packet Block, with one difference: the interface's number
    /// has two octets, and the next two hold the number of packets dropped before.
    fn obsolete_packet(
        &mut self,
        body: &[u8],
        each: &mut impl FnMut(&Frame<'_>),
    ) -> Result<(), Damage> {
        let (head, rest) = body.split_first_chunk::<20>().ok_or(Damage::ShortPacketBlock)?;
        let interface = u32::from(self.order.u16(head, 0));
        self.packet(interface, head, rest, each)
    }

    /// Passes on the packet that follows these fields: an interface, a time, and both lengths.
    fn packet(
        &mut self,
        interface: u32,
        head: &[u8; 20],
        rest: &[u8],
        each: &mut impl FnMut(&Frame<'_>),
    ) -> Result<(), Damage> {
        let ticks = u64::from(self.order.u32(head, 4)) << 32 | u64::from(self.order.u32(head, 8));
        let captured = self.order.u32(head, 12) as usize;
        let data = rest.get(..captured).ok_or(Damage::LongPacket)?;
        let interface = self.interfaces.get(interface as usize).ok_or(Damage::UnknownInterface)?;
        self.latest = interface.clock.at(ticks);
        Self::pass(self.latest, interface, self.order.u32(head, 16), data, each);
        Ok(())
    }

    /// Parses a Simple Packet Block (section 4.4), which has no time.
    fn simple_packet(
        &mut self,
        body: &[u8],
        each: &mut impl FnMut(&Frame<'_>),
    ) -> Result<(), Damage> {
        let (head, rest) = body.split_first_chunk::<4>().ok_or(Damage::ShortPacketBlock)?;
        let interface = self.interfaces.first().ok_or(Damage::NoInterface)?;
        let length = self.order.u32(head, 0);
        let snap = if interface.snap == 0 { u32::MAX } else { interface.snap };
        let captured = (length.min(snap) as usize).min(rest.len());
        Self::pass(self.latest, interface, length, &rest[..captured], each);
        Ok(())
    }

    /// Parses an Interface Description Block (section 4.2).
    fn interface_description(&mut self, block: &[u8]) -> Result<(), Damage> {
        let parsed = match self.order {
            ByteOrder::Little => parse_block_le(block),
            ByteOrder::Big => parse_block_be(block),
        };
        let Ok((_, Parsed::InterfaceDescription(description))) = parsed else {
            return Err(Damage::NoBlock);
        };
        if self.interfaces.len() == MAX_INTERFACES {
            return Err(Damage::TooManyInterfaces);
        }
        // The parser reads the offset as little-endian in every section.
        let offset_s = match self.order {
            ByteOrder::Little => description.if_tsoffset,
            ByteOrder::Big => description.if_tsoffset.swap_bytes(),
        };
        let clock = InterfaceClock::new(description.if_tsresol, offset_s);
        let name = description.if_name().and_then(Result::ok).filter(|name| !name.is_empty());
        self.interfaces.push(Interface {
            number: self.earlier + self.interfaces.len() as u32,
            name: name.map(str::to_owned),
            link: Link::from_number(description.linktype.0 as u32),
            snap: description.snaplen,
            clock: clock.ok_or(Damage::ClockResolution)?,
        });
        Ok(())
    }
}

impl Format for PcapNg {
    fn block(&mut self, octets: &[u8], each: &mut impl FnMut(&Frame<'_>)) -> Result<Block, Damage> {
        let Some(head) = octets.first_chunk::<MIN_BLOCK_OCTETS>() else {
            return Ok(Block::Needs(MIN_BLOCK_OCTETS));
        };
        // The byte order may change with a section, whose type is a palindrome.
        let order = match u32::from_le_bytes([head[0], head[1], head[2], head[3]]) {
            SECTION_HEADER => ByteOrder::of_section(head).ok_or(Damage::NoBlock)?,
            _ => self.order,
        };
        let length = order.u32(head, 4) as usize;
        if length < MIN_BLOCK_OCTETS {
            return Err(Damage::NoBlock);
        }
        let Some(block) = octets.get(..length) else { return Ok(Block::Needs(length)) };
        if order.u32(block, length - 4) as usize != length {
            return Err(Damage::NoBlock);
        }
        let body = &block[8..length - 4];
        match order.u32(head, 0) {
            ENHANCED_PACKET => self.enhanced_packet(body, each)?,
            SIMPLE_PACKET => self.simple_packet(body, each)?,
            OBSOLETE_PACKET => self.obsolete_packet(body, each)?,
            SECTION_HEADER => {
                self.order = order;
                self.earlier += self.interfaces.len() as u32;
                self.interfaces.clear();
                return Ok(Block::Other(length));
            }
            INTERFACE_DESCRIPTION => {
                self.interface_description(block)?;
                return Ok(Block::Other(length));
            }
            _ => return Ok(Block::Other(length)),
        }
        Ok(Block::Frame(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_count_in_powers_of_ten_or_of_two() {
        let at =
            |resolution, ticks| InterfaceClock::new(resolution, 0).unwrap().at(ticks).as_nanos();
        assert_eq!(at(6, 1_500_000), 1_500_000_000);
        assert_eq!(at(9, 1_500_000_000), 1_500_000_000);
        assert_eq!(at(12, 1_500_000_000_999), 1_500_000_000);
        assert_eq!(at(0x80 | 10, 1536), 1_500_000_000);
        assert!(InterfaceClock::new(20, 0).is_none() && InterfaceClock::new(0xff, 0).is_none());
        let shifted = InterfaceClock::new(0, -2).unwrap();
        assert_eq!(shifted.at(5).as_nanos(), 3_000_000_000);
        assert_eq!(shifted.at(1), Instant::ZERO);
    }
}
