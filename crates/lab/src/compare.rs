//! Comparisons of several senders over one scenario, each with the same seeds.

use std::sync::Arc;

use unruffled_scenario::{Scenario, Traffic};
use unruffled_tcp::Variant;

use crate::cancel::{CancellationToken, RunError};
use crate::job::{Job, Kept, Ran};
use crate::parallel;
use crate::record::{Beside, Comparison, Medium, VariantRuns};
use crate::reference::{self, Reference};
use crate::run::row;
use crate::senders;

/// Returns the number of runs that [`compare`] makes.
pub fn runs(scenario: &Scenario, variants: &[Variant]) -> u64 {
    Plan::new(scenario, variants).jobs.len() as u64
}

/// Returns the traffic beside that of the compared sender.
fn others(scenario: &Scenario) -> impl Iterator<Item = &Traffic> {
    scenario.traffic.iter().filter(|group| !scenario.compared().any(|c| c.name == group.name))
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
    let plan = Plan::new(scenario, variants);
    let ran = parallel::try_map(plan.jobs.iter().collect(), |job: &Job| {
        cancel.check()?;
        let ran = job.run(cancel)?;
        done();
        Ok::<Ran, RunError>(ran)
    })?;
    Ok(plan.conclude(ran))
}

/// The runs of a comparison, which may be made one by one.
///
/// # Examples
/// ```
/// use unruffled_lab::compare::{Plan, compare};
/// use unruffled_lab::{Scenario, cancel};
///
/// let set = ["duration=2 s", "seeds=1"].map(str::to_owned);
/// let scenario = Scenario::load("half-late", &set)?;
/// let senders = scenario.senders(&["unruffled".to_owned(), "sack".to_owned()], "here")?;
/// let plan = Plan::new(&scenario, &senders);
/// let mut ran = Vec::new();
/// for job in plan.jobs() {
///     ran.push(job.run(cancel::never())?);
/// }
/// assert_eq!(plan.conclude(ran), compare(&scenario, &senders, cancel::never(), || ())?);
/// # Ok::<(), unruffled_lab::Error>(())
/// ```
#[derive(Debug)]
pub struct Plan {
    scenario: Arc<Scenario>,
    variants: Vec<Variant>,
    reference: reference::Plan,
    /// The runs of the reference, then those without the compared sender, then those of the variants.
    jobs: Vec<Job>,
    /// The number of runs without the compared sender.
    beside: usize,
}

impl Plan {
    /// Plans the runs of a comparison.
    pub fn new(scenario: &Scenario, variants: &[Variant]) -> Self {
        let scenario = Arc::new(scenario.clone());
        let reference = reference::Plan::new(&scenario);
        let mut jobs = reference.jobs();
        let before = jobs.len();
        jobs.extend(without_compared(&scenario));
        let beside = jobs.len() - before;
        let several = scenario.sources() > 1;
        for variant in variants {
            jobs.extend((1..=scenario.seeds).map(|seed| Job {
                scenario: scenario.clone(),
                variant: variant.clone(),
                seed,
                kept: Kept { links: several, trace: seed == 1 },
            }));
        }
        Self { scenario, variants: variants.to_vec(), reference, jobs, beside }
    }

    /// Omits the traces of plots, which take time.
    #[must_use]
    pub fn without_traces(mut self) -> Self {
        for job in &mut self.jobs {
            job.kept.trace = false;
        }
        self
    }

    /// Returns the runs: first those of the reference, last those of the variants, in their order and by
    /// seed.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Returns the number of runs before those of the variants.
    pub fn preliminaries(&self) -> usize {
        self.reference.runs() + self.beside
    }

    /// Returns the number of runs of the reference, the first of all.
    pub fn reference_runs(&self) -> usize {
        self.reference.runs()
    }

    /// Returns the reference, from the results of its runs.
    ///
    /// # Panics
    /// If results are missing.
    pub fn reference(&self, ran: &[Ran]) -> Reference {
        self.reference.conclude(ran)
    }

    /// Returns the comparison, from the results of all runs.
    ///
    /// # Panics
    /// If results are missing.
    pub fn conclude(&self, ran: Vec<Ran>) -> Comparison {
        let Self { scenario, variants, .. } = self;
        let mut ran = ran.into_iter();
        let references: Vec<Ran> = ran.by_ref().take(self.reference.runs()).collect();
        let without: Vec<Ran> = ran.by_ref().take(self.beside).collect();
        let beside = |group: &Traffic| {
            let goodput = |ran: &Ran| ran.record.goodput_bps(&group.name);
            Beside { group: group.name.clone(), alone_bps: without.iter().map(goodput).collect() }
        };
        let of_variant = |variant: &Variant| {
            collect_runs(scenario, variant, ran.by_ref().take(scenario.seeds as usize))
        };
        let names: Vec<&str> = variants.iter().map(Variant::name).collect();
        Comparison {
            scenario: scenario.name.clone(),
            medium: Medium::Simulation,
            notes: Vec::new(),
            title: scenario.title.clone(),
            source: scenario.source.clone(),
            scenario_toml: scenario.to_toml(&names),
            command: "unruffled compare scenario.toml".to_owned(),
            facts: scenario.facts(),
            episodes: scenario.episodes(),
            reference: self.reference.conclude(&references),
            beside: others(scenario).map(beside).collect(),
            flows: scenario.sources(),
            compared: scenario.compared().map(|group| u64::from(group.count)).sum(),
            variants: variants.iter().map(of_variant).collect(),
        }
    }
}

/// Returns the runs of the other traffic over the same path without the compared sender.
fn without_compared(scenario: &Scenario) -> Vec<Job> {
    if others(scenario).next().is_none() {
        return Vec::new();
    }
    let rest = reference::without(scenario, |group| others(scenario).any(|o| o.name == group.name));
    let rest = Arc::new(rest);
    // The variant is not used: all remaining traffic has a sender of its own.
    let sack = scenario.fixed_sender("sack");
    let job = |seed| Job {
        scenario: rest.clone(),
        variant: sack.clone(),
        seed,
        kept: Kept { links: true, trace: false },
    };
    (1..=scenario.seeds).map(job).collect()
}

/// Collects the runs of one variant, seed by seed.
fn collect_runs(
    scenario: &Scenario,
    variant: &Variant,
    ran: impl Iterator<Item = Ran>,
) -> VariantRuns {
    let mut runs = VariantRuns {
        name: variant.name().into(),
        about: senders::about(variant),
        rows: Vec::new(),
        trace: unruffled_measure::Trace::default(),
        records: Vec::new(),
    };
    for (Ran { record, trace }, seed) in ran.zip(1..) {
        runs.rows.push(row(scenario, variant, seed, &record));
        if scenario.sources() > 1 {
            runs.records.push(record);
        }
        if let Some(trace) = trace {
            runs.trace = trace;
        }
    }
    runs
}
