//! Sources of traffic over links, in virtual time.

mod ahead;
mod sources;
mod world;

use unruffled_measure::{End, FlowId, LinkId, LinkMeters, Meter, Monitor, Passage};
use unruffled_path::{ConfigError, Direction, LinkConfig};
use unruffled_tcp::{Connection, State, reset_for};
use unruffled_units::Instant;

use self::world::{Relay, World};
use crate::host::{Flow, SourceConfig, TrafficSource};
use crate::network::{Packet, Progress};
use crate::queue::FutureEvent;
use crate::route::{Chooser, Route};

/// A simulation. Time stands at the last event until [`Simulation::run`] moves it.
///
/// Links and sources are added first, then it runs. The flow of a source that opens one connection
/// has the source's number; the further connections of others have numbers above all of these.
///
/// ```
/// use unruffled_path::{Direction, LinkConfig};
/// use unruffled_sim::{App, End, Route, Simulation, SourceConfig};
/// use unruffled_tcp::{Config, Variant};
/// use unruffled_units::{Duration, Instant, Rate};
///
/// let mut simulation = Simulation::new();
/// let link = LinkConfig {
///     rate: Rate::from_bps(8e6),
///     delay: Duration::from_millis(20),
///     queue: Some(50),
///     ..LinkConfig::default()
/// };
/// let forward = simulation.add_link(&link, Direction::Forward, 1)?;
/// let reverse = simulation.add_link(&link, Direction::Reverse, 1)?;
/// let flow = simulation.add_source(SourceConfig {
///     variant: Variant::named("rr-ta").expect("is in the table"),
///     sender: Config::simulated(),
///     receiver: Config::simulated(),
///     header: 40,
///     sack_block: 8,
///     start: Instant::ZERO,
///     stop: None,
///     app: App::Bulk { bytes: Some(100_000) },
///     seed: 1,
///     forward: Route::from(vec![forward]),
///     reverse: Route::from(vec![reverse]),
/// })?;
/// // The monitor `()` ignores what happens; a `Meter` of the crate measure counts it.
/// simulation.run(Instant::from_millis(10_000), &mut ());
/// let receiver = simulation.connection(flow, End::Receiver).expect("is still there");
/// assert!(receiver.received() >= 100_000);
/// # Ok::<(), unruffled_path::ConfigError>(())
/// ```
#[derive(Debug, Default)]
pub struct Simulation {
    world: World,
    flows: Vec<Option<Flow>>,
    free: Vec<u32>,
    sealed: bool,
}

impl Simulation {
    /// More packets than this on their way at a time are [`too many`](Self::has_too_many): they take
    /// some gigabytes.
    pub const MOST_PACKETS: usize = 10_000_000;

    /// Nothing, at the origin of time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one direction of a link; `seed` feeds its random numbers.
    ///
    /// # Errors
    /// A configuration that makes no sense; the error names the field.
    ///
    /// # Panics
    /// If the simulation has run.
    pub fn add_link(
        &mut self,
        config: &LinkConfig,
        direction: Direction,
        seed: u64,
    ) -> Result<LinkId, ConfigError> {
        self.world.network.add_link(config, direction, seed)
    }

    /// Adds a source of traffic, and gives the number of its first flow, which is the source's own.
    ///
    /// # Errors
    /// An application whose distribution makes no sense.
    ///
    /// # Panics
    /// If the simulation has run: who feeds a link must be known before anything is sent. If a route has
    /// a path without links, or none whose weight is above zero and finite.
    pub fn add_source(&mut self, config: SourceConfig) -> Result<FlowId, ConfigError> {
        assert!(!self.sealed, "sources are added before the simulation runs");
        let World { network, sources, queue, .. } = &mut self.world;
        let number = sources.len() as u32;
        let mut chooser = |route: &Route, to: End| {
            let paths: Vec<_> =
                route.paths.iter().map(|(links, _)| network.add_path(links, to)).collect();
            Chooser::new(route, &paths)
        };
        let routes =
            [chooser(&config.forward, End::Receiver), chooser(&config.reverse, End::Sender)];
        let (start, stop) = (config.start, config.stop);
        sources.push(TrafficSource::new(config, routes)?);
        queue.plan(start, FutureEvent::Application(number));
        if let Some(stop) = stop {
            queue.plan(stop, FutureEvent::Stop(number));
        }
        self.flows.push(None);
        Ok(FlowId(number))
    }

    /// The time of the last event.
    pub fn now(&self) -> Instant {
        self.world.now
    }

    /// When the next event is due, if anything is left to happen.
    pub fn due(&self) -> Option<Instant> {
        self.world.queue.due()
    }

    /// One end of a flow, if it is there: not before its start, and not after its end if its source
    /// opens others.
    pub fn connection(&self, flow: FlowId, end: End) -> Option<&Connection> {
        let flow = self.flows.get(flow.0 as usize)?.as_ref()?;
        Some(&flow.ends[end.index()].connection)
    }

    /// Whether more packets than [`MOST_PACKETS`](Self::MOST_PACKETS) have been on their way at a time:
    /// datagrams that come faster than a link without a limit sends them fill any memory.
    pub fn has_too_many(&self) -> bool {
        self.world.network.most() > Self::MOST_PACKETS
    }

    /// Lets everything happen that is due by `until`, unless there are
    /// [`too many packets`](Self::has_too_many); says whether anything is left to happen.
    pub fn run(&mut self, until: Instant, monitor: &mut impl Monitor) -> bool {
        if !self.sealed {
            self.sealed = true;
            self.world.network.seal(monitor.watches_links());
        }
        while let Some((at, plan)) = self.world.queue.next(until) {
            debug_assert!(at >= self.world.now, "time runs backwards");
            self.world.now = at;
            if self.world.queue.is_fresh() {
                self.look_ahead();
            }
            match plan {
                FutureEvent::Line(link) => {
                    let World { network, queue, .. } = &mut self.world;
                    if let Some(packet) = network.pop_line(link, queue) {
                        self.arrive(packet, monitor);
                    }
                }
                FutureEvent::Packet(packet) => self.arrive(packet, monitor),
                FutureEvent::Held(packet) => self.resume(packet, monitor),
                FutureEvent::Timer(which) => self.on_timer(which, monitor),
                FutureEvent::Application(source) => {
                    self.go_on(source, monitor);
                    if self.has_too_many() {
                        return true;
                    }
                }
                FutureEvent::Stop(source) => self.stop(source, monitor),
            }
        }
        !self.world.queue.is_empty()
    }

    /// [`run`](Self::run) with these meters, and `monitor` after them: one function for all who
    /// measure, so that the loop is compiled here, as well as this crate is.
    pub fn measure(
        &mut self,
        until: Instant,
        meters: &mut (Meter, LinkMeters),
        monitor: Option<&mut (dyn Monitor + '_)>,
    ) -> bool {
        match monitor {
            Some(monitor) => self.run(until, &mut (meters, monitor)),
            None => self.run(until, meters),
        }
    }

    #[inline(always)]
    fn arrive(&mut self, id: u32, monitor: &mut impl Monitor) {
        let World { network, queue, now, .. } = &mut self.world;
        if network.is_on_last_step(id) {
            return self.deliver(id, monitor);
        }
        let flow = network.packet(id).flow;
        let progress = network.pass_on(id, *now, queue, monitor);
        self.count(flow, progress, monitor);
    }

    /// A link may send again a packet that it damaged.
    fn resume(&mut self, id: u32, monitor: &mut impl Monitor) {
        let World { network, queue, now, .. } = &mut self.world;
        let flow = network.packet(id).flow;
        let progress = network.resume(id, *now, queue, monitor);
        self.count(flow, progress, monitor);
    }

    /// What became of a packet of `flow` that was on its way.
    fn count(&mut self, flow: FlowId, progress: Progress, monitor: &mut impl Monitor) {
        if progress != Progress::Underway
            && let Some(open) = &mut self.flows[flow.0 as usize]
        {
            open.underway = open.underway - 1 + progress.copies();
            self.forget_if_over(flow, monitor);
        }
    }

    /// A packet has got to the end that it is for.
    #[inline(always)]
    fn deliver(&mut self, packet: u32, monitor: &mut impl Monitor) {
        // Compiled for each end, since what happens there has little in common: 2 % fewer instructions.
        match self.world.network.packet(packet).to {
            End::Sender => self.deliver_to_sender(packet, monitor),
            End::Receiver => self.deliver_to_receiver(packet, monitor),
        }
    }

    #[inline(never)]
    fn deliver_to_sender(&mut self, packet: u32, monitor: &mut impl Monitor) {
        self.deliver_to(End::Sender, packet, monitor);
    }

    #[inline(never)]
    fn deliver_to_receiver(&mut self, packet: u32, monitor: &mut impl Monitor) {
        self.deliver_to(End::Receiver, packet, monitor);
    }

    #[inline(always)]
    fn deliver_to(&mut self, to: End, packet: u32, monitor: &mut impl Monitor) {
        let now = self.world.now;
        let &Packet { flow: id, ref segment, .. } = self.world.network.packet(packet);
        let Some(flow) = &mut self.flows[id.0 as usize] else {
            monitor.datagram(id, Passage::In, now, segment.len);
            return self.world.network.release(packet);
        };
        flow.underway -= 1;
        monitor.segment(id, to, Passage::In, now, segment);
        let connection = &mut flow.ends[to.index()].connection;
        // Else a peer whose last acknowledgement was lost would send its FIN for ever.
        let reset = if connection.state() == State::Closed { reset_for(segment) } else { None };
        let mut relay = Relay { monitor: &mut *monitor, flow: id, end: to };
        connection.handle_segment(segment, now, &mut relay);
        self.world.network.release(packet);
        // Applications here read at once.
        connection.read(connection.readable());
        // An end that has received everything has nothing left to do.
        if connection.state() == State::CloseWait {
            connection.finish();
        }
        let complete = to == End::Receiver && connection.received() >= flow.expects;
        let passing = flow.passing;
        if let Some(reset) = &reset {
            self.world.reset(flow, (id, to), reset, monitor);
        }
        self.world.pump(flow, (id, to), monitor);
        if complete {
            self.complete(id, monitor);
        }
        if passing {
            self.forget_if_over(id, monitor);
        }
    }

    /// Gives up a flow that nothing will happen to any more, if its source opens others.
    fn forget_if_over(&mut self, id: FlowId, monitor: &mut impl Monitor) {
        let slot = id.0 as usize;
        let Some(flow) = self.flows[slot].take_if(|flow| flow.passing && flow.is_over()) else {
            return;
        };
        // The number may soon be another source's.
        let latest = &mut self.world.sources[flow.source as usize].flow;
        *latest = latest.filter(|latest| *latest != id.0);
        // The first numbers are the sources'.
        if slot >= self.world.sources.len() {
            self.free.push(id.0);
        }
        monitor.closed(id, self.world.now);
    }

    /// The flow and the end that a timer is for, by its number.
    fn end_of_timer(which: u32) -> (u32, End) {
        (which / 2, [End::Sender, End::Receiver][which as usize % 2])
    }

    fn on_timer(&mut self, which: u32, monitor: &mut impl Monitor) {
        let (flow, end) = Self::end_of_timer(which);
        let id = FlowId(flow);
        let Some(flow) = &mut self.flows[id.0 as usize] else { return };
        let (now, endpoint) = (self.world.now, flow.end(end));
        // An earlier event took this one's place.
        if endpoint.armed != Some(now) {
            return;
        }
        endpoint.armed = None;
        if endpoint.connection.poll_timeout().is_some_and(|due| due <= now) {
            let mut relay = Relay { monitor: &mut *monitor, flow: id, end };
            endpoint.connection.handle_timeout(now, &mut relay);
        }
        self.world.pump_apart(flow, (id, end), monitor);
        self.forget_if_over(id, monitor);
    }
}
