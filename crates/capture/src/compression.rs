//! Compressed captures: gzip, zstd, lz4, xz and bzip2, also several streams in a row.

#[cfg_attr(not(feature = "compression"), path = "compression/absent.rs")]
mod decoder;

pub(crate) use decoder::decoder;

/// Number of octets by which a compression is recognised.
pub(crate) const MAGIC_OCTETS: usize = 10;

/// Compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
    Lz4,
    Xz,
    Bzip2,
}

impl Compression {
    /// Recognises the compression of a file by its first octets.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            // RFC 1952, section 2.3.1.
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // RFC 8878, section 3.1.1, and a skippable frame.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            // A frame, also of the former format.
            [0x04, 0x22, 0x4d, 0x18, ..] | [0x02, 0x21, 0x4c, 0x18, ..] => Some(Self::Lz4),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [b'B', b'Z', b'h', b'1'..=b'9', block @ ..]
                if block.starts_with(&[0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
                    || block.starts_with(&[0x17, 0x72, 0x45, 0x38, 0x50, 0x90]) =>
            {
                Some(Self::Bzip2)
            }
            _ => None,
        }
    }
}
