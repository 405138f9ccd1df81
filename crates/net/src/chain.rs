//! The links between the two ends, and the packets on them, without a clock.
//!
//! Each packet takes a way over several links. A [`Link`] expects its packets in order of time. While a link
//! keeps order and is the only one that leads to the next, a packet is offered to the next link at once.
//! Otherwise packets wait until they are due at the far end of their link, and are then offered to the next
//! one in the order of their arrival. They are offered *at* the instant at which they were due, even if
//! [`Chain::take`] is called later, so lateness does not accumulate over hops.
//!
//! A link may have a gateway at its far end. Packets wait until they arrive there, pass through it in the
//! order of their arrival, and go on when it releases them.
//!
//! Events of the same instant are handled in the order in which the simulator handles them, so that the same
//! packets reach the same ends at the same times.

mod agenda;
mod gateway;
mod plan;
#[cfg(test)]
mod tests;
mod tunnels;

use std::collections::VecDeque;

use unruffled_path::{
    Arrival, Chooser, ConfigError, Direction, DropCause, Leaving, Link, Outcome, Packet, Ticket,
    Verdict,
};
use unruffled_resequence::{Counters as Resequenced, Packet as Facts};
use unruffled_units::Instant;

use crate::SeededLink;
use agenda::Agenda;
use gateway::Gateway;
use tunnels::Tunnels;

/// What a path carries.
pub trait Carried: Clone {
    /// Returns the facts by which a resequencer orders it, or `None` if it passes at once.
    fn facts(&self) -> Option<Facts>;

    /// Returns whether it is ECN-capable (RFC 3168).
    fn is_ect(&self) -> bool {
        false
    }

    /// Marks it with CE, if it is ECN-capable.
    fn mark(&mut self) {}

    /// Returns an identifier of its flow in its direction.
    fn flow(&self) -> u32 {
        0
    }
}

/// Counts of the packets of one direction so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that entered the path.
    pub offered: u64,
    /// Packets that left the path at its far end, copies included.
    pub delivered: u64,
    /// Delivered packets that left after one that had entered later.
    pub overtaken: u64,
    /// Packets that a full queue dropped.
    pub dropped: u64,
    /// Packets that a link lost behind its queue.
    pub lost: u64,
    /// Number of times that a link took a packet out of order: delayed it, sent it again, or sent it ahead
    /// of others.
    pub delayed: u64,
    /// Copies that a link made.
    pub duplicated: u64,
    /// Packets that a queue marked with CE, counted once for each queue.
    pub marked: u64,
    /// Packets that an anti-replay window dropped at the far end of a link.
    pub replay_drops: u64,
    /// Packets that a limit on ranges dropped at the far end of a link.
    pub range_drops: u64,
    /// Packets whose fragments were too far apart to be reassembled at the far end of a link.
    pub fragment_drops: u64,
}

impl Counts {
    fn record_drop(&mut self, cause: DropCause) {
        match cause {
            DropCause::Queue => self.dropped += 1,
            DropCause::Loss => self.lost += 1,
            DropCause::Replay => self.replay_drops += 1,
            DropCause::Ranges => self.range_drops += 1,
            DropCause::Fragments => self.fragment_drops += 1,
        }
    }
}

/// Packets of type `P` on the links between the two ends, in one direction or in both.
#[derive(Debug)]
pub struct Chain<P> {
    hops: Vec<Hop<P>>,
    /// The links that have gateways, in the order in which packets cross them.
    gateways: Vec<usize>,
    /// Steps of all ways, one way after another.
    steps: Vec<Step>,
    tunnels: Tunnels,
    sources: Vec<Source>,
    /// Direction of the packets of [`offer`](Self::offer).
    direction: Direction,
    /// State of the forward and of the reverse direction.
    lanes: [Traffic; 2],
    agenda: Agenda<Crossing<P>>,
    /// Packets that have left the path and were not yet taken, in the order of their times.
    left: VecDeque<Departure<P>>,
    /// Packets that passed between the first link and the others since the last call of [`Chain::shown`].
    shown: Vec<Departure<P>>,
}

/// A packet that leaves the path, or passes a place on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// Time at which it does.
    pub at: Instant,
    /// Direction of the packet.
    pub direction: Direction,
    /// The packet.
    pub packet: P,
}

/// One direction of a link, and the gateway at its far end.
#[derive(Debug)]
struct Hop<P> {
    link: Link,
    gateway: Option<Box<Gateway<Crossing<P>>>>,
}

/// A link of a way.
#[derive(Clone, Copy, Debug)]
struct Step {
    link: usize,
    /// Whether it is the last link of its way.
    last: bool,
    /// Whether the next link receives packets from this one only, and in order.
    runs_on: bool,
    /// Whether packets are shown behind it.
    shown: bool,
}

/// The ways of a source's packets.
#[derive(Debug)]
struct Source {
    port: u16,
    /// Ways to the right end and to the left end.
    routes: [Ways; 2],
}

/// Ways of one direction.
#[derive(Debug)]
struct Ways {
    chooser: Chooser,
    /// First step of each way; none if it has no links.
    first: Vec<Option<usize>>,
    /// Number of packets that took each way.
    taken: Vec<u64>,
}

/// Counts of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    counts: Counts,
    /// Highest number among the packets that have left; see [`Crossing::number`].
    last_out: u64,
}

/// A packet on its way.
#[derive(Clone, Debug)]
struct Crossing<P> {
    /// Number of the packet in the order of entry in its direction, from 1.
    number: u64,
    /// Number of the packet on the link that it crosses; see [`Link::offered`].
    number_on_link: u64,
    /// Number of packets for which it waits at the far end of this link; see [`Outcome::late_by`].
    late_by: u32,
    /// Number of the packet in each tunnel, 0 if it has not entered it; empty if there are no tunnels.
    tunnel_numbers: Vec<u64>,
    bytes: u32,
    direction: Direction,
    /// Index of its current step.
    step: usize,
    packet: P,
}

/// Returns the index of a direction in arrays of both.
const fn index(direction: Direction) -> usize {
    match direction {
        Direction::Forward => 0,
        Direction::Reverse => 1,
    }
}

impl<P: Carried> Chain<P> {
    /// Creates an empty path through `hops`, which are listed from left to right, in `direction`.
    ///
    /// # Errors
    /// If the configuration of a link is invalid.
    pub fn new(hops: &[SeededLink], direction: Direction) -> Result<Self, ConfigError> {
        Self::over(&hops.into(), &[direction])
    }

    /// Enables [`shown`](Self::shown), which then returns the packets that pass between the leftmost link
    /// of their way and the others. A way of one link has no such place.
    pub fn show_between(&mut self) {
        let way =
            |direction| self.sources.iter().flat_map(move |s| &s.routes[index(direction)].first);
        let forward: Vec<usize> = way(Direction::Forward).flatten().copied().collect();
        let reverse: Vec<usize> = way(Direction::Reverse).flatten().copied().collect();
        for first in forward {
            self.show_behind(first);
        }
        for first in reverse {
            let length = self.steps[first..].iter().take_while(|step| !step.last).count();
            if length > 0 {
                self.show_behind(first + length - 1);
            }
        }
    }

    fn show_behind(&mut self, step: usize) {
        let step = &mut self.steps[step];
        step.shown = !step.last;
        step.runs_on = false;
    }

    /// Returns the packets that passed there since the last call, each with its time.
    pub fn shown(&mut self) -> impl Iterator<Item = Departure<P>> {
        self.shown.drain(..)
    }

    /// Enters a packet of `bytes` octets at `now`, in the first direction that this path carries. `now` must
    /// not be earlier than the time of any earlier call of this method or of [`take`](Self::take).
    pub fn offer(&mut self, packet: P, bytes: u32, now: Instant) {
        self.offer_in(self.direction, packet, bytes, now);
    }

    /// Enters a packet in `direction`, like [`offer`](Self::offer).
    pub fn offer_in(&mut self, direction: Direction, packet: P, bytes: u32, now: Instant) {
        // A link receives its packets in the order of time, however often the path is polled.
        while self.handle_next(now) {}
        let counts = &mut self.lanes[index(direction)].counts;
        counts.offered += 1;
        let number = counts.offered;
        let source = self.source_of(&packet, direction);
        let ways = &mut self.sources[source].routes[index(direction)];
        let way = ways.chooser.choose();
        ways.taken[way] += 1;
        let first = ways.first[way];
        let step = first.unwrap_or_default();
        let packet = Crossing {
            number,
            number_on_link: 0,
            late_by: 0,
            tunnel_numbers: vec![0; self.tunnels.counts.len()],
            bytes,
            direction,
            step,
            packet,
        };
        match first {
            Some(_) => self.cross(packet, now),
            None => self.leave(packet, now),
        }
    }

    /// Returns the source that a packet belongs to.
    fn source_of(&self, packet: &P, direction: Direction) -> usize {
        if self.sources.len() == 1 {
            return 0;
        }
        let ports = packet.facts().map(|facts| facts.flow.ports);
        let port = ports.map(|(source, destination)| match direction {
            Direction::Forward => destination,
            Direction::Reverse => source,
        });
        let place = self.sources.iter().position(|source| Some(source.port) == port);
        place.unwrap_or(0)
    }

    /// Returns the time of the next event on the path, if any.
    pub fn due(&self) -> Option<Instant> {
        if let Some(first) = self.left.front() {
            return Some(first.at);
        }
        let next = self.agenda.next().map(|next| next.due);
        match self.timeout() {
            Some((timeout, _)) => Some(next.map_or(timeout, |next| next.min(timeout))),
            None => next,
        }
    }

    /// Returns the time at which the next wait in a gateway ends, and its link.
    #[inline]
    fn timeout(&self) -> Option<(Instant, usize)> {
        // Most paths have no gateway.
        if self.gateways.is_empty() { None } else { self.first_timeout() }
    }

    #[inline(never)]
    fn first_timeout(&self) -> Option<(Instant, usize)> {
        let timeout = |&link: &usize| Some((self.hops[link].gateway.as_ref()?.timeout()?, link));
        self.gateways.iter().filter_map(timeout).min_by_key(|(at, _)| *at)
    }

    /// Returns the next packet that has left the path by `now`, with the time at which it left.
    pub fn take(&mut self, now: Instant) -> Option<(Instant, P)> {
        self.depart(now).map(|Departure { at, packet, .. }| (at, packet))
    }

    /// Returns the next packet that has left the path by `now`, like [`take`](Self::take), with its direction.
    pub fn depart(&mut self, now: Instant) -> Option<Departure<P>> {
        while self.left.is_empty() {
            if !self.handle_next(now) {
                return None;
            }
        }
        self.left.pop_front()
    }

    /// Returns the counts of the packets of the first direction so far.
    pub fn counts(&self) -> Counts {
        self.counts_in(self.direction)
    }

    /// Returns the counts of the packets of `direction` so far.
    pub fn counts_in(&self, direction: Direction) -> Counts {
        self.lanes[index(direction)].counts
    }

    /// Returns the number of packets of `direction` that took each way of each source.
    pub fn taken(&self, direction: Direction) -> Vec<Vec<u64>> {
        self.sources.iter().map(|source| source.routes[index(direction)].taken.clone()).collect()
    }

    /// Returns the counts of the resequencers, in the order in which packets cross them.
    pub fn resequenced(&self) -> Vec<Resequenced> {
        let gateways = self.gateways.iter();
        gateways.filter_map(|&link| self.hops[link].gateway.as_ref()?.counters()).collect()
    }

    /// Handles the next event. Returns `false` if none is due by `now`.
    fn handle_next(&mut self, now: Instant) -> bool {
        let next = self.agenda.next();
        // A packet that arrives at the instant at which a wait ends is in time.
        if let Some((at, link)) = self.timeout()
            && next.is_none_or(|next| at < next.due)
        {
            if at <= now {
                self.release(link, |gateway| gateway.end_waits(at));
            }
            return at <= now;
        }
        let Some(next) = next.filter(|next| next.due <= now) else { return false };
        match self.agenda.pop(next) {
            Some((packet, Some(ticket))) => self.resume(packet, ticket),
            Some((packet, None)) => self.arrive(packet, next.due),
            None => {}
        }
        true
    }

    /// Lets the link of a damaged packet send it again.
    fn resume(&mut self, packet: Crossing<P>, ticket: Ticket) {
        let link = self.steps[packet.step].link;
        if let Some(outcome) = self.hops[link].link.resume(ticket) {
            self.travel(packet, outcome);
        }
    }

    /// Handles a packet that arrives at the far end of its link.
    fn arrive(&mut self, packet: Crossing<P>, at: Instant) {
        let link = self.steps[packet.step].link;
        if self.hops[link].gateway.is_none() {
            return self.pass_on(packet, at);
        }
        let facts = packet.packet.facts();
        let arrival = Arrival {
            number: packet.number_on_link,
            late_by: packet.late_by,
            piece: None,
            tunnel_number: self.tunnels.number(link, &packet.tunnel_numbers),
        };
        self.release(link, |gateway| gateway.arrive(facts, arrival, packet, at));
    }

    /// Calls `act` with the gateway at the far end of `link`, and handles the packets that leave it.
    fn release(&mut self, link: usize, act: impl FnOnce(&mut Gateway<Crossing<P>>) -> Instant) {
        let Some(mut gateway) = self.hops[link].gateway.take() else { return };
        let at = act(&mut gateway);
        while let Some(leaving) = gateway.release() {
            match leaving {
                Leaving::Passes(packet) => self.pass_on(packet, at),
                Leaving::Dropped(packet, cause) => {
                    self.lanes[index(packet.direction)].counts.record_drop(cause);
                }
            }
        }
        self.hops[link].gateway = Some(gateway);
    }

    /// Sends a packet on from the far end of its link.
    fn pass_on(&mut self, mut packet: Crossing<P>, at: Instant) {
        let Step { last, shown, .. } = self.steps[packet.step];
        if last {
            return self.leave(packet, at);
        }
        if shown {
            let copy = packet.packet.clone();
            self.shown.push(Departure { at, direction: packet.direction, packet: copy });
        }
        packet.step += 1;
        self.cross(packet, at);
    }

    /// Handles a packet that has reached its end.
    fn leave(&mut self, packet: Crossing<P>, at: Instant) {
        let Crossing { number, direction, packet, .. } = packet;
        let Traffic { counts, last_out } = &mut self.lanes[index(direction)];
        counts.delivered += 1;
        counts.overtaken += u64::from(number < *last_out);
        *last_out = number.max(*last_out);
        self.left.push_back(Departure { at, direction, packet });
    }

    /// Offers the packet to the link of its step at `at`, and to the links after it as far as they run on.
    fn cross(&mut self, mut packet: Crossing<P>, mut at: Instant) {
        loop {
            self.tunnels.enter(packet.step, &mut packet.tunnel_numbers);
            let Step { link, runs_on, .. } = self.steps[packet.step];
            let Crossing { bytes, direction, .. } = packet;
            let hop = &mut self.hops[link];
            let flow = if hop.link.reads_flows() { packet.packet.flow() } else { 0 };
            let offered = Packet { bytes, direction, ect: packet.packet.is_ect(), flow };
            let outcome = hop.link.offer_packet(offered, at);
            packet.number_on_link = hop.link.offered();
            if let Some(gateway) = &mut hop.gateway {
                gateway.expect(&hop.link, &outcome, at);
            }
            if outcome.marked {
                packet.packet.mark();
                self.lanes[index(direction)].counts.marked += 1;
            }
            match outcome.verdict {
                Verdict::Deliver(arrival) if runs_on => at = arrival,
                _ => return self.travel(packet, outcome),
            }
            packet.step += 1;
        }
    }

    /// Handles the outcome of the packet at its link.
    fn travel(&mut self, mut packet: Crossing<P>, outcome: Outcome) {
        packet.late_by = outcome.late_by;
        let counts = &mut self.lanes[index(packet.direction)].counts;
        let arrival = match outcome.verdict {
            Verdict::Drop(cause) => return counts.record_drop(cause),
            Verdict::Held { until, ticket } => {
                return self.agenda.plan(until, packet, Some(ticket));
            }
            Verdict::Deliver(arrival) => arrival,
        };
        counts.delayed += u64::from(outcome.detoured);
        counts.duplicated += u64::from(outcome.duplicate);
        if outcome.duplicate {
            self.arrive_later(packet.clone(), arrival, outcome.detoured);
        }
        self.arrive_later(packet, arrival, outcome.detoured);
    }

    /// Plans the arrival of the packet at the far end of its link, in line unless it takes a detour.
    fn arrive_later(&mut self, packet: Crossing<P>, arrival: Instant, detoured: bool) {
        if detoured {
            return self.agenda.plan(arrival, packet, None);
        }
        self.agenda.plan_in_line(self.steps[packet.step].link, arrival, packet);
    }
}
