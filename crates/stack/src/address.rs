//! Socket addresses: the two ends of a connection, and what the stack does with addresses.

use std::hash::Hasher;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The two ends of a connection, which identify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FourTuple {
    /// This end.
    pub local: SocketAddr,
    /// The peer.
    pub remote: SocketAddr,
}

/// Returns the address and port without scope and flow label, which no packet carries.
pub(crate) fn bare(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), address.port())
}

/// Returns the unspecified address of the same family and port.
pub(crate) fn unspecified(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    SocketAddr::new(ip, address.port())
}

/// Adds the address and the port to a hash, without scope and flow label.
pub(crate) fn hash_address(hash: &mut impl Hasher, address: SocketAddr) {
    match address {
        SocketAddr::V4(v4) => hash.write(&v4.ip().octets()),
        SocketAddr::V6(v6) => hash.write(&v6.ip().octets()),
    }
    hash.write(&address.port().to_be_bytes());
}
