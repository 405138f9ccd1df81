//! CUBIC (RFC 9438): a window that grows with the cube of the time since the last reduction, first
//! towards the window before the reduction, then beyond it.

use std::borrow::Cow;

use unruffled_units::Instant;

use super::{AnyControl, CongestionControl, Flow, Snapshot, Variables, Window};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, maker};

settings! {
    /// Tunable parameters.
    "cubic" Settings {
        c: f64 = Parameter {
            name: "c",
            unit: Unit::Number,
            default: 0.4,
            range: (0.001, 1000.0),
            about: "C, how fast the window grows, in segments per second cubed",
            source: "RFC 9438, section 5",
        },
        beta: f64 = Parameter {
            name: "beta",
            unit: Unit::Number,
            default: 0.7,
            range: (0.1, 0.99),
            about: "share of the window that remains after a loss",
            source: "RFC 9438, section 4.6",
        },
    }
}

/// CUBIC.
pub(crate) const CUBIC: Kind<AnyControl> = Kind::new::<Settings>("cubic", |values| {
    maker(values, |settings: Settings, _| AnyControl::Cubic(Cubic::new(settings.c, settings.beta)))
});

/// Variables of section 4.1.2, which section 4.9.2 saves. Windows are in segments, times in
/// seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct State {
    /// W_max, or `None` before the first reduction.
    w_max: Option<f64>,
    /// cwnd_prior.
    cwnd_prior: f64,
    /// Present stage of congestion avoidance, or `None` in slow start and recovery.
    stage: Option<Stage>,
    /// Whether a timeout caused the last reduction. Then the next stage starts from the window at
    /// its beginning.
    after_timeout: bool,
}

/// One stage of congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stage {
    /// t_epoch, moved forward by the time in which the window could not grow.
    epoch: Instant,
    k: f64,
    /// W_max of the cubic function.
    origin: f64,
    /// W_est.
    w_est: f64,
}

/// CUBIC.
#[derive(Debug)]
pub(crate) struct Cubic {
    c: f64,
    beta: f64,
    state: State,
    /// Time of the last acknowledgement in the stage.
    last_ack: Instant,
}

impl Cubic {
    fn new(c: f64, beta: f64) -> Self {
        Self { c, beta, state: State::default(), last_ack: Instant::ZERO }
    }

    /// Returns W_cubic by equation 1.
    fn w_cubic(&self, stage: &Stage, t: f64) -> f64 {
        self.c * (t - stage.k).powi(3) + stage.origin
    }

    /// Begins a stage: section 4.2, equation 2; section 4.8 after a timeout; section 4.10 without a
    /// W_max.
    fn begin_stage(&mut self, cwnd: f64, now: Instant) -> Stage {
        if self.state.w_max.is_none() {
            self.state.cwnd_prior = cwnd;
        }
        if std::mem::take(&mut self.state.after_timeout) {
            self.state.w_max = Some(cwnd);
        }
        let w_max = self.state.w_max;
        // Above W_max, equation 2 would give a negative K and a jump. The cubic function starts
        // from its flat part instead, as after a timeout.
        let origin = w_max.map_or(cwnd, |w_max| w_max.max(cwnd));
        let k = libm::cbrt((origin - cwnd) / self.c);
        Stage { epoch: now, k, origin, w_est: cwnd }
    }

    /// Grows the window by one acknowledgement in congestion avoidance (sections 4.2 to 4.5).
    fn avoid_congestion(&mut self, window: &mut Window, acked: u32, counted: u32, flow: &Flow) {
        let cwnd = window.cwnd;
        let mut stage = match self.state.stage {
            Some(stage) => stage,
            None => self.begin_stage(cwnd, flow.now),
        };
        self.last_ack = flow.now;
        let t = flow.now.since(stage.epoch).as_secs_f64();
        // Section 4.3, equation 4.
        let alpha = if stage.w_est >= self.state.cwnd_prior {
            1.0
        } else {
            3.0 * (1.0 - self.beta) / (1.0 + self.beta)
        };
        stage.w_est += alpha * f64::from(acked) / cwnd;
        if self.w_cubic(&stage, t) < stage.w_est {
            // The window never shrinks here: earlier growth by the cubic function stays.
            window.cwnd = cwnd.max(stage.w_est);
        } else {
            let rtt = flow.srtt.unwrap_or_default().as_secs_f64();
            let target = self.w_cubic(&stage, t + rtt).clamp(cwnd, 1.5 * cwnd);
            window.cwnd += f64::from(counted) * (target - cwnd) / cwnd;
        }
        self.state.stage = Some(stage);
    }
}

impl State {
    pub(super) fn scale(&mut self, ratio: f64) {
        self.w_max = self.w_max.map(|w_max| w_max * ratio);
        self.cwnd_prior *= ratio;
        // K and t were computed for the old size: the next acknowledgement begins a stage.
        self.stage = None;
    }
}

impl CongestionControl for Cubic {
    fn about(&self) -> Cow<'static, str> {
        "CUBIC, RFC 9438".into()
    }

    fn grow(&mut self, window: &mut Window, acked: u32, counted: u32, flow: &Flow) {
        let slow = window.slow_start_steps(counted);
        window.cwnd += slow;
        let slow = slow as u32;
        if counted > slow {
            self.avoid_congestion(window, acked - slow, counted - slow, flow);
        }
    }

    fn on_limited(&mut self, flow: &Flow) {
        // Section 4.2: t excludes times in which cwnd was not the limit.
        if let Some(stage) = &mut self.state.stage {
            stage.epoch = (stage.epoch + flow.now.since(self.last_ack)).min(flow.now);
            self.last_ack = flow.now;
        }
    }

    fn on_loss(&mut self, window: &Window, timeout: bool, flow: &Flow) -> f64 {
        let cwnd = window.cwnd;
        // Section 4.7, fast convergence.
        let released = self.state.w_max.is_some_and(|w_max| cwnd < w_max);
        let w_max = if released { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        self.state =
            State { w_max: Some(w_max), cwnd_prior: cwnd, stage: None, after_timeout: timeout };
        // Section 4.6.
        (flow.flight * self.beta).max(2.0)
    }

    fn on_smaller_segments(&mut self, ratio: f64) {
        self.state.scale(ratio);
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot(Variables::Cubic(self.state))
    }

    fn on_undo(&mut self, window: &Window, saved: &Snapshot) {
        // Section 4.9.2: only while the window is still below its size before the reduction.
        if let Variables::Cubic(state) = saved.0
            && window.cwnd < self.state.cwnd_prior
        {
            self.state = state;
        }
    }
}

#[cfg(test)]
mod tests {
    use unruffled_units::Duration;

    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(seconds: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(seconds)
    }

    fn flow(seconds: f64, flight: f64) -> Flow {
        Flow { now: at(seconds), flight, srtt: Some(RTT), min_rtt: Some(RTT) }
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-4, "found {found}, expected {expected}");
    }

    /// Returns the state after a window of 100 lost a segment at 0 s.
    fn after_a_loss_at_100() -> (Cubic, Window) {
        let mut cubic = Cubic::new(0.4, 0.7);
        let mut window = Window { cwnd: 100.0, ssthresh: 50.0 };
        window.ssthresh = cubic.on_loss(&window, false, &flow(0.0, 100.0));
        window.cwnd = window.ssthresh;
        (cubic, window)
    }

    fn stage(cubic: &Cubic) -> Stage {
        cubic.state.stage.expect("in congestion avoidance")
    }

    #[test]
    fn slow_start_adds_a_segment_per_acknowledgement() {
        let mut cubic = Cubic::new(0.4, 0.7);
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        cubic.grow(&mut window, 1, 1, &flow(0.0, 10.0));
        assert_eq!(window.cwnd, 11.0);
    }

    #[test]
    fn a_loss_leaves_seven_tenths_of_the_flight_and_stores_the_window() {
        let (cubic, window) = after_a_loss_at_100();
        assert_eq!(window.ssthresh, 70.0);
        assert_eq!((cubic.state.w_max, cubic.state.cwnd_prior), (Some(100.0), 100.0));
        // 0.7 of 2 in flight is less than two segments.
        let small = Window { cwnd: 2.0, ssthresh: 2.0 };
        assert_eq!(Cubic::new(0.4, 0.7).on_loss(&small, false, &flow(0.0, 2.0)), 2.0);
    }

    #[test]
    fn the_concave_region_climbs_to_w_max_in_k() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        // Stage from 70 to 100: K = ∛((100 − 70)/0.4) = ∛75 = 4.2172 s.
        cubic.grow(&mut window, 1, 1, &flow(1.0, 70.0));
        near(stage(&cubic).k, 4.2172);
        near(cubic.w_cubic(&stage(&cubic), 0.0), 70.0);
        near(cubic.w_cubic(&stage(&cubic), 4.2172), 100.0);
        // The first acknowledgement, t = 0: W_est = 70 + 0.5294·1/70 = 70.0076 is above
        // W_cubic(0) = 70: Reno-friendly.
        near(window.cwnd, 70.0076);
        // t = 1 s: W_cubic(1) = 0.4·(1 − 4.2172)³ + 100 = 86.6809 is above W_est, so
        // target = W_cubic(1.1) = 0.4·(−3.1172)³ + 100 = 87.8849 and cwnd grows by
        // (87.8849 − 70.0076)/70.0076 = 0.2554.
        cubic.grow(&mut window, 1, 1, &flow(2.0, 70.0));
        near(window.cwnd, 70.2629);
    }

    #[test]
    fn the_convex_region_grows_beyond_w_max() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        cubic.grow(&mut window, 1, 1, &flow(1.0, 70.0));
        window.cwnd = 101.0;
        // t = 6 s: W_cubic(6) = 0.4·1.7828³ + 100 = 102.2667, above W_est;
        // target = W_cubic(6.1) = 0.4·1.8828³ + 100 = 102.6699: + (102.6699 − 101)/101 = 0.01653.
        cubic.grow(&mut window, 1, 1, &flow(7.0, 101.0));
        near(window.cwnd, 101.0165);
    }

    #[test]
    fn two_segments_that_count_are_two_steps() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        cubic.grow(&mut window, 1, 1, &flow(1.0, 70.0));
        // As above at t = 1 s: twice 0.2554.
        cubic.grow(&mut window, 2, 2, &flow(2.0, 70.0));
        near(window.cwnd, 70.0076 + 2.0 * 0.2554);
    }

    #[test]
    fn growth_is_at_most_half_a_window_per_round_trip() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        cubic.grow(&mut window, 1, 1, &flow(1.0, 70.0));
        window.cwnd = 70.0;
        // t = 20 s: W_cubic is 1671, far above 1.5·70 = 105: + (105 − 70)/70 = 0.5.
        cubic.grow(&mut window, 1, 1, &flow(21.0, 70.0));
        near(window.cwnd, 70.5);
    }

    #[test]
    fn the_reno_friendly_region_applies_where_the_cube_is_slower() {
        let mut cubic = Cubic::new(0.4, 0.7);
        let mut window = Window { cwnd: 10.0, ssthresh: 5.0 };
        window.ssthresh = cubic.on_loss(&window, false, &flow(0.0, 10.0));
        window.cwnd = window.ssthresh;
        // 70 acknowledgements within a few ms: W_cubic hardly moves from 7. α = 3·0.3/1.7 =
        // 0.52941, each adds α/cwnd: after one 7 + 0.52941/7 = 7.07563.
        cubic.grow(&mut window, 1, 1, &flow(1.0, 7.0));
        near(window.cwnd, 7.07563);
        // An acknowledgement of two segments counts twice: + 2·0.52941/7.07563 = 0.14964.
        cubic.grow(&mut window, 2, 1, &flow(1.001, 7.0));
        near(window.cwnd, 7.22527);
        // At cwnd_prior, 10, α becomes 1: + 1/cwnd.
        let mut stage = stage(&cubic);
        stage.w_est = 10.0;
        cubic.state.stage = Some(stage);
        window.cwnd = 10.0;
        cubic.grow(&mut window, 1, 1, &flow(1.002, 10.0));
        near(window.cwnd, 10.1);
    }

    #[test]
    fn fast_convergence_lowers_w_max_when_the_second_loss_comes_earlier() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        window.cwnd = 80.0;
        // 80 < W_max 100: W_max = 80·(1 + 0.7)/2 = 68; ssthresh is 56 nevertheless.
        let ssthresh = cubic.on_loss(&window, false, &flow(5.0, 80.0));
        near(ssthresh, 56.0);
        assert_eq!((cubic.state.w_max, cubic.state.cwnd_prior), (Some(68.0), 80.0));
        // A loss above W_max: W_max is the whole window.
        window.cwnd = 90.0;
        cubic.on_loss(&window, false, &flow(9.0, 90.0));
        assert_eq!(cubic.state.w_max, Some(90.0));
    }

    #[test]
    fn the_first_stage_after_a_timeout_starts_from_its_own_window() {
        let mut cubic = Cubic::new(0.4, 0.7);
        let mut window = Window { cwnd: 100.0, ssthresh: 50.0 };
        window.ssthresh = cubic.on_loss(&window, true, &flow(0.0, 100.0));
        assert_eq!(window.ssthresh, 70.0);
        // Slow start has reached ssthresh: K = 0, W_max = 70; t = 2 s: 0.4·2.1³ + 70 = 73.7044.
        window.cwnd = 70.0;
        cubic.grow(&mut window, 1, 1, &flow(3.0, 70.0));
        assert_eq!((stage(&cubic).k, stage(&cubic).origin), (0.0, 70.0));
        window.cwnd = 70.0;
        cubic.grow(&mut window, 1, 1, &flow(5.0, 70.0));
        near(window.cwnd, 70.0 + 3.7044 / 70.0);
    }

    #[test]
    fn a_loss_after_a_timeout_is_compared_with_the_stage_since() {
        let mut cubic = Cubic::new(0.4, 0.7);
        let mut window = Window { cwnd: 100.0, ssthresh: 50.0 };
        window.ssthresh = cubic.on_loss(&window, true, &flow(0.0, 100.0));
        window.cwnd = 70.0;
        cubic.grow(&mut window, 1, 1, &flow(3.0, 70.0));
        window.cwnd = 80.0;
        cubic.on_loss(&window, false, &flow(6.0, 80.0));
        assert_eq!(cubic.state.w_max, Some(80.0));
    }

    #[test]
    fn smaller_segments_leave_the_windows_in_octets() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        cubic.grow(&mut window, 1, 1, &flow(1.0, 70.0));
        // Half as large: 140 segments instead of 70.
        window.cwnd *= 2.0;
        cubic.on_smaller_segments(2.0);
        assert_eq!(cubic.state.w_max, Some(200.0));
        // Six seconds with an acknowledgement each 10 ms are more than K, the cube root of 60/0.4,
        // so the window has almost returned.
        for i in 1..=600 {
            cubic.grow(&mut window, 1, 1, &flow(1.0 + f64::from(i) / 100.0, 140.0));
        }
        assert!((190.0..200.0).contains(&window.cwnd), "{}", window.cwnd);
    }

    #[test]
    fn time_in_which_the_window_was_not_the_limit_does_not_count() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        cubic.grow(&mut window, 1, 1, &flow(1.0, 70.0));
        // Full until 2 s, then not until 10 s, with reports at 6 s and 10 s: t = 1 s at 10 s.
        cubic.grow(&mut window, 1, 1, &flow(2.0, 70.0));
        cubic.on_limited(&flow(6.0, 30.0));
        cubic.on_limited(&flow(10.0, 30.0));
        near(at(10.0).since(stage(&cubic).epoch).as_secs_f64(), 1.0);
    }

    #[test]
    fn an_undo_restores_all_variables() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        cubic.grow(&mut window, 1, 1, &flow(1.0, 70.0));
        cubic.grow(&mut window, 1, 1, &flow(2.0, 70.0));
        let state = cubic.state;
        let saved = cubic.snapshot();
        window.ssthresh = cubic.on_loss(&window, false, &flow(3.0, 70.0));
        window.cwnd = window.ssthresh;
        assert_ne!(cubic.state, state);
        cubic.on_undo(&window, &saved);
        assert_eq!(cubic.state, state);
    }

    #[test]
    fn an_undo_of_two_reductions_restores_the_state_before_the_first() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        let state = cubic.state;
        let saved = cubic.snapshot();
        for time in [3.0, 4.0] {
            window.ssthresh = cubic.on_loss(&window, false, &flow(time, window.cwnd));
            window.cwnd = window.ssthresh;
        }
        cubic.on_undo(&window, &saved);
        assert_eq!(cubic.state, state);
    }

    #[test]
    fn an_undo_after_the_window_has_grown_back_changes_nothing() {
        let (mut cubic, mut window) = after_a_loss_at_100();
        let saved = cubic.snapshot();
        window.ssthresh = cubic.on_loss(&window, false, &flow(3.0, 70.0));
        window.cwnd = 70.0;
        let state = cubic.state;
        cubic.on_undo(&window, &saved);
        assert_eq!(cubic.state, state);
    }
}
