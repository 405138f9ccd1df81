//! A cliff in how far behind late packets come, where a replay window ends.
//!
//! Whatever makes packets late spreads them over many distances behind the newest one, more and more
//! thinly. A replay window of W packets ends that abruptly: many come nearly W behind, and none come
//! further. Two models of the numbers of packets by distance are compared by their likelihood. In both,
//! the logarithm of the expected number is a quadratic function of the logarithm of the distance
//! (Poisson regression). In the second, the number drops at W.

use crate::behind::BehindCount;

/// Number of bins from half of a window to the window, where bins are not single packets.
const BINS: u64 = 32;

/// End of the distances that are compared, as a multiple of the window.
const END: f64 = std::f64::consts::SQRT_2;

/// Smallest number of packets from half of the window to the window.
const MIN_PACKETS: u64 = 8;

/// Greatest share of these packets in a single bin. Where all packets are late by the same time, the
/// distances end abruptly without a window.
const MAX_BIN_SHARE: f64 = 1.0 / 3.0;

/// Greatest number of packets in a bin that is accepted whatever its share.
const MIN_BIN_PACKETS: f64 = 3.0;

/// Greatest share of the packets that the model expects beyond a cliff and that are there. Some packets
/// are misjudged by the analysis, and some numbers in the order of sending are not exact.
const MAX_BEYOND: f64 = 0.3;

/// Smallest such share, so that a single packet beyond a cliff does not exclude it.
const MIN_BEYOND: f64 = 1e-3;

/// Number of bins to each side of a window in which a likelier end of the distances is looked for.
const SCAN_BINS: usize = 16;

/// Precision of the coefficients of the model: normal distributions around zero of standard deviation 5
/// and 20. The level is free.
const PRIOR: [f64; 3] = [0.0, 1.0 / 25.0, 1.0 / 400.0];

/// Evidence of a cliff at a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cliff {
    /// Natural logarithm of the ratio of both likelihoods: that with a cliff at the window, and that
    /// without one.
    pub(crate) log_ratio: f64,
    /// Packets that are missing up to [`END`] windows behind, by the model with a cliff.
    pub(crate) missing: f64,
    /// Natural logarithm of the ratio of the greatest likelihood of a cliff at another distance nearby to
    /// that of a cliff at the window.
    pub(crate) elsewhere: f64,
}

impl Cliff {
    /// Returns the evidence of a cliff at `window`, or `None` if too few packets come near it. Looks for a
    /// likelier distance only if `log_ratio` is at least `min_log_ratio`.
    pub(crate) fn at(behind: &[BehindCount], window: u64, min_log_ratio: f64) -> Option<Self> {
        let bins = Bins::around(window, behind);
        let below = &bins.packets[..bins.window];
        let all: f64 = below.iter().sum();
        let most = below.iter().copied().fold(0.0, f64::max);
        if all < MIN_PACKETS as f64 || most > MIN_BIN_PACKETS.max(MAX_BIN_SHARE * all) {
            return None;
        }
        let without = bins.fit(bins.packets.len(), 1.0);
        let (with, share) = bins.fit_cliff(bins.window);
        let log_ratio = with.log_likelihood - without.log_likelihood;
        let expected: f64 =
            (bins.window..bins.packets.len()).map(|at| with.expected(bins.x[at])).sum();
        let mut elsewhere = f64::NEG_INFINITY;
        if log_ratio >= min_log_ratio {
            let ends = bins.window - SCAN_BINS.min(bins.window / 2)
                ..(bins.window + SCAN_BINS).min(bins.packets.len() - 3);
            for end in ends.filter(|&end| end != bins.window) {
                let (other, _) = bins.fit_cliff(end);
                elsewhere = elsewhere.max(other.log_likelihood - with.log_likelihood);
            }
        }
        Some(Self { log_ratio, missing: expected * (1.0 - share), elsewhere })
    }
}

/// Numbers of packets by distance, around a window.
#[derive(Clone, Debug)]
struct Bins {
    /// Logarithm of the distance at the middle of each bin, as a multiple of the window.
    x: Vec<f64>,
    packets: Vec<f64>,
    /// Index of the first bin beyond the window.
    window: usize,
}

/// A fitted model: the logarithm of the expected number of packets in a bin at x is
/// `c[0] + c[1]·x + c[2]·x²`.
#[derive(Clone, Copy, Debug)]
struct Model {
    coefficients: [f64; 3],
    log_likelihood: f64,
}

impl Model {
    fn expected(&self, x: f64) -> f64 {
        libm::exp(self.log_expected(x))
    }

    fn log_expected(&self, x: f64) -> f64 {
        let [level, slope, curve] = self.coefficients;
        level + (slope + curve * x) * x
    }
}

impl Bins {
    fn around(window: u64, behind: &[BehindCount]) -> Self {
        let width = (window / (2 * BINS)).max(1);
        let below = (window / 2).div_ceil(width);
        let beyond = ((window as f64 * (END - 1.0)) / width as f64).round() as u64;
        let start = window - below * width;
        let middle = |bin: u64| (start + bin * width) as f64 + (width - 1) as f64 / 2.0;
        let x = (0..below + beyond).map(|bin| libm::log(middle(bin) / window as f64)).collect();
        let mut packets = vec![0.0; (below + beyond) as usize];
        for count in behind {
            let bin = count.behind.checked_sub(start).map(|offset| (offset / width) as usize);
            if let Some(packets) = bin.and_then(|bin| packets.get_mut(bin)) {
                *packets += count.packets as f64;
            }
        }
        Self { x, packets, window: below as usize }
    }

    /// Fits the model with a cliff before bin `end`; returns it with the share of what it expects beyond
    /// the cliff that is there.
    fn fit_cliff(&self, end: usize) -> (Model, f64) {
        let beyond: f64 = self.packets[end..].iter().sum();
        let mut share = 0.05;
        let mut model = self.fit(end, share);
        // The share and the model are fitted in turn.
        for _ in 0..5 {
            let expected: f64 = self.x[end..].iter().map(|&x| model.expected(x)).sum();
            let next = (beyond / expected.max(1e-9)).clamp(MIN_BEYOND, MAX_BEYOND);
            if (next - share).abs() < 1e-3 {
                break;
            }
            share = next;
            model = self.fit(end, share);
        }
        (model, share)
    }

    /// Fits the model, where `share` of what it expects is there from bin `end` on (Newton's method; the
    /// likelihood is concave).
    fn fit(&self, end: usize, share: f64) -> Model {
        let total: f64 = self.packets.iter().sum();
        let exposure = end as f64 + share * (self.packets.len() - end) as f64;
        let level = libm::log(total.max(0.5) / exposure);
        let mut model = Model { coefficients: [level, 0.0, 0.0], log_likelihood: 0.0 };
        model.log_likelihood = self.log_likelihood(&model, end, share);
        for _ in 0..60 {
            let step = self.newton_step(&model, end, share);
            let mut length = 1.0;
            let better = loop {
                let mut next = model;
                for (coefficient, step) in next.coefficients.iter_mut().zip(step) {
                    *coefficient += length * step;
                }
                next.log_likelihood = self.log_likelihood(&next, end, share);
                if next.log_likelihood >= model.log_likelihood {
                    break Some(next);
                }
                length /= 2.0;
                if length < 1e-6 {
                    break None;
                }
            };
            let Some(next) = better else { break };
            let gain = next.log_likelihood - model.log_likelihood;
            model = next;
            if gain < 1e-7 {
                break;
            }
        }
        model
    }

    /// Returns the logarithm of the likelihood, without terms that do not depend on the model, plus that of
    /// the prior.
    fn log_likelihood(&self, model: &Model, end: usize, share: f64) -> f64 {
        let mut sum = 0.0;
        for (at, (&x, &packets)) in self.x.iter().zip(&self.packets).enumerate() {
            let visible = if at < end { 0.0 } else { libm::log(share) };
            let log_expected = model.log_expected(x) + visible;
            sum += packets * log_expected - libm::exp(log_expected);
        }
        let penalty = model.coefficients.iter().zip(PRIOR).map(|(c, precision)| precision * c * c);
        let result = sum - penalty.sum::<f64>() / 2.0;
        if result.is_finite() { result } else { f64::NEG_INFINITY }
    }

    /// Returns the step of Newton's method towards the greatest likelihood.
    fn newton_step(&self, model: &Model, end: usize, share: f64) -> [f64; 3] {
        let mut gradient = [0.0; 3];
        let mut curvature = [[0.0; 3]; 3];
        for (at, (&x, &packets)) in self.x.iter().zip(&self.packets).enumerate() {
            let expected = model.expected(x) * if at < end { 1.0 } else { share };
            let powers = [1.0, x, x * x];
            for (row, power) in powers.iter().enumerate() {
                gradient[row] += (packets - expected) * power;
                for (column, other) in powers.iter().enumerate() {
                    curvature[row][column] += expected * power * other;
                }
            }
        }
        for (at, precision) in PRIOR.into_iter().enumerate() {
            gradient[at] -= precision * model.coefficients[at];
            curvature[at][at] += precision + 1e-9;
        }
        solve(curvature, gradient)
    }
}

/// Solves a system of three linear equations with a positive definite matrix (Gaussian elimination).
fn solve(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> [f64; 3] {
    for pivot in 0..3 {
        for row in pivot + 1..3 {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            let above = matrix[pivot];
            for (value, above) in matrix[row].iter_mut().zip(above) {
                *value -= factor * above;
            }
            right[row] -= factor * right[pivot];
        }
    }
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|column| matrix[row][column] * right[column]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of packets by distance, as `packets` gives them.
    fn counts(packets: impl Fn(u64) -> u64) -> Vec<BehindCount> {
        let count = |behind| BehindCount { behind, packets: packets(behind) };
        (1..1000).map(count).filter(|count| count.packets > 0).collect()
    }

    /// Returns the number of packets at a distance: `level` at 0, and less by a factor of e each `scale` packets.
    fn exponential(level: f64, scale: f64, behind: u64) -> u64 {
        let up_to =
            |behind: u64| (level * scale * (1.0 - libm::exp(-(behind as f64) / scale))) as u64;
        up_to(behind + 1) - up_to(behind)
    }

    #[test]
    fn equations_are_solved() {
        let matrix = [[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]];
        let solution = solve(matrix, [6.0, 10.0, 8.0]);
        for (found, expected) in solution.into_iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{solution:?}");
        }
    }

    /// 32 packets in the upper half of the window, and none beyond it, where about as many would be.
    #[test]
    fn distances_that_end_at_the_window_are_a_cliff() {
        let cut = counts(|behind| u64::from(behind < 64));
        let cliff = Cliff::at(&cut, 64, 1.5).expect("enough packets");
        assert!(cliff.log_ratio > 5.0, "{cliff:?}");
        assert!(cliff.elsewhere < 0.0, "{cliff:?}");
        assert!((20.0..40.0).contains(&cliff.missing), "{cliff:?}");
    }

    #[test]
    fn distances_that_decrease_gradually_are_no_cliff() {
        for scale in [3.0, 8.0, 20.0, 50.0, 200.0] {
            for level in [1.0, 10.0, 100.0] {
                let smooth = counts(|behind| exponential(level, scale, behind));
                for window in [32, 64, 128] {
                    let cliff = Cliff::at(&smooth, window, 1.5);
                    let is_none = cliff.is_none_or(|cliff| cliff.log_ratio < 1.5);
                    assert!(is_none, "{scale} {level} {window}: {cliff:?}");
                }
            }
        }
    }

    /// The distances end at 56, so that a window of 64 did not cut them off.
    #[test]
    fn distances_that_end_elsewhere_are_likelier_there() {
        let cut = counts(|behind| u64::from(behind < 56) * 2);
        let cliff = Cliff::at(&cut, 64, 1.5).expect("enough packets");
        assert!(cliff.elsewhere > 3.0, "{cliff:?}");
    }

    #[test]
    fn packets_that_are_all_at_one_distance_are_no_cliff() {
        let constant = counts(|behind| if behind == 31 { 128 } else { u64::from(behind == 20) });
        assert_eq!(Cliff::at(&constant, 32, 1.5), None);
    }

    /// Two of the packets beyond the window are misjudged, or their numbers are not exact.
    #[test]
    fn a_few_packets_beyond_the_window_do_not_hide_the_cliff() {
        let cut = counts(|behind| {
            2 * u64::from(behind < 128) + u64::from(behind == 130 || behind == 170)
        });
        let cliff = Cliff::at(&cut, 128, 1.5).expect("enough packets");
        assert!(cliff.log_ratio > 12.0 && cliff.elsewhere < 0.0, "{cliff:?}");
    }

    #[test]
    fn nothing_near_a_window_is_no_evidence() {
        assert_eq!(Cliff::at(&counts(|behind| u64::from(behind < 10)), 64, 1.5), None);
        assert_eq!(Cliff::at(&[], 8129, 1.5), None);
    }
}
