//! A value over time in a bounded number of bins, whose width doubles when time exceeds them.

use serde::Serialize;
use unruffled_units::{Duration, Instant};

/// Maximum number of bins.
const MAX_BINS: usize = 256;

/// Width of a bin at first, in nanoseconds.
const FIRST_WIDTH_NS: u64 = 10_000_000;

/// Values over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    origin: Option<Instant>,
    width_ns: u64,
    bins: Vec<Sum>,
    /// The bin of the latest value, and the time at which it begins, in nanoseconds since the origin.
    latest: (usize, u64),
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

impl Sum {
    fn add(&mut self, other: &Self) {
        if self.count == 0 {
            *self = *other;
        } else if other.count > 0 {
            self.count += other.count;
            self.sum += other.sum;
            self.min = self.min.min(other.min);
            self.max = self.max.max(other.max);
        }
    }
}

impl Series {
    pub(crate) fn record(&mut self, at: Instant, value: f64) {
        let origin = *self.origin.get_or_insert(at);
        if self.width_ns == 0 {
            self.width_ns = FIRST_WIDTH_NS;
        }
        let since = at.since(origin).as_nanos();
        let bin = self.bin(since);
        self.bins[bin].add(&Sum { count: 1, sum: value, min: value, max: value });
    }

    /// Returns the bin of a value at that time, in nanoseconds since the origin.
    fn bin(&mut self, since: u64) -> usize {
        // Most values are in the same bin as the one before, and a division takes its time.
        let (latest, from) = self.latest;
        if latest < self.bins.len() && since.wrapping_sub(from) < self.width_ns {
            return latest;
        }
        while since / self.width_ns >= MAX_BINS as u64 {
            let merged = self.bins.chunks(2).map(|pair| {
                let mut sum = pair[0];
                pair.iter().skip(1).for_each(|second| sum.add(second));
                sum
            });
            self.bins = merged.collect();
            // Time is a 64-bit count of nanoseconds, so this loop ends.
            self.width_ns = self.width_ns.saturating_mul(2);
        }
        let bin = (since / self.width_ns) as usize;
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, Sum::default());
        }
        self.latest = (bin, bin as u64 * self.width_ns);
        bin
    }

    /// Returns the bins that hold values; their times are relative to `start`.
    pub(crate) fn bins(&self, start: Instant) -> Vec<Bin> {
        let origin = self.origin.unwrap_or(start).since(start);
        let width = Duration::from_nanos(self.width_ns);
        let filled = self.bins.iter().enumerate().filter(|(_, bin)| bin.count > 0);
        let bins = filled.map(|(i, bin)| Bin {
            from_s: (origin + width * i as u64).as_secs_f64(),
            to_s: (origin + width * (i as u64 + 1)).as_secs_f64(),
            count: bin.count,
            min: bin.min,
            mean: bin.sum / bin.count as f64,
            max: bin.max,
        });
        bins.collect()
    }
}

/// Values measured in one span of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Beginning of the span, in seconds since the connection's first packet.
    pub from_s: f64,
    /// End of the span, in seconds since the connection's first packet.
    pub to_s: f64,
    /// Number of values.
    pub count: u64,
    /// Smallest value.
    pub min: f64,
    /// Mean value.
    pub mean: f64,
    /// Largest value.
    pub max: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_time_fits_into_few_bins() {
        let mut series = Series::default();
        let start = Instant::from_millis(5);
        for s in 0..100_000 {
            series.record(start + Duration::from_secs(s), s as f64);
        }
        series.record(Instant::MAX, 0.0);
        assert!(series.bins.len() <= MAX_BINS);
        let bins = series.bins(start);
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), 100_001);
        assert!(bins.iter().all(|bin| bin.min <= bin.mean && bin.mean <= bin.max));
    }

    #[test]
    fn a_bin_has_the_minimum_the_mean_and_the_maximum() {
        let mut series = Series::default();
        for (ms, value) in [(0, 1.0), (1, 3.0), (25, 7.0)] {
            series.record(Instant::from_millis(ms), value);
        }
        let bins = series.bins(Instant::ZERO);
        assert_eq!((bins[0].min, bins[0].mean, bins[0].max), (1.0, 2.0, 3.0));
        assert_eq!((bins[1].from_s, bins[1].to_s, bins[1].count), (0.02, 0.03, 1));
    }
}
