//! Measured numbers by point of the sweep and seed, and arithmetic with them.

use std::rc::Rc;

use crate::expression::Held;
use unruffled_lab::statistics::Estimate;
use unruffled_lab::text::short;

/// Why samples cannot be compared, or show no trend. Prints as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mismatch {
    /// The samples are of different points.
    #[error("{0} and {1} have different points")]
    Points(Rc<str>, Rc<str>),
    /// The samples are of different seeds.
    #[error("{0} and {1} have different seeds")]
    Seeds(Rc<str>, Rc<str>),
    /// There are no samples.
    #[error("no points to compare")]
    Empty,
    /// There is one point where several are required.
    #[error("{0} has one point: expected several")]
    Single(Rc<str>),
}

/// One number for each point and seed. A constant is one point without a position, with one seed;
/// it can be combined with any samples.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Samples {
    /// The expression that made the samples, in words.
    pub(crate) label: Rc<str>,
    /// The positions of the points; none for a value that belongs to no point.
    pub(crate) x: Rc<[Option<f64>]>,
    /// The values by point and seed.
    pub(crate) values: Rc<[Vec<f64>]>,
    held: Rc<Held>,
}

/// The number, or NaN if it is infinite, which would exceed any other.
pub(super) fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::NAN }
}

/// The longest label, in octets; a loop may double it at each step.
const MAX_LABEL: usize = 2_000;

/// The label, shortened if it is too long.
fn words(label: String) -> Rc<str> {
    shortened(label, MAX_LABEL).into()
}

/// Returns at most `most` octets of the text, and marks an omission.
pub(super) fn shortened(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}

impl Samples {
    pub(crate) fn new(label: &str, x: &[f64], values: Vec<Vec<f64>>) -> Self {
        Self::of(label.into(), x.iter().map(|&x| Some(x)).collect(), values)
    }

    /// Returns samples of points that may have no position.
    pub(crate) fn of(label: Rc<str>, x: Rc<[Option<f64>]>, values: Vec<Vec<f64>>) -> Self {
        // Each list has a pointer, a length and a capacity.
        let octets = |seeds: &Vec<f64>| 64 + seeds.len() * size_of::<f64>();
        let held = Rc::new(Held::new(label.len() + values.iter().map(octets).sum::<usize>()));
        Self { label, x, values: values.into(), held }
    }

    /// Returns a constant as samples.
    pub(crate) fn number(value: f64) -> Self {
        Self::of(short(value).into(), [None].into(), vec![vec![finite(value)]])
    }

    pub(crate) fn labelled(mut self, label: String) -> Self {
        self.label = words(label);
        self
    }

    /// Applies `f` to each value; NaN where the result is not a number.
    pub(crate) fn map(&self, label: String, f: impl Fn(f64) -> f64) -> Self {
        let values = self.values.iter().map(|seeds| seeds.iter().map(|&v| finite(f(v))).collect());
        Self::of(words(label), Rc::clone(&self.x), values.collect())
    }

    /// Applies `f` to the two values of each point and seed.
    ///
    /// Samples with one point are combined with every point of the others, and samples with one
    /// seed with every seed. The result is NaN where either is NaN.
    pub(crate) fn zip(
        &self,
        other: &Self,
        label: String,
        f: impl Fn(f64, f64) -> f64,
    ) -> Result<Self, Mismatch> {
        let labels = || (Rc::clone(&self.label), Rc::clone(&other.label));
        let x = match (self.x.len(), other.x.len()) {
            (1, 1) => [self.x[0].or(other.x[0])].into(),
            (_, 1) => Rc::clone(&self.x),
            (1, _) => Rc::clone(&other.x),
            _ if self.x == other.x => Rc::clone(&self.x),
            _ => {
                let (one, another) = labels();
                return Err(Mismatch::Points(one, another));
            }
        };
        let at = |of: &Self, i: usize| if of.x.len() == 1 { 0 } else { i };
        let mut values = Vec::with_capacity(x.len());
        for i in 0..x.len() {
            let (a, b) = (&self.values[at(self, i)], &other.values[at(other, i)]);
            let seeds = match (a.len(), b.len()) {
                (n, 1) | (1, n) => n,
                (n, m) if n == m => n,
                _ => {
                    let (one, another) = labels();
                    return Err(Mismatch::Seeds(one, another));
                }
            };
            let pick = |of: &[f64], seed: usize| if of.len() == 1 { of[0] } else { of[seed] };
            let both = |seed| match (pick(a, seed), pick(b, seed)) {
                (a, b) if a.is_nan() || b.is_nan() => f64::NAN,
                (a, b) => finite(f(a, b)),
            };
            values.push((0..seeds).map(both).collect());
        }
        Ok(Self::of(words(label), x, values))
    }

    /// Returns the points whose position satisfies `keep`.
    pub(crate) fn select(&self, label: String, keep: impl Fn(f64) -> bool) -> Option<Self> {
        let kept = |x: &Option<f64>| x.is_some_and(&keep);
        let both = self.x.iter().zip(&*self.values).filter(|(x, _)| kept(x));
        let (x, values): (Vec<_>, Vec<_>) = both.map(|(x, v)| (*x, v.clone())).unzip();
        (!x.is_empty()).then(|| Self::of(words(label), x.into(), values))
    }

    /// Combines all points into one, seed by seed; NaN if a point has no number.
    pub(crate) fn over_points(&self, label: String, f: impl Fn(&[f64]) -> f64) -> Self {
        let seeds = self.values.iter().map(Vec::len).max().unwrap_or(0);
        let pick = |of: &Vec<f64>, seed: usize| if of.len() == 1 { of[0] } else { of[seed] };
        let over = |seed| {
            let points: Vec<f64> = self.values.iter().map(|v| pick(v, seed)).collect();
            if points.iter().any(|v| v.is_nan()) { f64::NAN } else { finite(f(&points)) }
        };
        Self::of(words(label), [None].into(), vec![(0..seeds).map(over).collect()])
    }

    /// Returns the estimate at each point.
    pub(crate) fn estimates(&self) -> Vec<Estimate> {
        self.values.iter().map(|seeds| Estimate::of(seeds.iter().copied())).collect()
    }

    /// Returns the mean at each point; NaN if a seed has no number.
    pub(crate) fn means(&self) -> Vec<f64> {
        self.estimates().into_iter().map(|e| finite(e.mean)).collect()
    }

    /// Returns the mean of the means of all points.
    pub(crate) fn mean(&self) -> f64 {
        let means = self.means();
        means.iter().sum::<f64>() / means.len() as f64
    }

    /// Returns ` at 30` for the point at this index, if it has a position and is not the only one.
    pub(crate) fn place(&self, index: usize) -> String {
        match self.x.get(index).copied().flatten() {
            Some(x) => format!(" at {}", short(x)),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_paired_and_one_point_is_combined_with_all() {
        let a = Samples::new("a", &[1.0, 2.0], vec![vec![1.0, 2.0], vec![3.0, 4.0]]);
        let b = Samples::new("b", &[7.0], vec![vec![10.0, 20.0]]);
        let sum = a.zip(&b, String::new(), |a, b| a + b).unwrap();
        assert_eq!(*sum.values, [[11.0, 22.0], [13.0, 24.0]]);
        assert_eq!(*sum.x, [Some(1.0), Some(2.0)]);
        let twice = a.zip(&Samples::number(2.0), String::new(), |a, b| a * b).unwrap();
        assert_eq!(*twice.values, [[2.0, 4.0], [6.0, 8.0]]);
        let c = Samples::new("c", &[1.0, 3.0], vec![vec![0.0; 2]; 2]);
        assert!(a.zip(&c, String::new(), |a, _| a).is_err(), "other points");
        let d = Samples::new("d", &[1.0, 2.0], vec![vec![0.0; 3]; 2]);
        assert!(a.zip(&d, String::new(), |a, _| a).is_err(), "other seeds");
    }

    #[test]
    fn means_over_points_keep_the_seeds_apart() {
        let a = Samples::new("a", &[1.0, 2.0], vec![vec![1.0, 2.0], vec![3.0, 4.0]]);
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        assert_eq!(*a.over_points(String::new(), mean).values, [[2.0, 3.0]]);
        assert_eq!(a.means(), [1.5, 3.5]);
        assert_eq!(a.mean(), 2.5);
        assert_eq!(a.select(String::new(), |x| x > 1.0).unwrap().x.to_vec(), [Some(2.0)]);
        assert_eq!(a.select(String::new(), |x| x > 2.0), None);
    }
}
