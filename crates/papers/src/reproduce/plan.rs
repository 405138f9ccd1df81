//! The runs that a set of experiments needs. Those that the store lacks are made.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use unruffled_measure::{Quantity, RunRecord};
use unruffled_tcp::Variant;

use crate::error::Error;
use crate::experiment::{Experiment, Line};
use crate::expression::{self, ExpressionError};
use crate::reproduce::judge::{Claims, Found, Judged};
use crate::reproduce::measure::Meter;
use crate::reproduce::results::{ClaimOutcome, FigureOutcome, Holds, LineOutcome};
use unruffled_lab::cancel::never;
use unruffled_lab::run::{cost, record, record_flows};
use unruffled_lab::store::{self, Key, Run, Store};
use unruffled_scenario::Scenario;

/// Receives the progress of the runs.
pub trait Progress: Sync {
    /// Called once, with the number of runs to make, their estimated cost, and the number of runs
    /// that the store has.
    fn begin(&self, runs: usize, cost: f64, there: usize);
    /// Called after each run with its cost.
    fn done(&self, cost: f64);
}

impl Progress for () {
    fn begin(&self, _: usize, _: f64, _: usize) {}
    fn done(&self, _: f64) {}
}

/// The runs of one line at one point.
#[derive(Clone, Debug)]
struct Cell {
    scenario: Scenario,
    variant: Variant,
    /// The part of the scenario that affects results.
    canonical_toml: String,
    /// The keys of the records with links, by seed.
    keys: Vec<Key>,
    /// Whether the experiment reads records or time series of links.
    links: bool,
}

impl Cell {
    fn seed(index: usize) -> u64 {
        index as u64 + 1
    }

    fn run(&self, index: usize) -> Result<RunRecord, Error> {
        let record = if self.links { record } else { record_flows };
        let ran = record(&self.scenario, &self.variant, Self::seed(index), None, never());
        Ok(ran.map_err(unruffled_lab::Error::from)?)
    }

    /// Returns the key of the records that [`run`](Self::run) makes.
    fn key(&self, index: usize) -> Key {
        if self.links { self.keys[index] } else { self.keys[index].without_links() }
    }

    /// Returns whether the store has the record of a run, with what the experiment reads of it.
    fn is_in(&self, store: &Store, index: usize) -> Result<bool, Error> {
        let key = &self.keys[index];
        Ok(if self.links { store.has(key) } else { store.has_flows(key) }?)
    }

    fn find(&self, store: &Store, index: usize) -> Result<Option<RunRecord>, Error> {
        let key = &self.keys[index];
        Ok(if self.links { store.get(key) } else { store.get_flows(key) }?)
    }
}

/// An experiment with its runs.
struct Planned<'a> {
    experiment: &'a Experiment,
    /// The cells by line and point; none for formulae.
    cells: Vec<Vec<Option<Cell>>>,
}

/// The runs of some experiments, each once.
pub struct Plan<'a> {
    experiments: Vec<Planned<'a>>,
}

impl<'a> Plan<'a> {
    /// Plans the experiments. Checks their scenarios at each point and their claims.
    ///
    /// # Errors
    /// An invalid experiment.
    pub fn new(experiments: &'a [Experiment]) -> Result<Self, Error> {
        let planned = experiments.iter().map(|experiment| {
            Claims::rehearse(experiment)?;
            Ok(Planned { experiment, cells: cells(experiment)? })
        });
        Ok(Self { experiments: planned.collect::<Result<_, Error>>()? })
    }

    /// Returns the number of different runs.
    pub fn runs(&self) -> usize {
        self.runs_by_key().len()
    }

    /// The runs by key, with an experiment that needs each, and the index of its seed. It is the first one that
    /// reads links, if any does, else the first one.
    fn runs_by_key(&self) -> BTreeMap<Key, (&'a str, &Cell, usize)> {
        let mut runs = BTreeMap::new();
        for planned in &self.experiments {
            for cell in planned.cells.iter().flatten().flatten() {
                for (index, key) in cell.keys.iter().enumerate() {
                    let run = (planned.experiment.id.as_str(), cell, index);
                    let known: &mut (&str, &Cell, usize) = runs.entry(*key).or_insert(run);
                    if cell.links && !known.1.links {
                        *known = run;
                    }
                }
            }
        }
        runs
    }

    /// Returns the runs that the store lacks.
    ///
    /// # Errors
    /// A store that fails.
    pub fn missing(&self, store: &Mutex<Store>) -> Result<Missing<'_>, Error> {
        let mut missing = Missing { tasks: Vec::new(), there: 0 };
        for (of, cell, index) in self.runs_by_key().into_values() {
            if cell.is_in(&locked(store), index)? {
                missing.there += 1;
            } else {
                missing.tasks.push(Task { of, cell, index, cost: cost(&cell.scenario) });
            }
        }
        // The sort is stable and the keys are sorted, so the same plan gives the same order.
        missing.tasks.sort_by(|a, b| b.cost.total_cmp(&a.cost));
        Ok(missing)
    }

    /// Returns the results of the experiments. Runs that the store lacks are made.
    ///
    /// # Errors
    /// A store that fails, or an invalid expression.
    pub fn outcomes(&self, store: &Mutex<Store>) -> Result<Vec<FigureOutcome<'a>>, Error> {
        self.experiments.iter().map(|planned| planned.outcome(store)).collect()
    }
}

/// A run to make.
struct Task<'p> {
    of: &'p str,
    cell: &'p Cell,
    /// The index of the seed in the cell.
    index: usize,
    cost: f64,
}

/// The runs that a store lacks.
pub struct Missing<'p> {
    tasks: Vec<Task<'p>>,
    /// The number of runs that the store has.
    there: usize,
}

impl Missing<'_> {
    /// Returns whether the store lacks no run.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Makes the runs on all threads of the current pool, the longest first. Each is stored as soon
    /// as it ends.
    ///
    /// # Errors
    /// A store that fails.
    pub fn run(&self, store: &Mutex<Store>, progress: &dyn Progress) -> Result<(), Error> {
        let cost = self.tasks.iter().map(|task| task.cost).sum();
        progress.begin(self.tasks.len(), cost, self.there);
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let results = rayon::broadcast(|_| -> Result<(), Error> {
            while !stop.load(Ordering::Relaxed) {
                let task = self.tasks.get(next.fetch_add(1, Ordering::Relaxed));
                let Some(task) = task else { break };
                let made = make(store, task.of, task.cell, task.index);
                if made.is_err() {
                    stop.store(true, Ordering::Relaxed);
                    return made;
                }
                progress.done(task.cost);
            }
            Ok(())
        });
        results.into_iter().collect()
    }
}

fn locked(store: &Mutex<Store>) -> std::sync::MutexGuard<'_, Store> {
    // A panic rolls its transaction back, so the store stays valid.
    store.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn make(store: &Mutex<Store>, of: &str, cell: &Cell, index: usize) -> Result<(), Error> {
    let began = Instant::now();
    let record = cell.run(index)?;
    let run = Run {
        key: cell.key(index),
        of,
        scenario: &cell.canonical_toml,
        variant: cell.variant.name(),
        seed: Cell::seed(index),
        record: &record,
        took: began.elapsed(),
    };
    Ok(locked(store).put(&run)?)
}

fn cells(experiment: &Experiment) -> Result<Vec<Vec<Option<Cell>>>, Error> {
    let engine = expression::engine();
    let reads_links = experiment.reads_links();
    let of = |line: &Line, point| -> Result<Option<Cell>, Error> {
        if let Some(formula) = line.formula() {
            // An error of a formula is reported before the runs.
            experiment.formula(&engine, formula, point)?;
            return Ok(None);
        }
        let (scenario, variant) = experiment.scenario(line, point)?;
        let canonical_toml = store::canonical_toml(&scenario);
        let key = |seed| Key::of_canonical(&canonical_toml, &variant, seed);
        let keys = (0..experiment.seeds as usize).map(|i| key(Cell::seed(i))).collect();
        let links = reads_links || scenario.recording.series.contains(&Quantity::Queue);
        Ok(Some(Cell { scenario, variant, canonical_toml, keys, links }))
    };
    let points = &experiment.sweep.points;
    // The settings of the quick version are checked in a full run, too.
    let quick = |line: &Line| match points.first().filter(|_| line.formula().is_none()) {
        Some(point) => experiment.scenario_of(true, line, point).map(drop),
        None => Ok(()),
    };
    experiment.lines.iter().try_for_each(quick)?;
    let line = |line| points.iter().map(|point| of(line, point)).collect();
    experiment.lines.iter().map(line).collect()
}

impl<'a> Planned<'a> {
    fn outcome(&self, store: &Mutex<Store>) -> Result<FigureOutcome<'a>, Error> {
        let experiment = self.experiment;
        let meter = Meter::new();
        let mut lines = Vec::with_capacity(experiment.lines.len());
        for (line, cells) in experiment.lines.iter().zip(&self.cells) {
            lines.push(self.line(store, &meter, line, cells)?);
        }
        let mut curves = Vec::new();
        for panel in &experiment.panels {
            let mut of_panel = Vec::new();
            for curve in &panel.curves {
                let point = &experiment.sweep.points[panel.at];
                let Some(cell) = &self.cells[curve.line][panel.at] else { continue };
                let group = experiment.lines[curve.line].group.as_deref();
                meter.set_run(self.fetch(store, cell, 0)?, group);
                let wrong = |e: ExpressionError| experiment.wrong(&curve.span, e.to_string());
                let drawn = meter.curve(&curve.ast, point).map_err(wrong)?;
                of_panel.push((curve.name.clone(), drawn));
            }
            curves.push(of_panel);
        }
        let found = lines.iter().map(|line: &LineOutcome| line.values.clone()).collect();
        let claims = Claims::new(experiment, Found { values: found });
        let judged = experiment.claims.iter().map(|claim| {
            let (expected, measured, holds, at_every_point) = match claims.judge(claim)? {
                Judged::Tested(v) => {
                    let holds = if v.holds { Holds::Yes } else { Holds::No };
                    (v.expected, v.measured, holds, v.at_every_point)
                }
                Judged::NotTested(why) => {
                    (String::new(), format!("not tested: {why}"), Holds::NotTested, None)
                }
            };
            Ok(ClaimOutcome {
                text: claim.text.clone(),
                source: claim.source.clone(),
                expected: claim.expected.clone().unwrap_or(expected),
                measured,
                holds,
                at_every_point,
                known: claim.known.clone(),
                cause: claim.cause.clone(),
                other_reading: claim.other_reading.clone(),
            })
        });
        let claims = judged.collect::<Result<_, Error>>()?;
        let cell = self.cells.iter().flatten().flatten().next();
        Ok(FigureOutcome {
            experiment,
            lines,
            curves,
            claims,
            scenario_toml: cell.map(|cell| cell.scenario.toml.clone()),
        })
    }

    fn line(
        &self,
        store: &Mutex<Store>,
        meter: &Meter,
        line: &Line,
        cells: &[Option<Cell>],
    ) -> Result<LineOutcome, Error> {
        let experiment = self.experiment;
        let points = &experiment.sweep.points;
        let mut values = vec![vec![Vec::new(); points.len()]; experiment.measures.len()];
        let mut variant = line.variant.clone();
        for (p, (point, cell)) in points.iter().zip(cells).enumerate() {
            let Some(cell) = cell else {
                let Some(formula) = line.formula() else { continue };
                let engine = expression::engine();
                let value = experiment.formula(&engine, formula, point)?;
                for (m, values) in values.iter_mut().enumerate() {
                    values[p] = vec![if m == formula.measure { value } else { f64::NAN }];
                }
                continue;
            };
            for index in 0..cell.keys.len() {
                meter.set_run(self.fetch(store, cell, index)?, line.group.as_deref());
                if variant.is_none() {
                    variant = Some(meter.senders());
                }
                for (m, measure) in experiment.measures.iter().enumerate() {
                    let value = if measure.is_of(line) {
                        let wrong = |error: ExpressionError| {
                            let message = format!("{error} (line {:?})", line.name);
                            experiment.wrong(&measure.span, message)
                        };
                        meter.number(&measure.ast, point).map_err(wrong)?
                    } else {
                        f64::NAN
                    };
                    values[m][p].push(value);
                }
            }
        }
        let same = |a: &Option<Cell>, b: &Option<Cell>| {
            a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| a.keys == b.keys)
        };
        let constant = cells.len() > 1 && cells.windows(2).all(|pair| same(&pair[0], &pair[1]));
        Ok(LineOutcome { variant: variant.unwrap_or_default(), constant, values })
    }

    fn fetch(&self, store: &Mutex<Store>, cell: &Cell, index: usize) -> Result<RunRecord, Error> {
        if let Some(record) = cell.find(&locked(store), index)? {
            return Ok(record);
        }
        // Another process has pruned the run.
        make(store, &self.experiment.id, cell, index)?;
        let again = cell.find(&locked(store), index)?;
        again.map_or_else(|| cell.run(index), Ok)
    }
}
