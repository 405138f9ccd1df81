//! Whether others queue in the path: packets that wait longer than the sender's own, which are in
//! flight before them, account for.

use unruffled_units::Duration;

use crate::lateness::Spans;

/// A packet has waited if its round trip is longer than the minimum by this share of it, and by
/// [`BLUR`].
const QUEUED: f64 = 0.1;

/// Clocks and hosts blur round trips by as much.
const BLUR: Duration = Duration::from_millis(1);

/// What is in flight leaves the path at this share of its rate, or less, if others are in between.
const SLOWER: f64 = 1.5;

/// Fewer packets than this say nothing.
const ENOUGH: u64 = 50;

/// Packets in order, of which the receiver told at once, and how long they waited.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowding {
    packets: u64,
    /// Of those that have waited: the time for each segment that was in flight.
    each: Spans,
}

impl Crowding {
    /// A packet arrives in order after `rtt`, of which `least` is the minimum, with so many segments
    /// in flight when it was sent, itself among them.
    pub(crate) fn arrive(&mut self, rtt: Duration, least: Duration, segments: u64) {
        self.packets += 1;
        if rtt > least.mul_f64(1.0 + QUEUED) + BLUR {
            self.each.record(rtt / segments.max(1));
        }
    }

    /// The share of the packets that waited for others', on a path that takes `spacing` for one.
    pub(crate) fn share(&self, spacing: Duration) -> Option<f64> {
        let others = self.each.longer(spacing.mul_f64(SLOWER));
        (self.packets >= ENOUGH).then(|| others as f64 / self.packets as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_packet_that_waits_for_more_than_its_own_senders_waits_for_others() {
        let mut crowding = Crowding::default();
        // On a path that takes 1 ms for a packet, 40 of its own make 40 ms.
        (0..100).for_each(|_| crowding.arrive(ms(40), ms(20), 40));
        assert_eq!(crowding.share(ms(1)), Some(0.0));
        (0..100).for_each(|_| crowding.arrive(ms(40), ms(20), 10));
        assert_eq!(crowding.share(ms(1)), Some(0.5));
        (0..200).for_each(|_| crowding.arrive(ms(20), ms(20), 1));
        assert_eq!(crowding.share(ms(1)), Some(0.25));
    }
}
