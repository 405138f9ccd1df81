//! Samples of a sweep: points drawn at random, or as a Latin hypercube.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use toml::{Table, Value};
use unruffled_scenario::{Document, Error};
use unruffled_units::hint;

use super::axis::{self, Axis};
use super::quantity::MAX_POINTS;

/// The keys of the table `[sample]`.
const KEYS: [&str; 4] = ["method", "points", "seed", "keys"];

/// The sample of a grid file.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    points: usize,
    seed: u64,
    hypercube: bool,
    /// The keys that are drawn.
    pub(super) axes: Vec<Axis>,
}

/// A Latin hypercube that a grid requests. SciPy draws it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hypercube {
    /// The number of points.
    pub points: usize,
    /// The number of keys.
    pub dimensions: usize,
    /// The seed.
    pub seed: u64,
}

impl Sample {
    /// Reads the table `[sample]` of the grid file `source`.
    ///
    /// # Errors
    /// An invalid table. The error names the place and what was expected.
    pub(super) fn read(sample: &Table, source: &Document) -> Result<Self, Error> {
        let wrong = |key: &str, message: String| source.wrong_at(&["sample", key], message);
        if let Some(key) = sample.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let message = format!("unknown key: expected one of {}", KEYS.join(", "));
            return Err(wrong(key, message + hint(key, KEYS).as_str()));
        }
        let hypercube = match sample.get("method").map(Value::as_str) {
            Some(Some("random")) => false,
            Some(Some("latin")) => true,
            _ => return Err(wrong("method", "expected \"random\" or \"latin\"".to_owned())),
        };
        let whole = |key: &str, min: u64, default: Option<u64>| {
            let given = match sample.get(key) {
                None => default,
                Some(value) => value.as_integer().and_then(|n| u64::try_from(n).ok()),
            };
            let message = format!("expected a whole number from {min}");
            given.filter(|n| *n >= min).ok_or_else(|| wrong(key, message))
        };
        let points = usize::try_from(whole("points", 1, None)?).unwrap_or(usize::MAX);
        if points > MAX_POINTS {
            return Err(wrong("points", format!("expected at most {MAX_POINTS}, found {points}")));
        }
        let seed = whole("seed", 0, Some(1))?;
        let axes = axis::read_all("sample.keys", sample.get("keys"), source)?;
        if axes.is_empty() {
            return Err(wrong("keys", "expected keys of the scenario to draw".to_owned()));
        }
        Ok(Self { points, seed, hypercube, axes })
    }

    /// Returns the Latin hypercube that the caller has to draw, if the sample is one.
    pub(super) fn hypercube(&self) -> Option<Hypercube> {
        self.hypercube.then_some(Hypercube {
            points: self.points,
            dimensions: self.axes.len(),
            seed: self.seed,
        })
    }

    /// Returns the values of the keys at each point. `hypercube` has the requested points as
    /// numbers from 0 to 1.
    ///
    /// # Errors
    /// A hypercube of another size, or with numbers outside its range.
    pub(super) fn draw(
        &self,
        hypercube: Option<&[f64]>,
        source: &Document,
    ) -> Result<Vec<Vec<String>>, Error> {
        let Self { points, seed, ref axes, .. } = *self;
        let numbers = points * axes.len();
        let shares = if self.hypercube {
            let fits = |shares: &&[f64]| {
                shares.len() == numbers && shares.iter().all(|s| (0.0..=1.0).contains(s))
            };
            let message = format!("expected {numbers} numbers from 0 to 1 for the hypercube");
            let wrong = || source.wrong_at(&["sample", "method"], message);
            hypercube.filter(fits).ok_or_else(wrong)?.to_vec()
        } else {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            (0..numbers).map(|_| random.random::<f64>()).collect()
        };
        let point = |shares: &[f64]| axes.iter().zip(shares).map(|(axis, &s)| axis.at(s)).collect();
        Ok(shares.chunks(axes.len()).map(point).collect())
    }
}
