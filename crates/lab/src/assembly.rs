//! Assembly of a scenario's simulation: links, routes and sources, each with a seed of its own.

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_measure::{LinkId, MeasuredSource, Measurement};
use unruffled_path::{ConfigError, Direction};
use unruffled_sim::{App, Route, Simulation, SourceConfig, Topology};
use unruffled_tcp::{Config, EcnMode, Variant};
use unruffled_units::Instant;

use unruffled_scenario::{Scenario, Traffic};

/// A simulation that is ready to run, and the plan of its measurement.
pub(crate) struct Built {
    pub(crate) simulation: Simulation,
    pub(crate) plan: Measurement,
}

/// The purpose of a stream of random numbers.
#[derive(Clone, Copy)]
enum Purpose {
    /// The access link of one source.
    Access = 1,
    /// The start times of a group.
    Arrivals = 2,
    /// The sizes and pauses of a source's application.
    Application = 3,
    /// The choices among the ways of a source.
    Spread = 4,
}

/// Returns the seed of the stream with this purpose and number in a run with `seed`. It uses
/// splitmix64, so that neighbouring seeds are unrelated.
fn stream(seed: u64, purpose: Purpose, number: u64) -> u64 {
    let mut z = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add((purpose as u64) << 56)
        .wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The state of the assembly.
struct Builder<'a> {
    scenario: &'a Scenario,
    seed: u64,
    simulation: Simulation,
    topology: Topology,
    plan: Measurement,
    /// The number of access links so far.
    copies: u64,
}

/// Builds the simulation and the measurement plan for a run of `variant` with `seed`.
pub(crate) fn assemble(
    scenario: &Scenario,
    variant: &Variant,
    seed: u64,
) -> Result<Built, ConfigError> {
    let mut builder = Builder::new(scenario, seed)?;
    for (group, number) in scenario.traffic.iter().zip(0..) {
        builder.add(group, number, variant)?;
    }
    Ok(Built { simulation: builder.simulation, plan: builder.plan })
}

impl<'a> Builder<'a> {
    fn new(scenario: &'a Scenario, seed: u64) -> Result<Self, ConfigError> {
        let end = Instant::ZERO + scenario.duration;
        let mut builder = Self {
            scenario,
            seed,
            simulation: Simulation::new(),
            topology: scenario.network.topology(),
            plan: Measurement {
                measured: (Instant::ZERO + scenario.warmup, end),
                series: scenario.recording.series.clone(),
                interval: scenario.recording.interval,
                deliveries: scenario.recording.deliveries,
                exits: scenario.network.may_drop_at_exits(),
                ..Measurement::default()
            },
            copies: 0,
        };
        let Self { simulation, plan, .. } = &mut builder;
        for (link, seed) in scenario.network.links.iter().zip(scenario.link_seeds(seed)) {
            for &direction in link.directions() {
                let id = simulation.add_link(&link.link, direction, seed)?;
                if direction == Direction::Forward
                    && let Some(bounds) = link.resequence
                {
                    simulation.add_resequencer(id, bounds);
                }
                plan.links.push((link.name_of(direction), link.link.rate));
            }
        }
        Ok(builder)
    }

    /// Adds the sources of a group.
    fn add(&mut self, group: &Traffic, number: u64, variant: &Variant) -> Result<(), ConfigError> {
        let arrivals = stream(self.seed, Purpose::Arrivals, number);
        let mut arrivals = Xoshiro256PlusPlus::seed_from_u64(arrivals);
        let fixed = group.sender.as_deref().map(|name| self.scenario.fixed_sender(name));
        let variant = fixed.as_ref().unwrap_or(variant);
        for index in 0..group.count {
            let start = group.arrivals.start(index, &mut arrivals);
            let source = self.source(group, index, variant, start)?;
            self.simulation.add_source(source)?;
        }
        Ok(())
    }

    fn source(
        &mut self,
        group: &Traffic,
        index: u32,
        variant: &Variant,
        start: Instant,
    ) -> Result<SourceConfig, ConfigError> {
        let scenario = self.scenario;
        let source = self.plan.sources.len() as u64;
        let app = group.app.clone();
        self.plan.sources.push(MeasuredSource {
            group: group.name.clone(),
            number: index + 1,
            sender: match app {
                App::Datagrams { .. } => "udp".to_owned(),
                _ => variant.name().to_owned(),
            },
            mss: match app {
                App::Datagrams { size, .. } => size,
                _ => scenario.sender.mss,
            },
            start,
            ecn: scenario.sender.ecn == EcnMode::Request && !matches!(app, App::Datagrams { .. }),
        });
        let (forward, reverse) = self.routes(group, source)?;
        let receive_buffer = match group.window {
            Some(window) => window * u64::from(scenario.sender.mss),
            None => scenario.receiver.receive_buffer,
        };
        Ok(SourceConfig {
            variant: variant.clone(),
            // Differs from the seeds of the links.
            sender: Config {
                seed: !self.seed.wrapping_add(source << 32),
                ..scenario.sender.clone()
            },
            receiver: Config { receive_buffer, ..scenario.receiver.clone() },
            header: scenario.header,
            sack_block: scenario.sack_block,
            start,
            stop: group.stop,
            app,
            seed: stream(self.seed, Purpose::Application, source),
            forward,
            reverse,
        })
    }

    /// Returns the routes of a source's data and of its acknowledgements.
    fn routes(&mut self, group: &Traffic, source: u64) -> Result<(Route, Route), ConfigError> {
        let into = self.own_link(group.access.0.as_deref())?;
        let out_of = self.own_link(group.access.1.as_deref())?;
        let ways = group.routes(&self.topology);
        let mut forward = Vec::with_capacity(ways.len());
        let mut reverse = Vec::with_capacity(ways.len());
        for (there, back, weight) in ways {
            let there = into.iter().map(|l| l.0).chain(there).chain(out_of.iter().map(|l| l.0));
            forward.push((there.collect(), weight));
            let back = out_of.iter().map(|l| l.1).chain(back).chain(into.iter().map(|l| l.1));
            reverse.push((back.collect(), weight));
        }
        if !group.spread_acks {
            reverse.truncate(1);
            reverse[0].1 = 1.0;
        }
        let seed = stream(self.seed, Purpose::Spread, source);
        let route = |paths, seed| Route { paths, spread: group.spread, seed };
        Ok((route(forward, seed), route(reverse, !seed)))
    }

    /// Adds a copy of an access link for one source, and returns its two directions. They are not
    /// measured.
    fn own_link(&mut self, name: Option<&str>) -> Result<Option<(LinkId, LinkId)>, ConfigError> {
        let Some(hop) = name.and_then(|name| self.scenario.network.access(name)) else {
            return Ok(None);
        };
        let seed = stream(self.seed, Purpose::Access, self.copies);
        self.copies += 1;
        let there = self.simulation.add_link(&hop.link, Direction::Forward, seed)?;
        let back = self.simulation.add_link(&hop.link, Direction::Reverse, seed)?;
        if let Some(bounds) = hop.resequence {
            self.simulation.add_resequencer(there, bounds);
        }
        Ok(Some((there, back)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_purpose_and_number() {
        let all = [
            stream(1, Purpose::Access, 0),
            stream(2, Purpose::Access, 0),
            stream(1, Purpose::Arrivals, 0),
            stream(1, Purpose::Access, 1),
            stream(1, Purpose::Application, 0),
            stream(1, Purpose::Spread, 0),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b), "stream {i}");
        }
    }
}
