//! Assembly of a scenario's simulation: links, routes and sources, each with a seed of its own.

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_measure::{LinkId, MeasuredSource, Measurement};
use unruffled_path::{ConfigError, Direction};
use unruffled_sim::{App, Route, Simulation, SourceConfig, Topology};
use unruffled_tcp::{Config, EcnMode, Variant};
use unruffled_units::Instant;

use unruffled_scenario::{Purpose, Scenario, Traffic, stream};

/// A simulation that is ready to run, and the plan of its measurement.
pub(crate) struct Built {
    pub(crate) simulation: Simulation,
    pub(crate) plan: Measurement,
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
        for tunnel in scenario.network.tunnels() {
            let id = |index: usize| LinkId(index as u32);
            let opens: Vec<LinkId> = tunnel.opens.into_iter().map(id).collect();
            simulation.add_tunnel(&opens, id(tunnel.closes));
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
        Ok(group.routes_of_source(&self.topology, (into, out_of), self.seed, source))
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
