//! Measured numbers by point of the sweep and seed, and arithmetic with them.

use std::rc::Rc;

use crate::expression::Held;
use unruffled_lab::statistics::Estimate;
use unruffled_lab::text::short;

/// Why samples cannot be held against each other, or say nothing of a trend; prints as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mismatch {
    /// They are of different points.
    #[error("{0} and {1} have different points")]
    Points(Rc<str>, Rc<str>),
    /// They are of different seeds.
    #[error("{0} and {1} have different seeds")]
    Seeds(Rc<str>, Rc<str>),
    /// There are none.
    #[error("no points to compare")]
    Empty,
    /// There is one point where several are needed.
    #[error("{0} has one point: expected several")]
    Single(Rc<str>),
}

/// One number for each point and seed. A number alone is one point without a place, with one seed:
/// it goes with any other samples.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Samples {
    /// How it was made, in words.
    pub(crate) label: Rc<str>,
    /// The places of the points; none for what is no longer of a point, or never was.
    pub(crate) x: Rc<[Option<f64>]>,
    /// By point, then by seed.
    pub(crate) values: Rc<[Vec<f64>]>,
    held: Rc<Held>,
}

/// The number, or none in place of what is infinite, which is beyond any other.
pub(super) fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::NAN }
}

/// Octets of a label at most: a loop may double it at each step.
const LABEL: usize = 2_000;

/// The label, cut if nobody would read all of it.
fn words(label: String) -> Rc<str> {
    shortened(label, LABEL).into()
}

/// At most `most` octets of the text, with a sign of what is left out.
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

    /// Of points that may have no place.
    pub(crate) fn of(label: Rc<str>, x: Rc<[Option<f64>]>, values: Vec<Vec<f64>>) -> Self {
        // Each list has a place, a beginning and an end of its own.
        let octets = |seeds: &Vec<f64>| 64 + seeds.len() * size_of::<f64>();
        let held = Rc::new(Held::new(label.len() + values.iter().map(octets).sum::<usize>()));
        Self { label, x, values: values.into(), held }
    }

    /// A number alone.
    pub(crate) fn number(value: f64) -> Self {
        Self::of(short(value).into(), [None].into(), vec![vec![finite(value)]])
    }

    pub(crate) fn labelled(mut self, label: String) -> Self {
        self.label = words(label);
        self
    }

    /// Each value changed by `f`; none where that gives no number.
    pub(crate) fn map(&self, label: String, f: impl Fn(f64) -> f64) -> Self {
        let values = self.values.iter().map(|seeds| seeds.iter().map(|&v| finite(f(v))).collect());
        Self::of(words(label), Rc::clone(&self.x), values.collect())
    }

    /// `f` of the two values of each point and seed.
    ///
    /// What has one point goes with every point of the other, what has one seed with every seed. There
    /// is no number where either has none.
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

    /// The points whose place is so.
    pub(crate) fn select(&self, label: String, keep: impl Fn(f64) -> bool) -> Option<Self> {
        let kept = |x: &Option<f64>| x.is_some_and(&keep);
        let both = self.x.iter().zip(&*self.values).filter(|(x, _)| kept(x));
        let (x, values): (Vec<_>, Vec<_>) = both.map(|(x, v)| (*x, v.clone())).unzip();
        (!x.is_empty()).then(|| Self::of(words(label), x.into(), values))
    }

    /// One point of all, each seed for itself; none where a point has no number.
    pub(crate) fn over_points(&self, label: String, f: impl Fn(&[f64]) -> f64) -> Self {
        let seeds = self.values.iter().map(Vec::len).max().unwrap_or(0);
        let pick = |of: &Vec<f64>, seed: usize| if of.len() == 1 { of[0] } else { of[seed] };
        let over = |seed| {
            let points: Vec<f64> = self.values.iter().map(|v| pick(v, seed)).collect();
            if points.iter().any(|v| v.is_nan()) { f64::NAN } else { finite(f(&points)) }
        };
        Self::of(words(label), [None].into(), vec![(0..seeds).map(over).collect()])
    }

    /// The estimate at each point.
    pub(crate) fn estimates(&self) -> Vec<Estimate> {
        self.values.iter().map(|seeds| Estimate::of(seeds.iter().copied())).collect()
    }

    /// The mean at each point; none where a seed has no number.
    pub(crate) fn means(&self) -> Vec<f64> {
        self.estimates().into_iter().map(|e| finite(e.mean)).collect()
    }

    /// The mean of all points' means.
    pub(crate) fn mean(&self) -> f64 {
        let means = self.means();
        means.iter().sum::<f64>() / means.len() as f64
    }

    /// ` at 30`, for the point at this index, if it is of a place and not alone.
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
    fn seeds_are_paired_and_one_point_goes_with_all() {
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
