//! A TCP segment as a value: every field of the header that the engine reads or writes
//! (RFC 9293, section 3.1), with its options parsed.

use unruffled_units::Duration;

use crate::SeqNr;

/// Header flags, without those of ECN, which are in [`Ecn`].
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
    #[inline(always)]
    pub(crate) const fn are_plain_ack(self) -> bool {
        // One comparison of four octets in place of four.
        const PLAIN_ACK: u32 = u32::from_ne_bytes([0, 1, 0, 0]);
        let Self { syn, ack, fin, rst, .. } = self;
        u32::from_ne_bytes([syn as u8, ack as u8, fin as u8, rst as u8]) == PLAIN_ACK
    }
}

/// ECN fields of a segment: the flags ECE and CWR of its TCP header, and the ECN field of its IP header
/// (RFC 3168, sections 5 and 6.1).
///
/// ```
/// use unruffled_tcp::Ecn;
///
/// let setup = Ecn::ECE | Ecn::CWR;
/// assert!(setup.has_ece() && setup.has_cwr() && !setup.is_ect());
/// assert!((Ecn::ECT_0 | Ecn::CWR).marked().is_ce());
/// assert_eq!(Ecn::from_ip(0b1011_1011), Ecn::CE);
/// assert_eq!(Ecn::NONE.marked(), Ecn::NONE, "a packet without ECT cannot be marked");
/// ```
// One octet, so that a segment is not larger than without ECN.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Ecn(u8);

impl Ecn {
    /// Neither flag, and not ECN-capable.
    pub const NONE: Self = Self(0);
    /// ECT(1).
    pub const ECT_1: Self = Self(1);
    /// ECT(0), the codepoint of ECN-capable senders.
    pub const ECT_0: Self = Self(2);
    /// CE: a node on the path has marked the packet.
    pub const CE: Self = Self(3);
    /// ECE: ECN-Echo.
    pub const ECE: Self = Self(4);
    /// CWR: congestion window reduced.
    pub const CWR: Self = Self(8);

    /// Bits of the IP header's ECN field.
    const FIELD: u8 = 3;

    /// Returns the ECN field of an IPv4 TOS or IPv6 traffic class octet.
    #[inline]
    pub const fn from_ip(octet: u8) -> Self {
        Self(octet & Self::FIELD)
    }

    /// Returns the ECN field, for the two low bits of an IPv4 TOS or IPv6 traffic class octet.
    #[inline]
    pub const fn ip_field(self) -> u8 {
        self.0 & Self::FIELD
    }

    /// Returns whether ECE is set.
    #[inline]
    pub const fn has_ece(self) -> bool {
        self.0 & Self::ECE.0 != 0
    }

    /// Returns whether CWR is set.
    #[inline]
    pub const fn has_cwr(self) -> bool {
        self.0 & Self::CWR.0 != 0
    }

    /// Returns whether the packet is ECN-capable: ECT(0), ECT(1) or CE.
    #[inline]
    pub const fn is_ect(self) -> bool {
        self.ip_field() != 0
    }

    /// Returns whether the packet is marked with CE.
    #[inline]
    pub const fn is_ce(self) -> bool {
        self.ip_field() == Self::CE.0
    }

    /// Returns the fields with CE instead of ECT(0) or ECT(1).
    #[inline]
    #[must_use]
    pub const fn marked(self) -> Self {
        if self.is_ect() { Self(self.0 | Self::CE.0) } else { self }
    }

    /// Returns the fields without those that only data may have: ECE, if it is set.
    #[must_use]
    pub const fn without_data(self) -> Self {
        Self(self.0 & Self::ECE.0)
    }

    /// Returns whether the segment reports anything by ECN: CE, ECE or CWR.
    #[inline]
    pub(crate) const fn has_report(self) -> bool {
        // ECT(0) and ECT(1) alone are the only values from 1 to 2.
        self.0 > Self::ECT_0.0
    }
}

impl core::ops::BitOr for Ecn {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl core::fmt::Debug for Ecn {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let field = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"][usize::from(self.ip_field())];
        let ece = if self.has_ece() { " ECE" } else { "" };
        let cwr = if self.has_cwr() { " CWR" } else { "" };
        write!(f, "{field}{ece}{cwr}")
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

/// Number of a packet, for stacks that give each transmission its own (RFC 9000, section 12.3), with how
/// long the acknowledgement in it was delayed. Only the simulator has it; it is never on the wire.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Packet {
    /// The number, from 1 on, and above it [`Self::PING`].
    number: u32,
    /// Time from the arrival of the newest packet acknowledged to the acknowledgement, in microseconds.
    ack_delay_us: u32,
}

impl Packet {
    /// A segment without a packet number.
    pub const NONE: Self = Self { number: 0, ack_delay_us: 0 };

    /// Bit of packets without data that must be acknowledged, as one with a PING frame.
    const PING: u32 = 1 << 31;

    /// Returns packet `number`, which must not be 0.
    pub fn new(number: u32) -> Self {
        Self { number: number & !Self::PING, ack_delay_us: 0 }
    }

    /// Returns the packet as one that must be acknowledged although it has no data.
    #[must_use]
    pub fn with_ping(self) -> Self {
        Self { number: self.number | Self::PING, ..self }
    }

    /// Returns the packet with this delay of its acknowledgement.
    #[must_use]
    pub fn with_ack_delay(self, delay: Duration) -> Self {
        let ack_delay_us = (delay.as_nanos() / 1000).min(u64::from(u32::MAX)) as u32;
        Self { ack_delay_us, ..self }
    }

    /// Returns whether the segment has no packet number.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.number == 0
    }

    /// Returns the number.
    pub const fn number(self) -> u32 {
        self.number & !Self::PING
    }

    /// Returns whether the packet must be acknowledged although it has no data.
    pub const fn is_ping(self) -> bool {
        self.number & Self::PING != 0
    }

    /// Returns the delay of its acknowledgement.
    pub fn ack_delay(self) -> Duration {
        Duration::from_micros(u64::from(self.ack_delay_us))
    }
}

impl core::fmt::Debug for Packet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let ping = if self.is_ping() { " PING" } else { "" };
        write!(f, "{}{ping} +{}", self.number(), self.ack_delay())
    }
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
    /// ECN fields of the TCP header and of the IP header.
    pub ecn: Ecn,
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
    /// Number of the packet, if the stack numbers its packets. Acknowledgements of numbered packets have
    /// ranges of packet numbers in place of SACK blocks. Only the simulator has it.
    pub packet: Packet,
}

impl Segment {
    /// Returns how many sequence numbers the segment occupies: payload, SYN and FIN.
    pub fn sequence_len(&self) -> u32 {
        self.len + u32::from(self.flags.syn) + u32::from(self.flags.fin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecn_takes_no_room_in_a_segment() {
        assert_eq!(size_of::<Segment>(), 84);
    }

    #[test]
    fn ce_ece_and_cwr_are_reports_and_ect_is_not() {
        let silent = [Ecn::NONE, Ecn::ECT_0, Ecn::ECT_1];
        assert!(silent.iter().all(|ecn| !ecn.has_report()));
        for flag in [Ecn::ECE, Ecn::CWR, Ecn::CE] {
            assert!(silent.iter().all(|&ecn| (ecn | flag).has_report()), "{flag:?}");
        }
    }
}
