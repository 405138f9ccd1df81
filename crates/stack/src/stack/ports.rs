//! From which port to connect (RFC 6056, section 3.3.3, algorithm 3): a keyed hash of the two
//! addresses and the peer's port says where to begin, and a counter goes on from there. A stranger
//! sees of it nothing that tells the next port to somebody else, and the same peer sees a port again
//! only after all the others.

use std::hash::Hasher;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

use siphasher::sip::SipHasher24;

use super::secret::hash_address;

/// Chooses ports.
#[derive(Clone)]
pub(super) struct Ports {
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
    pub(super) fn new(key: [u8; 16], range: RangeInclusive<u16>) -> Self {
        let mut ports = Self { key, range, next: 0 };
        // Not the same in every run.
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

    /// The first port for which `takes` says yes, between `local`, whose port is 0, and `remote`.
    pub(super) fn choose(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
        mut takes: impl FnMut(SocketAddr) -> bool,
    ) -> Option<SocketAddr> {
        let offset = self.hash(local, remote);
        let (first, last) = (u32::from(*self.range.start()), u32::from(*self.range.end()));
        let count = (last + 1).checked_sub(first).filter(|&count| count > 0)?;
        for _ in 0..count {
            let port = first + offset.wrapping_add(self.next) % count;
            self.next = self.next.wrapping_add(1);
            let end = SocketAddr::new(local.ip(), port as u16);
            if takes(end) {
                return Some(end);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_port_comes_once_and_each_peer_begins_elsewhere() {
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
        let begins: HashSet<_> =
            (0..100).map(|port| ports.clone().choose(local, remote(port), |_| true)).collect();
        assert!(begins.len() > 80, "{}", begins.len());
        assert_eq!(ports.choose(local, remote(80), |_| false), None);
        assert!(!format!("{ports:?}").contains("key"));
    }
}
