//! How far behind its own plan the emulator was.

use hdrhistogram::Histogram;
use unruffled_units::Duration;

/// The 99th percentile above which results should not be trusted.
pub const TOLERABLE: Duration = Duration::from_millis(1);

/// How late packets were handed over, each against the instant at which it was due.
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

impl Default for Lateness {
    fn default() -> Self {
        Self::new()
    }
}

impl Lateness {
    /// Of no packet yet. Times are kept to three digits, up to a minute.
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, 60_000_000_000, 3);
        Self(histogram.expect("these bounds are in the histogram's range"))
    }

    pub(crate) fn record(&mut self, late: Duration) {
        self.0.saturating_record(late.as_nanos());
    }

    /// The packets of both.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.0 += &other.0;
        self
    }

    /// How many packets were measured.
    pub fn packets(&self) -> u64 {
        self.0.len()
    }

    /// The lateness that a share of the packets did not exceed; zero if there were none.
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(if self.0.is_empty() { 0 } else { self.0.value_at_quantile(share) })
    }

    /// How late the latest packet was.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.0.max())
    }

    /// Whether the machine could not keep up.
    pub fn is_intolerable(&self) -> bool {
        self.quantile(0.99) > TOLERABLE
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
    fn no_packet_is_no_lateness() {
        let none = Lateness::new().and(&Lateness::new());
        assert_eq!((none.packets(), none.quantile(0.99)), (0, Duration::ZERO));
        assert!(!none.is_intolerable());
    }
}
