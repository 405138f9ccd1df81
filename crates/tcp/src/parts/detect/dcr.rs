//! TCP-DCR, delayed congestion response (S. Bhandarkar, A. L. N. Reddy). In congestion avoidance
//! the response to the first loss of a window is delayed by τ, one round trip, from the first
//! duplicate acknowledgement (section 2.1). The delay is counted in duplicates or measured by a
//! timer (section 2.2).
//!
//! `limited_transmit/dcr.rs` has the growth of the window during the delay. DSACKs are not used:
//! the paper's delay replaces schemes that rely on them (section 3), so that a response which came
//! too early is not undone.

use std::borrow::Cow;

use unruffled_units::Instant;

use super::duplicates::Duplicates;
use super::fixed::DUPTHRESH;
use super::{AckFacts, Detector, LossDetector, Rule, View, boxed};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, maker};

settings! {
    /// Tunable parameters.
    "dcr" Settings {
        delay: f64 = Parameter {
            name: "delay",
            unit: Unit::Number,
            default: 1.0,
            range: (0.0, 100.0),
            about: "τ, how long the response to a loss is delayed, in smoothed round trips",
            source: "TCP-DCR, section 2.1",
        },
    }
}

/// The delay counted in duplicate acknowledgements.
pub(crate) const DCR_ACK: Kind<Detector> = Kind::new::<Settings>("dcr-ack", |values| {
    maker(values, |settings: Settings, _| boxed(DelayedResponse::new(settings.delay, false)))
});
/// The delay measured by a timer.
pub(crate) const DCR_TIMER: Kind<Detector> = Kind::new::<Settings>("dcr-timer", |values| {
    maker(values, |settings: Settings, _| boxed(DelayedResponse::new(settings.delay, true)))
});

/// When the hole of the present run of duplicates is deemed lost.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Response {
    /// With this many segments SACKed above the hole.
    Dupthresh(u32),
    /// At this time.
    Due(Instant),
}

/// TCP-DCR's detector.
#[derive(Debug)]
pub(crate) struct DelayedResponse {
    /// τ in round trips.
    delay: f64,
    timer: bool,
    duplicates: Duplicates,
    /// Set at the first duplicate of a run.
    response: Response,
}

impl DelayedResponse {
    fn new(delay: f64, timer: bool) -> Self {
        Self {
            delay,
            timer,
            duplicates: Duplicates::default(),
            response: Response::Dupthresh(DUPTHRESH),
        }
    }

    /// Returns the response to a run whose first duplicate arrives now.
    fn delayed(&self, view: &View) -> Response {
        let Some(srtt) = view.srtt.filter(|_| !view.slow_start) else {
            // Slow start is unchanged (section 2.2).
            return Response::Dupthresh(DUPTHRESH);
        };
        if self.timer {
            return Response::Due(view.now + srtt.mul_f64(self.delay));
        }
        // A window of packets, scaled by SRTT / RTT sample because duplicates arrive at the rate of
        // the present round trip (section 2.2). Rounded up, so that at least τ has passed.
        let scale = srtt.ratio(view.latest_rtt.unwrap_or(srtt)).min(MAX_SCALE);
        let scaled = f64::from(view.flight) * self.delay * scale;
        Response::Dupthresh((scaled.ceil() as u32).max(DUPTHRESH))
    }
}

/// Maximum scaling. The paper has none. A receiver that acknowledges segments before they arrive
/// could make the last sample arbitrarily short, and the threshold unreachable. Real paths vary
/// less.
const MAX_SCALE: f64 = 10.0;

impl LossDetector for DelayedResponse {
    fn about(&self) -> Cow<'static, str> {
        match self.timer {
            false => "dupthresh of one round trip's packets, fixed at the first duplicate".into(),
            true => "one round trip after the first duplicate".into(),
        }
    }

    fn rule(&self, view: &View) -> Rule {
        // Later holes of the same window are handled as in SACK (section 2.2).
        if view.recovering || self.duplicates.first().is_none() {
            return Rule::dupthresh(DUPTHRESH);
        }
        match self.response {
            Response::Dupthresh(dupthresh) => Rule::dupthresh(dupthresh),
            Response::Due(due) => Rule { first_hole_due: Some(due), ..Rule::default() },
        }
    }

    fn dupthresh(&self) -> Option<u32> {
        match self.response {
            Response::Dupthresh(dupthresh) if !self.timer => Some(dupthresh),
            _ => None,
        }
    }

    fn on_ack(&mut self, facts: &AckFacts, view: &View) {
        if self.duplicates.on_ack(facts, view) {
            self.response = self.delayed(view);
        }
    }

    fn on_timeout(&mut self, _first: bool, _view: &View) {
        // The run has ended. Until the next one, three duplicates count as usual.
        self.duplicates = Duplicates::default();
        self.response = Response::Dupthresh(DUPTHRESH);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{advance, detector, duplicate, ms, view};
    use super::*;

    fn due(at: u64) -> Rule {
        Rule { first_hole_due: Some(Instant::from_millis(at)), ..Rule::default() }
    }

    #[test]
    fn the_threshold_is_the_flight_at_the_first_duplicate() {
        let mut detector = detector("dcr-ack");
        assert_eq!(detector.dupthresh(), Some(3));
        // SRTT and last sample are equal: 50·1.
        detector.on_ack(&duplicate(), &view(200));
        assert_eq!(detector.rule(&view(200)), Rule::dupthresh(50));
        // Once per run: limited transmit increases the flight, and the threshold does not follow.
        for at in 201..240 {
            let flight = at as u32 - 150;
            let later = View { flight, latest_rtt: Some(ms(50)), ..view(at) };
            detector.on_ack(&duplicate(), &later);
            assert_eq!(detector.rule(&later), Rule::dupthresh(50));
        }
        assert_eq!(detector.dupthresh(), Some(50));
    }

    #[test]
    fn the_threshold_is_scaled_by_srtt_over_the_last_sample() {
        // 20·100/80 = 25; 20·100/125 = 16; 20·100/150 = 13.3, rounded up to 14; 2·1 is below 3.
        for (flight, latest, expected) in [(20, 80, 25), (20, 125, 16), (20, 150, 14), (2, 100, 3)]
        {
            let mut detector = detector("dcr-ack");
            let first = View { flight, latest_rtt: Some(ms(latest)), ..view(200) };
            detector.on_ack(&duplicate(), &first);
            assert_eq!(detector.rule(&first), Rule::dupthresh(expected), "{flight} {latest}");
        }
    }

    #[test]
    fn an_implausibly_short_sample_counts_as_a_tenth_of_srtt() {
        // 20·10, not 20·100 000.
        let mut detector = detector("dcr-ack");
        let latest_rtt = Some(unruffled_units::Duration::from_micros(1));
        let first = View { flight: 20, latest_rtt, ..view(200) };
        detector.on_ack(&duplicate(), &first);
        assert_eq!(detector.rule(&first), Rule::dupthresh(200));
    }

    #[test]
    fn every_run_has_its_own_threshold() {
        let mut detector = detector("dcr-ack");
        detector.on_ack(&duplicate(), &view(200));
        detector.on_ack(&advance(), &view(220));
        detector.on_ack(&duplicate(), &View { flight: 31, ..view(230) });
        assert_eq!(detector.rule(&view(230)), Rule::dupthresh(31));
    }

    #[test]
    fn slow_start_is_unchanged() {
        for name in ["dcr-ack", "dcr-timer"] {
            let mut detector = detector(name);
            let slow = View { slow_start: true, ..view(200) };
            detector.on_ack(&duplicate(), &slow);
            assert_eq!(detector.rule(&slow), Rule::dupthresh(3), "{name}");
            // Only the first duplicate decides.
            detector.on_ack(&duplicate(), &view(202));
            assert_eq!(detector.rule(&view(202)), Rule::dupthresh(3), "{name}");
        }
    }

    #[test]
    fn the_timer_runs_one_srtt_from_the_first_duplicate() {
        let mut detector = detector("dcr-timer");
        let first = View { srtt: Some(ms(120)), latest_rtt: Some(ms(60)), ..view(200) };
        detector.on_ack(&duplicate(), &first);
        assert_eq!(detector.rule(&first), due(320), "the last sample does not matter");
        detector.on_ack(&duplicate(), &view(230));
        assert_eq!(detector.rule(&view(230)), due(320), "once per run");
        detector.on_ack(&advance(), &view(240));
        detector.on_ack(&duplicate(), &view(250));
        assert_eq!(detector.rule(&view(250)), due(350), "every run has its own");
    }

    #[test]
    fn later_holes_of_a_recovery_are_counted_to_three() {
        for name in ["dcr-ack", "dcr-timer"] {
            let mut detector = detector(name);
            detector.on_ack(&duplicate(), &view(200));
            let recovering = View { recovering: true, ..view(301) };
            assert_eq!(detector.rule(&recovering), Rule::dupthresh(3), "{name}");
        }
    }

    #[test]
    fn a_timeout_ends_the_run() {
        for name in ["dcr-ack", "dcr-timer"] {
            let mut detector = detector(name);
            detector.on_ack(&duplicate(), &view(200));
            detector.on_timeout(true, &view(1200));
            assert_eq!(detector.rule(&view(1200)), Rule::dupthresh(3), "{name}");
        }
    }
}
