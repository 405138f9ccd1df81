//! RR-TCP (Zhang, Karp, Floyd, Peterson): a histogram of reordering lengths sets the duplicate
//! threshold so that a chosen share of reordering events, the FA ratio, causes no false fast
//! retransmit (section 4.2); costs move that share (section 4.3).

use unruffled_units::Duration;

use super::rr_history::History;
use super::{AckFacts, FalseFastRetransmit, Idle, LossDetector, Reordering, Rule, View, rr_costs};
use crate::parameter::{Parameter, Unit, Values};
use crate::sender::RESTORE;

/// The parameters of Table 2.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RrParameters {
    /// Share of reordering events to ride out; where it starts, if it adapts.
    fa_ratio: f64,
    /// Whether costs adapt it (DSACK-TA) or not (DSACK-FA).
    adapt: bool,
    /// Bounds of the duplicate threshold, in segments.
    min_dupthresh: u32,
    max_dupthresh: u32,
    /// S: the step of the FA ratio.
    step: f64,
    /// Gain of the average duration of false fast retransmits.
    gain: f64,
    /// k: limited transmit's bound in windows, as the costs count it.
    limited_transmit: f64,
}

/// What can be set of `rr-fa` and `rr-ta`.
pub(crate) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "fa_ratio",
        unit: Unit::Fraction,
        default: 0.9,
        range: (0.0, MAX_FA_RATIO),
        about: "share of reordering events to ride out; where it starts, if it adapts",
        source: "RR-TCP, table 2",
    },
    Parameter {
        name: "min_dupthresh",
        unit: Unit::Segments,
        default: 3.0,
        range: (1.0, 1e6),
        about: "least duplicate threshold",
        source: "RR-TCP, table 2",
    },
    Parameter {
        name: "max_dupthresh",
        unit: Unit::Segments,
        default: 64.0,
        range: (1.0, 1e6),
        about: "greatest duplicate threshold; longer reorderings count as this long",
        source: "RR-TCP, table 2",
    },
    Parameter {
        name: "history",
        unit: Unit::Time,
        default: 80.0,
        range: (0.001, 1e6),
        about: "how long a reordering length counts",
        source: "RR-TCP, table 2",
    },
    Parameter {
        name: "step",
        unit: Unit::Fraction,
        default: 0.01,
        range: (0.0, 1.0),
        about: "S, the step of the FA ratio per false fast retransmit (rr-ta only)",
        source: "RR-TCP, section 4.3",
    },
    Parameter {
        name: "gain",
        unit: Unit::Number,
        default: 0.125,
        range: (0.0, 1.0),
        about: "gain of the average duration of false fast retransmits (rr-ta only)",
        source: "RR-TCP, table 2",
    },
    Parameter {
        name: "limited_transmit",
        unit: Unit::Windows,
        default: 1.0,
        range: (0.0, 100.0),
        about: "what may be sent beyond the window while a hole waits (k)",
        source: "RR-TCP, table 2",
    },
    Parameter {
        name: "rtt_percentile",
        unit: Unit::Fraction,
        default: 0.998,
        range: (0.0, 1.0),
        about: "share of the round-trip times that the timeout covers",
        source: "RR-TCP, table 2",
    },
    RESTORE,
];

/// The FA ratio's upper end: with all of the histogram no share would be left to learn from.
const MAX_FA_RATIO: f64 = 0.99;

/// DSACK-FA and DSACK-TA.
#[derive(Debug)]
pub(crate) struct Rr {
    parameters: RrParameters,
    fa_ratio: f64,
    history: History,
    dupthresh: u32,
    /// D: average time from a false fast retransmit to its discovery.
    false_duration: Option<Duration>,
}

impl Rr {
    /// DSACK-FA.
    pub(crate) fn fixed(values: &Values<'_>) -> Box<dyn LossDetector> {
        Box::new(Self::new(values, false))
    }

    /// DSACK-TA.
    pub(crate) fn adaptive(values: &Values<'_>) -> Box<dyn LossDetector> {
        Box::new(Self::new(values, true))
    }

    fn new(values: &Values<'_>, adapt: bool) -> Self {
        let min_dupthresh = values.segments("min_dupthresh");
        let parameters = RrParameters {
            fa_ratio: values.get("fa_ratio"),
            adapt,
            min_dupthresh,
            max_dupthresh: values.segments("max_dupthresh").max(min_dupthresh),
            step: values.get("step"),
            gain: values.get("gain"),
            limited_transmit: values.get("limited_transmit"),
        };
        Self {
            fa_ratio: parameters.fa_ratio,
            history: History::new(values.time("history"), parameters.max_dupthresh),
            dupthresh: parameters.min_dupthresh,
            false_duration: None,
            parameters,
        }
    }

    fn set_dupthresh(&mut self) {
        let p = &self.parameters;
        self.dupthresh = match self.history.percentile(self.fa_ratio) {
            Some(length) => (length + 1).clamp(p.min_dupthresh, p.max_dupthresh),
            None => p.min_dupthresh,
        };
    }

    fn shift_fa_ratio(&mut self, by: f64) {
        if self.parameters.adapt && by.is_finite() {
            self.fa_ratio = (self.fa_ratio + by).clamp(0.0, MAX_FA_RATIO);
            self.set_dupthresh();
        }
    }

    fn false_fast_retransmit_cost(&self, view: &View) -> Option<f64> {
        let rtt = view.srtt?;
        let lasted = self.false_duration.unwrap_or(rtt);
        Some(rr_costs::false_fast_retransmit(view.cwnd, lasted, rtt))
    }
}

impl LossDetector for Rr {
    fn rule(&self, _view: &View) -> Rule {
        Rule::dupthresh(self.dupthresh)
    }

    fn dupthresh(&self) -> Option<u32> {
        Some(self.dupthresh)
    }

    fn fa_ratio(&self) -> Option<f64> {
        Some(self.fa_ratio)
    }

    fn on_ack(&mut self, _facts: &AckFacts, view: &View) {
        if self.history.expire(view.now) {
            self.set_dupthresh();
        }
    }

    fn on_reordering(&mut self, sample: Reordering, view: &View) {
        self.history.add(sample.length, view.now);
        self.set_dupthresh();
    }

    fn on_false_fast_retransmit(&mut self, found: FalseFastRetransmit, _view: &View) {
        let gain = self.parameters.gain;
        self.false_duration = Some(match self.false_duration {
            Some(average) => average.mul_f64(1.0 - gain) + found.lasted.mul_f64(gain),
            None => found.lasted,
        });
        self.shift_fa_ratio(self.parameters.step);
    }

    fn on_timeout(&mut self, _first: bool, view: &View) {
        if let (Some(rtt), Some(ffr)) = (view.srtt, self.false_fast_retransmit_cost(view)) {
            let cost =
                rr_costs::timeout(view.cwnd, view.rto, rtt, self.parameters.limited_transmit);
            self.shift_fa_ratio(-self.parameters.step * cost.max(0.0) / ffr);
        }
    }

    fn on_idle(&mut self, idle: Idle, view: &View) {
        if let (Some(rtt), Some(ffr)) = (view.srtt, self.false_fast_retransmit_cost(view)) {
            let cost = rr_costs::limited_transmit(view.cwnd, idle.duration, rtt, idle.dupacks);
            if cost > ffr {
                self.shift_fa_ratio(-self.parameters.step * cost / ffr);
            }
        }
    }
}
