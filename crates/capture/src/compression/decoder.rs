//! Decompressors, also of several streams in a row.

use std::io::{self, BufRead, BufReader, Read};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::Compression;

/// Largest window of zstd that is accepted, in octets: the largest that `zstd` itself accepts.
const MAX_ZSTD_WINDOW: u64 = 128 << 20;

/// Largest memory of xz that is accepted, in KiB: twice that of `xz -9`.
const MAX_XZ_KIB: u32 = 128 << 10;

/// Returns an input that yields the decompressed octets of `input`.
pub(crate) fn decoder(of: Compression, input: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    match of {
        Compression::Gzip => Box::new(MultiGzDecoder::new(input)),
        Compression::Zstd => Box::new(ZstdReader::new(input)),
        Compression::Lz4 => Box::new(Lz4Reader::new(input)),
        Compression::Xz => {
            Box::new(XzReader::new_mem_limit(BufReader::new(input), true, MAX_XZ_KIB))
        }
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(input)),
    }
}

/// Decompressor of zstd. `pzstd` writes many frames in a row.
struct ZstdReader {
    input: BufReader<Box<dyn Read + Send>>,
    frame: FrameDecoder,
    /// Whether `frame` has begun a frame that it has not ended.
    has_begun: bool,
}

impl ZstdReader {
    fn new(input: Box<dyn Read + Send>) -> Self {
        let mut frame = FrameDecoder::new();
        frame.set_max_window_size(MAX_ZSTD_WINDOW);
        Self { input: BufReader::new(input), frame, has_begun: false }
    }

    /// Begins the next frame. Returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.frame.reset(&mut self.input) {
                Ok(()) => {
                    self.has_begun = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut self.input.by_ref().take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }

    /// Ends a frame and checks its checksum, if it has one.
    fn end(&mut self) -> io::Result<()> {
        self.has_begun = false;
        let stated = self.frame.get_checksum_from_data();
        if stated.is_some() && stated != self.frame.get_calculated_checksum() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "invalid zstd checksum"));
        }
        Ok(())
    }
}

impl Read for ZstdReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.has_begun && !self.begin()? {
                return Ok(0);
            }
            while self.frame.can_collect() == 0 && !self.frame.is_finished() {
                self.frame
                    .decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(io::Error::other)?;
            }
            let read = self.frame.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.end()?;
        }
    }
}

/// Decompressor of lz4, also of many frames in a row.
struct Lz4Reader {
    /// `None` only while the decoder is replaced.
    frame: Option<Lz4Frame>,
}

type Lz4Frame = lz4_flex::frame::FrameDecoder<BufReader<Box<dyn Read + Send>>>;

impl Lz4Reader {
    fn new(input: Box<dyn Read + Send>) -> Self {
        Self { frame: Some(Lz4Frame::new(BufReader::new(input))) }
    }
}

impl Read for Lz4Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(frame) = &mut self.frame {
            let read = frame.read(buffer)?;
            // The decoder returns 0 at the end of each frame.
            if read > 0 || buffer.is_empty() || frame.get_mut().fill_buf()?.is_empty() {
                return Ok(read);
            }
            // A new decoder for each frame: the buffers of one fit its first frame alone.
            self.frame = self.frame.take().map(|frame| Lz4Frame::new(frame.into_inner()));
        }
        Ok(0)
    }
}
