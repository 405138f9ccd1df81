//! A build without decompressors.

use std::io::{self, Read};

use super::Compression;

/// Returns an input that cannot be read.
pub(crate) fn decoder(of: Compression, _: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    Box::new(Absent(of))
}

/// An input whose compression is not in this build.
struct Absent(Compression);

impl Read for Absent {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let name = format!("{:?}", self.0).to_lowercase();
        let reason = format!("{name} is not in this build: expected an uncompressed capture");
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }
}
