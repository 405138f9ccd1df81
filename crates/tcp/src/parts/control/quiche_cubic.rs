//! CUBIC as quiche 0.30.0 has it (`recovery/congestion/cubic.rs`, `hystart.rs`), for the row `quiche`.
//!
//! It differs from RFC 9438 in how it counts. The window grows by whole packets, as increments add up to
//! one. Beyond slow start each acknowledged packet counts as much as a full one, however small it is. Where
//! W_est is ahead, each packet adds the whole lead, so that the window catches up faster than W_est grows.
//! The curve is read a *minimum* round trip ahead. An undo restores W_max, K and the epoch, and leaves W_est.
//!
//! HyStart++ ends slow start: in between the window grows by a quarter of a packet for each.

use std::borrow::Cow;

use unruffled_units::{Duration, Instant};

use super::cubic::Settings;
use super::{AnyControl, CongestionControl, Flow, RoundTripSample, Snapshot, Variables, Window};
use crate::parts::{Kind, maker};

/// CUBIC of quiche.
pub(crate) const QUICHE_CUBIC: Kind<AnyControl> = Kind::new::<Settings>("cubic", |values| {
    maker(values, |Settings { c, beta }: Settings, _| {
        AnyControl::Own(Box::new(QuicheCubic::new(c, beta)))
    })
});

/// Minimum window, in packets (`MINIMUM_WINDOW_PACKETS`).
const MIN_WINDOW: f64 = 2.0;
/// Bounds on the rise of the round trip's minimum that ends slow start.
const HYSTART_RISE: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));
/// Samples in a round after which slow start may end (`N_RTT_SAMPLE`).
const HYSTART_SAMPLES: u32 = 8;
/// Share of a packet by which the window grows in conservative slow start (`CSS_GROWTH_DIVISOR`).
const CONSERVATIVE_GROWTH: f64 = 0.25;
/// Rounds of conservative slow start (`CSS_ROUNDS`).
const CONSERVATIVE_ROUNDS: u32 = 5;

/// Variables that an undo restores, in packets and seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct State {
    w_max: f64,
    k: f64,
    /// When the latest reduction began (`congestion_recovery_start_time`).
    epoch: Option<Instant>,
}

impl State {
    pub(super) fn scale(&mut self, ratio: f64) {
        self.w_max *= ratio;
    }
}

/// HyStart++ (draft-ietf-tcpm-hystartplusplus-04).
#[derive(Debug, Default)]
struct Hystart {
    /// Offset in the stream at which the round ends.
    end: u64,
    samples: u32,
    least: Option<Duration>,
    before: Option<Duration>,
    /// Beginning of conservative slow start, and the minimum of the round trip then.
    conservative: Option<(Instant, Duration)>,
    rounds: u32,
    /// The sample of the present acknowledgement.
    latest: Option<RoundTripSample>,
}

impl Hystart {
    /// Takes an acknowledged packet. Returns whether slow start ends.
    fn on_packet(&mut self, now: Instant) -> bool {
        let Some(sample) = self.latest else { return false };
        let least = self.least.map_or(sample.rtt, |least| least.min(sample.rtt));
        self.least = Some(least);
        self.samples += 1;
        if self.samples >= HYSTART_SAMPLES {
            match (self.conservative, self.before) {
                (None, Some(before)) => {
                    let rise = (before / 8).clamp(HYSTART_RISE.0, HYSTART_RISE.1);
                    if least >= before + rise {
                        self.conservative = Some((now, least));
                    }
                }
                (Some((_, baseline)), _) => {
                    self.samples = 0;
                    if least < baseline {
                        self.conservative = None;
                        self.rounds = 0;
                    }
                }
                (None, None) => {}
            }
        }
        if sample.una <= self.end {
            return false;
        }
        self.end = sample.nxt;
        self.before = self.least.take();
        self.samples = 0;
        self.rounds += u32::from(self.conservative.is_some());
        let over = self.rounds >= CONSERVATIVE_ROUNDS;
        if over {
            self.rounds = 0;
        }
        over
    }
}

/// CUBIC of quiche.
#[derive(Debug)]
struct QuicheCubic {
    c: f64,
    beta: f64,
    state: State,
    w_est: f64,
    alpha: f64,
    /// Increments that have not added up to a packet.
    increment: f64,
    /// Parts of packets acknowledged in slow start since the window last grew.
    acked: f64,
    hystart: Hystart,
}

impl QuicheCubic {
    fn new(c: f64, beta: f64) -> Self {
        Self {
            c,
            beta,
            state: State::default(),
            w_est: 0.0,
            alpha: 0.0,
            increment: 0.0,
            acked: 0.0,
            hystart: Hystart::default(),
        }
    }

    /// Returns alpha_aimd of RFC 9438, section 4.3, for W_est below W_max.
    fn first_alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }

    fn w_cubic(&self, t: Duration) -> f64 {
        self.c * (t.as_secs_f64() - self.state.k).powi(3) + self.state.w_max
    }

    fn grow_slow_start(&mut self, window: &mut Window, part: f64, now: Instant) {
        self.acked += part;
        if self.acked >= 1.0 {
            self.acked -= 1.0;
            let conservative = self.hystart.conservative.is_some();
            window.cwnd += if conservative { CONSERVATIVE_GROWTH } else { 1.0 };
        }
        if self.hystart.on_packet(now) {
            window.ssthresh = window.cwnd;
        }
    }

    /// Begins the curve at its flat part.
    fn begin_flat(&mut self, cwnd: f64) {
        self.state.w_max = cwnd;
        self.state.k = 0.0;
        self.w_est = cwnd;
        self.alpha = self.first_alpha();
    }

    fn avoid_congestion(&mut self, window: &mut Window, part: f64, flow: &Flow) {
        let cwnd = window.cwnd;
        let start = match (self.hystart.conservative, self.state.epoch) {
            (Some((start, _)), _) => {
                if self.state.w_max == 0.0 {
                    self.begin_flat(cwnd);
                }
                start
            }
            (None, Some(epoch)) => epoch,
            (None, None) => {
                self.begin_flat(cwnd);
                self.state.epoch = Some(flow.now);
                flow.now
            }
        };
        let t = flow.now.since(start);
        let target = self.w_cubic(t + flow.min_rtt.unwrap_or_default());
        let target = target.clamp(cwnd, 1.5 * cwnd);
        self.w_est += self.alpha * part / cwnd;
        if self.w_est >= self.state.w_max {
            self.alpha = 1.0;
        }
        self.increment += if self.w_cubic(t) < self.w_est {
            (self.w_est - cwnd).max(0.0)
        } else {
            (target - cwnd) / cwnd
        };
        if self.increment >= 1.0 {
            self.increment -= 1.0;
            window.cwnd += 1.0;
        }
    }
}

impl CongestionControl for QuicheCubic {
    fn about(&self) -> Cow<'static, str> {
        "CUBIC, quiche's".into()
    }

    fn on_round_trip(&mut self, sample: &RoundTripSample, _window: &mut Window) {
        self.hystart.latest = Some(*sample);
    }

    fn grow_by_packet(&mut self, window: &mut Window, part: f64, flow: &Flow) -> bool {
        if window.slow_start() {
            self.grow_slow_start(window, part, flow.now);
        } else {
            self.avoid_congestion(window, part, flow);
        }
        true
    }

    fn grow(&mut self, window: &mut Window, _acked: u32, counted: u32, flow: &Flow) {
        for _ in 0..counted {
            self.grow_by_packet(window, 1.0, flow);
        }
    }

    fn on_loss(&mut self, window: &Window, _timeout: bool, flow: &Flow) -> f64 {
        let cwnd = window.cwnd;
        let released = cwnd < self.state.w_max;
        let w_max = if released { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        let ssthresh = (cwnd * self.beta).max(MIN_WINDOW);
        let k = libm::cbrt((w_max - ssthresh).max(0.0) / self.c);
        self.state = State { w_max, k, epoch: Some(flow.now) };
        self.increment *= self.beta;
        self.w_est = ssthresh;
        self.alpha = self.first_alpha();
        self.hystart.conservative = None;
        ssthresh
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot(Variables::QuicheCubic(self.state))
    }

    fn on_undo(&mut self, _window: &Window, saved: &Snapshot) {
        if let Variables::QuicheCubic(state) = saved.0 {
            self.state = state;
        }
    }

    fn on_smaller_segments(&mut self, ratio: f64) {
        self.state.scale(ratio);
        self.w_est *= ratio;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn flow(ms: u64) -> Flow {
        Flow { now: Instant::from_millis(ms), flight: 70.0, srtt: Some(RTT), min_rtt: Some(RTT) }
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-5, "found {found}, expected {expected}");
    }

    /// Returns the state after a window of 100 lost a packet at 0 s.
    fn after_a_loss_at_100() -> (QuicheCubic, Window) {
        let mut cubic = QuicheCubic::new(0.4, 0.7);
        let window = Window { cwnd: 100.0, ssthresh: 50.0 };
        let ssthresh = cubic.on_loss(&window, false, &flow(0));
        (cubic, Window { cwnd: ssthresh, ssthresh })
    }

    #[test]
    fn a_loss_leaves_seven_tenths_and_a_second_one_releases_bandwidth() {
        let (mut cubic, window) = after_a_loss_at_100();
        assert_eq!((window.cwnd, cubic.state.w_max), (70.0, 100.0));
        // K = ∛(30 / 0.4) = 4.21716 s.
        near(cubic.state.k, 4.21716);
        // 80 < 100: 80 · 1.7 / 2 = 68. The window is 56, and K = ∛(12 / 0.4) = 3.10723 s.
        let ssthresh = cubic.on_loss(&Window { cwnd: 80.0, ssthresh: 70.0 }, false, &flow(1));
        near(ssthresh, 56.0);
        near(cubic.state.w_max, 68.0);
        near(cubic.state.k, 3.10723);
    }

    #[test]
    fn the_window_grows_by_whole_packets_and_small_ones_count_in_full() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        // At 2 s, a minimum round trip ahead: 100 − 0.4 · (4.21716 − 2.1)³ = 96.20397. Each packet adds
        // (96.20397 − 70) / 70 = 0.37434, however small it is.
        for part in [0.1, 1.0] {
            cubic.grow_by_packet(&mut window, part, &flow(2000));
        }
        assert_eq!(window.cwnd, 70.0);
        near(cubic.increment, 2.0 * 0.37434);
        cubic.grow_by_packet(&mut window, 0.1, &flow(2000));
        assert_eq!(window.cwnd, 71.0);
        near(cubic.increment, 3.0 * 0.37434 - 1.0);
    }

    #[test]
    fn each_packet_adds_the_whole_lead_of_w_est() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        // The curve begins at 100 − 0.4 · 75 = 70, where W_est begins as well. Alpha is 0.9 / 1.7 = 0.52941,
        // so that each packet raises W_est by 0.52941 / 70 = 0.007563. After 15 packets the leads add up to
        // 0.007563 · (1 + 2 + … + 15) = 0.90756, and after 16 to 1.02857.
        for _ in 0..15 {
            cubic.grow_by_packet(&mut window, 1.0, &flow(0));
        }
        assert_eq!(window.cwnd, 70.0);
        near(cubic.increment, 0.90756);
        cubic.grow_by_packet(&mut window, 1.0, &flow(0));
        assert_eq!(window.cwnd, 71.0);
        near(cubic.w_est, 70.0 + 16.0 * 0.007563);
    }

    #[test]
    fn an_undo_restores_the_curve_and_not_the_estimate() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        cubic.grow_by_packet(&mut window, 1.0, &flow(1000));
        let (saved, before) = (cubic.snapshot(), cubic.state);
        window.cwnd = cubic.on_loss(&window, false, &flow(2100));
        cubic.on_undo(&window, &saved);
        assert_eq!(cubic.state, before);
        assert_eq!(cubic.w_est, window.cwnd, "what the reduction left");
    }

    /// Rounds of eight packets. The round trip rises from 80 to 92 ms, by more than an eighth, and stays.
    #[test]
    fn slow_start_goes_on_by_quarters_for_five_rounds_and_ends() {
        let mut cubic = QuicheCubic::new(0.4, 0.7);
        let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
        let mut round = |number: u64, rtt_ms, window: &mut Window| {
            for packet in 1..=8 {
                let una = number * 8000 + packet * 1000;
                let rtt = Duration::from_millis(rtt_ms);
                let sample = RoundTripSample { now: Instant::ZERO, rtt, una, nxt: una + 7000 };
                cubic.on_round_trip(&sample, window);
                cubic.grow_by_packet(window, 1.0, &flow(100));
            }
        };
        round(0, 80, &mut window);
        assert_eq!(window.cwnd, 28.0);
        round(1, 80, &mut window);
        assert_eq!(window.cwnd, 36.0);
        round(2, 92, &mut window);
        let before = window.cwnd;
        round(3, 92, &mut window);
        // The first packet is the eighth sample of the round that the one before it ended.
        assert_eq!(window.cwnd, before + 1.0 + 7.0 * 0.25);
        for number in 4..8 {
            round(number, 92, &mut window);
        }
        assert!(!window.slow_start(), "{window:?}");
    }
}
