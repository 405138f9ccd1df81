//! Distributions of durations, in constant memory and exact to 1 %.

use hdrhistogram::Histogram;
use serde::Serialize;
use unruffled_units::Duration;

/// Histogram of durations, with a resolution of 1 %.
#[derive(Clone, Debug, Default)]
pub(crate) struct DurationHistogram {
    // Allocated for the first duration only: in most connections, no packet is late.
    histogram: Option<Box<Histogram<u32>>>,
}

/// Longest duration that is distinguished from longer ones, in microseconds: one hour.
const MAX_DURATION_US: u64 = 3_600_000_000;

impl DurationHistogram {
    pub(crate) fn record(&mut self, duration: Duration) {
        if self.histogram.is_none() {
            // Creation with two significant digits does not fail.
            self.histogram = Histogram::new(2).ok().map(Box::new);
        }
        if let Some(histogram) = &mut self.histogram {
            let micros = (duration.as_nanos() + 500) / 1000;
            // The histogram resizes itself, so no value is out of its range.
            let _ = histogram.record(micros.min(MAX_DURATION_US));
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, |histogram| histogram.len())
    }

    /// Returns the number of durations above `limit`.
    pub(crate) fn count_above(&self, limit: Duration) -> u64 {
        let micros = limit.as_nanos() / 1000;
        let bins = self.histogram.iter().flat_map(|histogram| histogram.iter_recorded());
        let longer = bins.filter(|bin| bin.value_iterated_to() > micros);
        longer.map(|bin| u64::from(bin.count_at_value())).sum()
    }

    /// Returns the durations with their numbers, in ascending order.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (Duration, u64)> {
        let bins = self.histogram.iter().flat_map(|histogram| histogram.iter_recorded());
        bins.map(|bin| {
            let duration = Duration::from_nanos(bin.value_iterated_to() * 1000);
            (duration, u64::from(bin.count_at_value()))
        })
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let Some(added) = &other.histogram else { return };
        match &mut self.histogram {
            Some(histogram) => {
                let _ = histogram.add(&**added);
            }
            None => self.histogram.clone_from(&other.histogram),
        }
    }

    /// Returns the most frequent duration: the mean within the interval, a tenth of its upper end wide,
    /// that holds the most durations.
    pub(crate) fn mode(&self) -> Option<Duration> {
        let histogram = self.histogram.as_ref().filter(|histogram| !histogram.is_empty())?;
        let bins: Vec<(u64, u64)> = histogram
            .iter_recorded()
            .map(|bin| (bin.value_iterated_to(), u64::from(bin.count_at_value())))
            .collect();
        let mut best = (0, 0.0);
        let mut from = 0;
        let mut held = 0;
        for (to, &(value, count)) in bins.iter().enumerate() {
            held += count;
            while bins[from].0 * 11 < value * 10 {
                held -= bins[from].1;
                from += 1;
            }
            if held > best.0 {
                let weighted = bins[from..=to].iter().map(|&(value, count)| (value * count) as f64);
                best = (held, weighted.sum::<f64>() / held as f64);
            }
        }
        Some(Duration::from_nanos((best.1 * 1000.0) as u64))
    }

    pub(crate) fn summary(&self) -> Option<DurationSummary> {
        let histogram = self.histogram.as_ref().filter(|histogram| !histogram.is_empty())?;
        let ms = |micros: u64| micros as f64 / 1000.0;
        let quantile = |q: f64| {
            let micros = histogram.value_at_quantile(q);
            // The histogram returns the upper end of a bin; its middle is more accurate.
            let lowest = histogram.lowest_equivalent(micros);
            ms(lowest + (micros - lowest) / 2).clamp(ms(histogram.min()), ms(histogram.max()))
        };
        Some(DurationSummary {
            packets: histogram.len(),
            mean_ms: histogram.mean() / 1000.0,
            p10_ms: quantile(0.1),
            p25_ms: quantile(0.25),
            median_ms: quantile(0.5),
            p75_ms: quantile(0.75),
            p90_ms: quantile(0.9),
            p99_ms: quantile(0.99),
            max_ms: ms(histogram.max()),
            percentiles_ms: (0..=100).map(|p| quantile(f64::from(p) / 100.0)).collect(),
            bars: bars(histogram),
        })
    }
}

/// Number of bars of a histogram.
const BARS: u64 = 50;

/// Returns bars of equal width up to the 99th percentile; the last one holds all longer durations.
fn bars(histogram: &Histogram<u32>) -> Vec<Bar> {
    let width = (histogram.value_at_quantile(0.99) / (BARS - 1) + 1).max(1);
    let mut bars: Vec<Bar> = Vec::new();
    for bin in histogram.iter_recorded() {
        let micros = histogram.lowest_equivalent(bin.value_iterated_to());
        let bar = (micros / width).min(BARS - 1) as usize;
        if bars.len() <= bar {
            let from = |bar: usize| (bar as u64 * width) as f64 / 1000.0;
            bars.extend((bars.len()..=bar).map(|bar| Bar { from_ms: from(bar), packets: 0 }));
        }
        bars[bar].packets += u64::from(bin.count_at_value());
    }
    bars
}

/// A bar of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Lower end of the bar, in milliseconds. All bars are as wide as the first.
    pub from_ms: f64,
    /// Number of packets in the bar.
    pub packets: u64,
}

/// Summary of a distribution of durations, for example of late times or of round trips.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DurationSummary {
    /// Number of packets measured.
    pub packets: u64,
    /// Mean.
    pub mean_ms: f64,
    /// 10th percentile.
    pub p10_ms: f64,
    /// 25th percentile.
    pub p25_ms: f64,
    /// Median.
    pub median_ms: f64,
    /// 75th percentile.
    pub p75_ms: f64,
    /// 90th percentile.
    pub p90_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Maximum.
    pub max_ms: f64,
    /// The 101 percentiles from the 0th to the 100th.
    pub percentiles_ms: Vec<f64>,
    /// Histogram; not in the JSON, which has the percentiles.
    #[serde(skip)]
    pub bars: Vec<Bar>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_one_percent() {
        let mut histogram = DurationHistogram::default();
        assert_eq!(histogram.summary(), None);
        (1..=10_000).for_each(|n| histogram.record(Duration::from_micros(n * 10)));
        let summary = histogram.summary().unwrap();
        assert_eq!(summary.packets, 10_000);
        for (p, &ms) in summary.percentiles_ms.iter().enumerate().skip(1) {
            let expected = p as f64;
            assert!((ms - expected).abs() <= 0.011 * expected, "p{p}: {ms} ms");
        }
        assert!((summary.mean_ms - 50.0).abs() < 0.5);
        assert_eq!(summary.bars.len(), 50);
        assert_eq!(summary.bars.iter().map(|bar| bar.packets).sum::<u64>(), 10_000);
        let mut bunched = histogram.clone();
        (0..5000).for_each(|n| bunched.record(Duration::from_micros(20_000 + n % 100)));
        let mode = bunched.mode().unwrap().as_millis_f64();
        assert!((mode - 20.0).abs() < 1.0, "{mode} ms");
        let mut both = DurationHistogram::default();
        both.merge(&histogram);
        both.merge(&histogram);
        assert_eq!(both.summary().unwrap().packets, 20_000);
    }
}
