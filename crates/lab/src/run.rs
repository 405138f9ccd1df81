//! One run: a scenario, a variant, a seed.

use unruffled_measure::{End, FlowId, FlowRecord, LinkMeters, Meter, Monitor, RunRecord, Series};
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
    let record = record_flows(scenario, variant, seed, monitor, cancel)?;
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

/// Runs as [`record`] does, and returns the counts and time series of each flow, without those of links.
///
/// Packets cross links that nothing counts in one step, so a sweep takes a fifth to a quarter less time.
///
/// # Errors
/// [`RunError::Cancelled`], or a link's configuration that is invalid; loaded scenarios have none.
pub fn record_flows(
    scenario: &Scenario,
    variant: &Variant,
    seed: u64,
    monitor: Option<&mut dyn Monitor>,
    cancel: &CancellationToken,
) -> Result<RunRecord, RunError> {
    let built = assembly::assemble(scenario, variant, seed)?;
    finish(scenario, built, LinkMeters::default(), monitor, cancel)
}

/// Runs the simulation to its end and returns its records.
fn finish(
    scenario: &Scenario,
    built: Built,
    links: LinkMeters,
    mut monitor: Option<&mut dyn Monitor>,
    cancel: &CancellationToken,
) -> Result<RunRecord, RunError> {
    let mut running = Running::with(scenario, built, links);
    while !running.is_over() {
        running.advance(monitor.as_deref_mut(), cancel)?;
    }
    Ok(running.into_record())
}

/// A run in progress, in spans of virtual time.
///
/// # Examples
/// ```
/// use unruffled_lab::run::{Running, run};
/// use unruffled_lab::{Scenario, cancel};
///
/// let scenario = Scenario::load("half-late", &["duration=2 s".to_owned()])?;
/// let sack = scenario.senders(&["sack".to_owned()], "here")?.remove(0);
/// let mut running = Running::new(&scenario, &sack, 1)?;
/// while !running.is_over() {
///     running.advance(None, cancel::never())?;
/// }
/// let whole = run(&scenario, &sack, 1, None, cancel::never())?;
/// assert_eq!(running.into_record().flows[0].goodput_bps, whole.flow.goodput_bps);
/// # Ok::<(), unruffled_lab::Error>(())
/// ```
#[derive(Debug)]
pub struct Running {
    simulation: Simulation,
    /// Number of sources of traffic.
    sources: u32,
    meters: (Meter, LinkMeters),
    /// The end of the scenario's duration.
    end: Instant,
    /// Whether the measured time ends with the last octet of a transfer.
    transfer: bool,
    until: Instant,
    /// Whether events are left.
    eventful: bool,
}

impl Running {
    /// Begins a run of `variant` over the scenario with `seed`. Its record has no links.
    ///
    /// # Errors
    /// A link's configuration that is invalid; loaded scenarios have none.
    pub fn new(scenario: &Scenario, variant: &Variant, seed: u64) -> Result<Self, RunError> {
        let built = assembly::assemble(scenario, variant, seed)?;
        Ok(Self::with(scenario, built, LinkMeters::default()))
    }

    /// Begins a run as [`new`](Self::new) does. Its record has links, and the monitor receives their
    /// crossings.
    ///
    /// # Errors
    /// A link's configuration that is invalid; loaded scenarios have none.
    pub fn with_links(scenario: &Scenario, variant: &Variant, seed: u64) -> Result<Self, RunError> {
        let built = assembly::assemble(scenario, variant, seed)?;
        let links = LinkMeters::new(&built.plan);
        Ok(Self::with(scenario, built, links))
    }

    fn with(scenario: &Scenario, Built { simulation, plan }: Built, links: LinkMeters) -> Self {
        Self {
            simulation,
            sources: plan.sources.len() as u32,
            meters: (Meter::new(plan), links),
            end: Instant::ZERO + scenario.duration,
            transfer: scenario.bytes().is_some(),
            until: Instant::ZERO,
            eventful: true,
        }
    }

    /// Returns whether the run has reached its end.
    pub fn is_over(&self) -> bool {
        self.until >= self.end || !self.eventful
    }

    /// Returns the virtual time that the run has reached.
    pub fn now(&self) -> Instant {
        if self.is_over() { self.end } else { self.until }
    }

    /// Returns the simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Runs for the time between two checks for cancellation, or up to the next event if that comes later.
    /// A run that is over stays as it is.
    ///
    /// # Errors
    /// [`RunError::Cancelled`], or too many packets.
    pub fn advance(
        &mut self,
        monitor: Option<&mut (dyn Monitor + '_)>,
        cancel: &CancellationToken,
    ) -> Result<(), RunError> {
        self.advance_by(CHECK_INTERVAL, monitor, cancel)
    }

    /// Runs as [`advance`](Self::advance) does, for `span`.
    ///
    /// # Errors
    /// [`RunError::Cancelled`], or too many packets.
    pub fn advance_by(
        &mut self,
        span: Duration,
        monitor: Option<&mut (dyn Monitor + '_)>,
        cancel: &CancellationToken,
    ) -> Result<(), RunError> {
        if self.is_over() {
            return Ok(());
        }
        // The next check comes after the next event, even if that is far ahead.
        let next = self.simulation.due().unwrap_or(self.until);
        self.until = (self.until.max(next) + span).min(self.end);
        // Without further events, the rest of a long duration is skipped.
        self.eventful = self.simulation.measure(self.until, &mut self.meters, monitor);
        if !self.eventful {
            return Ok(());
        }
        if self.simulation.has_too_many() {
            return Err(RunError::TooManyPackets { max: Simulation::PACKET_LIMIT });
        }
        cancel.check()
    }

    /// Returns the record of the time up to now, without links and time series.
    pub fn record_so_far(&self) -> RunRecord {
        let meter = self.meters.0.clone();
        let until = self.measured_until();
        let (flows, _) = flows(meter, until, self.ratios(until));
        RunRecord { flows, ..RunRecord::default() }
    }

    /// Returns the end of the measured time so far. That of a complete transfer ends with its last octet.
    fn measured_until(&self) -> Instant {
        let finished = if self.transfer { self.meters.0.finished(0) } else { None };
        finished.unwrap_or(self.now())
    }

    /// Returns the `fa_ratio` at `until` of each source's sender, if it has it.
    fn ratios(&self, until: Instant) -> Vec<Option<f64>> {
        let connection = |number| self.simulation.connection(FlowId(number), End::Sender);
        let ratio = |number| connection(number)?.variable("fa_ratio", until);
        (0..self.sources).map(ratio).collect()
    }

    /// Returns the record of a run that is over.
    pub fn into_record(self) -> RunRecord {
        let until = self.measured_until();
        let ratios = self.ratios(until);
        let Self { simulation, meters: (meter, links), end, .. } = self;
        // Of a million flows, either takes a gigabyte or more.
        drop(simulation);
        let (flows, mut series) = flows(meter, until, ratios);
        let (links, queues) = links.records(end);
        series.extend(queues);
        RunRecord { flows, links, series }
    }
}

/// Returns the records and time series of the flows up to `until`, with the `fa_ratio` of each sender.
fn flows(meter: Meter, until: Instant, ratios: Vec<Option<f64>>) -> (Vec<FlowRecord>, Vec<Series>) {
    let (mut flows, series) = meter.records(until);
    for (flow, ratio) in flows.iter_mut().zip(ratios) {
        flow.means.fa_ratio = ratio;
    }
    (flows, series)
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
