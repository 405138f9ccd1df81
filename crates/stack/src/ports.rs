//! The choice of local ports (RFC 6056, section 3.3.3, algorithm 3).
//!
//! A keyed hash of the two addresses and the peer's port gives the first port, and a counter
//! continues from there. A stranger cannot derive from one peer's ports the next port for another
//! peer, and a port is reused for the same peer only after all others.

use std::hash::Hasher;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

use siphasher::sip::SipHasher24;

use crate::address::hash_address;

/// Chooses ports.
#[derive(Clone)]
pub(crate) struct Ports {
    key: [u8; 16],
    range: RangeInclusive<u16>,
    /// `next_ephemeral` of RFC 6056.
    next: u32,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ports").field("range", &self.range).finish_non_exhaustive()
    }
}

impl Ports {
    pub(crate) fn new(key: [u8; 16], range: RangeInclusive<u16>) -> Self {
        let mut ports = Self { key, range, next: 0 };
        // The counter starts at a secret number, a different one in every run.
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        ports.next = ports.hash(nowhere, nowhere);
        ports
    }

    fn hash(&self, local: SocketAddr, remote: SocketAddr) -> u32 {
        let mut hash = SipHasher24::new_with_key(&self.key);
        hash_address(&mut hash, local);
        hash_address(&mut hash, remote);
        hash.finish() as u32
    }

    /// Returns the first local address that `is_free` accepts, between `local`, whose port is 0,
    /// and `remote`.
    pub(crate) fn choose(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
        mut is_free: impl FnMut(SocketAddr) -> bool,
    ) -> Option<SocketAddr> {
        let offset = self.hash(local, remote);
        let (first, last) = (u32::from(*self.range.start()), u32::from(*self.range.end()));
        let count = (last + 1).checked_sub(first).filter(|&count| count > 0)?;
        for _ in 0..count {
            let port = first + offset.wrapping_add(self.next) % count;
            self.next = self.next.wrapping_add(1);
            let end = SocketAddr::new(local.ip(), port as u16);
            if is_free(end) {
                return Some(end);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_port_comes_once_and_each_peer_starts_at_another_port() {
        let mut ports = Ports::new([1; 16], 50_000..=50_999);
        let local = SocketAddr::from(([10, 0, 0, 2], 0));
        let remote = |port| SocketAddr::from(([10, 0, 0, 1], port));
        let mut seen = HashSet::new();
        for _ in 0..1000 {
            let end = ports.choose(local, remote(80), |_| true).map(|end| end.port());
            assert!(end.is_some_and(|port| (50_000..=50_999).contains(&port)));
            seen.insert(end);
        }
        assert_eq!(seen.len(), 1000);
        let first: HashSet<_> =
            (0..100).map(|port| ports.clone().choose(local, remote(port), |_| true)).collect();
        assert!(first.len() > 80, "{}", first.len());
        assert_eq!(ports.choose(local, remote(80), |_| false), None);
        assert!(!format!("{ports:?}").contains("key"));
    }
}
