//! A packet as plain facts.

use std::net::SocketAddr;

use unruffled_units::Instant;

/// A packet that carries TCP or UDP.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// When it passed.
    pub at: Instant,
    /// Who sent it.
    pub from: SocketAddr,
    /// Whom it is for.
    pub to: SocketAddr,
    /// The IPv4 header's identification; none in IPv6.
    pub id: Option<u16>,
    /// The IPv4 header's time to live, or IPv6's hop limit: each router takes one off.
    pub ttl: u8,
    /// Octets of the IP packet.
    pub length: u32,
    /// What it carries.
    pub transport: Transport,
}

/// What a packet carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Transport {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram.
    Udp(Datagram),
}

/// The header of a TCP segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The first octet's sequence number.
    pub seq: u32,
    /// The next octet expected, if the segment acknowledges anything.
    pub ack: Option<u32>,
    /// Octets of payload as they passed, whether captured or not.
    pub len: u32,
    /// Whether it opens the connection.
    pub syn: bool,
    /// Whether it is the last.
    pub fin: bool,
    /// Whether it ends the connection at once.
    pub rst: bool,
    /// Whether it points to urgent data.
    pub urgent: bool,
    /// The window as it stands in the header.
    pub window: u16,
    /// The largest segment that its sender takes.
    pub mss: Option<u16>,
    /// By how many bits windows are shifted.
    pub window_scale: Option<u8>,
    /// Whether its sender takes selective acknowledgements.
    pub sack_permitted: bool,
    /// The blocks of a selective acknowledgement, as many as `sack_count` says.
    pub sack: [(u32, u32); 4],
    /// How many blocks there are.
    pub sack_count: u8,
    /// The timestamp's value and the one that it echoes.
    pub timestamps: Option<(u32, u32)>,
    /// Whether the capture cut off options.
    pub cut: bool,
}

/// A UDP datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// Octets of payload as they passed.
    pub len: u32,
    /// The first octets of the payload, as many as `captured` says.
    pub head: [u8; 8],
    /// How many octets of `head` were captured.
    pub captured: u8,
}

/// Why a frame says nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// A link that is not known.
    UnknownLink,
    /// No IP: ARP and the like.
    NotIp,
    /// So little was captured of it that the headers are not there.
    Short,
    /// A fragment.
    Fragment,
    /// Neither TCP nor UDP.
    Protocol,
    /// Headers that contradict themselves.
    Malformed,
}
