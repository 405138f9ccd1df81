//! Packets as plain values.

use std::net::SocketAddr;

use unruffled_units::Instant;

use crate::tunnel::TunnelPacket;

/// A packet that carries TCP, UDP or ESP.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Time at which it was captured.
    pub at: Instant,
    /// Source address and port; ESP has port 0.
    pub from: SocketAddr,
    /// Destination address and port; ESP has port 0.
    pub to: SocketAddr,
    /// Identification of the IPv4 header; `None` in IPv6.
    pub id: Option<u16>,
    /// Time to live of the IPv4 header, or IPv6's hop limit. Each router decrements it.
    pub ttl: u8,
    /// Number of the interface on which the packet was captured; 0 if the capture has only one.
    pub interface: u32,
    /// Length of the IP packet, in octets.
    pub length: u32,
    /// The transport header and what is known of the payload.
    pub transport: Transport,
}

/// Transport header of a packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Transport {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram.
    Udp(Datagram),
    /// A packet of IPsec ESP without UDP.
    Esp(Esp),
    /// A packet of GRE with a sequence number. The packet within it is one of its own.
    Gre(Gre),
}

/// Header of a GRE packet with a sequence number (RFC 2890), that of PPTP included (RFC 2637).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gre {
    /// Key, or 0 without one. PPTP's is the identifier of the call.
    pub key: u32,
    /// Sequence number.
    pub seq: u32,
    /// Length from this header on, on the network, in octets.
    pub len: u32,
}

/// Header of an ESP packet (RFC 4303, section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Esp {
    /// Security parameters index, which names the key.
    pub spi: u32,
    /// Sequence number, the low 32 bits where extended numbers are in use.
    pub seq: u32,
    /// Length behind this header on the network, in octets.
    pub len: u32,
}

/// Header of a TCP segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first octet.
    pub seq: u32,
    /// Acknowledgement number: the next octet expected. `None` without the ACK flag.
    pub ack: Option<u32>,
    /// Length of the payload on the network, in octets, whether captured or not.
    pub len: u32,
    /// The SYN flag.
    pub syn: bool,
    /// The FIN flag.
    pub fin: bool,
    /// The RST flag.
    pub rst: bool,
    /// The URG flag.
    pub urgent: bool,
    /// Window field of the header, unscaled.
    pub window: u16,
    /// Maximum segment size that the sender of a SYN accepts, in octets.
    pub mss: Option<u16>,
    /// Window scale of a SYN: the number of bits by which later windows are shifted, at most 14.
    pub window_scale: Option<u8>,
    /// Whether a SYN permits selective acknowledgements.
    pub sack_permitted: bool,
    /// SACK blocks; the first `sack_count` are valid.
    pub sack: [(u32, u32); 4],
    /// Number of SACK blocks.
    pub sack_count: u8,
    /// Timestamp value and timestamp echo reply.
    pub timestamps: Option<(u32, u32)>,
    /// Whether the capture cut off some of the options.
    pub cut: bool,
}

/// Number of octets of a datagram that [`Datagram::head`] holds. The fixed header of RTP has 12, that of
/// WireGuard's data 16.
pub const DATAGRAM_HEAD_OCTETS: usize = 16;

/// Header and first octets of a UDP datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// Length of the payload on the network, in octets.
    pub len: u32,
    /// First octets of the payload; the first `captured` are valid.
    pub head: [u8; DATAGRAM_HEAD_OCTETS],
    /// Number of octets of `head` that were captured.
    pub captured: u8,
    /// Number of a tunnel's packet, if the datagram looks like one.
    pub tunnel: Option<TunnelPacket>,
}

/// Reason why a frame is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// The link type, a LINKTYPE_ value, is not supported.
    #[error("unsupported link type {0}")]
    UnknownLink(u32),
    /// The kind of an ERF record is not supported.
    #[error("unsupported ERF record of type {0}")]
    Record(u8),
    /// The frame carries a protocol other than IP, for example ARP.
    #[error("no IP packet, but EtherType {0:#06x}")]
    EtherType(u16),
    /// The frame carries a protocol other than IP and without an EtherType, for example spanning tree.
    #[error("no IP packet")]
    NotIp,
    /// The frame is encrypted.
    #[error("encrypted")]
    Encrypted,
    /// The capture does not hold all of the headers.
    #[error("headers cut off by the capture")]
    Short,
    /// The packet is a fragment, and the others are not in the capture.
    #[error("a fragment")]
    Fragment,
    /// The packet carries neither TCP nor UDP, but another protocol of IP.
    #[error("IP protocol {0}")]
    Protocol(u8),
    /// The headers contradict each other.
    #[error("malformed headers")]
    Malformed,
    /// The frame has more headers than any network uses.
    #[error("headers nested too deeply")]
    Nested,
}
