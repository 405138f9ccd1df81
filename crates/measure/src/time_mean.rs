//! Mean over time of a value that changes in steps.

use unruffled_units::Instant;

/// Mean over time of a value that changes in steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimeMean {
    /// Integral of the value over time.
    integral: f64,
    /// Time that the integral covers, in seconds.
    covered_s: f64,
    /// End of that time, and the value since then.
    current: Option<(Instant, f64)>,
}

impl TimeMean {
    /// Sets the value from `now` on.
    pub(crate) fn set(&mut self, value: f64, now: Instant) {
        self.advance(now);
        self.current = Some((now, value));
    }

    /// Extends the mean to `now`.
    pub(crate) fn advance(&mut self, now: Instant) {
        if let Some((since, value)) = self.current {
            let elapsed_s = now.since(since).as_secs_f64();
            self.integral += value * elapsed_s;
            self.covered_s += elapsed_s;
            self.current = Some((now, value));
        }
    }

    /// Returns the mean, or `None` if it covers no time.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.covered_s > 0.0).then(|| self.integral / self.covered_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_weighted_by_its_duration() {
        let mut mean = TimeMean::default();
        assert_eq!(mean.mean(), None);
        mean.set(10.0, Instant::from_millis(1_000));
        mean.set(40.0, Instant::from_millis(3_000));
        mean.advance(Instant::from_millis(4_000));
        assert_eq!(mean.mean(), Some(20.0));
    }
}
