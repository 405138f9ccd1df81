//! Errors of reading a capture; each is one line.

use std::io;
use std::sync::Arc;

use unruffled_units::count;

/// Reason why a capture cannot be read, or cannot be read to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input cannot be opened or read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] InputError),
    /// The input holds no octets.
    #[error("empty: expected a capture (pcap, pcapng, snoop or ERF, also compressed)")]
    Empty,
    /// The input is not a capture of a known format.
    #[error("not a capture: expected pcap, pcapng, snoop or ERF, also compressed")]
    NoCapture,
    /// The capture ends in the middle of a block.
    #[error("cut off after {}, {bytes} bytes", count(*packets, "packet"))]
    CutOff {
        /// Packets read before the end.
        packets: u64,
        /// Offset at which the last complete block ends.
        bytes: u64,
    },
    /// The capture holds something that cannot be parsed.
    #[error("damaged after {}, {bytes} bytes: {damage}", count(*packets, "packet"))]
    Damaged {
        /// Packets read before the damage.
        packets: u64,
        /// Offset at which the last intact block ends.
        bytes: u64,
        /// The damage at that offset.
        #[source]
        damage: Damage,
    },
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error.into())
    }
}

/// I/O error of a capture's input, shared so that it can be cloned.
///
/// Two are equal if their kinds and their texts are.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct InputError(Arc<io::Error>);

impl InputError {
    /// Returns the kind of the I/O error.
    pub fn kind(&self) -> io::ErrorKind {
        self.0.kind()
    }
}

impl From<io::Error> for InputError {
    fn from(error: io::Error) -> Self {
        Self(Arc::new(error))
    }
}

impl PartialEq for InputError {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.to_string() == other.to_string()
    }
}

impl Eq for InputError {}

/// Part of a capture that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// Octets that are not the beginning of a block.
    #[error("no block begins here")]
    NoBlock,
    /// A block that is zero octets long.
    #[error("a block of length zero")]
    EmptyBlock,
    /// A block longer than any capture program writes.
    #[error("a block longer than 16 MiB")]
    LongBlock,
    /// An interface that counts time in units which do not fit into 64 bits.
    #[error("an interface with an unsupported clock resolution")]
    ClockResolution,
    /// More interfaces than one section may have.
    #[error("more than 4096 interfaces")]
    TooManyInterfaces,
    /// A packet in a section that describes no interface.
    #[error("a packet without an interface")]
    NoInterface,
    /// A packet that names an interface which the section does not describe.
    #[error("a packet of an unknown interface")]
    UnknownInterface,
    /// A packet block shorter than its fixed fields.
    #[error("a packet without its header")]
    ShortPacketBlock,
    /// A packet whose captured length exceeds its block.
    #[error("a packet longer than its block")]
    LongPacket,
    /// An input that fails while it is read or decompressed.
    #[error(transparent)]
    Input(#[from] InputError),
}
