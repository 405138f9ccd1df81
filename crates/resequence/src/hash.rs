//! A hash with a secret key, so that no sender can choose flows that collide.

use std::hash::BuildHasher;

use siphasher::sip::SipHasher13;

/// Builds hashers with one key.
#[derive(Clone, Copy)]
pub(crate) struct Keyed(pub(crate) [u8; 16]);

impl BuildHasher for Keyed {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_key(&self.0)
    }
}
