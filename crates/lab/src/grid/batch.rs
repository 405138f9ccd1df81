//! Some runs of a plan, made anywhere: what is asked for, and what comes back.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use unruffled_measure::RunRecord;
use unruffled_tcp::Variant;

use super::plan::{Plan, senders};
use crate::cancel::CancellationToken;
use crate::error::{Error, ParcelError};
use crate::run::record;
use crate::store::MODEL;
use unruffled_scenario::Scenario;

/// Runs to make, with all that whoever makes them must know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The version of the model that is asked for.
    model: String,
    /// What errors call the scenario, and its text.
    scenario: (String, String),
    /// Names of senders; those with parts from outside stand behind these.
    variants: Vec<String>,
    stops: Vec<Stop>,
}

/// The runs of a batch at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Stop {
    /// Overrides of the scenario.
    set: Vec<String>,
    /// Index, sender and seed of each.
    runs: Vec<(usize, usize, u64)>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// The run's index.
    pub run: usize,
    /// What it left behind.
    pub record: RunRecord,
    /// How long it took, in seconds.
    pub took_s: f64,
}

/// A batch's results as they cross a network.
#[derive(Serialize, Deserialize)]
struct Parcel {
    model: String,
    made: Vec<Made>,
}

impl Batch {
    /// These runs of a plan, by their indices.
    pub fn of(plan: &Plan, runs: &[usize]) -> Self {
        let mut runs = runs.to_vec();
        // In the order of the plan, runs of a point share its scenario.
        runs.sort_unstable();
        let stop = |runs: &[usize]| Stop {
            set: plan.overrides(plan.point(runs[0])),
            runs: runs.iter().map(|&run| (run, plan.sender(run), plan.seed(run))).collect(),
        };
        let stops = runs.chunk_by(|&a, &b| plan.point(a) == plan.point(b)).map(stop).collect();
        let (scenario, variants) = (plan.text().clone(), plan.named().to_vec());
        Self { model: MODEL.to_owned(), scenario, variants, stops }
    }

    /// How many runs these are.
    pub fn runs(&self) -> usize {
        self.stops.iter().map(|stop| stop.runs.len()).sum()
    }

    /// Makes the runs, one after another; `done` is called after each. `own` are the senders with
    /// parts from outside.
    ///
    /// # Errors
    /// [`RunError::Cancelled`](crate::cancel::RunError::Cancelled), or an invalid scenario; those of a plan
    /// are valid.
    pub fn make(
        &self,
        own: &[Variant],
        cancel: &CancellationToken,
        mut done: impl FnMut(Made),
    ) -> Result<(), Error> {
        let (file, text) = &self.scenario;
        for at in &self.stops {
            let scenario = Scenario::parse(file, text, &at.set)?;
            let senders = senders(&scenario, "variants", &self.variants, own)?;
            for &(run, sender, seed) in &at.runs {
                let began = Instant::now();
                let Some(sender) = senders.get(sender) else { return Err(lacking()) };
                let record = record(&scenario, sender, seed, None, cancel)?;
                done(Made { run, record, took_s: began.elapsed().as_secs_f64() });
            }
        }
        Ok(())
    }

    /// The batch as octets, for another process of the same version of the model.
    pub fn pack(&self) -> Vec<u8> {
        octets(self)
    }

    /// What [`pack`](Self::pack) has packed.
    ///
    /// # Errors
    /// Octets that are nothing of the kind, or for another version of the model.
    pub fn unpack(octets: &[u8]) -> Result<Self, Error> {
        let batch: Self = ciborium::from_reader(octets).map_err(|_| unreadable())?;
        same_model(&batch.model)?;
        Ok(batch)
    }
}

impl Made {
    /// Results as octets, for another process of the same version of the model.
    pub fn pack(made: Vec<Self>) -> Vec<u8> {
        octets(&Parcel { model: MODEL.to_owned(), made })
    }

    /// What [`pack`](Self::pack) has packed.
    ///
    /// # Errors
    /// Octets that are nothing of the kind, or of another version of the model.
    pub fn unpack(octets: &[u8]) -> Result<Vec<Self>, Error> {
        let parcel: Parcel = ciborium::from_reader(octets).map_err(|_| unreadable())?;
        same_model(&parcel.model)?;
        Ok(parcel.made)
    }
}

fn octets(of: &impl Serialize) -> Vec<u8> {
    let mut octets = Vec::new();
    ciborium::into_writer(of, &mut octets).expect("memory takes every write");
    octets
}

fn same_model(model: &str) -> Result<(), Error> {
    match model == MODEL {
        true => Ok(()),
        false => Err(ParcelError::OtherModel { found: model.to_owned(), expected: MODEL }.into()),
    }
}

fn unreadable() -> Error {
    ParcelError::NotRuns.into()
}

fn lacking() -> Error {
    ParcelError::MissingSender.into()
}
