//! The payload: random octets that both ends generate from the seed, so that the receiver can check what
//! arrives.

use std::hash::Hasher;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use siphasher::sip128::{Hash128, Hasher128, SipHasher13};

/// Octets that are generated at a time.
const CHUNK_OCTETS: usize = 16 << 10;

/// An endless stream of octets, determined by the seed.
#[derive(Debug)]
pub(crate) struct Payload {
    random: Xoshiro256PlusPlus,
    chunk: Box<[u8]>,
    used: usize,
}

impl Payload {
    pub(crate) fn new(seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { random, chunk: vec![0; CHUNK_OCTETS].into(), used: CHUNK_OCTETS }
    }

    /// Returns some octets at the front of the stream, at least one.
    pub(crate) fn peek(&mut self) -> &[u8] {
        if self.used == self.chunk.len() {
            self.random.fill_bytes(&mut self.chunk);
            self.used = 0;
        }
        &self.chunk[self.used..]
    }

    /// Removes the first `n` octets that [`Payload::peek`] returned.
    pub(crate) fn advance(&mut self, n: usize) {
        self.used += n;
    }

    /// Returns the hash of the first `octets` of the stream with this seed.
    pub(crate) fn hash(seed: u64, octets: u64) -> Digest {
        let mut payload = Self::new(seed);
        let mut digest = Digest::default();
        let mut left = octets;
        while left > 0 {
            let some = payload.peek();
            let some = &some[..some.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
            digest.add(some);
            let n = some.len();
            left -= n as u64;
            payload.advance(n);
        }
        digest
    }
}

/// Hash of the octets so far: SipHash-1-3, 128 bits.
#[derive(Clone, Default)]
pub(crate) struct Digest(SipHasher13);

impl Digest {
    pub(crate) fn add(&mut self, octets: &[u8]) {
        self.0.write(octets);
    }

    fn value(&self) -> (u64, u64) {
        let Hash128 { h1, h2 } = self.0.finish128();
        (h1, h2)
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (high, low) = self.value();
        write!(f, "{high:016x}{low:016x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_does_not_depend_on_how_the_octets_are_divided() {
        let mut payload = Payload::new(7);
        let mut digest = Digest::default();
        let mut taken = 0;
        while taken < 40_000 {
            let n = payload.peek().len().min(37);
            digest.add(&payload.peek()[..n]);
            payload.advance(n);
            taken += n as u64;
        }
        assert_eq!(digest, Payload::hash(7, taken));
        assert_ne!(digest, Payload::hash(7, taken - 1));
        assert_ne!(digest, Payload::hash(8, taken));
    }
}
