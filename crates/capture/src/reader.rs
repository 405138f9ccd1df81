//! From a capture file's blocks to frames: pcap (also with nanoseconds) and pcapng.

use pcap_parser::pcapng::Block;
use pcap_parser::{IDB_MAGIC, PcapBlockOwned, PcapError, create_reader};
use unruffled_units::Instant;

use crate::{Error, Link, Source};

/// Octets held at a time; blocks are seldom larger than a jumbo frame or a joined segment.
const BUFFER: usize = 512 * 1024;

/// The longest block that is waited for: a snap length of 256 KiB is the largest in use.
const LONGEST: usize = 16 * 1024 * 1024;

/// Interfaces that one section may describe.
const INTERFACES: usize = 4096;

/// The type of the Packet Block, which the Enhanced Packet Block has made obsolete.
const OBSOLETE_PACKET: u32 = 2;

/// A frame as captured.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// When it passed, since 1970; where the capture does not say, when the one before did.
    pub at: Instant,
    /// What it begins with.
    pub link: Link,
    /// Its length when it passed; what was captured may be less.
    pub length: u32,
    /// What was captured of it.
    pub data: &'a [u8],
}

/// Reads a capture to its end, or to where it makes no sense any more, and gives `each` its frames.
/// Gives the error that ended it early, if one did, after some of it could be read.
///
/// # Errors
/// When it is no capture at all.
pub fn read(source: Source, mut each: impl FnMut(&Frame<'_>)) -> Result<Option<Error>, Error> {
    let Source { input, trouble, .. } = source;
    let mut reader = match create_reader(BUFFER, input) {
        Ok(reader) => reader,
        Err(PcapError::Eof) => return Err(Error::Empty),
        Err(_) => {
            return Err(trouble.take().map_or(Error::NoCapture, Error::Unreadable));
        }
    };
    let mut state = State::default();
    let mut capacity = BUFFER;
    let mut bytes: u64 = 0;
    let damaged = |packets, bytes, what: &str| Error::Damaged { packets, bytes, what: what.into() };
    loop {
        let step = match reader.next() {
            Ok((offset, block)) => match state.block(&block, &mut each) {
                Ok(()) => Step::Consume(offset),
                Err(what) => return Ok(Some(damaged(state.packets, bytes, what))),
            },
            Err(PcapError::Eof) => {
                let told = trouble.take().map(|what| damaged(state.packets, bytes, &what));
                return Ok(told);
            }
            Err(PcapError::Incomplete(_)) => Step::Refill,
            Err(PcapError::BufferTooSmall) => Step::Grow,
            Err(PcapError::UnexpectedEof) => {
                let cut_off = Error::CutOff { packets: state.packets, bytes };
                let told = trouble.take().map(|what| damaged(state.packets, bytes, &what));
                return Ok(Some(told.unwrap_or(cut_off)));
            }
            Err(_) => return Ok(Some(damaged(state.packets, bytes, "no block begins here"))),
        };
        match step {
            Step::Consume(offset) => {
                // A block that takes nothing would be read for ever.
                if offset == 0 {
                    return Ok(Some(damaged(state.packets, bytes, "a block of no length")));
                }
                bytes += offset as u64;
                reader.consume(offset);
            }
            Step::Refill => {
                if reader.refill().is_err() {
                    let what = trouble.take().unwrap_or_else(|| "cannot be read".to_owned());
                    return Ok(Some(damaged(state.packets, bytes, &what)));
                }
            }
            Step::Grow => {
                capacity *= 2;
                if capacity > LONGEST || !reader.grow(capacity) {
                    let what = "a block longer than 16 MiB";
                    return Ok(Some(damaged(state.packets, bytes, what)));
                }
            }
        }
    }
}

enum Step {
    Consume(usize),
    Refill,
    Grow,
}

/// What earlier blocks said of later ones.
#[derive(Default)]
struct State {
    interfaces: Vec<Interface>,
    /// Numbers of this pcapng section are written with the highest octet first.
    big_endian: bool,
    packets: u64,
    latest: Instant,
}

#[derive(Clone, Copy)]
struct Interface {
    link: Link,
    snap: u32,
    clock: Clock,
}

/// How an interface counts time.
#[derive(Clone, Copy)]
struct Clock {
    /// Units per second.
    units: u64,
    /// Seconds to be added.
    offset: i64,
}

impl Clock {
    /// From `if_tsresol` (pcapng, section 4.2): a power of 10, or of 2 where the first bit is set.
    fn new(resolution: u8, offset: i64) -> Option<Self> {
        let units = match resolution {
            power @ 0..=19 => 10u64.pow(u32::from(power)),
            power if power & 0x80 != 0 && power & 0x7f < 64 => 1 << (power & 0x7f),
            _ => return None,
        };
        Some(Self { units, offset })
    }

    fn at(self, ticks: u64) -> Instant {
        let seconds = (ticks / self.units).saturating_add_signed(self.offset);
        let rest = u128::from(ticks % self.units) * 1_000_000_000 / u128::from(self.units);
        Instant::from_nanos(seconds.saturating_mul(1_000_000_000).saturating_add(rest as u64))
    }
}

impl State {
    fn block(
        &mut self,
        block: &PcapBlockOwned<'_>,
        each: &mut impl FnMut(&Frame<'_>),
    ) -> Result<(), &'static str> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let resolution = if header.is_nanosecond_precision() { 9 } else { 6 };
                // The upper bits say how long the frame check sequence is.
                let link = Link::from_number((header.network.0 & 0x0fff_ffff) as u32);
                let clock = Clock::new(resolution, 0).ok_or("its clock")?;
                self.interfaces = vec![Interface { link, snap: header.snaplen, clock }];
            }
            PcapBlockOwned::Legacy(packet) => {
                let interface = *self.interfaces.first().ok_or("a packet before the header")?;
                let seconds = u64::from(packet.ts_sec) * interface.clock.units;
                let at = interface.clock.at(seconds + u64::from(packet.ts_usec));
                self.frame(interface, at, packet.origlen, packet.data, each);
            }
            PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                self.interfaces.clear();
                self.big_endian = section.big_endian();
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                if self.interfaces.len() == INTERFACES {
                    return Err("more than 4096 interfaces");
                }
                // The parser reads the type and the offset as little-endian in every section.
                let offset = match interface.block_type {
                    IDB_MAGIC => interface.if_tsoffset,
                    _ => interface.if_tsoffset.swap_bytes(),
                };
                let clock = Clock::new(interface.if_tsresol, offset);
                self.interfaces.push(Interface {
                    link: Link::from_number(interface.linktype.0 as u32),
                    snap: interface.snaplen,
                    clock: clock.ok_or("an interface whose clock nobody can read")?,
                });
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let interface = self.interface(packet.if_id)?;
                let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let captured = (packet.caplen as usize).min(packet.data.len());
                let (at, data) = (interface.clock.at(ticks), &packet.data[..captured]);
                self.frame(interface, at, packet.origlen, data, each);
            }
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                let interface = *self.interfaces.first().ok_or("a packet of no interface")?;
                let snap = if interface.snap == 0 { u32::MAX } else { interface.snap };
                let captured = (packet.origlen.min(snap) as usize).min(packet.data.len());
                let (at, data) = (self.latest, &packet.data[..captured]);
                self.frame(interface, at, packet.origlen, data, each);
            }
            PcapBlockOwned::NG(Block::Unknown(block)) => {
                // The parser reads the type as little-endian in every section.
                let kind = block.block_type;
                let kind = if self.big_endian { kind.swap_bytes() } else { kind };
                if kind == OBSOLETE_PACKET {
                    self.obsolete(block.data, each)?;
                }
            }
            PcapBlockOwned::NG(_) => {}
        }
        Ok(())
    }

    fn interface(&self, number: u32) -> Result<Interface, &'static str> {
        let interface = self.interfaces.get(number as usize);
        interface.copied().ok_or("a packet of an interface that is not there")
    }

    /// The packet of an obsolete Packet Block (draft-ietf-opsawg-pcapng, appendix "Packet Block
    /// (obsolete!)"): what an Enhanced Packet Block holds, but the interface's number has two octets,
    /// and the two behind it say how many packets were dropped before.
    fn obsolete(
        &mut self,
        block: &[u8],
        each: &mut impl FnMut(&Frame<'_>),
    ) -> Result<(), &'static str> {
        let (head, rest) = block.split_first_chunk::<20>().ok_or("a packet without its header")?;
        let octets = |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3]];
        let big = self.big_endian;
        let long = |of: [u8; 4]| if big { u32::from_be_bytes(of) } else { u32::from_le_bytes(of) };
        let short = |of: [u8; 2]| if big { u16::from_be_bytes(of) } else { u16::from_le_bytes(of) };
        let interface = self.interface(u32::from(short([head[0], head[1]])))?;
        let ticks = u64::from(long(octets(4))) << 32 | u64::from(long(octets(8)));
        let (captured, length) = (long(octets(12)), long(octets(16)));
        let data = rest.get(..captured as usize).ok_or("a packet longer than its block")?;
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
    fn clocks_count_in_powers_of_ten_and_of_two() {
        let at = |resolution, ticks| Clock::new(resolution, 0).unwrap().at(ticks).as_nanos();
        assert_eq!(at(6, 1_500_000), 1_500_000_000);
        assert_eq!(at(9, 1_500_000_000), 1_500_000_000);
        assert_eq!(at(0x80 | 10, 1536), 1_500_000_000);
        assert!(Clock::new(20, 0).is_none() && Clock::new(0xff, 0).is_none());
        let shifted = Clock::new(0, -2).unwrap();
        assert_eq!(shifted.at(5).as_nanos(), 3_000_000_000);
        assert_eq!(shifted.at(1), Instant::ZERO);
    }
}
