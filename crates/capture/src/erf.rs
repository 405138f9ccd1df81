//! Records of Endace's extensible record format (ERF), in files of their own and in pcap.

use crate::link::Link;

/// Length of a record's header, in octets.
pub(crate) const HEADER_OCTETS: usize = 16;

/// Type of a record that only fills space.
const PADDING: u8 = 48;

/// Type of a record with data on the capture itself.
const METADATA: u8 = 27;

/// A frame within a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordFrame {
    pub(crate) link: Link,
    /// Octets of the record before the frame.
    pub(crate) header: usize,
    /// Length of the frame on the network, in octets.
    pub(crate) length: u32,
}

/// Returns the type of a record, without the flag for extension headers.
pub(crate) fn kind(record: &[u8; HEADER_OCTETS]) -> u8 {
    record[8] & 0x7f
}

/// Returns whether a record is of a type that the format defines.
pub(crate) fn is_known(record: &[u8; HEADER_OCTETS]) -> bool {
    matches!(kind(record), 1..=25 | METADATA | PADDING)
}

/// Returns whether a record holds a frame.
pub(crate) fn has_frame(record: &[u8; HEADER_OCTETS]) -> bool {
    !matches!(kind(record), METADATA | PADDING)
}

/// Finds the frame within a record. `None` if the type is not supported or the header is truncated.
pub(crate) fn link(record: &[u8]) -> Option<RecordFrame> {
    let head = record.first_chunk::<HEADER_OCTETS>()?;
    let mut header = HEADER_OCTETS;
    let mut extended = head[8] & 0x80 != 0;
    while extended {
        extended = record.get(header)? & 0x80 != 0;
        header += 8;
    }
    let length = u32::from(u16::from_be_bytes([head[14], head[15]]));
    match kind(head) {
        // HDLC, also with a color, a steering byte or a hash.
        1 | 10 | 15 | 19 => {
            let is_cisco = matches!(record.get(header)?, 0x0f | 0x8f);
            let link = if is_cisco { Link::CISCO_HDLC } else { Link::PPP };
            Some(RecordFrame { link, header, length })
        }
        // Ethernet, likewise. An offset and padding come first.
        2 | 11 | 16 | 20 => Some(RecordFrame { link: Link::ETHERNET, header: header + 2, length }),
        22 | 23 => Some(RecordFrame { link: Link::RAW, header, length }),
        _ => None,
    }
}
