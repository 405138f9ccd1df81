//! The retransmission timeout (RFC 6298), RR-TCP's enhanced sampling on top of it, and the choice
//! between it and WB-RTO.

use unruffled_units::Duration;

use super::wb_rto::WbRto;
use crate::fenwick::Histogram;

/// Before the first sample (RFC 6298, 2.1).
const INITIAL: Duration = Duration::from_secs(1);
/// When data transmission begins after a lost SYN (RFC 6298, 5.7).
const AFTER_LOST_SYN: Duration = Duration::from_secs(3);
/// Clock granularity G of RFC 6298, 2.2: the engine's clock is finer than this.
const GRANULARITY: Duration = Duration::from_millis(1);

/// Smoothed round-trip time, its variation, and the timeout made of them.
#[derive(Clone, Debug)]
pub(crate) struct Rto {
    min: Duration,
    max: Duration,
    srtt: Option<Duration>,
    rttvar: Duration,
    /// The timeout without backoff, computed at each sample.
    base: Duration,
    /// Doublings since the last round-trip time was measured (RFC 6298, 5.5).
    backoff: u32,
    /// As many doublings make the estimators doubtful, if any do: the next sample sets them anew.
    doubtful_after: Option<u32>,
    doubtful: bool,
    tail: Option<RttTail>,
    wb: Option<WbRto>,
}

impl Rto {
    /// `percentile`: the share of all samples that the timeout must cover besides (RR-TCP,
    /// Table 2: 99.8 %), if any.
    pub(crate) fn new(min: Duration, max: Duration, percentile: Option<f64>) -> Self {
        let tail = percentile.map(RttTail::new);
        let base = INITIAL.clamp(min, max);
        let rttvar = Duration::ZERO;
        let (doubtful_after, doubtful) = (None, false);
        Self {
            min,
            max,
            srtt: None,
            rttvar,
            base,
            backoff: 0,
            doubtful_after,
            doubtful,
            tail,
            wb: None,
        }
    }

    /// The same, but after so many doublings the next sample sets the estimators anew, as the first
    /// one did (RFC 6298, section 5: an implementation may).
    pub(crate) fn doubtful_after(self, doublings: Option<u32>) -> Self {
        Self { doubtful_after: doublings, ..self }
    }

    /// The same, but once there is a round-trip time WB-RTO sets the timeout.
    pub(crate) fn with_wb(self, wb: Option<WbRto>) -> Self {
        Self { wb, ..self }
    }

    /// A round-trip time was measured, one of `per_round` in this window (RFC 7323, appendix G:
    /// the gains are per round trip, not per sample).
    #[inline]
    pub(crate) fn sample(&mut self, rtt: Duration, per_round: f64) {
        match self.srtt.filter(|_| !std::mem::take(&mut self.doubtful)) {
            None => {
                self.srtt = Some(rtt);
                self.rttvar = rtt / 2;
            }
            Some(srtt) => {
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

    /// RFC 4015, step 11: the first sample after a needless timeout, before which the estimators
    /// were `srtt` and `rttvar`.
    pub(crate) fn adapt(&mut self, srtt: Duration, rttvar: Duration, rtt: Duration) {
        self.srtt = Some(srtt.max(rtt));
        self.rttvar = rttvar.max(rtt / 2);
        self.note(rtt);
    }

    /// Counts the sample and computes the timeout anew.
    #[inline]
    fn note(&mut self, rtt: Duration) {
        if let Some(tail) = &mut self.tail {
            tail.add(rtt);
        }
        self.base = self.computed();
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
        self.base
    }

    /// The timeout of what has been measured: RFC 6298's, and not below the percentile.
    #[inline]
    fn computed(&self) -> Duration {
        let standard = match self.srtt {
            Some(srtt) => srtt + (self.rttvar * 4).max(GRANULARITY),
            None => INITIAL,
        };
        let tail = self.tail.as_ref().map_or(Duration::ZERO, RttTail::bound);
        standard.max(tail).clamp(self.min, self.max)
    }

    /// Computes the timeout for a timer that starts now. WB-RTO has a new one each time, bound
    /// below by the smoothed or the last round-trip time, whichever is longer; it knows neither a
    /// minimum nor backoff.
    #[inline]
    pub(crate) fn compute(&mut self, cwnd: f64, latest_rtt: Option<Duration>) -> Duration {
        match (&mut self.wb, self.srtt) {
            (Some(wb), Some(srtt)) => wb.draw(srtt.max(latest_rtt.unwrap_or_default()), cwnd),
            _ => self.current(),
        }
    }

    /// The timeout in force.
    #[inline]
    pub(crate) fn current(&self) -> Duration {
        if let Some(drawn) = self.wb.as_ref().and_then(WbRto::drawn) {
            return drawn;
        }
        (self.base() * (1 << self.backoff.min(16))).min(self.max)
    }

    /// The timer expired.
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
        self.doubtful |= self.doubtful_after.is_some_and(|doublings| self.backoff >= doublings);
        if let Some(wb) = &mut self.wb {
            wb.on_timeout();
        }
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
        if let Some(wb) = &mut self.wb {
            wb.on_progress(cwnd);
        }
    }
}

/// Every round-trip time seen, in bins of about 3 %: 32 to an octave, from 1 µs to an hour. After
/// 2^32 of them each counts half.
#[derive(Clone, Debug)]
struct RttTail {
    percentile: f64,
    samples: Histogram,
}

const BINS_PER_OCTAVE: u64 = 32;
const OCTAVES: u64 = 32;

impl RttTail {
    fn new(percentile: f64) -> Self {
        Self { percentile, samples: Histogram::new((OCTAVES * BINS_PER_OCTAVE) as usize) }
    }

    fn add(&mut self, rtt: Duration) {
        let micros = (rtt.as_nanos() / 1_000).max(1);
        let octave = u64::from(micros.ilog2());
        // The bits behind the leading one, scaled to the bins of an octave.
        let fraction = ((micros - (1 << octave)) * BINS_PER_OCTAVE) >> octave;
        if self.samples.total() == u32::MAX {
            self.samples.halve();
        }
        self.samples.add((octave * BINS_PER_OCTAVE + fraction + 1) as usize, 1);
    }

    /// The upper end of the bin that the percentile falls in.
    fn bound(&self) -> Duration {
        let Some(bin) = self.samples.percentile(self.percentile) else { return Duration::ZERO };
        let (octave, fraction) = (bin as u64 / BINS_PER_OCTAVE, bin as u64 % BINS_PER_OCTAVE);
        let micros = (1_u64 << octave) + ((fraction << octave) / BINS_PER_OCTAVE);
        Duration::from_micros(micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn rto(min: Duration) -> Rto {
        Rto::new(min, Duration::from_secs(60), None)
    }

    #[test]
    fn many_doublings_may_make_the_estimators_doubtful() {
        let after = |doublings: u32, rule: Option<u32>| {
            let mut r = rto(ms(1)).doubtful_after(rule);
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
    fn a_sample_after_a_needless_timeout_sets_the_estimators_anew() {
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

    #[test]
    fn enhanced_sampling_covers_the_percentile_of_all_samples() {
        let mut r = Rto::new(ms(1), Duration::from_secs(60), Some(0.998));
        r.sample(ms(900), 1.0);
        for _ in 0..400 {
            r.sample(ms(100), 1.0);
        }
        // 1 of 401 samples is over 99.8 %: the timeout still covers it, within 3 %.
        assert!(r.base() >= ms(900) && r.base() <= ms(930), "{}", r.base());
        for _ in 0..400 {
            r.sample(ms(100), 1.0);
        }
        assert!(r.base() <= ms(110), "1 of 801 is within the 0.2 % left out: {}", r.base());
    }
    #[test]
    fn four_thousand_million_round_trips_are_no_fewer_than_the_last() {
        let mut tail = RttTail::new(0.998);
        tail.add(ms(100));
        let usual = tail.bound();
        // All but one: the bin that 100 ms fell in, from its upper end.
        let bin = tail.samples.percentile(1.0).expect("one sample");
        tail.samples.add(bin, u32::MAX - 1);
        for _ in 0..1000 {
            tail.add(ms(900));
        }
        assert_eq!(tail.bound(), usual, "1000 of 2^31 are within the 0.2 % left out");
        assert_eq!(tail.samples.total(), u32::MAX / 2 + 1 + 1000);
    }
}
