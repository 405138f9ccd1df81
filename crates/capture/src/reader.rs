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
    let (input, first_error) = source.into_parts();
    let mut buffer = Buffer::new(input);
    buffer.fill_up();
    let head = buffer.available();
    if head.is_empty() {
        return Err(Error::Empty);
    }
    if let Some((format, header)) = pcap::Pcap::open(head) {
        return Ok(blocks(format, header, buffer, &first_error, &mut each));
    }
    if let Some(format) = pcapng::PcapNg::open(head) {
        return Ok(blocks(format, 0, buffer, &first_error, &mut each));
    }
    if let Some((format, header)) = snoop::Snoop::open(head) {
        return Ok(blocks(format, header, buffer, &first_error, &mut each));
    }
    if let Some(format) = erf::Erf::open(head) {
        return Ok(blocks(format, 0, buffer, &first_error, &mut each));
    }
    Err(first_error.take().map_or(Error::NoCapture, Error::Unreadable))
}

/// Reads the blocks behind a header of `header` octets. Returns the error that ends them early.
fn blocks(
    mut format: impl Format,
    header: usize,
    mut buffer: Buffer,
    first_error: &FirstError,
    each: &mut impl FnMut(&Frame<'_>),
) -> Option<Error> {
    buffer.consume(header);
    let mut packets: u64 = 0;
    let mut bytes = header as u64;
    loop {
        let length = match format.block(buffer.available(), each) {
            Ok(Block::Frame(length)) => {
                packets += 1;
                length
            }
            Ok(Block::Other(length)) => length,
            Ok(Block::Needs(octets)) => match buffer.fill(octets) {
                Fill::Filled => continue,
                Fill::TooLong => {
                    return Some(Error::Damaged { packets, bytes, damage: Damage::LongBlock });
                }
                Fill::Ended => {
                    return end(buffer.available().is_empty(), packets, bytes, first_error);
                }
            },
            Err(damage) => return Some(Error::Damaged { packets, bytes, damage }),
        };
        // A block of length zero would make the loop endless.
        if length == 0 {
            return Some(Error::Damaged { packets, bytes, damage: Damage::EmptyBlock });
        }
        buffer.consume(length);
        bytes += length as u64;
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
