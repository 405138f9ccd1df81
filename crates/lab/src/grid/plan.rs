//! The runs of a grid, in their order: by point, by sender, by seed.

use rayon::prelude::*;
use serde::Serialize;
use unruffled_tcp::Variant;

use super::file::Grid;
use super::quantity::{number, plain};
use crate::cancel::CancellationToken;
use crate::error::Error;
use crate::run::cost;
use crate::store::{Key, canonical_toml};
use unruffled_scenario::Scenario;

/// The most runs that fit into memory.
const MAX_RUNS: u64 = 20_000_000;

/// The runs of a sweep. An index identifies a run.
#[derive(Clone, Debug)]
pub struct Plan {
    grid: Grid,
    /// The Latin hypercube, if the grid has one.
    hypercube: Option<Vec<f64>>,
    /// The swept keys, in the order of the values of each point.
    keys: Vec<String>,
    /// The values of the keys at each point, as TOML.
    points: Vec<Vec<String>>,
    /// The scenario's name.
    name: String,
    seeds: u64,
    variants: Vec<String>,
    /// Senders with parts from outside the program, whose runs are not stored.
    own: Vec<Variant>,
    runs: Vec<Planned>,
}

/// A run of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    /// The key of the record with links; none for senders with parts from outside the program.
    pub(super) key: Option<Key>,
    /// The estimated cost, without a unit.
    pub(super) cost: f64,
}

/// The value of a key at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number: seconds, bits per second, octets, a share, or one without a unit.
    Number(f64),
    /// Any other value.
    Text(String),
}

impl Plan {
    /// Plans all runs of a grid, and checks the scenario of each point. `hypercube` has the Latin
    /// hypercube that [`Grid::hypercube`] requests. `own` are senders with parts from outside the
    /// program.
    ///
    /// # Errors
    /// An invalid point or sender, or cancellation.
    pub fn new(
        grid: Grid,
        hypercube: Option<&[f64]>,
        own: Vec<Variant>,
        cancel: &CancellationToken,
    ) -> Result<Self, Error> {
        let points = grid.points(hypercube)?;
        let keys: Vec<String> = grid.keys().map(str::to_owned).collect();
        let mut plan = Self {
            grid,
            hypercube: hypercube.map(<[f64]>::to_vec),
            keys,
            points,
            name: String::new(),
            seeds: 0,
            variants: Vec::new(),
            own,
            runs: Vec::new(),
        };
        let first = plan.scenario(0)?;
        plan.grid.check_once(&plan.overrides(0))?;
        plan.name.clone_from(&first.name);
        plan.seeds = first.seeds;
        plan.variants.clone_from(&first.variants);
        let senders = (plan.variants.len() + plan.own.len()) as u64;
        let runs = (plan.points.len() as u64).saturating_mul(plan.seeds).saturating_mul(senders);
        if runs > MAX_RUNS {
            let message = format!("expected at most {MAX_RUNS} runs, found {runs}");
            return Err(plan.grid.wrong(&["grid"], message).into());
        }
        let planned = |point| {
            cancel.check()?;
            plan.planned(point)
        };
        let planned: Result<Vec<Vec<Planned>>, Error> =
            (0..plan.points.len()).into_par_iter().map(planned).collect();
        plan.runs = planned?.into_iter().flatten().collect();
        Ok(plan)
    }

    /// Plans the runs of one point.
    fn planned(&self, point: usize) -> Result<Vec<Planned>, Error> {
        let scenario = self.scenario(point)?;
        let canonical_toml = canonical_toml(&scenario);
        let cost = cost(&scenario);
        let mut runs = Vec::with_capacity(self.variants.len() * self.seeds as usize);
        let senders = senders(&scenario, &self.grid.place_of_variants(), &self.variants, &self.own);
        let senders = senders.map_err(|refused| self.grid.blame(refused))?;
        for (at, variant) in senders.iter().enumerate() {
            for seed in 1..=self.seeds {
                let is_builtin = at < self.variants.len();
                let key = is_builtin.then(|| Key::of_canonical(&canonical_toml, variant, seed));
                runs.push(Planned { key, cost });
            }
        }
        Ok(runs)
    }

    /// Returns the overrides of the scenario at a point.
    pub(super) fn overrides(&self, point: usize) -> Vec<String> {
        let mut set = self.grid.set.clone();
        let values = self.keys.iter().zip(&self.points[point]);
        set.extend(values.map(|(key, value)| format!("{key}={value}")));
        set
    }

    /// Returns the scenario at a point.
    pub(super) fn scenario(&self, point: usize) -> Result<Scenario, unruffled_scenario::Error> {
        let (file, text) = &self.grid.scenario;
        let scenario = Scenario::parse(file, text, &self.overrides(point));
        scenario.map_err(|refused| self.grid.blame(refused))
    }

    /// Returns the grid.
    pub(crate) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the Latin hypercube, if the grid has one.
    pub(super) fn hypercube(&self) -> Option<&[f64]> {
        self.hypercube.as_deref()
    }

    /// Returns the name that errors give the scenario, and its text.
    pub(super) fn text(&self) -> &(String, String) {
        &self.grid.scenario
    }

    /// Returns the names of the built-in senders.
    pub(crate) fn named(&self) -> &[String] {
        &self.variants
    }

    /// Returns the senders with parts from outside the program.
    pub(crate) fn own(&self) -> &[Variant] {
        &self.own
    }

    /// Returns the number of seeds.
    pub(crate) fn seeds(&self) -> u64 {
        self.seeds
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Returns the number of points.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// Returns the scenario's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the swept keys.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Returns the full names of the senders.
    pub fn variants(&self) -> impl Iterator<Item = &str> {
        self.variants.iter().map(String::as_str).chain(self.own.iter().map(Variant::name))
    }

    /// Returns the values of the key of that index in [`Self::keys`] at each point: numbers, if all
    /// of them are.
    pub fn values(&self, key: usize) -> Vec<Value> {
        let texts = || self.points.iter().map(|point| plain(&point[key]));
        let numbers: Option<Vec<Value>> =
            texts().map(|text| number(&text).map(Value::Number)).collect();
        numbers.unwrap_or_else(|| texts().map(Value::Text).collect())
    }

    /// Returns the swept keys with their values at a point, as users write them.
    pub(crate) fn settings(&self, point: usize) -> impl Iterator<Item = (String, String)> {
        let values = self.points[point].iter().map(|value| plain(value));
        self.keys.iter().cloned().zip(values)
    }

    /// Returns the full name of the sender of a run.
    pub(super) fn sender_name(&self, run: usize) -> &str {
        self.variants().nth(self.sender(run)).unwrap_or_default()
    }

    /// Returns a run.
    pub(super) fn planned_run(&self, run: usize) -> Planned {
        self.runs[run]
    }

    /// Returns the point of a run.
    pub fn point(&self, run: usize) -> usize {
        run / self.runs_of_point()
    }

    /// Returns the index of the sender of a run.
    pub(super) fn sender(&self, run: usize) -> usize {
        run % self.runs_of_point() / self.seeds as usize
    }

    /// Returns the seed of a run.
    pub(super) fn seed(&self, run: usize) -> u64 {
        run as u64 % self.seeds + 1
    }

    /// Returns the number of runs at each point.
    fn runs_of_point(&self) -> usize {
        self.seeds as usize * (self.variants.len() + self.own.len())
    }
}

/// Returns the senders with the parameters of a scenario: those of these names, whose place is
/// `place`, then `own`.
pub(super) fn senders(
    scenario: &Scenario,
    place: &str,
    names: &[String],
    own: &[Variant],
) -> Result<Vec<Variant>, unruffled_scenario::Error> {
    let mut all = scenario.senders(names, place)?;
    for own in own {
        let mut own = own.clone();
        scenario.parametrise(&mut own)?;
        all.push(own);
    }
    Ok(all)
}
