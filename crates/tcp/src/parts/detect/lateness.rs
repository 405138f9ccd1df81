//! How late segments have been recently: a distribution of latenesses in constant space, from which
//! come the lateness that all but a given share kept within, the longest one, and the mean.
//!
//! Two generations of a histogram. The current one replaces the earlier one when it is old enough
//! and has samples enough, so that a lateness counts for one to two ages.

#[cfg(test)]
mod tests;

use std::cell::Cell;

use unruffled_units::{Duration, Instant};

use super::reports::{Report, Reports};

/// Bins: four to an octave from 2^12 ns (4 µs) on, 22 octaves (17 s). Bin 0 stays empty: it would be
/// "in order".
const FRACTION: u32 = 2;
const FIRST: u32 = 12;
const BINS: usize = (22 << FRACTION) + 1;

/// Samples that a generation holds at least: ten of those that a budget of one in a hundred allows.
const ENOUGH: u32 = 1000;

/// Samples with which a generation ends however young it is: two of them can still be counted.
const MOST: u32 = u32::MAX / 4;

/// How many are late for each that is lost, where a missing one is taken to be late.
const ODDS: u32 = 16;

/// Samples in order after which the quantile is looked up again.
const STEP: u32 = 64;

/// Samples of one generation.
#[derive(Clone, Copy, Debug, Default)]
struct Generation {
    samples: u32,
    /// Transmissions that were lost, for all that is known.
    lost: u32,
}

/// Those of one generation that were late. A full bin counts no further: it holds more than may exceed
/// the quantile unless more than 65 535 were lost within memory, so the quantile does not notice.
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

/// What is kept once something was late: most connections never need it.
#[derive(Clone, Debug)]
struct Kept {
    current: Late,
    earlier: Late,
    quantile: Duration,
    /// The longest one and the margin.
    safe: Duration,
    /// The mean over all samples as a share of the reference round trip; NaN until it is asked for
    /// again after either changed.
    share: Cell<f64>,
    reports: Reports,
}

impl Kept {
    fn new() -> Self {
        Self {
            current: Late::NONE,
            earlier: Late::NONE,
            quantile: Duration::ZERO,
            safe: Duration::ZERO,
            share: Cell::new(f64::NAN),
            reports: Reports::default(),
        }
    }

    fn longest(&self) -> Duration {
        self.current.longest.max(self.earlier.longest)
    }

    fn at(&self, bin: usize) -> u32 {
        u32::from(self.current.bins[bin]) + u32::from(self.earlier.bins[bin])
    }
}

/// The bin of something late by `lateness`.
fn bin(lateness: Duration) -> usize {
    let nanos = lateness.as_nanos().max(1 << FIRST);
    let octave = nanos.ilog2();
    let fraction = (nanos >> (octave - FRACTION)) & ((1 << FRACTION) - 1);
    ((((octave - FIRST) as usize) << FRACTION) + fraction as usize + 1).min(BINS - 1)
}

/// Where a bin ends.
fn end(bin: usize) -> Duration {
    let (octave, fraction) = (bin as u32 >> FRACTION, bin as u64 & ((1 << FRACTION) - 1));
    if bin == 0 {
        return Duration::ZERO;
    }
    Duration::from_nanos(((1 << FRACTION) + fraction) << (octave + FIRST - FRACTION))
}

/// The distribution.
#[derive(Clone, Debug)]
pub(super) struct Lateness {
    /// How long a generation collects at least.
    age: Duration,
    /// The greatest share of all samples that may exceed the quantile; up to it, the share lost.
    most: f64,
    /// What is safe, in units of the longest lateness.
    margin: f64,
    current: Generation,
    earlier: Generation,
    kept: Option<Box<Kept>>,
    /// When the current generation began, and how many milliseconds the earlier one took.
    since: Instant,
    earlier_took: u32,
    /// With how many samples the quantile is out of date: none when it is.
    next: u32,
}

impl Lateness {
    pub(super) fn new(age: Duration, most: f64, margin: f64) -> Self {
        Self {
            age,
            most,
            margin,
            current: Generation::default(),
            earlier: Generation::default(),
            kept: None,
            since: Instant::ZERO,
            earlier_took: 0,
            next: 0,
        }
    }

    /// Something was late within memory.
    pub(super) fn seen(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.current.count + kept.earlier.count > 0)
    }

    /// A segment arrived in order.
    #[inline]
    pub(super) fn in_order(&mut self) {
        self.current.samples += 1;
        self.forget_share();
    }

    /// A segment arrived late.
    pub(super) fn late(&mut self, lateness: Duration) {
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
        kept.share.set(f64::NAN);
        if lateness > kept.quantile {
            self.next = 0;
        }
    }

    /// A transmission was lost.
    pub(super) fn lost(&mut self) {
        self.current.lost += 1;
        self.next = 0;
    }

    /// A transmission was not lost, though it had been thought to be.
    pub(super) fn found(&mut self) {
        let generation = if self.current.lost > 0 { &mut self.current } else { &mut self.earlier };
        generation.lost = generation.lost.saturating_sub(1);
        self.next = 0;
    }

    /// What became of a DSACK.
    pub(super) fn on_report(&mut self, report: Report) {
        if let Some(kept) = &mut self.kept {
            kept.reports.count(report);
        }
    }

    /// A DSACK that is missing may have been lost.
    pub(super) fn excuses(&mut self) -> bool {
        self.kept.as_mut().is_some_and(|kept| kept.reports.excuse())
    }

    /// Forgets what is too old, and looks up the quantile if it may have changed.
    pub(super) fn refresh(&mut self, now: Instant) {
        let old = self.current.samples >= ENOUGH && now.since(self.since) >= self.age;
        if old || self.current.samples >= MOST {
            self.earlier = std::mem::take(&mut self.current);
            if let Some(kept) = &mut self.kept {
                kept.earlier = std::mem::replace(&mut kept.current, Late::NONE);
                kept.safe = kept.longest().mul_f64(self.margin);
                kept.reports.fade();
            }
            let took = now.since(self.since).as_nanos().div_ceil(1_000_000);
            self.earlier_took = took.try_into().unwrap_or(u32::MAX);
            self.since = now;
            self.next = 0;
            self.forget_share();
        }
        if self.current.samples >= self.next {
            let quantile = self.look_up();
            if let Some(kept) = &mut self.kept {
                kept.quantile = quantile;
            }
            self.next = self.current.samples + STEP;
        }
    }

    fn samples(&self) -> u32 {
        self.current.samples + self.earlier.samples
    }

    fn losses(&self) -> u32 {
        self.current.lost + self.earlier.lost
    }

    /// The smallest bound above which at most the share lost lies, or the greatest share allowed.
    fn look_up(&self) -> Duration {
        let Some(kept) = &self.kept else { return Duration::ZERO };
        let most = f64::from(self.samples()) * self.most;
        let allowed = f64::from(self.losses()).min(most) as u32;
        let mut above = 0;
        for at in (1..BINS).rev() {
            above += kept.at(at);
            if above > allowed {
                return end(at);
            }
        }
        Duration::ZERO
    }

    /// The lateness that all but the share allowed kept within.
    pub(super) fn quantile(&self) -> Duration {
        self.kept.as_ref().map_or(Duration::ZERO, |kept| kept.quantile)
    }

    /// The longest one.
    pub(super) fn longest(&self) -> Duration {
        self.kept.as_deref().map_or(Duration::ZERO, Kept::longest)
    }

    /// What nothing has been as late as, by the margin.
    pub(super) fn safe(&self) -> Duration {
        self.kept.as_deref().map_or(Duration::ZERO, |kept| kept.safe)
    }

    /// So many more segments were late by more than `wait` than were lost, that one of which nothing
    /// more was heard was late: gives since when, for what was lost before is forgotten.
    pub(super) fn rather_late(&self, wait: Duration) -> Option<Instant> {
        let (Some(kept), lost) = (&self.kept, self.losses()) else { return None };
        let enough = lost.saturating_mul(ODDS);
        let late = kept.current.count + kept.earlier.count;
        // None lost: what was has been forgotten, and so must what it proved.
        let rather = lost > 0
            && late >= enough
            && (bin(wait) + 1..BINS).map(|at| kept.at(at)).sum::<u32>() >= enough;
        rather.then(|| self.since - Duration::from_millis(u64::from(self.earlier_took)))
    }

    /// The mean over all samples of what their latenesses exceed `wait` by.
    pub(super) fn mean_beyond(&self, wait: Duration) -> Duration {
        let Some(kept) = &self.kept else { return Duration::ZERO };
        let mut sum = Duration::ZERO;
        for at in bin(wait)..BINS {
            sum += end(at).saturating_sub(wait) * u64::from(kept.at(at));
        }
        sum / u64::from(self.samples()).max(1)
    }

    /// The mean over all samples.
    pub(super) fn mean(&self) -> Duration {
        let sum = |kept: &Kept| kept.current.sum + kept.earlier.sum;
        self.kept.as_deref().map_or(Duration::ZERO, sum) / u64::from(self.samples()).max(1)
    }

    /// The mean over all samples as a share of the `reference` round trip. Every segment that is sent
    /// asks for it, and the divisions cost as much as all else: whoever changes the reference says so.
    #[inline]
    pub(super) fn share(&self, reference: Duration) -> f64 {
        let Some(kept) = self.kept.as_deref() else { return 0.0 };
        let mut share = kept.share.get();
        if share.is_nan() {
            share = share_of(self.mean(), reference);
            kept.share.set(share);
        }
        share
    }

    /// The mean or the reference changed.
    #[inline]
    pub(super) fn forget_share(&self) {
        if let Some(kept) = &self.kept {
            kept.share.set(f64::NAN);
        }
    }
}

/// A part of a round trip, which takes some time.
pub(super) fn share_of(part: Duration, reference: Duration) -> f64 {
    part.as_secs_f64() / reference.as_secs_f64().max(1e-9)
}
