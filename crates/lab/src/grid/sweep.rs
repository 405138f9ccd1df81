//! A plan's runs as they come in: from the store, from this machine's cores, from elsewhere.

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
use crate::store::{Run, Store, decisive};
use unruffled_scenario::Scenario;

/// Is told how far the runs are.
pub trait Watch: Sync {
    /// So many runs are done, those of the store left out.
    fn done(&self, runs: usize);
}

impl Watch for () {
    fn done(&self, _: usize) {}
}

/// A sweep: a plan, the store that keeps its runs, and the rows that are there.
pub struct Sweep {
    plan: Plan,
    /// How many runs the store had.
    kept: usize,
    inner: Mutex<Inner>,
}

struct Inner {
    store: Option<Store>,
    rows: Vec<Option<RunRow>>,
    /// What runs took, and what they were thought to cost.
    took: (f64, f64),
}

/// Runs that a thread takes at a time, at most: they share their points' scenarios.
const TOGETHER: usize = 64;
/// Chunks for each thread at least, so that all end together.
const CHUNKS: usize = 16;
/// How long a run waits for others to be kept with: what a kill may cost.
const SOON: Duration = Duration::from_millis(500);
/// How long the runs take that an estimate is made from.
const REHEARSAL: Duration = Duration::from_millis(500);

impl Sweep {
    /// Looks up which runs the store has; without one, none are kept.
    ///
    /// # Errors
    /// A store that fails.
    pub fn new(plan: Plan, store: Option<Store>) -> Result<Self, Error> {
        let mut rows = vec![None; plan.runs()];
        if let Some(store) = &store {
            let mut at = At::default();
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

    /// A sweep of which these rows are there, and none are kept.
    pub(super) fn of(plan: Plan, rows: Vec<Option<RunRow>>) -> Self {
        let kept = rows.iter().flatten().count();
        Self { plan, kept, inner: Mutex::new(Inner { store: None, rows, took: (0.0, 0.0) }) }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many runs the store had.
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    /// The runs that are not there, the longest first.
    pub fn missing(&self) -> Vec<usize> {
        let inner = self.locked();
        let missing = inner.rows.iter().enumerate().filter(|(_, row)| row.is_none());
        let mut missing: Vec<usize> = missing.map(|(run, _)| run).collect();
        // Stable: the same plan gives the same order.
        let cost = |run: usize| self.plan.planned_run(run).cost;
        missing.sort_by(|&a, &b| cost(b).total_cmp(&cost(a)));
        missing
    }

    /// Makes some of the missing runs, and gives the seconds that all of them take on one core by
    /// what these took.
    ///
    /// # Errors
    /// A store that fails, or cancellation.
    pub fn estimate(&self, cancel: &CancellationToken) -> Result<f64, Error> {
        let missing = self.missing();
        let began = Instant::now();
        // From both ends of the costs, and from between.
        let mut spread: VecDeque<(usize, usize)> = VecDeque::from([(0, missing.len())]);
        let (mut costs, mut took) = (0.0, 0.0);
        while let Some((from, to)) = spread.pop_front()
            && began.elapsed() < REHEARSAL
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

    /// The missing runs in batches that take about `seconds` each, by what runs have taken so far.
    pub fn batches(&self, seconds: f64) -> Vec<Batch> {
        let (took, cost) = self.locked().took;
        let rate = if cost > 0.0 { took / cost } else { f64::INFINITY };
        let mut batches = Vec::new();
        let (mut runs, mut time) = (Vec::new(), 0.0);
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

    /// Takes in what runs left behind, and keeps it.
    ///
    /// # Errors
    /// A store that fails, or runs that are none of this plan.
    pub fn take(&self, made: Vec<Made>) -> Result<(), Error> {
        if made.iter().any(|made| made.run >= self.plan.runs()) {
            return Err(ParcelError::OtherPlan.into());
        }
        let mut at = At::default();
        let mut rows = Vec::with_capacity(made.len());
        let mut scenarios: Vec<Arc<str>> = Vec::with_capacity(made.len());
        for made in &made {
            rows.push(at.row(&self.plan, made.run, &made.record)?);
            scenarios.push(at.decisive());
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

    /// Makes the missing runs on all threads of the current pool, the longest first. What is done is
    /// in the store half a second later.
    ///
    /// # Errors
    /// A store that fails, or cancellation: what is done by then is in the store.
    pub fn run(&self, cancel: &CancellationToken, watch: &dyn Watch) -> Result<(), Error> {
        let missing = self.missing();
        let chunk = missing.len() / (rayon::current_num_threads() * CHUNKS);
        let chunks: Vec<&[usize]> = missing.chunks(chunk.clamp(1, TOGETHER)).collect();
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
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
                    if kept.is_ok() && since.get().elapsed() >= SOON {
                        kept = keep(&mut waiting);
                    }
                });
                kept?;
                // What was made before a cancellation is kept.
                keep(&mut waiting)?;
                all?;
            }
            Ok(())
        });
        results.into_iter().collect()
    }

    /// What became of each run, in the order of the plan.
    pub fn with_rows<T>(&self, see: impl FnOnce(&[Option<RunRow>]) -> T) -> T {
        see(&self.locked().rows)
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Inner> {
        // What a thread that panics leaves behind is a transaction undone.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The scenario of the point that was looked at last.
#[derive(Default)]
struct At {
    point: Option<(usize, Scenario, Arc<str>)>,
}

impl At {
    /// The row of a run.
    fn row(&mut self, plan: &Plan, run: usize, record: &RunRecord) -> Result<RunRow, Error> {
        let point = plan.point(run);
        if self.point.as_ref().is_none_or(|(of, ..)| *of != point) {
            let scenario = plan.scenario(point)?;
            let decisive = decisive(&scenario).into();
            self.point = Some((point, scenario, decisive));
        }
        let (_, scenario, _) = self.point.as_ref().expect("just looked at");
        Ok(row_of(scenario, plan.sender_name(run), plan.seed(run), record))
    }

    /// What decides of the scenario, as text.
    fn decisive(&self) -> Arc<str> {
        self.point.as_ref().map_or("".into(), |(.., decisive)| Arc::clone(decisive))
    }
}
