//! Packets as a link sees them.

use crate::Direction;

/// Packet that is offered to a link with [`Link::offer_packet`](crate::Link::offer_packet).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Size on the wire, in octets.
    pub bytes: u32,
    /// Direction within its flow.
    pub direction: Direction,
    /// Whether the packet is ECN-capable: its ECN field has ECT(0), ECT(1) or already CE (RFC 3168,
    /// section 5).
    pub ect: bool,
    /// Identifier of its flow in this direction. Only [workers by flow](crate::WorkerChoice::Flow) and receive
    /// offload use it.
    pub flow: u32,
}
