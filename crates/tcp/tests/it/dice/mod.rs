//! Random choices of receivers that misbehave.

/// A linear congruential generator.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub(crate) fn one_in_256(&mut self, chance: u8) -> bool {
        self.roll() % 256 < u64::from(chance)
    }
}
