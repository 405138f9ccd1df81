//! Facts about a packet that decide when it goes on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Octets of memory that a kernel uses for an octet of a held packet: 3.0 kB for a packet of 1500 octets.
pub const MEMORY_PER_OCTET: u32 = 2;

/// Identity of a flow: one direction of a TCP connection, or of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Flow {
    /// What numbers its packets.
    pub protocol: Protocol,
    /// Index of the interface on which its packets arrive; 0 if unknown.
    pub interface: u32,
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Source and destination port; 0 in protocols without ports.
    pub ports: (u16, u16),
    /// Number of the tunnel between these ends: SPI, receiver index, or peer and key. 0 for TCP.
    pub context: u32,
}

/// Protocol that numbers the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Protocol {
    /// TCP: sequence numbers of octets, 32 bits (RFC 9293).
    Tcp,
    /// WireGuard: a counter of packets, 64 bits.
    WireGuard,
    /// IPsec ESP: a sequence number of packets, of which 32 bits are in the packet (RFC 4303).
    Esp,
    /// OpenVPN, data channel version 2 with AEAD: a packet id, 32 bits.
    OpenVpn,
}

/// Facts about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its flow.
    pub flow: Flow,
    /// Its part in the flow.
    pub role: Role,
    /// Octets of memory that it takes while it is held.
    pub octets: u32,
}

/// Part of a packet in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It opens the flow: SYN. Data follow from `next` on.
    Open {
        /// Number of the first data after it.
        next: u32,
    },
    /// It carries numbers that follow one another: data, FIN, or a packet of a tunnel.
    Data {
        /// First number, by the width of the protocol.
        number: u64,
        /// Count of numbers, at least 1: octets of data, one more with FIN; 1 for a packet of a tunnel.
        span: u32,
        /// Time at which the sender sent it, by the sender's clock: TSval (RFC 7323).
        timestamp: Option<u32>,
    },
    /// It has no place in the order: an acknowledgement without data.
    Acknowledgement,
    /// It ends the flow: RST.
    Close,
}

/// A path, on which packets of several flows are late alike: an interface and a network of sources, of
/// 24 bits for IPv4 and of 48 for IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    /// Index of the interface; 0 if unknown.
    pub interface: u32,
    /// First address of the network.
    pub network: IpAddr,
}

impl Flow {
    /// Returns the path on which its packets come.
    pub fn path(&self) -> Path {
        let network = match self.source {
            IpAddr::V4(v4) => {
                let [a, b, c, _] = v4.octets();
                IpAddr::V4(Ipv4Addr::new(a, b, c, 0))
            }
            IpAddr::V6(v6) => {
                let [a, b, c, ..] = v6.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0))
            }
        };
        Path { interface: self.interface, network }
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bits = if self.network.is_ipv4() { 24 } else { 48 };
        write!(f, "{}/{bits}", self.network)
    }
}
