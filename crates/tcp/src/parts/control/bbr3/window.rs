//! How much may be in flight (draft-ietf-ccwg-bbr-06, section 5.6).

use super::{Bbr3, State};
use crate::parts::control::pacing::send_quantum;
use crate::parts::control::{LossState, PathSample, Window};

/// Smallest window, in segments (BBR.MinPipeCwnd).
const MIN_CWND: f64 = 4.0;

impl Bbr3 {
    /// Returns what a path of this bandwidth holds, times `gain` (BDPMultiple).
    pub(super) fn bdp(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.min_rtt.get() {
            Some(rtt) => bandwidth * rtt.as_secs_f64() * gain,
            None => self.initial_window,
        }
    }

    /// Returns at least what leaves and arrives at a time (QuantizationBudget).
    fn quantize(&self, window: f64) -> f64 {
        let window = window.max(3.0 * send_quantum(self.pacing.rate())).max(MIN_CWND);
        if self.state == State::Up { window + 2.0 } else { window }
    }

    /// Returns how much should be in flight (Inflight).
    pub(super) fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        self.quantize(self.bdp(bandwidth, gain))
    }

    pub(super) fn target_inflight(&self, cwnd: f64) -> f64 {
        self.bdp(self.bandwidth(), 1.0).min(cwnd)
    }

    pub(super) fn inflight_with_headroom(&self) -> f64 {
        self.long_term.with_headroom().max(MIN_CWND)
    }

    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(self.bandwidth(), State::ProbeRtt.gains().1).max(MIN_CWND)
    }

    /// Saves the window for the end of recovery or of PROBE_RTT (SaveCwnd).
    pub(super) fn save_cwnd(&mut self, cwnd: f64) {
        let full = self.loss_state == LossState::Open && self.state != State::ProbeRtt;
        self.prior_cwnd = if full { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    pub(super) fn set_cwnd(&mut self, sample: &PathSample, window: &mut Window) {
        let mut cwnd = window.cwnd;
        if self.loss_state != LossState::Open && sample.loss_state == LossState::Open {
            cwnd = cwnd.max(self.prior_cwnd);
        }
        self.loss_state = sample.loss_state;
        let gain = self.state.gains().1;
        let max = self.quantize(self.bdp(self.bandwidth(), gain) + self.extra_acked.get());
        let delivered = f64::from(sample.delivered);
        if self.full_pipe.reached {
            cwnd = (cwnd + delivered).min(max);
        } else if cwnd < max || (self.totals.delivered as f64) < self.initial_window {
            cwnd += delivered;
        }
        cwnd = cwnd.max(MIN_CWND);
        if self.state == State::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        window.cwnd = cwnd.min(self.model_bound());
    }

    /// Returns the bound of the window by the model of congestion (BoundCwndForModel).
    fn model_bound(&self) -> f64 {
        let bound = match self.state {
            State::Down | State::Refill | State::Up => self.long_term.bound,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        bound.min(self.bounds.inflight).max(MIN_CWND)
    }
}
