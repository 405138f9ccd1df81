//! Flows over links in virtual time.

use unruffled_path::{ConfigError, Direction, LinkConfig};
use unruffled_tcp::{Config, Connection, Event, Observer, Segment, State, Variant};
use unruffled_units::Instant;

use crate::network::{Fate, FlowId, LinkId, Network};
use crate::queue::{Plan, Queue};
use crate::{End, Monitor, Passage};

/// A transfer from one end to the other.
#[derive(Clone, Debug)]
pub struct FlowConfig {
    /// Who sends.
    pub variant: Variant,
    /// The sending end's settings.
    pub sender: Config,
    /// The receiving end's settings.
    pub receiver: Config,
    /// Octets that each segment has on the wire beside its payload.
    pub header: u32,
    /// When the sender connects.
    pub start: Instant,
    /// Octets to send before closing; none sends for ever.
    pub bytes: Option<u64>,
    /// Links that data crosses, in order.
    pub forward: Vec<LinkId>,
    /// Links that acknowledgements cross, in order.
    pub reverse: Vec<LinkId>,
}

#[derive(Debug)]
struct Endpoint {
    connection: Connection,
    /// The timer event that is planned, if one is.
    armed: Option<Instant>,
}

#[derive(Debug)]
struct Flow {
    ends: [Endpoint; 2],
    routes: [Vec<LinkId>; 2],
    header: u32,
}

/// A simulation. Time stands at the last event until [`Simulation::run`] moves it.
#[derive(Debug, Default)]
pub struct Simulation {
    network: Network,
    flows: Vec<Flow>,
    queue: Queue,
    now: Instant,
}

impl End {
    const fn index(self) -> usize {
        self as usize
    }

    const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
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
    pub fn add_link(
        &mut self,
        config: &LinkConfig,
        direction: Direction,
        seed: u64,
    ) -> Result<LinkId, ConfigError> {
        self.network.add_link(config, direction, seed)
    }

    /// Adds a flow. Both routes must have at least one link.
    pub fn add_flow(&mut self, config: FlowConfig) -> FlowId {
        let id = FlowId(self.flows.len() as u32);
        self.network.add_route(&config.forward);
        self.network.add_route(&config.reverse);
        let mut sender = Connection::connect(config.sender, &config.variant);
        sender.write(config.bytes.unwrap_or(u64::MAX / 2));
        if config.bytes.is_some() {
            sender.finish();
        }
        let receiver = Connection::listen(config.receiver, &config.variant);
        let endpoint = |connection| Endpoint { connection, armed: None };
        self.flows.push(Flow {
            ends: [endpoint(sender), endpoint(receiver)],
            routes: [config.forward, config.reverse],
            header: config.header,
        });
        self.queue.plan(config.start, Plan::Start(id.0));
        id
    }

    /// The time of the last event.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// One end of a flow.
    pub fn connection(&self, flow: FlowId, end: End) -> &Connection {
        &self.flows[flow.0 as usize].ends[end.index()].connection
    }

    /// Lets everything happen that is due by `until`; says whether anything is left to happen.
    pub fn run(&mut self, until: Instant, monitor: &mut impl Monitor) -> bool {
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
                Plan::Start(flow) => self.pump(FlowId(flow), End::Sender, monitor),
            }
        }
        !self.queue.is_empty()
    }

    fn arrive(&mut self, id: u32, monitor: &mut impl Monitor) {
        let &crate::network::Packet { flow, to, segment, .. } = self.network.packet(id);
        let route = &self.flows[flow.0 as usize].routes[to.other().index()];
        match self.network.arrive(id, route, self.now, &mut self.queue) {
            Ok(Fate::OnItsWay) => {}
            Ok(Fate::Dropped(cause)) => monitor.dropped(flow, self.now, cause, &segment),
            Err(packet) => {
                monitor.segment(flow, to, Passage::In, self.now, &packet.segment);
                let connection = &mut self.flows[flow.0 as usize].ends[to.index()].connection;
                let mut relay = Relay { monitor, flow, end: to };
                connection.handle_segment(&packet.segment, self.now, &mut relay);
                // Applications here read at once.
                connection.read(connection.readable());
                // Who has received everything has nothing left to do.
                if connection.state() == State::CloseWait {
                    connection.finish();
                }
                self.pump(flow, to, monitor);
            }
        }
    }

    fn resume(&mut self, id: u32, monitor: &mut impl Monitor) {
        let &crate::network::Packet { flow, to, segment, .. } = self.network.packet(id);
        let route = &self.flows[flow.0 as usize].routes[to.other().index()];
        if let Fate::Dropped(cause) = self.network.resume(id, route, &mut self.queue) {
            monitor.dropped(flow, self.now, cause, &segment);
        }
    }

    fn on_timer(&mut self, which: u32, monitor: &mut impl Monitor) {
        let (flow, end) = (FlowId(which / 2), [End::Sender, End::Receiver][which as usize % 2]);
        let endpoint = &mut self.flows[flow.0 as usize].ends[end.index()];
        // An earlier event took this one's place.
        if endpoint.armed != Some(self.now) {
            return;
        }
        endpoint.armed = None;
        if endpoint.connection.poll_timeout().is_some_and(|due| due <= self.now) {
            let mut relay = Relay { monitor, flow, end };
            endpoint.connection.handle_timeout(self.now, &mut relay);
        }
        self.pump(flow, end, monitor);
    }

    /// Sends all that the connection wants to send, and plans its next timer.
    fn pump(&mut self, id: FlowId, end: End, monitor: &mut impl Monitor) {
        let now = self.now;
        let flow = &mut self.flows[id.0 as usize];
        let endpoint = &mut flow.ends[end.index()];
        loop {
            let mut relay = Relay { monitor: &mut *monitor, flow: id, end };
            let Some(segment) = endpoint.connection.poll_transmit(now, &mut relay) else { break };
            let segment: Segment = segment;
            monitor.segment(id, end, Passage::Out, now, &segment);
            let size = segment.len + flow.header;
            let route = &flow.routes[end.index()];
            let to = (id, end.other());
            if let Fate::Dropped(cause) =
                self.network.send(segment, to, size, route, now, &mut self.queue)
            {
                monitor.dropped(id, now, cause, &segment);
            }
        }
        // A planned event that comes too early is planned anew when it comes; one that would come
        // too late is overtaken by a new one.
        if let Some(due) = endpoint.connection.poll_timeout()
            && endpoint.armed.is_none_or(|armed| due < armed)
        {
            let due = due.max(now);
            endpoint.armed = Some(due);
            self.queue.plan(due, Plan::Timer(id.0 * 2 + end.index() as u32));
        }
    }
}
