//! The retransmission timeout of Linux (`net/ipv4/tcp_input.c`, `tcp_rtt_estimator`): the smoothed
//! round-trip time and four times its deviation, which counts as at least 200 ms.
//!
//! The sum of both is longer than RFC 6298's timeout with a minimum of 200 ms. The deviation is the
//! largest of a round trip, and it decreases by a quarter of the difference per round trip. A
//! round-trip time below the average has an eighth of the weight.

use std::borrow::Cow;

use unruffled_units::Duration;

use super::{AnyTimer, Timer};
use crate::Config;
use crate::parts::{Kind, maker};

/// Timer of Linux.
pub(crate) const LINUX: Kind<AnyTimer> = Kind::new::<()>("linux-rto", |values| {
    maker(values, |(), config: &Config| AnyTimer::Linux(Linux::new(config.rto.min)))
});

/// Nanoseconds, as all times here.
type Nanos = u64;

/// The estimator.
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    /// Minimum of four deviations.
    min: Nanos,
    /// Smoothed round-trip time; 0 before there is a sample.
    srtt: Nanos,
    /// Four smoothed deviations.
    deviation: Nanos,
    /// The largest `deviation` of this round trip.
    largest: Nanos,
    /// The part of the timeout for variation.
    variation: Nanos,
    /// Acknowledgements of new data in this round trip.
    acks: u32,
}

impl Linux {
    fn new(min: Duration) -> Self {
        let min = min.as_nanos();
        Self { min, srtt: 0, deviation: 0, largest: min, variation: min, acks: 0 }
    }
}

impl Timer for Linux {
    fn about(&self) -> Cow<'static, str> {
        "RFC 6298 as in Linux".into()
    }

    #[inline(never)]
    fn on_sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos();
        if self.srtt == 0 {
            self.srtt = rtt;
            self.deviation = 2 * rtt;
            self.variation = self.deviation.max(self.min);
            self.largest = self.variation;
            return;
        }
        let difference = rtt.abs_diff(self.srtt);
        let (above, grows) = (rtt >= self.srtt, difference > self.deviation / 4);
        let change = difference.abs_diff(self.deviation / 4);
        self.deviation = match (above, grows) {
            (true, true) => self.deviation + change,
            (false, true) => self.deviation + change / 8,
            (_, false) => self.deviation - change,
        };
        self.srtt = if above { self.srtt + difference / 8 } else { self.srtt - difference / 8 };
        self.largest = self.largest.max(self.deviation);
        self.variation = self.variation.max(self.largest);
    }

    #[inline(never)]
    fn on_progress(&mut self, cwnd: f64) {
        self.acks += 1;
        // Linux compares sequence numbers. One acknowledgement covers two segments.
        if f64::from(2 * self.acks) < cwnd {
            return;
        }
        self.acks = 0;
        if self.largest < self.variation {
            self.variation -= (self.variation - self.largest) / 4;
        }
        self.largest = self.min;
    }

    #[inline(never)]
    fn floor(&self) -> Duration {
        Duration::from_nanos(self.srtt + self.variation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// Returns the timeout after these round-trip times, in milliseconds.
    fn timeout(round_trips: impl IntoIterator<Item = u64>, window: f64) -> f64 {
        let mut timer = Linux::new(ms(200));
        for rtt in round_trips {
            timer.on_sample(ms(rtt));
            timer.on_progress(window);
        }
        timer.floor().as_millis_f64()
    }

    #[test]
    fn the_timeout_is_the_round_trip_and_at_least_two_hundred_milliseconds() {
        // The first sample counts as twice its deviation: 2 · 50 < 200.
        assert_eq!(timeout([50], 10.0), 250.0);
        assert_eq!(timeout([300], 10.0), 900.0);
        assert_eq!(timeout([50; 100], 2.0), 250.0);
    }

    #[test]
    fn a_round_trip_above_the_average_raises_the_deviation_by_a_quarter() {
        // 50, then 850: SRTT 50 + 800/8 = 150; deviations 100 + (800 − 25) = 875.
        assert_eq!(timeout([50, 850], 10.0), 1025.0);
    }

    #[test]
    fn a_round_trip_below_the_average_has_an_eighth_of_the_weight() {
        // 850, then 50: SRTT 750; deviations 1700 + (800 − 425)/8 = 1746.875.
        assert_eq!(timeout([850, 50], 10.0), 2496.875);
    }

    #[test]
    fn the_variation_decreases_by_a_quarter_of_the_difference_per_round_trip() {
        // One sample per round trip. After 300 ms: variation 600. The next sample leaves SRTT and makes
        // the deviations 600 − 150 = 450; the largest of the first round trip is 600.
        assert_eq!(timeout([300, 300], 2.0), 300.0 + 600.0 - 150.0 / 4.0);
    }
}
