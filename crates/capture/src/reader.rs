//! Reader of capture files: pcap and its variants, pcapng, snoop, and ERF.

mod buffer;
mod erf;
mod pcap;
mod pcapng;
mod snoop;

use unruffled_units::Instant;

use crate::error::{Damage, InputError};
use crate::source::FirstError;
use crate::{Error, Interface, Link, Source};
use buffer::{Buffer, Fill};

/// A captured frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Time of capture, since 1970. If the capture has none, the time of the previous frame.
    pub at: Instant,
    /// Type of the link, which determines the first header.
    pub link: Link,
    /// Interface on which the frame was captured.
    pub interface: Interface<'a>,
    /// Length on the network, in octets; the capture may hold less.
    pub length: u32,
    /// The captured octets.
    pub data: &'a [u8],
}

/// Parser of the blocks of one file format.
trait Format {
    /// Parses the block at the beginning of `octets`, and passes the frame in it to `each`.
    ///
    /// # Errors
    /// When no block of the format begins there.
    fn block(&mut self, octets: &[u8], each: &mut impl FnMut(&Frame<'_>)) -> Result<Block, Damage>;
}

/// Result of parsing one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    /// The block needs so many octets in all.
    Needs(usize),
    /// The block was so many octets long and held no frame.
    Other(usize),
    /// The block was so many octets long and held a frame.
    Frame(usize),
}

/// Reads a capture to its end, or to the first damage, and passes each frame to `each`.
///
/// Returns the error that ended the reading early, if the capture could be read up to there.
///
/// # Errors
/// When the source is not a capture at all.
pub fn read(source: Source, mut each: impl FnMut(&Frame<'_>)) -> Result<Option<Error>, Error> {
    let mut reader = Reader::open(source)?;
    loop {
        if let Some(ended) = reader.read_some(u64::MAX, &mut each) {
            return Ok(ended);
        }
    }
}

/// Reader of a capture in parts.
pub struct Reader {
    format: AnyFormat,
    rest: Rest,
}

/// What is left of a capture, and the number of packets and octets before it.
struct Rest {
    buffer: Buffer,
    first_error: FirstError,
    packets: u64,
    bytes: u64,
}

/// Parser of any file format.
enum AnyFormat {
    Pcap(pcap::Pcap),
    PcapNg(pcapng::PcapNg),
    Snoop(snoop::Snoop),
    Erf(erf::Erf),
}

impl Reader {
    /// Opens a capture.
    ///
    /// # Errors
    /// When the source is not a capture at all.
    pub fn open(source: Source) -> Result<Self, Error> {
        let (input, first_error) = source.into_parts();
        let mut buffer = Buffer::new(input);
        buffer.fill_up();
        let head = buffer.available();
        if head.is_empty() {
            return Err(Error::Empty);
        }
        let (format, header) = if let Some((format, header)) = pcap::Pcap::open(head) {
            (AnyFormat::Pcap(format), header)
        } else if let Some(format) = pcapng::PcapNg::open(head) {
            (AnyFormat::PcapNg(format), 0)
        } else if let Some((format, header)) = snoop::Snoop::open(head) {
            (AnyFormat::Snoop(format), header)
        } else if let Some(format) = erf::Erf::open(head) {
            (AnyFormat::Erf(format), 0)
        } else {
            return Err(first_error.take().map_or(Error::NoCapture, Error::Unreadable));
        };
        buffer.consume(header);
        let rest = Rest { buffer, first_error, packets: 0, bytes: header as u64 };
        Ok(Self { format, rest })
    }

    /// Passes at most `frames` further frames to `each`.
    ///
    /// Returns `None` if there may be more, and at the end of the capture the error that ended it early, if
    /// any.
    pub fn read_some(
        &mut self,
        frames: u64,
        each: &mut impl FnMut(&Frame<'_>),
    ) -> Option<Option<Error>> {
        let Self { format, rest } = self;
        let limit = rest.packets.saturating_add(frames);
        match format {
            AnyFormat::Pcap(format) => rest.blocks(format, limit, each),
            AnyFormat::PcapNg(format) => rest.blocks(format, limit, each),
            AnyFormat::Snoop(format) => rest.blocks(format, limit, each),
            AnyFormat::Erf(format) => rest.blocks(format, limit, each),
        }
    }
}

impl Rest {
    /// Reads blocks until `limit` packets have been read in all. Returns `None` then, and at the end the
    /// error that ends the capture early, if any.
    fn blocks(
        &mut self,
        format: &mut impl Format,
        limit: u64,
        each: &mut impl FnMut(&Frame<'_>),
    ) -> Option<Option<Error>> {
        let Self { buffer, first_error, packets, bytes } = self;
        let damaged =
            |packets, bytes, damage| Some(Some(Error::Damaged { packets, bytes, damage }));
        while *packets < limit {
            let length = match format.block(buffer.available(), each) {
                Ok(Block::Frame(length)) => {
                    *packets += 1;
                    length
                }
                Ok(Block::Other(length)) => length,
                Ok(Block::Needs(octets)) => match buffer.fill(octets) {
                    Fill::Filled => continue,
                    Fill::TooLong => return damaged(*packets, *bytes, Damage::LongBlock),
                    Fill::Ended => {
                        let between = buffer.available().is_empty();
                        return Some(end(between, *packets, *bytes, first_error));
                    }
                },
                Err(damage) => return damaged(*packets, *bytes, damage),
            };
            // A block of length zero would make the loop endless.
            if length == 0 {
                return damaged(*packets, *bytes, Damage::EmptyBlock);
            }
            buffer.consume(length);
            *bytes += length as u64;
        }
        None
    }
}

/// Returns the error of an input that has ended, unless it ended without one between two blocks.
fn end(between: bool, packets: u64, bytes: u64, first_error: &FirstError) -> Option<Error> {
    let failed = |input: InputError| Error::Damaged { packets, bytes, damage: input.into() };
    match first_error.take() {
        Some(input) => Some(failed(input)),
        None if between => None,
        None => Some(Error::CutOff { packets, bytes }),
    }
}

/// Passes a frame on. The length on the network is at least the captured one.
fn pass(at: Instant, link: Link, length: u32, data: &[u8], each: &mut impl FnMut(&Frame<'_>)) {
    let interface = Interface::default();
    each(&Frame { at, link, interface, length: length.max(data.len() as u32), data });
}
