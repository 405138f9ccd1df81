//! One run: a scenario, a variant, a seed.

use unruffled_measure::{End, FlowId, FlowRecord, LinkMeters, Meter, Monitor, RunRecord, Series};
use unruffled_path::ConfigError;
use unruffled_tcp::Variant;
use unruffled_units::Instant;

use crate::assembly::{self, Built};
use crate::record::RunRow;
use crate::scenario::Scenario;

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
    let (flows, _, monitor) =
        finish(scenario, assembly::assemble(scenario, variant, seed)?, monitor);
    let record = RunRecord { flows, ..RunRecord::default() };
    Ok((row(scenario, variant, seed, &record), monitor))
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
    let built = assembly::assemble(scenario, variant, seed)?;
    let meters = LinkMeters::new(&built.plan);
    let (flows, mut series, (meters, monitor)) = finish(scenario, built, (meters, monitor));
    let (links, queues) = meters.records(Instant::ZERO + scenario.duration);
    series.extend(queues);
    Ok((RunRecord { flows, links, series }, monitor))
}

/// Runs what was built to its end.
fn finish<M: Monitor>(
    scenario: &Scenario,
    built: Built,
    monitor: M,
) -> (Vec<FlowRecord>, Vec<Series>, M) {
    let Built { mut simulation, plan } = built;
    let mut monitors = (Meter::new(plan), monitor);
    let end = Instant::ZERO + scenario.duration;
    simulation.run(end, &mut monitors);
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
    (flows, series, monitor)
}

/// The row of a run: the sum over the flows of the variant that is compared, or over all if it sends
/// none of them.
pub fn row(scenario: &Scenario, variant: &Variant, seed: u64, record: &RunRecord) -> RunRow {
    let compared = |flow: &&FlowRecord| scenario.compared().any(|group| group.name == flow.group);
    let flows: Vec<&FlowRecord> = record.flows.iter().filter(compared).collect();
    RunRow::of(&scenario.name, variant.name(), seed, FlowRecord::sum(&flows))
}
