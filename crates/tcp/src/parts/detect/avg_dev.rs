//! AVG-DEV (K.-C. Leung, C. Ma, "Enhancing TCP performance to persistent packet reordering", 2005).
//! The duplicate threshold is the average reordering length of spurious fast retransmits plus a
//! share of the mean deviation. It is bounded so that it should not cause a timeout, and decays
//! after a timeout.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::fixed::DUPTHRESH;
use super::{Detector, LossDetector, Reordering, Rule, SpuriousFastRetransmit, View, boxed};
use crate::parameter::{Parameter, Unit, choice, settings};
use crate::parts::{Kind, maker};

const fn constant(name: &'static str, default: f64, about: &'static str) -> Parameter {
    let range = (0.0, 1.0);
    Parameter { name, unit: Unit::Number, default, range, about, source: "AVG-DEV, table 1" }
}

settings! {
    /// Tunable parameters.
    "avg-dev" Settings {
        alpha: f64 = constant("alpha", 0.3, "weight of the newest reordering length in the average, α in (1)"),
        beta: f64 = constant("beta", 0.3, "weight of the newest error in the mean deviation, β in (3)"),
        lambda: f64 = constant("lambda", 0.3, "share of the mean deviation in the threshold, λ in (4)"),
        gamma: f64 = constant("gamma", 0.7, "share of the timeout that recovery may take, γ in (8)"),
        c1: f64 = constant("c1", 0.5, "share of the average that a timeout leaves, C1 in (13)"),
        c2: f64 = constant("c2", 0.25, "share of the mean deviation that a timeout leaves, C2 in (14)"),
        samples: Samples = Parameter::choice(
            "samples",
            Samples::NAMES,
            "which reordering lengths count: one of each spurious fast retransmit, those that DSACKs \
             report, or all",
            "AVG-DEV, section III-D; abstract; figure 1",
        ),
        bound: Bound = Parameter::choice(
            "bound",
            Bound::NAMES,
            "bound (11): lapses once a segment was late by more than it, or always holds",
            "AVG-DEV, section III-C; figures 3 to 8",
        ),
        trigger: Trigger = Parameter::choice(
            "trigger",
            Trigger::NAMES,
            "which duplicate makes the hole a loss: the one above dupthresh, or that many",
            "AVG-DEV, figure 1; section IV-D and (5)",
        ),
    }
}

/// AVG-DEV's detector.
pub(crate) const AVG_DEV: Kind<Detector> = Kind::new::<Settings>("avg-dev", |values| {
    maker(values, |settings: Settings, _| boxed(AvgDev::new(settings)))
});

choice! {
    /// Reordering lengths that are sampled.
    Samples {
        /// One "when detecting a false fast retransmission" (section III-D).
        SpuriousFastRetransmits = "false-fast-retransmit",
        /// Those "reported by a TCP receiver with the duplicate selective acknowledgement (DSACK)
        /// extension" (abstract).
        ByDsack = "dsack",
        /// "After a reordering event of length N is detected" (figure 1), by any means.
        All = "all",
    }
}
choice! {
    /// How long bound (11) stays in force.
    Bound {
        /// It lapses like the bound of a timeout.
        Lapsing = "lapsing",
        /// It always holds.
        Always = "always",
    }
}
choice! {
    /// Duplicate that causes a loss.
    Trigger {
        /// The first one above the threshold.
        Above = "above",
        /// The one that reaches the threshold.
        At = "at",
    }
}

/// Average and mean deviation of the reordering lengths.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    avg: f64,
    mdev: f64,
}

/// AVG-DEV's detector.
#[derive(Debug)]
pub(crate) struct AvgDev {
    settings: Settings,
    /// `None` before the first reordering event.
    lengths: Option<Lengths>,
    /// Last reordering length.
    newest: u32,
    dupthresh: u32,
    /// Threshold at the last timeout, in (12).
    dupthresh_tmo: Option<u32>,
}

impl AvgDev {
    fn new(settings: Settings) -> Self {
        Self { settings, lengths: None, newest: 0, dupthresh: DUPTHRESH, dupthresh_tmo: None }
    }

    /// Returns bound (11), or `None` if it does not apply. It is zero or less whenever RTO/RTT is
    /// below 2/γ, about 2.86: then no threshold avoids the timeout by this computation, and there
    /// is no bound. There is none either once a segment was late by more than the bound, because
    /// then a threshold as low as that is known to cause spurious fast retransmits. If it always
    /// held, every longer reordering in figures 3 to 8 would cause one from f = 1.2 to 1.7, where
    /// the bound is below one window. The figures show the contrary.
    fn dupthresh_ubf(&self, view: &View) -> Option<u32> {
        let rtt = view.srtt.filter(|rtt| rtt.as_nanos() > 0)?;
        let ratio = view.rto.as_secs_f64() / rtt.as_secs_f64();
        let bound = whole((self.settings.gamma * ratio - 2.0) * view.cwnd);
        let bound = (bound > 0.0).then_some(bound as u32)?;
        (self.settings.bound == Bound::Always || self.newest <= bound).then_some(bound)
    }

    /// Sets the threshold by equations (4) and (12), to at least 3.
    fn set_dupthresh(&mut self, view: &View) {
        let Some(Lengths { avg, mdev }) = self.lengths else { return };
        let unbounded = whole(avg + self.settings.lambda * mdev) as u32;
        let bounds = [self.dupthresh_ubf(view), self.dupthresh_tmo];
        let bound = bounds.into_iter().flatten().min().unwrap_or(u32::MAX);
        self.dupthresh = unbounded.min(bound).max(DUPTHRESH);
    }

    /// Adds a reordering event of this length.
    fn sample(&mut self, length: u32, view: &View) {
        let r = f64::from(length);
        self.lengths = Some(match self.lengths {
            // The paper does not give initial values: these are the first sample's.
            None => Lengths { avg: r, mdev: 0.0 },
            Some(Lengths { avg, mdev }) => Lengths {
                // (1), written so that r = avg leaves avg exactly unchanged; (2) and (3), with the
                // previous average.
                avg: avg + self.settings.alpha * (r - avg),
                mdev: self.settings.beta * (r - avg).abs() + (1.0 - self.settings.beta) * mdev,
            },
        });
        self.newest = length;
        // The bound of a timeout would limit the threshold forever: nothing in the paper raises it,
        // and each further timeout can only lower it. It therefore lapses like (11).
        self.dupthresh_tmo = self.dupthresh_tmo.filter(|&bound| length <= bound);
        self.set_dupthresh(view);
    }
}

/// Returns ⌊x⌋, but rounds up a value that is below a whole number only because 0.7 has no finite
/// binary representation.
fn whole(x: f64) -> f64 {
    (x + 1e-9).floor()
}

impl LossDetector for AvgDev {
    fn about(&self) -> Cow<'static, str> {
        match self.settings.samples {
            Samples::SpuriousFastRetransmits => {
                "dupthresh from average and mean deviation of spurious fast retransmits' lengths"
            }
            Samples::ByDsack => {
                "dupthresh from average and mean deviation of the lengths that DSACKs report"
            }
            Samples::All => "dupthresh from average and mean deviation of all reordering lengths",
        }
        .into()
    }

    fn rule(&self, _view: &View) -> Rule {
        // Figure 1: "if k > dupthresh". Section IV-D says "when dupthresh duplicate ACKs have
        // [been] received", and (5) to (11) take dupthresh for m, the number received. The default
        // follows the figure: by the other reading, on a path on which all late segments are late
        // by N, every one of them would cause a spurious fast retransmit. It costs one T_int more
        // than (5), within the margin that γ leaves. Before the first reordering event the standard
        // threshold of 3 holds.
        match self.lengths {
            None => Rule::dupthresh(DUPTHRESH),
            Some(_) => {
                let above = u32::from(self.settings.trigger == Trigger::Above);
                Rule::dupthresh(self.dupthresh + above)
            }
        }
    }

    fn dupthresh(&self) -> Option<u32> {
        Some(self.dupthresh)
    }

    fn on_reordering(&mut self, sample: Reordering, view: &View) {
        let counts = match self.settings.samples {
            Samples::All => true,
            Samples::ByDsack => sample.by_dsack,
            Samples::SpuriousFastRetransmits => false,
        };
        if counts {
            self.sample(sample.length, view);
        }
    }

    fn on_spurious_fast_retransmit(&mut self, found: SpuriousFastRetransmit, view: &View) {
        if self.settings.samples == Samples::SpuriousFastRetransmits {
            found.length.iter().for_each(|&length| self.sample(length, view));
        }
    }

    fn on_timeout(&mut self, first: bool, view: &View) {
        // A backed-off timeout gives no new information: no duplicates arrived in between.
        if !first {
            return;
        }
        self.dupthresh_tmo = Some(self.dupthresh);
        if let Some(Lengths { avg, mdev }) = &mut self.lengths {
            *avg *= self.settings.c1;
            *mdev *= self.settings.c2;
        }
        self.set_dupthresh(view);
    }
}
