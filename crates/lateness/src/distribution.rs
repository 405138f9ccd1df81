//! The distribution of recent latenesses, in constant space.
//!
//! There are two generations of a histogram. The current one replaces the earlier one when it is old
//! enough and has enough samples, so a lateness counts for one to two ages.

#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use core::mem;

use unruffled_units::{Duration, Instant};

/// Binary logarithm of the number of bins per octave, which is four.
const LOG_BINS_PER_OCTAVE: u32 = 2;

/// Binary logarithm of the lower end of the first octave, in nanoseconds: 4 µs.
const LOG_FIRST_NANOS: u32 = 12;

/// Number of bins. They span 22 octaves, up to 17 s. Bin 0 stays empty, because it would mean "in order".
const BINS: usize = (22 << LOG_BINS_PER_OCTAVE) + 1;

/// Minimum number of samples in a generation. A budget of 1 % allows ten of them to be spurious.
const MIN_SAMPLES: u32 = 1000;

/// Number of samples that ends a generation of any age, so that the sum of two does not overflow.
const MAX_SAMPLES: u32 = u32::MAX / 4;

/// Number of late segments per lost one from which on a missing segment counts as late.
const LATE_PER_LOST: u32 = 16;

/// Number of in-order samples after which the quantile is computed again.
const QUANTILE_INTERVAL: u32 = 64;

/// Counts of one generation.
#[derive(Clone, Copy, Debug, Default)]
struct Generation {
    samples: u32,
    /// Transmissions that count as lost.
    lost: u32,
}

/// The late samples of one generation. A full bin stops counting. That does not change the quantile
/// unless more than 65 535 segments were lost within two generations, because a full bin alone holds
/// more samples than may exceed the quantile.
#[derive(Clone, Debug)]
struct Late {
    bins: [u16; BINS],
    count: u32,
    longest: Duration,
    sum: Duration,
}

impl Late {
    const NONE: Self =
        Self { bins: [0; BINS], count: 0, longest: Duration::ZERO, sum: Duration::ZERO };
}

/// State that exists once something was late. Most connections never need it.
#[derive(Clone, Debug)]
struct Kept {
    current: Late,
    earlier: Late,
    quantile: Duration,
    /// The longest lateness times the margin.
    safe: Duration,
    /// The mean over all samples as a share of the reference round trip. NaN marks it as out of date.
    share: f64,
}

impl Kept {
    fn new() -> Self {
        Self {
            current: Late::NONE,
            earlier: Late::NONE,
            quantile: Duration::ZERO,
            safe: Duration::ZERO,
            share: f64::NAN,
        }
    }

    fn longest(&self) -> Duration {
        self.current.longest.max(self.earlier.longest)
    }

    fn at(&self, bin: usize) -> u32 {
        u32::from(self.current.bins[bin]) + u32::from(self.earlier.bins[bin])
    }
}

/// Returns the bin of `lateness`.
fn bin(lateness: Duration) -> usize {
    let nanos = lateness.as_nanos().max(1 << LOG_FIRST_NANOS);
    let octave = nanos.ilog2();
    let fraction = (nanos >> (octave - LOG_BINS_PER_OCTAVE)) & ((1 << LOG_BINS_PER_OCTAVE) - 1);
    let first_bin = ((octave - LOG_FIRST_NANOS) as usize) << LOG_BINS_PER_OCTAVE;
    (first_bin + fraction as usize + 1).min(BINS - 1)
}

/// Returns the upper end of a bin.
fn end(bin: usize) -> Duration {
    if bin == 0 {
        return Duration::ZERO;
    }
    let octave = bin as u32 >> LOG_BINS_PER_OCTAVE;
    let fraction = bin as u64 & ((1 << LOG_BINS_PER_OCTAVE) - 1);
    let shift = octave + LOG_FIRST_NANOS - LOG_BINS_PER_OCTAVE;
    Duration::from_nanos(((1 << LOG_BINS_PER_OCTAVE) + fraction) << shift)
}

/// The distribution of recent latenesses.
#[derive(Clone, Debug)]
pub struct Lateness {
    /// Minimum duration of a generation.
    age: Duration,
    /// Upper bound on the share of samples that may exceed the quantile. If the share of lost
    /// transmissions is smaller, that share applies.
    budget: f64,
    /// Ratio of the safe wait to the longest lateness.
    margin: f64,
    current: Generation,
    earlier: Generation,
    kept: Option<Box<Kept>>,
    /// Time at which the current generation began.
    since: Instant,
    /// Duration of the earlier generation, in milliseconds.
    earlier_ms: u32,
    /// Number of samples at which the quantile is computed again; 0 if it is out of date already.
    next: u32,
}

impl Lateness {
    /// Creates a distribution without samples.
    ///
    /// A generation lasts at least `age`. `budget` is the maximum share of samples, 0…1, that may exceed
    /// the [quantile](Self::quantile). `margin` is the ratio of the [safe](Self::safe) wait to the longest
    /// lateness, at least 1.
    pub fn new(age: Duration, budget: f64, margin: f64) -> Self {
        Self {
            age,
            budget,
            margin,
            current: Generation::default(),
            earlier: Generation::default(),
            kept: None,
            since: Instant::ZERO,
            earlier_ms: 0,
            next: 0,
        }
    }

    /// Returns whether something was late within the two generations.
    #[inline]
    pub fn seen(&self) -> bool {
        self.late_samples() > 0
    }

    /// Records a segment that arrived in order.
    #[inline]
    pub fn in_order(&mut self) {
        self.current.samples += 1;
        self.invalidate_share();
    }

    /// Records a segment that arrived late.
    pub fn late(&mut self, lateness: Duration) {
        self.current.samples += 1;
        let kept = &mut **self.kept.get_or_insert_with(|| Box::new(Kept::new()));
        let current = &mut kept.current;
        let bin = &mut current.bins[bin(lateness)];
        *bin = bin.saturating_add(1);
        current.count += 1;
        current.sum += lateness;
        if lateness > current.longest {
            current.longest = lateness;
            kept.safe = kept.longest().mul_f64(self.margin);
        }
        kept.share = f64::NAN;
        if lateness > kept.quantile {
            self.next = 0;
        }
    }

    /// Records a transmission that counts as lost.
    pub fn lost(&mut self) {
        self.current.lost += 1;
        self.next = 0;
    }

    /// Records that a transmission that had counted as lost was not lost.
    pub fn found(&mut self) {
        let generation = if self.current.lost > 0 { &mut self.current } else { &mut self.earlier };
        generation.lost = generation.lost.saturating_sub(1);
        self.next = 0;
    }

    /// Discards old samples, and computes the quantile again if it may have changed. Returns whether a
    /// generation ended.
    pub fn refresh(&mut self, now: Instant) -> bool {
        let old = self.current.samples >= MIN_SAMPLES && now.since(self.since) >= self.age;
        let ended = old || self.current.samples >= MAX_SAMPLES;
        if ended {
            self.earlier = mem::take(&mut self.current);
            if let Some(kept) = &mut self.kept {
                kept.earlier = mem::replace(&mut kept.current, Late::NONE);
                kept.safe = kept.longest().mul_f64(self.margin);
            }
            let took = now.since(self.since).as_nanos().div_ceil(1_000_000);
            self.earlier_ms = took.try_into().unwrap_or(u32::MAX);
            self.since = now;
            self.next = 0;
            self.invalidate_share();
        }
        if self.current.samples >= self.next {
            let quantile = self.compute_quantile();
            if let Some(kept) = &mut self.kept {
                kept.quantile = quantile;
            }
            self.next = self.current.samples + QUANTILE_INTERVAL;
        }
        ended
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u32 {
        self.current.samples + self.earlier.samples
    }

    /// Returns the number of late samples.
    #[inline]
    pub fn late_samples(&self) -> u32 {
        self.kept.as_ref().map_or(0, |kept| kept.current.count + kept.earlier.count)
    }

    /// Returns the number of transmissions that count as lost.
    pub fn losses(&self) -> u32 {
        self.current.lost + self.earlier.lost
    }

    /// Returns the smallest lateness that only the allowed share of samples exceeds: the share lost, but
    /// at most the budget.
    fn compute_quantile(&self) -> Duration {
        let Some(kept) = &self.kept else { return Duration::ZERO };
        let budget = f64::from(self.samples()) * self.budget;
        let allowed = f64::from(self.losses()).min(budget) as u32;
        let mut above = 0;
        for at in (1..BINS).rev() {
            above += kept.at(at);
            if above > allowed {
                return end(at);
            }
        }
        Duration::ZERO
    }

    /// Returns the wait that costs least if a sample beyond it costs `beyond`, and if each lost
    /// transmission costs the wait: the end of a bin, but at most the longest lateness, or zero.
    ///
    /// The wait is a quantile whose order follows from the shares of late and lost samples. Without losses
    /// it is the longest lateness. It is zero if waiting for lost samples costs more than
    /// it saves. It is at most `longest`.
    ///
    /// If `stalls`, a late sample within the wait costs its lateness: the flow stands still meanwhile.
    pub fn cheapest_wait(&self, beyond: Duration, longest: Duration, stalls: bool) -> Duration {
        let Some(kept) = &self.kept else { return Duration::ZERO };
        let lost = f64::from(self.losses());
        let cost = |above: u32, wait: Duration| {
            f64::from(above) * beyond.as_secs_f64() + lost * wait.as_secs_f64()
        };
        let stall = |at: usize| end(at).as_secs_f64() * f64::from(kept.at(at));
        let mut within: f64 = if stalls { (0..BINS).map(stall).sum() } else { 0.0 };
        let mut above = 0;
        let mut cheapest = (f64::INFINITY, Duration::ZERO);
        for at in (0..BINS).rev() {
            let here = kept.at(at);
            // A wait that ends at an empty bin costs no less than one that ends below it.
            if at == 0 || here > 0 && end(at - 1) < longest {
                let cost = cost(above, end(at).min(longest)) + within.max(0.0);
                if cost < cheapest.0 || at == 0 && cost <= cheapest.0 {
                    cheapest = (cost, end(at));
                }
            }
            above += here;
            if stalls {
                within -= stall(at);
            }
        }
        cheapest.1.min(kept.longest()).min(longest)
    }

    /// Returns the lateness that only the allowed share of samples exceeded.
    #[inline]
    pub fn quantile(&self) -> Duration {
        self.kept.as_ref().map_or(Duration::ZERO, |kept| kept.quantile)
    }

    /// Returns the longest lateness.
    pub fn longest(&self) -> Duration {
        self.kept.as_deref().map_or(Duration::ZERO, Kept::longest)
    }

    /// Returns the longest lateness times the margin.
    #[inline]
    pub fn safe(&self) -> Duration {
        self.kept.as_deref().map_or(Duration::ZERO, |kept| kept.safe)
    }

    /// Returns the beginning of the two generations if a retransmission without evidence more likely
    /// replaced a late segment than a lost one: within the generations, many more segments were late by
    /// more than `wait` than were lost.
    pub fn likely_reordered_since(&self, wait: Duration) -> Option<Instant> {
        let (Some(kept), lost) = (&self.kept, self.losses()) else { return None };
        let enough = lost.saturating_mul(LATE_PER_LOST);
        let late = kept.current.count + kept.earlier.count;
        // Without a loss, the confirmation in question is older than both generations.
        let likely = lost > 0
            && late >= enough
            && (bin(wait) + 1..BINS).map(|at| kept.at(at)).sum::<u32>() >= enough;
        likely.then(|| self.since - Duration::from_millis(u64::from(self.earlier_ms)))
    }

    /// Returns the mean over all samples of the part of their lateness beyond `wait`.
    pub fn mean_beyond(&self, wait: Duration) -> Duration {
        let Some(kept) = &self.kept else { return Duration::ZERO };
        let mut sum = Duration::ZERO;
        for at in bin(wait)..BINS {
            sum += end(at).saturating_sub(wait) * u64::from(kept.at(at));
        }
        sum / u64::from(self.samples()).max(1)
    }

    /// Returns the mean over all samples.
    #[inline]
    pub fn mean(&self) -> Duration {
        let sum = |kept: &Kept| kept.current.sum + kept.earlier.sum;
        self.kept.as_deref().map_or(Duration::ZERO, sum) / u64::from(self.samples()).max(1)
    }

    /// Returns the mean over all samples as a share of the `reference` round trip.
    #[inline]
    pub fn share(&self, reference: Duration) -> f64 {
        let Some(kept) = self.kept.as_deref() else { return 0.0 };
        if kept.share.is_nan() { share_of(self.mean(), reference) } else { kept.share }
    }

    /// Computes [`Self::share`] and keeps it until the next sample. It is needed for every segment sent, and its
    /// divisions cost as much as the rest of that work. Call [`Self::invalidate_share`] after a change of the
    /// reference.
    #[inline]
    pub fn keep_share(&mut self, reference: Duration) {
        let share = self.share(reference);
        if let Some(kept) = &mut self.kept {
            kept.share = share;
        }
    }

    /// Marks the share that is kept as out of date.
    #[inline]
    pub fn invalidate_share(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.share = f64::NAN;
        }
    }
}

/// Returns `part` as a share of the round trip `reference`.
pub fn share_of(part: Duration, reference: Duration) -> f64 {
    part.as_secs_f64() / reference.as_secs_f64().max(1e-9)
}
