//! Congestion signals of a round trip, and the short-term bounds that follow from them
//! (draft-ietf-ccwg-bbr-06, section 5.5.10.3).

use crate::parts::control::DeliveryRate;

/// Share of a bound that a round trip with congestion leaves at least (BBR.Beta).
pub(super) const BETA: f64 = 0.7;

/// Signs of congestion in a round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// Whether segments were lost (BBR.is_loss_in_round).
    pub(super) lost: bool,
    /// Whether an acknowledgement reported a mark of ECN.
    pub(super) marked: bool,
}

/// What the present round trip delivers, and whether it shows congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Signals {
    /// Maximum rate of the round trip (BBR.bw_latest).
    bandwidth: f64,
    /// Maximum number of segments delivered in a round trip (BBR.inflight_latest).
    inflight: f64,
    /// Segments delivered when the round trip ends (BBR.loss_round_delivered).
    ends_at: u64,
    /// Whether the present acknowledgement begins a round trip (BBR.loss_round_start).
    pub(super) round_start: bool,
    signs: Signs,
}

impl Signals {
    /// Takes the rate that an acknowledgement shows, with `delivered` segments in all.
    pub(super) fn on_rate(&mut self, rate: Option<&DeliveryRate>, delivered: u64) {
        self.round_start = false;
        let Some(rate) = rate else { return };
        self.bandwidth = self.bandwidth.max(rate.per_second());
        self.inflight = self.inflight.max(rate.delivered as f64);
        if rate.sent.delivered >= self.ends_at {
            self.ends_at = delivered;
            self.round_start = true;
        }
    }

    /// Records a loss, when `delivered` segments are delivered in all. Returns whether it is the first sign
    /// of congestion in the round trip.
    pub(super) fn note_loss(&mut self, delivered: u64) -> bool {
        let first = self.begin_if_first(delivered);
        self.signs.lost = true;
        first
    }

    /// Records a mark of ECN, as [`Self::note_loss`] does a loss.
    pub(super) fn note_mark(&mut self, delivered: u64) -> bool {
        let first = self.begin_if_first(delivered);
        self.signs.marked = true;
        first
    }

    /// Lets the round trip end when all is decided that is in flight at its first sign of congestion.
    fn begin_if_first(&mut self, delivered: u64) -> bool {
        let first = self.signs == Signs::default();
        if first {
            self.ends_at = delivered;
        }
        first
    }

    /// Returns the signs of the round trip that ends, and begins the next one.
    pub(super) fn take_signs(&mut self) -> Signs {
        std::mem::take(&mut self.signs)
    }

    /// Ends the processing of an acknowledgement: the maxima of a new round trip begin with it.
    pub(super) fn advance(&mut self, rate: Option<&DeliveryRate>) {
        if let Some(rate) = rate.filter(|_| self.round_start) {
            self.bandwidth = rate.per_second();
            self.inflight = rate.delivered as f64;
        }
    }

    /// Discards the signals (ResetCongestionSignals).
    pub(super) fn reset(&mut self) {
        self.signs = Signs::default();
        self.bandwidth = 0.0;
        self.inflight = 0.0;
    }

    /// Returns the maximum number of segments delivered in a round trip.
    pub(super) fn inflight(&self) -> f64 {
        self.inflight
    }

    /// Converts to smaller segments, of which `ratio` fit into a previous one.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.bandwidth *= ratio;
        self.inflight *= ratio;
    }
}

/// The short-term model: bounds of the rate and of what is in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// Segments per second (BBR.bw_shortterm).
    pub(super) bandwidth: f64,
    /// Segments (BBR.inflight_shortterm).
    pub(super) inflight: f64,
}

impl Bounds {
    /// No bounds.
    pub(super) const NONE: Self = Self { bandwidth: f64::INFINITY, inflight: f64::INFINITY };

    /// Lowers the bounds after a round trip with congestion, towards what was delivered in it. The first
    /// ones are `bandwidth` and `cwnd`.
    pub(super) fn lower(&mut self, latest: &Signals, bandwidth: f64, cwnd: f64) {
        let before = Self {
            bandwidth: if self.bandwidth.is_finite() { self.bandwidth } else { bandwidth },
            inflight: if self.inflight.is_finite() { self.inflight } else { cwnd },
        };
        self.bandwidth = latest.bandwidth.max(BETA * before.bandwidth);
        self.inflight = latest.inflight.max(BETA * before.inflight);
    }

    /// Raises the bounds to at least `before`.
    pub(super) fn raise_to(&mut self, before: &Self) {
        self.bandwidth = self.bandwidth.max(before.bandwidth);
        self.inflight = self.inflight.max(before.inflight);
    }

    /// Converts to smaller segments, of which `ratio` fit into a previous one.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.bandwidth *= ratio;
        self.inflight *= ratio;
    }
}
