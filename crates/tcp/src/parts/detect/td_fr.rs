//! TD-FR, time-delayed fast recovery: there must be three duplicate acknowledgements, and they must
//! persist for a while (V. Paxson, "End-to-end Internet packet dynamics", 1997; Blanton and
//! Allman's DEL; as described in TCP-PR, section 2).

use std::borrow::Cow;

use unruffled_units::Instant;

use super::duplicates::Duplicates;
use super::fixed::DUPTHRESH;
use super::{AckFacts, Detector, LossDetector, Rule, View, boxed};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, maker};

settings! {
    /// Tunable parameters.
    "td-fr" Settings {
        wait: f64 = Parameter {
            name: "wait",
            unit: Unit::Fraction,
            default: 0.5,
            range: (0.0, 1.0),
            about: "how long duplicates must persist at least, as a share of the smoothed round trip",
            source: "TCP-PR, section 2",
        },
    }
}

/// Detector of `td-fr` and `ba-del`.
pub(crate) const TD_FR: Kind<Detector> = Kind::new::<Settings>("td-fr", |values| {
    maker(values, |settings: Settings, _| boxed(TdFr::new(settings.wait)))
});

/// Deems the first hole lost max(RTT/2, DT) after its first duplicate acknowledgement, where DT is
/// the time from the first to the third.
#[derive(Debug)]
pub(crate) struct TdFr {
    wait: f64,
    duplicates: Duplicates,
    /// Time at which the hole is to be retransmitted, once the third duplicate has arrived.
    due: Option<Instant>,
}

impl TdFr {
    fn new(wait: f64) -> Self {
        Self { wait, duplicates: Duplicates::default(), due: None }
    }
}

impl LossDetector for TdFr {
    fn about(&self) -> Cow<'static, str> {
        "third duplicate, and half a round trip after the first".into()
    }

    fn rule(&self, view: &View) -> Rule {
        match self.duplicates.first() {
            // Only two duplicates: there is no DT yet, so nothing is due.
            Some(_) if !view.recovering => Rule { first_hole_due: self.due, ..Rule::default() },
            // The delay applies to fast retransmit only. After it, further holes are retransmitted
            // as in RFC 6675. Without SACK no run of duplicates is seen, and three duplicates
            // suffice.
            _ => Rule::dupthresh(DUPTHRESH),
        }
    }

    fn dupthresh(&self) -> Option<u32> {
        Some(DUPTHRESH)
    }

    fn on_ack(&mut self, facts: &AckFacts, view: &View) {
        if self.duplicates.on_ack(facts, view) || facts.advanced {
            self.due = None;
        }
        let Some(first) = self.duplicates.first() else { return };
        if self.due.is_none() && self.duplicates.count() >= DUPTHRESH {
            let dt = view.now.since(first);
            // RTT is assumed to be the smoothed one: the text does not say.
            let minimum = view.srtt.unwrap_or_default().mul_f64(self.wait);
            self.due = Some(first + dt.max(minimum));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{advance, detector, duplicate, view};
    use super::*;

    fn due(at: u64) -> Rule {
        Rule { first_hole_due: Some(Instant::from_millis(at)), ..Rule::default() }
    }

    #[test]
    fn three_duplicates_and_then_half_a_round_trip_after_the_first() {
        for name in ["td-fr", "ba-del"] {
            let mut detector = detector(name);
            detector.on_ack(&duplicate(), &view(200));
            detector.on_ack(&duplicate(), &view(202));
            assert_eq!(detector.rule(&view(202)), Rule::default(), "{name}: two are too few");
            // DT = 4 ms < 100/2 ms: 200 + 50.
            detector.on_ack(&duplicate(), &view(204));
            assert_eq!(detector.rule(&view(204)), due(250), "{name}");
            // The fourth changes nothing, and neither does a longer round-trip time.
            let slower = View { srtt: Some(view(0).rto), ..view(206) };
            detector.on_ack(&duplicate(), &slower);
            assert_eq!(detector.rule(&slower), due(250), "{name}");
        }
    }

    #[test]
    fn duplicates_far_apart_extend_the_wait() {
        let mut detector = detector("td-fr");
        detector.on_ack(&duplicate(), &view(200));
        detector.on_ack(&duplicate(), &view(240));
        // DT = 70 ms > 50 ms: due when the third arrives.
        detector.on_ack(&duplicate(), &view(270));
        assert_eq!(detector.rule(&view(270)), due(270));
    }

    #[test]
    fn a_hole_that_closes_ends_the_wait_and_the_next_hole_has_its_own() {
        let mut detector = detector("td-fr");
        for at in [200, 202, 204] {
            detector.on_ack(&duplicate(), &view(at));
        }
        detector.on_ack(&advance(), &view(210));
        assert_eq!(detector.rule(&view(210)).first_hole_due, None);
        for at in [212, 214] {
            detector.on_ack(&duplicate(), &view(at));
            assert_eq!(detector.rule(&view(at)), Rule::default());
        }
        detector.on_ack(&duplicate(), &view(216));
        assert_eq!(detector.rule(&view(216)), due(262));
        // One acknowledgement may do both: advance, and be the first duplicate of the next hole.
        let both = AckFacts { advanced: true, ..duplicate() };
        detector.on_ack(&both, &view(220));
        assert_eq!(detector.rule(&view(220)), Rule::default());
    }

    #[test]
    fn lost_acknowledgements_count() {
        let mut detector = detector("td-fr");
        let three_at_once = AckFacts { delivered: 3, sacked: 3, ..duplicate() };
        detector.on_ack(&three_at_once, &view(200));
        assert_eq!(detector.rule(&view(200)), due(250));
    }

    #[test]
    fn later_holes_of_a_recovery_are_counted() {
        let mut detector = detector("td-fr");
        for at in [200, 202, 204] {
            detector.on_ack(&duplicate(), &view(at));
        }
        let recovering = View { recovering: true, ..view(251) };
        assert_eq!(detector.rule(&recovering), Rule::dupthresh(3));
    }

    #[test]
    fn a_timeout_ends_the_wait() {
        let mut detector = detector("ba-del");
        for at in [200, 202, 204] {
            detector.on_ack(&duplicate(), &view(at));
        }
        detector.on_timeout(true, &view(1200));
        let recovering = View { recovering: true, ..view(1201) };
        assert_eq!(detector.rule(&recovering), Rule::dupthresh(3));
        detector.on_ack(&advance(), &recovering);
        assert_eq!(detector.rule(&view(1300)).first_hole_due, None);
    }
}
