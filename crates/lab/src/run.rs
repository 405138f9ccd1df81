//! One run: a scenario, a variant, a seed.

use unruffled_path::{ConfigError, Direction};
use unruffled_sim::{End, FlowConfig, Monitor, Simulation};
use unruffled_tcp::{Config, Variant};
use unruffled_units::Instant;

use crate::meter::Meter;
use crate::record::Row;
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
) -> Result<(Row, M), ConfigError> {
    let mut simulation = Simulation::new();
    let mut route = Vec::new();
    let mut back = Vec::new();
    for (link, seed) in scenario.links(seed) {
        route.push(simulation.add_link(link, Direction::Forward, seed)?);
        back.push(simulation.add_link(link, Direction::Reverse, seed)?);
    }
    back.reverse();
    let flow = simulation.add_flow(FlowConfig {
        variant: variant.clone(),
        // A stream of random numbers beside those of the links.
        sender: Config { seed: !seed, ..scenario.sender.clone() },
        receiver: scenario.receiver.clone(),
        header: scenario.header,
        start: Instant::ZERO,
        bytes: scenario.bytes,
        forward: route,
        reverse: back,
    });
    let mut monitors = (Meter::new(scenario.warmup), monitor);
    let end = Instant::ZERO + scenario.duration;
    simulation.run(end, &mut monitors);
    let (mut meter, monitor) = monitors;
    // A transfer that is complete is measured up to its last octet.
    let received = simulation.connection(flow, End::Receiver).received();
    let complete = scenario.bytes.is_some_and(|bytes| received >= bytes);
    let end = if complete { meter.finished } else { end };
    meter.finish(end);
    let seconds = end.since(Instant::ZERO + scenario.warmup).as_secs_f64();
    let fa_ratio = simulation.connection(flow, End::Sender).fa_ratio();
    let row = meter.row(scenario, variant.name(), seed, seconds);
    let row = Row { fa_ratio, ..row };
    Ok((row, monitor))
}
