//! The mean over time of a value that changes in steps.

use unruffled_units::Instant;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimeMean {
    area: f64,
    over: f64,
    since: Option<(Instant, f64)>,
}

impl TimeMean {
    pub(crate) fn set(&mut self, value: f64, now: Instant) {
        self.advance(now);
        self.since = Some((now, value));
    }

    pub(crate) fn advance(&mut self, now: Instant) {
        if let Some((since, value)) = self.since {
            let span = now.since(since).as_secs_f64();
            self.area += value * span;
            self.over += span;
            self.since = Some((now, value));
        }
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.over > 0.0).then(|| self.area / self.over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_for_as_long_as_it_lasts() {
        let mut mean = TimeMean::default();
        assert_eq!(mean.mean(), None);
        mean.set(10.0, Instant::from_millis(1_000));
        mean.set(40.0, Instant::from_millis(3_000));
        mean.advance(Instant::from_millis(4_000));
        assert_eq!(mean.mean(), Some(20.0));
    }
}
