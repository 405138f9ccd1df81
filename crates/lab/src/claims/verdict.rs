//! Whether samples are as a paper says.

use super::samples::{Samples, short};
use super::tolerance;
use crate::statistics::Estimate;

/// Whether a claim holds, with the numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) holds: bool,
    /// What should be.
    pub(crate) expected: String,
    /// What is.
    pub(crate) measured: String,
}

/// A mean difference and its interval: which side of zero it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Below,
    /// The interval holds zero.
    Neither,
    Above,
}

fn side(difference: &Estimate) -> Side {
    // With one seed the interval has no width: the means decide.
    if difference.mean - difference.half_width > 0.0 {
        Side::Above
    } else if difference.mean + difference.half_width < 0.0 {
        Side::Below
    } else {
        Side::Neither
    }
}

/// `mean ± half-width`.
fn estimate(e: &Estimate) -> String {
    match e.half_width {
        half if half > 0.0 => format!("{} ± {}", short(e.mean), short(half)),
        _ => short(e.mean),
    }
}

/// At every point, `a − b` lies on a side that will do.
fn ordering(
    a: &Samples,
    b: &Samples,
    relation: &str,
    fits: impl Fn(Side) -> bool,
    sign: f64,
) -> Result<Verdict, String> {
    let difference = a.zip(b, String::new(), |a, b| a - b)?;
    let estimates = difference.estimates();
    let every = if estimates.len() > 1 { " at every point" } else { "" };
    let failing: Vec<usize> = (0..estimates.len())
        .filter(|&i| estimates[i].mean.is_nan() || !fits(side(&estimates[i])))
        .collect();
    // The point that is nearest to failing, or farthest beyond it; what is no number is worst.
    let badness = |i: &usize| match sign * estimates[*i].mean {
        gap if gap.is_nan() => f64::NEG_INFINITY,
        gap => gap,
    };
    let worst = (0..estimates.len()).min_by(|i, j| badness(i).total_cmp(&badness(j)));
    let Some(worst) = worst else { return Err("no points to compare".to_owned()) };
    let at = |s: &Samples| s.means()[if s.x.len() == 1 { 0 } else { worst }];
    let numbers = format!(
        "{} against {} (difference {}){}",
        short(at(a)),
        short(at(b)),
        estimate(&estimates[worst]),
        difference.place(worst)
    );
    let measured = match (failing.len(), estimates.len()) {
        (_, 1) => numbers,
        (0, _) => format!("nearest: {numbers}"),
        (n, of) => format!("not at {n} of {of} points, worst: {numbers}"),
    };
    let expected = format!("{} {relation} {}{every}", a.label, b.label);
    Ok(Verdict { holds: failing.is_empty(), expected, measured })
}

pub(super) fn above(a: &Samples, b: &Samples) -> Result<Verdict, String> {
    ordering(a, b, "above", |side| side == Side::Above, 1.0)
}

pub(super) fn below(a: &Samples, b: &Samples) -> Result<Verdict, String> {
    ordering(a, b, "below", |side| side == Side::Below, -1.0)
}

pub(super) fn not_below(a: &Samples, b: &Samples) -> Result<Verdict, String> {
    ordering(a, b, "not below", |side| side != Side::Below, 1.0)
}

pub(super) fn not_above(a: &Samples, b: &Samples) -> Result<Verdict, String> {
    ordering(a, b, "not above", |side| side != Side::Above, -1.0)
}

/// The verdicts on each pair of a list, as one: told is the pair that is nearest to failing, or those
/// that fail.
pub(super) fn of_pairs(mut verdicts: Vec<Verdict>, a: &[Samples], b: &[Samples]) -> Verdict {
    if let (1, Some(only)) = (verdicts.len(), verdicts.first()) {
        return only.clone();
    }
    let names = |of: &[Samples]| {
        let names: Vec<&str> = of.iter().map(|s| &*s.label).collect();
        match names.as_slice() {
            [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
            other => other.concat(),
        }
    };
    let words = verdicts.first().map(|v| v.expected.as_str()).unwrap_or_default();
    // The words between and behind the names are the same for each pair.
    let (a, b) = ((names(a), a), (names(b), b));
    let inner = words.strip_prefix(&*a.1[0].label).unwrap_or(words);
    let (relation, rest) = inner.split_once(&*b.1[0].label).unwrap_or((inner, ""));
    let expected = format!("{}{relation}{}{rest}", a.0, b.0);
    let holds = verdicts.iter().all(|v| v.holds);
    if !holds {
        verdicts.retain(|v| !v.holds);
    }
    let pair = |v: &Verdict| v.expected.trim_end_matches(" at every point").to_owned();
    let told: Vec<String> =
        verdicts.iter().map(|v| format!("{}: {}", pair(v), v.measured)).collect();
    Verdict { holds, expected, measured: told.join("; ") }
}

/// All means lie between the two limits; `expected` says so in words.
fn limits(a: &Samples, low: f64, high: f64, expected: String) -> Verdict {
    let means = a.means();
    let beyond = |mean: f64| match f64::max(low - mean, mean - high) {
        beyond if beyond.is_nan() => f64::INFINITY,
        beyond => beyond,
    };
    let failing = means.iter().filter(|&&m| beyond(m) > 0.0).count();
    let measured = measured(a, &means, failing, beyond);
    Verdict { holds: failing == 0 && !means.is_empty(), expected, measured }
}

/// The range of the means, or the worst of them.
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

pub(super) fn at_least(a: &Samples, low: f64) -> Verdict {
    let expected = format!("{} at least {}{}", a.label, short(low), everywhere(a));
    limits(a, low, f64::INFINITY, expected)
}

pub(super) fn at_most(a: &Samples, high: f64) -> Verdict {
    let expected = format!("{} at most {}{}", a.label, short(high), everywhere(a));
    limits(a, f64::NEG_INFINITY, high, expected)
}

/// The paper's range, widened.
fn widened(low: f64, high: f64) -> (f64, f64) {
    (low - low.abs() * tolerance::RANGE, high + high.abs() * tolerance::RANGE)
}

/// The mean over all points lies in the paper's range.
pub(super) fn within(a: &Samples, low: f64, high: f64) -> Verdict {
    let (least, most) = widened(low, high);
    let mean = if a.x.len() > 1 { "on average " } else { "" };
    let expected = format!(
        "{} {mean}{} to {} ({} to {} with the tolerance)",
        a.label,
        short(low),
        short(high),
        short(least),
        short(most)
    );
    let over = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let of_all = if a.x.len() > 1 { a.over_points(a.label.to_string(), over) } else { a.clone() };
    limits(&of_all, least, most, expected)
}

/// Every point lies in the paper's range.
pub(super) fn within_everywhere(a: &Samples, low: f64, high: f64) -> Verdict {
    let (least, most) = widened(low, high);
    let expected = format!(
        "{} {} to {} ({} to {} with the tolerance){}",
        a.label,
        short(low),
        short(high),
        short(least),
        short(most),
        everywhere(a)
    );
    limits(a, least, most, expected)
}

/// The paper's number, or as near as may be.
pub(super) fn near(a: &Samples, number: f64) -> Verdict {
    near_by(a, number, tolerance::ABSOLUTE)
}

pub(super) fn near_by(a: &Samples, number: f64, share: f64) -> Verdict {
    let room = number.abs() * share;
    let expected =
        format!("{} {} ± {} %{}", a.label, short(number), short(share * 100.0), everywhere(a));
    limits(a, number - room, number + room, expected)
}

/// `a` and `b` are the same but for a share of `b`.
pub(super) fn close_by(a: &Samples, b: &Samples, share: f64) -> Result<Verdict, String> {
    let ratio = a.zip(b, format!("{} / {}", a.label, b.label), |a, b| a / b)?;
    // Of means, as curves are of means: seeds in which both are small would count most.
    let (over, under) = (a.means(), b.means());
    let pick = |of: &[f64], i: usize| if of.len() == 1 { of[0] } else { of[i] };
    let ratios: Vec<Vec<f64>> =
        (0..ratio.x.len()).map(|i| vec![pick(&over, i) / pick(&under, i)]).collect();
    let ratio = Samples { values: ratios, ..ratio };
    let every = everywhere(&ratio);
    let expected = format!("{} within {} % of {}{every}", a.label, short(share * 100.0), b.label);
    let mut verdict = limits(&ratio, 1.0 - share, 1.0 + share, expected);
    verdict.measured = format!("ratio {}", verdict.measured);
    Ok(verdict)
}

/// Goes one way: the last point is beyond the first, and no neighbours go the other way.
fn monotone(a: &Samples, falling: bool) -> Result<Verdict, String> {
    if a.x.len() < 2 {
        return Err(format!("{} has one point: expected several", a.label));
    }
    let (wanted, other) =
        if falling { (Side::Below, Side::Above) } else { (Side::Above, Side::Below) };
    let step = |from: usize, to: usize| {
        let (from, to) = (&a.values[from], &a.values[to]);
        Estimate::of(from.iter().zip(to).map(|(from, to)| to - from))
    };
    let last = a.x.len() - 1;
    let whole = step(0, last);
    let wrong: Vec<usize> = (0..last).filter(|&i| side(&step(i, i + 1)) == other).collect();
    let means = a.means();
    let mut measured =
        format!("{}{} to {}{}", short(means[0]), a.place(0), short(means[last]), a.place(last));
    if let Some(&at) = wrong.first() {
        let verb = if falling { "rises" } else { "falls" };
        let (from, to) = (short(means[at]), short(means[at + 1]));
        measured += &format!(", but {verb} from {from} to {to}{}", a.place(at + 1));
    }
    let holds = side(&whole) == wanted && wrong.is_empty() && means.iter().all(|m| !m.is_nan());
    let expected = format!("{} {}", a.label, if falling { "falls" } else { "rises" });
    Ok(Verdict { holds, expected, measured })
}

pub(super) fn falls(a: &Samples) -> Result<Verdict, String> {
    monotone(a, true)
}

pub(super) fn rises(a: &Samples) -> Result<Verdict, String> {
    monotone(a, false)
}

/// No point is farther from the mean of all than a share of it.
pub(super) fn flat_by(a: &Samples, share: f64) -> Verdict {
    let mean = a.mean();
    let expected = format!("{} constant to {} %", a.label, short(share * 100.0));
    let room = mean.abs() * share;
    let mut verdict = limits(a, mean - room, mean + room, expected);
    verdict.measured = format!("mean {}; {}", short(mean), verdict.measured);
    verdict
}

pub(super) fn not(verdict: Verdict) -> Verdict {
    Verdict { holds: !verdict.holds, expected: format!("not: {}", verdict.expected), ..verdict }
}

/// All of them, or at least one.
pub(super) fn joined(verdicts: Vec<Verdict>, all: bool) -> Verdict {
    let expected: Vec<&str> = verdicts.iter().map(|v| v.expected.as_str()).collect();
    let expected = expected.join(if all { "; " } else { "; or " });
    let holds = if all {
        !verdicts.is_empty() && verdicts.iter().all(|v| v.holds)
    } else {
        verdicts.iter().any(|v| v.holds)
    };
    // Where all should hold and some do not, those are what matters.
    let told = verdicts.iter().filter(|v| !all || holds || !v.holds);
    let measured: Vec<String> = told
        .map(|v| {
            let which = if all && !holds { format!("{}: ", v.expected) } else { String::new() };
            format!("{which}{}", v.measured)
        })
        .collect();
    let mut measured = measured;
    measured.dedup();
    Verdict { holds, expected, measured: measured.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(label: &str, values: &[&[f64]]) -> Samples {
        let x: Vec<f64> = (1..=values.len()).map(|x| x as f64).collect();
        Samples::new(label, &x, values.iter().map(|v| v.to_vec()).collect())
    }

    #[test]
    fn above_needs_every_point_beyond_the_interval_of_paired_differences() {
        // The differences are 1, 1.1, 0.9: mean 1, far from 0, though the values themselves vary.
        let a = at("a", &[&[2.0, 11.1, 50.9]]);
        let b = at("b", &[&[1.0, 10.0, 50.0]]);
        assert!(above(&a, &b).unwrap().holds);
        assert!(!above(&b, &a).unwrap().holds);
        assert!(below(&b, &a).unwrap().holds);
        // Mean 1, standard deviation 1, t(0.975, 2) = 4.3027: 1 ± 2.48 holds 0.
        let a = at("a", &[&[2.0, 10.0, 52.0]]);
        let verdict = above(&a, &b).unwrap();
        assert!(!verdict.holds);
        assert_eq!(verdict.measured, "21.33 against 20.33 (difference 1 ± 2.484) at 1");
        assert!(not_below(&a, &b).unwrap().holds && not_above(&a, &b).unwrap().holds);
    }

    #[test]
    fn one_point_that_does_not_hold_is_enough_to_fail() {
        let (a, b) = (at("a", &[&[2.0], &[2.0], &[1.0]]), at("b", &[&[1.0], &[1.0], &[1.5]]));
        let verdict = above(&a, &b).unwrap();
        assert!(!verdict.holds);
        let wanted = "not at 1 of 3 points, worst: 1 against 1.5 (difference -0.5) at 3";
        assert_eq!(verdict.measured, wanted);
        assert_eq!(verdict.expected, "a above b at every point");
    }

    #[test]
    fn equal_is_neither_above_nor_below() {
        let a = at("a", &[&[1.0, 2.0]]);
        assert!(!above(&a, &a).unwrap().holds && !below(&a, &a).unwrap().holds);
        assert!(not_above(&a, &a).unwrap().holds && not_below(&a, &a).unwrap().holds);
    }

    #[test]
    fn what_is_no_number_holds_nothing() {
        let a = at("a", &[&[f64::NAN], &[1.0]]);
        let one = Samples::number(1.0);
        for verdict in [
            above(&a, &Samples::number(0.0)).unwrap(),
            not_below(&a, &one).unwrap(),
            at_least(&a, 0.0),
            at_most(&a, 2.0),
            within(&a, 0.0, 2.0),
            near(&a, 1.0),
            close_by(&a, &one, 0.05).unwrap(),
            flat_by(&a, 0.05),
            falls(&at("a", &[&[3.0], &[f64::NAN], &[1.0]])).unwrap(),
        ] {
            assert!(!verdict.holds, "{verdict:?}");
        }
    }

    #[test]
    fn limits_hold_at_every_point_by_the_means() {
        let a = at("a", &[&[0.70, 0.74], &[0.8, 0.8]]);
        assert!(at_least(&a, 0.72).holds);
        assert!(!at_least(&a, 0.73).holds);
        assert!(at_most(&a, 0.8).holds);
        assert_eq!(at_least(&a, 0.72).measured, "0.72 to 0.8");
        assert!(at_least(&a, 0.73).measured.starts_with("not at 1 of 2 points, worst: 0.72 ± "));
    }

    #[test]
    fn a_papers_range_is_widened_by_a_tenth_of_its_ends() {
        let a = at("a", &[&[0.30], &[0.90]]);
        assert!(within(&a, 0.65, 0.8).holds, "0.6 on average: 0.585 to 0.88");
        assert!(!within(&a, 0.67, 0.8).holds, "0.603 to 0.88");
        assert!(!within_everywhere(&a, 0.65, 0.8).holds);
        assert!(within_everywhere(&a, 0.33, 0.82).holds);
        assert!(near(&a.select(String::new(), |x| x == 1.0).unwrap(), 0.33).holds);
        assert!(!near(&a.select(String::new(), |x| x == 1.0).unwrap(), 0.34).holds);
        assert!(within(&at("a", &[&[-0.11]]), -0.1, 0.1).holds, "below zero it widens, too");
    }

    #[test]
    fn close_is_of_the_means() {
        let (a, b) = (at("a", &[&[1.0, 1.1]]), at("b", &[&[1.1, 1.0]]));
        assert!(close_by(&a, &b, 0.05).unwrap().holds);
        assert!(!close_by(&a, &Samples::number(1.2), 0.05).unwrap().holds);
    }

    #[test]
    fn falling_allows_level_stretches_but_no_rise() {
        assert!(falls(&at("a", &[&[3.0], &[2.0], &[2.0], &[1.0]])).unwrap().holds);
        let verdict = falls(&at("a", &[&[3.0], &[1.0], &[2.0]])).unwrap();
        assert!(!verdict.holds);
        assert_eq!(verdict.measured, "3 at 1 to 2 at 3, but rises from 1 to 2 at 3");
        assert!(!falls(&at("a", &[&[3.0], &[3.0]])).unwrap().holds);
        assert!(rises(&at("a", &[&[1.0], &[2.0]])).unwrap().holds);
        // A rise within the interval is none.
        let wavering = at("a", &[&[9.0, 9.5], &[5.0, 5.2], &[5.1, 5.15], &[1.0, 1.2]]);
        assert!(falls(&wavering).unwrap().holds);
        assert!(falls(&at("a", &[&[1.0]])).is_err());
    }

    #[test]
    fn flat_is_within_a_share_of_the_mean() {
        assert!(flat_by(&at("a", &[&[0.96], &[1.04]]), 0.05).holds);
        assert!(!flat_by(&at("a", &[&[0.94], &[1.06]]), 0.05).holds);
    }

    #[test]
    fn of_several_the_failing_are_told() {
        let verdict = |holds| Verdict { holds, expected: "e".to_owned(), measured: "m".to_owned() };
        let (yes, no) = (verdict(true), verdict(false));
        let both = joined(vec![yes.clone(), no.clone()], true);
        assert!(!both.holds);
        assert_eq!((both.expected.as_str(), both.measured.as_str()), ("e; e", "e: m"));
        assert!(joined(vec![yes.clone(), no.clone()], false).holds);
        assert!(!joined(vec![], true).holds);
        assert!(not(no).holds);
    }
}
