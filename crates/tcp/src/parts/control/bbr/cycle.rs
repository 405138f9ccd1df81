//! The cycle of pacing gains in PROBE_BW (Linux, `bbr_pacing_gain`).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;
use unruffled_units::{Duration, Instant};

/// Gains of the phases: one looks for more bandwidth, the next one drains the queue that this may have made.
const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// The present phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cycle {
    phase: usize,
    began: Instant,
}

impl Cycle {
    /// Begins in a phase drawn at random, but not with the one that drains.
    pub(super) fn begin(&mut self, rng: &mut Xoshiro256PlusPlus, now: Instant) {
        self.phase = GAINS.len() - 1 - (rng.next_u64() % 7) as usize;
        self.advance(now);
    }

    /// Begins the next phase.
    pub(super) fn advance(&mut self, now: Instant) {
        self.phase = (self.phase + 1) % GAINS.len();
        self.began = now;
    }

    /// Returns the pacing gain.
    pub(super) fn gain(&self) -> f64 {
        GAINS[self.phase]
    }

    /// Returns whether the phase looks for more bandwidth.
    pub(super) fn probes_up(&self) -> bool {
        self.phase == 0
    }

    /// Returns whether the phase has lasted for more than a round trip.
    pub(super) fn lasts_longer_than(&self, rtt: Option<Duration>, now: Instant) -> bool {
        rtt.is_some_and(|rtt| now.since(self.began) > rtt)
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn a_cycle_begins_anywhere_but_with_the_phase_that_drains() {
        let mut seen = [false; GAINS.len()];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..1000 {
            let mut cycle = Cycle::default();
            cycle.begin(&mut rng, Instant::ZERO);
            seen[cycle.phase] = true;
        }
        assert_eq!(seen, [true, false, true, true, true, true, true, true]);
    }

    #[test]
    fn the_gains_follow_each_other_and_average_to_one() {
        let mut cycle = Cycle::default();
        let gains: Vec<f64> = (0..GAINS.len())
            .map(|_| {
                let gain = cycle.gain();
                cycle.advance(Instant::ZERO);
                gain
            })
            .collect();
        assert_eq!(gains, GAINS);
        assert_eq!(gains.iter().sum::<f64>(), 8.0);
    }
}
