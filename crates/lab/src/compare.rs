//! Comparisons of several senders over one scenario, each with the same seeds.

use rayon::prelude::*;
use unruffled_measure::{Monitor, Recorder, RunRecord};
use unruffled_tcp::Variant;

use crate::cancel::{CancellationToken, RunError};
use crate::record::{Beside, Comparison, Medium, RunRow, Trace, VariantRuns};
use crate::reference::{self, Reference};
use crate::run::{record, row, run};
use crate::senders;
use unruffled_scenario::{Scenario, Traffic};

/// Returns the number of runs that [`compare`] makes.
pub fn runs(scenario: &Scenario, variants: &[Variant]) -> u64 {
    let beside = if has_others(scenario) { scenario.seeds } else { 0 };
    scenario.seeds * variants.len() as u64 + reference::runs(scenario) + beside
}

/// Returns whether the scenario has traffic beside that of the compared sender.
fn has_others(scenario: &Scenario) -> bool {
    others(scenario).next().is_some()
}

/// Returns the traffic beside that of the compared sender.
fn others(scenario: &Scenario) -> impl Iterator<Item = &Traffic> {
    scenario.traffic.iter().filter(|group| !scenario.compared().any(|c| c.name == group.name))
}

/// Returns the goodput of the other traffic over the same path without the compared sender.
fn without_compared(
    scenario: &Scenario,
    cancel: &CancellationToken,
    done: &(impl Fn() + Sync),
) -> Result<Vec<Beside>, RunError> {
    if !has_others(scenario) {
        return Ok(Vec::new());
    }
    let rest = reference::without(scenario, |group| others(scenario).any(|o| o.name == group.name));
    // The variant is not used: all remaining traffic has a sender of its own.
    let sack = scenario.fixed_sender("sack");
    let ran: Vec<RunRecord> = (1..=scenario.seeds)
        .into_par_iter()
        .map(|seed| {
            let ran = record(&rest, &sack, seed, None, cancel)?;
            done();
            Ok(ran)
        })
        .collect::<Result<_, RunError>>()?;
    let beside = |group: &Traffic| {
        let goodput = |record: &RunRecord| record.goodput_bps(&group.name);
        Beside { group: group.name.clone(), alone_bps: ran.iter().map(goodput).collect() }
    };
    Ok(others(scenario).map(beside).collect())
}

/// Runs every variant with every seed, on all threads of the current pool. `done` is called after each
/// run. The result does not depend on the number of threads.
///
/// # Errors
/// [`RunError::Cancelled`], or a link's configuration that is invalid; loaded scenarios have none.
///
/// # Examples
/// ```
/// use unruffled_lab::compare::compare;
/// use unruffled_lab::{Scenario, cancel, table};
///
/// let set = ["duration=2 s", "seeds=1"].map(str::to_owned);
/// let scenario = Scenario::load("half-late", &set)?;
/// let senders = scenario.senders(&["unruffled".to_owned(), "sack".to_owned()], "here")?;
/// let comparison = compare(&scenario, &senders, cancel::never(), || ())?;
/// assert_eq!(comparison.variants.len(), 2);
/// print!("{}", table::render(&comparison, 80, false));
/// # Ok::<(), unruffled_lab::Error>(())
/// ```
pub fn compare(
    scenario: &Scenario,
    variants: &[Variant],
    cancel: &CancellationToken,
    done: impl Fn() + Sync,
) -> Result<Comparison, RunError> {
    let tasks: Vec<(&Variant, u64)> =
        variants.iter().flat_map(|v| (1..=scenario.seeds).map(move |seed| (v, seed))).collect();
    let run_tasks = || -> Result<Vec<RunOutput>, RunError> {
        let ran = tasks.into_par_iter().map(|(variant, seed)| {
            cancel.check()?;
            let ran = RunOutput::of(scenario, variant, seed, cancel)?;
            done();
            Ok(ran)
        });
        ran.collect()
    };
    let (reference, (beside, ran)) = rayon::join(
        || Reference::of(scenario, cancel, &done),
        || rayon::join(|| without_compared(scenario, cancel, &done), run_tasks),
    );
    let (reference, beside) = (reference?, beside?);
    let mut ran = ran?.into_iter();
    let of_variant =
        |variant: &Variant| collect_runs(variant, ran.by_ref().take(scenario.seeds as usize));
    let names: Vec<&str> = variants.iter().map(Variant::name).collect();
    let variants = variants.iter().map(of_variant).collect();
    Ok(Comparison {
        scenario: scenario.name.clone(),
        medium: Medium::Simulation,
        notes: Vec::new(),
        title: scenario.title.clone(),
        source: scenario.source.clone(),
        scenario_toml: scenario.to_toml(&names),
        command: "unruffled compare scenario.toml".to_owned(),
        facts: scenario.facts(),
        episodes: scenario.episodes(),
        reference,
        beside,
        flows: scenario.sources(),
        compared: scenario.compared().map(|group| u64::from(group.count)).sum(),
        variants,
    })
}

/// The result of one run.
struct RunOutput {
    row: RunRow,
    /// The record of each flow and link, if there are several flows.
    record: Option<RunRecord>,
    /// The trace to draw: only for the first seed, and for the first compared flow.
    trace: Option<Trace>,
}

impl RunOutput {
    /// Makes the run, and returns its result.
    fn of(
        scenario: &Scenario,
        variant: &Variant,
        seed: u64,
        cancel: &CancellationToken,
    ) -> Result<Self, RunError> {
        let mut recorder = (seed == 1).then(|| {
            let Scenario { duration, warmup, sender, .. } = scenario;
            Recorder::new(*duration, *warmup, sender.mss).following(scenario.first_compared())
        });
        let monitor = recorder.as_mut().map(|recorder| recorder as &mut dyn Monitor);
        let (row, record) = if scenario.sources() > 1 {
            let record = record(scenario, variant, seed, monitor, cancel)?;
            (row(scenario, variant, seed, &record), Some(record))
        } else {
            (run(scenario, variant, seed, monitor, cancel)?, None)
        };
        Ok(Self { row, record, trace: recorder.map(Recorder::into_trace) })
    }
}

/// Collects the runs of one variant, seed by seed.
fn collect_runs(variant: &Variant, ran: impl Iterator<Item = RunOutput>) -> VariantRuns {
    let mut runs = VariantRuns {
        name: variant.name().into(),
        about: senders::about(variant),
        rows: Vec::new(),
        trace: Trace::default(),
        records: Vec::new(),
    };
    for RunOutput { row, record, trace } in ran {
        runs.rows.push(row);
        runs.records.extend(record);
        if let Some(trace) = trace {
            runs.trace = trace;
        }
    }
    runs
}
