//! TCP Westwood (Casetti, Gerla, Mascolo, Sanadidi and Wang, "TCP Westwood: end-to-end congestion
//! control for wired/wireless networks", Wireless Networks 8, 2002; first Mascolo et al., MobiCom
//! 2001). After a loss, ssthresh is what the path holds, estimated from the rate of
//! acknowledgements.

use std::borrow::Cow;

use unruffled_units::{Duration, Instant};

use super::{AnyControl, CongestionControl, Flow, Reno, Window};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, maker};

settings! {
    /// Tunable parameters.
    "westwood" Settings {
        tau: f64 = Parameter {
            name: "tau",
            unit: Unit::Time,
            default: 1.0,
            range: (0.01, 1000.0),
            about: "time constant of the filter of the bandwidth estimate",
            source: "the authors' ns-2 agent WestwoodNR (tau_)",
        },
    }
}

/// TCP Westwood.
pub(crate) const WESTWOOD: Kind<AnyControl> = Kind::new::<Settings>("westwood", |values| {
    maker(values, |settings: Settings, _| {
        AnyControl::Westwood(Westwood { bandwidth: Filter::new(settings.tau) })
    })
});

/// Minimum time between samples; acknowledgements closer together form one. The rate between two
/// acknowledgements that queued up behind each other says nothing about the path, and the filter
/// would weight it with the time to the next.
const MIN_SAMPLE_INTERVAL: Duration = Duration::from_millis(1);

/// Number of empty samples after which the estimate is 0: each multiplies it by 0.6.
const EMPTY_SAMPLES_TO_ZERO: f64 = 100.0;

/// Bandwidth estimate: a first-order low-pass filter, discretised by Tustin's approximation
/// (Mascolo et al., section 2.2). Rates are in segments per second.
#[derive(Clone, Copy, Debug)]
struct Filter {
    /// τ in seconds.
    tau: f64,
    /// Time of the last sample (t_{k−1}), or `None` before the first acknowledgement.
    sampled: Option<Instant>,
    /// Segments delivered since the last sample (d_k).
    delivered: u32,
    /// b_{k−1}.
    last: f64,
    /// b̂_{k−1}.
    estimate: f64,
}

impl Filter {
    fn new(tau: f64) -> Self {
        Self { tau, sampled: None, delivered: 0, last: 0.0, estimate: 0.0 }
    }

    fn add(&mut self, segments: u32, now: Instant) {
        self.delivered += segments;
        let Some(sampled) = self.sampled else {
            // The time before the first acknowledgement is not an interval between two.
            self.sampled = Some(now);
            self.delivered = 0;
            return;
        };
        if now.since(sampled) < MIN_SAMPLE_INTERVAL {
            return;
        }
        // Nyquist: at least one sample per τ/2, if necessary an empty one.
        let mut interval = now.since(sampled).as_secs_f64();
        let longest = self.tau / 2.0;
        if interval >= EMPTY_SAMPLES_TO_ZERO * longest {
            // Takes constant time, however long the silence was.
            self.estimate = 0.0;
            self.last = 0.0;
            interval %= longest;
            if interval < MIN_SAMPLE_INTERVAL.as_secs_f64() {
                interval += longest;
            }
        }
        while interval >= longest + MIN_SAMPLE_INTERVAL.as_secs_f64() {
            interval -= longest;
            self.sample(0.0, longest);
        }
        self.sample(f64::from(self.delivered) / interval, interval);
        self.sampled = Some(now);
        self.delivered = 0;
    }

    /// Adds a sample: b̂_k = ((2τ/Δ − 1)·b̂_{k−1} + b_k + b_{k−1}) / (2τ/Δ + 1).
    fn sample(&mut self, rate: f64, interval: f64) {
        let x = 2.0 * self.tau / interval;
        self.estimate = ((x - 1.0) * self.estimate + rate + self.last) / (x + 1.0);
        self.last = rate;
    }
}

/// Westwood: Reno with a different ssthresh.
#[derive(Debug)]
pub(crate) struct Westwood {
    bandwidth: Filter,
}

impl CongestionControl for Westwood {
    fn about(&self) -> Cow<'static, str> {
        "Westwood, ssthresh from the rate of acknowledgements".into()
    }

    fn on_delivered(&mut self, segments: u32, flow: &Flow) {
        self.bandwidth.add(segments, flow.now);
    }

    fn on_smaller_segments(&mut self, ratio: f64) {
        self.bandwidth.estimate *= ratio;
        self.bandwidth.last *= ratio;
    }

    fn grow(&mut self, window: &mut Window, acked: u32, counted: u32, flow: &Flow) {
        Reno.grow(window, acked, counted, flow);
    }

    /// Returns BWE·RTTmin/seg_size, at least 2, after three duplicates and after a timeout (Mascolo
    /// et al., sections 3.1 and 3.2).
    fn on_loss(&mut self, _window: &Window, _timeout: bool, flow: &Flow) -> f64 {
        let min_rtt = flow.min_rtt.unwrap_or_default().as_secs_f64();
        (self.bandwidth.estimate * min_rtt).max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    #[test]
    fn acknowledgements_a_millisecond_apart_are_two_samples_and_closer_ones_are_one() {
        let mut filter = Filter::new(0.5);
        filter.add(1, at(0));
        filter.add(1, Instant::from_nanos(MIN_SAMPLE_INTERVAL.as_nanos() - 1));
        assert_eq!(filter.estimate, 0.0);
        filter.add(1, Instant::ZERO + MIN_SAMPLE_INTERVAL);
        // Two segments in 1 ms: 2000/s, so (2000 + 0)/(2·500 + 1).
        assert!((filter.estimate - 2000.0 / 1001.0).abs() < 1e-9, "{}", filter.estimate);
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-4, "found {found}, expected {expected}");
    }

    #[test]
    fn the_filter_follows_two_hand_computed_samples() {
        // τ = 1 s, a segment each 100 ms: b = 10/s, 2τ/Δ = 20.
        let mut filter = Filter::new(1.0);
        filter.add(1, at(0));
        assert_eq!(filter.estimate, 0.0, "one acknowledgement gives no rate");
        // (19·0 + 10 + 0)/21 = 0.47619; (19·0.47619 + 10 + 10)/21 = 1.38322.
        filter.add(1, at(100));
        near(filter.estimate, 0.47619);
        filter.add(1, at(200));
        near(filter.estimate, 1.38322);
        // Two segments 50 ms later: b = 40/s, 2τ/Δ = 40: (39·1.38322 + 40 + 10)/41 = 2.53526.
        filter.add(2, at(250));
        near(filter.estimate, 2.53526);
    }

    #[test]
    fn a_steady_rate_is_reached_after_a_few_time_constants() {
        let mut filter = Filter::new(1.0);
        for i in 0..=1000 {
            filter.add(1, at(10 * i));
        }
        // 100 segments a second, 10 τ: within e^−10.
        assert!((filter.estimate - 100.0).abs() < 0.1, "{}", filter.estimate);
    }

    #[test]
    fn silence_counts_as_empty_samples() {
        let mut filter = Filter::new(1.0);
        filter.sampled = Some(at(0));
        filter.estimate = 100.0;
        filter.last = 100.0;
        // 1.2 s: two empty half seconds (2τ/Δ = 4): (3·100 + 0 + 100)/5 = 80, (3·80)/5 = 48; then one
        // segment in 200 ms (2τ/Δ = 10): (9·48 + 5 + 0)/11 = 39.72727.
        filter.add(1, at(1200));
        near(filter.estimate, 39.72727);
    }

    #[test]
    fn five_hundred_years_of_silence_take_no_time() {
        let mut filter = Filter::new(1.0);
        filter.sampled = Some(at(0));
        filter.estimate = 100.0;
        filter.last = 100.0;
        // The estimate is 0; then one segment in 200 ms: (9·0 + 5 + 0)/11.
        filter.add(
            1,
            Instant::ZERO + Duration::from_secs(15_778_800_000) + Duration::from_millis(200),
        );
        near(filter.estimate, 0.45455);
        // No sample covers less than 1 ms, so the last one covers 500 ms: 2 segments a second, 2τ/Δ
        // = 4: (3·0 + 2 + 0)/5.
        filter.add(1, filter.sampled.expect("just now") + Duration::from_secs(500));
        near(filter.estimate, 0.4);
    }

    #[test]
    fn acknowledgements_that_arrive_together_form_one_sample() {
        let mut filter = Filter::new(1.0);
        filter.add(1, at(0));
        let nearly = at(0) + Duration::from_micros(999);
        filter.add(3, nearly);
        assert_eq!(filter.estimate, 0.0);
        // Four segments in 100 ms: 40/s; 40/21.
        filter.add(1, at(100));
        near(filter.estimate, 1.90476);
    }

    #[test]
    fn a_loss_sets_ssthresh_to_what_the_path_holds() {
        let mut westwood = Westwood { bandwidth: Filter::new(1.0) };
        let flow = Flow {
            now: at(0),
            flight: 60.0,
            srtt: Some(Duration::from_millis(150)),
            min_rtt: Some(Duration::from_millis(100)),
        };
        let window = Window { cwnd: 60.0, ssthresh: 20.0 };
        westwood.bandwidth.estimate = 400.0;
        assert_eq!(westwood.on_loss(&window, false, &flow), 40.0);
        assert_eq!(westwood.on_loss(&window, true, &flow), 40.0);
        westwood.bandwidth.estimate = 10.0;
        assert_eq!(westwood.on_loss(&window, false, &flow), 2.0, "never below two");
    }
}
