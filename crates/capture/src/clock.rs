//! The step of a capture's clock: a millisecond or more on old systems, a second where somebody has
//! cut off the rest.

use unruffled_units::{Duration, Instant};

/// A clock with smaller steps limits nothing that is told.
const COARSE: Duration = Duration::from_micros(900);

/// A time is a whole number of steps within so much, and as much for each step: it is rounded to
/// microseconds.
const ROUNDED: Duration = Duration::from_micros(2);

/// Longer times say nothing, since the step is not known that exactly.
const LONGEST: u64 = 64;

/// So many times that are whole numbers of steps show that the clock has them.
const ENOUGH: u32 = 4;

/// In a coarse clock's time, packets share an instant: one in so many at least.
const SHARED: u32 = 8;

/// Where so many share one, a single time between them shows the step.
const MANY: u32 = 32;

/// Finds out how coarse a clock is, from the times between the packets of a capture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    last: Option<Instant>,
    /// The largest step of which all times so far are multiples.
    step: Option<Duration>,
    multiples: u32,
    shared: u32,
}

impl Clock {
    /// A packet passes.
    pub(crate) fn pass(&mut self, at: Instant) {
        let Some(last) = self.last.replace(at) else { return };
        if self.step.is_some_and(|step| step < COARSE) {
            return;
        }
        let mut apart = at.since(last).max(last.since(at));
        if apart == Duration::ZERO {
            self.shared = self.shared.saturating_add(1);
            return;
        }
        // Euclid's algorithm, as far as rounding permits.
        loop {
            let step = *self.step.get_or_insert(apart);
            let (whole, rest) =
                (apart.as_nanos() / step.as_nanos(), apart.as_nanos() % step.as_nanos());
            let times = whole + u64::from(rest >= step.as_nanos().div_ceil(2));
            if times > LONGEST {
                return;
            }
            let rest = apart.abs_diff(step * times);
            if times > 0 && rest <= ROUNDED * (times + 1) {
                self.multiples = self.multiples.saturating_add(1);
                return;
            }
            (self.step, self.multiples) = (Some(rest), 0);
            if rest < COARSE {
                return;
            }
            apart = step;
        }
    }

    /// Whether it is known how coarse the clock is.
    pub(crate) fn is_known(&self) -> bool {
        self.is_coarse() || self.step.is_some_and(|step| step < COARSE)
    }

    fn is_coarse(&self) -> bool {
        let often = self.multiples >= ENOUGH && self.shared >= self.multiples / SHARED;
        often || self.multiples > 0 && self.shared >= MANY
    }

    /// The step, where it is so coarse that it limits what can be told; else zero.
    pub(crate) fn tick(&self) -> Duration {
        self.step.filter(|&step| step >= COARSE && self.is_coarse()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step that is found of packets at these times, in microseconds.
    fn tick_us(times: impl Iterator<Item = u64>) -> u64 {
        let mut clock = Clock::default();
        times.for_each(|us| clock.pass(Instant::from_nanos(us * 1000)));
        clock.tick().as_nanos() / 1000
    }

    /// Packets at irregular times, a few hundred microseconds apart.
    fn times() -> impl Iterator<Item = u64> {
        (0..5000_u64).map(|n| 1_000_000_000 + n * 417 + n * n * 7919 % 613)
    }

    #[test]
    fn the_step_of_a_coarse_clock_is_found() {
        for step in [1000, 10_000, 15_625, 100_000] {
            assert_eq!(tick_us(times().map(|us| us / step * step)), step);
        }
        let seconds = times().map(|us| us * 20 / 1_000_000 * 1_000_000);
        assert_eq!(tick_us(seconds), 1_000_000);
        // Windows: 15.6001 ms, in whole microseconds.
        let windows = times().map(|us| us * 10 / 156_001 * 156_001 / 10);
        assert!((15_600..=15_601).contains(&tick_us(windows)));
    }

    /// As where a file claims a time that no clock has.
    #[test]
    fn times_at_the_ends_of_the_range_are_taken() {
        let mut clock = Clock::default();
        for at in [0, u64::MAX, 1, u64::MAX - 1, u64::MAX / 2, u64::MAX] {
            clock.pass(Instant::from_nanos(at));
        }
        assert_eq!(clock.tick(), Duration::ZERO);
    }

    #[test]
    fn a_fine_clock_has_no_step() {
        assert_eq!(tick_us(times()), 0);
        // In a simulator, where a packet takes 1.2 ms, and its acknowledgement comes 40 ms later.
        let paced = (0..1000).flat_map(|n| [n * 1200, n * 1200 + 40_000]);
        let mut paced: Vec<u64> = paced.collect();
        paced.sort_unstable();
        assert_eq!(tick_us(paced.into_iter()), 0);
        // Few packets, far apart, of which none share an instant.
        assert_eq!(tick_us((0..100).map(|n| n * 50_000)), 0);
    }
}
