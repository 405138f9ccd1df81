//! A comparison in steps.

use std::collections::VecDeque;

use serde::Serialize;
use unruffled_lab::cancel::{RunError, never};
use unruffled_lab::compare::Plan;
use unruffled_lab::job::{Ran, Working};
use unruffled_lab::record;
use unruffled_lab::run::row;
use unruffled_lab::table;
use unruffled_measure::RunRecord;
use unruffled_scenario::Scenario;
use unruffled_tcp::Variant;

use crate::request::{Checked, Request};

/// A comparison of senders, which is made in steps.
///
/// The first seed of every sender comes first, all at the same virtual time, so that an estimate of each is
/// there at once. The runs of the reference follow, then those of the other seeds.
pub struct Comparison {
    scenario: Scenario,
    variants: Vec<Variant>,
    plan: Plan,
    runs: Vec<Run>,
    /// The runs that are not over, in the order in which they are made.
    queue: VecDeque<usize>,
    result: Option<record::Comparison>,
    failed: Option<String>,
}

/// A run of the plan.
enum Run {
    Waiting,
    Working(Box<Working>),
    Over(Box<Ran>),
}

/// The state of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Progress {
    /// Whether nothing is left to do.
    pub done: bool,
    /// Why a run has no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The part of the virtual time of all runs that is over, 0 to 1.
    pub fraction: f64,
    /// The number of runs.
    pub runs: usize,
    /// The number of runs that are over.
    pub runs_done: usize,
    /// The virtual time that the first seed of every sender has reached, in seconds.
    pub time_s: f64,
    /// The goodput of each sender, in the requested order.
    pub estimates: Vec<Estimate>,
}

/// The goodput of a sender, as far as it is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The sender's full name.
    pub sender: String,
    /// The mean over the runs that are over, or the goodput so far in the first run, in bits per second.
    pub goodput_bps: Option<f64>,
    /// The share of the goodput over the undisturbed path, if that is known.
    pub share: Option<f64>,
    /// Whether all runs of the sender are over.
    #[serde(rename = "final")]
    pub is_final: bool,
}

/// A table in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableText {
    /// The heads of the columns.
    pub heads: Vec<&'static str>,
    /// The cells, line by line.
    pub lines: Vec<Vec<String>>,
}

impl Comparison {
    /// Prepares a comparison.
    ///
    /// # Errors
    /// The line that the command prints.
    pub fn new(request: &Request) -> Result<Self, String> {
        let Checked { scenario, variants } = request.checked()?;
        let plan = Plan::new(&scenario, &variants).without_traces();
        let count = plan.jobs().len();
        let seeds = scenario.seeds as usize;
        let first = plan.preliminaries();
        let run = |variant: usize, seed: usize| first + variant * seeds + seed;
        let mut queue: VecDeque<usize> = (0..variants.len()).map(|v| run(v, 0)).collect();
        queue.extend(0..first);
        queue.extend((1..seeds).flat_map(|seed| (0..variants.len()).map(move |v| run(v, seed))));
        let runs = (0..count).map(|_| Run::Waiting).collect();
        Ok(Self { scenario, variants, plan, runs, queue, result: None, failed: None })
    }

    /// Makes a part of the runs, until `stop` returns true. It is called after each small part.
    pub fn step(&mut self, mut stop: impl FnMut() -> bool) -> Progress {
        while self.failed.is_none() && !self.queue.is_empty() {
            if let Err(error) = self.advance() {
                self.failed = Some(error.to_string());
                self.queue.clear();
            }
            if stop() {
                break;
            }
        }
        if self.failed.is_none() && self.queue.is_empty() && self.result.is_none() {
            let ran = std::mem::take(&mut self.runs).into_iter().filter_map(Run::over);
            self.result = Some(self.plan.conclude(ran.collect()));
        }
        self.progress()
    }

    /// Makes a small part of the next run.
    fn advance(&mut self) -> Result<(), RunError> {
        // As long as first seeds are in progress, the one that is furthest behind comes next.
        let Some(next) = self.behind().or(self.queue.front().copied()) else { return Ok(()) };
        let run = &mut self.runs[next];
        if let Run::Waiting = run {
            *run = Run::Working(Box::new(self.plan.jobs()[next].start()?));
        }
        let Run::Working(working) = run else { return Ok(()) };
        working.advance(never())?;
        if working.running().is_over() {
            self.queue.retain(|&at| at != next);
            if let Run::Working(working) = std::mem::replace(run, Run::Waiting) {
                *run = Run::Over(Box::new(working.finish()));
            }
        }
        Ok(())
    }

    /// Returns the first run of a sender that has reached the least virtual time, if any is in progress.
    fn behind(&self) -> Option<usize> {
        let firsts = (0..self.variants.len()).map(|variant| self.first_run(variant));
        let left = firsts.filter(|&run| !matches!(self.runs[run], Run::Over(_)));
        left.min_by_key(|&run| self.runs[run].reached())
    }

    /// Returns the number of a sender's run with the first seed.
    fn first_run(&self, variant: usize) -> usize {
        self.plan.preliminaries() + variant * self.scenario.seeds as usize
    }

    /// Returns the state.
    pub fn progress(&self) -> Progress {
        let runs = self.plan.jobs().len();
        let whole = self.scenario.duration.as_secs_f64();
        if let Some(result) = &self.result {
            let reference = result.reference.bps();
            let estimates = result.variants.iter().map(|runs| {
                let bps = mean(runs.rows.iter().map(|row| row.flow.goodput_bps));
                self.estimate(&runs.name, bps, Some(reference), true)
            });
            return Progress {
                done: true,
                error: None,
                fraction: 1.0,
                runs,
                runs_done: runs,
                time_s: whole,
                estimates: estimates.collect(),
            };
        }
        let part = |run: &Run| match run {
            Run::Waiting => 0.0,
            Run::Working(working) => {
                working.running().now().as_secs_f64() / whole.max(f64::MIN_POSITIVE)
            }
            Run::Over(_) => 1.0,
        };
        let times = (0..self.variants.len()).map(|v| part(&self.runs[self.first_run(v)]));
        let reference = self.reference();
        let estimates = self.variants.iter().enumerate().map(|(at, variant)| {
            let (bps, is_final) = self.goodput(at);
            self.estimate(variant.name(), bps, reference, is_final)
        });
        Progress {
            done: self.failed.is_some(),
            error: self.failed.clone(),
            fraction: self.runs.iter().map(part).sum::<f64>() / runs.max(1) as f64,
            runs,
            runs_done: self.runs.iter().filter(|run| matches!(run, Run::Over(_))).count(),
            time_s: times.fold(f64::INFINITY, f64::min).min(1.0) * whole,
            estimates: estimates.collect(),
        }
    }

    fn estimate(
        &self,
        sender: &str,
        bps: Option<f64>,
        reference: Option<f64>,
        is_final: bool,
    ) -> Estimate {
        let share = bps.zip(reference).map(|(bps, reference)| bps / reference);
        Estimate {
            sender: sender.to_owned(),
            goodput_bps: bps,
            share: share.filter(|share| share.is_finite()),
            is_final,
        }
    }

    /// Returns the goodput of the undisturbed path, once it is known.
    fn reference(&self) -> Option<f64> {
        let runs = &self.runs[..self.plan.reference_runs()];
        let ran: Option<Vec<Ran>> = runs.iter().map(|run| run.result().cloned()).collect();
        Some(self.plan.reference(&ran?).bps())
    }

    /// Returns the goodput of a sender so far, and whether all of its runs are over.
    fn goodput(&self, variant: usize) -> (Option<f64>, bool) {
        let Self { scenario, variants, .. } = self;
        let first = self.first_run(variant);
        let runs = &self.runs[first..first + scenario.seeds as usize];
        let bps =
            |record: &RunRecord| row(scenario, &variants[variant], 1, record).flow.goodput_bps;
        let over: Vec<f64> =
            runs.iter().filter_map(Run::result).map(|ran| bps(ran.record())).collect();
        let is_final = over.len() == runs.len();
        let begun = || match &runs[0] {
            Run::Working(working) if working.running().now() > self.warm() => {
                Some(bps(&working.running().record_so_far()))
            }
            _ => None,
        };
        (mean(over).or_else(begun).filter(|bps| bps.is_finite()), is_final)
    }

    /// Returns the time from which on runs are measured.
    fn warm(&self) -> unruffled_units::Instant {
        unruffled_units::Instant::ZERO + self.scenario.warmup
    }

    /// Returns what `unruffled compare --json` prints, once all runs are over.
    pub fn json(&self) -> Option<String> {
        self.result.as_ref().map(table::json)
    }

    /// Returns what `unruffled compare --csv` prints, once all runs are over.
    pub fn csv(&self) -> Option<String> {
        self.result.as_ref().map(table::csv)
    }

    /// Returns the command's tables, cell by cell, once all runs are over.
    pub fn tables(&self) -> Option<Vec<TableText>> {
        let tables = table::tables(self.result.as_ref()?);
        Some(tables.into_iter().map(|(heads, lines)| TableText { heads, lines }).collect())
    }
}

impl Run {
    fn over(self) -> Option<Ran> {
        if let Self::Over(ran) = self { Some(*ran) } else { None }
    }

    fn result(&self) -> Option<&Ran> {
        if let Self::Over(ran) = self { Some(ran) } else { None }
    }

    /// Returns the virtual time that a run in progress has reached.
    fn reached(&self) -> unruffled_units::Instant {
        match self {
            Self::Working(working) => working.running().now(),
            _ => unruffled_units::Instant::ZERO,
        }
    }
}

/// Returns the mean, if there are values.
fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    let count = values.len();
    (count > 0).then(|| values.iter().sum::<f64>() / count as f64)
}

#[cfg(test)]
mod tests {
    use unruffled_lab::compare::compare;

    use super::*;

    fn request(toml: &str, senders: &[&str]) -> Request {
        Request {
            toml: toml.to_owned(),
            senders: Some(senders.iter().map(|&sender| sender.to_owned()).collect()),
            seeds: Some(2),
            duration: Some("3 s".to_owned()),
            ..Request::default()
        }
    }

    /// Makes all runs, in steps of `parts` parts each, and returns the last state.
    fn finish(comparison: &mut Comparison, parts: u32) -> Progress {
        loop {
            let mut left = parts;
            let progress = comparison.step(|| {
                left -= 1;
                left == 0
            });
            if progress.done {
                return progress;
            }
        }
    }

    #[test]
    fn the_result_is_that_of_the_command_whatever_the_steps_are() {
        for (name, senders) in [
            ("half-late", ["unruffled", "sack"]),
            ("bonded", ["rr-ta", "linux"]),
            ("fabric", ["unruffled+bbr", "rack"]),
        ] {
            let mut request = request(name, &senders);
            if name == "fabric" {
                request.duration = Some("5 ms".to_owned());
            }
            let Checked { scenario, variants } = request.checked().expect("is built in");
            let expected = table::json(&compare(&scenario, &variants, never(), || ()).unwrap());
            for parts in [1, 7, 10_000] {
                let mut comparison = Comparison::new(&request).expect("is built in");
                let last = finish(&mut comparison, parts);
                assert_eq!(comparison.json().as_ref(), Some(&expected), "{name}, {parts} parts");
                assert_eq!((last.runs, last.fraction), (last.runs_done, 1.0));
            }
        }
    }

    #[test]
    fn the_first_step_has_an_estimate_of_each_sender_at_the_same_time() {
        let mut comparison =
            Comparison::new(&request("half-late", &["unruffled", "sack", "rr-ta"])).unwrap();
        // A part is 100 ms; the first data arrive after 150 ms.
        let mut parts = 0;
        let progress = comparison.step(|| {
            parts += 1;
            parts == 15
        });
        assert!(!progress.done && progress.runs_done == 0);
        assert!((0.5..0.7).contains(&progress.time_s), "{}", progress.time_s);
        for estimate in &progress.estimates {
            assert!(estimate.goodput_bps.is_some_and(|bps| bps > 1e5), "{estimate:?}");
            assert!(estimate.share.is_none() && !estimate.is_final, "{estimate:?}");
        }
        let last = finish(&mut comparison, 1000);
        let rows = comparison.result.as_ref().unwrap().variants[0].rows.clone();
        let mean = (rows[0].flow.goodput_bps + rows[1].flow.goodput_bps) / 2.0;
        assert_eq!(last.estimates[0].goodput_bps, Some(mean));
        assert!(last.estimates.iter().all(|e| e.is_final && e.share.is_some()));
    }

    #[test]
    fn a_warm_up_has_no_estimate() {
        let mut request = request("half-late", &["sack"]);
        request.set = vec!["warmup=1 s".to_owned()];
        let mut comparison = Comparison::new(&request).unwrap();
        let progress = comparison.step(|| true);
        assert_eq!(progress.estimates[0].goodput_bps, None);
        assert!(finish(&mut comparison, 10).estimates[0].goodput_bps.is_some());
    }
}
