//! RACK's time-based loss detection (RFC 8985, section 6). The sender implements tail loss probes.

use std::borrow::Cow;

use unruffled_lateness::two_stage::SMALLEST_WINDOW;
use unruffled_units::{Duration, Instant};

use super::fixed::DUPTHRESH;
use super::{AckFacts, Detector, LossDetector, Overdue, Rule, View, boxed};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, Variable, maker};

settings! {
    /// Tunable parameters.
    "rack" Settings {
        persist: u32 = Parameter {
            name: "persist",
            unit: Unit::Number,
            default: 16.0,
            range: (1.0, 1e6),
            about: "recoveries for which a widened reordering window is kept",
            source: "RFC 8985, section 6.2",
        },
        reo_wnd: f64 = Parameter {
            name: "reo_wnd",
            unit: Unit::Fraction,
            default: SMALLEST_WINDOW,
            range: (0.0, 1.0),
            about: "the reordering window's step, as a share of the minimum round-trip time",
            source: "RFC 8985, section 6.2",
        },
    }
}

/// RFC 8985's detector.
pub(crate) const RACK: Kind<Detector> = Kind::new::<Settings>("rack", |values| {
    maker(values, |settings: Settings, _| boxed(Rack::new(settings)))
});

/// Variables of RFC 8985, section 5.3, that determine the reordering window.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RackState {
    /// RACK.reordering_seen.
    reordering_seen: bool,
    /// RACK.reo_wnd_mult.
    reo_wnd_mult: u32,
    /// RACK.reo_wnd_persist.
    reo_wnd_persist: u32,
    /// RACK.dsack_round: the offset that ends the round in which a DSACK arrived.
    dsack_round: Option<u64>,
    /// RACK.rtt.
    rtt: Duration,
    /// RACK.xmit_ts.
    latest_sent: Instant,
}

/// RACK's detector.
#[derive(Debug)]
pub(crate) struct Rack {
    state: RackState,
    settings: Settings,
    /// Whether the present acknowledgement widened the window. Then an end of recovery does not
    /// count.
    widened: bool,
}

impl Rack {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            state: RackState {
                reordering_seen: false,
                reo_wnd_mult: 1,
                reo_wnd_persist: 0,
                dsack_round: None,
                rtt: Duration::ZERO,
                latest_sent: Instant::ZERO,
            },
            widened: false,
        }
    }

    /// Returns the smallest reordering window, as a share of the minimum round-trip time.
    pub(super) fn smallest_window(&self) -> f64 {
        self.settings.reo_wnd
    }

    /// Returns RACK.reo_wnd (section 6.2, step 4).
    fn reo_wnd(&self, view: &View) -> Duration {
        if !self.state.reordering_seen && (view.recovering || view.sacked >= DUPTHRESH) {
            return Duration::ZERO;
        }
        let min_rtt = view.min_rtt.unwrap_or_default();
        let window = min_rtt.mul_f64(f64::from(self.state.reo_wnd_mult) * self.settings.reo_wnd);
        window.min(view.srtt.unwrap_or_default())
    }
}

impl LossDetector for Rack {
    fn about(&self) -> Cow<'static, str> {
        "time since a later segment was delivered, beyond a reordering window".into()
    }

    fn rule(&self, view: &View) -> Rule {
        let wait = self.state.rtt + self.reo_wnd(view);
        let overdue = Overdue { wait, eager: false };
        Rule { overdue: Some(overdue), ..Rule::default() }
    }

    fn on_ack(&mut self, facts: &AckFacts, view: &View) {
        let state = &mut self.state;
        // Step 2: RACK.rtt is that of the most recently sent segment among those just delivered.
        if let Some(sent) = facts.latest_sent {
            state.rtt = view.now.since(sent);
            state.latest_sent = state.latest_sent.max(sent);
        }
        // Step 3.
        state.reordering_seen |= facts.reordered;
        // Step 4: the window grows once per round in which a DSACK arrives.
        if state.dsack_round.is_some_and(|round| view.una >= round) {
            state.dsack_round = None;
        }
        self.widened = facts.dsack && state.dsack_round.is_none();
        if self.widened {
            state.dsack_round = Some(view.nxt);
            state.reo_wnd_mult += 1;
            state.reo_wnd_persist = self.settings.persist;
        }
    }

    fn on_recovery_end(&mut self, _view: &View) {
        if self.widened {
            return;
        }
        self.state.reo_wnd_persist = self.state.reo_wnd_persist.saturating_sub(1);
        if self.state.reo_wnd_persist == 0 {
            self.state.reo_wnd_mult = 1;
        }
    }

    fn variables(&self, view: &View, show: &mut dyn FnMut(Variable)) {
        let RackState { reordering_seen, reo_wnd_mult, reo_wnd_persist, .. } = self.state;
        show(Variable::time("reo_wnd", self.reo_wnd(view)));
        show(Variable::number("reo_wnd_mult", f64::from(reo_wnd_mult)));
        show(Variable::number("reo_wnd_persist", f64::from(reo_wnd_persist)));
        show(Variable::number("reordering_seen", f64::from(u8::from(reordering_seen))));
        show(Variable::time("rack_rtt", self.state.rtt));
        show(Variable::time("rack_xmit_ts", self.state.latest_sent.since(Instant::ZERO)));
        if let Some(round) = self.state.dsack_round {
            show(Variable::number("dsack_round", round as f64));
        }
    }
}
