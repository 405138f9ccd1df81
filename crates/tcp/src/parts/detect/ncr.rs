//! The duplicate threshold of TCP-NCR (RFC 4653): about a window of data must have left the network
//! before a hole is deemed lost. `limited_transmit/ncr.rs` has what is sent in the meantime.

use std::borrow::Cow;

use super::fixed::DUPTHRESH;
use super::{AckFacts, Detector, LossDetector, Rule, View, boxed};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, maker};

settings! {
    /// Tunable parameters of the careful version.
    "ncr" CarefulSettings { lt_f: f64 = lt_f(2.0 / 3.0) }
}
settings! {
    /// Tunable parameters of the aggressive version.
    "ncr" AggressiveSettings { lt_f: f64 = lt_f(1.0 / 2.0) }
}

/// Threshold of Careful Limited Transmit.
pub(crate) const CAREFUL: Kind<Detector> = Kind::new::<CarefulSettings>("ncr-careful", |values| {
    maker(values, |settings: CarefulSettings, _| boxed(NcrThreshold::new(settings.lt_f)))
});
/// Threshold of Aggressive Limited Transmit.
pub(crate) const AGGRESSIVE: Kind<Detector> =
    Kind::new::<AggressiveSettings>("ncr-aggressive", |values| {
        maker(values, |settings: AggressiveSettings, _| boxed(NcrThreshold::new(settings.lt_f)))
    });

const fn lt_f(default: f64) -> Parameter {
    Parameter {
        name: "lt_f",
        unit: Unit::Number,
        default,
        range: (0.01, 1.0),
        about: "share of the outstanding segments that must be SACKed before a hole is lost",
        source: "RFC 4653, section 3",
    }
}

/// A threshold that follows the outstanding data, except during loss recovery.
#[derive(Debug)]
pub(crate) struct NcrThreshold {
    lt_f: f64,
    dupthresh: u32,
}

impl NcrThreshold {
    fn new(lt_f: f64) -> Self {
        Self { lt_f, dupthresh: DUPTHRESH }
    }

    /// Sets `DupThresh = max (LT_F * (FlightSize / SMSS),3)`, (I.3) and (E.6).
    fn set_dupthresh(&mut self, flight: u32) {
        // "More than (DupThresh − 1) segments" of RFC 6675 rounds down. The addend protects the
        // floor against the rounding of 2/3.
        let share = self.lt_f * f64::from(flight) + 1e-9;
        self.dupthresh = (share as u32).max(DUPTHRESH);
    }
}

impl LossDetector for NcrThreshold {
    fn about(&self) -> Cow<'static, str> {
        // In the notation of the RFC.
        let thirds = self.lt_f * 3.0;
        match self.lt_f {
            0.5 => "dupthresh 1/2 of the outstanding data".into(),
            _ if thirds == 2.0 => "dupthresh 2/3 of the outstanding data".into(),
            lt_f => format!("dupthresh {lt_f} of the outstanding data").into(),
        }
    }

    fn rule(&self, _view: &View) -> Rule {
        Rule::dupthresh(self.dupthresh)
    }

    fn dupthresh(&self) -> Option<u32> {
        Some(self.dupthresh)
    }

    fn on_ack(&mut self, _facts: &AckFacts, view: &View) {
        // (I.3) if this acknowledgement advanced the cumulative acknowledgement or is the first of
        // its period. Otherwise (E.6) of the previous one, with what was sent after it. Section
        // 3.4: held constant until the loss recovery phase is terminated.
        if !view.recovering {
            self.set_dupthresh(view.flight);
        }
    }

    fn on_recovery_end(&mut self, view: &View) {
        self.set_dupthresh(view.flight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_lt_f_of_the_outstanding_segments_but_at_least_three() {
        // (I.3), (E.6): 2/3 of 9 is 6, of 10 is 6.67, of 18 is 12; more than (12 − 1) segments is
        // 12, more than (6.67 − 1) is 6.
        let mut careful = NcrThreshold::new(2.0 / 3.0);
        let mut thresholds = |flights: &[u32]| {
            let threshold = |&flight| {
                careful.set_dupthresh(flight);
                careful.dupthresh
            };
            flights.iter().map(threshold).collect::<Vec<u32>>()
        };
        assert_eq!(thresholds(&[0, 3, 4, 5, 6, 9, 10, 18]), [3, 3, 3, 3, 4, 6, 6, 12]);
        assert!((1..100_000).all(|k| thresholds(&[3 * k]) == [(2 * k).max(3)]));
        let mut aggressive = NcrThreshold::new(0.5);
        aggressive.set_dupthresh(18);
        assert_eq!(aggressive.dupthresh, 9);
    }
}
