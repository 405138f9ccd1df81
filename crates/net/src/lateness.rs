//! The emulator's lateness: how long after its due time it delivered each packet.

use hdrhistogram::Histogram;
use unruffled_units::Duration;

/// Maximum 99th percentile of lateness with which results are reliable.
pub const MAX_TOLERABLE_LATENESS: Duration = Duration::from_millis(1);

/// Distribution of the lateness of packets.
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

impl Default for Lateness {
    fn default() -> Self {
        Self::new()
    }
}

impl Lateness {
    /// Creates an empty distribution. Times have three significant digits, up to a minute.
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, 60_000_000_000, 3);
        Self(histogram.expect("these bounds are in the histogram's range"))
    }

    pub(crate) fn record(&mut self, late: Duration) {
        self.0.saturating_record(late.as_nanos());
    }

    /// Returns the distribution of the packets of both.
    #[must_use]
    pub fn merge(mut self, other: &Self) -> Self {
        self.0 += &other.0;
        self
    }

    /// Returns the number of packets.
    pub fn packets(&self) -> u64 {
        self.0.len()
    }

    /// Returns the lateness that a share of the packets (0 to 1) did not exceed, or zero without packets.
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(if self.0.is_empty() { 0 } else { self.0.value_at_quantile(share) })
    }

    /// Returns the largest lateness.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.0.max())
    }

    /// Returns whether the machine could not keep up: the 99th percentile exceeds
    /// [`MAX_TOLERABLE_LATENESS`].
    pub fn is_intolerable(&self) -> bool {
        self.quantile(0.99) > MAX_TOLERABLE_LATENESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_in_a_hundred_may_be_very_late() {
        let mut lateness = Lateness::new();
        for _ in 0..990 {
            lateness.record(Duration::from_micros(10));
        }
        for _ in 0..10 {
            lateness.record(Duration::from_millis(30));
        }
        assert!(!lateness.is_intolerable());
        assert_eq!(lateness.quantile(0.5).as_nanos() / 100, 100);
        assert!(lateness.max() >= Duration::from_millis(30));
        lateness.record(Duration::from_millis(30));
        assert!(lateness.is_intolerable());
    }

    #[test]
    fn without_packets_lateness_is_zero() {
        let none = Lateness::new().merge(&Lateness::new());
        assert_eq!((none.packets(), none.quantile(0.99)), (0, Duration::ZERO));
        assert!(!none.is_intolerable());
    }
}
