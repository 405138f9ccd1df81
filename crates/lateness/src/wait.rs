//! How long to wait for a late packet, on behalf of a sender that takes it for lost.

use unruffled_units::Duration;

use crate::Lateness;

/// Cost of a packet that comes too late where lateness is common, in round trips. The sender takes it for lost and
/// halves its window. Reno, with a window of W segments, grows back in W/2 round trips and sends W²/8 segments
/// less meanwhile, which takes W/8 round trips: ten for a window of 80.
const TOO_LATE_ROUND_TRIPS: f64 = 10.0;

/// Share of late packets from which on lateness is common: one of the first two round trips of a connection,
/// of ten packets and of twenty, most likely is late.
const COMMON_SHARE: f64 = 1.0 / 30.0;

/// Number of late packets from which on their share is known well enough.
const COMMON_SAMPLES: f64 = 8.0;

impl Lateness {
    /// Returns whether late packets are so frequent that every transfer of some length meets them.
    pub fn is_common(&self) -> bool {
        let (samples, late) = (f64::from(self.samples()), f64::from(self.late_samples()));
        late >= COMMON_SHARE * samples && late >= COMMON_SAMPLES
    }

    /// Returns the time, at most `longest`, for which it pays to hold packets behind one that is missing, on a
    /// path of this `round_trip`. It is zero where it does not pay.
    ///
    /// Where lateness is rare, a flow stands still while it waits for a late packet, and a sender withstands
    /// what is late by less than a round trip (RACK). Where lateness is common, the hold makes the round trip R
    /// longer. A sender's throughput is as 1/(R·√p) (Mathis et al. 1997): the hold pays if it makes R grow less
    /// than the late packets would make √p grow.
    pub fn worthwhile_wait(&self, round_trip: Duration, longest: Duration) -> Duration {
        if !self.is_common() {
            return self.cheapest_wait(round_trip, longest, true);
        }
        let beyond = round_trip.mul_f64(TOO_LATE_ROUND_TRIPS);
        let wait = self.cheapest_wait(beyond, longest, false);
        let longer = (round_trip + wait).ratio(round_trip);
        let lost = f64::from(self.losses()) + 1.0;
        let more_losses = (lost + f64::from(self.late_samples())) / lost;
        if longer < libm::sqrt(more_losses) { wait } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use unruffled_units::Instant;

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn of(in_order: u32, late: u32, lost: u32) -> Lateness {
        let mut lateness = Lateness::new(MS(3000), 0.01, 1.0);
        (0..in_order).for_each(|_| lateness.in_order());
        (0..late).for_each(|_| lateness.late(MS(200)));
        (0..lost).for_each(|_| lateness.lost());
        lateness.refresh(Instant::from_millis(10));
        lateness
    }

    #[test]
    fn rare_lateness_beyond_a_round_trip_is_not_waited_for() {
        let rare = of(1000, 10, 0);
        assert!(!rare.is_common());
        assert_eq!(rare.worthwhile_wait(MS(100), MS(1000)), Duration::ZERO);
        // The bin ends at 201.3 ms.
        assert_eq!(rare.worthwhile_wait(MS(210), MS(1000)), MS(200));
    }

    #[test]
    fn common_lateness_is_waited_for_unless_losses_limit_the_sender() {
        // The round trip grows from 100 ms to 300, threefold. With 5 % late, 49 losses of 950 and more mean that
        // the late packets make √p grow by less than that: (50 + 50)/50 is 2, and (6 + 50)/6 is 9.3.
        assert_eq!(of(950, 50, 0).worthwhile_wait(MS(100), MS(1000)), MS(200));
        assert_eq!(of(950, 50, 5).worthwhile_wait(MS(100), MS(1000)), MS(200));
        assert_eq!(
            of(950, 50, 6).worthwhile_wait(MS(100), MS(1000)),
            Duration::ZERO,
            "57/7 is 8.1"
        );
        assert_eq!(of(500, 500, 60).worthwhile_wait(MS(100), MS(1000)), MS(200));
    }
}
