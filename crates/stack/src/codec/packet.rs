//! Decoded packets and the reasons to drop a packet.

use std::fmt;
use std::net::SocketAddr;

use unruffled_tcp::{Segment, SeqNr, Unreachable};

/// The responsibility for the transport checksums of arriving packets. It depends on what the
/// device does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// The codec verifies checksums.
    Verify,
    /// The device has verified checksums; the codec ignores them.
    Trust,
}

/// A segment that arrived, with its addresses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival<'a> {
    /// The sender.
    pub from: SocketAddr,
    /// The destination.
    pub to: SocketAddr,
    /// The header's fields and options.
    pub segment: Segment,
    /// The payload, `segment.len` octets.
    pub payload: &'a [u8],
}

/// A router's report that a packet was too big for the next link (RFC 1191, RFC 8201). The
/// [`Stack`](crate::Stack) lowers the path's MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// The sender of the quoted packet, that is this end.
    pub from: SocketAddr,
    /// The destination of the quoted packet.
    pub to: SocketAddr,
    /// The sequence number of the quoted packet.
    pub seq: SeqNr,
    /// The largest packet that the next link carries; 0 from routers that do not report it.
    pub mtu: u32,
}

/// A report that a packet did not reach its destination (RFC 792; RFC 4443, section 3.1). The
/// [`Stack`](crate::Stack) passes it to the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The sender of the quoted packet, that is this end.
    pub from: SocketAddr,
    /// The destination of the quoted packet.
    pub to: SocketAddr,
    /// The sequence number of the quoted packet.
    pub seq: SeqNr,
    /// The kind of destination that could not be reached.
    pub what: Unreachable,
}

/// A decoded packet.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Packet<'a> {
    /// A TCP segment.
    Tcp(Arrival<'a>),
    /// An ICMP message about a packet that was too big.
    TooBig(TooBig),
    /// An ICMP message about a packet that did not reach its destination.
    Unreached(Unreached),
}

/// The reason to drop a packet. [`Drops`] counts packets by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The packet is neither IPv4 nor IPv6, or its headers do not fit into it.
    #[error("no IP packet")]
    Ip,
    /// The IPv4 header's checksum is wrong.
    #[error("IPv4 header checksum")]
    IpChecksum,
    /// The packet is a fragment. The codec does not reassemble packets.
    #[error("fragment")]
    Fragment,
    /// The packet is of another protocol, or an ICMP message without meaning for TCP.
    #[error("not TCP")]
    Protocol,
    /// The TCP header does not fit into the packet, or is shorter than 20 octets.
    #[error("TCP header")]
    Tcp,
    /// The TCP checksum is wrong.
    #[error("TCP checksum")]
    Checksum,
    /// An option's length contradicts the header, so the start of the next option is unknown.
    #[error("TCP options")]
    Options,
    /// The flags or ports are invalid: SYN with FIN or RST, or port 0.
    #[error("TCP flags or ports")]
    Flags,
    /// An address does not belong to a single host (multicast, broadcast, unspecified), or both
    /// ends are the same.
    #[error("address")]
    Address,
}

impl Malformed {
    /// All reasons, in the order of the counters.
    pub const ALL: &[Self] = &[
        Self::Ip,
        Self::IpChecksum,
        Self::Fragment,
        Self::Protocol,
        Self::Tcp,
        Self::Checksum,
        Self::Options,
        Self::Flags,
        Self::Address,
    ];
}

/// The number of dropped packets for each reason.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Drops([u64; Malformed::ALL.len()]);

impl Drops {
    /// Counts a dropped packet.
    pub fn count(&mut self, reason: Malformed) {
        self.0[reason as usize] += 1;
    }

    /// Returns the number of packets dropped for this reason.
    pub fn get(&self, reason: Malformed) -> u64 {
        self.0[reason as usize]
    }

    /// Returns the number of packets dropped for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl fmt::Debug for Drops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = Malformed::ALL.iter().filter(|&&reason| self.get(reason) > 0);
        f.debug_map().entries(counted.map(|&reason| (reason, self.get(reason)))).finish()
    }
}
