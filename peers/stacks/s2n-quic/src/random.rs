//! What the stack draws, from the seed (SplitMix64).

use s2n_quic::provider::random::{Generator, Provider};

/// A generator for one endpoint.
#[derive(Debug)]
pub struct Seeded(pub u64);

impl Seeded {
    fn fill(&mut self, octets: &mut [u8]) {
        for word in octets.chunks_mut(8) {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut value = self.0;
            value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            value ^= value >> 31;
            word.copy_from_slice(&value.to_le_bytes()[..word.len()]);
        }
    }
}

impl Generator for Seeded {
    fn public_random_fill(&mut self, octets: &mut [u8]) {
        self.fill(octets);
    }

    fn private_random_fill(&mut self, octets: &mut [u8]) {
        self.fill(octets);
    }
}

impl Provider for Seeded {
    type Generator = Seeded;
    type Error = std::convert::Infallible;

    fn start(self) -> Result<Seeded, Self::Error> {
        Ok(self)
    }
}
