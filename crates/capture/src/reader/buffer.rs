//! Buffer in front of a capture's input.

use std::io::Read;

/// Initial size of the buffer, in octets. Few blocks are larger than a jumbo frame or a segment that
/// offloading has joined.
const BUFFER_OCTETS: usize = 128 * 1024;

/// Longest block that is accepted, in octets. The largest snap length in use is 256 KiB.
const MAX_BLOCK_OCTETS: usize = 16 * 1024 * 1024;

/// Octets of an input that have been read and not been consumed.
pub(super) struct Buffer {
    input: Box<dyn Read + Send>,
    octets: Vec<u8>,
    start: usize,
    end: usize,
}

/// Result of filling a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// The octets are available.
    Filled,
    /// The input ended before.
    Ended,
    /// No block is that long.
    TooLong,
}

impl Buffer {
    pub(super) fn new(input: Box<dyn Read + Send>) -> Self {
        Self { input, octets: vec![0; BUFFER_OCTETS], start: 0, end: 0 }
    }

    /// Returns the octets that have been read.
    pub(super) fn available(&self) -> &[u8] {
        &self.octets[self.start..self.end]
    }

    /// Drops the first `count` octets.
    pub(super) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Reads what fits into the first 64 KiB of the buffer, which are enough to recognise a format.
    pub(super) fn fill_up(&mut self) {
        self.fill(64 * 1024);
    }

    /// Reads until `octets` are available.
    pub(super) fn fill(&mut self, octets: usize) -> Fill {
        if octets > MAX_BLOCK_OCTETS {
            return Fill::TooLong;
        }
        if self.octets.len() - self.start < octets {
            self.octets.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            if self.octets.len() < octets {
                self.octets.resize(octets.next_power_of_two(), 0);
            }
        }
        while self.end - self.start < octets {
            // The source records errors, and ends.
            match self.input.read(&mut self.octets[self.end..]) {
                Ok(0) | Err(_) => return Fill::Ended,
                Ok(read) => self.end += read,
            }
        }
        Fill::Filled
    }
}
