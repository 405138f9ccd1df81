//! One run: a scenario, a variant, a seed.

use unruffled_measure::{End, FlowId, FlowRecord, LinkMeters, Meter, Monitor, RunRecord};
use unruffled_sim::Simulation;
use unruffled_tcp::Variant;
use unruffled_units::{Duration, Instant};

use crate::assembly::{self, Built};
use crate::cancel::{CancellationToken, RunError};
use crate::row::RunRow;
use unruffled_scenario::Scenario;

/// The virtual time between two checks for cancellation.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Runs `variant` over the scenario with `seed`, and returns the row of results. `monitor` receives
/// every event of the run.
///
/// # Errors
/// [`RunError::Cancelled`], or a link's configuration that is invalid; loaded scenarios have none.
pub fn run(
    scenario: &Scenario,
    variant: &Variant,
    seed: u64,
    monitor: Option<&mut dyn Monitor>,
    cancel: &CancellationToken,
) -> Result<RunRow, RunError> {
    let built = assembly::assemble(scenario, variant, seed)?;
    let record = finish(scenario, built, LinkMeters::default(), monitor, cancel)?;
    Ok(row(scenario, variant, seed, &record))
}

/// Runs `variant` over the scenario with `seed`, and returns the counts and time series of each flow and
/// link. `monitor` receives every event of the run.
///
/// # Errors
/// [`RunError::Cancelled`], or a link's configuration that is invalid; loaded scenarios have none.
pub fn record(
    scenario: &Scenario,
    variant: &Variant,
    seed: u64,
    monitor: Option<&mut dyn Monitor>,
    cancel: &CancellationToken,
) -> Result<RunRecord, RunError> {
    let built = assembly::assemble(scenario, variant, seed)?;
    let links = LinkMeters::new(&built.plan);
    finish(scenario, built, links, monitor, cancel)
}

/// Runs the simulation to its end and returns its records.
fn finish(
    scenario: &Scenario,
    built: Built,
    links: LinkMeters,
    mut monitor: Option<&mut dyn Monitor>,
    cancel: &CancellationToken,
) -> Result<RunRecord, RunError> {
    let Built { mut simulation, plan } = built;
    let mut meters = (Meter::new(plan), links);
    let over = Instant::ZERO + scenario.duration;
    let mut until = Instant::ZERO;
    while until < over {
        // The next check comes after the next event, even if that is far ahead.
        let next = simulation.due().unwrap_or(until);
        until = (until.max(next) + CHECK_INTERVAL).min(over);
        // Without further events, the rest of a long duration is skipped.
        if !simulation.measure(until, &mut meters, monitor.as_deref_mut()) {
            break;
        }
        if simulation.has_too_many() {
            return Err(RunError::TooManyPackets { max: Simulation::MOST_PACKETS });
        }
        cancel.check()?;
    }
    let (meter, links) = meters;
    // The measured time of a complete transfer ends with its last octet.
    let end = scenario.bytes().and_then(|_| meter.finished(0)).unwrap_or(over);
    let (mut flows, mut series) = meter.records(end);
    for (flow, number) in flows.iter_mut().zip(0..) {
        let sender = simulation.connection(FlowId(number), End::Sender);
        flow.means.fa_ratio = sender.and_then(|sender| sender.variable("fa_ratio", end));
    }
    let (links, queues) = links.records(over);
    series.extend(queues);
    Ok(RunRecord { flows, links, series })
}

/// Returns the row of a run: the sum over the flows of the compared variant, or over all flows if
/// there are none.
pub fn row(scenario: &Scenario, variant: &Variant, seed: u64, record: &RunRecord) -> RunRow {
    row_of(scenario, variant.name(), seed, record)
}

/// Returns the row of a run of the variant with that full name.
pub(crate) fn row_of(scenario: &Scenario, variant: &str, seed: u64, record: &RunRecord) -> RunRow {
    let compared = |flow: &&FlowRecord| scenario.compared().any(|group| group.name == flow.group);
    let flows: Vec<&FlowRecord> = record.flows.iter().filter(compared).collect();
    RunRow::of(&scenario.name, variant, seed, FlowRecord::sum(&flows))
}

/// Estimates the cost of a run: the number of bits that its narrowest link can carry.
pub fn cost(scenario: &Scenario) -> f64 {
    let rates = scenario.network.links.iter().filter_map(|link| link.link.rate);
    let narrowest = rates.map(|rate| rate.bps()).fold(f64::INFINITY, f64::min);
    scenario.duration.as_secs_f64() * if narrowest.is_finite() { narrowest } else { 1e7 }
}
