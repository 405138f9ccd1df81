//! CUBIC as Linux has it (`net/ipv4/tcp_cubic.c`). It differs from RFC 9438 in five points.
//!
//! * Windows are whole segments.
//! * The part that is friendly to Reno grows by 0.53 segments per round trip also beyond W_max; the RFC
//!   has one segment there (section 4.3).
//! * Before the first loss, congestion avoidance grows by at least 5 % per round trip.
//! * A timeout clears W_max, and an undo does not restore it.
//! * [HyStart](super::hystart) may end slow start.

use std::borrow::Cow;

use unruffled_units::{Duration, Instant};

use super::hystart::{HyStart, RoundTripSample};
use super::{AnyControl, CongestionControl, Flow, Window};
use crate::parameter::{Parameter, choice, settings};
use crate::parts::{Kind, maker};

/// Share of the window that remains after a loss, 0.7 in 1024ths.
const BETA: f64 = 717.0 / 1024.0;
/// C of the cubic function, 0.4 in Linux's fixed-point arithmetic (41/1024 × 10), in segments per second
/// cubed.
const C: f64 = 410.0 / 1024.0;
/// Acknowledged segments for one more segment of Reno's window, per segment of the window: the inverse
/// of 3 (1 − β)/(1 + β) = 8/15.
const RENO_COUNT: f64 = 15.0 / 8.0;
/// Acknowledged segments for one more segment, at least: the window grows by half per round trip.
const MIN_COUNT: f64 = 2.0;
/// Acknowledged segments for one more segment before the first loss, at most.
const MAX_COUNT_BEFORE_LOSS: f64 = 20.0;
/// Time between evaluations of the cubic function while the window stays the same.
const EVALUATION_INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / 32);
/// Time after the begin of an epoch in which round-trip times do not count.
const SETTLING_TIME: Duration = Duration::from_secs(1);

choice! {
    /// Whether HyStart may end slow start.
    EarlyExit {
        /// HyStart may end it before a loss.
        HyStart = "on",
        /// Slow start ends with a loss.
        Never = "off",
    }
}

settings! {
    /// Tunable parameters.
    "linux-cubic" Settings {
        hystart: EarlyExit = Parameter::choice(
            "hystart",
            EarlyExit::NAMES,
            "whether HyStart may end slow start before a loss",
            "Linux 6.18, tcp_cubic.c",
        ),
    }
}

/// CUBIC as Linux has it.
pub(crate) const LINUX_CUBIC: Kind<AnyControl> = Kind::new::<Settings>("linux-cubic", |values| {
    maker(values, |settings: Settings, _| {
        let hystart = settings.hystart == EarlyExit::HyStart;
        AnyControl::LinuxCubic(Box::new(LinuxCubic::new(hystart)))
    })
});

/// One stage of congestion avoidance, from a reduction of the window or the end of slow start.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Its begin; the maximum if there is none.
    began: Instant,
    /// K: time from the beginning until the cubic function is at its origin, in seconds.
    k: f32,
    /// Window of the origin, in segments.
    origin: f32,
    /// Acknowledged segments that Reno's window has not yet used.
    reno_acked: f32,
    /// Reno's window.
    reno: u32,
}

impl Epoch {
    const NONE: Self = Self { began: Instant::MAX, k: 0.0, origin: 0.0, reno_acked: 0.0, reno: 0 };

    fn is_none(&self) -> bool {
        self.began == Instant::MAX
    }
}

/// CUBIC as Linux has it. Windows and counts are in segments.
#[derive(Debug)]
pub(crate) struct LinuxCubic {
    hystart: HyStart,
    /// W_max; 0 before the first loss.
    w_max: u32,
    /// Minimum round-trip time; zero before there is one.
    min_rtt: Duration,
    epoch: Epoch,
    /// Acknowledged segments for one more segment.
    count: u32,
    /// Acknowledged segments that the window has not yet used.
    acked: u32,
    /// Time and window of the last evaluation.
    evaluated_at: Instant,
    evaluated_window: u32,
}

impl LinuxCubic {
    fn new(uses_hystart: bool) -> Self {
        Self {
            hystart: HyStart::new(uses_hystart),
            w_max: 0,
            min_rtt: Duration::ZERO,
            epoch: Epoch::NONE,
            count: 1,
            acked: 0,
            evaluated_at: Instant::ZERO,
            evaluated_window: 0,
        }
    }

    /// Computes how many segments must be acknowledged for the window to grow by one.
    fn evaluate(&mut self, cwnd: u32, acked: u32, now: Instant) {
        let w_max = self.w_max;
        self.epoch.reno_acked += acked as f32;
        let evaluated = self.evaluated_window == cwnd;
        if evaluated && now.since(self.evaluated_at) <= EVALUATION_INTERVAL {
            return;
        }
        self.evaluated_at = now;
        self.evaluated_window = cwnd;
        let window = f64::from(cwnd);
        if self.epoch.is_none() {
            let below = f64::from(w_max.saturating_sub(cwnd));
            self.epoch = Epoch {
                began: now,
                k: libm::cbrt(below / C) as f32,
                origin: w_max.max(cwnd) as f32,
                reno_acked: acked as f32,
                reno: cwnd,
            };
        }
        let epoch = &mut self.epoch;
        let t = (now.since(epoch.began) + self.min_rtt).as_secs_f64();
        let offset = (C * (t - f64::from(epoch.k)).powi(3)).trunc();
        let target = f64::from(epoch.origin) + offset;
        let mut count =
            if target > window { (window / (target - window)).floor() } else { 100.0 * window };
        if w_max == 0 {
            count = count.min(MAX_COUNT_BEFORE_LOSS);
        }
        let reno_count = (window * RENO_COUNT).floor() as f32;
        while epoch.reno_acked > reno_count {
            epoch.reno_acked -= reno_count;
            epoch.reno += 1;
        }
        if epoch.reno > cwnd {
            count = count.min((window / f64::from(epoch.reno - cwnd)).floor());
        }
        self.count = count.max(MIN_COUNT) as u32;
    }

    /// Grows the window by `acked` segments in congestion avoidance.
    fn avoid_congestion(&mut self, window: &mut Window, acked: u32, now: Instant) {
        self.evaluate(window.cwnd as u32, acked, now);
        // A count that has become smaller takes effect with one segment.
        if self.acked >= self.count {
            self.acked = 0;
            window.cwnd += 1.0;
        }
        self.acked += acked;
        let steps = self.acked / self.count;
        self.acked -= steps * self.count;
        window.cwnd += f64::from(steps);
    }
}

impl CongestionControl for LinuxCubic {
    fn about(&self) -> Cow<'static, str> {
        if self.hystart.is_on() { "CUBIC and HyStart as in Linux" } else { "CUBIC as in Linux" }
            .into()
    }

    fn on_round_trip(&mut self, sample: &RoundTripSample, window: &mut Window) {
        if !self.epoch.is_none() && sample.now.since(self.epoch.began) < SETTLING_TIME {
            return;
        }
        if self.min_rtt == Duration::ZERO || sample.rtt < self.min_rtt {
            self.min_rtt = sample.rtt;
        }
        if self.hystart.is_on() {
            self.hystart.on_round_trip(sample, self.min_rtt, window);
        }
    }

    fn grow(&mut self, window: &mut Window, acked: u32, _counted: u32, flow: &Flow) {
        let slow = window.slow_start_steps(acked);
        window.cwnd += slow;
        let rest = acked - slow as u32;
        if rest > 0 {
            self.avoid_congestion(window, rest, flow.now);
        }
    }

    fn on_loss(&mut self, window: &Window, timeout: bool, _flow: &Flow) -> f64 {
        let cwnd = window.cwnd.floor();
        // Fast convergence (RFC 9438, section 4.7).
        let released = cwnd < f64::from(self.w_max);
        self.w_max = (if released { cwnd * (1.0 + BETA) / 2.0 } else { cwnd }) as u32;
        self.epoch = Epoch::NONE;
        self.acked = 0;
        if timeout {
            self.w_max = 0;
            self.min_rtt = Duration::ZERO;
            self.evaluated_window = 0;
            self.hystart.on_timeout();
        }
        (cwnd * BETA).floor().max(2.0)
    }

    fn on_smaller_segments(&mut self, ratio: f64) {
        self.w_max = (f64::from(self.w_max) * ratio) as u32;
        self.epoch = Epoch::NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(seconds: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(seconds)
    }

    fn flow(seconds: f64) -> Flow {
        Flow { now: at(seconds), flight: 0.0, srtt: Some(RTT), min_rtt: Some(RTT) }
    }

    /// Returns the state after a window of 100 lost a segment, with a minimum round-trip time of 100 ms.
    fn after_a_loss_at_100() -> (LinuxCubic, Window) {
        let mut cubic = LinuxCubic::new(false);
        let mut window = Window { cwnd: 100.0, ssthresh: 50.0 };
        let sample = RoundTripSample { now: at(0.0), rtt: RTT, una: 0, nxt: 0 };
        cubic.on_round_trip(&sample, &mut window);
        window.ssthresh = cubic.on_loss(&window, false, &flow(0.0));
        window.cwnd = window.ssthresh;
        (cubic, window)
    }

    #[test]
    fn a_loss_leaves_seven_tenths_in_whole_segments() {
        let (cubic, window) = after_a_loss_at_100();
        // 100 · 717/1024 = 70.02.
        assert_eq!((window.ssthresh, cubic.w_max), (70.0, 100));
        let small = Window { cwnd: 2.0, ssthresh: 2.0 };
        assert_eq!(LinuxCubic::new(false).on_loss(&small, false, &flow(0.0)), 2.0);
    }

    #[test]
    fn a_second_loss_below_w_max_releases_bandwidth() {
        let (mut cubic, _) = after_a_loss_at_100();
        cubic.on_loss(&Window { cwnd: 80.0, ssthresh: 70.0 }, false, &flow(1.0));
        // 80 · (1 + 717/1024)/2 = 68.008.
        assert_eq!(cubic.w_max, 68);
    }

    #[test]
    fn the_cubic_function_sets_the_count_of_acknowledged_segments() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        // K = ∛(30/0.40039) = 4.2158 s. At t = 0.1, 0.40039·4.1158³ = 27.9 below 100, in whole segments
        // 27: three more than the window, one segment for each 23.
        cubic.grow(&mut window, 1, 1, &flow(1.0));
        assert_eq!((cubic.count, window.cwnd), (23, 70.0));
        // At t = 1.1, 0.40039·3.1158³ = 12.1 below: 70/18 = 3.9.
        cubic.grow(&mut window, 1, 1, &flow(2.0));
        assert_eq!((cubic.count, window.cwnd), (3, 70.0));
        cubic.grow(&mut window, 1, 1, &flow(2.001));
        assert_eq!(window.cwnd, 71.0);
    }

    #[test]
    fn growth_is_at_most_half_a_window_per_round_trip() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        cubic.grow(&mut window, 1, 1, &flow(1.0));
        cubic.grow(&mut window, 1, 1, &flow(21.0));
        assert_eq!(cubic.count, 2);
    }

    #[test]
    fn renos_window_is_a_lower_bound_and_grows_by_eight_fifteenths_per_round_trip() {
        // At W_max the cubic function is flat for a second.
        let mut cubic = LinuxCubic { w_max: 7, ..LinuxCubic::new(false) };
        let mut window = Window { cwnd: 7.0, ssthresh: 7.0 };
        cubic.grow(&mut window, 1, 1, &flow(1.0));
        // Nothing is evaluated for 1/32 s if the window stays.
        cubic.grow(&mut window, 13, 13, &flow(1.01));
        assert_eq!(cubic.epoch.reno, 7);
        // 7 · 15/8 = 13.125, so 13 of the 15 acknowledged segments make Reno's window 8, and one segment
        // more is due for each 7.
        cubic.grow(&mut window, 1, 1, &flow(1.04));
        let epoch = cubic.epoch;
        assert_eq!((epoch.reno, epoch.reno_acked, cubic.count), (8, 2.0, 7));
        assert_eq!(window.cwnd, 8.0);
    }

    #[test]
    fn before_the_first_loss_the_window_grows_by_five_percent_per_round_trip() {
        let mut cubic = LinuxCubic::new(true);
        let mut window = Window { cwnd: 100.0, ssthresh: 100.0 };
        cubic.grow(&mut window, 1, 1, &flow(0.0));
        assert_eq!(cubic.count, 20);
    }

    #[test]
    fn a_timeout_clears_the_maximum() {
        let (mut cubic, window) = after_a_loss_at_100();
        assert_eq!(cubic.on_loss(&window, true, &flow(1.0)), 49.0);
        assert_eq!(cubic.w_max, 0);
    }
}
