//! RR-TCP's enhanced sampling (table 2): the timeout covers a share of all round-trip times,
//! including those of retransmitted segments once a DSACK has identified the copy that arrived
//! first.

use std::borrow::Cow;

use unruffled_units::Duration;

use super::{AnyTimer, Timer};
use crate::fenwick::Histogram;
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, maker};

settings! {
    /// Tunable parameters.
    "percentile" Settings {
        rtt_percentile: f64 = Parameter {
            name: "rtt_percentile",
            unit: Unit::Fraction,
            default: 0.998,
            range: (0.0, 1.0),
            about: "share of the round-trip times that the timeout covers",
            source: "RR-TCP, table 2",
        },
    }
}

/// RR-TCP's timer.
pub(crate) const PERCENTILE: Kind<AnyTimer> = Kind::new::<Settings>("percentile", |values| {
    maker(values, |settings: Settings, _| {
        AnyTimer::Percentile(Percentile::new(settings.rtt_percentile))
    })
});

/// Histogram of all round-trip times, in bins of about 3 %: 32 per octave, from 1 µs to an hour.
/// After 2^32 samples all counts are halved.
#[derive(Clone, Debug)]
pub(crate) struct Percentile {
    percentile: f64,
    /// Bin of the first sample, which comes from the handshake. An idle connection has no more, and
    /// does without the histogram of four kilobytes.
    first: Option<usize>,
    /// All samples, from the second on.
    samples: Option<Histogram>,
}

const BINS_PER_OCTAVE: u64 = 32;
const OCTAVES: u64 = 32;

impl Percentile {
    fn new(percentile: f64) -> Self {
        Self { percentile, first: None, samples: None }
    }

    fn add(&mut self, rtt: Duration) {
        let micros = (rtt.as_nanos() / 1_000).max(1);
        let octave = u64::from(micros.ilog2());
        // The bits after the leading one, scaled to the bins of an octave.
        let fraction = ((micros - (1 << octave)) * BINS_PER_OCTAVE) >> octave;
        let bin = (octave * BINS_PER_OCTAVE + fraction + 1) as usize;
        let Some(first) = self.first else {
            self.first = Some(bin);
            return;
        };
        let samples = self.samples.get_or_insert_with(|| {
            let mut samples = Histogram::new((OCTAVES * BINS_PER_OCTAVE) as usize);
            samples.add(first, 1);
            samples
        });
        if samples.total() == u32::MAX {
            samples.halve();
        }
        samples.add(bin, 1);
    }

    /// Returns the upper end of the bin that contains the percentile.
    fn bound(&self) -> Duration {
        let all = self.samples.as_ref().and_then(|samples| samples.percentile(self.percentile));
        let Some(bin) = all.or(self.first) else { return Duration::ZERO };
        let octave = bin as u64 / BINS_PER_OCTAVE;
        let fraction = bin as u64 % BINS_PER_OCTAVE;
        let micros = (1_u64 << octave) + ((fraction << octave) / BINS_PER_OCTAVE);
        Duration::from_micros(micros)
    }
}

impl Timer for Percentile {
    fn about(&self) -> Cow<'static, str> {
        format!("RFC 6298, at least the {:.1}th percentile", self.percentile * 100.0).into()
    }

    fn on_sample(&mut self, rtt: Duration) {
        self.add(rtt);
    }

    fn floor(&self) -> Duration {
        self.bound()
    }

    fn samples_retransmissions(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::rfc6298::Rto;
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn enhanced_sampling_covers_the_percentile_of_all_samples() {
        let config = crate::Config::simulated().with(|c| c.rto.min = ms(1));
        let mut r = Rto::new(&config, AnyTimer::Percentile(Percentile::new(0.998)));
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
    fn counts_are_halved_when_they_would_overflow() {
        let mut tail = Percentile::new(0.998);
        tail.add(ms(100));
        let usual = tail.bound();
        tail.add(ms(100));
        assert_eq!(tail.bound(), usual);
        // All but two samples fall in the bin of 100 ms.
        let samples = tail.samples.as_mut().expect("two samples");
        let bin = samples.percentile(1.0).expect("two samples");
        samples.add(bin, u32::MAX - 2);
        for _ in 0..1000 {
            tail.add(ms(900));
        }
        assert_eq!(tail.bound(), usual, "1000 of 2^31 are within the 0.2 % left out");
        let total = tail.samples.map(|samples| samples.total());
        assert_eq!(total, Some(u32::MAX / 2 + 1 + 1000));
    }
}
