//! The detector of `unruffled`: resend on suspicion, slow down on proof. Its two waits follow from the
//! distribution of recent latenesses (`docs/senders/unruffled.md`).
//!
//! After the first wait a segment is sent again, which costs one packet if it was only late. After the
//! second wait the window is reduced, which costs half a window in every round trip until it has grown
//! back. The sender's side of this is in `sender/composed/two_stage.rs`. Until a segment has been late,
//! RACK's rule applies.

use std::borrow::Cow;

use unruffled_lateness::two_stage::{self, Path, Waits};
use unruffled_lateness::{Front, Lateness, share_of};
use unruffled_units::{Duration, Instant};

use super::dsack_loss::DsackLoss;
use super::rack::{self, Rack};
use super::{AckFacts, Detector, LossDetector, Overdue, Rule, View, boxed};
use super::{DsackOutcome, LatenessModel};
use crate::parameter::{Parameter, Settings as _, Unit, settings};
use crate::parts::{Kind, Variable, maker};

settings! {
    /// Tunable parameters.
    "unruffled" Settings {
        persist: f64 = rack::Settings::PARAMETERS[0],
        reo_wnd: f64 = rack::Settings::PARAMETERS[1],
        budget: f64 = Parameter {
            name: "budget",
            unit: Unit::Fraction,
            default: two_stage::BUDGET,
            range: (0.0, 0.5),
            about: "maximum share of segments resent spuriously, if the share lost is not smaller",
            source: "docs/senders/unruffled.md, ablation",
        },
        margin: f64 = Parameter {
            name: "margin",
            unit: Unit::Number,
            default: two_stage::MARGIN,
            range: (1.0, 100.0),
            about: "wait for confirmation, as a multiple of the longest lateness",
            source: "docs/senders/unruffled.md, ablation",
        },
        memory: Duration = Parameter {
            name: "memory",
            unit: Unit::Time,
            default: (two_stage::MEMORY.as_nanos() / 1_000_000_000) as f64,
            range: (0.1, 1000.0),
            about: "minimum time for which a lateness counts; it also needs 1000 newer samples to expire",
            source: "docs/senders/unruffled.md, ablation",
        },
        many: f64 = Parameter {
            name: "many",
            unit: Unit::Fraction,
            default: two_stage::MANY,
            range: (0.0, 1.0),
            about: "share of the window that confirms losses when suspected at a time (at least 3 segments)",
            source: "docs/senders/unruffled.md, ablation",
        },
    }
}

/// The detector of `unruffled`.
pub(crate) const UNRUFFLED: Kind<Detector> = Kind::new::<Settings>("unruffled", |values| {
    maker(values, |settings: Settings, _| boxed(Unruffled::new(settings)))
});

/// The detector.
#[derive(Debug)]
pub(crate) struct Unruffled {
    rack: Rack,
    lateness: Lateness,
    dsack_loss: DsackLoss,
    /// The setting `many`.
    overflow_share: f64,
    /// RACK's round-trip time is that of the latest-sent segment of each acknowledgement instead.
    front: Front,
    /// Transmission time of the latest-sent segment that was sent once and is known to be delivered.
    /// RACK's may be that of a retransmission whose original arrived.
    sent_once: Instant,
}

impl Unruffled {
    fn new(settings: Settings) -> Self {
        let Settings { persist, reo_wnd, budget, margin, memory, many } = settings;
        Self {
            rack: Rack::new(rack::Settings::read(&[persist, reo_wnd])),
            lateness: Lateness::new(memory, budget, margin),
            dsack_loss: DsackLoss::default(),
            overflow_share: many,
            front: Front::default(),
            sent_once: Instant::ZERO,
        }
    }

    /// Returns RACK's smallest reordering window (RFC 8985, section 6.2, step 4).
    fn floor(&self, view: &View) -> Duration {
        view.min_rtt.unwrap_or_default().mul_f64(self.rack.smallest_window())
    }

    fn waits(&self, view: &View) -> Waits {
        let path = Path {
            smallest_window: self.floor(view),
            timeout: view.rto,
            reference: self.front.reference(),
            window: view.cwnd,
            overflow_share: self.overflow_share,
        };
        Waits::new(&self.lateness, &path)
    }
}

impl LossDetector for Unruffled {
    fn about(&self) -> Cow<'static, str> {
        "time since a later segment was delivered, beyond the lateness that is usual".into()
    }

    fn rule(&self, view: &View) -> Rule {
        if !self.lateness.seen() {
            return self.rack.rule(view);
        }
        let Waits { resend, confirm } = self.waits(view);
        let reference = self.front.reference();
        let overdue = Overdue { wait: reference + resend, eager: true };
        let confirm_after = Some(reference + confirm);
        Rule { overdue: Some(overdue), confirm_after, ..Rule::default() }
    }

    fn two_stage(&mut self) -> Option<&mut dyn LatenessModel> {
        Some(self)
    }

    fn on_ack(&mut self, facts: &AckFacts, view: &View) {
        if self.front.on_ack(facts.latest_sent, view.now) {
            self.lateness.invalidate_share();
        }
        self.sent_once = self.sent_once.max(facts.latest_sent_once.unwrap_or_default());
        self.rack.on_ack(facts, view);
        if self.lateness.refresh(view.now) {
            self.dsack_loss.fade();
        }
        // Computed long before it is needed, because other work hides the latency of its divisions.
        self.lateness.keep_share(self.front.reference());
    }

    fn on_recovery_end(&mut self, view: &View) {
        self.rack.on_recovery_end(view);
    }

    fn on_timeout(&mut self, _first: bool, view: &View) {
        self.front.on_timeout(view.srtt.unwrap_or_default(), view.now);
    }

    fn variables(&self, view: &View, show: &mut dyn FnMut(Variable)) {
        if self.lateness.seen() {
            let Waits { resend, confirm } = self.waits(view);
            show(Variable::time("tau_rtx", resend));
            show(Variable::time("tau_cc", confirm));
            show(Variable::time("lateness_mean", self.lateness.mean()));
            show(Variable::time("lateness_longest", self.lateness.longest()));
        }
        self.rack.variables(view, show);
    }
}

impl LatenessModel for Unruffled {
    fn overflow_share(&self) -> f64 {
        self.overflow_share
    }

    fn on_arrival(&mut self, sent: Instant, now: Instant) {
        if self.front.hides(sent) {
            return;
        }
        match self.lateness(sent, now) {
            Some(lateness) => self.lateness.late(lateness),
            None => self.lateness.in_order(),
        }
    }

    fn lateness(&self, sent: Instant, now: Instant) -> Option<Duration> {
        let front = if self.lateness.seen() { self.front.sent() } else { self.sent_once };
        self.front.lateness_behind(front, sent, now)
    }

    fn on_late(&mut self, lateness: Duration) {
        self.lateness.late(lateness);
    }

    fn on_confirmed(&mut self) {
        self.lateness.lost();
    }

    fn on_refuted(&mut self) {
        self.lateness.found();
    }

    fn on_dsack(&mut self, outcome: DsackOutcome) {
        self.dsack_loss.count(outcome);
    }

    fn take_dsack_loss_credit(&mut self) -> bool {
        self.dsack_loss.take_credit()
    }

    // Little's law: of the segments of a round trip, each of which is late by this mean time, this share
    // is late at any moment.
    fn late_share(&self) -> f64 {
        self.lateness.share(self.front.reference())
    }

    fn suspected_share(&self, view: &View) -> f64 {
        let Waits { resend, .. } = self.waits(view);
        share_of(self.lateness.mean_beyond(resend), self.front.reference())
    }

    fn likely_reordered_since(&self, view: &View) -> Option<Instant> {
        self.lateness.likely_reordered_since(self.floor(view))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{detector, ms, view};
    use super::*;

    /// End of the bin that contains 40 ms.
    const END_OF_40_MS_BIN: Duration = Duration::from_nanos(5 << 23);

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn model(detector: &mut dyn LossDetector) -> &mut dyn LatenessModel {
        detector.two_stage().expect("a model")
    }

    /// Delivers a segment sent at `sent`, which arrives by its first transmission at `now`, in
    /// milliseconds.
    fn arrives(detector: &mut dyn LossDetector, sent: u64, now: u64) {
        model(detector).on_arrival(at(sent), at(now));
    }

    fn late_share(detector: &mut dyn LossDetector) -> f64 {
        model(detector).late_share()
    }

    /// Delivers an acknowledgement at `now` whose latest-sent segment was sent at `sent`.
    fn latest(detector: &mut dyn LossDetector, sent: u64, now: u64) {
        let latest_sent = Some(at(sent));
        let latest_sent_once = latest_sent;
        let facts = AckFacts { latest_sent, latest_sent_once, delivered: 1, ..AckFacts::default() };
        detector.on_ack(&facts, &view(now));
    }

    #[test]
    fn rack_decides_until_something_is_late() {
        let (mut ours, mut rack) = (detector("unruffled"), detector("rack"));
        for n in 0..20 {
            arrives(ours.as_mut(), 10 * n, 100 + 10 * n);
            for detector in [&mut ours, &mut rack] {
                latest(detector.as_mut(), 10 * n, 100 + 10 * n);
            }
            let view = View { sacked: (n % 5) as u32, ..view(100 + 10 * n) };
            assert_eq!(ours.rule(&view), rack.rule(&view), "at {n}");
        }
    }

    #[test]
    fn lateness_is_measured_from_the_front() {
        let mut ours = detector("unruffled");
        arrives(ours.as_mut(), 10, 110);
        latest(ours.as_mut(), 10, 110);
        // Sent at 0 and arriving at 140, it is 40 ms late by the reference of 100 ms.
        arrives(ours.as_mut(), 0, 140);
        latest(ours.as_mut(), 0, 140);
        let rule = ours.rule(&view(140));
        // One of two samples is more than 1 %, so the quantile is 40 ms, whose bin ends at 2^23 · 5 ns.
        // The longest lateness and a quarter of it are 50 ms.
        assert_eq!(
            rule.overdue.map(|o| (o.wait, o.eager)),
            Some((ms(100) + END_OF_40_MS_BIN, true))
        );
        assert_eq!(rule.confirm_after, Some(ms(150)));
    }

    /// Segments sent at 0 to 90 ms arrive, and an outage of five seconds loses their acknowledgements. The
    /// first one is sent again at 4.9 s, and the acknowledgement of that copy reports one of the others.
    #[test]
    fn segments_from_before_an_outage_are_not_late() {
        for was_late in [false, true] {
            let mut ours = detector("unruffled");
            if was_late {
                latest(ours.as_mut(), 10, 110);
                arrives(ours.as_mut(), 0, 150);
            }
            latest(ours.as_mut(), 20, 120);
            for timeout in [420, 1220, 4900] {
                let srtt = Some(ms(100));
                ours.on_timeout(timeout == 420, &View { srtt, ..view(timeout) });
            }
            arrives(ours.as_mut(), 90, 5000);
            latest(ours.as_mut(), 4900, 5000);
            for sent in [80, 70, 60] {
                arrives(ours.as_mut(), sent, 5010);
                latest(ours.as_mut(), sent, 5010);
            }
            assert_eq!(model(ours.as_mut()).lateness(at(50), at(5020)), None);
            let confirm = ours.rule(&view(5010)).confirm_after;
            // 5/4 of 50 ms, or RACK's rule.
            assert_eq!(confirm, was_late.then_some(ms(162) + Duration::from_micros(500)));
            // A segment sent after the outage is late by 30 ms.
            latest(ours.as_mut(), 5050, 5150);
            assert_eq!(model(ours.as_mut()).lateness(at(5040), at(5170)), Some(ms(30)));
        }
    }

    /// The timer expires for one segment, while acknowledgements of others arrive.
    #[test]
    fn a_timeout_for_a_late_segment_hides_nothing() {
        let mut ours = detector("unruffled");
        latest(ours.as_mut(), 10, 110);
        arrives(ours.as_mut(), 0, 150);
        latest(ours.as_mut(), 200, 300);
        ours.on_timeout(true, &View { srtt: Some(ms(100)), ..view(310) });
        assert_eq!(model(ours.as_mut()).lateness(at(100), at(350)), Some(ms(150)));
    }

    #[test]
    fn a_late_segment_leaves_the_reference_as_it_is() {
        let mut ours = detector("unruffled");
        latest(ours.as_mut(), 10, 110);
        arrives(ours.as_mut(), 0, 140);
        latest(ours.as_mut(), 0, 140);
        latest(ours.as_mut(), 60, 170);
        assert_eq!(ours.rule(&view(170)).overdue.map(|o| o.wait), Some(ms(110) + END_OF_40_MS_BIN));
    }

    #[test]
    fn the_waits_are_bounded_below_and_above() {
        let mut ours = detector("unruffled");
        latest(ours.as_mut(), 10, 110);
        arrives(ours.as_mut(), 0, 101);
        latest(ours.as_mut(), 0, 101);
        let rule = ours.rule(&view(140));
        assert_eq!(
            (rule.overdue.map(|o| o.wait), rule.confirm_after),
            (Some(ms(125)), Some(ms(125)))
        );
        arrives(ours.as_mut(), 0, 9100);
        latest(ours.as_mut(), 0, 9100);
        // One second or the timeout; for confirmation, 16 round trips of 100 ms if that is longer.
        for (rto, resend, confirm) in [(200, 1000, 1600), (1500, 1500, 1600), (2000, 2000, 2000)] {
            let rule = ours.rule(&View { rto: ms(rto), ..view(9100) });
            assert_eq!(rule.overdue.map(|o| o.wait), Some(ms(100 + resend)));
            assert_eq!(rule.confirm_after, Some(ms(100 + confirm)));
        }
    }

    #[test]
    fn a_large_window_waits_longer_for_confirmation() {
        let mut ours = detector("unruffled");
        latest(ours.as_mut(), 10, 110);
        arrives(ours.as_mut(), 0, 9100);
        latest(ours.as_mut(), 0, 9100);
        // As many round trips of 100 ms as a tenth of the window has segments, up to 5/4 of the longest
        // lateness, 9 s.
        for (cwnd, confirm) in [(160.0, 1600), (300.0, 3000), (5000.0, 11_250)] {
            let rule = ours.rule(&View { cwnd, ..view(9100) });
            assert_eq!(rule.confirm_after, Some(ms(100 + confirm)), "at {cwnd}");
        }
    }

    #[test]
    fn the_late_share_is_the_mean_lateness_per_round_trip() {
        let mut ours = detector("unruffled");
        latest(ours.as_mut(), 10, 110);
        (0..9).for_each(|_| arrives(ours.as_mut(), 20, 120));
        arrives(ours.as_mut(), 0, 150);
        // 50 ms in ten samples, with a reference of 100 ms.
        assert!((late_share(ours.as_mut()) - 0.05).abs() < 1e-9);
        // The share follows the mean and the reference.
        arrives(ours.as_mut(), 0, 150);
        assert!((late_share(ours.as_mut()) - 0.1 / 1.1).abs() < 1e-9);
        (0..9).for_each(|_| arrives(ours.as_mut(), 20, 120));
        assert!((late_share(ours.as_mut()) - 0.05).abs() < 1e-9);
        latest(ours.as_mut(), 30, 230);
        assert!((late_share(ours.as_mut()) - 0.025).abs() < 1e-9);
    }
}
