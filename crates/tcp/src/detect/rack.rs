//! RACK's detection of losses by time (RFC 8985, section 6). Tail loss probes are the sender's.

use unruffled_units::{Duration, Instant};

use super::fixed::DUPTHRESH;
use super::{AckFacts, LossDetector, Overdue, Rule, Scope, View};

/// Recoveries for which a widened reordering window is kept (RACK.reo_wnd_persist).
const PERSIST: u32 = 16;

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
    /// The acknowledgement being read widened the window, so an end of recovery does not count.
    widened: bool,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
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
        let window = min_rtt * u64::from(self.state.reo_wnd_mult) / 4;
        window.min(view.srtt.unwrap_or_default())
    }
}

impl LossDetector for Rack {
    fn rule(&self, view: &View) -> Rule {
        let wait = self.state.rtt + self.reo_wnd(view);
        Rule { dupthresh: None, overdue: Some(Overdue { wait, scope: Scope::SentBeforeDelivered }) }
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
            state.reo_wnd_persist = PERSIST;
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
