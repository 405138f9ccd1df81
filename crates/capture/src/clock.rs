//! Resolution of a capture's clock.
//!
//! Old systems count in steps of a millisecond or more, and tools that anonymise captures may cut
//! off the fraction of a second.

use unruffled_units::{Duration, Instant};

/// Shortest step that matters. A clock with smaller steps does not limit the analysis.
const MIN_COARSE_STEP: Duration = Duration::from_micros(900);

/// Rounding error of a capture that stores microseconds. A time may deviate from a whole number of
/// steps by this much, and by as much again for each step.
const ROUNDING_ERROR: Duration = Duration::from_micros(2);

/// Longest time between packets that is used, in steps. The step is not known exactly enough for
/// longer ones.
const MAX_STEPS: u64 = 64;

/// Number of times between packets that must be whole steps before the clock counts as coarse.
const MIN_MULTIPLES: u32 = 4;

/// Greatest ratio of whole steps to packets at the same time on a coarse clock.
const MAX_MULTIPLES_PER_TIE: u32 = 8;

/// Number of packets at the same time as the one before after which a single whole step suffices.
const MIN_TIES: u32 = 32;

/// Estimator of a clock's resolution, from the times between the packets of a capture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClockEstimator {
    last: Option<Instant>,
    /// The largest step of which all times between packets so far are multiples.
    step: Option<Duration>,
    /// Times between packets that were multiples of `step`.
    multiples: u32,
    /// Packets with the time of the one before.
    ties: u32,
}

impl ClockEstimator {
    /// Records the time of the next packet.
    pub(crate) fn record(&mut self, at: Instant) {
        let Some(last) = self.last.replace(at) else { return };
        if self.step.is_some_and(|step| step < MIN_COARSE_STEP) {
            return;
        }
        let mut gap = at.since(last).max(last.since(at));
        if gap == Duration::ZERO {
            self.ties = self.ties.saturating_add(1);
            return;
        }
        // Euclid's algorithm, with tolerance for rounding.
        loop {
            let step = *self.step.get_or_insert(gap);
            let whole = gap.as_nanos() / step.as_nanos();
            let rest = gap.as_nanos() % step.as_nanos();
            let steps = whole + u64::from(rest >= step.as_nanos().div_ceil(2));
            if steps > MAX_STEPS {
                return;
            }
            let rest = gap.abs_diff(step * steps);
            if steps > 0 && rest <= ROUNDING_ERROR * (steps + 1) {
                self.multiples = self.multiples.saturating_add(1);
                return;
            }
            self.step = Some(rest);
            self.multiples = 0;
            if rest < MIN_COARSE_STEP {
                return;
            }
            gap = step;
        }
    }

    /// Returns whether the resolution is known.
    pub(crate) fn is_known(&self) -> bool {
        self.is_coarse() || self.step.is_some_and(|step| step < MIN_COARSE_STEP)
    }

    fn is_coarse(&self) -> bool {
        let mixed =
            self.multiples >= MIN_MULTIPLES && self.ties >= self.multiples / MAX_MULTIPLES_PER_TIE;
        mixed || self.multiples > 0 && self.ties >= MIN_TIES
    }

    /// Returns the step of a coarse clock, or zero for a clock that does not limit the analysis.
    pub(crate) fn coarse_step(&self) -> Duration {
        self.step.filter(|&step| step >= MIN_COARSE_STEP && self.is_coarse()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the step, in microseconds, that is found for packets at these times, also in microseconds.
    fn step_us(times: impl Iterator<Item = u64>) -> u64 {
        let mut clock = ClockEstimator::default();
        times.for_each(|us| clock.record(Instant::from_nanos(us * 1000)));
        clock.coarse_step().as_nanos() / 1000
    }

    /// Irregular times, a few hundred microseconds apart.
    fn times() -> impl Iterator<Item = u64> {
        (0..5000_u64).map(|n| 1_000_000_000 + n * 417 + n * n * 7919 % 613)
    }

    #[test]
    fn the_step_of_a_coarse_clock_is_found() {
        for step in [1000, 10_000, 15_625, 100_000] {
            assert_eq!(step_us(times().map(|us| us / step * step)), step);
        }
        let seconds = times().map(|us| us * 20 / 1_000_000 * 1_000_000);
        assert_eq!(step_us(seconds), 1_000_000);
        // Windows: steps of 15.6001 ms, in whole microseconds.
        let windows = times().map(|us| us * 10 / 156_001 * 156_001 / 10);
        assert!((15_600..=15_601).contains(&step_us(windows)));
    }

    /// Files may hold times that no clock produces.
    #[test]
    fn times_at_the_ends_of_the_range_are_accepted() {
        let mut clock = ClockEstimator::default();
        for at in [0, u64::MAX, 1, u64::MAX - 1, u64::MAX / 2, u64::MAX] {
            clock.record(Instant::from_nanos(at));
        }
        assert_eq!(clock.coarse_step(), Duration::ZERO);
    }

    #[test]
    fn a_fine_clock_has_no_step() {
        assert_eq!(step_us(times()), 0);
        // A simulator: one packet each 1.2 ms, and its acknowledgement 40 ms later.
        let paced = (0..1000).flat_map(|n| [n * 1200, n * 1200 + 40_000]);
        let mut paced: Vec<u64> = paced.collect();
        paced.sort_unstable();
        assert_eq!(step_us(paced.into_iter()), 0);
        // Few packets, far apart, no two of them at the same time.
        assert_eq!(step_us((0..100).map(|n| n * 50_000)), 0);
    }
}
