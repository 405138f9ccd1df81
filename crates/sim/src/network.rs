//! Links, and the packets on them.
//!
//! A packet needs an event only where packets can overtake each other or arrive from several links. If a
//! link has a single feeder and that feeder keeps order, packets reach the link in the order in which they
//! were offered to the feeder. Such a run of links is crossed in one step, with the same outcome as hop by
//! hop. The monitor receives events of a run with their own times, which may be later than the current
//! time. A run ends at a gateway.

mod ahead;
mod gateway;
mod plan;
mod tunnels;

use unruffled_measure::{Crossing, End, FlowId, LinkId, Monitor, PacketId, PacketStep};
use unruffled_path::{Direction, DropCause, Link, Outcome, Packet as Offer, Ticket, Verdict};
use unruffled_tcp::Segment;
use unruffled_units::Instant;

use self::gateway::Gateway;
use self::plan::{Blueprint, Feeder};
use self::tunnels::Tunnels;
use crate::queue::{FutureEvent, Queue};

/// A path, identified by the index of its first step among the steps of all paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathId(pub(crate) u32);

/// Id that stands for no packet.
const NONE: u32 = u32::MAX;

/// A segment in the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    pub(crate) flow: FlowId,
    /// Destination.
    pub(crate) to: End,
    /// Size on the wire, in octets.
    pub(crate) size: u32,
    /// Index of its current step among the steps of all paths.
    step: u32,
    /// Next packet in the line of its link.
    behind: u32,
    /// Time at which it reaches the far end of its link, if it is in line.
    arrival: Instant,
}

/// Destination, size and path of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub(crate) flow: FlowId,
    /// Destination.
    pub(crate) to: End,
    /// Size on the wire, in octets.
    pub(crate) size: u32,
    pub(crate) path: PathId,
}

impl Packet {
    fn way(&self) -> Direction {
        match self.to {
            End::Receiver => Direction::Forward,
            End::Sender => Direction::Reverse,
        }
    }
}

/// A link and the packets on it.
#[derive(Debug)]
struct LinkState {
    link: Link,
    /// First and last packet of the line: the packets on this link that keep their order.
    line: (u32, u32),
    /// Damaged packets that the link will send again.
    held: Vec<(u32, Ticket)>,
    /// Whether a monitor watches crossings.
    watched: bool,
}

/// A link of a path.
#[derive(Clone, Copy, Debug)]
struct Step {
    link: LinkId,
    /// Whether the next link receives packets from this one only, and in order.
    runs_on: bool,
    /// Whether packets reach their destination at its far end.
    delivers: bool,
    /// Whether packets reach a gateway at its far end.
    gateway: bool,
    /// Whether this gateway has an exit.
    exit: bool,
    /// Whether a tunnel begins in front of the link.
    opens: bool,
    /// Whether it is the last link of its path.
    last: bool,
    /// Whether the link only delays packets, and nothing else happens to them at either end of it.
    delays: bool,
    /// Whether the link only queues packets, and nothing else happens to them at either end of it.
    queues: bool,
    /// Length of the run of plain links from this one on, which all but the last run on. A plain link has
    /// only a queue, and no monitor watches its crossings.
    plain: u32,
}

/// Result of a packet's run over plain links.
enum Run {
    /// The packet arrives at the far end of this link at this instant.
    Arrives(LinkId, Instant),
    /// A queue dropped the packet at this instant.
    Dropped(Instant),
    /// The packet reaches a link that is not plain at this instant.
    Meets(Instant),
}

/// Result of offering a packet to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The packet is in the network.
    Underway,
    /// The packet and a copy are in the network.
    Doubled,
    /// The packet was dropped.
    Dropped,
}

impl Progress {
    /// Returns the number of packets in the network instead of one.
    pub(crate) const fn copies(self) -> u32 {
        match self {
            Self::Underway => 1,
            Self::Doubled => 2,
            Self::Dropped => 0,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Network {
    blueprints: Vec<Blueprint>,
    feeders: Vec<Feeder>,
    /// Empty until the network is sealed.
    hops: Vec<LinkState>,
    /// The gateways at the far ends of the links.
    gateways: Vec<Option<Box<Gateway>>>,
    /// For each packet that has an exit ahead, its number on this link, and the number of packets for which
    /// it waits there.
    numbers: Vec<(u64, u32)>,
    tunnels: Tunnels,
    /// Steps of all paths, one path after another.
    steps: Vec<Step>,
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Network {
    /// Sends a packet from an endpoint.
    #[inline(always)]
    pub(crate) fn send(
        &mut self,
        segment: &Segment,
        label: Label,
        now: Instant,
        queue: &mut Queue,
        monitor: &mut impl Monitor,
    ) -> Progress {
        let Label { flow, to, size, path: PathId(step) } = label;
        let (step, run) = self.run(step, size, now);
        let (segment, behind, arrival) = (*segment, NONE, Instant::ZERO);
        match run {
            Run::Arrives(link, arrival) => {
                let id = self.keep(Packet { segment, flow, to, size, step, behind, arrival });
                self.line_up(id, link, arrival, queue);
                Progress::Underway
            }
            Run::Dropped(at) => {
                monitor.dropped(flow, at, DropCause::Queue, &segment);
                Progress::Dropped
            }
            Run::Meets(at) => {
                let id = self.keep(Packet { segment, flow, to, size, step, behind, arrival });
                self.offer(id, at, queue, monitor)
            }
        }
    }

    /// Moves a packet of `size` octets that reaches the link of `step` at `at` over plain links, as far as
    /// they run on. It costs a quarter of [`Self::offer`].
    #[inline(always)]
    fn run(&mut self, step: u32, size: u32, mut at: Instant) -> (u32, Run) {
        let ahead = &self.steps[step as usize..];
        let links = &ahead[..ahead[0].plain as usize];
        let mut rest = links.iter();
        let behind = step + links.len() as u32;
        while let Some(&Step { link, .. }) = rest.next() {
            match self.hops[link.0 as usize].link.carry_quickly(size, at) {
                Some(arrival) => at = arrival,
                None => {
                    let left = rest.len() as u32 + 1;
                    return self.run_slowly(behind - left, size, at);
                }
            }
        }
        match links.last() {
            Some(&Step { link, runs_on: false, .. }) => (behind - 1, Run::Arrives(link, at)),
            _ => (behind, Run::Meets(at)),
        }
    }

    /// [`Self::run`] for a full queue, or for a packet of another size than the previous one.
    #[inline(never)]
    fn run_slowly(&mut self, mut step: u32, size: u32, mut at: Instant) -> (u32, Run) {
        for &Step { link, runs_on, plain, .. } in &self.steps[step as usize..] {
            if plain == 0 {
                break;
            }
            match self.hops[link.0 as usize].link.carry(size, at) {
                Some(arrival) if runs_on => at = arrival,
                Some(arrival) => return (step, Run::Arrives(link, arrival)),
                None => return (step, Run::Dropped(at)),
            }
            step += 1;
        }
        (step, Run::Meets(at))
    }

    #[inline]
    fn keep(&mut self, packet: Packet) -> u32 {
        let id = match self.free.pop() {
            Some(id) => {
                self.packets[id as usize] = packet;
                id
            }
            None => {
                self.packets.push(packet);
                self.packets.len() as u32 - 1
            }
        };
        if !self.tunnels.is_empty() {
            self.tunnels.forget(id);
        }
        id
    }

    /// Offers the packet to the link of its step, and to the links after it as far as they run on.
    #[inline(never)]
    fn offer(
        &mut self,
        id: u32,
        now: Instant,
        queue: &mut Queue,
        monitor: &mut impl Monitor,
    ) -> Progress {
        let packet = &self.packets[id as usize];
        let way = packet.way();
        let &Packet { size, step, .. } = packet;
        let Step { link, delays, queues, .. } = self.steps[step as usize];
        if queues {
            return self.offer_to_queue(id, now, queue, monitor);
        }
        if delays
            && let Some((arrival, detoured)) =
                self.hops[link.0 as usize].link.delay_quickly(size, way, now)
        {
            self.arrive_at(id, link, arrival, detoured, queue);
            return Progress::Underway;
        }
        self.offer_any(id, now, queue, monitor)
    }

    /// [`Self::offer`] for a link that only queues.
    #[inline(never)]
    fn offer_to_queue(
        &mut self,
        id: u32,
        now: Instant,
        queue: &mut Queue,
        monitor: &mut impl Monitor,
    ) -> Progress {
        let packet = &self.packets[id as usize];
        let &Packet { ref segment, flow, size, step, .. } = packet;
        let ect = segment.ecn.is_ect();
        let offer = Offer { bytes: size, direction: packet.way(), ect, flow: flow.0 };
        let Step { link, runs_on, .. } = self.steps[step as usize];
        let Some((arrival, marked)) = self.hops[link.0 as usize].link.queue(offer, now) else {
            self.free.push(id);
            monitor.dropped(flow, now, DropCause::Queue, segment);
            return Progress::Dropped;
        };
        if marked {
            self.mark(id, now, monitor);
        }
        let (step, run) = match runs_on {
            true => self.run(step + 1, size, arrival),
            false => (step, Run::Arrives(link, arrival)),
        };
        self.end_run(id, step, run, queue, monitor)
    }

    /// [`Self::offer`] for any link.
    #[inline(never)]
    fn offer_any(
        &mut self,
        id: u32,
        now: Instant,
        queue: &mut Queue,
        monitor: &mut impl Monitor,
    ) -> Progress {
        let packet = &self.packets[id as usize];
        let way = packet.way();
        let &Packet { size, mut step, .. } = packet;
        // A mark changes it, but not whether the packet is ECN-capable.
        let ect = packet.segment.ecn.is_ect();
        let flow = packet.flow.0;
        let mut at = now;
        loop {
            let Step { link: on, runs_on, exit, opens, .. } = self.steps[step as usize];
            if opens {
                self.tunnels.enter(id, step);
            }
            let hop = &mut self.hops[on.0 as usize];
            let offer = Offer { bytes: size, direction: way, ect, flow };
            let outcome = hop.link.offer_packet(offer, at);
            if hop.watched {
                self.report_crossing(id, on, at, false, &outcome, monitor);
            }
            if outcome.marked {
                self.mark(id, at, monitor);
            }
            match outcome.verdict {
                Verdict::Deliver(arrival) if runs_on => match self.run(step + 1, size, arrival) {
                    (next, Run::Meets(meets)) => (step, at) = (next, meets),
                    (last, run) => return self.end_run(id, last, run, queue, monitor),
                },
                _ => {
                    self.packets[id as usize].step = step;
                    if exit {
                        self.number(id, on, &outcome, at);
                    }
                    return self.travel(id, on, at, outcome, queue, monitor);
                }
            }
        }
    }

    /// Reports to the monitor that a packet crosses `on`, which it reached at `at` or which sends it again.
    #[inline(never)]
    fn report_crossing(
        &self,
        id: u32,
        on: LinkId,
        at: Instant,
        resent: bool,
        outcome: &Outcome,
        monitor: &mut impl Monitor,
    ) {
        let Packet { flow, size, .. } = self.packets[id as usize];
        let backlog = self.hops[on.0 as usize].link.backlog();
        let packet = PacketId(id);
        monitor.crossed(on, &Crossing { packet, flow, at, size, backlog, resent, outcome });
    }

    /// Marks a packet with CE, as the queue at which it arrived at `at` has decided.
    #[cold]
    fn mark(&mut self, id: u32, at: Instant, monitor: &mut impl Monitor) {
        let Packet { flow, segment, .. } = &mut self.packets[id as usize];
        segment.ecn = segment.ecn.marked();
        monitor.marked(*flow, at, segment);
    }

    /// Plans the next event of a packet after a run of links that ended at `step`.
    #[inline(always)]
    fn end_run(
        &mut self,
        id: u32,
        step: u32,
        run: Run,
        queue: &mut Queue,
        monitor: &mut impl Monitor,
    ) -> Progress {
        let packet = &mut self.packets[id as usize];
        packet.step = step;
        match run {
            Run::Arrives(link, arrival) => {
                packet.arrival = arrival;
                packet.behind = NONE;
                self.line_up(id, link, arrival, queue);
                Progress::Underway
            }
            Run::Dropped(at) => {
                monitor.dropped(packet.flow, at, DropCause::Queue, &packet.segment);
                self.free.push(id);
                Progress::Dropped
            }
            Run::Meets(at) => self.offer(id, at, queue, monitor),
        }
    }

    /// Plans the next event of a packet after `link`, which it reached at `at`.
    #[inline(always)]
    fn travel(
        &mut self,
        id: u32,
        link: LinkId,
        at: Instant,
        outcome: Outcome,
        queue: &mut Queue,
        monitor: &mut impl Monitor,
    ) -> Progress {
        let arrival = match outcome.verdict {
            Verdict::Drop(cause) => {
                self.free.push(id);
                let Packet { flow, segment, .. } = &self.packets[id as usize];
                monitor.dropped(*flow, at, cause, segment);
                return Progress::Dropped;
            }
            Verdict::Held { until, ticket } => {
                self.hops[link.0 as usize].held.push((id, ticket));
                queue.plan(until, FutureEvent::Held(id));
                return Progress::Underway;
            }
            Verdict::Deliver(arrival) => arrival,
        };
        self.arrive_at(id, link, arrival, outcome.detoured, queue);
        if !outcome.duplicate {
            return Progress::Underway;
        }
        // The copy is in line behind the packet, so that it does not overtake others with the same arrival.
        let copy = self.keep(self.packets[id as usize]);
        monitor.stepped(PacketId(copy), at, PacketStep::CopyOf(PacketId(id)));
        if self.steps[self.packets[id as usize].step as usize].exit {
            self.number_copy(copy, id);
        }
        if !self.tunnels.is_empty() {
            self.tunnels.copy(copy, id);
        }
        self.arrive_at(copy, link, arrival, outcome.detoured, queue);
        Progress::Doubled
    }

    /// Plans the arrival of the packet at the far end of `link`, in line unless it takes a detour.
    #[inline(always)]
    fn arrive_at(
        &mut self,
        id: u32,
        link: LinkId,
        arrival: Instant,
        detoured: bool,
        queue: &mut Queue,
    ) {
        if detoured {
            return queue.plan(arrival, FutureEvent::Packet(id));
        }
        let packet = &mut self.packets[id as usize];
        packet.arrival = arrival;
        packet.behind = NONE;
        self.line_up(id, link, arrival, queue);
    }

    /// Appends the packet to the line of `link`.
    #[inline(always)]
    fn line_up(&mut self, id: u32, link: LinkId, arrival: Instant, queue: &mut Queue) {
        let (first, last) = &mut self.hops[link.0 as usize].line;
        let before = std::mem::replace(last, id);
        if before == NONE {
            *first = id;
            queue.plan(arrival, FutureEvent::Line(link.0));
        } else {
            self.packets[before as usize].behind = id;
        }
    }

    /// Lets the link send a damaged packet again, or drop it.
    pub(crate) fn resume(
        &mut self,
        id: u32,
        now: Instant,
        queue: &mut Queue,
        monitor: &mut impl Monitor,
    ) -> Progress {
        let link = self.steps[self.packets[id as usize].step as usize].link;
        let hop = &mut self.hops[link.0 as usize];
        let place = hop.held.iter().position(|&(held, _)| held == id);
        let outcome = place.and_then(|place| hop.link.resume(hop.held.swap_remove(place).1));
        let Some(outcome) = outcome else { return Progress::Underway };
        if let Some((_, late_by)) = self.numbers.get_mut(id as usize) {
            *late_by = outcome.late_by;
        }
        if self.hops[link.0 as usize].watched {
            self.report_crossing(id, link, now, true, &outcome, monitor);
        }
        self.travel(id, link, now, outcome, queue, monitor)
    }

    /// Removes the first packet from the line of `link`, when it has reached the far end.
    #[inline(always)]
    pub(crate) fn pop_line(&mut self, link: u32, queue: &mut Queue) -> Option<u32> {
        let (first, last) = &mut self.hops[link as usize].line;
        let id = *first;
        let behind = self.packets.get(id as usize)?.behind;
        *first = behind;
        match self.packets.get(behind as usize) {
            Some(next) => queue.plan(next.arrival, FutureEvent::Line(link)),
            None => *last = NONE,
        }
        Some(id)
    }

    /// Returns the maximum number of packets in the network at a time.
    pub(crate) fn most(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    pub(crate) fn packet(&self, id: u32) -> &Packet {
        &self.packets[id as usize]
    }

    /// Returns whether the packet reaches its destination at the far end of its link.
    #[inline]
    pub(crate) fn is_delivered(&self, id: u32) -> bool {
        self.steps[self.packets[id as usize].step as usize].delivers
    }

    /// Returns whether the packet is on its last step.
    pub(crate) fn is_on_last_step(&self, id: u32) -> bool {
        self.steps[self.packets[id as usize].step as usize].last
    }

    /// Sends the packet on from the far end of a step that is not its last.
    #[inline(never)]
    pub(crate) fn pass_on(
        &mut self,
        id: u32,
        now: Instant,
        queue: &mut Queue,
        monitor: &mut impl Monitor,
    ) -> Progress {
        let packet = &mut self.packets[id as usize];
        let (next, size) = (packet.step + 1, packet.size);
        if self.steps[next as usize].queues {
            packet.step = next;
            return self.offer_to_queue(id, now, queue, monitor);
        }
        let (step, run) = self.run(next, size, now);
        self.end_run(id, step, run, queue, monitor)
    }

    /// Frees the id of a packet that has left the network.
    #[inline]
    pub(crate) fn release(&mut self, id: u32) {
        self.free.push(id);
    }
}
