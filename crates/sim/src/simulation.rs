//! The simulation: sources of traffic over links, in virtual time.

mod ahead;
mod sources;
mod world;

use unruffled_measure::{
    End, FlowId, LinkId, LinkMeters, Meter, Monitor, PacketId, PacketStep, Passage,
};
use unruffled_path::{ConfigError, Direction, DropCause, Leaving, LinkConfig};
use unruffled_resequence::Config as Resequence;
use unruffled_tcp::{Connection, State, reset_for};
use unruffled_units::Instant;

use self::world::{Relay, World};
use crate::host::{Flow, SourceConfig, TrafficSource};
use crate::network::{Packet, Progress};
use crate::queue::FutureEvent;
use crate::route::{PathChooser, Route};

/// A simulation. Its time is that of the last event.
///
/// Links and sources are added before the first call of [`Simulation::run`]. The first flow of a source has
/// the source's number. Further flows have numbers above those of all sources.
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
    /// Maximum number of packets in the network at a time; see [`has_too_many`](Self::has_too_many). They take
    /// some gigabytes.
    pub const MOST_PACKETS: usize = 10_000_000;

    /// [`MOST_PACKETS`](Self::MOST_PACKETS), or fewer where addresses have 32 bits.
    pub const PACKET_LIMIT: usize = if usize::BITS < 64 { 2_000_000 } else { Self::MOST_PACKETS };

    /// Creates an empty simulation at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one direction of a link. `seed` initialises its random numbers.
    ///
    /// # Errors
    /// If the configuration is invalid; the error names the field.
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

    /// Adds a resequencer at the far end of a link. TCP packets that cross the link go on when it releases
    /// them, and datagrams at once. Each link learns by itself, from all flows in common.
    ///
    /// # Panics
    /// If the simulation has run.
    pub fn add_resequencer(&mut self, link: LinkId, bounds: Resequence) {
        self.world.network.add_resequencer(link, bounds);
    }

    /// Adds a tunnel over several links. Its packets are numbered where they enter any of the links `opens`, if
    /// their path leads over the link `closes` later. The anti-replay window at the far end of `closes` uses
    /// these numbers in place of those of that link.
    ///
    /// # Panics
    /// If the simulation has run.
    pub fn add_tunnel(&mut self, opens: &[LinkId], closes: LinkId) {
        self.world.network.add_tunnel(opens, closes);
    }

    /// Adds a source of traffic, and returns the number of its first flow, which is the source's own.
    ///
    /// # Errors
    /// If a distribution of the application is invalid.
    ///
    /// # Panics
    /// If the simulation has run, since all feeders of a link must be known before. If a route has a path
    /// without links, or no path whose weight is above zero and finite.
    pub fn add_source(&mut self, config: SourceConfig) -> Result<FlowId, ConfigError> {
        assert!(!self.sealed, "sources are added before the simulation runs");
        let World { network, sources, queue, .. } = &mut self.world;
        let number = sources.len() as u32;
        let mut chooser = |route: &Route, to: End| {
            let paths = route.paths.iter().map(|(links, _)| network.add_path(links, to));
            PathChooser::new(route, paths.collect())
        };
        let routes =
            [chooser(&config.forward, End::Receiver), chooser(&config.reverse, End::Sender)];
        let start = config.start;
        let stop = config.stop;
        sources.push(TrafficSource::new(config, routes)?);
        queue.plan(start, FutureEvent::Application(number));
        if let Some(stop) = stop {
            queue.plan(stop, FutureEvent::Stop(number));
        }
        self.flows.push(None);
        Ok(FlowId(number))
    }

    /// Returns the time of the last event.
    pub fn now(&self) -> Instant {
        self.world.now
    }

    /// Returns the time of the next event, if any.
    pub fn due(&self) -> Option<Instant> {
        self.world.queue.due()
    }

    /// Returns one end of a flow. `None` before the flow starts, and, if its source opens further flows, after
    /// it ends.
    pub fn connection(&self, flow: FlowId, end: End) -> Option<&Connection> {
        let flow = self.flows.get(flow.0 as usize)?.as_ref()?;
        Some(&flow.ends[end.index()].connection)
    }

    /// Returns whether more packets than [`PACKET_LIMIT`](Self::PACKET_LIMIT) were in the network at a time.
    /// Datagrams that arrive faster than a link without a queue limit sends them would fill any memory.
    pub fn has_too_many(&self) -> bool {
        self.world.network.most() > Self::PACKET_LIMIT
    }

    /// Processes all events up to `until`, and stops early at
    /// [`too many packets`](Self::has_too_many). Returns whether events are left.
    pub fn run(&mut self, until: Instant, monitor: &mut impl Monitor) -> bool {
        if !self.sealed {
            self.sealed = true;
            self.world.network.seal(|link| monitor.watches(link));
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
                FutureEvent::Gateway(link) => self.end_waits(LinkId(link), monitor),
                FutureEvent::Timer(which) => self.on_timer(which, monitor),
                FutureEvent::Application(source) => {
                    self.act(source, monitor);
                    if self.has_too_many() {
                        return true;
                    }
                }
                FutureEvent::Stop(source) => self.stop(source, monitor),
            }
        }
        !self.world.queue.is_empty()
    }

    /// Calls [`run`](Self::run) with these meters, and with `monitor` after them. All measurements use this
    /// function, so that the event loop is compiled with this crate's optimisations.
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
        if self.world.network.is_delivered(id) {
            return self.deliver(id, monitor);
        }
        if self.world.network.meets_gateway(id) {
            return self.enter_gateway(id, monitor);
        }
        self.pass_on(id, monitor);
    }

    /// Sends the packet on to its next link.
    #[inline(always)]
    fn pass_on(&mut self, id: u32, monitor: &mut impl Monitor) {
        let World { network, queue, now, .. } = &mut self.world;
        let flow = network.packet(id).flow;
        let progress = network.pass_on(id, *now, queue, monitor);
        self.count(flow, progress, monitor);
    }

    /// Handles a packet that has arrived at a gateway.
    #[inline(never)]
    fn enter_gateway(&mut self, id: u32, monitor: &mut impl Monitor) {
        let World { network, queue, now, .. } = &mut self.world;
        let link = network.link_of(id);
        if network.enter_exit(id, link, *now, queue) {
            self.leave_exit(link, monitor);
        } else {
            self.enter_resequencer(id, link, monitor);
        }
    }

    /// Handles all packets that leave the exit at the far end of `link`.
    fn leave_exit(&mut self, link: LinkId, monitor: &mut impl Monitor) {
        while let Some(leaving) = self.world.network.poll_exit(link) {
            match leaving {
                Leaving::Passes(id) => self.enter_resequencer(id, link, monitor),
                Leaving::Dropped(id, cause) => self.reject(id, link, cause, monitor),
            }
        }
    }

    /// Handles a packet that the exit at the far end of `link` drops.
    fn reject(&mut self, id: u32, link: LinkId, cause: DropCause, monitor: &mut impl Monitor) {
        let World { network, now, .. } = &mut self.world;
        let &Packet { flow, ref segment, .. } = network.packet(id);
        monitor.stepped(PacketId(id), *now, PacketStep::Dropped(cause));
        monitor.rejected(link, *now, cause);
        monitor.dropped(flow, *now, cause, segment);
        network.release(id);
        self.count(flow, Progress::Dropped, monitor);
    }

    /// Passes a packet that may leave `link` to the resequencer at its far end, if there is one.
    fn enter_resequencer(&mut self, id: u32, link: LinkId, monitor: &mut impl Monitor) {
        let World { network, queue, now, .. } = &mut self.world;
        // A datagram belongs to no connection.
        let is_tcp = self.flows[network.packet(id).flow.0 as usize].is_some();
        if is_tcp && network.has_resequencer(link) {
            monitor.stepped(PacketId(id), *now, PacketStep::Resequenced);
        }
        if is_tcp && network.enter_resequencer(id, link, *now, queue) {
            self.release(link, monitor);
        } else {
            self.leave_gateway(id, monitor);
        }
    }

    /// Ends the waits in the gateway at the far end of `link` that are over.
    #[inline(never)]
    fn end_waits(&mut self, link: LinkId, monitor: &mut impl Monitor) {
        let World { network, queue, now, .. } = &mut self.world;
        network.end_waits(link, *now, queue);
        self.leave_exit(link, monitor);
        self.release(link, monitor);
    }

    /// Sends on all packets that the resequencer at the far end of `link` releases.
    fn release(&mut self, link: LinkId, monitor: &mut impl Monitor) {
        while let Some(id) = self.world.network.poll_release(link) {
            self.leave_gateway(id, monitor);
        }
    }

    /// Handles a packet that goes on from a gateway.
    fn leave_gateway(&mut self, id: u32, monitor: &mut impl Monitor) {
        if self.world.network.is_on_last_step(id) {
            self.deliver(id, monitor);
        } else {
            self.pass_on(id, monitor);
        }
    }

    /// Handles a damaged packet that its link may send again.
    fn resume(&mut self, id: u32, monitor: &mut impl Monitor) {
        let World { network, queue, now, .. } = &mut self.world;
        let flow = network.packet(id).flow;
        let progress = network.resume(id, *now, queue, monitor);
        self.count(flow, progress, monitor);
    }

    /// Updates the number of packets of `flow` in the network.
    fn count(&mut self, flow: FlowId, progress: Progress, monitor: &mut impl Monitor) {
        if progress != Progress::Underway
            && let Some(open) = &mut self.flows[flow.0 as usize]
        {
            open.underway = open.underway - 1 + progress.copies();
            self.remove_if_over(flow, monitor);
        }
    }

    /// Handles a packet that has arrived at its destination.
    #[inline(always)]
    fn deliver(&mut self, packet: u32, monitor: &mut impl Monitor) {
        // Compiled separately for each end, since their code differs: 2 % fewer instructions.
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
        monitor.stepped(PacketId(packet), now, PacketStep::Delivered);
        let &Packet { flow: id, ref segment, .. } = self.world.network.packet(packet);
        let Some(flow) = &mut self.flows[id.0 as usize] else {
            monitor.datagram(id, Passage::In, now, segment.len);
            return self.world.network.release(packet);
        };
        flow.underway -= 1;
        monitor.segment(id, to, Passage::In, now, segment);
        let connection = &mut flow.ends[to.index()].connection;
        // A peer whose last acknowledgement was lost would otherwise send its FIN forever.
        let reset = if connection.state() == State::Closed { reset_for(segment) } else { None };
        let mut relay = Relay { monitor: &mut *monitor, flow: id, end: to };
        connection.handle_segment(segment, now, &mut relay);
        self.world.network.release(packet);
        // Applications read all data at once.
        connection.read(connection.readable());
        // An end that has received everything closes.
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
            self.remove_if_over(id, monitor);
        }
    }

    /// Removes a flow that has ended, if its source opens further flows.
    fn remove_if_over(&mut self, id: FlowId, monitor: &mut impl Monitor) {
        let slot = id.0 as usize;
        let Some(flow) = self.flows[slot].take_if(|flow| flow.passing && flow.is_over()) else {
            return;
        };
        // The number may be reused by another source.
        let latest = &mut self.world.sources[flow.source as usize].flow;
        *latest = latest.filter(|latest| *latest != id.0);
        // The first numbers are reserved for the sources.
        if slot >= self.world.sources.len() {
            self.free.push(id.0);
        }
        monitor.closed(id, self.world.now);
    }

    /// Returns the flow and the end of a timer from its number.
    fn end_of_timer(which: u32) -> (u32, End) {
        (which / 2, [End::Sender, End::Receiver][which as usize % 2])
    }

    fn on_timer(&mut self, which: u32, monitor: &mut impl Monitor) {
        let (flow, end) = Self::end_of_timer(which);
        let id = FlowId(flow);
        let Some(flow) = &mut self.flows[id.0 as usize] else { return };
        let now = self.world.now;
        let endpoint = flow.end(end);
        // An earlier event has replaced this one.
        if endpoint.armed != Some(now) {
            return;
        }
        endpoint.armed = None;
        if endpoint.connection.poll_timeout().is_some_and(|due| due <= now) {
            let mut relay = Relay { monitor: &mut *monitor, flow: id, end };
            endpoint.connection.handle_timeout(now, &mut relay);
        }
        self.world.pump_outlined(flow, (id, end), monitor);
        self.remove_if_over(id, monitor);
    }
}
