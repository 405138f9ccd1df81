//! Relation of the clocks of two captures.
//!
//! The minimum delay of each direction does not depend on queues. If it is the same in both directions,
//! half of the difference of the apparent minimum delays is the offset of the clocks. If one clock runs
//! faster, the apparent minimum delay of one direction grows with time, and that of the other shrinks at
//! the same rate (S. Moon, P. Skelly, D. Towsley: Estimation and removal of clock skew from network delay
//! measurements, INFOCOM 1999).

use unruffled_units::Instant;

/// Shortest time over which the rates of both clocks are compared, in seconds.
const MIN_SKEW_SPAN_S: f64 = 5.0;

/// Largest difference of the rates of two clocks, in nanoseconds per second: 500 ppm.
const MAX_SKEW: f64 = 500_000.0;

/// Number of steps of the search for the skew. Each narrows the interval to two thirds, so the last one is
/// far below a nanosecond per second.
const SKEW_STEPS: u32 = 64;

/// Jitter below which two directions show the skew equally well, in nanoseconds.
const JITTER_FLOOR_NS: f64 = 1000.0;

/// A packet that both captures have: its time at the first capture in seconds, and its time at the second
/// less that at the first in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) t: f64,
    pub(super) delta: f64,
}

/// Origin of the times of [`Sample`], so that these are small.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    at: Instant,
    /// Approximate offset of the second clock, in nanoseconds.
    base: i64,
}

impl Origin {
    /// Creates an origin from one packet that passed the captures at these times.
    pub(super) fn new(first: Instant, second: Instant) -> Self {
        Self { at: first, base: difference(second, first) }
    }

    pub(super) fn sample(&self, first: Instant, second: Instant) -> Sample {
        let t = difference(first, self.at) as f64 / 1e9;
        Sample { t, delta: difference(second, first).wrapping_sub(self.base) as f64 }
    }
}

/// Returns the slope for which `excess`, a convex function, is smallest.
fn best_slope(excess: impl Fn(f64) -> f64) -> f64 {
    let mut low = -MAX_SKEW;
    let mut high = MAX_SKEW;
    for _ in 0..SKEW_STEPS {
        let third = (high - low) / 3.0;
        if excess(low + third) < excess(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    (low + high) / 2.0
}

fn difference(later: Instant, earlier: Instant) -> i64 {
    later.as_nanos().wrapping_sub(earlier.as_nanos()) as i64
}

/// Relation of both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    origin: Origin,
    /// Second clock less first clock at the origin, beyond `origin.base`, in nanoseconds.
    offset: f64,
    /// Growth of that difference, in nanoseconds per second.
    pub(super) skew: f64,
    /// Sum of the minimum delays of both directions, in nanoseconds. `None` if only one direction passed.
    pub(super) round_trip: Option<f64>,
}

impl Clocks {
    /// Estimates the relation from the packets of each direction: from the first capture to the second,
    /// and back.
    pub(super) fn estimate(origin: Origin, forward: &[Sample], back: &[Sample]) -> Self {
        let forward = Envelope::new(forward.to_vec());
        let back: Vec<Sample> =
            back.iter().map(|sample| Sample { delta: -sample.delta, ..*sample }).collect();
        let back = Envelope::new(back);
        // The direction with less jitter shows the skew better.
        let there = forward.smallest_excess() + JITTER_FLOOR_NS;
        let again = back.smallest_excess() + JITTER_FLOOR_NS;
        let excess = |skew: f64| forward.excess(skew) / there + back.excess(-skew) / again;
        let span = forward.span().max(back.span());
        let skew = if span < MIN_SKEW_SPAN_S { 0.0 } else { best_slope(excess) };
        let (offset, round_trip) = match (forward.intercept(skew), back.intercept(-skew)) {
            (Some(there), Some(back)) => ((there - back) / 2.0, Some(there + back)),
            (Some(there), None) => (there, None),
            (None, Some(back)) => (-back, None),
            (None, None) => (0.0, None),
        };
        Self { origin, offset, skew, round_trip }
    }

    /// Returns the second clock less the first at the origin, in nanoseconds.
    pub(super) fn offset(&self) -> f64 {
        self.origin.base as f64 + self.offset
    }

    /// Returns a time of the first capture, in nanoseconds since the origin.
    pub(super) fn first(&self, at: Instant) -> f64 {
        difference(at, self.origin.at) as f64
    }

    /// Returns a time of the second capture by the clock of the first, in nanoseconds since the origin.
    pub(super) fn second(&self, at: Instant) -> f64 {
        let since = difference(at, self.origin.at).wrapping_sub(self.origin.base) as f64;
        (since - self.offset) / (1.0 + self.skew * 1e-9)
    }
}

/// Lower convex hull of the samples of one direction.
struct Envelope {
    hull: Vec<Sample>,
    mean: Option<Sample>,
}

impl Envelope {
    fn new(mut samples: Vec<Sample>) -> Self {
        samples.sort_unstable_by(|a, b| a.t.total_cmp(&b.t).then(a.delta.total_cmp(&b.delta)));
        let n = samples.len() as f64;
        let mean = (!samples.is_empty()).then(|| Sample {
            t: samples.iter().map(|sample| sample.t / n).sum(),
            delta: samples.iter().map(|sample| sample.delta / n).sum(),
        });
        let mut hull: Vec<Sample> = Vec::new();
        for sample in samples {
            while let [.., a, b] = hull[..] {
                let turn =
                    (b.t - a.t) * (sample.delta - a.delta) - (b.delta - a.delta) * (sample.t - a.t);
                if turn > 0.0 {
                    break;
                }
                hull.pop();
            }
            hull.push(sample);
        }
        Self { hull, mean }
    }

    /// Returns the time between the first and the last sample, in seconds.
    fn span(&self) -> f64 {
        match &self.hull[..] {
            [first, .., last] => last.t - first.t,
            _ => 0.0,
        }
    }

    /// Returns where the highest line of that slope below all samples meets the origin.
    fn intercept(&self, slope: f64) -> Option<f64> {
        let intercepts = self.hull.iter().map(|sample| sample.delta - slope * sample.t);
        intercepts.min_by(f64::total_cmp)
    }

    /// Returns the smallest mean distance of the samples above a line below all of them.
    fn smallest_excess(&self) -> f64 {
        self.excess(best_slope(|slope| self.excess(slope))).max(0.0)
    }

    /// Returns the mean distance of the samples above that line.
    fn excess(&self, slope: f64) -> f64 {
        match (self.mean, self.intercept(slope)) {
            (Some(mean), Some(intercept)) => mean.delta - slope * mean.t - intercept,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 30 s cross a path of 20 ms in either direction, with a queue of up to 40 ms that grows
    /// over the first half. The second clock is 3 s ahead and gains 50 ppm.
    #[test]
    fn a_growing_queue_is_not_a_faster_clock() {
        let start = 1_000_000_000_000;
        let second = |t: f64| start + ((3.0 + t * (1.0 + 50e-6)) * 1e9) as u64;
        let at = |t: f64| Instant::from_nanos(start + (t * 1e9) as u64);
        let mut forward = Vec::new();
        let mut back = Vec::new();
        let origin = Origin::new(at(0.0), Instant::from_nanos(second(0.02)));
        for n in 0..3000u32 {
            let t = f64::from(n) / 100.0;
            let queue = if n % 500 == 7 { 0.0 } else { 0.04 * (t / 15.0).min(1.0) };
            let arrival = Instant::from_nanos(second(t + 0.02 + queue));
            forward.push(origin.sample(at(t), arrival));
            let jitter = f64::from(n * 7919 % 100) / 1e5;
            let departure = Instant::from_nanos(second(t));
            back.push(origin.sample(at(t + 0.02 + jitter), departure));
        }
        let clocks = Clocks::estimate(origin, &forward, &back);
        assert!((clocks.skew / 1000.0 - 50.0).abs() < 1.0, "{clocks:?}");
        assert!((clocks.offset() / 1e6 - 3000.0).abs() < 0.1, "{clocks:?}");
        assert!((clocks.round_trip.unwrap() / 1e6 - 40.0).abs() < 0.1, "{clocks:?}");
        let by_first = clocks.second(Instant::from_nanos(second(10.0)));
        assert!((by_first / 1e6 - 10_000.0).abs() < 0.1, "{by_first}");
    }

    #[test]
    fn one_direction_alone_shows_delays_beyond_the_minimum_only() {
        let at = |ms: u64| Instant::from_millis(ms);
        let origin = Origin::new(at(1000), at(1500));
        let forward = [origin.sample(at(1000), at(1500)), origin.sample(at(1100), at(1609))];
        let clocks = Clocks::estimate(origin, &forward, &[]);
        assert_eq!(clocks.round_trip, None);
        assert_eq!(clocks.second(at(1609)) - clocks.first(at(1100)), 9e6);
    }
}
