//! Files of Endace's extensible record format (ERF): records without a file header.

use unruffled_units::Instant;

use super::{Block, Format, Frame, pass};
use crate::Link;
use crate::erf::{self, HEADER_OCTETS};
use crate::error::Damage;

/// Number of records by which a file is recognised, since the format has no magic number.
const CHECKED_RECORDS: usize = 20;

/// Longest time between two of these records, in seconds.
const MAX_GAP_S: u64 = 7 * 86_400;

/// Parser of the records of an ERF file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Erf;

impl Erf {
    /// Recognises a file by its first records, which have to be plausible.
    pub(super) fn open(head: &[u8]) -> Option<Self> {
        let mut rest = head;
        let mut last = None;
        for _ in 0..CHECKED_RECORDS {
            let Some(record) = rest.first_chunk::<HEADER_OCTETS>() else { break };
            let seconds = timestamp(record) >> 32;
            let near = |last: u64| seconds.abs_diff(last) <= MAX_GAP_S;
            let length = length(record);
            if !erf::is_known(record) || length < HEADER_OCTETS {
                return None;
            }
            // Padding has no time.
            if erf::has_frame(record) {
                if !last.is_none_or(near) {
                    return None;
                }
                last = Some(seconds);
            }
            match rest.get(length..) {
                Some(behind) => rest = behind,
                // The first record has to be whole.
                None => return (rest.len() < head.len()).then_some(Self),
            }
        }
        last.map(|_| Self)
    }
}

impl Format for Erf {
    fn block(&mut self, octets: &[u8], each: &mut impl FnMut(&Frame<'_>)) -> Result<Block, Damage> {
        let Some(head) = octets.first_chunk::<HEADER_OCTETS>() else {
            return Ok(Block::Needs(HEADER_OCTETS));
        };
        let length = length(head);
        if length < HEADER_OCTETS {
            return Err(Damage::NoBlock);
        }
        let Some(record) = octets.get(..length) else { return Ok(Block::Needs(length)) };
        if !erf::has_frame(head) {
            return Ok(Block::Other(length));
        }
        let ticks = timestamp(head);
        let fraction = ((ticks & 0xffff_ffff) * 1_000_000_000) >> 32;
        let at = Instant::from_nanos((ticks >> 32) * 1_000_000_000 + fraction);
        match erf::link(record) {
            Some(frame) => {
                let data = record.get(frame.header..).unwrap_or_default();
                // Records are padded, so the captured octets may be more than the frame's.
                let data = &data[..data.len().min(frame.length as usize)];
                pass(at, frame.link, frame.length, data, each);
            }
            None => pass(at, Link::ERF, length as u32, record, each),
        }
        Ok(Block::Frame(length))
    }
}

/// Returns the time of a record: seconds, and a fraction of 32 bits.
fn timestamp(record: &[u8; HEADER_OCTETS]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *record;
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// Returns the length of a record, in octets.
fn length(record: &[u8; HEADER_OCTETS]) -> usize {
    usize::from(u16::from_be_bytes([record[10], record[11]]))
}
