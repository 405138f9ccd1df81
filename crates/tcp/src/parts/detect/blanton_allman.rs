//! Blanton and Allman's senders. Every fast retransmit that a DSACK proves spurious changes the
//! duplicate threshold by one of several rules; for EWMA every reordering does (E. Blanton, M.
//! Allman, "On making TCP more robust to packet reordering", 2002, as described in AVG-DEV, section
//! II, RR-TCP, section 5.5, and TCP-PR, section 2). Their sixth rule, a delay, is that of TD-FR:
//! see [`super::td_fr`].

use std::borrow::Cow;

use super::fixed::DUPTHRESH;
use super::{
    AckFacts, Detector, LossDetector, Reordering, Rule, SpuriousFastRetransmit, View, boxed,
};
use crate::parameter::{Parameter, Unit, choice, settings};
use crate::parts::{Kind, maker};

/// Share of cwnd that bounds the threshold.
const WINDOW_SHARE: Parameter = Parameter {
    name: "window_share",
    unit: Unit::Fraction,
    default: 0.9,
    range: (0.0, 1.0),
    about: "maximum duplicate threshold, as a share of the congestion window",
    source: "AVG-DEV, section II; RR-TCP, section 5.5",
};

settings! {
    /// Tunable parameters of INC-N and AVG.
    "ba" Settings {
        window_share: f64 = WINDOW_SHARE,
    }
}

settings! {
    /// Tunable parameters of INC.
    "ba" IncSettings {
        window_share: f64 = WINDOW_SHARE,
        increment: f64 = Parameter {
            name: "increment",
            unit: Unit::Segments,
            default: 1.0,
            range: (1.0, 1e6),
            about: "K, what each spurious fast retransmit adds to the duplicate threshold",
            source: "AVG-DEV, section II (\"constantly increasing\"); 1 is assumed",
        },
    }
}

settings! {
    /// Tunable parameters of EWMA.
    "ba" EwmaSettings {
        window_share: f64 = WINDOW_SHARE,
        gain: f64 = Parameter {
            name: "gain",
            unit: Unit::Number,
            default: 0.25,
            range: (0.0, 1.0),
            about: "g, the weight of the newest reordering length",
            source: "assumed: no text that we have gives it",
        },
        samples: Samples = Parameter::choice(
            "samples",
            Samples::NAMES,
            "which reordering lengths are averaged: all, or those of spurious fast retransmits",
            "TCP-PR, section 2; AVG-DEV, section II",
        ),
    }
}

choice! {
    /// Reordering lengths that EWMA averages.
    Samples {
        /// All of them.
        All = "all",
        /// Those of spurious fast retransmits.
        SpuriousFastRetransmits = "false-fast-retransmit",
    }
}

/// INC: adds a constant.
pub(crate) const INC: Kind<Detector> = Kind::new::<IncSettings>("ba-inc", |values| {
    maker(values, |settings: IncSettings, _| {
        let adjust = Adjust::Increment(settings.increment);
        boxed(BlantonAllman::new(adjust, settings.window_share, false))
    })
});
/// INC-N: adds the reordering length.
pub(crate) const INC_N: Kind<Detector> = Kind::new::<Settings>("ba-inc-n", |values| {
    maker(values, |settings: Settings, _| {
        boxed(BlantonAllman::new(Adjust::IncrementByLength, settings.window_share, false))
    })
});
/// AVG: moves half way to the reordering length.
pub(crate) const AVG: Kind<Detector> = Kind::new::<Settings>("ba-avg", |values| {
    maker(values, |settings: Settings, _| {
        boxed(BlantonAllman::new(Adjust::Average, settings.window_share, false))
    })
});
/// EWMA: averages reordering lengths.
pub(crate) const EWMA: Kind<Detector> = Kind::new::<EwmaSettings>("ba-ewma", |values| {
    maker(values, |settings: EwmaSettings, _| {
        let all = settings.samples == Samples::All;
        boxed(BlantonAllman::new(Adjust::Ewma(settings.gain), settings.window_share, all))
    })
});

/// How a spurious fast retransmit whose segment was late by N segments changes the threshold d.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Adjust {
    /// INC: d + K, for any N.
    Increment(f64),
    /// INC-N: d + N.
    IncrementByLength,
    /// AVG: (d + N) / 2.
    Average,
    /// EWMA: (1 − g)·d + g·N. It averages all reordering events and not only spurious fast
    /// retransmits: "of the number of DUPACKs received at the sender" (TCP-PR, section 2), "a
    /// running average of the reordering length" (AVG-DEV, section II).
    Ewma(f64),
}

impl Adjust {
    /// Returns the threshold that follows `dupthresh`. Not every DSACK gives a length; without one
    /// only INC changes the threshold.
    fn apply(self, dupthresh: f64, length: Option<u32>) -> f64 {
        let length = length.map(f64::from);
        match (self, length) {
            (Self::Increment(k), _) => dupthresh + k,
            (Self::IncrementByLength, Some(n)) => dupthresh + n,
            (Self::Average, Some(n)) => (dupthresh + n) / 2.0,
            (Self::Ewma(g), Some(n)) => (1.0 - g) * dupthresh + g * n,
            (_, None) => dupthresh,
        }
    }
}

/// INC, INC-N, AVG and EWMA.
#[derive(Debug)]
pub(crate) struct BlantonAllman {
    adjust: Adjust,
    window_share: f64,
    /// Whether every reordering event changes the threshold, and not only spurious fast
    /// retransmits.
    all: bool,
    /// Stored with its fraction, so that averages converge. The whole part is in force.
    dupthresh: f64,
    /// The threshold as of the last acknowledgement.
    in_force: u32,
}

impl BlantonAllman {
    fn new(adjust: Adjust, window_share: f64, all: bool) -> Self {
        let dupthresh = f64::from(DUPTHRESH);
        Self { adjust, window_share, all, dupthresh, in_force: DUPTHRESH }
    }

    /// Returns the threshold in force: at most a share of cwnd, and at least 3.
    fn bounded(&self, cwnd: f64) -> u32 {
        (self.dupthresh.min(self.window_share * cwnd) as u32).max(DUPTHRESH)
    }
}

impl LossDetector for BlantonAllman {
    fn about(&self) -> Cow<'static, str> {
        let how = match (self.adjust, self.all) {
            (Adjust::Ewma(_), true) => "averaged over all reordering lengths",
            (Adjust::Ewma(_), false) => "averaged over the lengths of spurious fast retransmits",
            _ => "moved by spurious fast retransmits",
        };
        format!("dupthresh {how}, at most {} cwnd", self.window_share).into()
    }

    fn rule(&self, view: &View) -> Rule {
        Rule::dupthresh(self.bounded(view.cwnd))
    }

    fn dupthresh(&self) -> Option<u32> {
        Some(self.in_force)
    }

    fn on_ack(&mut self, _facts: &AckFacts, view: &View) {
        self.in_force = self.bounded(view.cwnd);
    }

    fn on_reordering(&mut self, sample: Reordering, view: &View) {
        // The stored threshold does not depend on the window: only the one in force is bounded.
        if self.all {
            let minimum = f64::from(DUPTHRESH);
            self.dupthresh = self.adjust.apply(self.dupthresh, Some(sample.length)).max(minimum);
            self.in_force = self.bounded(view.cwnd);
        }
    }

    fn on_spurious_fast_retransmit(&mut self, found: SpuriousFastRetransmit, view: &View) {
        if self.all {
            return;
        }
        // The stored threshold is bounded by the window that the restoration leads back to. A bound
        // by the present window, halved by a spurious reduction, would discard what the DSACK has
        // just shown. In `bounded`, a smaller window limits the threshold in force while it is
        // small. Here it keeps the stored threshold from rising, and does not lower it.
        let greatest = self.window_share * found.window.max(view.cwnd);
        let minimum = f64::from(DUPTHRESH);
        let adjusted = self.adjust.apply(self.dupthresh, found.length);
        self.dupthresh = adjusted.min(greatest.max(self.dupthresh)).max(minimum);
        self.in_force = self.bounded(view.cwnd);
    }

    fn on_timeout(&mut self, _first: bool, _view: &View) {
        self.dupthresh = f64::from(DUPTHRESH);
        self.in_force = DUPTHRESH;
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{detector, found_spurious, late, view};
    use super::*;
    use crate::variant::Variant;

    /// Returns the thresholds after spurious fast retransmits with these reordering lengths, at
    /// cwnd 50.
    fn thresholds(name: &str, lengths: &[u32]) -> Vec<u32> {
        let mut detector = detector(name);
        let mut each = |&length| {
            detector.on_spurious_fast_retransmit(found_spurious(length), &view(0));
            let rule = detector.rule(&view(0));
            assert_eq!(rule, Rule::dupthresh(detector.dupthresh().expect("a threshold")));
            rule.dupthresh.expect("a threshold")
        };
        lengths.iter().map(&mut each).collect()
    }

    #[test]
    fn inc_adds_one_each_time() {
        assert_eq!(thresholds("ba-inc", &[20, 20, 5]), [4, 5, 6]);
    }

    #[test]
    fn inc_n_adds_the_length() {
        // 3 + 10, + 4, + 20.
        assert_eq!(thresholds("ba-inc-n", &[10, 4, 20]), [13, 17, 37]);
    }

    #[test]
    fn avg_moves_half_way_up_and_down() {
        // (3 + 10)/2 = 6.5; (6.5 + 20)/2 = 13.25; (13.25 + 4)/2 = 8.625; (8.625 + 1)/2 = 4.8125;
        // (4.8125 + 1)/2 = 2.90625, bounded by 3.
        assert_eq!(thresholds("ba-avg", &[10, 20, 4, 1, 1]), [6, 13, 8, 4, 3]);
    }

    #[test]
    fn ewma_moves_a_quarter_of_the_way() {
        // 0.75·3 + 0.25·23 = 8; 0.75·8 + 0.25·23 = 11.75; 0.75·11.75 + 0.25·2 = 9.3125.
        let mut detector = detector("ba-ewma");
        for (length, expected) in [(23, 8), (23, 11), (2, 9)] {
            detector.on_reordering(late(length), &view(0));
            assert_eq!(detector.rule(&view(0)), Rule::dupthresh(expected), "after {length}");
            // A spurious retransmission of one of them changes nothing.
            detector.on_spurious_fast_retransmit(found_spurious(40), &view(0));
            assert_eq!(detector.dupthresh(), Some(expected));
        }
        assert_eq!(ewma_of_false_fast_retransmits(&[23, 23, 2]), [8, 11, 9]);
    }

    fn ewma_of_false_fast_retransmits(lengths: &[u32]) -> Vec<u32> {
        let mut sender = Variant::named("ba-ewma").expect("a sender");
        sender.set("samples", "false-fast-retransmit").expect("a choice");
        let mut detector = sender.detector();
        let mut each = |&length| {
            detector.on_reordering(late(length), &view(0));
            detector.on_spurious_fast_retransmit(found_spurious(length), &view(0));
            detector.dupthresh().expect("a threshold")
        };
        lengths.iter().map(&mut each).collect()
    }

    #[test]
    fn ewma_stores_its_average_independently_of_the_window() {
        let small = View { cwnd: 10.0, ..view(0) };
        let mut detector = detector("ba-ewma");
        // 0.75·3 + 0.25·83 = 23; at a window of 10, at most 9.
        detector.on_reordering(late(83), &small);
        assert_eq!(detector.rule(&small), Rule::dupthresh(9));
        assert_eq!(detector.rule(&view(0)), Rule::dupthresh(23));
    }

    #[test]
    fn the_threshold_stays_below_nine_tenths_of_the_window() {
        // 3 + 30 = 33; + 30 = 63, bounded by 0.9·50 = 45.
        assert_eq!(thresholds("ba-inc-n", &[30, 30, 30]), [33, 45, 45]);
        // The bounded value is stored: a window of 100, which permits 90, does not raise it.
        let mut detector = detector("ba-inc-n");
        for _ in 0..3 {
            detector.on_spurious_fast_retransmit(found_spurious(30), &view(0));
        }
        assert_eq!(detector.rule(&View { cwnd: 100.0, ..view(0) }), Rule::dupthresh(45));
    }

    #[test]
    fn a_smaller_window_bounds_the_threshold_only_while_it_is_small() {
        let mut detector = detector("ba-inc-n");
        // The DSACK arrives while the window is halved and bounds the threshold: 0.9·25 = 22.5.
        let halved = View { cwnd: 25.0, recovering: true, ..view(100) };
        detector.on_spurious_fast_retransmit(found_spurious(30), &halved);
        assert_eq!(detector.rule(&halved), Rule::dupthresh(22));
        assert_eq!(detector.dupthresh(), Some(22));
        // When the window is restored, so is the threshold of 3 + 30.
        detector.on_ack(&AckFacts::default(), &view(200));
        assert_eq!(detector.rule(&view(200)), Rule::dupthresh(33));
        assert_eq!(detector.dupthresh(), Some(33));
        // A window of 2 permits 1.8, but the minimum is 3.
        assert_eq!(detector.rule(&View { cwnd: 2.0, ..view(300) }), Rule::dupthresh(3));
    }

    #[test]
    fn a_small_window_keeps_the_stored_threshold_from_rising_and_does_not_lower_it() {
        let small = View { cwnd: 10.0, ..view(0) };
        let found = |length| SpuriousFastRetransmit { window: 20.0, ..found_spurious(length) };
        // Each detector stores 33 initially: 3 + 30·1, 3 + 30, (3 + 63)/2.
        let table = [("ba-inc", 30, 1, 33), ("ba-inc-n", 1, 30, 33), ("ba-avg", 1, 63, 31)];
        for (name, times, length, expected) in table {
            let mut detector = detector(name);
            for _ in 0..times {
                detector.on_spurious_fast_retransmit(found_spurious(length), &view(0));
            }
            assert_eq!(detector.rule(&view(0)), Rule::dupthresh(33), "{name}");
            // A window of 20 permits 18, so the threshold does not rise. AVG moves down to 31.5 =
            // (33 + 30)/2 by its own rule.
            detector.on_spurious_fast_retransmit(found(30), &small);
            assert_eq!(detector.rule(&small), Rule::dupthresh(9), "{name}");
            assert_eq!(detector.rule(&view(0)), Rule::dupthresh(expected), "{name}");
        }
    }

    #[test]
    fn a_timeout_resets_to_three() {
        for name in ["ba-inc", "ba-inc-n", "ba-avg", "ba-ewma"] {
            let mut detector = detector(name);
            for _ in 0..8 {
                detector.on_reordering(late(30), &view(0));
                detector.on_spurious_fast_retransmit(found_spurious(30), &view(0));
            }
            assert!(detector.dupthresh() > Some(10), "{name} rose");
            detector.on_timeout(true, &view(1000));
            assert_eq!(detector.dupthresh(), Some(3), "{name}");
            assert_eq!(detector.rule(&view(1000)), Rule::dupthresh(3), "{name}");
        }
    }

    #[test]
    fn without_a_length_only_inc_moves() {
        for (name, expected) in [("ba-inc", 4), ("ba-inc-n", 3), ("ba-avg", 3)] {
            let mut detector = detector(name);
            let unknown = SpuriousFastRetransmit { length: None, ..found_spurious(1) };
            detector.on_spurious_fast_retransmit(unknown, &view(0));
            assert_eq!(detector.dupthresh(), Some(expected), "{name}");
        }
    }
}
