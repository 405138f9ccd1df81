//! The maximum of the samples of the last rounds or of the last time, in constant space. It is computed from
//! the three best samples (K. Nichols' windowed filter; Linux, `lib/win_minmax.c`).

/// The filter. Its time is a count that never decreases, such as round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct WindowedMax {
    /// The best, second best and third best sample with their times, each no earlier than the one before.
    best: [(u64, f64); 3],
}

impl WindowedMax {
    /// Returns the maximum.
    pub(super) fn get(&self) -> f64 {
        self.best[0].1
    }

    /// Adds a sample at time `now`, for a window of `length`.
    pub(super) fn add(&mut self, length: u64, now: u64, value: f64) {
        let new = (now, value);
        let best = &mut self.best;
        if value >= best[0].1 || now - best[2].0 > length {
            *best = [new; 3];
            return;
        }
        if value >= best[1].1 {
            best[1] = new;
            best[2] = new;
        } else if value >= best[2].1 {
            best[2] = new;
        }
        let age = now - best[0].0;
        if age > length {
            *best = [best[1], best[2], new];
            if now - best[0].0 > length {
                *best = [best[1], best[2], new];
            }
        } else if best[1].0 == best[0].0 && age > length / 4 {
            best[1] = new;
            best[2] = new;
        } else if best[2].0 == best[1].0 && age > length / 2 {
            best[2] = new;
        }
    }

    /// Multiplies all samples by `ratio`.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.best.iter_mut().for_each(|(_, value)| *value *= ratio);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_lasts_for_the_window_and_the_next_best_follows() {
        let mut max = WindowedMax::default();
        max.add(10, 0, 9.0);
        for round in 1..=10 {
            max.add(10, round, if round == 4 { 7.0 } else { 5.0 });
            assert_eq!(max.get(), 9.0, "round {round}");
        }
        max.add(10, 11, 5.0);
        assert_eq!(max.get(), 7.0);
        max.add(10, 15, 5.0);
        assert_eq!(max.get(), 5.0);
    }

    #[test]
    fn a_larger_sample_replaces_all() {
        let mut max = WindowedMax::default();
        max.add(10, 0, 3.0);
        max.add(10, 1, 4.0);
        assert_eq!(max.get(), 4.0);
        max.scale(0.5);
        assert_eq!(max.get(), 2.0);
    }
}
