//! Urgency of an answer.

/// Urgency of the answer to a packet.
///
/// The engine keeps one pending acknowledgement. One that reports a segment out of order, a hole
/// that was filled in part, or a duplicate, would be replaced by the acknowledgement of a later
/// segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an `Immediate` answer must be transmitted before the next packet is received"]
pub enum Urgency {
    /// The next packet may be received first; one answer then covers several packets.
    Deferrable,
    /// Everything that [`Stack::poll_transmit`](crate::Stack::poll_transmit) returns must leave
    /// before the next packet is received.
    Immediate,
}

impl Urgency {
    /// Returns whether the answer must be sent before the next packet is received.
    pub fn is_immediate(self) -> bool {
        self == Self::Immediate
    }
}
