//! The results of a plan: from the store, from this process, and from other processes.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use unruffled_measure::RunRecord;

use super::batch::{Batch, Made};
use super::plan::Plan;
use crate::cancel::CancellationToken;
use crate::error::{Error, ParcelError};
use crate::record::RunRow;
use crate::run::row_of;
use crate::store::{Run, Store, canonical_toml};
use unruffled_scenario::Scenario;

/// An observer of the progress of a sweep.
pub trait Watch: Sync {
    /// Called when `runs` more runs are done. Runs from the store are not counted.
    fn done(&self, runs: usize);
}

impl Watch for () {
    fn done(&self, _: usize) {}
}

/// A sweep: a plan, the store of its runs, and the existing rows.
pub struct Sweep {
    plan: Plan,
    /// The number of rows that existed from the start.
    kept: usize,
    inner: Mutex<Inner>,
}

/// The data of a sweep that changes.
struct Inner {
    store: Option<Store>,
    rows: Vec<Option<RunRow>>,
    /// The time that runs took so far, in seconds.
    took_s: f64,
    /// The estimated cost of these runs.
    cost: f64,
}

impl Inner {
    fn new(store: Option<Store>, rows: Vec<Option<RunRow>>) -> Self {
        Self { store, rows, took_s: 0.0, cost: 0.0 }
    }

    /// Returns the mean time per cost of the runs so far; infinite before the first run.
    fn seconds_per_cost(&self) -> f64 {
        if self.cost > 0.0 { self.took_s / self.cost } else { f64::INFINITY }
    }
}

/// The most runs in a chunk, which a thread makes at a time. Runs of a chunk share scenarios.
const MAX_CHUNK_RUNS: usize = 64;
/// The least number of chunks per thread, so that all threads end at about the same time.
const MIN_CHUNKS_PER_THREAD: usize = 16;
/// The longest time that a finished run waits to be stored together with others. Killing the process
/// loses at most the runs of this time.
const STORE_INTERVAL: Duration = Duration::from_millis(500);
/// The time spent on the runs from which the total time is estimated.
const ESTIMATION_TIME: Duration = Duration::from_millis(500);

impl Sweep {
    /// Creates a sweep with the runs that the store has. Without a store, new runs are not stored.
    ///
    /// # Errors
    /// A failure of the store.
    pub fn new(plan: Plan, store: Option<Store>) -> Result<Self, Error> {
        let mut rows = vec![None; plan.runs()];
        if let Some(store) = &store {
            let mut scenario = PointScenario::default();
            for (index, row) in rows.iter_mut().enumerate() {
                let Some(key) = plan.planned_run(index).key else { continue };
                if let Some(record) = store.get_flows(&key)? {
                    *row = Some(scenario.row(&plan, index, &record)?);
                }
            }
        }
        let kept = rows.iter().flatten().count();
        Ok(Self { plan, kept, inner: Mutex::new(Inner::new(store, rows)) })
    }

    /// Creates a sweep with these rows, without a store.
    pub(super) fn of(plan: Plan, rows: Vec<Option<RunRow>>) -> Self {
        let kept = rows.iter().flatten().count();
        Self { plan, kept, inner: Mutex::new(Inner::new(None, rows)) }
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the number of rows that existed from the start.
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    /// Returns the indices of the missing runs, the longest first.
    pub fn missing(&self) -> Vec<usize> {
        let inner = self.locked();
        let missing = inner.rows.iter().enumerate().filter(|(_, row)| row.is_none());
        let mut missing: Vec<usize> = missing.map(|(run, _)| run).collect();
        // A stable sort gives the same order for the same plan.
        let cost = |run: usize| self.plan.planned_run(run).cost;
        missing.sort_by(|&a, &b| cost(b).total_cmp(&cost(a)));
        missing
    }

    /// Makes some of the missing runs, and estimates from their time how many seconds the remaining
    /// ones take on one core.
    ///
    /// # Errors
    /// A failure of the store, or cancellation.
    pub fn estimate(&self, cancel: &CancellationToken) -> Result<f64, Error> {
        let missing = self.missing();
        let began = Instant::now();
        // Bisection spreads the sample over all costs.
        let mut spans: VecDeque<(usize, usize)> = VecDeque::from([(0, missing.len())]);
        let mut costs = 0.0;
        let mut took_s = 0.0;
        while let Some((from, to)) = spans.pop_front()
            && began.elapsed() < ESTIMATION_TIME
        {
            if from >= to {
                continue;
            }
            let middle = from + (to - from) / 2;
            spans.extend([(from, middle), (middle + 1, to)]);
            let mut made = None;
            let batch = Batch::of(&self.plan, &[missing[middle]]);
            batch.make(self.plan.own(), cancel, |run| made = Some(run))?;
            let Some(made) = made else { continue };
            costs += self.plan.planned_run(made.run).cost;
            took_s += made.took_s;
            self.take(vec![made])?;
        }
        let left: f64 = self.missing().iter().map(|&run| self.plan.planned_run(run).cost).sum();
        Ok(if costs > 0.0 { left * took_s / costs } else { 0.0 })
    }

    /// Returns the missing runs in batches of about `seconds` each, estimated from the runs so far.
    pub fn batches(&self, seconds: f64) -> Vec<Batch> {
        let rate = self.locked().seconds_per_cost();
        let mut batches = Vec::new();
        let mut runs = Vec::new();
        let mut time = 0.0;
        for run in self.missing() {
            runs.push(run);
            time += self.plan.planned_run(run).cost * rate;
            if time >= seconds {
                batches.push(Batch::of(&self.plan, &runs));
                runs.clear();
                time = 0.0;
            }
        }
        if !runs.is_empty() {
            batches.push(Batch::of(&self.plan, &runs));
        }
        batches
    }

    /// Adds results, and stores them.
    ///
    /// # Errors
    /// A failure of the store, or runs that are not of this plan.
    pub fn take(&self, made: Vec<Made>) -> Result<(), Error> {
        if made.iter().any(|made| made.run >= self.plan.runs()) {
            return Err(ParcelError::OtherPlan.into());
        }
        let mut scenario = PointScenario::default();
        let mut rows = Vec::with_capacity(made.len());
        let mut scenarios: Vec<Arc<str>> = Vec::with_capacity(made.len());
        for made in &made {
            rows.push(scenario.row(&self.plan, made.run, &made.record)?);
            scenarios.push(scenario.canonical_toml());
        }
        let mut inner = self.locked();
        if let Some(store) = &inner.store {
            let runs = made.iter().zip(&scenarios).zip(&rows).filter_map(|((made, text), row)| {
                Some(Run {
                    key: self.plan.planned_run(made.run).key?.without_links(),
                    of: self.plan.name(),
                    scenario: text,
                    variant: &row.variant,
                    seed: row.seed,
                    record: &made.record,
                    took: Duration::from_secs_f64(made.took_s.max(0.0)),
                })
            });
            store.put_all(&runs.collect::<Vec<_>>())?;
        }
        for (made, row) in made.iter().zip(rows) {
            inner.rows[made.run] = Some(row);
            inner.took_s += made.took_s;
            inner.cost += self.plan.planned_run(made.run).cost;
        }
        Ok(())
    }

    /// Makes the missing runs on all threads of the current pool, the longest first. A finished run is
    /// in the store after about half a second.
    ///
    /// # Errors
    /// A failure of the store, or cancellation. Runs that are finished by then are stored.
    pub fn run(&self, cancel: &CancellationToken, watch: &dyn Watch) -> Result<(), Error> {
        let missing = self.missing();
        let chunk = missing.len() / (rayon::current_num_threads() * MIN_CHUNKS_PER_THREAD);
        let chunks: Vec<&[usize]> = missing.chunks(chunk.clamp(1, MAX_CHUNK_RUNS)).collect();
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let results = rayon::broadcast(|_| -> Result<(), Error> {
            let mut waiting: Vec<Made> = Vec::new();
            let since = Cell::new(Instant::now());
            let keep = |waiting: &mut Vec<Made>| {
                let runs = waiting.len();
                let kept = self.take(std::mem::take(waiting));
                match &kept {
                    Ok(()) => watch.done(runs),
                    Err(_) => failed.store(true, Ordering::Relaxed),
                }
                since.set(Instant::now());
                kept
            };
            while !failed.load(Ordering::Relaxed) {
                let chunk = chunks.get(next.fetch_add(1, Ordering::Relaxed));
                let Some(chunk) = chunk else { break };
                let mut kept = Ok(());
                let all = Batch::of(&self.plan, chunk).make(self.plan.own(), cancel, |made| {
                    waiting.push(made);
                    if kept.is_ok() && since.get().elapsed() >= STORE_INTERVAL {
                        kept = keep(&mut waiting);
                    }
                });
                kept?;
                // Runs that were finished before a cancellation are stored.
                keep(&mut waiting)?;
                all?;
            }
            Ok(())
        });
        results.into_iter().collect()
    }

    /// Calls `see` with the rows in the order of the plan; missing runs have none.
    pub fn with_rows<T>(&self, see: impl FnOnce(&[Option<RunRow>]) -> T) -> T {
        see(&self.locked().rows)
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Inner> {
        // The data is consistent even if a thread panicked: its transaction was rolled back.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A cache of the scenario of the last point.
#[derive(Default)]
struct PointScenario {
    point: Option<(usize, Scenario, Arc<str>)>,
}

impl PointScenario {
    /// Returns the row of a run.
    fn row(&mut self, plan: &Plan, run: usize, record: &RunRecord) -> Result<RunRow, Error> {
        let point = plan.point(run);
        if self.point.as_ref().is_none_or(|(of, ..)| *of != point) {
            let scenario = plan.scenario(point)?;
            let canonical_toml = canonical_toml(&scenario).into();
            self.point = Some((point, scenario, canonical_toml));
        }
        let (_, scenario, _) = self.point.as_ref().expect("was just set");
        Ok(row_of(scenario, plan.sender_name(run), plan.seed(run), record))
    }

    /// Returns the [`canonical_toml`] text of the scenario.
    fn canonical_toml(&self) -> Arc<str> {
        self.point.as_ref().map_or("".into(), |(.., canonical_toml)| Arc::clone(canonical_toml))
    }
}
