//! CUBIC as ngtcp2 0.12.1 has it (`lib/ngtcp2_cc.c`), for the row `ngtcp2`.
//!
//! Three things differ from RFC 9438. K is a whole number of seconds. The target, which the RFC reads off
//! the curve one round trip ahead, is the value of the present *multiplied* by the age of the stage in
//! seconds: the window hardly grows in the first second, and by half in each round trip once the stage is
//! older than a second and a half. And the window does not grow beyond 2.89 times what the highest delivery
//! rate brings in a minimum round trip.

use std::borrow::Cow;

use unruffled_units::{Duration, Instant};

use super::{AnyControl, CongestionControl, Flow, RoundTripSample, Snapshot, Variables, Window};
use crate::parts::{Kind, maker};

/// CUBIC of ngtcp2.
pub(crate) const NGTCP2_CUBIC: Kind<AnyControl> = Kind::new::<()>("ngtcp2-cubic", |values| {
    maker(values, |(), _| AnyControl::Own(Box::new(Ngtcp2Cubic::default())))
});

/// C, in segments per second cubed.
const C: f64 = 0.4;
/// Share of the window that remains after a loss.
const BETA: f64 = 0.7;
/// Minimum window, in segments.
const MIN_WINDOW: f64 = 2.0;
/// Maximum of the window, in products of delivery rate and minimum round trip.
const MAX_PRODUCTS: f64 = 2.89;
/// Initial window, the least product, in segments.
const INITIAL_WINDOW: f64 = 10.0;
/// Growth where the target is below the window, as a share of a segment per window.
const IDLE_GROWTH: f64 = 0.01;
/// Window from which on, and samples in a round after which, slow start may end early.
const HYSTART_WINDOW: f64 = 16.0;
const HYSTART_SAMPLES: u32 = 8;
/// Bounds on the rise of the round trip's minimum that ends slow start.
const HYSTART_RISE: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stage {
    epoch: Instant,
    /// K, in whole seconds.
    k: f64,
    origin: f64,
    w_tcp: f64,
}

/// Variables that an undo restores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct State {
    w_last_max: f64,
    stage: Option<Stage>,
}

/// Minimum of the round-trip times in this round and in the one before.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    end: u64,
    samples: u32,
    least: Option<Duration>,
    before: Option<Duration>,
}

/// CUBIC of ngtcp2.
#[derive(Debug, Default)]
struct Ngtcp2Cubic {
    state: State,
    round: Round,
    /// The highest rate of delivery so far, in segments per second.
    max_rate: f64,
    /// What limits the window, from the first rate on (`target_cwnd`).
    most: Option<f64>,
}

impl Ngtcp2Cubic {
    /// Grows the window by a packet that is this part of a full one.
    fn avoid_congestion(&mut self, window: &mut Window, part: f64, flow: &Flow) {
        let cwnd = window.cwnd;
        let w_last_max = self.state.w_last_max;
        let stage = self.state.stage.get_or_insert_with(|| {
            let below = cwnd < w_last_max;
            let k = if below { libm::cbrt((w_last_max - cwnd) / C).floor() } else { 0.0 };
            let origin = if below { w_last_max } else { cwnd };
            Stage { epoch: flow.now, k, origin, w_tcp: cwnd }
        });
        let age = flow.now.since(stage.epoch).as_secs_f64();
        let present = stage.origin + C * (age - stage.k).powi(3);
        let ahead = age + flow.srtt.unwrap_or_default().as_secs_f64();
        let target = (present.max(0.0) * ahead).clamp(cwnd, 1.5 * cwnd);
        let cubic = if target > cwnd { (target - cwnd) / cwnd } else { IDLE_GROWTH / cwnd };
        stage.w_tcp += part / cwnd;
        let reno = ((stage.w_tcp - cwnd) / cwnd).max(0.0);
        window.cwnd += cubic.max(reno);
    }
}

impl CongestionControl for Ngtcp2Cubic {
    fn about(&self) -> Cow<'static, str> {
        "CUBIC, ngtcp2's".into()
    }

    fn on_delivery_rate(&mut self, rate: f64, flow: &Flow) {
        let Some(min_rtt) = flow.min_rtt else { return };
        self.max_rate = self.max_rate.max(rate);
        let product = self.max_rate * min_rtt.as_secs_f64();
        self.most = Some(MAX_PRODUCTS * product.max(INITIAL_WINDOW));
    }

    fn on_round_trip(&mut self, sample: &RoundTripSample, window: &mut Window) {
        let round = &mut self.round;
        if sample.una >= round.end {
            *round = Round { end: sample.nxt, before: round.least.take(), ..Round::default() };
        }
        round.samples += 1;
        let least = round.least.map_or(sample.rtt, |least| least.min(sample.rtt));
        round.least = Some(least);
        let Some(before) = round.before else { return };
        let rise = (before / 8).clamp(HYSTART_RISE.0, HYSTART_RISE.1);
        let enough = round.samples >= HYSTART_SAMPLES && window.cwnd >= HYSTART_WINDOW;
        if window.slow_start() && enough && least >= before + rise {
            self.state.w_last_max = window.cwnd;
            window.ssthresh = window.cwnd;
        }
    }

    fn grow_by_packet(&mut self, window: &mut Window, part: f64, flow: &Flow) -> bool {
        if self.most.is_some_and(|most| window.cwnd > most) {
            return true;
        }
        if window.slow_start() {
            window.cwnd += part;
        } else {
            self.avoid_congestion(window, part, flow);
        }
        true
    }

    fn grow(&mut self, window: &mut Window, acked: u32, _counted: u32, flow: &Flow) {
        for _ in 0..acked {
            self.grow_by_packet(window, 1.0, flow);
        }
    }

    fn on_loss(&mut self, window: &Window, _timeout: bool, _flow: &Flow) -> f64 {
        let cwnd = window.cwnd;
        let released = cwnd < self.state.w_last_max;
        let w_last_max = if released { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.state = State { w_last_max, stage: None };
        (cwnd * BETA).max(MIN_WINDOW)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot(Variables::Ngtcp2Cubic(self.state))
    }

    fn on_undo(&mut self, _window: &Window, saved: &Snapshot) {
        if let Variables::Ngtcp2Cubic(state) = &saved.0 {
            self.state = *state;
        }
    }

    fn on_smaller_segments(&mut self, ratio: f64) {
        self.state = State { w_last_max: self.state.w_last_max * ratio, stage: None };
        self.max_rate *= ratio;
        self.most = self.most.map(|most| most * ratio);
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
    fn after_a_loss_at_100() -> (Ngtcp2Cubic, Window) {
        let mut cubic = Ngtcp2Cubic::default();
        let ssthresh = cubic.on_loss(&Window { cwnd: 100.0, ssthresh: 50.0 }, false, &flow(0));
        (cubic, Window { cwnd: ssthresh, ssthresh })
    }

    #[test]
    fn a_loss_leaves_seven_tenths_and_a_second_one_releases_bandwidth() {
        let (mut cubic, window) = after_a_loss_at_100();
        assert_eq!((window.cwnd, cubic.state.w_last_max), (70.0, 100.0));
        // 80 < 100: 80 · 1.7 / 2 = 68.
        let ssthresh = cubic.on_loss(&Window { cwnd: 80.0, ssthresh: 70.0 }, false, &flow(1));
        near(ssthresh, 56.0);
        near(cubic.state.w_last_max, 68.0);
    }

    #[test]
    fn in_its_first_second_a_stage_grows_as_reno() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        // K = ⌊∛(30 / 0.4)⌋ = ⌊4.217⌋ = 4 s. At 0 s the curve is at 100 − 0.4 · 4³ = 74.4, times 0.1 s is
        // 7.44, below the window. w_tcp = 70 + 1/70 = 70.01429: (70.01429 − 70)/70 = 0.00020408 is more
        // than 0.01/70 = 0.00014286.
        cubic.grow(&mut window, 1, 1, &flow(100));
        assert_eq!(cubic.state.stage.map(|stage| stage.k), Some(4.0));
        near(window.cwnd, 70.0 + 0.000_204_08);
    }

    #[test]
    fn an_older_stage_grows_by_half_a_window_in_each_round_trip() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        cubic.grow(&mut window, 1, 1, &flow(0));
        // At 2 s: (100 − 0.4 · 2³) · 2.1 = 203.28, at most 1.5 · 70.0002: each packet adds a half.
        cubic.grow(&mut window, 1, 1, &flow(2000));
        near(window.cwnd, 70.500_204);
    }

    #[test]
    fn the_window_stops_at_2_89_products_of_rate_and_round_trip() {
        let mut cubic = Ngtcp2Cubic::default();
        // 400 packets per second and 100 ms: the product is 40 packets, the maximum 115.6.
        cubic.on_delivery_rate(400.0, &flow(100));
        cubic.on_delivery_rate(300.0, &flow(150));
        let mut window = Window { cwnd: 115.0, ssthresh: f64::INFINITY };
        cubic.grow(&mut window, 5, 5, &flow(200));
        assert_eq!(window.cwnd, 116.0);
    }

    #[test]
    fn slow_start_ends_when_the_round_trip_rises_by_an_eighth() {
        let mut cubic = Ngtcp2Cubic::default();
        let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
        let mut sample = |una, nxt, rtt_ms, window: &mut Window| {
            let rtt = Duration::from_millis(rtt_ms);
            cubic.on_round_trip(&RoundTripSample { now: Instant::ZERO, rtt, una, nxt }, window);
        };
        for packet in 0..8 {
            sample(1000 + packet, 20_000, 80, &mut window);
        }
        // 80 ms / 8 = 10 ms: 89 ms are too little, 90 ms are enough at the eighth sample.
        for packet in 0..8 {
            sample(20_000 + packet, 40_000, 89, &mut window);
        }
        assert!(window.slow_start());
        // 89 ms + 89/8 ms = 100.1 ms.
        for packet in 0..7 {
            sample(40_000 + packet, 60_000, 101, &mut window);
        }
        assert!(window.slow_start(), "seven samples");
        sample(40_007, 60_000, 101, &mut window);
        assert_eq!(window.ssthresh, 20.0);
    }
}
