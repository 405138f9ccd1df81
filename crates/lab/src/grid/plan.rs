//! The runs that a grid asks for, in their order: point by point, sender by sender, seed by seed.

use rayon::prelude::*;
use serde::Serialize;
use unruffled_tcp::Variant;

use super::file::Grid;
use super::quantity::{number, plain};
use crate::cancel::CancellationToken;
use crate::error::Error;
use crate::run::cost;
use crate::store::{Key, decisive};
use unruffled_scenario::Scenario;

/// More would not fit into memory.
const MOST_RUNS: u64 = 20_000_000;

/// The runs of a sweep. A run is known by its index.
#[derive(Clone, Debug)]
pub struct Plan {
    grid: Grid,
    /// The Latin hypercube, where the grid asks for one.
    hypercube: Option<Vec<f64>>,
    /// The names of the swept keys, in the order of every point's values.
    keys: Vec<String>,
    /// What the keys are set to, as TOML.
    points: Vec<Vec<String>>,
    /// The scenario's name.
    name: String,
    seeds: u64,
    variants: Vec<String>,
    /// Senders with parts from outside: no store knows these.
    own: Vec<Variant>,
    runs: Vec<Planned>,
}

/// A run of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    /// None for senders with parts from outside.
    pub(super) key: Option<Key>,
    /// How long it takes, by a rough estimate and in no unit.
    pub(super) cost: f64,
}

/// What a key is set to at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number: seconds, bits per second, octets, a share, or one without a unit.
    Number(f64),
    /// Anything else.
    Text(String),
}

impl Plan {
    /// Plans all runs of a grid, and checks each point's scenario. `hypercube` has the Latin
    /// hypercube where [`Grid::hypercube`] asks for one; senders with parts from outside are `own`.
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
        if runs > MOST_RUNS {
            let message = format!("expected at most {MOST_RUNS} runs, found {runs}");
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

    /// The runs of one point.
    fn planned(&self, point: usize) -> Result<Vec<Planned>, Error> {
        let scenario = self.scenario(point)?;
        let decisive = decisive(&scenario);
        let cost = cost(&scenario);
        let mut runs = Vec::with_capacity(self.variants.len() * self.seeds as usize);
        let senders = senders(&scenario, &self.grid.place_of_variants(), &self.variants, &self.own);
        let senders = senders.map_err(|refused| self.grid.blame(refused))?;
        for (at, variant) in senders.iter().enumerate() {
            for seed in 1..=self.seeds {
                let known = at < self.variants.len();
                let key = known.then(|| Key::of_text(&decisive, variant, seed));
                runs.push(Planned { key, cost });
            }
        }
        Ok(runs)
    }

    /// The overrides of the scenario at a point.
    pub(super) fn overrides(&self, point: usize) -> Vec<String> {
        let mut set = self.grid.set.clone();
        let values = self.keys.iter().zip(&self.points[point]);
        set.extend(values.map(|(key, value)| format!("{key}={value}")));
        set
    }

    /// The scenario at a point.
    pub(super) fn scenario(&self, point: usize) -> Result<Scenario, unruffled_scenario::Error> {
        let (file, text) = &self.grid.scenario;
        let scenario = Scenario::parse(file, text, &self.overrides(point));
        scenario.map_err(|refused| self.grid.blame(refused))
    }

    /// The grid.
    pub(crate) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The Latin hypercube, where the grid asks for one.
    pub(super) fn hypercube(&self) -> Option<&[f64]> {
        self.hypercube.as_deref()
    }

    /// What errors call the scenario, and its text.
    pub(super) fn text(&self) -> &(String, String) {
        &self.grid.scenario
    }

    /// The senders that have a name which everybody knows.
    pub(super) fn named(&self) -> &[String] {
        &self.variants
    }

    /// The senders with parts from outside.
    pub(super) fn own(&self) -> &[Variant] {
        &self.own
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// The scenario's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The keys that are swept.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The full names of the senders.
    pub fn variants(&self) -> impl Iterator<Item = &str> {
        self.variants.iter().map(String::as_str).chain(self.own.iter().map(Variant::name))
    }

    /// What `key`, by its place among [`Self::keys`], is set to at each point: numbers if all of them
    /// are.
    pub fn values(&self, key: usize) -> Vec<Value> {
        let texts = || self.points.iter().map(|point| plain(&point[key]));
        let numbers: Option<Vec<Value>> =
            texts().map(|text| number(&text).map(Value::Number)).collect();
        numbers.unwrap_or_else(|| texts().map(Value::Text).collect())
    }

    /// The full name of the sender of a run.
    pub(super) fn sender_name(&self, run: usize) -> &str {
        self.variants().nth(self.sender(run)).unwrap_or_default()
    }

    pub(super) fn planned_run(&self, run: usize) -> Planned {
        self.runs[run]
    }

    /// The point that a run is of.
    pub fn point(&self, run: usize) -> usize {
        run / self.runs_of_point()
    }

    /// Which of the senders a run has.
    pub(super) fn sender(&self, run: usize) -> usize {
        run % self.runs_of_point() / self.seeds as usize
    }

    pub(super) fn seed(&self, run: usize) -> u64 {
        run as u64 % self.seeds + 1
    }

    fn runs_of_point(&self) -> usize {
        self.seeds as usize * (self.variants.len() + self.own.len())
    }
}

/// The senders with the parameters of a scenario: those of these names, which stand at `place`, then
/// `own`.
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
