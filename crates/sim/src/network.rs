//! Links, and packets on their way over them.
//!
//! A packet needs an event only where packets can overtake one another or meet from several sides.
//! Where a link has but one feeder and that feeder keeps order, the packets come to it in the order
//! in which the feeder was offered them; so the whole run of links is crossed in one step, and the
//! outcome is the same as hop by hop. What happens on such a run is told with the time at which it
//! happens, which may lie ahead of the present.

mod ahead;
mod plan;

use unruffled_measure::{Crossing, End, FlowId, LinkId, Monitor};
use unruffled_path::{Direction, DropCause, Link, Outcome, Ticket, Verdict};
use unruffled_tcp::Segment;
use unruffled_units::Instant;

use self::plan::{Blueprint, Feeder};
use crate::queue::{FutureEvent, Queue};

/// A sequence of links, by the place of its first step among those of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathId(pub(crate) u32);

/// Stands for no packet.
const NONE: u32 = u32::MAX;

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    pub(crate) flow: FlowId,
    /// The end it is for.
    pub(crate) to: End,
    /// Octets on the wire.
    pub(crate) size: u32,
    /// Which step it is on, of those of all paths.
    step: u32,
    /// The one behind it in its link's line.
    behind: u32,
    /// When it gets to the far end of its link, if it is in line.
    arrival: Instant,
}

/// Where a segment is to go, and how large it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub(crate) flow: FlowId,
    /// The end it is for.
    pub(crate) to: End,
    /// Octets on the wire.
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

/// A link at work, and the packets on it.
#[derive(Debug)]
struct LinkState {
    link: Link,
    /// The first and the last of the packets between this link's entry and its far end that keep their
    /// order.
    line: (u32, u32),
    /// Packets that the link damaged and is to send again.
    held: Vec<(u32, Ticket)>,
}

/// A link of a path.
#[derive(Clone, Copy, Debug)]
struct Step {
    link: LinkId,
    /// Packets come to the next one from this one alone and in order.
    runs_on: bool,
    /// It is the last one of its path.
    last: bool,
    /// So many links from this one on are plain, and all but the last of these run on: nothing but a
    /// queue is there, and nobody is told of crossings.
    plain: u32,
}

/// How a packet left a run of plain links.
enum Run {
    /// It arrives at the far end of this link at this instant.
    Arrives(LinkId, Instant),
    /// A queue dropped it at this instant.
    Dropped(Instant),
    /// It comes at this instant to a link that is not plain.
    Meets(Instant),
}

/// What became of a packet that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It is on its way.
    Underway,
    /// It is on its way, and so is a copy.
    Doubled,
    /// It was dropped.
    Dropped,
}

impl Progress {
    /// How many packets are on their way where one was.
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
    /// Of all paths, one behind the other.
    steps: Vec<Step>,
    packets: Vec<Packet>,
    free: Vec<u32>,
    /// A monitor is told of crossings.
    watched: bool,
}

impl Network {
    /// An endpoint sends a packet.
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

    /// Follows a packet of `size` octets that comes at `at` to the link of `step`, as far as links are
    /// plain and order allows: that is a quarter of what [`Self::offer`] takes.
    #[inline(always)]
    fn run(&mut self, step: u32, size: u32, mut at: Instant) -> (u32, Run) {
        let ahead = &self.steps[step as usize..];
        let links = &ahead[..ahead[0].plain as usize];
        let (mut rest, behind) = (links.iter(), step + links.len() as u32);
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

    /// The same where a queue is full or a packet has another size than the one before.
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
        match self.free.pop() {
            Some(id) => {
                self.packets[id as usize] = packet;
                id
            }
            None => {
                self.packets.push(packet);
                self.packets.len() as u32 - 1
            }
        }
    }

    /// Offers the packet to the link of its step, and to those behind it as far as order allows.
    #[inline(never)]
    fn offer(
        &mut self,
        id: u32,
        now: Instant,
        queue: &mut Queue,
        monitor: &mut impl Monitor,
    ) -> Progress {
        let packet = &self.packets[id as usize];
        let (way, Packet { flow, size, mut step, .. }) = (packet.way(), *packet);
        let mut at = now;
        loop {
            let Step { link: on, runs_on, .. } = self.steps[step as usize];
            let link = &mut self.hops[on.0 as usize].link;
            let outcome = link.offer(size, way, at);
            if self.watched {
                let (backlog, again, outcome) = (link.backlog(), false, &outcome);
                let crossing = Crossing { flow, at, size, backlog, resent: again, outcome };
                monitor.crossed(on, &crossing);
            }
            match outcome.verdict {
                Verdict::Deliver(arrival) if runs_on => match self.run(step + 1, size, arrival) {
                    (next, Run::Meets(meets)) => (step, at) = (next, meets),
                    (last, run) => return self.end_run(id, last, run, queue, monitor),
                },
                _ => {
                    self.packets[id as usize].step = step;
                    return self.travel(id, on, at, outcome, queue, monitor);
                }
            }
        }
    }

    /// Plans what becomes of a packet behind a run of links that ended at `step`.
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
                (packet.arrival, packet.behind) = (arrival, NONE);
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

    /// Plans what becomes of a packet behind `link`, to which it came at `at`.
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
        // In line behind it, or it would overtake those in line that arrive at the same instant.
        let copy = self.keep(self.packets[id as usize]);
        self.arrive_at(copy, link, arrival, outcome.detoured, queue);
        Progress::Doubled
    }

    /// Plans when the packet gets to the far end of `link`: in line, unless it takes a detour.
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
        (packet.arrival, packet.behind) = (arrival, NONE);
        self.line_up(id, link, arrival, queue);
    }

    /// Puts the packet behind those in line at `link`.
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

    /// The link of its hop may send the damaged packet again.
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
        if self.watched {
            let Packet { flow, size, .. } = self.packets[id as usize];
            let (backlog, again, outcome) = (hop.link.backlog(), true, &outcome);
            monitor
                .crossed(link, &Crossing { flow, at: now, size, backlog, resent: again, outcome });
        }
        self.travel(id, link, now, outcome, queue, monitor)
    }

    /// The first packet in line at `link` has got to its far end.
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

    /// How many packets have been on their way at a time.
    pub(crate) fn most(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    pub(crate) fn packet(&self, id: u32) -> &Packet {
        &self.packets[id as usize]
    }

    /// Whether the step that the packet is on is its last.
    #[inline]
    pub(crate) fn is_on_last_step(&self, id: u32) -> bool {
        self.steps[self.packets[id as usize].step as usize].last
    }

    /// The packet has got to the far end of a step that is not its last: sends it on.
    #[inline(never)]
    pub(crate) fn pass_on(
        &mut self,
        id: u32,
        now: Instant,
        queue: &mut Queue,
        monitor: &mut impl Monitor,
    ) -> Progress {
        let packet = &self.packets[id as usize];
        let (step, run) = self.run(packet.step + 1, packet.size, now);
        self.end_run(id, step, run, queue, monitor)
    }

    /// The packet has got to the end that it is for, and its number is free.
    #[inline]
    pub(crate) fn release(&mut self, id: u32) {
        self.free.push(id);
    }
}
