//! The stack's secret, and the keys that are made from it: one for each use, so that what one of them
//! lets a stranger see says nothing about another.

use std::fmt;
use std::hash::Hasher;
use std::net::SocketAddr;

use siphasher::sip::SipHasher24;

/// A random secret. It is never printed. Use it to make what strangers must not guess: numbers,
/// cookies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret([u8; 16]);

impl From<[u8; 16]> for Secret {
    fn from(octets: [u8; 16]) -> Self {
        Self(octets)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The key for `use_`: SipHash is a pseudorandom function, so keys for two uses have nothing in
    /// common.
    pub(super) fn key_for(&self, use_: &str) -> [u8; 16] {
        let half = |which: u8| {
            let mut hash = SipHasher24::new_with_key(&self.0);
            hash.write(use_.as_bytes());
            hash.write_u8(which);
            hash.finish().to_be_bytes()
        };
        let mut key = [0; 16];
        key[..8].copy_from_slice(&half(0));
        key[8..].copy_from_slice(&half(1));
        key
    }
}

/// Adds an address, without what a peer may not see of it.
pub(super) fn hash_address(hash: &mut SipHasher24, address: SocketAddr) {
    match address {
        SocketAddr::V4(v4) => hash.write(&v4.ip().octets()),
        SocketAddr::V6(v6) => hash.write(&v6.ip().octets()),
    }
    hash.write(&address.port().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_use_has_a_key_of_its_own_and_none_is_printed() {
        let secret = Secret::from([7; 16]);
        assert_eq!(secret.key_for("ports"), secret.key_for("ports"));
        assert_ne!(secret.key_for("ports"), secret.key_for("cookies"));
        assert_ne!(secret.key_for("ports"), Secret::from([8; 16]).key_for("ports"));
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
