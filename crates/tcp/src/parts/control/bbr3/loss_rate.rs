//! Losses of a round trip, and when they are too many (draft-ietf-ccwg-bbr-06, section 5.5.10.2).

use crate::parameter::{Parameter, choice, settings};
use crate::parts::control::{LostSegment, PathSample};

/// Share of the segments in flight that may be lost (BBR.LossThresh).
pub(super) const LOSS_THRESHOLD: f64 = 0.02;

/// Standard deviations by which the losses of a round trip exceed the expected ones before they are
/// significant.
const SIGNIFICANT_DEVIATIONS: f64 = 2.0;

choice! {
    /// Which losses are a sign of congestion. A round trip is a small sample: on a path that loses 1 % at
    /// random, one of 30 segments in flight is often lost.
    Losses {
        /// As in the draft: any outside a probe, and more than 2 % in a probe.
        Draft = "draft",
        /// More than a path that loses 2 % at random shows in all but a few round trips.
        Significant = "significant",
    }
}

const LOSSES: Parameter = Parameter::choice(
    "losses",
    Losses::NAMES,
    "losses of a round trip that are a sign of congestion",
    "draft-ietf-ccwg-bbr-06, sections 5.5.10.2 and 5.5.10.3; significant: our own",
);

settings! {
    /// Tunable parameters.
    "bbr3" Settings {
        losses: Losses = LOSSES,
    }
}

settings! {
    /// Tunable parameters beside a detector that confirms losses.
    "bbr3" ConfirmedSettings {
        losses: Losses = Parameter { default: Losses::Significant as u8 as f64, ..LOSSES },
    }
}

impl Losses {
    /// Returns whether a round trip with these losses, in which the sender did not look for bandwidth, shows
    /// congestion.
    pub(super) fn show_congestion(self, rate: Option<LossRate>) -> bool {
        match self {
            Self::Significant => rate.is_some_and(|rate| self.are_too_high(rate)),
            Self::Draft => true,
        }
    }

    /// Returns whether more was in flight than the path holds (IsInflightTooHigh).
    pub(super) fn are_too_high(self, rate: LossRate) -> bool {
        self.excess(rate) > 0.0
    }

    /// Returns how many more segments were lost than are tolerated.
    pub(super) fn excess(self, rate: LossRate) -> f64 {
        let expected = LOSS_THRESHOLD * rate.in_flight;
        let margin = match self {
            // The number of losses has a Poisson distribution, whose variance is its mean.
            Self::Significant => SIGNIFICANT_DEVIATIONS * expected.sqrt(),
            Self::Draft => 0.0,
        };
        rate.lost - expected - margin
    }
}

/// Losses among what was in flight when a segment was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LossRate {
    in_flight: f64,
    lost: f64,
}

impl LossRate {
    /// Returns the losses among `in_flight` segments, if `lost` segments were lost in the time in which
    /// `delivered` were delivered.
    ///
    /// A detector that waits for late segments can take several round trips for its verdict. The losses of
    /// all of them count for one.
    fn new(in_flight: u32, lost: u64, delivered: u64) -> Self {
        let (in_flight, lost) = (f64::from(in_flight), lost as f64);
        let decided = lost + delivered as f64;
        let scale = if decided > in_flight { in_flight / decided } else { 1.0 };
        Self { in_flight, lost: lost * scale }
    }

    /// Returns the losses since a lost segment was sent.
    pub(super) fn of_lost(lost: &LostSegment) -> Self {
        let sent = &lost.sent;
        let delivered = lost.delivered_total.saturating_sub(sent.delivered);
        Self::new(sent.in_flight, lost.lost_total.saturating_sub(sent.lost), delivered)
    }

    /// Returns the losses since the segment was sent whose delivery an acknowledgement shows.
    pub(super) fn of_sample(sample: &PathSample) -> Option<Self> {
        let rate = sample.rate.as_ref()?;
        Some(Self::new(rate.sent.in_flight, rate.lost, rate.delivered))
    }

    /// Returns how much was in flight when the losses crossed the threshold (InflightAtLoss).
    pub(super) fn in_flight_at_threshold(&self) -> f64 {
        let before = self.in_flight - 1.0;
        let lost_before = self.lost - 1.0;
        before + (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_a_hundred_may_be_lost_and_the_third_shows_where_the_threshold_is() {
        assert!(!Losses::Draft.are_too_high(LossRate::new(100, 2, 98)));
        let rate = LossRate::new(100, 3, 97);
        assert!(Losses::Draft.are_too_high(rate));
        // 99 segments with two losses before it, and (0.02 · 99 − 2)/0.98 of this one.
        let expected = 99.0 + (1.98 - 2.0) / 0.98;
        assert!((rate.in_flight_at_threshold() - expected).abs() < 1e-9);
    }

    #[test]
    fn losses_are_significant_beyond_two_standard_deviations() {
        // Of 100, 2 + 2 · 1.41 = 4.83 may be lost; of 10, 1.09; of 10 000, 228.3.
        for (in_flight, tolerated) in [(100, 4), (10, 1), (10_000, 228)] {
            let rate = |lost| LossRate::new(in_flight, lost, u64::from(in_flight) - lost);
            assert!(!Losses::Significant.are_too_high(rate(tolerated)), "{in_flight}");
            assert!(Losses::Significant.are_too_high(rate(tolerated + 1)), "{in_flight}");
        }
    }

    #[test]
    fn losses_of_five_round_trips_count_for_one() {
        // One of a hundred is lost in each of five round trips, before the verdict on the first.
        assert!(!Losses::Draft.are_too_high(LossRate::new(100, 5, 495)));
        assert!(Losses::Draft.are_too_high(LossRate::new(100, 15, 485)));
    }
}
