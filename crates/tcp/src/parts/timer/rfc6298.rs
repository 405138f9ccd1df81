//! The retransmission timeout (RFC 6298), which other timers modify.

use std::borrow::Cow;

use unruffled_units::Duration;

use super::{AnyTimer, Timer};
use crate::parts::{Kind, maker};
use crate::{Config, RtoConfig};

/// Timer of RFC 6298.
pub(crate) const RFC_6298: Kind<AnyTimer> =
    Kind::new::<()>("rfc-6298", |values| maker(values, |(), _| AnyTimer::Rfc6298(Rfc6298)));

/// Modifies nothing in [`Rto`].
#[derive(Clone, Debug)]
pub(crate) struct Rfc6298;

impl Timer for Rfc6298 {
    fn about(&self) -> Cow<'static, str> {
        "RFC 6298".into()
    }
}

/// Timeout when data transmission begins after a lost SYN (RFC 6298, 5.7).
const RTO_AFTER_LOST_SYN: Duration = Duration::from_secs(3);
/// Clock granularity G of RFC 6298, 2.2. The engine's clock is finer.
const GRANULARITY: Duration = Duration::from_millis(1);
/// Minimum nanoseconds of SRTT per sample in a round trip. Rounding would hide changes with smaller
/// gains.
const MIN_NANOS_PER_SAMPLE: f64 = 32.0;

/// Smoothed round-trip time, its variation, and the timeout computed from them.
#[derive(Clone, Debug)]
pub(crate) struct Rto {
    min: Duration,
    max: Duration,
    max_doublings: u8,
    /// Whether the minimum applies to the doubled timeout instead of the one that is doubled.
    min_after_backoff: bool,
    srtt: Option<Duration>,
    rttvar: Duration,
    /// Timeout without backoff, computed at each sample.
    base: Duration,
    /// Doublings since the last sample (RFC 6298, 5.5).
    backoff: u32,
    /// Number of doublings after which the next sample reinitialises the estimators, if enabled.
    doubtful_after: Option<u32>,
    doubtful: bool,
    timer: AnyTimer,
}

impl Rto {
    /// Returns an estimator without samples, with the bounds of `config` and modified by `timer`.
    pub(crate) fn new(config: &Config, timer: AnyTimer) -> Self {
        let RtoConfig { min, max, initial, max_doublings, .. } = config.rto;
        let max = max.max(min);
        Self {
            min,
            max,
            // More would overflow, and no maximum is that large.
            max_doublings: max_doublings.min(63),
            min_after_backoff: config.ns2.min_after_backoff,
            srtt: None,
            rttvar: Duration::ZERO,
            base: initial.clamp(min, max),
            backoff: 0,
            doubtful_after: config.ns2.fast_recovery.rtt_valid_doublings(),
            doubtful: false,
            timer,
        }
    }

    /// Adds a round-trip time, one of `per_round` in this window (RFC 7323, appendix G: the gains
    /// are per round trip, not per sample).
    #[inline(always)]
    pub(crate) fn sample(&mut self, rtt: Duration, per_round: f64) {
        match self.srtt.filter(|_| !self.doubtful) {
            None => {
                self.srtt = Some(rtt);
                self.rttvar = rtt / 2;
            }
            Some(srtt) => {
                let per_round =
                    per_round.min((srtt.as_nanos() as f64 / MIN_NANOS_PER_SAMPLE).max(1.0));
                let alpha = 0.125 / per_round;
                let beta = 0.25 / per_round;
                let deviation = srtt.abs_diff(rtt);
                self.rttvar = self.rttvar.mul_f64(1.0 - beta) + deviation.mul_f64(beta);
                self.srtt = Some(srtt.mul_f64(1.0 - alpha) + rtt.mul_f64(alpha));
            }
        }
        self.record(rtt);
    }

    /// Returns SRTT_prev and RTTVAR_prev of RFC 4015, step 0, once there is a sample.
    pub(crate) fn estimators(&self) -> Option<(Duration, Duration)> {
        self.srtt.map(|srtt| (srtt + GRANULARITY * 2, self.rttvar))
    }

    /// Adds the first sample after a spurious timeout (RFC 4015, step 11); `srtt` and `rttvar` are
    /// the estimators before the timeout.
    pub(crate) fn adapt(&mut self, srtt: Duration, rttvar: Duration, rtt: Duration) {
        self.srtt = Some(srtt.max(rtt));
        self.rttvar = rttvar.max(rtt / 2);
        self.record(rtt);
    }

    /// Passes the sample to the timer and computes the timeout again.
    #[inline(always)]
    fn record(&mut self, rtt: Duration) {
        self.doubtful = false;
        self.timer.on_sample(rtt);
        self.base = self.computed();
    }

    /// Returns whether round-trip times of retransmitted segments count, once a DSACK has
    /// identified the copy that arrived first.
    pub(crate) fn samples_retransmissions(&self) -> bool {
        self.timer.samples_retransmissions()
    }

    /// Returns SRTT, once there is a sample.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// Returns RTTVAR, once there is a sample.
    pub(crate) fn rttvar(&self) -> Option<Duration> {
        self.srtt.map(|_| self.rttvar)
    }

    /// Returns the timeout without backoff.
    pub(crate) fn base(&self) -> Duration {
        // The base already includes the minimum if it applies before the backoff.
        self.base.max(self.min)
    }

    /// Computes the timeout from the estimators: that of RFC 6298, bounded below by the timer's
    /// floor.
    #[inline]
    fn computed(&self) -> Duration {
        let standard = match self.srtt {
            Some(srtt) => srtt + (self.rttvar * 4).max(GRANULARITY),
            None => self.base,
        };
        let least = if self.min_after_backoff { Duration::ZERO } else { self.min };
        standard.max(self.timer.floor()).clamp(least, self.max)
    }

    /// Returns the timeout for a timer that starts now. A drawn timeout is bounded below by the
    /// smoothed or the last round-trip time, whichever is longer, and above by the maximum. The
    /// minimum does not apply to it, and its timer does the backoff.
    #[inline]
    pub(crate) fn compute(&mut self, cwnd: f64, latest_rtt: Option<Duration>) -> Duration {
        let known = self.srtt.map(|srtt| srtt.max(latest_rtt.unwrap_or_default()));
        let rtt = known.or_else(|| self.timer.draws_first().then_some(Duration::ZERO));
        let drawn = rtt.and_then(|rtt| self.timer.draw(rtt, cwnd));
        drawn.map_or_else(|| self.current(), |drawn| drawn.min(self.max))
    }

    /// Returns the timeout in force.
    #[inline]
    pub(crate) fn current(&self) -> Duration {
        if let Some(drawn) = self.timer.drawn() {
            return drawn.min(self.max);
        }
        let doubled = self.base * (1 << self.backoff.min(self.max_doublings.into()));
        // This changes nothing if the minimum applies before the backoff.
        doubled.clamp(self.min, self.max)
    }

    /// Doubles the timeout after the timer expired.
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
        self.doubtful |= self.doubtful_after.is_some_and(|doublings| self.backoff >= doublings);
        self.timer.on_timeout();
    }

    /// Called when data transmission begins after a SYN was lost.
    pub(crate) fn after_lost_syn(&mut self) {
        self.base = self.base.max(RTO_AFTER_LOST_SYN).clamp(self.min, self.max);
        self.backoff = 0;
    }

    /// Ends the backoff after a round-trip time was measured. Until then the doubled timeout stays,
    /// because a path that became slower would otherwise never give a sample (RFC 6298, section 5;
    /// Karn's algorithm).
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Called when new data was acknowledged, with the congestion window.
    #[inline(always)]
    pub(crate) fn progress(&mut self, cwnd: f64) {
        self.timer.on_progress(cwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn rto(min: Duration) -> Rto {
        let config = Config::simulated().with(|c| c.rto.min = min);
        Rto::new(&config, AnyTimer::Rfc6298(Rfc6298))
    }

    #[test]
    fn a_maximum_below_the_minimum_is_raised_to_it() {
        let mut r = rto(ms(100_000));
        r.sample(ms(100), 1.0);
        assert_eq!(r.base(), ms(100_000));
    }

    #[test]
    fn many_doublings_may_reinitialise_the_estimators() {
        let after = |doublings: u32, rule: Option<u32>| {
            let mut r = Rto { doubtful_after: rule, ..rto(ms(1)) };
            r.sample(ms(100), 1.0);
            (0..doublings).for_each(|_| r.back_off());
            r.reset_backoff();
            r.sample(ms(500), 1.0);
            r.base()
        };
        // SRTT 7/8·100 + 1/8·500 = 150, RTTVAR 3/4·50 + 1/4·400 = 137.5: 700.
        assert_eq!([after(3, Some(4)), after(9, None)], [ms(700); 2]);
        // Like a first sample: 500 + 4·250.
        assert_eq!(after(4, Some(4)), ms(1500));
    }

    #[test]
    fn doublings_before_the_first_sample_do_not_count() {
        let mut r = Rto { doubtful_after: Some(4), ..rto(ms(1)) };
        // A SYN that was lost four times gives no round-trip time.
        (0..4).for_each(|_| r.back_off());
        r.sample(ms(100), 1.0);
        r.sample(ms(500), 1.0);
        // SRTT 7/8·100 + 1/8·500 = 150, RTTVAR 3/4·50 + 1/4·400 = 137.5.
        assert_eq!(r.base(), ms(700));
    }

    #[test]
    fn the_estimators_converge_with_a_window_of_a_million_segments() {
        let mut r = rto(ms(1));
        r.sample(ms(10), 1.0);
        // 30 round trips: (7/8)^30 is 2 %.
        for _ in 0..30_000_000 {
            r.sample(ms(1), 1e6);
        }
        let srtt = r.srtt().expect("sampled");
        let rttvar = r.rttvar().expect("sampled");
        assert!(srtt < Duration::from_micros(1250), "{srtt}");
        assert!(rttvar < Duration::from_micros(250), "{rttvar}");
    }

    #[test]
    fn the_first_two_samples_follow_rfc_6298() {
        let mut r = rto(ms(1));
        assert_eq!(r.base(), Duration::from_secs(1), "2.1");
        r.sample(ms(100), 1.0);
        assert_eq!(r.base(), ms(300), "2.2: SRTT 100, RTTVAR 50: 100 + 4·50");
        r.sample(ms(140), 1.0);
        // 2.3: RTTVAR 3/4·50 + 1/4·40 = 47.5, SRTT 7/8·100 + 1/8·140 = 105: 105 + 190.
        assert_eq!(r.base(), ms(295));
    }

    #[test]
    fn the_timeout_doubles_until_there_is_a_sample() {
        let mut r = rto(Duration::from_secs(1));
        r.sample(ms(100), 1.0);
        r.back_off();
        r.back_off();
        assert_eq!(r.current(), Duration::from_secs(4));
        r.reset_backoff();
        assert_eq!(r.current(), Duration::from_secs(1));
    }

    #[test]
    fn the_first_timeout_and_the_doublings_are_bounded_by_the_settings() {
        // ns-2 before 2007: 6 s, and at most 64 times that.
        let initial = Duration::from_secs(6);
        let max = Duration::from_secs(100_000);
        let bounds = RtoConfig { initial, max, max_doublings: 6, ..Config::simulated().rto };
        let config = |rto| Config::simulated().with(|c| c.rto = rto);
        let mut r = Rto::new(&config(bounds), AnyTimer::Rfc6298(Rfc6298));
        assert_eq!(r.current(), initial);
        (0..9).for_each(|_| r.back_off());
        assert_eq!(r.current(), initial * 64);
        let bounds = RtoConfig { max_doublings: u8::MAX, ..bounds };
        let mut r = Rto::new(&config(bounds), AnyTimer::Rfc6298(Rfc6298));
        (0..64).for_each(|_| r.back_off());
        assert_eq!(r.current(), max);
    }

    #[test]
    fn the_minimum_may_apply_to_the_doubled_timeout() {
        let min = Duration::from_secs(1);
        let timeouts = |min_after_backoff| {
            let config = Config::simulated().with(|c| {
                c.rto.min = min;
                c.ns2.min_after_backoff = min_after_backoff;
            });
            let mut r = Rto::new(&config, AnyTimer::Rfc6298(Rfc6298));
            r.sample(ms(100), 1.0);
            assert_eq!(r.base(), min, "without backoff it is the minimum either way");
            let next = |_| {
                let timeout = r.current();
                r.back_off();
                timeout
            };
            (0..9).map(next).collect::<Vec<_>>()
        };
        // SRTT 100, RTTVAR 50: 300 ms. Doubled: 300, 600, 1200, 2400 ms, each at least 1 s.
        let after = [1000, 1000, 1200, 2400, 4800, 9600, 19_200, 38_400, 60_000].map(ms);
        assert_eq!(timeouts(true), after);
        // RFC 6298, 2.4 and 5.5: the minimum is doubled.
        let before = [1, 2, 4, 8, 16, 32, 60, 60, 60].map(Duration::from_secs);
        assert_eq!(timeouts(false), before);
    }

    #[test]
    fn a_sample_after_a_spurious_timeout_reinitialises_the_estimators() {
        let mut r = rto(ms(1));
        r.sample(ms(100), 1.0);
        // SRTT 100, RTTVAR 50; before: 102 and 50.
        let (srtt, rttvar) = r.estimators().expect("one sample");
        assert_eq!((srtt, rttvar), (ms(102), ms(50)));
        // 400 ms: SRTT max(102, 400), RTTVAR max(50, 200): 400 + 4·200.
        r.adapt(srtt, rttvar, ms(400));
        assert_eq!((r.srtt(), r.base()), (Some(ms(400)), ms(1200)));
        // 80 ms: max(102, 80) + 4·max(50, 40).
        r.adapt(srtt, rttvar, ms(80));
        assert_eq!((r.srtt(), r.base()), (Some(ms(102)), ms(302)));
    }
}
