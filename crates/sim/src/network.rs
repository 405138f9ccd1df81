//! Links, and packets on their way over them.
//!
//! A packet needs an event only where packets can overtake one another or meet from several sides.
//! Where a link has but one feeder and that feeder keeps order, the packets come to it in the order
//! in which the feeder was offered them; so the whole run of links is crossed in one step, and the
//! outcome is the same as hop by hop.

use std::collections::VecDeque;

use unruffled_path::{
    ConfigError, Direction, DropCause, Link, LinkConfig, Outcome, Ticket, Verdict,
};
use unruffled_tcp::Segment;
use unruffled_units::Instant;

use crate::End;
use crate::queue::{Plan, Queue};

/// A flow of a simulation, by the order of their adding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowId(pub u32);

/// One direction of a link, by the order of their adding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkId(pub u32);

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    pub(crate) flow: FlowId,
    /// The end it is for.
    pub(crate) to: End,
    /// Octets on the wire.
    size: u32,
    /// Which hop of its route it is on.
    hop: u32,
}

#[derive(Debug)]
struct Hop {
    link: Link,
    /// Packets between this link's entry and its far end that keep their order.
    line: VecDeque<(Instant, u32)>,
    /// Packets that the link damaged and is to send again.
    held: Vec<(u32, Ticket)>,
    /// Packets may leave it in another order than they came.
    shuffles: bool,
    /// The only hop that packets come from, once routes are known.
    feeder: Feeder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Unknown,
    Endpoint,
    Only(LinkId),
    Several,
}

/// What became of a packet that was offered.
pub(crate) enum Fate {
    OnItsWay,
    Dropped(DropCause),
}

#[derive(Debug, Default)]
pub(crate) struct Network {
    hops: Vec<Hop>,
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Network {
    pub(crate) fn add_link(
        &mut self,
        config: &LinkConfig,
        direction: Direction,
        seed: u64,
    ) -> Result<LinkId, ConfigError> {
        let id = LinkId(self.hops.len() as u32);
        let link = Link::new(config, direction, seed)?;
        self.hops.push(Hop {
            shuffles: !link.keeps_order(),
            link,
            line: VecDeque::new(),
            held: Vec::new(),
            feeder: Feeder::Unknown,
        });
        Ok(id)
    }

    /// Packets will take this route.
    pub(crate) fn add_route(&mut self, route: &[LinkId]) {
        let mut from = Feeder::Endpoint;
        for &id in route {
            let feeder = &mut self.hops[id.0 as usize].feeder;
            *feeder = match *feeder {
                Feeder::Unknown => from,
                known if known == from => known,
                _ => Feeder::Several,
            };
            from = Feeder::Only(id);
        }
    }

    /// Whether packets come to `next` from `previous` alone and in order.
    fn runs_on(&self, previous: LinkId, next: LinkId) -> bool {
        self.hops[next.0 as usize].feeder == Feeder::Only(previous)
            && !self.hops[previous.0 as usize].shuffles
    }

    /// An endpoint sends `segment` of `size` octets over `route`.
    pub(crate) fn send(
        &mut self,
        segment: Segment,
        (flow, to): (FlowId, End),
        size: u32,
        route: &[LinkId],
        now: Instant,
        queue: &mut Queue,
    ) -> Fate {
        let packet = Packet { segment, flow, to, size, hop: 0 };
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
        self.cross(id, route, now, queue)
    }

    /// Offers the packet to the link of its hop, and to those behind it as far as order allows.
    fn cross(&mut self, id: u32, route: &[LinkId], now: Instant, queue: &mut Queue) -> Fate {
        let Packet { to, size, mut hop, .. } = self.packets[id as usize];
        let way = match to {
            End::Receiver => Direction::Forward,
            End::Sender => Direction::Reverse,
        };
        let mut at = now;
        loop {
            let link = route[hop as usize];
            let outcome = self.hops[link.0 as usize].link.offer(size, way, at);
            if let Verdict::Deliver(arrival) = outcome.verdict
                && let Some(&next) = route.get(hop as usize + 1)
                && self.runs_on(link, next)
            {
                at = arrival;
                hop += 1;
                continue;
            }
            self.packets[id as usize].hop = hop;
            return self.travel(id, link, outcome, queue);
        }
    }

    /// Plans what becomes of a packet behind `link`.
    #[inline(always)]
    fn travel(&mut self, id: u32, link: LinkId, outcome: Outcome, queue: &mut Queue) -> Fate {
        let at = match outcome.verdict {
            Verdict::Drop(cause) => {
                self.free.push(id);
                return Fate::Dropped(cause);
            }
            Verdict::Held { until, ticket } => {
                self.hops[link.0 as usize].held.push((id, ticket));
                queue.plan(until, Plan::Held(id));
                return Fate::OnItsWay;
            }
            Verdict::Deliver(at) => at,
        };
        if outcome.duplicate {
            let copy = self.duplicate(id);
            queue.plan(at, Plan::Packet(copy));
        }
        if outcome.detoured {
            queue.plan(at, Plan::Packet(id));
        } else {
            let line = &mut self.hops[link.0 as usize].line;
            line.push_back((at, id));
            if line.len() == 1 {
                queue.plan(at, Plan::Line(link.0));
            }
        }
        Fate::OnItsWay
    }

    /// The link of its hop may send the damaged packet again.
    pub(crate) fn resume(&mut self, id: u32, route: &[LinkId], queue: &mut Queue) -> Fate {
        let link = route[self.packets[id as usize].hop as usize];
        let hop = &mut self.hops[link.0 as usize];
        let place = hop.held.iter().position(|&(held, _)| held == id);
        let outcome = place.and_then(|place| hop.link.resume(hop.held.swap_remove(place).1));
        outcome.map_or(Fate::OnItsWay, |outcome| self.travel(id, link, outcome, queue))
    }

    fn duplicate(&mut self, id: u32) -> u32 {
        let copy = self.packets[id as usize];
        match self.free.pop() {
            Some(free) => {
                self.packets[free as usize] = copy;
                free
            }
            None => {
                self.packets.push(copy);
                self.packets.len() as u32 - 1
            }
        }
    }

    /// The first packet in line at `link` has got to its far end.
    pub(crate) fn pop_line(&mut self, link: u32, queue: &mut Queue) -> Option<u32> {
        let line = &mut self.hops[link as usize].line;
        let (_, id) = line.pop_front()?;
        if let Some(&(at, _)) = line.front() {
            queue.plan(at, Plan::Line(link));
        }
        Some(id)
    }

    pub(crate) fn packet(&self, id: u32) -> &Packet {
        &self.packets[id as usize]
    }

    /// The packet has got to the far end of its hop: sends it on, or gives it when that was the
    /// last one.
    pub(crate) fn arrive(
        &mut self,
        id: u32,
        route: &[LinkId],
        now: Instant,
        queue: &mut Queue,
    ) -> Result<Fate, Packet> {
        let packet = &mut self.packets[id as usize];
        packet.hop += 1;
        if packet.hop as usize == route.len() {
            let packet = *packet;
            self.free.push(id);
            return Err(packet);
        }
        Ok(self.cross(id, route, now, queue))
    }
}
