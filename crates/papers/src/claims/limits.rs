//! Limits: comparisons of means with numbers of the paper, or with each other.

use super::verdict::{ON_THE_MEAN, Verdict, estimate};
use crate::claims::samples::{Mismatch, Samples};
use crate::claims::tolerance;
use unruffled_lab::text::short;

/// Checks that all means lie between the two limits; `expected` describes that.
fn limits(a: &Samples, low: f64, high: f64, expected: String) -> Verdict {
    let means = a.means();
    let beyond = |mean: f64| match f64::max(low - mean, mean - high) {
        beyond if beyond > 0.0 || low <= mean && mean <= high => beyond,
        // The mean or a limit is NaN.
        _ => f64::INFINITY,
    };
    let failing = means.iter().filter(|&&m| beyond(m) > 0.0).count();
    let measured = measured(a, &means, failing, beyond);
    let known = !low.is_nan() && !high.is_nan() && means.iter().all(|mean| mean.is_finite());
    Verdict::new(known && failing == 0 && !means.is_empty(), known, expected, measured)
}

/// Describes the range of the means, or the worst of them.
fn measured(a: &Samples, means: &[f64], failing: usize, beyond: impl Fn(f64) -> f64) -> String {
    let by = |i: &usize, j: &usize| beyond(means[*i]).total_cmp(&beyond(means[*j]));
    let Some(worst) = (0..means.len()).max_by(by) else { return "no points".to_owned() };
    let number = format!("{}{}", estimate(&a.estimates()[worst]), a.place(worst));
    match (means.len(), failing) {
        (1, _) => number,
        (_, 0) => {
            let low = means.iter().copied().fold(f64::INFINITY, f64::min);
            let high = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            match (short(low), short(high)) {
                (low, high) if low == high => low,
                (low, high) => format!("{low} to {high}"),
            }
        }
        (of, n) => format!("not at {n} of {of} points, worst: {number}"),
    }
}

fn everywhere(a: &Samples) -> &'static str {
    if a.x.len() > 1 { " at every point" } else { "" }
}

pub(crate) fn at_least(a: &Samples, low: f64) -> Verdict {
    let expected = format!("{} at least {}{}", a.label, short(low), everywhere(a));
    limits(a, low, f64::INFINITY, expected)
}

pub(crate) fn at_most(a: &Samples, high: f64) -> Verdict {
    let expected = format!("{} at most {}{}", a.label, short(high), everywhere(a));
    limits(a, f64::NEG_INFINITY, high, expected)
}

/// Widens the range that the paper gives.
fn widened(low: f64, high: f64) -> (f64, f64) {
    (low - low.abs() * tolerance::RANGE_MARGIN, high + high.abs() * tolerance::RANGE_MARGIN)
}

/// Checks that the mean over all points lies in the paper's range.
pub(crate) fn within(a: &Samples, low: f64, high: f64) -> Verdict {
    let (lowest, highest) = widened(low, high);
    let mean = if a.x.len() > 1 { "on average " } else { "" };
    let expected = format!(
        "{} {mean}{} to {} ({} to {} with the tolerance)",
        a.label,
        short(low),
        short(high),
        short(lowest),
        short(highest)
    );
    let over = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let of_all = if a.x.len() > 1 { a.over_points(a.label.to_string(), over) } else { a.clone() };
    limits(&of_all, lowest, highest, expected)
}

/// Checks that every point lies in the paper's range.
pub(crate) fn within_everywhere(a: &Samples, low: f64, high: f64) -> Verdict {
    let (lowest, highest) = widened(low, high);
    let expected = format!(
        "{} {} to {} ({} to {} with the tolerance){}",
        a.label,
        short(low),
        short(high),
        short(lowest),
        short(highest),
        everywhere(a)
    );
    limits(a, lowest, highest, expected)
}

/// Checks that the means are near the paper's number.
pub(crate) fn near(a: &Samples, number: f64) -> Verdict {
    near_by(a, number, tolerance::MAX_DISTANCE)
}

pub(crate) fn near_by(a: &Samples, number: f64, share: f64) -> Verdict {
    let room = number.abs() * share;
    let expected =
        format!("{} {} ± {} %{}", a.label, short(number), short(share * 100.0), everywhere(a));
    limits(a, number - room, number + room, expected)
}

/// Checks that `a` and `b` differ at most by a share of `b`, for curves on the mean of all points.
/// The papers use “about” or “close” for a curve as a whole. The stricter criterion, at every
/// point, is judged separately.
pub(crate) fn close_by(a: &Samples, b: &Samples, share: f64) -> Result<Verdict, Mismatch> {
    let ratio = a.zip(b, format!("{} / {}", a.label, b.label), |a, b| a / b)?;
    // Means are compared, because curves show means; otherwise seeds in which both are small would
    // count most.
    let (over, under) = (a.means(), b.means());
    let pick = |of: &[f64], i: usize| if of.len() == 1 { of[0] } else { of[i] };
    let ratios: Vec<Vec<f64>> =
        (0..ratio.x.len()).map(|i| vec![pick(&over, i) / pick(&under, i)]).collect();
    let ratio = Samples::of(ratio.label, ratio.x, ratios);
    let (low, high) = (1.0 - share, 1.0 + share);
    let words = format!("{} within {} % of {}", a.label, short(share * 100.0), b.label);
    let each = limits(&ratio, low, high, words);
    if ratio.x.len() == 1 {
        let measured = format!("ratio {}", each.measured);
        return Ok(Verdict::new(each.holds, each.known, each.expected, measured));
    }
    let over = |ratios: &[f64]| ratios.iter().sum::<f64>() / ratios.len() as f64;
    let mean = ratio.over_points(ratio.label.to_string(), over);
    let verdict = limits(&mean, low, high, each.expected + ON_THE_MEAN);
    let measured = match each.holds {
        true => format!("mean ratio {}; at every point: {}", verdict.measured, each.measured),
        false => format!("mean ratio {}; {}", verdict.measured, each.measured),
    };
    let (holds, known) = (verdict.holds && each.known, verdict.known && each.known);
    Ok(Verdict::new(holds, known, verdict.expected, measured).with_every_point(Some(each.holds)))
}

/// Checks that no point is farther from the mean of all than a share of it.
pub(crate) fn flat_by(a: &Samples, share: f64) -> Verdict {
    let mean = a.mean();
    let expected = format!("{} constant to {} %", a.label, short(share * 100.0));
    let room = mean.abs() * share;
    let mut verdict = limits(a, mean - room, mean + room, expected);
    verdict.measured = format!("mean {}; {}", short(mean), verdict.measured);
    verdict
}
