//! AVG-DEV (K.-C. Leung, C. Ma, "Enhancing TCP performance to persistent packet reordering", 2005):
//! the duplicate threshold is an average of the reordering lengths of false fast retransmits and a
//! share of their mean deviation, bounded so that it should cause no timeout; a timeout lets it decay.

use std::borrow::Cow;

use super::fixed::DUPTHRESH;
use super::{Detector, FalseFastRetransmit, LossDetector, Reordering, Rule, View};
use crate::parameter::{Parameter, Unit, choice, settings};
use crate::parts::{Kind, kind};

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
        c1: f64 = constant("c1", 0.5, "what a timeout leaves of the average, C1 in (13)"),
        c2: f64 = constant("c2", 0.25, "what a timeout leaves of the mean deviation, C2 in (14)"),
        samples: Samples = Parameter::choice(
            "samples",
            Samples::NAMES,
            "which reordering lengths count: one of each false fast retransmit, those that DSACKs \
             report, or all",
            "AVG-DEV, section III-D; abstract; figure 1",
        ),
        bound: Bound = Parameter::choice(
            "bound",
            Bound::NAMES,
            "bound (11): lapses where a segment was late by more than it, or holds whatever comes",
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
pub(crate) const AVG_DEV: Kind<Detector> =
    kind!("avg-dev", Settings, |settings, _| Box::new(AvgDev::new(settings)));

choice! {
    /// Which reordering lengths count.
    Samples {
        /// One "when detecting a false fast retransmission" (section III-D).
        FalseFastRetransmits = "false-fast-retransmit",
        /// Those "reported by a TCP receiver with the duplicate selective acknowledgement (DSACK)
        /// extension" (abstract).
        ByDsack = "dsack",
        /// "After a reordering event of length N is detected" (figure 1), whatever detected it.
        All = "all",
    }
}
choice! {
    /// How long bound (11) holds.
    Bound {
        /// It lapses as the timeout's does.
        Lapsing = "lapsing",
        /// It holds whatever comes.
        Always = "always",
    }
}
choice! {
    /// Which duplicate makes a loss.
    Trigger {
        /// The one above the threshold.
        Above = "above",
        /// The threshold-th.
        At = "at",
    }
}

/// Average and mean deviation of the reordering lengths.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    avg: f64,
    mdev: f64,
}

/// AVG-DEV.
#[derive(Debug)]
pub(crate) struct AvgDev {
    settings: Settings,
    /// None before the first reordering event.
    lengths: Option<Lengths>,
    /// The newest reordering length.
    newest: u32,
    dupthresh: u32,
    /// The threshold that the last timeout found, in (12).
    dupthresh_tmo: Option<u32>,
}

impl AvgDev {
    fn new(settings: Settings) -> Self {
        Self { settings, lengths: None, newest: 0, dupthresh: DUPTHRESH, dupthresh_tmo: None }
    }

    /// Equation (11). It is zero or less whenever RTO/RTT is below 2/γ, about 2.86: then no threshold
    /// avoids the timeout by this reckoning, and the bound says nothing. It says nothing either where
    /// a segment was late by more than it: there a threshold as low as the bound is known to cause
    /// false fast retransmits. Held whatever comes, it would make one of every longer reordering in
    /// figures 3 to 8 from f = 1.2 to 1.7, where it is below one window, against what they show.
    fn dupthresh_ubf(&self, view: &View) -> Option<u32> {
        let rtt = view.srtt.filter(|rtt| rtt.as_nanos() > 0)?;
        let ratio = view.rto.as_secs_f64() / rtt.as_secs_f64();
        let bound = whole((self.settings.gamma * ratio - 2.0) * view.cwnd);
        let bound = (bound > 0.0).then_some(bound as u32)?;
        (self.settings.bound == Bound::Always || self.newest <= bound).then_some(bound)
    }

    /// Equations (4) and (12); not below the standard's threshold.
    fn set_dupthresh(&mut self, view: &View) {
        let Some(Lengths { avg, mdev }) = self.lengths else { return };
        let wanted = whole(avg + self.settings.lambda * mdev) as u32;
        let bounds = [self.dupthresh_ubf(view), self.dupthresh_tmo];
        let bound = bounds.into_iter().flatten().min().unwrap_or(u32::MAX);
        self.dupthresh = wanted.min(bound).max(DUPTHRESH);
    }

    /// A reordering event of this length.
    fn sample(&mut self, length: u32, view: &View) {
        let r = f64::from(length);
        self.lengths = Some(match self.lengths {
            // The paper does not say how it starts: with what is known.
            None => Lengths { avg: r, mdev: 0.0 },
            Some(Lengths { avg, mdev }) => Lengths {
                // (1), written so that r = avg leaves avg exactly as it is; (2) and (3), with the
                // average as it was.
                avg: avg + self.settings.alpha * (r - avg),
                mdev: self.settings.beta * (r - avg).abs() + (1.0 - self.settings.beta) * mdev,
            },
        });
        self.newest = length;
        // The timeout's bound would pin the threshold for ever: nothing in the paper raises it, and
        // each further timeout can only lower it. It lapses as (11) does.
        self.dupthresh_tmo = self.dupthresh_tmo.filter(|&bound| length <= bound);
        self.set_dupthresh(view);
    }
}

/// ⌊x⌋, but what misses a whole number only because 0.7 has no end in binary is that number.
fn whole(x: f64) -> f64 {
    (x + 1e-9).floor()
}

impl LossDetector for AvgDev {
    fn about(&self) -> Cow<'static, str> {
        "dupthresh from average and mean deviation of false fast retransmits' lengths".into()
    }

    fn rule(&self, _view: &View) -> Rule {
        // Figure 1: "if k > dupthresh". Section IV-D says "when dupthresh duplicate ACKs have
        // [been] received", and (5) to (11) take dupthresh for m, the number that have. The figure
        // is followed: by the other reading, a path on which all late segments are late by N would
        // make every single one a false fast retransmit. It costs one T_int more than (5), within
        // the margin that γ leaves. Before the first reordering event the algorithm has set nothing,
        // and the standard's 3 holds.
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
            Samples::FalseFastRetransmits => false,
        };
        if counts {
            self.sample(sample.length, view);
        }
    }

    fn on_false_fast_retransmit(&mut self, found: FalseFastRetransmit, view: &View) {
        if self.settings.samples == Samples::FalseFastRetransmits {
            found.length.iter().for_each(|&length| self.sample(length, view));
        }
    }

    fn on_timeout(&mut self, first: bool, view: &View) {
        // Backed-off timeouts say nothing new of the threshold: no duplicates came in between.
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

#[cfg(test)]
mod tests {
    use super::super::fixtures::{detector, found_false, late, ms, view};
    use super::*;
    use crate::variant::Variant;

    /// At cwnd 50 and RTO/RTT = 10, (11) gives (0.7·10 − 2)·50 = 250: out of the way.
    fn after(lengths: &[u32]) -> Box<dyn LossDetector> {
        let mut detector = detector("avg-dev");
        for &length in lengths {
            detector.on_false_fast_retransmit(found_false(length), &view(0));
        }
        detector
    }

    #[test]
    fn the_threshold_follows_average_and_deviation() {
        let mut detector = detector("avg-dev");
        assert_eq!(detector.rule(&view(0)), Rule::dupthresh(3), "the standard's, to begin with");
        let table = [
            // avg 10, mdev 0: 10.
            (10, 10),
            // err |20 − 10| = 10; avg 0.3·20 + 0.7·10 = 13, mdev 0.3·10 = 3: ⌊13 + 0.9⌋.
            (20, 13),
            // err |4 − 13| = 9; avg 1.2 + 9.1 = 10.3, mdev 2.7 + 2.1 = 4.8: ⌊10.3 + 1.44⌋.
            (4, 11),
            // err |30 − 10.3| = 19.7; avg 9 + 7.21 = 16.21, mdev 5.91 + 3.36 = 9.27: ⌊16.21 + 2.781⌋.
            (30, 18),
            // err |1 − 16.21| = 15.21; avg 0.3 + 11.347 = 11.647, mdev 4.563 + 6.489 = 11.052:
            // ⌊11.647 + 3.3156⌋.
            (1, 14),
        ];
        for (length, want) in table {
            detector.on_false_fast_retransmit(found_false(length), &view(0));
            assert_eq!(detector.dupthresh(), Some(want), "after {length}");
            assert_eq!(detector.rule(&view(0)), Rule::dupthresh(want + 1), "k > dupthresh");
        }
    }

    #[test]
    fn lengths_that_never_vary_cause_no_false_fast_retransmit() {
        let detector = after(&[12; 20]);
        // 12 duplicates come before the late segment does.
        assert_eq!(detector.rule(&view(0)), Rule::dupthresh(13));
    }

    #[test]
    fn it_falls_no_lower_than_three() {
        // avg 2: ⌊2⌋, but at least 3.
        assert_eq!(after(&[2]).dupthresh(), Some(3));
        // 10, 1, 1, … towards 1.
        let mut lengths = vec![10];
        lengths.resize(30, 1);
        assert_eq!(after(&lengths).dupthresh(), Some(3));
    }

    /// RTO/RTT = 3 at cwnd 50: (0.7·3 − 2)·50 = 5.
    fn tight() -> View {
        View { rto: ms(300), ..view(0) }
    }

    fn bounded_always() -> Box<dyn LossDetector> {
        let mut sender = Variant::named("avg-dev").expect("a sender");
        sender.set("bound", "always").expect("a choice");
        sender.detector()
    }

    #[test]
    fn a_recovery_must_fit_into_the_timeout() {
        let mut detector = bounded_always();
        detector.on_false_fast_retransmit(found_false(10), &tight());
        assert_eq!(detector.dupthresh(), Some(5));
        // RTO/RTT = 2.8: −2 < 0, so the bound is none.
        let hopeless = View { rto: ms(280), ..view(0) };
        detector.on_false_fast_retransmit(found_false(10), &hopeless);
        assert_eq!(detector.dupthresh(), Some(10));
        // cwnd 20: (2.1 − 2)·20 = 2, but at least 3.
        detector.on_false_fast_retransmit(found_false(10), &View { cwnd: 20.0, ..tight() });
        assert_eq!(detector.dupthresh(), Some(3));
    }

    #[test]
    fn the_bound_lapses_where_a_segment_was_late_by_more() {
        let mut detector = detector("avg-dev");
        // 10 > 5: at 5, each such event would be a false fast retransmit.
        detector.on_false_fast_retransmit(found_false(10), &tight());
        assert_eq!(detector.dupthresh(), Some(10));
        // err |5 − 10| = 5; avg 1.5 + 7 = 8.5, mdev 1.5: ⌊8.95⌋, but 5 is not more than 5.
        detector.on_false_fast_retransmit(found_false(5), &tight());
        assert_eq!(detector.dupthresh(), Some(5));
        // err |6 − 8.5| = 2.5; avg 1.8 + 5.95 = 7.75, mdev 0.75 + 1.05 = 1.8: ⌊7.75 + 0.54⌋.
        detector.on_false_fast_retransmit(found_false(6), &tight());
        assert_eq!(detector.dupthresh(), Some(8));
    }

    #[test]
    fn the_first_timeout_lets_it_decay_and_the_next_do_not() {
        // As in the table above after 10, 20: avg 13, mdev 3.
        let mut detector = after(&[10, 20]);
        detector.on_timeout(true, &view(0));
        // avg 6.5, mdev 0.75: ⌊6.5 + 0.225⌋.
        assert_eq!(detector.dupthresh(), Some(6));
        detector.on_timeout(false, &view(0));
        detector.on_timeout(false, &view(0));
        assert_eq!(detector.dupthresh(), Some(6));
        // avg 3.25, mdev 0.1875: ⌊3.25 + 0.05625⌋; avg 1.625: 3.
        detector.on_timeout(true, &view(0));
        assert_eq!(detector.dupthresh(), Some(3));
        detector.on_timeout(true, &view(0));
        assert_eq!(detector.dupthresh(), Some(3));
    }

    #[test]
    fn the_threshold_that_led_to_a_timeout_bounds_it_until_longer_reordering_is_seen() {
        // At this window (11) gives (0.7·10 − 2)·1000 = 5000: out of the way.
        let view = View { cwnd: 1000.0, ..view(0) };
        let mut detector = detector("avg-dev");
        detector.on_false_fast_retransmit(found_false(1000), &view);
        // avg 1300, mdev 300: 1390, which is the bound after the timeout; then 650 and 75.
        detector.on_false_fast_retransmit(found_false(2000), &view);
        detector.on_timeout(true, &view);
        assert_eq!(detector.dupthresh(), Some(672));
        // The average comes from below and the deviation lags behind: after 10 of them (4) gives
        // ⌊1396.6⌋, but no segment was late by more than 1390.
        for _ in 0..10 {
            detector.on_false_fast_retransmit(found_false(1390), &view);
        }
        assert_eq!(detector.dupthresh(), Some(1390));
        // 1391 is longer than the bound, which lapses: the paper would keep 1390 for ever.
        detector.on_false_fast_retransmit(found_false(1391), &view);
        assert_eq!(detector.dupthresh(), Some(1396));
    }

    #[test]
    fn the_bound_of_a_timeout_holds() {
        // avg 20, mdev 0; bounded to 5 by a tight timeout when the timer expires.
        let mut detector = bounded_always();
        detector.on_false_fast_retransmit(found_false(20), &tight());
        assert_eq!(detector.dupthresh(), Some(5));
        detector.on_timeout(true, &view(0));
        // avg 10, mdev 0: 10, but the timeout came at 5.
        assert_eq!(detector.dupthresh(), Some(5));
        // err |5 − 10| = 5; avg 1.5 + 7 = 8.5, mdev 1.5: 8, but no segment was late by more than 5.
        detector.on_false_fast_retransmit(found_false(5), &view(0));
        assert_eq!(detector.dupthresh(), Some(5));
        // err |6 − 8.5| = 2.5; avg 1.8 + 5.95 = 7.75, mdev 0.75 + 1.05 = 1.8: ⌊7.75 + 0.54⌋.
        detector.on_false_fast_retransmit(found_false(6), &view(0));
        assert_eq!(detector.dupthresh(), Some(8));
    }

    #[test]
    fn what_counts_is_a_choice() {
        let after_each = |samples: &str| {
            let mut sender = Variant::named("avg-dev").expect("a sender");
            sender.set("samples", samples).expect("a choice");
            let mut detector = sender.detector();
            let mut seen = vec![];
            detector.on_reordering(late(10), &view(0));
            seen.push(detector.dupthresh());
            let reported = Reordering { by_dsack: true, ..late(20) };
            detector.on_reordering(reported, &view(0));
            seen.push(detector.dupthresh());
            detector.on_false_fast_retransmit(found_false(30), &view(0));
            seen.push(detector.dupthresh());
            seen.into_iter().flatten().collect::<Vec<_>>()
        };
        assert_eq!(after_each("dsack"), [3, 20, 20]);
        // avg 13, mdev 3.
        assert_eq!(after_each("all"), [10, 13, 13]);
        assert_eq!(after_each("false-fast-retransmit"), [3, 3, 30]);
    }

    #[test]
    fn the_hole_is_lost_above_the_threshold_or_at_it() {
        for (trigger, want) in [("above", 13), ("at", 12)] {
            let mut sender = Variant::named("avg-dev").expect("a sender");
            sender.set("trigger", trigger).expect("a choice");
            let mut detector = sender.detector();
            assert_eq!(
                detector.rule(&view(0)),
                Rule::dupthresh(3),
                "the standard's, to begin with"
            );
            detector.on_false_fast_retransmit(found_false(12), &view(0));
            assert_eq!(detector.rule(&view(0)), Rule::dupthresh(want));
        }
    }

    #[test]
    fn its_state_is_small() {
        // Table 3 of the paper.
        assert!(size_of::<AvgDev>() < 200, "{} bytes", size_of::<AvgDev>());
    }
}
