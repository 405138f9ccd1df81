//! The long-term bound of what is in flight (draft-ietf-ccwg-bbr-06, sections 5.3.3.4 and 5.5.10.2).
//!
//! A probe for bandwidth that loses too much sets it, and one that does not raises it.

/// Share of the bound that is left to others (BBR.Headroom).
const HEADROOM: f64 = 0.15;

/// Maximum number of times that the slope of the growth doubles.
const MAX_DOUBLINGS: u32 = 30;

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
