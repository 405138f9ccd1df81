//! What can be wrong with a capture: one line.

use unruffled_units::count;

/// Why a capture cannot be read, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It cannot be opened or read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// Nothing is in it.
    #[error("empty: expected a capture (pcap or pcapng, also gzip)")]
    Empty,
    /// It is something else.
    #[error("not a capture: expected pcap or pcapng, also gzip")]
    NoCapture,
    /// It ends in the middle of something.
    #[error("cut off after {}, {bytes} bytes", count(*packets, "packet"))]
    CutOff {
        /// How many packets were read.
        packets: u64,
        /// Where the last of them ends.
        bytes: u64,
    },
    /// Something in it makes no sense.
    #[error("damaged after {}, {bytes} bytes: {what}", count(*packets, "packet"))]
    Damaged {
        /// How many packets were read.
        packets: u64,
        /// Where the last of them ends.
        bytes: u64,
        /// What is wrong there.
        what: String,
    },
}
