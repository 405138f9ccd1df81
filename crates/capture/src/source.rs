//! Where a capture's octets come from: a file or standard input, plain or compressed.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use flate2::read::MultiGzDecoder;

use crate::Error;

/// As many octets are looked at before anything is decided about what follows.
const HEAD: usize = 64 * 1024;

/// The two octets at the beginning of gzip (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A capture's octets, uncompressed.
pub struct Source {
    pub(crate) input: Box<dyn Read + Send>,
    pub(crate) trouble: Trouble,
    progress: Progress,
}

/// How far a source has been read; a clone tells the same.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    read: Arc<AtomicU64>,
    length: Option<u64>,
}

impl Progress {
    /// How many octets have been taken from the file, as it lies there.
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// How many there are, if that is known.
    pub fn length(&self) -> Option<u64> {
        self.length
    }
}

/// What went wrong while reading, if anything did.
#[derive(Clone, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().map_or(None, |mut trouble| trouble.take())
    }
}

impl Source {
    /// The file at `path`, or standard input for `-`.
    ///
    /// # Errors
    /// When it cannot be opened, or holds nothing.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let unreadable = |error: io::Error| Error::Unreadable(error.to_string());
        if path.as_os_str() == "-" {
            return Self::new(Box::new(io::stdin()), None);
        }
        let file = File::open(path).map_err(unreadable)?;
        let about = file.metadata().map_err(unreadable)?;
        if about.is_dir() {
            return Err(Error::Unreadable("a folder: expected a file".to_owned()));
        }
        Self::new(Box::new(file), about.is_file().then_some(about.len()))
    }

    /// Anything that can be read, of `length` octets if that is known.
    ///
    /// # Errors
    /// When it cannot be read, or holds nothing.
    pub fn new(input: Box<dyn Read + Send>, length: Option<u64>) -> Result<Self, Error> {
        let progress = Progress { read: Arc::default(), length };
        let trouble = Trouble::default();
        let counted = Watched { input, read: progress.read.clone(), trouble: trouble.clone() };
        let mut plain = headed(Box::new(counted), &trouble)?;
        if plain.0 == GZIP {
            let watched = Watched {
                input: Box::new(MultiGzDecoder::new(plain.1)),
                read: Arc::default(),
                trouble: trouble.clone(),
            };
            plain = headed(Box::new(watched), &trouble)?;
        }
        Ok(Self { input: plain.1, trouble, progress })
    }

    /// How far it has been read; to be kept while the source is being read.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }
}

/// The first two octets of `input`, and all of it, whose first read gives as much as there is.
fn headed(
    mut input: Box<dyn Read + Send>,
    trouble: &Trouble,
) -> Result<([u8; 2], Box<dyn Read + Send>), Error> {
    let mut head = vec![0; HEAD];
    let mut filled = 0;
    while filled < HEAD {
        match input.read(&mut head[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) => return Err(Error::Unreadable(error.to_string())),
        }
    }
    head.truncate(filled);
    let start = match head[..] {
        [] => return Err(trouble.take().map_or(Error::Empty, Error::Unreadable)),
        [a, b, ..] => [a, b],
        [a] => [a, 0],
    };
    Ok((start, Box::new(Cursor::new(head).chain(input))))
}

/// Counts what is read, and ends at an error, of which the first is kept: parsers do not pass it on,
/// and may drop what they have read before.
struct Watched {
    input: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
    trouble: Trouble,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.input.read(buffer) {
                Ok(read) => {
                    self.read.fetch_add(read as u64, Ordering::Relaxed);
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    if let Ok(mut trouble) = self.trouble.0.lock() {
                        trouble.get_or_insert_with(|| error.to_string());
                    }
                    return Ok(0);
                }
            }
        }
    }
}
