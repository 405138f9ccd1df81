//! Cross traffic on the path: packets that queue longer than the sender's own data in flight explains.

use unruffled_units::Duration;

use crate::histogram::DurationHistogram;

/// Smallest excess of a packet's round trip over the minimum, as a share of the minimum, for the
/// packet to count as queued. [`TIMING_NOISE`] comes on top.
const MIN_QUEUEING_SHARE: f64 = 0.1;

/// Variation of round trips that clocks and hosts cause.
const TIMING_NOISE: Duration = Duration::from_millis(1);

/// Smallest ratio of the time per segment in flight to the path's time per segment, for other
/// traffic to be in between.
const MIN_SLOWDOWN: f64 = 1.5;

/// Packets below which no share is reported.
const MIN_PACKETS: u64 = 50;

/// Queueing of packets that arrived in order and were acknowledged at once.
#[derive(Clone, Debug, Default)]
pub(super) struct CrossTraffic {
    packets: u64,
    /// For packets that queued: the round trip divided by the segments in flight.
    time_per_segment: DurationHistogram,
}

impl CrossTraffic {
    /// Records the round trip of a packet that arrived in order.
    ///
    /// `min_rtt` is the minimum so far, and `segments` the number in flight when it was sent, itself
    /// included.
    pub(super) fn record(&mut self, rtt: Duration, min_rtt: Duration, segments: u64) {
        self.packets += 1;
        if rtt > min_rtt.mul_f64(1.0 + MIN_QUEUEING_SHARE) + TIMING_NOISE {
            self.time_per_segment.record(rtt / segments.max(1));
        }
    }

    /// Returns the share of the packets that queued behind other traffic, on a path that takes
    /// `spacing` for a segment.
    pub(super) fn share(&self, spacing: Duration) -> Option<f64> {
        let queued = self.time_per_segment.count_above(spacing.mul_f64(MIN_SLOWDOWN));
        (self.packets >= MIN_PACKETS).then(|| queued as f64 / self.packets as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn queueing_that_the_own_flight_does_not_explain_is_cross_traffic() {
        let mut cross_traffic = CrossTraffic::default();
        // On a path that takes 1 ms for a packet, 40 packets of the flow itself take 40 ms.
        (0..100).for_each(|_| cross_traffic.record(ms(40), ms(20), 40));
        assert_eq!(cross_traffic.share(ms(1)), Some(0.0));
        (0..100).for_each(|_| cross_traffic.record(ms(40), ms(20), 10));
        assert_eq!(cross_traffic.share(ms(1)), Some(0.5));
        (0..200).for_each(|_| cross_traffic.record(ms(20), ms(20), 1));
        assert_eq!(cross_traffic.share(ms(1)), Some(0.25));
    }
}
