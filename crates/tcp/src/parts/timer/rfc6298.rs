//! The retransmission timeout (RFC 6298), which other timers build on.

use std::borrow::Cow;

use unruffled_units::Duration;

use super::{AnyTimer, Timer};
use crate::parts::{Kind, maker};
use crate::{Config, RtoConfig};

/// The standard's timer.
pub(crate) const RFC_6298: Kind<AnyTimer> =
    Kind::new::<()>("rfc-6298", |values| maker(values, |(), _| AnyTimer::Rfc6298(Rfc6298)));

/// Adds nothing to [`Rto`].
#[derive(Clone, Debug)]
pub(crate) struct Rfc6298;

impl Timer for Rfc6298 {
    fn about(&self) -> Cow<'static, str> {
        "RFC 6298".into()
    }
}

/// When data transmission begins after a lost SYN (RFC 6298, 5.7).
const AFTER_LOST_SYN: Duration = Duration::from_secs(3);
/// Clock granularity G of RFC 6298, 2.2: the engine's clock is finer than this.
const GRANULARITY: Duration = Duration::from_millis(1);
/// Nanoseconds of SRTT to a sample, at least: what changes with smaller gains is lost in rounding.
const FINEST: f64 = 32.0;

/// Smoothed round-trip time, its variation, and the timeout made of them.
#[derive(Clone, Debug)]
pub(crate) struct Rto {
    min: Duration,
    max: Duration,
    max_doublings: u8,
    /// The minimum bounds the doubled timeout, and not the one that is doubled.
    min_after_backoff: bool,
    srtt: Option<Duration>,
    rttvar: Duration,
    /// What is doubled, computed at each sample.
    base: Duration,
    /// Doublings since the last round-trip time was measured (RFC 6298, 5.5).
    backoff: u32,
    /// As many doublings make the estimators doubtful, if any do: the next sample sets them anew.
    doubtful_after: Option<u32>,
    doubtful: bool,
    timer: AnyTimer,
}

impl Rto {
    /// Creates an estimator without samples, with the bounds of `config` and the hooks of `timer`.
    pub(crate) fn new(config: &Config, timer: AnyTimer) -> Self {
        let RtoConfig { min, max, initial, max_doublings, .. } = config.rto;
        let max = max.max(min);
        Self {
            min,
            max,
            // More would overflow, and no maximum leaves room for them.
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

    /// A round-trip time was measured, one of `per_round` in this window (RFC 7323, appendix G:
    /// the gains are per round trip, not per sample).
    #[inline(always)]
    pub(crate) fn sample(&mut self, rtt: Duration, per_round: f64) {
        match self.srtt.filter(|_| !self.doubtful) {
            None => {
                self.srtt = Some(rtt);
                self.rttvar = rtt / 2;
            }
            Some(srtt) => {
                let per_round = per_round.min((srtt.as_nanos() as f64 / FINEST).max(1.0));
                let (alpha, beta) = (0.125 / per_round, 0.25 / per_round);
                let deviation = srtt.abs_diff(rtt);
                self.rttvar = self.rttvar.mul_f64(1.0 - beta) + deviation.mul_f64(beta);
                self.srtt = Some(srtt.mul_f64(1.0 - alpha) + rtt.mul_f64(alpha));
            }
        }
        self.note(rtt);
    }

    /// SRTT_prev and RTTVAR_prev of RFC 4015, step 0, once there is a sample.
    pub(crate) fn estimators(&self) -> Option<(Duration, Duration)> {
        self.srtt.map(|srtt| (srtt + GRANULARITY * 2, self.rttvar))
    }

    /// RFC 4015, step 11: the first sample after a spurious timeout, before which the estimators
    /// were `srtt` and `rttvar`.
    pub(crate) fn adapt(&mut self, srtt: Duration, rttvar: Duration, rtt: Duration) {
        self.srtt = Some(srtt.max(rtt));
        self.rttvar = rttvar.max(rtt / 2);
        self.note(rtt);
    }

    /// Counts the sample and computes the timeout anew.
    #[inline]
    fn note(&mut self, rtt: Duration) {
        // Whether or not there was one to be doubted.
        self.doubtful = false;
        self.timer.on_sample(rtt);
        self.base = self.computed();
    }

    /// Whether round-trip times of segments that were sent twice count, once a DSACK has told the
    /// copies apart.
    pub(crate) fn samples_retransmissions(&self) -> bool {
        self.timer.samples_retransmissions()
    }

    /// SRTT, once there is a sample.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// RTTVAR, once there is a sample.
    pub(crate) fn rttvar(&self) -> Option<Duration> {
        self.srtt.map(|_| self.rttvar)
    }

    /// The timeout without backoff.
    pub(crate) fn base(&self) -> Duration {
        // Where the minimum comes before the backoff, it is in there.
        self.base.max(self.min)
    }

    /// The timeout of what has been measured: RFC 6298's, and not below the timer's floor.
    #[inline]
    fn computed(&self) -> Duration {
        let standard = match self.srtt {
            Some(srtt) => srtt + (self.rttvar * 4).max(GRANULARITY),
            None => self.base,
        };
        let least = if self.min_after_backoff { Duration::ZERO } else { self.min };
        standard.max(self.timer.floor()).clamp(least, self.max)
    }

    /// Computes the timeout for a timer that starts now. One that is drawn is bound below by the
    /// smoothed or the last round-trip time, whichever is longer, and above by the maximum; it knows no
    /// minimum, and only the backoff that it keeps itself.
    #[inline]
    pub(crate) fn compute(&mut self, cwnd: f64, latest_rtt: Option<Duration>) -> Duration {
        let known = self.srtt.map(|srtt| srtt.max(latest_rtt.unwrap_or_default()));
        let rtt = known.or_else(|| self.timer.draws_first().then_some(Duration::ZERO));
        let drawn = rtt.and_then(|rtt| self.timer.draw(rtt, cwnd));
        drawn.map_or_else(|| self.current(), |drawn| drawn.min(self.max))
    }

    /// The timeout in force.
    #[inline]
    pub(crate) fn current(&self) -> Duration {
        if let Some(drawn) = self.timer.drawn() {
            return drawn.min(self.max);
        }
        let doubled = self.base * (1 << self.backoff.min(self.max_doublings.into()));
        // Where the minimum comes before the backoff, nothing is below it.
        doubled.clamp(self.min, self.max)
    }

    /// The timer expired.
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
        self.doubtful |= self.doubtful_after.is_some_and(|doublings| self.backoff >= doublings);
        self.timer.on_timeout();
    }

    /// Data transmission begins after a SYN was lost.
    pub(crate) fn after_lost_syn(&mut self) {
        self.base = self.base.max(AFTER_LOST_SYN).clamp(self.min, self.max);
        self.backoff = 0;
    }

    /// A round-trip time was measured. Until then the doubled timeout stays, or a path that got
    /// slower would never give a sample (RFC 6298, section 5; Karn's algorithm).
    pub(crate) fn forget_backoff(&mut self) {
        self.backoff = 0;
    }

    /// New data was acknowledged, with this window.
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
    fn a_maximum_below_the_minimum_is_the_minimum() {
        let mut r = rto(ms(100_000));
        r.sample(ms(100), 1.0);
        assert_eq!(r.base(), ms(100_000));
    }

    #[test]
    fn many_doublings_may_make_the_estimators_doubtful() {
        let after = |doublings: u32, rule: Option<u32>| {
            let mut r = Rto { doubtful_after: rule, ..rto(ms(1)) };
            r.sample(ms(100), 1.0);
            (0..doublings).for_each(|_| r.back_off());
            r.forget_backoff();
            r.sample(ms(500), 1.0);
            r.base()
        };
        // SRTT 7/8·100 + 1/8·500 = 150, RTTVAR 3/4·50 + 1/4·400 = 137.5: 700.
        assert_eq!([after(3, Some(4)), after(9, None)], [ms(700); 2]);
        // As after a first sample: 500 + 4·250.
        assert_eq!(after(4, Some(4)), ms(1500));
    }

    #[test]
    fn doublings_before_any_sample_make_no_later_one_doubtful() {
        let mut r = Rto { doubtful_after: Some(4), ..rto(ms(1)) };
        // A SYN that was lost so often gives no round-trip time.
        (0..4).for_each(|_| r.back_off());
        r.sample(ms(100), 1.0);
        r.sample(ms(500), 1.0);
        // SRTT 7/8·100 + 1/8·500 = 150, RTTVAR 3/4·50 + 1/4·400 = 137.5.
        assert_eq!(r.base(), ms(700));
    }

    #[test]
    fn a_window_of_a_million_segments_has_a_round_trip_time() {
        let mut r = rto(ms(1));
        r.sample(ms(10), 1.0);
        // 30 round trips: 7/8 to that power is 2 %.
        for _ in 0..30_000_000 {
            r.sample(ms(1), 1e6);
        }
        let (srtt, rttvar) = (r.srtt().expect("sampled"), r.rttvar().expect("sampled"));
        assert!(srtt < Duration::from_micros(1250), "{srtt}");
        assert!(rttvar < Duration::from_micros(250), "{rttvar}");
    }

    #[test]
    fn the_first_sample_and_the_second_by_rfc_6298() {
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
        r.forget_backoff();
        assert_eq!(r.current(), Duration::from_secs(1));
    }

    #[test]
    fn the_first_timeout_and_the_doublings_are_bounded_as_told() {
        // ns-2 before 2007: 6 s, 64 times at most.
        let (initial, max) = (Duration::from_secs(6), Duration::from_secs(100_000));
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
    fn the_minimum_may_bound_the_doubled_timeout() {
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
        // SRTT 100, RTTVAR 50: 300 ms. Doubled, 300, 600, 1200, 2400 ms, and no less than 1 s.
        let after = [1000, 1000, 1200, 2400, 4800, 9600, 19_200, 38_400, 60_000].map(ms);
        assert_eq!(timeouts(true), after);
        // RFC 6298, 2.4 and 5.5: what is doubled is the minimum.
        let before = [1, 2, 4, 8, 16, 32, 60, 60, 60].map(Duration::from_secs);
        assert_eq!(timeouts(false), before);
    }

    #[test]
    fn a_sample_after_a_spurious_timeout_sets_the_estimators_anew() {
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
