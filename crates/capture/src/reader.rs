//! Reader of capture files: pcap (also with nanoseconds) and pcapng.

use pcap_parser::pcapng::Block;
use pcap_parser::{IDB_MAGIC, PcapBlockOwned, PcapError, create_reader};
use unruffled_units::Instant;

use crate::error::{Damage, InputError};
use crate::{Error, Link, Source};

/// Initial size of the buffer, in octets. Few blocks are larger than a jumbo frame or a segment that
/// offloading has joined.
const BUFFER_OCTETS: usize = 512 * 1024;

/// Longest block that is accepted, in octets. The largest snap length in use is 256 KiB.
const MAX_BLOCK_OCTETS: usize = 16 * 1024 * 1024;

/// Maximum number of interfaces that one section may describe.
const MAX_INTERFACES: usize = 4096;

/// Type of the Packet Block, which the Enhanced Packet Block has made obsolete.
const OBSOLETE_PACKET_BLOCK: u32 = 2;

/// A captured frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Time of capture, since 1970. If the capture has none, the time of the previous frame.
    pub at: Instant,
    /// Type of the link, which determines the first header.
    pub link: Link,
    /// Length on the network, in octets; the capture may hold less.
    pub length: u32,
    /// The captured octets.
    pub data: &'a [u8],
}

/// Reads a capture to its end, or to the first damage, and passes each frame to `each`.
///
/// Returns the error that ended the reading early, if the capture could be read up to there.
///
/// # Errors
/// When the source is not a capture at all.
pub fn read(source: Source, mut each: impl FnMut(&Frame<'_>)) -> Result<Option<Error>, Error> {
    let (input, first_error) = source.into_parts();
    let mut reader = match create_reader(BUFFER_OCTETS, input) {
        Ok(reader) => reader,
        Err(PcapError::Eof) => return Err(Error::Empty),
        Err(_) => {
            return Err(first_error.take().map_or(Error::NoCapture, Error::Unreadable));
        }
    };
    let mut state = State::default();
    let mut capacity = BUFFER_OCTETS;
    let mut bytes: u64 = 0;
    let damaged = |packets, bytes, damage| Error::Damaged { packets, bytes, damage };
    loop {
        let step = match reader.next() {
            Ok((offset, block)) => match state.block(&block, &mut each) {
                Ok(()) => Step::Consume(offset),
                Err(damage) => return Ok(Some(damaged(state.packets, bytes, damage))),
            },
            Err(PcapError::Eof) => {
                let input = first_error.take().map(Damage::Input);
                return Ok(input.map(|damage| damaged(state.packets, bytes, damage)));
            }
            Err(PcapError::Incomplete(_)) => Step::Refill,
            Err(PcapError::BufferTooSmall) => Step::Grow,
            Err(PcapError::UnexpectedEof) => {
                let cut_off = Error::CutOff { packets: state.packets, bytes };
                let input = first_error.take().map(Damage::Input);
                let error = input.map(|damage| damaged(state.packets, bytes, damage));
                return Ok(Some(error.unwrap_or(cut_off)));
            }
            Err(_) => return Ok(Some(damaged(state.packets, bytes, Damage::NoBlock))),
        };
        match step {
            Step::Consume(offset) => {
                // A block of length zero would make the loop endless.
                if offset == 0 {
                    return Ok(Some(damaged(state.packets, bytes, Damage::EmptyBlock)));
                }
                bytes += offset as u64;
                reader.consume(offset);
            }
            Step::Refill => {
                if reader.refill().is_err() {
                    let unknown = || InputError::from(std::io::Error::other("cannot be read"));
                    let input = first_error.take().unwrap_or_else(unknown);
                    return Ok(Some(damaged(state.packets, bytes, Damage::Input(input))));
                }
            }
            Step::Grow => {
                capacity *= 2;
                if capacity > MAX_BLOCK_OCTETS || !reader.grow(capacity) {
                    return Ok(Some(damaged(state.packets, bytes, Damage::LongBlock)));
                }
            }
        }
    }
}

/// Next action of the reading loop.
enum Step {
    Consume(usize),
    Refill,
    Grow,
}

/// State that earlier blocks set for later ones.
#[derive(Default)]
struct State {
    interfaces: Vec<Interface>,
    /// Whether numbers of this pcapng section are big-endian.
    big_endian: bool,
    packets: u64,
    latest: Instant,
}

#[derive(Clone, Copy)]
struct Interface {
    link: Link,
    snap: u32,
    clock: InterfaceClock,
}

/// Units in which an interface counts time.
#[derive(Clone, Copy)]
struct InterfaceClock {
    units_per_second: u64,
    /// Seconds to be added to each time.
    offset_s: i64,
}

impl InterfaceClock {
    /// Reads `if_tsresol` (pcapng, section 4.2): a power of 10, or of 2 where the first bit is set.
    fn new(resolution: u8, offset_s: i64) -> Option<Self> {
        let units_per_second = match resolution {
            power @ 0..=19 => 10u64.pow(u32::from(power)),
            power if power & 0x80 != 0 && power & 0x7f < 64 => 1 << (power & 0x7f),
            _ => return None,
        };
        Some(Self { units_per_second, offset_s })
    }

    fn at(self, ticks: u64) -> Instant {
        let units = self.units_per_second;
        let seconds = (ticks / units).saturating_add_signed(self.offset_s);
        let rest = u128::from(ticks % units) * 1_000_000_000 / u128::from(units);
        Instant::from_nanos(seconds.saturating_mul(1_000_000_000).saturating_add(rest as u64))
    }
}

impl State {
    fn block(
        &mut self,
        block: &PcapBlockOwned<'_>,
        each: &mut impl FnMut(&Frame<'_>),
    ) -> Result<(), Damage> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let resolution = if header.is_nanosecond_precision() { 9 } else { 6 };
                // The upper bits are the length of the frame check sequence.
                let link = Link::from_number((header.network.0 & 0x0fff_ffff) as u32);
                let clock = InterfaceClock::new(resolution, 0).ok_or(Damage::ClockResolution)?;
                self.interfaces = vec![Interface { link, snap: header.snaplen, clock }];
            }
            PcapBlockOwned::Legacy(packet) => {
                let interface = *self.interfaces.first().ok_or(Damage::NoHeader)?;
                let seconds = u64::from(packet.ts_sec) * interface.clock.units_per_second;
                let at = interface.clock.at(seconds + u64::from(packet.ts_usec));
                self.frame(interface, at, packet.origlen, packet.data, each);
            }
            PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                self.interfaces.clear();
                self.big_endian = section.big_endian();
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                if self.interfaces.len() == MAX_INTERFACES {
                    return Err(Damage::TooManyInterfaces);
                }
                // The parser reads the type and the offset as little-endian in every section.
                let offset_s = match interface.block_type {
                    IDB_MAGIC => interface.if_tsoffset,
                    _ => interface.if_tsoffset.swap_bytes(),
                };
                let clock = InterfaceClock::new(interface.if_tsresol, offset_s);
                self.interfaces.push(Interface {
                    link: Link::from_number(interface.linktype.0 as u32),
                    snap: interface.snaplen,
                    clock: clock.ok_or(Damage::ClockResolution)?,
                });
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let interface = self.interface(packet.if_id)?;
                let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let captured = (packet.caplen as usize).min(packet.data.len());
                let at = interface.clock.at(ticks);
                self.frame(interface, at, packet.origlen, &packet.data[..captured], each);
            }
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                let interface = *self.interfaces.first().ok_or(Damage::NoInterface)?;
                let snap = if interface.snap == 0 { u32::MAX } else { interface.snap };
                let captured = (packet.origlen.min(snap) as usize).min(packet.data.len());
                let at = self.latest;
                self.frame(interface, at, packet.origlen, &packet.data[..captured], each);
            }
            PcapBlockOwned::NG(Block::Unknown(block)) => {
                // The parser reads the type as little-endian in every section.
                let kind = block.block_type;
                let kind = if self.big_endian { kind.swap_bytes() } else { kind };
                if kind == OBSOLETE_PACKET_BLOCK {
                    self.obsolete_packet(block.data, each)?;
                }
            }
            PcapBlockOwned::NG(_) => {}
        }
        Ok(())
    }

    fn interface(&self, number: u32) -> Result<Interface, Damage> {
        self.interfaces.get(number as usize).copied().ok_or(Damage::UnknownInterface)
    }

    /// Reads the packet of an obsolete Packet Block (draft-ietf-opsawg-pcapng, appendix "Packet Block
    /// (obsolete!)").
    ///
    /// It has the fields of an Enhanced Packet Block, with one difference: the interface's number
    /// has two octets, and the next two hold the number of packets dropped before.
    fn obsolete_packet(
        &mut self,
        block: &[u8],
        each: &mut impl FnMut(&Frame<'_>),
    ) -> Result<(), Damage> {
        let (head, rest) = block.split_first_chunk::<20>().ok_or(Damage::ShortPacketBlock)?;
        let octets = |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3]];
        let big = self.big_endian;
        let long = |of: [u8; 4]| if big { u32::from_be_bytes(of) } else { u32::from_le_bytes(of) };
        let short = |of: [u8; 2]| if big { u16::from_be_bytes(of) } else { u16::from_le_bytes(of) };
        let interface = self.interface(u32::from(short([head[0], head[1]])))?;
        let ticks = u64::from(long(octets(4))) << 32 | u64::from(long(octets(8)));
        let captured = long(octets(12));
        let length = long(octets(16));
        let data = rest.get(..captured as usize).ok_or(Damage::LongPacket)?;
        self.frame(interface, interface.clock.at(ticks), length, data, each);
        Ok(())
    }

    fn frame(
        &mut self,
        interface: Interface,
        at: Instant,
        length: u32,
        data: &[u8],
        each: &mut impl FnMut(&Frame<'_>),
    ) {
        self.packets += 1;
        self.latest = at;
        let length = length.max(data.len() as u32);
        each(&Frame { at, link: interface.link, length, data });
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
        assert_eq!(at(0x80 | 10, 1536), 1_500_000_000);
        assert!(InterfaceClock::new(20, 0).is_none() && InterfaceClock::new(0xff, 0).is_none());
        let shifted = InterfaceClock::new(0, -2).unwrap();
        assert_eq!(shifted.at(5).as_nanos(), 3_000_000_000);
        assert_eq!(shifted.at(1), Instant::ZERO);
    }
}
