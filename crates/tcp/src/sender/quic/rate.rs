//! The rate of delivery, sampled as ngtcp2 0.12.1 does it (`lib/ngtcp2_rst.c`).
//!
//! The method is that of draft-cheng-iccrg-delivery-rate-estimation. The state of a sample stays until a
//! packet that was sent after more deliveries is acknowledged. Late packets count meanwhile, over an interval
//! that ended before: where many are late, the rate exceeds what the path carries.

use unruffled_units::{Duration, Instant};

/// What was known when a packet was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    /// Octets delivered, and when the last of them were.
    delivered: u64,
    delivered_at: Instant,
    /// When the packet was sent whose acknowledgement began the interval.
    first_sent: Instant,
}

/// The state of the estimate.
#[derive(Debug, Default)]
pub(super) struct Rate {
    now: Before,
    /// State of the present sample.
    prior_delivered: u64,
    interval: Option<Duration>,
}

impl Rate {
    /// Returns what is to be kept with a packet that is sent at `now`; `idle`: nothing is in flight.
    pub(super) fn on_sent(&mut self, idle: bool, now: Instant) -> Before {
        if idle {
            self.now.first_sent = now;
            self.now.delivered_at = now;
        }
        self.now
    }

    /// Takes the acknowledgement of a packet of `len` octets, sent at `sent`.
    pub(super) fn on_acknowledged(
        &mut self,
        before: &Before,
        len: u32,
        sent: Instant,
        now: Instant,
    ) {
        self.now.delivered += u64::from(len);
        self.now.delivered_at = now;
        if before.delivered > self.prior_delivered {
            self.prior_delivered = before.delivered;
            let sending = sent.since(before.first_sent);
            self.interval = Some(sending.max(now.since(before.delivered_at)));
            self.now.first_sent = sent;
        }
    }

    /// Returns the rate, in octets per second, if the sample is at least as long as the minimum round trip.
    pub(super) fn sample(&self, min_rtt: Option<Duration>) -> Option<f64> {
        let interval = self.interval.filter(|&interval| Some(interval) >= min_rtt)?;
        let octets = self.now.delivered - self.prior_delivered;
        (interval > Duration::ZERO).then(|| octets as f64 / interval.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    const MIN_RTT: Option<Duration> = Some(Duration::from_millis(50));

    /// Ten packets of 1000 octets leave at 0 ms and are acknowledged from 50 ms on, one each millisecond.
    #[test]
    fn a_late_packet_counts_over_the_interval_of_an_earlier_one() {
        let mut rate = Rate::default();
        let first: Vec<Before> = (0..10).map(|n| rate.on_sent(n == 0, at(0))).collect();
        for n in 0..9 {
            rate.on_acknowledged(&first[n as usize], 1000, at(0), at(50 + n));
        }
        assert_eq!(rate.sample(MIN_RTT), None, "nothing had been delivered before they were sent");
        // Sent at 58 ms, when 9000 octets were delivered, and acknowledged at 108 ms: 1000 octets in 58 ms,
        // which is the time since the packet was sent that began the interval.
        let second = rate.on_sent(false, at(58));
        rate.on_acknowledged(&second, 1000, at(58), at(108));
        let expected = 1000.0 / 0.058;
        assert!((rate.sample(MIN_RTT).expect("a sample") - expected).abs() < 1e-6);
        // The tenth is late: 2000 octets, and still 58 ms.
        rate.on_acknowledged(&first[9], 1000, at(0), at(150));
        assert!((rate.sample(MIN_RTT).expect("a sample") - 2.0 * expected).abs() < 1e-6);
    }

    #[test]
    fn a_sample_shorter_than_the_minimum_round_trip_does_not_count() {
        let mut rate = Rate::default();
        let first = rate.on_sent(true, at(0));
        rate.on_acknowledged(&first, 1000, at(0), at(50));
        let second = rate.on_sent(true, at(60));
        rate.on_acknowledged(&second, 1000, at(60), at(100));
        assert_eq!(rate.sample(MIN_RTT), None, "40 ms");
        assert_eq!(rate.sample(Some(Duration::from_millis(40))), Some(25_000.0));
    }
}
