//! Start times of the sources of a group.

use rand::{Rng, RngExt as _};
use unruffled_units::{Duration, Instant};

/// Start times of the sources of a group.
///
/// ```
/// use rand::SeedableRng;
/// use rand_xoshiro::Xoshiro256PlusPlus;
/// use unruffled_sim::Arrivals;
/// use unruffled_units::{Duration, Instant};
///
/// let gap = Duration::from_millis(100);
/// let arrivals = Arrivals::Staggered { first: Instant::ZERO, gap };
/// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
/// assert_eq!(arrivals.start(3, &mut rng), Instant::from_millis(300));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// All flows start at this time.
    At(Instant),
    /// The flows start one after another.
    Staggered {
        /// Start of the first one.
        first: Instant,
        /// Time to the next one.
        gap: Duration,
    },
    /// Each starts at a random time, uniformly distributed.
    Random {
        /// Earliest time.
        from: Instant,
        /// Latest time.
        until: Instant,
    },
}

impl Arrivals {
    /// Returns the start of the source with this index, from 0. Call it for all sources in order.
    pub fn start(&self, index: u32, rng: &mut impl Rng) -> Instant {
        match *self {
            Self::At(at) => at,
            Self::Staggered { first, gap } => first + gap * u64::from(index),
            Self::Random { from, until } => Instant::from_nanos(
                rng.random_range(from.as_nanos()..=until.as_nanos().max(from.as_nanos())),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn starts(arrivals: Arrivals) -> Vec<Instant> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        (0..3).map(|i| arrivals.start(i, &mut rng)).collect()
    }

    #[test]
    fn sources_start_at_once_one_by_one_or_at_random() {
        let ms = Instant::from_millis;
        assert_eq!(starts(Arrivals::At(ms(7))), [ms(7); 3]);
        let gap = Duration::from_millis(10);
        assert_eq!(starts(Arrivals::Staggered { first: ms(5), gap }), [ms(5), ms(15), ms(25)]);
        let random = starts(Arrivals::Random { from: ms(1_000), until: ms(2_000) });
        assert!(random.iter().all(|at| (ms(1_000)..=ms(2_000)).contains(at)), "{random:?}");
        assert!(random[0] != random[1] && random[1] != random[2]);
    }
}
