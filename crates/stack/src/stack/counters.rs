//! What a stack has seen, done and refused.

use crate::codec::Drops;

/// What a stack has seen, in packets, and what it has refused. Use it to see whether a peer or a path
/// misbehaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that arrived.
    pub received: u64,
    /// Packets that left.
    pub sent: u64,
    /// Those dropped because of what they were.
    pub malformed: Drops,
    /// Those for addresses that are not ours.
    pub foreign: u64,
    /// Segments that belong to no connection, and no SYN for a listener.
    pub stray: u64,
    /// SYNs, and acknowledgements that would end a handshake, dropped because too many connections
    /// wait to be accepted there already.
    pub overflowed: u64,
    /// SYNs answered with a cookie, because there were too many half-open connections.
    pub cookies_sent: u64,
    /// Connections that began with a cookie.
    pub cookies_accepted: u64,
    /// Half-open connections given up: the SYN-ACK was never acknowledged.
    pub requests_given_up: u64,
    /// Answers without a connection (SYN-ACKs, resets) dropped because too many waited to leave.
    pub replies_dropped: u64,
    /// Connections refused, to either side, because there were too many, or too little memory.
    pub connections_refused: u64,
    /// Segments whose text was dropped because there was no memory for it.
    pub segments_refused: u64,
    /// Connections that ended without TIME-WAIT, because too many were in it.
    pub time_waits_refused: u64,
    /// Connections reset when the application let them go, because too many were so.
    pub orphans_refused: u64,
    /// Connections reset because the peer took too long after the application had let them go.
    pub orphans_given_up: u64,
}
