//! One run: a scenario, a variant, a seed.

use std::sync::atomic::{AtomicBool, Ordering};

use unruffled_measure::{End, FlowId, FlowRecord, LinkMeters, Meter, Monitor, RunRecord, Series};
use unruffled_path::ConfigError;
use unruffled_tcp::Variant;
use unruffled_units::{Duration, Instant};

use crate::assembly::{self, Built};
use crate::record::RunRow;
use crate::scenario::Scenario;

/// For runs that nobody stops.
static NEVER: AtomicBool = AtomicBool::new(false);

/// How much virtual time passes between looks at whether to stop.
const SLICE: Duration = Duration::from_millis(100);

/// What is left of a run: none if it was stopped.
type Left<T> = Result<Option<T>, ConfigError>;

/// Runs `variant` over the scenario with `seed`; `monitor` is told of everything besides.
///
/// # Errors
/// A link's configuration that makes no sense; loaded scenarios have none.
pub fn run<M: Monitor>(
    scenario: &Scenario,
    variant: &Variant,
    seed: u64,
    monitor: M,
) -> Result<(RunRow, M), ConfigError> {
    run_until(&NEVER, scenario, variant, seed, monitor).map(|ran| ran.expect("nobody stops it"))
}

/// The same as [`run`], unless `stop` is set before it ends: then none.
///
/// # Errors
/// A link's configuration that makes no sense; loaded scenarios have none.
pub fn run_until<M: Monitor>(
    stop: &AtomicBool,
    scenario: &Scenario,
    variant: &Variant,
    seed: u64,
    monitor: M,
) -> Left<(RunRow, M)> {
    let built = assembly::assemble(scenario, variant, seed)?;
    Ok(finish(stop, scenario, built, monitor).map(|(flows, _, monitor)| {
        let record = RunRecord { flows, ..RunRecord::default() };
        (row(scenario, variant, seed, &record), monitor)
    }))
}

/// The same as [`run`], with all that was counted of flows and links.
///
/// # Errors
/// A link's configuration that makes no sense; loaded scenarios have none.
pub fn record<M: Monitor>(
    scenario: &Scenario,
    variant: &Variant,
    seed: u64,
    monitor: M,
) -> Result<(RunRecord, M), ConfigError> {
    record_until(&NEVER, scenario, variant, seed, monitor).map(|ran| ran.expect("nobody stops it"))
}

/// The same as [`record`], unless `stop` is set before it ends: then none.
///
/// # Errors
/// A link's configuration that makes no sense; loaded scenarios have none.
pub fn record_until<M: Monitor>(
    stop: &AtomicBool,
    scenario: &Scenario,
    variant: &Variant,
    seed: u64,
    monitor: M,
) -> Left<(RunRecord, M)> {
    let built = assembly::assemble(scenario, variant, seed)?;
    let meters = LinkMeters::new(&built.plan);
    let finished = finish(stop, scenario, built, (meters, monitor));
    Ok(finished.map(|(flows, mut series, (meters, monitor))| {
        let (links, queues) = meters.records(Instant::ZERO + scenario.duration);
        series.extend(queues);
        (RunRecord { flows, links, series }, monitor)
    }))
}

/// Runs what was built to its end, or until it is stopped.
fn finish<M: Monitor>(
    stop: &AtomicBool,
    scenario: &Scenario,
    built: Built,
    monitor: M,
) -> Option<(Vec<FlowRecord>, Vec<Series>, M)> {
    let Built { mut simulation, plan } = built;
    let mut monitors = (Meter::new(plan), monitor);
    let end = Instant::ZERO + scenario.duration;
    let mut until = Instant::ZERO;
    while until < end {
        until = (until + SLICE).min(end);
        simulation.run(until, &mut monitors);
        if stop.load(Ordering::Relaxed) {
            return None;
        }
    }
    let (meter, monitor) = monitors;
    // A transfer that is complete is measured up to its last octet.
    let complete = scenario.bytes().is_some_and(|bytes| {
        let receiver = simulation.connection(FlowId(0), End::Receiver);
        receiver.is_some_and(|receiver| receiver.received() >= bytes)
    });
    let end = if complete { meter.finished(0) } else { end };
    let (mut flows, series) = meter.records(end);
    for (flow, number) in flows.iter_mut().zip(0..) {
        let sender = simulation.connection(FlowId(number), End::Sender);
        flow.means.fa_ratio = sender.and_then(|sender| sender.variable("fa_ratio", end));
    }
    Some((flows, series, monitor))
}

/// The row of a run: the sum over the flows of the variant that is compared, or over all if it sends
/// none of them.
pub fn row(scenario: &Scenario, variant: &Variant, seed: u64, record: &RunRecord) -> RunRow {
    row_of(scenario, variant.name(), seed, record)
}

/// The same, of the variant of that full name.
pub(crate) fn row_of(scenario: &Scenario, variant: &str, seed: u64, record: &RunRecord) -> RunRow {
    let compared = |flow: &&FlowRecord| scenario.compared().any(|group| group.name == flow.group);
    let flows: Vec<&FlowRecord> = record.flows.iter().filter(compared).collect();
    RunRow::of(&scenario.name, variant, seed, FlowRecord::sum(&flows))
}
