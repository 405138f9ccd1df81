//! Sources of traffic over links, in virtual time.

use unruffled_measure::{End, FlowId, LinkId, Monitor, Passage};
use unruffled_path::{ConfigError, Direction, LinkConfig};
use unruffled_tcp::{Connection, Event, Observer, Segment, State};
use unruffled_units::Instant;

use crate::app::Want;
use crate::host::{ENDLESS, Flow, Source, SourceConfig};
use crate::network::{Network, Packet, Progress};
use crate::queue::{Plan, Queue};
use crate::route::{Chooser, Route};

/// Segments that an endless application writes at a time if it is to stop some day.
const CHUNK: u64 = 16;

/// A simulation. Time stands at the last event until [`Simulation::run`] moves it.
///
/// Links and sources are added first, then it runs. The flow of a source that opens one connection
/// has the source's number; the further connections of others have numbers above all of these.
#[derive(Debug, Default)]
pub struct Simulation {
    network: Network,
    sources: Vec<Source>,
    flows: Vec<Option<Flow>>,
    free: Vec<u32>,
    queue: Queue,
    now: Instant,
    sealed: bool,
}

/// Passes a connection's events on to the monitor.
struct Relay<'a, M> {
    monitor: &'a mut M,
    flow: FlowId,
    end: End,
}

impl<M: Monitor> Observer for Relay<'_, M> {
    fn on_event(&mut self, now: Instant, event: &Event) {
        self.monitor.event(self.flow, self.end, now, event);
    }
}

impl Simulation {
    /// Nothing, at the origin of time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one direction of a link; `seed` feeds its random numbers.
    ///
    /// # Errors
    /// A configuration that makes no sense; the error names the field.
    pub fn add_link(
        &mut self,
        config: &LinkConfig,
        direction: Direction,
        seed: u64,
    ) -> Result<LinkId, ConfigError> {
        self.network.add_link(config, direction, seed)
    }

    /// Adds a source of traffic, and gives the number of its first flow, which is the source's own.
    ///
    /// # Errors
    /// An application whose distribution makes no sense.
    ///
    /// # Panics
    /// If the simulation has run: who feeds a link must be known before anything is sent.
    pub fn add_source(&mut self, config: SourceConfig) -> Result<FlowId, ConfigError> {
        assert!(!self.sealed, "sources are added before the simulation runs");
        let number = self.sources.len() as u32;
        let network = &mut self.network;
        let mut chooser = |route: &Route, to: End| {
            let paths: Vec<_> =
                route.paths.iter().map(|(links, _)| network.add_path(links, to)).collect();
            Chooser::new(route, &paths)
        };
        let routes =
            [chooser(&config.forward, End::Receiver), chooser(&config.reverse, End::Sender)];
        self.queue.plan(config.start, Plan::Application(number));
        if let Some(stop) = config.stop {
            self.queue.plan(stop, Plan::Stop(number));
        }
        self.sources.push(Source::new(config, routes)?);
        self.flows.push(None);
        Ok(FlowId(number))
    }

    /// The time of the last event.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// One end of a flow, if it is there: not before its start, and not after its end if its source
    /// opens others.
    pub fn connection(&self, flow: FlowId, end: End) -> Option<&Connection> {
        let flow = self.flows.get(flow.0 as usize)?.as_ref()?;
        Some(&flow.ends[end.index()].connection)
    }

    /// Lets everything happen that is due by `until`; says whether anything is left to happen.
    pub fn run(&mut self, until: Instant, monitor: &mut impl Monitor) -> bool {
        if !self.sealed {
            self.sealed = true;
            self.network.seal();
        }
        while let Some((at, plan)) = self.queue.next(until) {
            debug_assert!(at >= self.now, "time runs backwards");
            self.now = at;
            match plan {
                Plan::Line(link) => {
                    if let Some(packet) = self.network.pop_line(link, &mut self.queue) {
                        self.arrive(packet, monitor);
                    }
                }
                Plan::Packet(packet) => self.arrive(packet, monitor),
                Plan::Held(packet) => self.resume(packet, monitor),
                Plan::Timer(which) => self.on_timer(which, monitor),
                Plan::Application(source) => self.go_on(source, monitor),
                Plan::Stop(source) => self.stop(source, monitor),
            }
        }
        !self.queue.is_empty()
    }

    fn arrive(&mut self, id: u32, monitor: &mut impl Monitor) {
        let flow = self.network.packet(id).flow;
        match self.network.arrive(id, self.now, &mut self.queue, monitor) {
            Ok(progress) => self.count(flow, progress, monitor),
            Err(packet) => {
                if let Some(open) = &mut self.flows[flow.0 as usize] {
                    open.underway -= 1;
                }
                self.deliver(&packet, monitor);
            }
        }
    }

    /// A link may send again a packet that it damaged.
    fn resume(&mut self, id: u32, monitor: &mut impl Monitor) {
        let flow = self.network.packet(id).flow;
        let progress = self.network.resume(id, self.now, &mut self.queue, monitor);
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
    fn deliver(&mut self, packet: &Packet, monitor: &mut impl Monitor) {
        let &Packet { flow: id, to, ref segment, .. } = packet;
        let Some(flow) = &mut self.flows[id.0 as usize] else {
            let octets = segment.len;
            return monitor.datagram(id, Passage::In, self.now, octets);
        };
        monitor.segment(id, to, Passage::In, self.now, segment);
        let connection = &mut flow.end(to).connection;
        let mut relay = Relay { monitor, flow: id, end: to };
        connection.handle_segment(segment, self.now, &mut relay);
        // Applications here read at once.
        connection.read(connection.readable());
        // Who has received everything has nothing left to do.
        if connection.state() == State::CloseWait {
            connection.finish();
        }
        let complete = to == End::Receiver && connection.received() >= flow.expects;
        self.pump(id, to, monitor);
        if complete {
            self.complete(id, monitor);
        }
        self.forget_if_over(id, monitor);
    }

    /// All that the present transfer of a flow had to send has been received.
    fn complete(&mut self, id: FlowId, monitor: &mut impl Monitor) {
        let Some(flow) = &mut self.flows[id.0 as usize] else { return };
        flow.expects = u64::MAX;
        monitor.transferred(id);
        let number = flow.source;
        let source = &mut self.sources[number as usize];
        if let Some(pause) = source.app.pause().filter(|_| source.active) {
            self.queue.plan(self.now + pause, Plan::Application(number));
        }
    }

    /// Gives up a flow that nothing will happen to any more, if its source opens others.
    #[inline]
    fn forget_if_over(&mut self, id: FlowId, monitor: &mut impl Monitor) {
        let slot = id.0 as usize;
        if self.flows[slot].as_ref().is_some_and(|flow| flow.passing && flow.is_over()) {
            self.flows[slot] = None;
            // The first numbers are the sources'.
            if slot >= self.sources.len() {
                self.free.push(id.0);
            }
            monitor.closed(id, self.now);
        }
    }

    fn on_timer(&mut self, which: u32, monitor: &mut impl Monitor) {
        let (id, end) = (FlowId(which / 2), [End::Sender, End::Receiver][which as usize % 2]);
        let Some(flow) = &mut self.flows[id.0 as usize] else { return };
        let endpoint = flow.end(end);
        // An earlier event took this one's place.
        if endpoint.armed != Some(self.now) {
            return;
        }
        endpoint.armed = None;
        if endpoint.connection.poll_timeout().is_some_and(|due| due <= self.now) {
            let mut relay = Relay { monitor, flow: id, end };
            endpoint.connection.handle_timeout(self.now, &mut relay);
        }
        self.pump(id, end, monitor);
        self.forget_if_over(id, monitor);
    }

    /// The application of a source does what it wants to do now.
    fn go_on(&mut self, number: u32, monitor: &mut impl Monitor) {
        let source = &mut self.sources[number as usize];
        if !source.active {
            return;
        }
        match source.app.next() {
            Want::Transfer(bytes) => {
                let id = self.open(number, monitor);
                let Some(flow) = &mut self.flows[id.0 as usize] else { return };
                match bytes {
                    Some(bytes) => {
                        flow.write(bytes);
                        flow.expects = bytes;
                        flow.end(End::Sender).connection.finish();
                    }
                    None if flow.endless => {}
                    None => flow.write(ENDLESS),
                }
                self.pump(id, End::Sender, monitor);
            }
            Want::More(bytes) => self.send_more(number, bytes, monitor),
            Want::Request(bytes, next) => {
                self.queue.plan(self.now + next, Plan::Application(number));
                self.send_more(number, bytes, monitor);
            }
            Want::Datagram(octets, interval) => {
                let id = FlowId(number);
                if source.flow.is_none() {
                    source.flow = Some(number);
                    monitor.opened(id, number, self.now);
                }
                self.queue.plan(self.now + interval, Plan::Application(number));
                let segment = Segment { len: octets, ..Segment::default() };
                let (size, path) = (octets + source.config.header, source.routes[0].next());
                monitor.datagram(id, Passage::Out, self.now, octets);
                let packet = Packet::new(segment, id, End::Receiver, size, path);
                self.network.send(packet, self.now, &mut self.queue, monitor);
            }
        }
    }

    /// Sends on the connection of a source, which is opened if there is none.
    fn send_more(&mut self, number: u32, bytes: u64, monitor: &mut impl Monitor) {
        let id = match self.sources[number as usize].flow {
            Some(flow) => FlowId(flow),
            None => self.open(number, monitor),
        };
        let Some(flow) = &mut self.flows[id.0 as usize] else { return };
        flow.write(bytes);
        flow.expects = flow.written;
        self.pump(id, End::Sender, monitor);
    }

    /// Opens a connection of a source; nothing is sent yet.
    fn open(&mut self, number: u32, monitor: &mut impl Monitor) -> FlowId {
        let source = &mut self.sources[number as usize];
        let flow = source.connect(number);
        let slot = if self.flows[number as usize].is_none() {
            number
        } else if let Some(free) = self.free.pop() {
            free
        } else {
            self.flows.push(None);
            self.flows.len() as u32 - 1
        };
        source.flow = Some(slot);
        self.flows[slot as usize] = Some(flow);
        monitor.opened(FlowId(slot), number, self.now);
        FlowId(slot)
    }

    /// The application of a source begins nothing more.
    fn stop(&mut self, number: u32, monitor: &mut impl Monitor) {
        let source = &mut self.sources[number as usize];
        source.active = false;
        let Some(id) = source.flow.map(FlowId) else { return };
        let Some(flow) = &mut self.flows[id.0 as usize] else { return };
        flow.endless = false;
        flow.end(End::Sender).connection.finish();
        self.pump(id, End::Sender, monitor);
    }

    /// Sends all that the connection wants to send, and plans its next timer.
    fn pump(&mut self, id: FlowId, end: End, monitor: &mut impl Monitor) {
        let now = self.now;
        let Some(flow) = &mut self.flows[id.0 as usize] else { return };
        let source = &mut self.sources[flow.source as usize];
        loop {
            let connection = &mut flow.ends[end.index()].connection;
            let mut relay = Relay { monitor: &mut *monitor, flow: id, end };
            let Some(segment) = connection.poll_transmit(now, &mut relay) else {
                if flow.endless && end == End::Sender && connection.unsent() == 0 {
                    flow.write(CHUNK * u64::from(source.config.sender.mss));
                    continue;
                }
                break;
            };
            let segment: Segment = segment;
            monitor.segment(id, end, Passage::Out, now, &segment);
            let size = segment.len + source.config.header;
            let path = source.routes[end.index()].next();
            let packet = Packet::new(segment, id, end.other(), size, path);
            let progress = self.network.send(packet, now, &mut self.queue, monitor);
            flow.underway += progress.copies();
        }
        // A planned event that comes too early is planned anew when it comes; one that would come
        // too late is overtaken by a new one.
        let endpoint = &mut flow.ends[end.index()];
        if let Some(due) = endpoint.connection.poll_timeout()
            && endpoint.armed.is_none_or(|armed| due < armed)
        {
            let due = due.max(now);
            endpoint.armed = Some(due);
            self.queue.plan(due, Plan::Timer(id.0 * 2 + end.index() as u32));
        }
    }
}
