//! BBR, version 1, as in Linux 6.18 (`net/ipv4/tcp_bbr.c`; Cardwell, Cheng, Gunn, Yeganeh and Jacobson,
//! "BBR: congestion-based congestion control", ACM Queue 14, 2016). The sender models the path by its
//! bandwidth and its minimum round-trip time, and paces at what the bandwidth permits.
//!
//! Loss hardly matters to it, and ECN does not at all.

pub(super) mod aggregation;
mod cycle;
mod policer;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;
use unruffled_units::{Duration, Instant};

use super::bandwidth_pacing::{BandwidthPacing, PACING_MARGIN};
use super::pacing::send_quantum;
use super::probe_rtt::{ProbeRtt, Progress};
use super::windowed_max::WindowedMax;
use super::{
    AnyControl, CongestionControl, DeliveryRate, Flow, LossState, PathSample, Snapshot, Totals,
    Window,
};
use crate::parts::{Kind, Variable, maker};
use aggregation::Aggregation;
use cycle::Cycle;
use policer::{Finding, Policer};

/// BBR, version 1. It has no parameters, because Linux has none.
pub(crate) const BBR: Kind<AnyControl> = Kind::new::<()>("bbr", |values| {
    maker(values, |(), config| {
        AnyControl::Bbr(Box::new(Bbr::new(f64::from(config.window.initial), config.seed)))
    })
});

/// Round trips for which a bandwidth counts (`bbr_bw_rtts`).
const BANDWIDTH_ROUNDS: u64 = 10;

/// Time for which a minimum round-trip time counts (`bbr_min_rtt_win_sec`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

/// 2/ln 2, the smallest gain that doubles the rate in each round trip, in Linux's arithmetic
/// (`bbr_high_gain`).
const HIGH_GAIN: f64 = 739.0 / 256.0;

/// Pacing gain of DRAIN, its inverse (`bbr_drain_gain`).
const DRAIN_GAIN: f64 = 88.0 / 256.0;

/// Gain of the window in PROBE_BW (`bbr_cwnd_gain`).
const CWND_GAIN: f64 = 2.0;

/// Smallest window, and that of PROBE_RTT, in segments (`bbr_cwnd_min_target`).
const MIN_CWND: f64 = 4.0;

/// Growth of the bandwidth below which the pipe is full (`bbr_full_bw_thresh`).
const FULL_BANDWIDTH_GROWTH: f64 = 1.25;

/// Round trips without growth after which the pipe is full (`bbr_full_bw_cnt`).
const FULL_BANDWIDTH_ROUNDS: u32 = 3;

/// Segments that may always be delivered before the bandwidth limits the window (`TCP_INIT_CWND`).
const INITIAL_SEGMENTS: u64 = 10;

/// The state of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The rate doubles in each round trip.
    Startup,
    /// The queue that STARTUP made drains.
    Drain,
    /// The rate is that of the path; a cycle of gains looks for more.
    ProbeBw,
    /// Little is in flight, so that the minimum round-trip time shows.
    ProbeRtt,
}

/// BBR, version 1.
#[derive(Debug)]
pub(crate) struct Bbr {
    mode: Mode,
    initial_window: f64,
    rng: Xoshiro256PlusPlus,
    /// Bandwidth in segments per second.
    bandwidth: WindowedMax,
    /// Round trips so far.
    rounds: u64,
    /// Segments delivered when the round trip ends (`next_rtt_delivered`).
    round_ends_at: u64,
    /// Whether the last acknowledgement began a round trip.
    round_start: bool,
    min_rtt: Option<Duration>,
    min_rtt_at: Instant,
    /// Bandwidth at which the pipe may be full, and round trips since (`full_bw`, `full_bw_cnt`).
    full_bandwidth: f64,
    full_bandwidth_rounds: u32,
    /// Whether the pipe is full, so that STARTUP is over.
    filled: bool,
    /// Segments lost in STARTUP.
    startup_losses: u64,
    cycle: Cycle,
    policer: Policer,
    aggregation: Aggregation,
    pacing: BandwidthPacing,
    pacing_gain: f64,
    cwnd_gain: f64,
    /// Window before recovery or PROBE_RTT (`prior_cwnd`).
    prior_cwnd: f64,
    /// State with regard to loss after the last acknowledgement (`prev_ca_state`).
    loss_state: LossState,
    /// Whether one segment is sent for each delivered one.
    conserves_packets: bool,
    /// Whether transmission began again after the application had nothing to send.
    idle_restart: bool,
    probe_rtt: ProbeRtt,
    /// Time of the last delivery.
    delivered_at: Instant,
    totals: Totals,
}

impl Bbr {
    fn new(initial_window: f64, seed: u64) -> Self {
        Self {
            mode: Mode::Startup,
            initial_window,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            bandwidth: WindowedMax::default(),
            rounds: 0,
            round_ends_at: 0,
            round_start: false,
            min_rtt: None,
            min_rtt_at: Instant::ZERO,
            full_bandwidth: 0.0,
            full_bandwidth_rounds: 0,
            filled: false,
            startup_losses: 0,
            cycle: Cycle::default(),
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            pacing: BandwidthPacing::new(HIGH_GAIN * PACING_MARGIN, initial_window),
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            prior_cwnd: 0.0,
            loss_state: LossState::Open,
            conserves_packets: false,
            idle_restart: false,
            probe_rtt: ProbeRtt::default(),
            delivered_at: Instant::ZERO,
            totals: Totals::default(),
        }
    }

    /// Returns the bandwidth in force: that of a policer, or the maximum (`bbr_bw`).
    fn bandwidth(&self) -> f64 {
        self.policer.limit().unwrap_or_else(|| self.bandwidth.get())
    }

    /// Returns what a path of this bandwidth holds, times `gain` (`bbr_bdp`).
    fn bdp(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.min_rtt {
            Some(rtt) => (bandwidth * rtt.as_secs_f64() * gain).ceil(),
            None => self.initial_window,
        }
    }

    /// Adds to a window what leaves and arrives at a time (`bbr_quantization_budget`).
    fn quantize(&self, window: f64) -> f64 {
        let window = window + 3.0 * send_quantum(self.pacing.rate());
        let even = (window / 2.0).ceil() * 2.0;
        let probes = self.mode == Mode::ProbeBw && self.cycle.probes_up();
        if probes { even + 2.0 } else { even }
    }

    /// Returns how much should be in flight (`bbr_inflight`).
    fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        self.quantize(self.bdp(bandwidth, gain))
    }

    /// Returns how much of `in_flight` is still in the network when the next segment leaves
    /// (`bbr_packets_in_net_at_edt`).
    fn in_flight_at_departure(&self, in_flight: u32, sample: &PathSample) -> f64 {
        let quantum = if self.pacing_gain > 1.0 { send_quantum(self.pacing.rate()) } else { 0.0 };
        let delivered = self.bandwidth() * sample.departs_in.as_secs_f64();
        (f64::from(in_flight) + quantum - delivered).max(0.0)
    }

    /// Takes what the handshake has shown, when the first data is sent (`bbr_init`).
    fn begin(&mut self, cwnd: f64, flow: &Flow) {
        self.min_rtt = self.min_rtt.or(flow.min_rtt);
        self.min_rtt_at = flow.now;
        self.delivered_at = flow.now;
        self.aggregation.restart(flow.now);
        self.policer.reset(self.totals, flow.now);
        self.pacing.begin(cwnd, flow);
    }

    fn update_bandwidth(&mut self, sample: &PathSample, rate: &DeliveryRate) {
        if rate.sent.delivered >= self.round_ends_at {
            self.round_ends_at = sample.delivered_total;
            self.rounds += 1;
            self.round_start = true;
            self.conserves_packets = false;
        }
        let app_limited = rate.sent.app_limited;
        let finding = self.policer.on_ack(&policer::Facts {
            totals: self.totals,
            delivered_at: self.delivered_at,
            lost: sample.lost,
            round_start: self.round_start,
            app_limited,
            probing_bandwidth: self.mode == Mode::ProbeBw,
        });
        if finding == Finding::Over {
            self.enter_probe_bw();
        }
        let found = rate.per_second();
        if !app_limited || found >= self.bandwidth.get() {
            self.bandwidth.add(BANDWIDTH_ROUNDS, self.rounds, found);
        }
    }

    fn update_cycle(&mut self, sample: &PathSample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let (bandwidth, gain) = (self.bandwidth.get(), self.pacing_gain);
        let long = self.cycle.lasts_longer_than(self.min_rtt, self.delivered_at);
        let in_flight = self.in_flight_at_departure(sample.in_flight_before, sample);
        let over = if gain > 1.0 {
            long && (sample.lost > 0 || in_flight >= self.inflight(bandwidth, gain))
        } else if gain < 1.0 {
            long || in_flight <= self.inflight(bandwidth, 1.0)
        } else {
            long
        };
        if over {
            self.cycle.advance(self.delivered_at);
        }
    }

    fn check_filled(&mut self, app_limited: bool) {
        if self.filled || !self.round_start || app_limited {
            return;
        }
        if self.bandwidth.get() >= FULL_BANDWIDTH_GROWTH * self.full_bandwidth {
            self.full_bandwidth = self.bandwidth.get();
            self.full_bandwidth_rounds = 0;
            return;
        }
        self.full_bandwidth_rounds += 1;
        self.filled = self.full_bandwidth_rounds >= FULL_BANDWIDTH_ROUNDS;
    }

    /// Returns to STARTUP if segments that were lost in it turn out to have been late. What held the sender
    /// back was then the recovery, and not the path. Linux has no such rule, since its loss detection
    /// takes no loss back.
    fn count_losses(&mut self, sample: &PathSample) {
        if self.mode == Mode::Startup {
            self.startup_losses += u64::from(sample.lost);
        }
        let refuted = self.totals.lost.saturating_sub(sample.lost_total);
        if refuted == 0 || self.startup_losses == 0 {
            return;
        }
        self.startup_losses = self.startup_losses.saturating_sub(refuted);
        self.filled = false;
        self.full_bandwidth = 0.0;
        self.full_bandwidth_rounds = 0;
        if self.mode != Mode::ProbeRtt {
            self.mode = Mode::Startup;
        }
    }

    fn check_drained(&mut self, sample: &PathSample, window: &mut Window) {
        let bandwidth = self.bandwidth.get();
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight(bandwidth, 1.0);
        }
        if self.mode == Mode::Drain
            && self.in_flight_at_departure(sample.in_flight, sample)
                <= self.inflight(bandwidth, 1.0)
        {
            self.enter_probe_bw();
        }
    }

    fn enter_probe_bw(&mut self) {
        self.mode = Mode::ProbeBw;
        self.cycle.begin(&mut self.rng, self.delivered_at);
    }

    fn update_min_rtt(&mut self, sample: &PathSample, window: &mut Window, now: Instant) {
        let expired = now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = sample.rtt
            && (self.min_rtt.is_none_or(|min| rtt < min) || (expired && !sample.ack_may_be_delayed))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_cwnd(window.cwnd);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt = ProbeRtt::default();
        }
        if self.mode == Mode::ProbeRtt {
            let little = f64::from(sample.in_flight) <= MIN_CWND;
            match self.probe_rtt.on_ack(little, self.round_start, now) {
                Progress::Begins => self.round_ends_at = sample.delivered_total,
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
        self.min_rtt_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.filled {
            self.enter_probe_bw();
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.limit().is_some() => (1.0, CWND_GAIN),
            Mode::ProbeBw => (self.cycle.gain(), CWND_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    /// Saves the window for the end of recovery or of PROBE_RTT (`bbr_save_cwnd`).
    fn save_cwnd(&mut self, cwnd: f64) {
        let full = self.loss_state == LossState::Open && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if full { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// Returns the window at the begin and end of a recovery, and whether it is final
    /// (`bbr_set_cwnd_to_recover_or_restore`).
    fn recover_or_restore(&mut self, sample: &PathSample, cwnd: f64) -> (f64, bool) {
        let (before, state) = (self.loss_state, sample.loss_state);
        let (delivered, in_flight) = (f64::from(sample.delivered), f64::from(sample.in_flight));
        let mut cwnd =
            if sample.lost > 0 { (cwnd - f64::from(sample.lost)).max(1.0) } else { cwnd };
        if state == LossState::Recovery && before != LossState::Recovery {
            self.conserves_packets = true;
            self.round_ends_at = sample.delivered_total;
            cwnd = in_flight + delivered;
        } else if before != LossState::Open && state == LossState::Open {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves_packets = false;
        }
        self.loss_state = state;
        if self.conserves_packets { (cwnd.max(in_flight + delivered), true) } else { (cwnd, false) }
    }

    fn set_cwnd(&mut self, sample: &PathSample, bandwidth: f64, window: &mut Window) {
        let delivered = f64::from(sample.delivered);
        if sample.delivered > 0 {
            let (mut cwnd, is_final) = self.recover_or_restore(sample, window.cwnd);
            if !is_final {
                let aggregated = if self.filled { self.aggregation.window(bandwidth) } else { 0.0 };
                let target = self.quantize(self.bdp(bandwidth, self.cwnd_gain) + aggregated);
                if self.filled {
                    cwnd = (cwnd + delivered).min(target);
                } else if cwnd < target || sample.delivered_total < INITIAL_SEGMENTS {
                    cwnd += delivered;
                }
                cwnd = cwnd.max(MIN_CWND);
            }
            window.cwnd = cwnd;
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_CWND);
        }
    }
}

impl CongestionControl for Bbr {
    fn about(&self) -> Cow<'static, str> {
        "BBR version 1, as in Linux".into()
    }

    fn grow(&mut self, _window: &mut Window, _acked: u32, _counted: u32, _flow: &Flow) {}

    /// Saves the window. Neither a loss nor a timeout changes ssthresh.
    fn on_loss(&mut self, window: &Window, timeout: bool, _flow: &Flow) -> f64 {
        self.save_cwnd(window.cwnd);
        if timeout {
            self.loss_state = LossState::Timeout;
            self.full_bandwidth = 0.0;
            self.round_start = true;
            self.policer.on_ack(&policer::Facts {
                totals: self.totals,
                delivered_at: self.delivered_at,
                lost: 1,
                round_start: true,
                app_limited: false,
                probing_bandwidth: self.mode == Mode::ProbeBw,
            });
        }
        window.ssthresh
    }

    /// Leaves the window alone: version 1 does not respond to ECN.
    fn on_ecn(&mut self, window: &Window, _flow: &Flow) -> f64 {
        window.ssthresh
    }

    fn on_undo(&mut self, _window: &Window, _saved: &Snapshot) {
        self.full_bandwidth = 0.0;
        self.full_bandwidth_rounds = 0;
        self.policer.reset(self.totals, self.delivered_at);
    }

    fn on_smaller_segments(&mut self, ratio: f64) {
        self.bandwidth.scale(ratio);
        self.policer.scale(ratio);
        self.aggregation.scale(ratio);
        self.full_bandwidth *= ratio;
        self.pacing.scale(ratio);
        self.prior_cwnd *= ratio;
    }

    fn samples_path(&self) -> bool {
        true
    }

    fn on_sample(&mut self, sample: &PathSample, window: &mut Window, flow: &Flow) {
        self.count_losses(sample);
        self.totals = sample.totals();
        if sample.delivered > 0 {
            self.delivered_at = flow.now;
        }
        self.round_start = false;
        if let Some(rate) = &sample.rate {
            self.update_bandwidth(sample, rate);
            if sample.delivered > 0 {
                let bandwidth = self.bandwidth();
                let (round_start, now) = (self.round_start, self.delivered_at);
                self.aggregation.on_ack(sample.delivered, bandwidth, window.cwnd, round_start, now);
            }
        }
        self.update_cycle(sample);
        self.check_filled(sample.rate.is_some_and(|rate| rate.sent.app_limited));
        self.check_drained(sample, window);
        self.update_min_rtt(sample, window, flow.now);
        self.update_gains();
        let bandwidth = self.bandwidth();
        self.pacing.set(self.pacing_gain, bandwidth, self.filled, window.cwnd, flow);
        self.set_cwnd(sample, bandwidth, window);
    }

    fn on_restart(&mut self, window: &mut Window, flow: &Flow) {
        if self.totals.delivered == 0 {
            self.begin(window.cwnd, flow);
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(flow.now);
        match self.mode {
            // The rate is the path's, so that no queue forms.
            Mode::ProbeBw => {
                self.pacing.set(1.0, self.bandwidth(), self.filled, window.cwnd, flow);
            }
            Mode::ProbeRtt => self.check_probe_rtt_done(window, flow.now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing.rate())
    }

    fn holds_back(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    fn variables(&self, show: &mut dyn FnMut(Variable)) {
        show(Variable::number("bandwidth", self.bandwidth()));
        show(Variable::number("pacing_gain", self.pacing_gain));
        show(Variable::number("cwnd_gain", self.cwnd_gain));
        show(Variable::number("pacing_rate", self.pacing.rate()));
        if let Some(rtt) = self.min_rtt {
            show(Variable::time("bbr_min_rtt", rtt));
        }
    }
}
