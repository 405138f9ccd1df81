//! Counts of what a stack has received, sent and refused.

use crate::codec::Drops;

/// Counts of what a stack has received, sent and refused. Use them to see whether a peer or a path
/// misbehaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets received.
    pub received: u64,
    /// Segments sent, including those joined into one packet for offload.
    pub sent: u64,
    /// Packets dropped by the codec, by reason.
    pub malformed: Drops,
    /// Packets for addresses that are not the stack's.
    pub foreign: u64,
    /// Segments that belong to no connection and are no SYN for a listener.
    pub stray: u64,
    /// SYNs, and acknowledgements that would end a handshake, dropped because the listener's
    /// backlog was full.
    pub overflowed: u64,
    /// SYNs answered with a cookie because there were too many half-open connections.
    pub cookies_sent: u64,
    /// Connections established by a cookie.
    pub cookies_accepted: u64,
    /// Half-open connections given up because the SYN-ACK was never acknowledged.
    pub requests_given_up: u64,
    /// Answers without a connection (SYN-ACKs, resets) dropped because too many waited to leave.
    pub replies_dropped: u64,
    /// Connections refused, in either direction, because of their number or for lack of memory.
    pub connections_refused: u64,
    /// Segments whose payload was dropped for lack of memory.
    pub segments_refused: u64,
    /// Connections that ended without TIME-WAIT because of the number in it or for lack of memory.
    pub time_waits_refused: u64,
    /// Connections reset when the application released them because of the number of orphans.
    pub orphans_refused: u64,
    /// Orphans reset because the peer took too long.
    pub orphans_given_up: u64,
}
