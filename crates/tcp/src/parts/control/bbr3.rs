//! BBR, version 3 (draft-ietf-ccwg-bbr-06). As in version 1, the sender paces at the bandwidth of the path.
//! It responds to loss as well: it bounds what is in flight by what a probe has found to be safe, and slows
//! down for a few round trips after any loss. `docs/senders/bbr.md` describes it, and what late packets
//! mean to it.
//!
//! # Deviations from the draft
//!
//! * Volumes are in segments, not in octets.
//! * Segments that are late do not count as in flight, since they are in no queue. The sender may have as
//!   many in flight besides the window.
//! * A verdict that takes longer than a round trip counts the losses of one round trip only
//!   ([`LossRate`]). It counts for the probe in which the segment was sent, even if that is over.
//! * What a spurious reduction lowered comes back from the values before that reduction, and not from
//!   those before the last loss.
//! * Beside a detector that confirms losses, a loss rate is a sign of congestion if it significantly exceeds
//!   2 % ([`Losses::Significant`]).
//! * A search for bandwidth that losses ended goes on when they prove to be late. The draft does so when a
//!   whole reduction proves spurious.
//! * The acknowledgement of a segment that was sent again less than a round trip ago is no sample.
//! * Every sender counts as one with selective acknowledgements.
//! * A quantum is that of Linux, which is smaller than the draft's by 2.4 % and has one segment below
//!   1.2 Mb/s. There is no offload budget beyond it.
//! * ssthresh is what the path holds when STARTUP ends. Nothing depends on it.
//!
//! The draft has no response to ECN. Here a mark is a sign of congestion in its round trip, like a loss.

mod ended_search;
mod full_pipe;
mod long_term;
mod loss_rate;
mod min_rtt;
mod probe_bw;
mod signals;
mod state;
#[cfg(test)]
mod tests;
mod window;

use std::borrow::Cow;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;
use unruffled_units::Instant;

use super::bandwidth_pacing::BandwidthPacing;
use super::bbr::aggregation::Epoch;
use super::probe_rtt::{ProbeRtt, Progress};
use super::windowed_max::WindowedMax;
use super::{
    AnyControl, CongestionControl, Flow, LossState, LostSegment, PathSample, Snapshot, Totals,
    Variables, Window,
};
use crate::Config;
use crate::parts::{Kind, Variable, maker};
use ended_search::EndedSearch;
use full_pipe::{FullPipe, StartupLosses};
use long_term::LongTerm;
use loss_rate::{ConfirmedSettings, LossRate, Losses, Settings};
use min_rtt::MinRtt;
use probe_bw::Cycle;
use signals::{Bounds, Signals};
use state::State;

/// BBR, version 3. Its constants are the draft's.
pub(crate) const BBR3: Kind<AnyControl> = Kind::new::<Settings>("bbr3", |values| {
    maker(values, |settings: Settings, config| make(settings.losses, config))
});

/// BBR, version 3, beside a detector that confirms losses. By default it tolerates random ones.
pub(crate) const BBR3_CONFIRMED: Kind<AnyControl> =
    Kind::new::<ConfirmedSettings>("bbr3", |values| {
        maker(values, |settings: ConfirmedSettings, config| make(settings.losses, config))
    });

fn make(losses: Losses, config: &Config) -> AnyControl {
    let initial_window = f64::from(config.window.initial);
    AnyControl::Bbr3(Box::new(Bbr3::new(losses, initial_window, config.seed)))
}

/// Cycles before the present one for which a bandwidth counts (BBR.MaxBwFilterLen).
const BANDWIDTH_CYCLES: u64 = 1;

/// Round trips for which aggregation counts (BBR.ExtraAckedFilterLen), and in STARTUP.
const AGGREGATION_ROUNDS: u64 = 10;
const STARTUP_AGGREGATION_ROUNDS: u64 = 1;

/// Round trips after which DRAIN ends, whatever is in flight.
const MAX_DRAIN_ROUNDS: u64 = 3;

/// Round trips, counted by what is delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Rounds {
    count: u64,
    /// Segments delivered when the round trip ends (BBR.next_round_delivered).
    ends_at: u64,
    /// Whether the present acknowledgement begins a round trip.
    start: bool,
}

/// What a spurious reduction has to bring back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Undo {
    bounds: Bounds,
    /// BBR.inflight_longterm.
    long_term: f64,
}

impl Undo {
    /// Converts to smaller segments, of which `ratio` fit into a previous one.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.bounds.scale(ratio);
        self.long_term *= ratio;
    }
}

/// BBR, version 3.
#[derive(Debug)]
pub(crate) struct Bbr3 {
    losses: Losses,
    state: State,
    initial_window: f64,
    rng: Xoshiro256PlusPlus,
    /// Maximum bandwidth, in segments per second, by cycles (BBR.max_bw).
    bandwidth: WindowedMax,
    cycles: u64,
    rounds: Rounds,
    min_rtt: MinRtt,
    full_pipe: FullPipe,
    startup_losses: StartupLosses,
    drain_began: u64,
    cycle: Cycle,
    signals: Signals,
    bounds: Bounds,
    long_term: LongTerm,
    aggregation: Epoch,
    /// Maximum of what arrives at a time beyond what the bandwidth explains (BBR.extra_acked).
    extra_acked: WindowedMax,
    pacing: BandwidthPacing,
    /// Window before recovery or PROBE_RTT (BBR.prior_cwnd).
    prior_cwnd: f64,
    /// State with regard to loss after the last acknowledgement.
    loss_state: LossState,
    ended_search: Option<EndedSearch>,
    /// Whether the window was full in the present round trip, and whether it was in the one before
    /// (C.is_cwnd_limited).
    window_full: bool,
    window_was_full: bool,
    /// Whether transmission began again after the application had nothing to send.
    idle_restart: bool,
    probe_rtt: ProbeRtt,
    totals: Totals,
}

impl Bbr3 {
    fn new(losses: Losses, initial_window: f64, seed: u64) -> Self {
        Self {
            losses,
            state: State::Startup,
            initial_window,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            bandwidth: WindowedMax::default(),
            cycles: 0,
            rounds: Rounds::default(),
            min_rtt: MinRtt::default(),
            full_pipe: FullPipe::default(),
            startup_losses: StartupLosses::default(),
            drain_began: 0,
            cycle: Cycle::default(),
            signals: Signals::default(),
            bounds: Bounds::NONE,
            long_term: LongTerm::default(),
            aggregation: Epoch::default(),
            extra_acked: WindowedMax::default(),
            pacing: BandwidthPacing::new(State::Startup.gains().0, initial_window),
            prior_cwnd: 0.0,
            loss_state: LossState::Open,
            ended_search: None,
            window_full: false,
            window_was_full: false,
            idle_restart: false,
            probe_rtt: ProbeRtt::default(),
            totals: Totals::default(),
        }
    }

    /// Returns the bandwidth in force (BBR.bw).
    fn bandwidth(&self) -> f64 {
        self.bandwidth.get().min(self.bounds.bandwidth)
    }

    fn start_round(&mut self) {
        self.rounds.ends_at = self.totals.delivered;
    }

    /// Takes what the handshake has shown, when the first data is sent (OnInit).
    fn begin(&mut self, cwnd: f64, flow: &Flow) {
        self.min_rtt.begin(flow.min_rtt, flow.now);
        self.aggregation.restart(flow.now);
        self.pacing.begin(cwnd, flow);
    }

    fn set_pacing_rate(&mut self, gain: f64, cwnd: f64, flow: &Flow) {
        self.pacing.set(gain, self.bandwidth(), self.full_pipe.reached, cwnd, flow);
    }

    /// Counts round trips, and takes the rate into the maximum (UpdateMaxBw).
    fn update_bandwidth(&mut self, sample: &PathSample) {
        self.rounds.start = false;
        self.window_full |= sample.window_full;
        self.window_was_full |= sample.window_full;
        let Some(rate) = &sample.rate else { return };
        if rate.sent.delivered >= self.rounds.ends_at {
            self.start_round();
            self.rounds.count += 1;
            self.rounds.start = true;
            self.cycle.rounds += 1;
            self.window_was_full = self.window_full;
            self.window_full = sample.window_full;
        }
        let found = rate.per_second();
        if !rate.sent.app_limited || found >= self.bandwidth.get() {
            self.bandwidth.add(BANDWIDTH_CYCLES, self.cycles, found);
        }
    }

    /// Lowers the short-term bounds once in a round trip with congestion
    /// (AdaptLowerBoundsFromCongestion).
    fn update_bounds(&mut self, sample: &PathSample, cwnd: f64) {
        if !self.signals.round_start {
            return;
        }
        let signs = self.signals.take_signs();
        let lost = signs.lost && self.losses.show_congestion(LossRate::of_sample(sample));
        if (lost || signs.marked) && !self.state.accelerates() {
            self.bounds.lower(&self.signals, self.bandwidth.get(), cwnd);
        }
    }

    fn update_aggregation(&mut self, sample: &PathSample, cwnd: f64, now: Instant) {
        if sample.delivered == 0 {
            return;
        }
        let extra = self.aggregation.on_ack(sample.delivered, self.bandwidth(), now);
        let rounds =
            if self.full_pipe.reached { AGGREGATION_ROUNDS } else { STARTUP_AGGREGATION_ROUNDS };
        self.extra_acked.add(rounds, self.rounds.count, extra.clamp(0.0, cwnd));
    }

    fn check_startup_done(&mut self, sample: &PathSample, window: &mut Window) {
        if let Some(rate) = &sample.rate
            && self.rounds.start
            && !rate.sent.app_limited
        {
            self.full_pipe.on_round(rate.per_second());
        }
        self.check_startup_losses(sample);
        if self.state == State::Startup && self.full_pipe.reached {
            self.state = State::Drain;
            self.drain_began = self.rounds.count;
            window.ssthresh = self.inflight(self.bandwidth(), 1.0);
        }
    }

    /// Ends STARTUP if a round trip lost too much (CheckStartupHighLoss).
    fn check_startup_losses(&mut self, sample: &PathSample) {
        let many = self.signals.round_start && self.startup_losses.end_round(self.rounds.count);
        // The acknowledgement that ends the recovery counts for it.
        let recovering = sample.loss_state == LossState::Recovery;
        self.startup_losses.on_state(recovering, self.rounds.count);
        let losses = LossRate::of_sample(sample).filter(|&rate| self.losses.are_too_high(rate));
        if let Some(losses) = losses
            && self.state == State::Startup
            && !self.full_pipe.reached
            && many
        {
            self.end_search(losses, None);
            self.full_pipe.reached = true;
            let bdp = self.bdp(self.bandwidth(), 1.0);
            self.long_term.bound = bdp.max(self.signals.inflight());
        }
    }

    fn check_drained(&mut self, sample: &PathSample, now: Instant) {
        if self.state == State::Drain
            && (f64::from(sample.in_flight) <= self.inflight(self.bandwidth(), 1.0)
                || self.rounds.count > self.drain_began + MAX_DRAIN_ROUNDS)
        {
            self.start_down(now);
        }
    }

    fn check_probe_rtt(&mut self, sample: &PathSample, window: &mut Window, now: Instant) {
        self.min_rtt.on_ack(sample.rtt, now);
        if self.min_rtt.expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.state = State::ProbeRtt;
            self.save_cwnd(window.cwnd);
            self.probe_rtt = ProbeRtt::default();
            self.cycle.stop_probe(self.totals.delivered);
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            let little = f64::from(sample.in_flight) <= self.probe_rtt_cwnd();
            match self.probe_rtt.on_ack(little, self.rounds.start, now) {
                Progress::Begins => self.start_round(),
                Progress::RoundDone => self.check_probe_rtt_done(window, now),
                Progress::Waits => {}
            }
        }
        if sample.rate.is_some() {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, window: &mut Window, now: Instant) {
        if !self.probe_rtt.is_over(now) {
            return;
        }
        self.min_rtt.on_probed(now);
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.bounds = Bounds::NONE;
        if self.full_pipe.reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}

impl CongestionControl for Bbr3 {
    fn about(&self) -> Cow<'static, str> {
        "BBR version 3 (draft-ietf-ccwg-bbr-06)".into()
    }

    fn grow(&mut self, _window: &mut Window, _acked: u32, _counted: u32, _flow: &Flow) {}

    /// Saves the window. Neither a loss nor a timeout changes ssthresh.
    fn on_loss(&mut self, window: &Window, timeout: bool, _flow: &Flow) -> f64 {
        self.save_cwnd(window.cwnd);
        if let Some(ended) = &mut self.ended_search {
            ended.of_last_reduction = false;
        }
        if timeout {
            self.loss_state = LossState::Timeout;
        }
        window.ssthresh
    }

    /// A mark is a sign of congestion in its round trip, like a loss. The draft has no response to ECN.
    fn on_ecn(&mut self, window: &Window, _flow: &Flow) -> f64 {
        if self.signals.note_mark(self.totals.delivered) {
            self.save_cwnd(window.cwnd);
        }
        window.ssthresh
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot(Variables::Bbr3(Undo { bounds: self.bounds, long_term: self.long_term.bound }))
    }

    fn on_undo(&mut self, _window: &Window, saved: &Snapshot) {
        self.signals.take_signs();
        self.full_pipe.restart(0.0);
        if let Snapshot(Variables::Bbr3(before)) = saved {
            self.bounds.raise_to(&before.bounds);
            self.long_term.bound = self.long_term.bound.max(before.long_term);
        }
        if let Some(ended) = self.ended_search.take_if(|ended| ended.of_last_reduction) {
            self.resume(ended.state);
        }
    }

    fn on_smaller_segments(&mut self, ratio: f64) {
        self.bandwidth.scale(ratio);
        self.full_pipe.scale(ratio);
        self.signals.scale(ratio);
        self.bounds.scale(ratio);
        self.long_term.scale(ratio);
        if let Some(ended) = &mut self.ended_search {
            ended.scale(ratio);
        }
        self.aggregation.scale(ratio);
        self.extra_acked.scale(ratio);
        self.pacing.scale(ratio);
        self.prior_cwnd *= ratio;
    }

    fn samples_path(&self) -> bool {
        true
    }

    fn on_sample(&mut self, sample: &PathSample, window: &mut Window, flow: &Flow) {
        let now = flow.now;
        // A late segment that was sent again is no sample of the second transmission.
        let min_rtt = self.min_rtt.get().unwrap_or_default();
        let rate = sample.rate.filter(|rate| rate.age >= min_rtt);
        let sample = &PathSample { rate, ..*sample };
        self.count_refuted(sample);
        self.totals = sample.totals();
        self.signals.on_rate(sample.rate.as_ref(), sample.delivered_total);
        self.update_bandwidth(sample);
        self.update_bounds(sample, window.cwnd);
        self.update_aggregation(sample, window.cwnd, now);
        self.check_startup_done(sample, window);
        self.check_drained(sample, now);
        self.update_cycle(sample, window.cwnd, now);
        self.check_probe_rtt(sample, window, now);
        self.signals.advance(sample.rate.as_ref());
        self.set_pacing_rate(self.state.gains().0, window.cwnd, flow);
        self.set_cwnd(sample, window);
    }

    fn on_lost(&mut self, lost: &LostSegment, window: &Window, flow: &Flow) {
        if self.signals.note_loss(lost.delivered_total) {
            self.save_cwnd(window.cwnd);
        }
        if self.state == State::Startup {
            self.startup_losses.on_lost(lost.number);
        }
        if let Some(ended) = &mut self.ended_search {
            ended.on_lost(&lost.sent);
        }
        self.on_probe_loss(&lost.sent, LossRate::of_lost(lost), window.cwnd, flow.now);
    }

    fn on_restart(&mut self, window: &mut Window, flow: &Flow) {
        if self.totals.delivered == 0 {
            self.begin(window.cwnd, flow);
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(flow.now);
        if self.state.probes_bandwidth() {
            self.set_pacing_rate(1.0, window.cwnd, flow);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(window, flow.now);
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing.rate())
    }

    fn holds_back(&self) -> bool {
        self.state == State::ProbeRtt
    }

    fn variables(&self, show: &mut dyn FnMut(Variable)) {
        let (pacing_gain, cwnd_gain) = self.state.gains();
        show(Variable::number("bandwidth", self.bandwidth()));
        show(Variable::number("pacing_gain", pacing_gain));
        show(Variable::number("cwnd_gain", cwnd_gain));
        show(Variable::number("pacing_rate", self.pacing.rate()));
        for (name, bound) in [
            ("bw_shortterm", self.bounds.bandwidth),
            ("inflight_shortterm", self.bounds.inflight),
            ("inflight_longterm", self.long_term.bound),
        ] {
            if bound.is_finite() {
                show(Variable::number(name, bound));
            }
        }
        if let Some(rtt) = self.min_rtt.get() {
            show(Variable::time("bbr_min_rtt", rtt));
        }
    }
}
