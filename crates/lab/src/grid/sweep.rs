//! The state of a sweep. Its runs come from the store, from this machine's cores, or from other
//! processes.

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

/// An observer of a sweep's progress.
pub trait Watch: Sync {
    /// Called when this number of further runs is done. Runs from the store do not count.
    fn done(&self, runs: usize);
}

impl Watch for () {
    fn done(&self, _: usize) {}
}

/// A sweep: a plan, the store of its runs, and the rows of the runs that are done.
pub struct Sweep {
    plan: Plan,
    /// The number of runs that the store had at the start.
    kept: usize,
    inner: Mutex<Inner>,
}

struct Inner {
    store: Option<Store>,
    rows: Vec<Option<RunRow>>,
    /// The wall-clock time of the runs so far, and their estimated cost.
    took: (f64, f64),
}

/// The largest number of runs that a thread takes at a time.
const MAX_CHUNK: usize = 64;
/// The smallest number of chunks for each thread, so that all threads end at about the same time.
const MIN_CHUNKS_PER_THREAD: usize = 16;
/// The longest time before a finished run is stored, together with others. A kill loses at most the
/// work of this time.
const STORE_INTERVAL: Duration = Duration::from_millis(500);
/// The time for the runs from which an estimate is made.
const ESTIMATE_TIME: Duration = Duration::from_millis(500);

impl Sweep {
    /// Creates a sweep, and looks up the runs that the store has. Without a store, runs are not
    /// stored.
    ///
    /// # Errors
    /// The store fails.
    pub fn new(plan: Plan, store: Option<Store>) -> Result<Self, Error> {
        let mut rows = vec![None; plan.runs()];
        if let Some(store) = &store {
            let mut at = PointScenario::default();
            for (index, row) in rows.iter_mut().enumerate() {
                let Some(key) = plan.planned_run(index).key else { continue };
                if let Some(record) = store.get(&key)? {
                    *row = Some(at.row(&plan, index, &record)?);
                }
            }
        }
        let kept = rows.iter().flatten().count();
        Ok(Self { plan, kept, inner: Mutex::new(Inner { store, rows, took: (0.0, 0.0) }) })
    }

    /// Creates a sweep with these rows and without a store.
    pub(super) fn of(plan: Plan, rows: Vec<Option<RunRow>>) -> Self {
        let kept = rows.iter().flatten().count();
        Self { plan, kept, inner: Mutex::new(Inner { store: None, rows, took: (0.0, 0.0) }) }
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The number of runs that the store had at the start.
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    /// Returns the runs that are not done, the longest first.
    pub fn missing(&self) -> Vec<usize> {
        let inner = self.locked();
        let missing = inner.rows.iter().enumerate().filter(|(_, row)| row.is_none());
        let mut missing: Vec<usize> = missing.map(|(run, _)| run).collect();
        // The sort is stable, so that the same plan gives the same order.
        let cost = |run: usize| self.plan.planned_run(run).cost;
        missing.sort_by(|&a, &b| cost(b).total_cmp(&cost(a)));
        missing
    }

    /// Makes some of the missing runs, and returns an estimate of the time that the others take on
    /// one core, in seconds.
    ///
    /// # Errors
    /// The store fails, or the sweep is cancelled.
    pub fn estimate(&self, cancel: &CancellationToken) -> Result<f64, Error> {
        let missing = self.missing();
        let began = Instant::now();
        // The order takes runs of all costs: the middle, then the middle of each half, and so on.
        let mut spread: VecDeque<(usize, usize)> = VecDeque::from([(0, missing.len())]);
        let mut costs = 0.0;
        let mut took = 0.0;
        while let Some((from, to)) = spread.pop_front()
            && began.elapsed() < ESTIMATE_TIME
        {
            if from >= to {
                continue;
            }
            let middle = from + (to - from) / 2;
            spread.extend([(from, middle), (middle + 1, to)]);
            let mut made = None;
            let batch = Batch::of(&self.plan, &[missing[middle]]);
            batch.make(self.plan.own(), cancel, |run| made = Some(run))?;
            let Some(made) = made else { continue };
            costs += self.plan.planned_run(made.run).cost;
            took += made.took_s;
            self.take(vec![made])?;
        }
        let left: f64 = self.missing().iter().map(|&run| self.plan.planned_run(run).cost).sum();
        Ok(if costs > 0.0 { left * took / costs } else { 0.0 })
    }

    /// Returns the missing runs in batches that take about `seconds` each, estimated from the runs
    /// so far.
    pub fn batches(&self, seconds: f64) -> Vec<Batch> {
        let (took, cost) = self.locked().took;
        let rate = if cost > 0.0 { took / cost } else { f64::INFINITY };
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

    /// Adds the results of runs, and stores them.
    ///
    /// # Errors
    /// The store fails, or the runs are not of this plan.
    pub fn take(&self, made: Vec<Made>) -> Result<(), Error> {
        if made.iter().any(|made| made.run >= self.plan.runs()) {
            return Err(ParcelError::OtherPlan.into());
        }
        let mut at = PointScenario::default();
        let mut rows = Vec::with_capacity(made.len());
        let mut scenarios: Vec<Arc<str>> = Vec::with_capacity(made.len());
        for made in &made {
            rows.push(at.row(&self.plan, made.run, &made.record)?);
            scenarios.push(at.canonical());
        }
        let mut inner = self.locked();
        if let Some(store) = &inner.store {
            let runs = made.iter().zip(&scenarios).zip(&rows).filter_map(|((made, text), row)| {
                Some(Run {
                    key: self.plan.planned_run(made.run).key?,
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
            inner.took.0 += made.took_s;
            inner.took.1 += self.plan.planned_run(made.run).cost;
        }
        Ok(())
    }

    /// Makes the missing runs on all threads of the current pool, the longest first. A finished run
    /// is stored within half a second.
    ///
    /// # Errors
    /// The store fails, or the sweep is cancelled. Runs that were done by then are stored.
    pub fn run(&self, cancel: &CancellationToken, watch: &dyn Watch) -> Result<(), Error> {
        let missing = self.missing();
        let chunk = missing.len() / (rayon::current_num_threads() * MIN_CHUNKS_PER_THREAD);
        let chunks: Vec<&[usize]> = missing.chunks(chunk.clamp(1, MAX_CHUNK)).collect();
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let results = rayon::broadcast(|_| -> Result<(), Error> {
            let mut pending: Vec<Made> = Vec::new();
            let since = Cell::new(Instant::now());
            let store_pending = |pending: &mut Vec<Made>| {
                let runs = pending.len();
                let kept = self.take(std::mem::take(pending));
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
                    pending.push(made);
                    if kept.is_ok() && since.get().elapsed() >= STORE_INTERVAL {
                        kept = store_pending(&mut pending);
                    }
                });
                kept?;
                // Runs that were made before a cancellation are stored.
                store_pending(&mut pending)?;
                all?;
            }
            Ok(())
        });
        results.into_iter().collect()
    }

    /// Calls `see` with the row of each run, in the order of the plan. `None` stands for a run that
    /// is not done.
    pub fn with_rows<T>(&self, see: impl FnOnce(&[Option<RunRow>]) -> T) -> T {
        see(&self.locked().rows)
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Inner> {
        // After a panic in another thread, the rows are still consistent and its transaction is
        // rolled back.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The scenario of the most recent point.
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
            let canonical = canonical_toml(&scenario).into();
            self.point = Some((point, scenario, canonical));
        }
        let (_, scenario, _) = self.point.as_ref().expect("was set above");
        Ok(row_of(scenario, plan.sender_name(run), plan.seed(run), record))
    }

    /// Returns the canonical form of the scenario.
    fn canonical(&self) -> Arc<str> {
        self.point.as_ref().map_or("".into(), |(.., canonical)| Arc::clone(canonical))
    }
}
