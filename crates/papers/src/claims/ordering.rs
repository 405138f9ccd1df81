//! Orderings: one curve above the other, rising or falling, by the confidence interval of the
//! differences of the same seeds.

use std::rc::Rc;

use super::verdict::{Verdict, estimate};
use crate::claims::samples::{Mismatch, Samples};
use unruffled_lab::statistics::Estimate;
use unruffled_lab::text::short;

/// The side of zero on which a mean difference lies with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Below,
    /// The interval contains zero.
    Neither,
    Above,
}

/// Returns whether the difference and its interval are numbers.
fn is_known(difference: &Estimate) -> bool {
    difference.mean.is_finite() && difference.half_width.is_finite()
}

fn side(difference: &Estimate) -> Side {
    // With one seed the interval has no width, so the means decide.
    if difference.mean - difference.half_width > 0.0 {
        Side::Above
    } else if difference.mean + difference.half_width < 0.0 {
        Side::Below
    } else {
        Side::Neither
    }
}

/// Checks that `a − b` lies on an acceptable side at every point.
fn ordering(
    a: &Samples,
    b: &Samples,
    relation: &str,
    fits: impl Fn(Side) -> bool,
    sign: f64,
) -> Result<Verdict, Mismatch> {
    let difference = a.zip(b, String::new(), |a, b| a - b)?;
    let estimates = difference.estimates();
    let every = if estimates.len() > 1 { " at every point" } else { "" };
    let failing: Vec<usize> = (0..estimates.len())
        .filter(|&i| !is_known(&estimates[i]) || !fits(side(&estimates[i])))
        .collect();
    // The point that is nearest to failing, or the failing point that is farthest off. A point
    // without a number is the worst.
    let badness = |i: &usize| match sign * estimates[*i].mean {
        gap if gap.is_nan() => f64::NEG_INFINITY,
        gap => gap,
    };
    let candidates = match failing.as_slice() {
        [] => (0..estimates.len()).collect(),
        failing => failing.to_vec(),
    };
    let worst = candidates.into_iter().min_by(|i, j| badness(i).total_cmp(&badness(j)));
    let Some(worst) = worst else { return Err(Mismatch::Empty) };
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
    let known = estimates.iter().all(is_known);
    Ok(Verdict::new(failing.is_empty(), known, expected, measured))
}

pub(crate) fn above(a: &Samples, b: &Samples) -> Result<Verdict, Mismatch> {
    ordering(a, b, "above", |side| side == Side::Above, 1.0)
}

pub(crate) fn below(a: &Samples, b: &Samples) -> Result<Verdict, Mismatch> {
    ordering(a, b, "below", |side| side == Side::Below, -1.0)
}

pub(crate) fn not_below(a: &Samples, b: &Samples) -> Result<Verdict, Mismatch> {
    ordering(a, b, "not below", |side| side != Side::Below, 1.0)
}

pub(crate) fn not_above(a: &Samples, b: &Samples) -> Result<Verdict, Mismatch> {
    ordering(a, b, "not above", |side| side != Side::Above, -1.0)
}

/// Checks for a trend: the last point is beyond the first, and no neighbours go the other way.
fn monotone(a: &Samples, falling: bool) -> Result<Verdict, Mismatch> {
    if a.x.len() < 2 {
        return Err(Mismatch::Single(Rc::clone(&a.label)));
    }
    let (required, other) =
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
    let known = is_known(&whole) && (0..last).all(|i| is_known(&step(i, i + 1)));
    let holds = known && side(&whole) == required && wrong.is_empty();
    let expected = format!("{} {}", a.label, if falling { "falls" } else { "rises" });
    Ok(Verdict::new(holds, known, expected, measured))
}

pub(crate) fn falls(a: &Samples) -> Result<Verdict, Mismatch> {
    monotone(a, true)
}

pub(crate) fn rises(a: &Samples) -> Result<Verdict, Mismatch> {
    monotone(a, false)
}
