//! The main job: several senders over one scenario, each with the same seeds.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use unruffled_measure::{Monitor, Recorder, RunRecord};
use unruffled_path::ConfigError;
use unruffled_tcp::{Variant, VariantError};

use crate::error::Error;
use crate::flags;
use crate::record::{Beside, Comparison, Medium, RunRow, Trace, VariantRuns};
use crate::reference::{self, Reference};
use crate::run::{record_until, row, run_until};
use crate::scenario::{App, Scenario, Traffic};
use crate::senders;

/// The senders of the given names, in their order, with the scenario's parameters.
///
/// # Errors
/// A name that no sender has, a parameter that does not fit, or a scenario in which nothing is of
/// these senders; `place` says where the names stand.
pub fn variants(scenario: &Scenario, names: &[String], place: &str) -> Result<Vec<Variant>, Error> {
    if of_variant(scenario).is_none() {
        return Err(Error::NothingCompared { place: place.to_owned() });
    }
    let mut variants: Vec<Variant> = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        if variants.iter().any(|earlier| earlier.name() == name) {
            return Err(Error::Twice { place: place.to_owned(), name: name.to_owned() });
        }
        let refused = |reason: VariantError| Error::Variant { place: place.to_owned(), reason };
        let mut variant = Variant::parse(name).map_err(refused)?;
        scenario.parametrise(&mut variant)?;
        variants.push(variant);
    }
    Ok(variants)
}

/// The first traffic whose sender is the variant that is compared.
pub(crate) fn of_variant(scenario: &Scenario) -> Option<&Traffic> {
    let datagrams = |group: &Traffic| matches!(group.app, App::Datagrams { .. });
    scenario.traffic.iter().find(|group| group.sender.is_none() && !datagrams(group))
}

/// Where the names of a scenario's own senders stand: in `file`, unless `set` has replaced them.
pub fn place_of_variants(file: &str, set: &[String]) -> String {
    let place = if set.iter().any(|set| flags::key(set) == "variants") { "--set" } else { file };
    format!("{place}: variants")
}

/// How many runs [`compare`] makes.
pub fn runs(scenario: &Scenario, variants: &[Variant]) -> u64 {
    let beside = if has_others(scenario) { scenario.seeds } else { 0 };
    scenario.seeds * variants.len() as u64 + reference::runs(scenario) + beside
}

/// Whether there is traffic beside that of the compared sender.
fn has_others(scenario: &Scenario) -> bool {
    others(scenario).next().is_some()
}

/// The traffic beside that of the compared sender.
fn others(scenario: &Scenario) -> impl Iterator<Item = &Traffic> {
    scenario.traffic.iter().filter(|group| !scenario.compared().any(|c| c.name == group.name))
}

/// What the other traffic gets over the same path without the compared sender; none if `stop` was set
/// before that is known.
fn without_compared(
    stop: &AtomicBool,
    scenario: &Scenario,
    done: &(impl Fn() + Sync),
) -> Result<Option<Vec<Beside>>, ConfigError> {
    if !has_others(scenario) {
        return Ok(Some(Vec::new()));
    }
    let rest = reference::without(scenario, |group| others(scenario).any(|o| o.name == group.name));
    // Nothing is of this sender.
    let sack = scenario.fixed_sender("sack");
    let ran: Option<Vec<RunRecord>> = (1..=scenario.seeds)
        .into_par_iter()
        .map(|seed| {
            let ran = record_until(stop, &rest, &sack, seed, None)?;
            done();
            Ok(ran)
        })
        .collect::<Result<_, ConfigError>>()?;
    let beside = |ran: &[RunRecord], group: &str| {
        let goodput = |record: &RunRecord| record.goodput_bps(group);
        Beside { group: group.to_owned(), alone_bps: ran.iter().map(goodput).collect() }
    };
    Ok(ran.map(|ran| others(scenario).map(|group| beside(&ran, &group.name)).collect()))
}

/// Runs every variant with every seed, on all threads of the current pool. `done` is called after
/// each run. The result does not depend on the number of threads.
///
/// # Errors
/// A link's configuration that makes no sense; loaded scenarios have none.
pub fn compare(
    scenario: &Scenario,
    variants: &[Variant],
    done: impl Fn() + Sync,
) -> Result<Comparison, ConfigError> {
    let never = AtomicBool::new(false);
    compare_until(&never, scenario, variants, done).map(|found| found.expect("nobody stops it"))
}

/// The same as [`compare`], unless `stop` is set before it ends: then none.
///
/// # Errors
/// A link's configuration that makes no sense; loaded scenarios have none.
pub fn compare_until(
    stop: &AtomicBool,
    scenario: &Scenario,
    variants: &[Variant],
    done: impl Fn() + Sync,
) -> Result<Option<Comparison>, ConfigError> {
    let tasks: Vec<(&Variant, u64)> =
        variants.iter().flat_map(|v| (1..=scenario.seeds).map(move |seed| (v, seed))).collect();
    let of_tasks = || -> Result<Option<Vec<Ran>>, ConfigError> {
        let ran = tasks.into_par_iter().map(|(variant, seed)| {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let ran = Ran::of(stop, scenario, variant, seed)?;
            done();
            Ok(ran)
        });
        ran.collect()
    };
    let (reference, (beside, ran)) = rayon::join(
        || Reference::until(stop, scenario, &done),
        || rayon::join(|| without_compared(stop, scenario, &done), of_tasks),
    );
    let (Some(reference), Some(beside), Some(ran)) = (reference?, beside?, ran?) else {
        return Ok(None);
    };
    let mut ran = ran.into_iter();
    let of_variant =
        |variant: &Variant| gather(variant, ran.by_ref().take(scenario.seeds as usize));
    let names: Vec<&str> = variants.iter().map(Variant::name).collect();
    let variants = variants.iter().map(of_variant).collect();
    Ok(Some(Comparison {
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
    }))
}

/// What a run leaves.
struct Ran {
    row: RunRow,
    /// What was counted of each flow and link, where there are several flows.
    record: Option<RunRecord>,
    /// What is drawn of it: only of the first seed, and of the first flow that is compared.
    trace: Option<Trace>,
}

impl Ran {
    /// Makes the run; none if it was stopped.
    fn of(
        stop: &AtomicBool,
        scenario: &Scenario,
        variant: &Variant,
        seed: u64,
    ) -> Result<Option<Self>, ConfigError> {
        let mut recorder = (seed == 1).then(|| {
            let Scenario { duration, warmup, sender, .. } = scenario;
            Recorder::new(*duration, *warmup, sender.mss).following(scenario.first_compared())
        });
        let monitor = recorder.as_mut().map(|recorder| recorder as &mut dyn Monitor);
        let ran = if scenario.sources() > 1 {
            let ran = record_until(stop, scenario, variant, seed, monitor)?;
            ran.map(|record| (row(scenario, variant, seed, &record), Some(record)))
        } else {
            run_until(stop, scenario, variant, seed, monitor)?.map(|row| (row, None))
        };
        let trace = recorder.map(Recorder::into_trace);
        Ok(ran.map(|(row, record)| Self { row, record, trace }))
    }
}

/// The runs of one variant, seed by seed.
fn gather(variant: &Variant, ran: impl Iterator<Item = Ran>) -> VariantRuns {
    let mut gathered = VariantRuns {
        name: variant.name().into(),
        about: senders::about(variant),
        rows: Vec::new(),
        trace: Trace::default(),
        records: Vec::new(),
    };
    for Ran { row, record, trace } in ran {
        gathered.rows.push(row);
        gathered.records.extend(record);
        if let Some(trace) = trace {
            gathered.trace = trace;
        }
    }
    gathered
}
