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
    for (i, hop) in scenario.hops.iter().enumerate() {
        // Each link has its own random numbers, whatever happens on the others.
        let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(i as u64);
        route.push(simulation.add_link(&hop.link, Direction::Forward, seed)?);
        back.push(simulation.add_link(&hop.link, Direction::Reverse, seed)?);
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
    let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
    let row = Row {
        scenario: scenario.name.clone(),
        variant: variant.name().to_owned(),
        seed,
        duration_s: seconds,
        delivered_segments: meter.delivered_bytes.div_ceil(u64::from(scenario.sender.mss)),
        goodput_bps: if seconds > 0.0 { meter.delivered_bytes as f64 * 8.0 / seconds } else { 0.0 },
        sent_segments: meter.sent,
        retransmits: meter.retransmits,
        fast_retransmits: meter.fast_retransmits,
        false_fast_retransmits: meter.false_fast_retransmits,
        timeouts: meter.timeouts,
        false_timeouts: meter.false_timeouts,
        dupthresh_mean: meter.dupthresh_mean(),
        loss_rate: share(meter.dropped, meter.sent),
        out_of_order_rate: share(meter.out_of_order, meter.arrived),
        reordering_events: meter.reordering_events,
        cwnd_mean: meter.cwnd_mean(),
        loss_probes: meter.loss_probes,
        fa_ratio: simulation.connection(flow, End::Sender).fa_ratio(),
    };
    Ok((row, monitor))
}
