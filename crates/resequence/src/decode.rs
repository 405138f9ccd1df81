//! Decoder of IP packets into the facts that decide when they go on.

use crate::Packet;

/// Tunnels whose packets are put in order by their outer numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tunnels {
    /// WireGuard.
    pub wireguard: bool,
    /// IPsec ESP, also within UDP (RFC 3948).
    pub esp: bool,
    /// OpenVPN's data channel, version 2.
    pub openvpn: bool,
}

/// Returns the facts about an IP packet that arrived on `interface`, or `None` for a packet that passes at
/// once: a fragment, another protocol, or what cannot be read.
///
/// `head` holds at least the headers; 128 octets suffice. `length` is the length of the whole packet.
pub fn classify(head: &[u8], length: u32, interface: u32, tunnels: Tunnels) -> Option<Packet> {
    let _ = (head, length, interface, tunnels);
    None
}
