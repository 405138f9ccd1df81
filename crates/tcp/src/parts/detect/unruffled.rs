//! Resend on suspicion, slow down on proof: two waits in time, both from the distribution of how
//! late segments have been (`docs/senders/unruffled.md`).
//!
//! The first wait says when a segment is sent again, which costs a packet if it was only late; the
//! second when the window is reduced, which costs half a window in every round trip until it has
//! grown back. What stands between the two is in `sender/composed/doubt.rs`. As long as nothing came late,
//! RACK decides.

use std::borrow::Cow;

use unruffled_units::{Duration, Instant};

use super::lateness::{Lateness, share_of};
use super::rack::{self, Rack};
use super::{AckFacts, Detector, LossDetector, Overdue, Report, Rule, View, boxed};
use crate::parameter::{Parameter, Settings as _, Unit, settings};
use crate::parts::{Kind, Variable, kind};

settings! {
    /// Tunable parameters.
    "unruffled" Settings {
        persist: f64 = rack::Settings::PARAMETERS[0],
        reo_wnd: f64 = rack::Settings::PARAMETERS[1],
        budget: f64 = Parameter {
            name: "budget",
            unit: Unit::Fraction,
            default: 0.01,
            range: (0.0, 0.5),
            about: "greatest share of all segments that may be resent spuriously; up to it, the share lost",
            source: "docs/senders/unruffled.md, ablation",
        },
        margin: f64 = Parameter {
            name: "margin",
            unit: Unit::Number,
            default: 1.25,
            range: (1.0, 100.0),
            about: "wait for proof, in units of the longest lateness",
            source: "docs/senders/unruffled.md, ablation",
        },
        memory: Duration = Parameter {
            name: "memory",
            unit: Unit::Time,
            default: 3.0,
            range: (0.1, 1000.0),
            about: "how long a lateness counts at least, and until 1000 samples are newer",
            source: "docs/senders/unruffled.md, ablation",
        },
        many: f64 = Parameter {
            name: "many",
            unit: Unit::Fraction,
            default: 0.1,
            range: (0.0, 1.0),
            about: "share of the window that is proof when suspected at a time (at least 3 segments)",
            source: "docs/senders/unruffled.md, ablation",
        },
    }
}

/// Resend on suspicion, slow down on proof.
pub(crate) const UNRUFFLED: Kind<Detector> =
    kind!("unruffled", Settings, |settings, _| boxed(Unruffled::new(settings)));

/// No wait is longer than this, or than the timeout if that is longer (RFC 6298, rule 2.4: the
/// minimum of the timeout).
const BOUND: Duration = Duration::from_secs(1);
/// The wait for proof may be longer, over long paths: at least so many round trips.
const PATIENCE: f64 = 16.0;

/// The detector.
#[derive(Debug)]
pub(crate) struct Unruffled {
    rack: Rack,
    lateness: Lateness,
    /// Of the settings, the one that is needed again.
    many: f64,
    /// The round-trip time of the front, the latest-sent segment known to be delivered. RACK's is that
    /// of the latest-sent segment of each acknowledgement; this one does not move when a late one
    /// arrives.
    reference: Duration,
    /// When the latest-sent segment left that was sent once and is known to be delivered: unlike
    /// RACK's, no retransmission that may have been the original.
    sent_once: Instant,
}

impl Unruffled {
    fn new(settings: Settings) -> Self {
        let Settings { persist, reo_wnd, budget, margin, memory, many } = settings;
        Self {
            rack: Rack::new(rack::Settings::read(&[persist, reo_wnd])),
            lateness: Lateness::new(memory, budget, margin),
            many,
            reference: Duration::ZERO,
            sent_once: Instant::ZERO,
        }
    }

    /// RFC 8985, section 6.2, step 4: RACK's smallest window.
    fn floor(&self, view: &View) -> Duration {
        view.min_rtt.unwrap_or_default().mul_f64(self.rack.smallest_window())
    }

    /// τ_rtx and τ_cc: how long after its reference round trip a segment is resent, and how long
    /// after it the loss is believed.
    fn waits(&self, view: &View) -> (Duration, Duration) {
        let bound = view.rto.max(BOUND);
        let floor = self.floor(view);
        let resend = self.lateness.quantile().max(floor).min(bound);
        let safe = self.lateness.safe();
        if safe <= bound {
            return (resend, resend.max(safe));
        }
        // Reno grows by a segment in each meanwhile: by no more than would prove an overflow.
        let patience = PATIENCE.max((view.cwnd * self.many).floor());
        let believe = resend.max(safe.min(bound.max(self.reference.mul_f64(patience))));
        (resend, believe)
    }
}

impl LossDetector for Unruffled {
    fn about(&self) -> Cow<'static, str> {
        "time since a later segment was delivered, beyond the lateness that is usual".into()
    }

    fn doubts(&self) -> Option<f64> {
        Some(self.many)
    }

    fn rule(&self, view: &View) -> Rule {
        if !self.lateness.seen() {
            return self.rack.rule(view);
        }
        let (resend, believe) = self.waits(view);
        let overdue = Overdue { wait: self.reference + resend, eager: true };
        Rule { overdue: Some(overdue), proof: Some(self.reference + believe), ..Rule::default() }
    }

    fn on_arrival(&mut self, sent: Instant, now: Instant) {
        match self.lateness(sent, now) {
            Some(lateness) => self.lateness.late(lateness),
            None => self.lateness.in_order(),
        }
    }

    fn lateness(&self, sent: Instant, now: Instant) -> Option<Duration> {
        let front = if self.lateness.seen() { self.rack.latest_sent() } else { self.sent_once };
        (sent < front).then(|| now.since(sent).saturating_sub(self.reference))
    }

    fn on_late(&mut self, lateness: Duration) {
        self.lateness.late(lateness);
    }

    fn on_proof(&mut self) {
        self.lateness.lost();
    }

    fn on_disproof(&mut self) {
        self.lateness.found();
    }

    fn on_report(&mut self, report: Report) {
        self.lateness.on_report(report);
    }

    fn excuses(&mut self) -> bool {
        self.lateness.excuses()
    }

    // Little's law: of the segments of a round trip, each of which waits so long on the average, this
    // share waits at a time.
    fn usually_late(&self) -> f64 {
        self.lateness.share(self.reference)
    }

    fn usually_suspected(&self, view: &View) -> f64 {
        let (resend, _) = self.waits(view);
        share_of(self.lateness.mean_beyond(resend), self.reference)
    }

    fn rather_late(&self, view: &View) -> Option<Instant> {
        self.lateness.rather_late(self.floor(view))
    }

    fn on_ack(&mut self, facts: &AckFacts, view: &View) {
        if let Some(sent) = facts.latest_sent
            && sent >= self.rack.latest_sent()
        {
            self.reference = view.now.since(sent);
            self.lateness.forget_share();
        }
        self.sent_once = self.sent_once.max(facts.latest_sent_once.unwrap_or_default());
        self.rack.on_ack(facts, view);
        self.lateness.refresh(view.now);
        // Long before it is asked for: its divisions take as long as much else that can be done meanwhile.
        let _ = self.lateness.share(self.reference);
    }

    fn on_recovery_end(&mut self, view: &View) {
        self.rack.on_recovery_end(view);
    }

    fn variables(&self, view: &View, show: &mut dyn FnMut(Variable)) {
        if self.lateness.seen() {
            let (resend, believe) = self.waits(view);
            show(Variable::time("tau_rtx", resend));
            show(Variable::time("tau_cc", believe));
            show(Variable::time("lateness_mean", self.lateness.mean()));
            show(Variable::time("lateness_longest", self.lateness.longest()));
        }
        self.rack.variables(view, show);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{detector, ms, view};
    use super::*;

    /// Where the bin of 40 ms ends.
    const FORTY: Duration = Duration::from_nanos(5 << 23);

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// An acknowledgement, at `now`, of what was sent at `sent` and at nothing later.
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
            ours.on_arrival(at(10 * n), at(100 + 10 * n));
            for detector in [&mut ours, &mut rack] {
                latest(detector.as_mut(), 10 * n, 100 + 10 * n);
            }
            let view = View { sacked: (n % 5) as u32, ..view(100 + 10 * n) };
            assert_eq!(ours.rule(&view), rack.rule(&view), "at {n}");
        }
    }

    #[test]
    fn a_lateness_is_what_a_segment_took_beyond_the_front() {
        let mut ours = detector("unruffled");
        ours.on_arrival(at(10), at(110));
        latest(ours.as_mut(), 10, 110);
        // Sent at 0, arrives at 140: 40 later than the reference of 100 makes it.
        ours.on_arrival(at(0), at(140));
        latest(ours.as_mut(), 0, 140);
        let rule = ours.rule(&view(140));
        // One of two samples is more than 1 %: 40 ms, whose bin ends at 2^23 · 5 ns. The longest and
        // a quarter: 50 ms.
        assert_eq!(rule.overdue.map(|o| (o.wait, o.eager)), Some((ms(100) + FORTY, true)));
        assert_eq!(rule.proof, Some(ms(150)));
    }

    #[test]
    fn the_reference_is_the_fronts_and_not_the_late_ones() {
        let mut ours = detector("unruffled");
        latest(ours.as_mut(), 10, 110);
        ours.on_arrival(at(0), at(140));
        latest(ours.as_mut(), 0, 140);
        latest(ours.as_mut(), 60, 170);
        assert_eq!(ours.rule(&view(170)).overdue.map(|o| o.wait), Some(ms(110) + FORTY));
    }

    #[test]
    fn the_waits_are_bounded_below_and_above() {
        let mut ours = detector("unruffled");
        latest(ours.as_mut(), 10, 110);
        ours.on_arrival(at(0), at(101));
        latest(ours.as_mut(), 0, 101);
        let rule = ours.rule(&view(140));
        assert_eq!((rule.overdue.map(|o| o.wait), rule.proof), (Some(ms(125)), Some(ms(125))));
        ours.on_arrival(at(0), at(9100));
        latest(ours.as_mut(), 0, 9100);
        // A second, the timeout; for proof, 16 round trips of 100 ms if that is longer.
        for (rto, resend, believe) in [(200, 1000, 1600), (1500, 1500, 1600), (2000, 2000, 2000)] {
            let rule = ours.rule(&View { rto: ms(rto), ..view(9100) });
            assert_eq!(rule.overdue.map(|o| o.wait), Some(ms(100 + resend)));
            assert_eq!(rule.proof, Some(ms(100 + believe)));
        }
    }

    #[test]
    fn a_large_window_waits_longer_for_proof() {
        let mut ours = detector("unruffled");
        latest(ours.as_mut(), 10, 110);
        ours.on_arrival(at(0), at(9100));
        latest(ours.as_mut(), 0, 9100);
        // A tenth of the window in round trips of 100 ms; at last 5/4 of the 9 s that something was
        // late by.
        for (cwnd, believe) in [(160.0, 1600), (300.0, 3000), (5000.0, 11_250)] {
            let rule = ours.rule(&View { cwnd, ..view(9100) });
            assert_eq!(rule.proof, Some(ms(100 + believe)), "at {cwnd}");
        }
    }

    #[test]
    fn as_large_a_share_is_usually_late_as_is_late_at_a_time() {
        let mut ours = detector("unruffled");
        latest(ours.as_mut(), 10, 110);
        (0..9).for_each(|_| ours.on_arrival(at(20), at(120)));
        ours.on_arrival(at(0), at(150));
        // 50 ms in ten samples, of a reference of 100 ms.
        assert!((ours.usually_late() - 0.05).abs() < 1e-9);
        // Whatever changes the mean or the reference changes the share.
        ours.on_arrival(at(0), at(150));
        assert!((ours.usually_late() - 0.1 / 1.1).abs() < 1e-9);
        (0..9).for_each(|_| ours.on_arrival(at(20), at(120)));
        assert!((ours.usually_late() - 0.05).abs() < 1e-9);
        latest(ours.as_mut(), 30, 230);
        assert!((ours.usually_late() - 0.025).abs() < 1e-9);
    }
}
