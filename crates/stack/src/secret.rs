//! The stack's secret and the keys derived from it. Each use has a key of its own, so that what one
//! of them reveals to a stranger gives nothing away about another.

use std::fmt;
use std::hash::Hasher;

use siphasher::sip::SipHasher24;

/// A random secret, never printed. The stack derives from it the numbers that strangers must not
/// guess: sequence numbers, ports, SYN cookies.
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
    /// Returns the key for `purpose`. SipHash is a pseudorandom function, so the keys for two
    /// purposes have nothing in common.
    pub(crate) fn key_for(&self, purpose: &str) -> [u8; 16] {
        let half = |which: u8| {
            let mut hash = SipHasher24::new_with_key(&self.0);
            hash.write(purpose.as_bytes());
            hash.write_u8(which);
            hash.finish().to_be_bytes()
        };
        let mut key = [0; 16];
        key[..8].copy_from_slice(&half(0));
        key[8..].copy_from_slice(&half(1));
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_purpose_has_its_own_key_and_none_is_printed() {
        let secret = Secret::from([7; 16]);
        assert_eq!(secret.key_for("ports"), secret.key_for("ports"));
        assert_ne!(secret.key_for("ports"), secret.key_for("cookies"));
        assert_ne!(secret.key_for("ports"), Secret::from([8; 16]).key_for("ports"));
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
