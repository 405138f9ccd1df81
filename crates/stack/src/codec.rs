//! Segments to IP packets and back (RFC 791, RFC 8200, RFC 9293).
//!
//! [`decode`] takes whatever the device gave and answers with a segment and its payload, or with
//! the reason for which it is dropped; no octets make it panic. [`encode`] appends one packet to a
//! buffer that the caller keeps.

mod decode;
mod encode;
mod sum;

use std::fmt;
use std::net::SocketAddr;

use unruffled_tcp::{Segment, SeqNr, Unreachable};

pub(crate) use decode::answerable;
pub use decode::decode;
pub use encode::{encode, encode_for_offload, header_len, pure_len, sum_up};

/// Who checks and fills the checksums of the transport. Use it to tell the codec what the device does
/// of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// This crate: they are verified on arrival.
    Verify,
    /// Somebody before us: they are not looked at.
    Trust,
}

/// A segment that arrived, and between whom. Give it to the [`Stack`](crate::Stack).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival<'a> {
    /// Who sent it.
    pub from: SocketAddr,
    /// Whom it is for.
    pub to: SocketAddr,
    /// The header's fields and options.
    pub segment: Segment,
    /// As many octets as the segment says.
    pub payload: &'a [u8],
}

/// A router could not pass on a packet of ours (RFC 1191, RFC 8201). Give it to the
/// [`Stack`](crate::Stack), which lowers the path's MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// The sender of the packet quoted: us.
    pub from: SocketAddr,
    /// Where the packet quoted was going.
    pub to: SocketAddr,
    /// Its sequence number.
    pub seq: SeqNr,
    /// The largest packet that the next link takes; 0 from routers that do not say.
    pub mtu: u32,
}

/// A packet of ours did not get there (RFC 792; RFC 4443, section 3.1). Give it to the
/// [`Stack`](crate::Stack), which tells the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The sender of the packet quoted: us.
    pub from: SocketAddr,
    /// Where the packet quoted was going.
    pub to: SocketAddr,
    /// Its sequence number.
    pub seq: SeqNr,
    /// What could not be reached.
    pub what: Unreachable,
}

/// What a packet was. Match on it after decoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packet<'a> {
    /// A TCP segment.
    Tcp(Arrival<'a>),
    /// An ICMP message about a packet of ours.
    TooBig(TooBig),
    /// An ICMP message about a packet of ours that nobody took.
    Unreached(Unreached),
}

/// Why a packet goes no further. Use it to count what was dropped, as [`Drops`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Neither IPv4 nor IPv6, or headers that do not fit into the packet.
    #[error("no IP packet")]
    Ip,
    /// The IPv4 header's checksum is wrong.
    #[error("IPv4 header checksum")]
    IpChecksum,
    /// A fragment: nothing here puts them together.
    #[error("fragment")]
    Fragment,
    /// Another protocol, or an ICMP message that says nothing to TCP.
    #[error("not TCP")]
    Protocol,
    /// The TCP header does not fit into the packet, or is shorter than it must be.
    #[error("TCP header")]
    Tcp,
    /// The TCP checksum is wrong.
    #[error("TCP checksum")]
    Checksum,
    /// An option's length contradicts the header: where the next one begins is not known.
    #[error("TCP options")]
    Options,
    /// Flags or ports that no TCP sends: SYN with FIN or RST, or port 0.
    #[error("TCP flags or ports")]
    Flags,
    /// An address that nobody can be answered at: multicast, broadcast, unspecified; or both ends are
    /// the same.
    #[error("address")]
    Address,
}

impl Malformed {
    /// All reasons, in the order of the counters.
    pub const ALL: [Self; 9] = [
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

/// How many packets were dropped for which reason. Read it where packets go missing.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Drops([u64; Malformed::ALL.len()]);

impl Drops {
    /// Counts a packet that was dropped.
    pub fn count(&mut self, reason: Malformed) {
        self.0[reason as usize] += 1;
    }

    /// How many for this reason.
    pub fn get(&self, reason: Malformed) -> u64 {
        self.0[reason as usize]
    }

    /// How many for any reason.
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
