//! The long-term bound of what is in flight (draft-ietf-ccwg-bbr-06, sections 5.3.3.4 and 5.5.10.2).
//!
//! A probe for bandwidth that loses too much sets it, and one that does not raises it.

use crate::parts::control::{LostSegment, PathSample};

/// Share of the segments in flight that may be lost (BBR.LossThresh).
pub(super) const LOSS_THRESHOLD: f64 = 0.02;

/// Share of the bound that is left to others (BBR.Headroom).
const HEADROOM: f64 = 0.15;

/// Maximum number of times that the slope of the growth doubles.
const MAX_DOUBLINGS: u32 = 30;

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

    /// Returns whether more was in flight than the path holds (IsInflightTooHigh).
    pub(super) fn is_too_high(&self) -> bool {
        self.lost > LOSS_THRESHOLD * self.in_flight
    }

    /// Returns how much was in flight when the losses crossed the threshold (InflightAtLoss).
    pub(super) fn in_flight_at_threshold(&self) -> f64 {
        let before = self.in_flight - 1.0;
        let lost_before = self.lost - 1.0;
        before + (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD)
    }
}

/// The bound, and its growth while the sender probes for bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LongTerm {
    /// Segments (BBR.inflight_longterm).
    pub(super) bound: f64,
    /// Segments to be acknowledged for one more segment (BBR.probe_up_acked_per_inc).
    acked_per_segment: f64,
    /// Segments acknowledged since the last increase (BBR.bw_probe_up_acked).
    acked: f64,
    /// Doublings of the slope (BBR.bw_probe_up_rounds).
    doublings: u32,
}

impl Default for LongTerm {
    fn default() -> Self {
        Self { bound: f64::INFINITY, acked_per_segment: f64::INFINITY, acked: 0.0, doublings: 0 }
    }
}

impl LongTerm {
    /// Returns the bound, with headroom for others.
    pub(super) fn with_headroom(&self) -> f64 {
        if self.bound.is_infinite() {
            return self.bound;
        }
        self.bound - (HEADROOM * self.bound).max(1.0)
    }

    /// Prepares for a probe.
    pub(super) fn begin_probe(&mut self) {
        self.acked = 0.0;
        self.doublings = 0;
    }

    /// Ends the growth.
    pub(super) fn end_probe(&mut self) {
        self.acked_per_segment = f64::INFINITY;
    }

    /// Doubles the growth in a round trip (RaiseInflightLongtermSlope).
    pub(super) fn raise_slope(&mut self, cwnd: f64) {
        let growth = f64::from(1_u32 << self.doublings);
        self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
        self.acked_per_segment = (cwnd / growth).max(1.0);
    }

    /// Grows by `delivered` acknowledged segments (ProbeInflightLongtermUpward).
    pub(super) fn grow(&mut self, delivered: u32) {
        self.acked += f64::from(delivered);
        if self.acked >= self.acked_per_segment {
            let more = (self.acked / self.acked_per_segment).floor();
            self.acked -= more * self.acked_per_segment;
            self.bound += more;
        }
    }

    /// Converts to smaller segments, of which `ratio` fit into a previous one.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.bound *= ratio;
        self.acked *= ratio;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_a_hundred_may_be_lost_and_the_third_shows_where_the_threshold_is() {
        assert!(!LossRate::new(100, 2, 98).is_too_high());
        let rate = LossRate::new(100, 3, 97);
        assert!(rate.is_too_high());
        // 99 segments with two losses before it, and (0.02 · 99 − 2)/0.98 of this one.
        let expected = 99.0 + (1.98 - 2.0) / 0.98;
        assert!((rate.in_flight_at_threshold() - expected).abs() < 1e-9);
    }

    #[test]
    fn losses_of_five_round_trips_count_for_one() {
        // One of a hundred is lost in each of five round trips, before the verdict on the first.
        assert!(!LossRate::new(100, 5, 495).is_too_high());
        assert!(LossRate::new(100, 15, 485).is_too_high());
    }

    #[test]
    fn the_growth_doubles_in_each_round_trip() {
        let mut bound = LongTerm { bound: 100.0, ..LongTerm::default() };
        bound.grow(1000);
        assert_eq!(bound.bound, 100.0, "no probe");
        bound.begin_probe();
        let mut growth = Vec::new();
        for _ in 0..5 {
            bound.raise_slope(100.0);
            let before = bound.bound;
            (0..100).for_each(|_| bound.grow(1));
            growth.push(bound.bound - before);
        }
        assert_eq!(growth, [1.0, 2.0, 4.0, 8.0, 16.0]);
        assert_eq!(bound.with_headroom(), 131.0 - 19.65);
        assert_eq!(LongTerm::default().with_headroom(), f64::INFINITY);
    }
}
