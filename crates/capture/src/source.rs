//! Input of a capture: a file or standard input, plain or compressed.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::Error;
use crate::compression::{Compression, MAGIC_OCTETS, decoder};
use crate::error::InputError;

/// Octets read ahead. Parsers drop what they have read when an error follows, so the first read has
/// to return as much as possible.
const READ_AHEAD_OCTETS: usize = 64 * 1024;

/// Maximum number of compressions around a capture.
const MAX_COMPRESSIONS: usize = 3;

/// Maximum number of octets that a compression yields which is itself compressed, for each octet of the file, and
/// beyond that. Compressed octets hardly shrink when they are compressed again. Without a bound, few octets would
/// yield more than can be read, as each decompressor feeds the next.
const MAX_NESTED_EXPANSION: u64 = 16;
const NESTED_OCTETS: u64 = 4096;

/// A capture's octets, uncompressed.
pub struct Source {
    input: Box<dyn Read + Send>,
    first_error: FirstError,
    progress: Progress,
}

/// Number of octets that have been read of a source. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    read: Arc<AtomicU64>,
    length: Option<u64>,
}

impl Progress {
    /// Returns the octets read so far, as they are stored: compressed ones if the file is compressed.
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Returns the length of the source in octets, if it is known.
    pub fn length(&self) -> Option<u64> {
        self.length
    }
}

/// The first I/O error of an input. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct FirstError(Arc<Mutex<Option<InputError>>>);

impl FirstError {
    /// Takes the error out, if there was one.
    pub(crate) fn take(&self) -> Option<InputError> {
        self.0.lock().map_or(None, |mut first| first.take())
    }

    fn record(&self, error: io::Error) {
        if let Ok(mut first) = self.0.lock() {
            first.get_or_insert_with(|| error.into());
        }
    }
}

impl Source {
    /// Opens the file at `path`, or standard input for `-`.
    ///
    /// # Errors
    /// When it cannot be opened or is empty.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if path.as_os_str() == "-" {
            return Self::new(Box::new(io::stdin()), None);
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            let error = io::Error::new(io::ErrorKind::IsADirectory, "a folder: expected a file");
            return Err(error.into());
        }
        Self::new(Box::new(file), metadata.is_file().then_some(metadata.len()))
    }

    /// Wraps any input; `length` is its length in octets, if known. gzip, zstd, lz4, xz and bzip2 are
    /// decompressed.
    ///
    /// # Errors
    /// When it cannot be read or is empty.
    pub fn new(input: Box<dyn Read + Send>, length: Option<u64>) -> Result<Self, Error> {
        let progress = Progress { read: Arc::default(), length };
        let first_error = FirstError::default();
        let metered = MeteredInput {
            input: Some(input),
            read: progress.read.clone(),
            first_error: first_error.clone(),
        };
        let (mut magic, mut input) = read_ahead(Box::new(metered), &first_error)?;
        for level in 0..MAX_COMPRESSIONS {
            let Some(compression) = Compression::of(&magic) else { break };
            if level > 0 {
                input = Box::new(NestedInput { input, yielded: 0, read: progress.read.clone() });
            }
            let metered = MeteredInput {
                input: Some(decoder(compression, input)),
                read: Arc::default(),
                first_error: first_error.clone(),
            };
            (magic, input) = read_ahead(Box::new(metered), &first_error)?;
        }
        Ok(Self { input, first_error, progress })
    }

    /// Returns a handle to the progress, which stays valid while the source is read.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Splits the source into its octets and the error that may end them.
    pub(crate) fn into_parts(self) -> (Box<dyn Read + Send>, FirstError) {
        (self.input, self.first_error)
    }
}

/// Returns the first octets of `input`, and an input that yields all of it, those included.
fn read_ahead(
    mut input: Box<dyn Read + Send>,
    first_error: &FirstError,
) -> Result<(Vec<u8>, Box<dyn Read + Send>), Error> {
    let mut head = vec![0; READ_AHEAD_OCTETS];
    let mut filled = 0;
    while filled < READ_AHEAD_OCTETS {
        match input.read(&mut head[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    head.truncate(filled);
    if head.is_empty() {
        return Err(first_error.take().map_or(Error::Empty, Error::Unreadable));
    }
    let magic = head[..filled.min(MAGIC_OCTETS)].to_vec();
    Ok((magic, Box::new(Cursor::new(head).chain(input))))
}

/// A compressed input that a decompressor yields.
struct NestedInput {
    input: Box<dyn Read + Send>,
    yielded: u64,
    /// Octets of the file that have been read.
    read: Arc<AtomicU64>,
}

impl Read for NestedInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.yielded += read as u64;
        let of_file = self.read.load(Ordering::Relaxed);
        if self.yielded > NESTED_OCTETS + MAX_NESTED_EXPANSION * of_file {
            let message =
                "compressed more than once, and expands like nothing that was compressed before";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(read)
    }
}

/// An input that counts what is read and turns the first error into an end of file.
///
/// Parsers do not pass an error on, and may drop what they have read before it. The error is
/// recorded in `first_error`.
struct MeteredInput {
    /// `None` after the end or an error: a decompressor that is read again after an error may yield
    /// octets without end.
    input: Option<Box<dyn Read + Send>>,
    read: Arc<AtomicU64>,
    first_error: FirstError,
}

impl Read for MeteredInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(input) = &mut self.input else { return Ok(0) };
            match input.read(buffer) {
                Ok(0) if !buffer.is_empty() => {
                    self.input = None;
                    return Ok(0);
                }
                Ok(read) => {
                    self.read.fetch_add(read as u64, Ordering::Relaxed);
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.input = None;
                    self.first_error.record(error);
                    return Ok(0);
                }
            }
        }
    }
}
