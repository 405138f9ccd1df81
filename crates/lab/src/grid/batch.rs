//! Batches: some runs of a plan that any process can make, and their results.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use unruffled_measure::RunRecord;
use unruffled_tcp::Variant;

use super::plan::{Plan, senders};
use crate::cancel::CancellationToken;
use crate::error::{Error, ParcelError};
use crate::run::record_flows;
use crate::store::MODEL;
use unruffled_scenario::Scenario;

/// Runs to make, with all data that another process needs to make them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The required version of the model.
    model: String,
    /// The name that errors give the scenario, and its text.
    scenario: (String, String),
    /// The names of the built-in senders. In the numbering of senders, those with parts from outside
    /// the program follow.
    variants: Vec<String>,
    stops: Vec<Stop>,
}

/// The runs of a batch at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Stop {
    /// Overrides of the scenario.
    set: Vec<String>,
    /// The index, the sender and the seed of each run.
    runs: Vec<(usize, usize, u64)>,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// The index of the run.
    pub run: usize,
    /// The record of the run.
    pub record: RunRecord,
    /// The time that the run took, in seconds.
    pub took_s: f64,
}

/// The serialized results of a batch.
#[derive(Serialize, Deserialize)]
struct Parcel {
    model: String,
    made: Vec<Made>,
}

impl Batch {
    /// Returns a batch of the runs of a plan with these indices.
    pub fn of(plan: &Plan, runs: &[usize]) -> Self {
        let mut runs = runs.to_vec();
        // In the order of the plan, the runs of a point are adjacent and share a scenario.
        runs.sort_unstable();
        let stop = |runs: &[usize]| Stop {
            set: plan.overrides(plan.point(runs[0])),
            runs: runs.iter().map(|&run| (run, plan.sender(run), plan.seed(run))).collect(),
        };
        let stops = runs.chunk_by(|&a, &b| plan.point(a) == plan.point(b)).map(stop).collect();
        Self {
            model: MODEL.to_owned(),
            scenario: plan.text().clone(),
            variants: plan.named().to_vec(),
            stops,
        }
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.stops.iter().map(|stop| stop.runs.len()).sum()
    }

    /// Makes the runs one after another; `done` is called with each result. `own` are the senders
    /// with parts from outside the program.
    ///
    /// # Errors
    /// [`RunError::Cancelled`](crate::cancel::RunError::Cancelled), or an invalid scenario; those of a
    /// plan are valid.
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
                let Some(sender) = senders.get(sender) else { return Err(missing_sender()) };
                let record = record_flows(&scenario, sender, seed, None, cancel)?;
                done(Made { run, record, took_s: began.elapsed().as_secs_f64() });
            }
        }
        Ok(())
    }

    /// Serializes the batch for another process with the same version of the model.
    pub fn pack(&self) -> Vec<u8> {
        encode(self)
    }

    /// Restores a batch from [`pack`](Self::pack).
    ///
    /// # Errors
    /// Octets that are not a batch, or one for another version of the model.
    pub fn unpack(octets: &[u8]) -> Result<Self, Error> {
        let batch: Self = ciborium::from_reader(octets).map_err(|_| not_runs())?;
        check_model(&batch.model)?;
        Ok(batch)
    }
}

impl Made {
    /// Serializes results for another process with the same version of the model.
    pub fn pack(made: Vec<Self>) -> Vec<u8> {
        encode(&Parcel { model: MODEL.to_owned(), made })
    }

    /// Restores results from [`pack`](Self::pack).
    ///
    /// # Errors
    /// Octets that are not results, or those of another version of the model.
    pub fn unpack(octets: &[u8]) -> Result<Vec<Self>, Error> {
        let parcel: Parcel = ciborium::from_reader(octets).map_err(|_| not_runs())?;
        check_model(&parcel.model)?;
        Ok(parcel.made)
    }
}

/// Serializes a value.
fn encode(value: &impl Serialize) -> Vec<u8> {
    let mut octets = Vec::new();
    ciborium::into_writer(value, &mut octets).expect("memory takes every write");
    octets
}

/// Rejects another version of the model than that of this program.
fn check_model(model: &str) -> Result<(), Error> {
    match model == MODEL {
        true => Ok(()),
        false => Err(ParcelError::OtherModel { found: model.to_owned(), expected: MODEL }.into()),
    }
}

fn not_runs() -> Error {
    ParcelError::NotRuns.into()
}

fn missing_sender() -> Error {
    ParcelError::MissingSender.into()
}
