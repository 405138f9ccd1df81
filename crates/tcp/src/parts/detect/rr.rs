//! RR-TCP (Zhang, Karp, Floyd, Peterson). A histogram of reordering lengths sets the duplicate
//! threshold so that a chosen share of reordering events, the FA ratio, causes no spurious fast
//! retransmit (section 4.2). Estimated costs adapt that share (section 4.3).

use std::borrow::Cow;

use unruffled_units::Duration;

use super::rr_history::History;
use super::{
    AckFacts, Detector, Idle, LossDetector, Reordering, Rule, SpuriousFastRetransmit, View, boxed,
    rr_costs,
};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, Variable, maker};

/// k, which bounds limited transmit. The costs depend on it too.
pub(crate) const LIMITED_TRANSMIT: Parameter = Parameter {
    name: "limited_transmit",
    unit: Unit::Windows,
    default: 1.0,
    range: (0.0, 100.0),
    about: "what may be sent beyond the window while a hole is open (k)",
    source: "RR-TCP, table 2",
};

settings! {
    /// Parameters of table 2, except those of the timer.
    "rr" Settings {
        fa_ratio: f64 = Parameter {
            name: "fa_ratio",
            unit: Unit::Fraction,
            default: 0.9,
            range: (0.0, MAX_FA_RATIO),
            about: "share of reordering events to cover; the initial share, if it adapts",
            source: "RR-TCP, table 2",
        },
        min_dupthresh: u32 = Parameter {
            name: "min_dupthresh",
            unit: Unit::Segments,
            default: 3.0,
            range: (1.0, 1e6),
            about: "minimum duplicate threshold",
            source: "RR-TCP, table 2",
        },
        max_dupthresh: u32 = Parameter {
            name: "max_dupthresh",
            unit: Unit::Segments,
            default: 64.0,
            range: (1.0, 1e6),
            about: "maximum duplicate threshold; longer reorderings count as this long",
            source: "RR-TCP, table 2",
        },
        history: Duration = Parameter {
            name: "history",
            unit: Unit::Time,
            default: 80.0,
            range: (0.001, 1e6),
            about: "how long a reordering length counts",
            source: "RR-TCP, table 2",
        },
        step: f64 = Parameter {
            name: "step",
            unit: Unit::Fraction,
            default: 0.01,
            range: (0.0, 1.0),
            about: "S, the step of the FA ratio per spurious fast retransmit (rr-ta only)",
            source: "RR-TCP, section 4.3",
        },
        gain: f64 = Parameter {
            name: "gain",
            unit: Unit::Number,
            default: 0.125,
            range: (0.0, 1.0),
            about: "gain of the average duration of spurious fast retransmits (rr-ta only)",
            source: "RR-TCP, table 2",
        },
        limited_transmit: f64 = LIMITED_TRANSMIT,
    }
}

/// DSACK-FA.
pub(crate) const RR_FA: Kind<Detector> = Kind::new::<Settings>("rr-fa", |values| {
    maker(values, |settings: Settings, _| boxed(Rr::new(settings, false)))
});
/// DSACK-TA.
pub(crate) const RR_TA: Kind<Detector> = Kind::new::<Settings>("rr-ta", |values| {
    maker(values, |settings: Settings, _| boxed(Rr::new(settings, true)))
});

/// Maximum FA ratio. With all of the histogram covered, there would be no events left to adapt to.
const MAX_FA_RATIO: f64 = 0.99;

/// Detector of DSACK-FA and DSACK-TA.
#[derive(Debug)]
pub(crate) struct Rr {
    settings: Settings,
    /// Whether costs adapt the FA ratio (DSACK-TA) or not (DSACK-FA).
    adapt: bool,
    fa_ratio: f64,
    history: History,
    dupthresh: u32,
    /// D: average time from a spurious fast retransmit to its discovery.
    spurious_duration: Option<Duration>,
}

impl Rr {
    fn new(settings: Settings, adapt: bool) -> Self {
        let max_dupthresh = settings.max_dupthresh.max(settings.min_dupthresh);
        let settings = Settings { max_dupthresh, ..settings };
        Self {
            adapt,
            fa_ratio: settings.fa_ratio,
            history: History::new(settings.history, max_dupthresh),
            dupthresh: settings.min_dupthresh,
            spurious_duration: None,
            settings,
        }
    }

    fn set_dupthresh(&mut self) {
        let p = &self.settings;
        self.dupthresh = match self.history.percentile(self.fa_ratio) {
            Some(length) => (length + 1).clamp(p.min_dupthresh, p.max_dupthresh),
            None => p.min_dupthresh,
        };
    }

    fn shift_fa_ratio(&mut self, by: f64) {
        if self.adapt && by.is_finite() {
            self.fa_ratio = (self.fa_ratio + by).clamp(0.0, MAX_FA_RATIO);
            self.set_dupthresh();
        }
    }

    fn spurious_fast_retransmit_cost(&self, view: &View) -> Option<f64> {
        let rtt = view.srtt?;
        let lasted = self.spurious_duration.unwrap_or(rtt);
        Some(rr_costs::spurious_fast_retransmit(view.cwnd, lasted, rtt))
    }
}

impl LossDetector for Rr {
    fn about(&self) -> Cow<'static, str> {
        match self.adapt {
            false => "dupthresh from a histogram of reordering lengths".into(),
            true => "dupthresh from a histogram of reordering lengths, FA ratio from costs".into(),
        }
    }

    fn rule(&self, _view: &View) -> Rule {
        Rule::dupthresh(self.dupthresh)
    }

    fn dupthresh(&self) -> Option<u32> {
        Some(self.dupthresh)
    }

    fn variables(&self, _view: &View, show: &mut dyn FnMut(Variable)) {
        show(Variable::fraction("fa_ratio", self.fa_ratio));
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

    fn on_spurious_fast_retransmit(&mut self, found: SpuriousFastRetransmit, _view: &View) {
        let gain = self.settings.gain;
        self.spurious_duration = Some(match self.spurious_duration {
            Some(average) => average.mul_f64(1.0 - gain) + found.lasted.mul_f64(gain),
            None => found.lasted,
        });
        self.shift_fa_ratio(self.settings.step);
    }

    fn on_timeout(&mut self, _first: bool, view: &View) {
        if let (Some(rtt), Some(ffr)) = (view.srtt, self.spurious_fast_retransmit_cost(view)) {
            let cost = rr_costs::timeout(view.cwnd, view.rto, rtt, self.settings.limited_transmit);
            self.shift_fa_ratio(-self.settings.step * cost.max(0.0) / ffr);
        }
    }

    fn on_idle(&mut self, idle: Idle, view: &View) {
        if let (Some(rtt), Some(ffr)) = (view.srtt, self.spurious_fast_retransmit_cost(view)) {
            let cost = rr_costs::limited_transmit(view.cwnd, idle.duration, rtt, idle.dupacks);
            if cost > ffr {
                self.shift_fa_ratio(-self.settings.step * cost / ffr);
            }
        }
    }
}
