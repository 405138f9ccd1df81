//! A TCP segment as a value: every field of the header that the engine reads or writes
//! (RFC 9293, section 3.1), with its options parsed.

use crate::SeqNr;

/// Header flags. The two of ECN are absent: the engine neither sets nor reads them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// SYN: the sequence number is the initial one.
    pub syn: bool,
    /// ACK: the acknowledgement field is significant.
    pub ack: bool,
    /// FIN: the sender has no more data.
    pub fin: bool,
    /// RST: the connection is reset.
    pub rst: bool,
    /// PSH: the data should be delivered to the application at once.
    pub psh: bool,
}

impl Flags {
    /// Returns whether this is a plain acknowledgement, with or without data.
    pub(crate) const fn are_plain_ack(self) -> bool {
        self.ack & !self.syn & !self.fin & !self.rst
    }
}

/// The timestamps option (RFC 7323, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock, in its ticks.
    pub value: u32,
    /// TSecr: the value that this segment echoes.
    pub echo: u32,
}

/// A block of the SACK option (RFC 2018, section 3): the first sequence number covered, and the
/// first one after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: SeqNr,
    /// Sequence number just after the block.
    pub right: SeqNr,
}

/// At most four SACK blocks, in the order of the option.
///
/// ```
/// use unruffled_tcp::{SackBlocks, SeqNr};
///
/// let mut blocks = SackBlocks::default();
/// blocks.push(SeqNr(2000), SeqNr(3000));
/// assert_eq!(blocks.as_slice().len(), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SackBlock; 4],
    count: u8,
}

impl SackBlocks {
    /// Maximum number of blocks in an option.
    pub const CAPACITY: usize = 4;

    /// Appends a block. A fifth block is dropped.
    pub fn push(&mut self, left: SeqNr, right: SeqNr) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = SackBlock { left, right };
            self.count += 1;
        }
    }

    /// Returns the blocks in the order of the option.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Returns whether the option is absent.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// A segment without its payload's octets: `len` counts them, and the driver carries them. A driver
/// converts each arriving packet to a segment, and each segment to send to a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first octet of payload, or of the SYN or FIN.
    pub seq: SeqNr,
    /// Next number that the sender of this segment expects, if `flags.ack`.
    pub ack: SeqNr,
    /// Payload length in octets.
    pub len: u32,
    /// Header flags.
    pub flags: Flags,
    /// Window field as on the wire, unscaled.
    pub window: u16,
    /// Maximum segment size option (SYN only).
    pub mss: Option<u16>,
    /// Window scale option (SYN only; RFC 7323, section 2).
    pub window_scale: Option<u8>,
    /// SACK-permitted option (SYN only; RFC 2018, section 2).
    pub sack_permitted: bool,
    /// SACK option.
    pub sack: SackBlocks,
    /// Timestamps option.
    pub timestamps: Option<Timestamps>,
    /// The RTX bit of Ludwig and Katz. On data it marks a retransmission, and on an acknowledgement
    /// that a retransmission triggered it. Only the simulator has it; it is never on the wire.
    pub rtx: bool,
}

impl Segment {
    /// Returns how many sequence numbers the segment occupies: payload, SYN and FIN.
    pub fn sequence_len(&self) -> u32 {
        self.len + u32::from(self.flags.syn) + u32::from(self.flags.fin)
    }
}
