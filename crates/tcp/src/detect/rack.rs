//! RACK's detection of losses by time (RFC 8985, section 6). Tail loss probes are the sender's.

use unruffled_units::{Duration, Instant};

use super::fixed::DUPTHRESH;
use super::{AckFacts, LossDetector, Overdue, Rule, Scope, View};
use crate::parameter::{Parameter, Unit, Values};

/// What can be set of it.
pub(crate) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "persist",
        unit: Unit::Number,
        default: 16.0,
        range: (1.0, 1e6),
        about: "recoveries for which a widened reordering window is kept",
        source: "RFC 8985, section 6.2",
    },
    Parameter {
        name: "reo_wnd",
        unit: Unit::Fraction,
        default: 0.25,
        range: (0.0, 1.0),
        about: "the reordering window's step, as a share of the least round-trip time",
        source: "RFC 8985, section 6.2",
    },
];

/// The variables of RFC 8985, section 5.3, that decide on the reordering window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RackState {
    /// RACK.reordering_seen.
    pub reordering_seen: bool,
    /// RACK.reo_wnd_mult.
    pub reo_wnd_mult: u32,
    /// RACK.reo_wnd_persist.
    pub reo_wnd_persist: u32,
    /// RACK.dsack_round: the offset that ends the round in which a DSACK came.
    pub dsack_round: Option<u64>,
    /// RACK.rtt.
    pub rtt: Duration,
    /// RACK.xmit_ts.
    pub latest_sent: Instant,
}

/// RACK.
#[derive(Debug)]
pub(crate) struct Rack {
    state: RackState,
    persist: u32,
    reo_wnd: f64,
    /// The acknowledgement being read widened the window, so an end of recovery does not count.
    widened: bool,
}

impl Rack {
    pub(crate) fn build(values: &Values<'_>) -> Box<dyn LossDetector> {
        Box::new(Self::new(values))
    }

    pub(super) fn new(values: &Values<'_>) -> Self {
        Self {
            persist: values.get("persist") as u32,
            reo_wnd: values.get("reo_wnd"),
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

    /// RACK.reo_wnd (section 6.2, step 4).
    fn reo_wnd(&self, view: &View) -> Duration {
        if !self.state.reordering_seen && (view.recovering || view.sacked >= DUPTHRESH) {
            return Duration::ZERO;
        }
        let min_rtt = view.min_rtt.unwrap_or_default();
        let window = min_rtt.mul_f64(f64::from(self.state.reo_wnd_mult) * self.reo_wnd);
        window.min(view.srtt.unwrap_or_default())
    }
}

impl LossDetector for Rack {
    fn rule(&self, view: &View) -> Rule {
        let wait = self.state.rtt + self.reo_wnd(view);
        let overdue = Overdue { wait, scope: Scope::SentBeforeDelivered, eager: false };
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
        // Step 4: grow once per round that brings a DSACK.
        if state.dsack_round.is_some_and(|round| view.una >= round) {
            state.dsack_round = None;
        }
        self.widened = facts.dsack && state.dsack_round.is_none();
        if self.widened {
            state.dsack_round = Some(view.nxt);
            state.reo_wnd_mult += 1;
            state.reo_wnd_persist = self.persist;
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

    fn rack(&self) -> Option<RackState> {
        Some(self.state)
    }
}
