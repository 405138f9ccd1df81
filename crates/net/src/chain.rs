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

mod gateway;
mod plan;
mod tunnels;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use unruffled_path::{
    Arrival, Chooser, ConfigError, Direction, DropCause, Leaving, Link, Outcome, Packet, Ticket,
    Verdict,
};
use unruffled_resequence::{Counters as Resequenced, Packet as Facts};
use unruffled_units::Instant;

use crate::SeededLink;
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
    /// The arrival of the first packet in each line.
    lines: Vec<Line>,
    /// All other events.
    events: BinaryHeap<Reverse<Event<P>>>,
    /// Orders events of the same instant.
    serial: u64,
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

/// One direction of a link, the packets on it, and the gateway at its far end.
#[derive(Debug)]
struct Hop<P> {
    link: Link,
    /// Packets that keep their order on this link, with their arrival times.
    line: VecDeque<(Instant, Crossing<P>)>,
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

/// The arrival of the first packet in the line of a link at the far end. Most packets are in line, and few
/// links have one at a time, so these events are not among the others.
#[derive(Clone, Copy, Debug)]
struct Line {
    due: Instant,
    serial: u64,
    link: usize,
}

/// A future event of a packet that is not in line.
#[derive(Debug)]
struct Event<P> {
    due: Instant,
    serial: u64,
    packet: Crossing<P>,
    /// Identifier of the packet if its link damaged it and may send it again. Otherwise it arrives at the far
    /// end of its link.
    held: Option<Ticket>,
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
        let next = self.next().map(|(at, _)| at);
        match self.timeout() {
            Some((timeout, _)) => Some(next.map_or(timeout, |next| next.min(timeout))),
            None => next,
        }
    }

    /// Returns the time of the next event of a packet, and its place among the lines if it is one of theirs.
    #[inline]
    fn next(&self) -> Option<(Instant, Option<usize>)> {
        let event = self.events.peek().map(|Reverse(first)| (first.due, first.serial, None));
        let mut next = event;
        for (place, line) in self.lines.iter().enumerate() {
            if next.is_none_or(|(due, serial, _)| (line.due, line.serial) < (due, serial)) {
                next = Some((line.due, line.serial, Some(place)));
            }
        }
        next.map(|(due, _, place)| (due, place))
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
        let next = self.next();
        // A packet that arrives at the instant at which a wait ends is in time.
        if let Some((at, link)) = self.timeout()
            && next.is_none_or(|(next, _)| at < next)
        {
            if at <= now {
                self.release(link, |gateway| gateway.end_waits(at));
            }
            return at <= now;
        }
        let Some((due, place)) = next.filter(|(due, _)| *due <= now) else { return false };
        if let Some(place) = place {
            if let Some(packet) = self.pop_line(place) {
                self.arrive(packet, due);
            }
        } else if let Some(Reverse(Event { packet, held, .. })) = self.events.pop() {
            match held {
                None => self.arrive(packet, due),
                Some(ticket) => self.resume(packet, ticket),
            }
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
            Verdict::Held { until, ticket } => return self.plan(until, packet, Some(ticket)),
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
            return self.plan(arrival, packet, None);
        }
        let link = self.steps[packet.step].link;
        let waiting = &mut self.hops[link].line;
        waiting.push_back((arrival, packet));
        if waiting.len() == 1 {
            let serial = self.next_serial();
            self.lines.push(Line { due: arrival, serial, link });
        }
    }

    /// Removes the first packet from the line at `place`, when it has reached the far end.
    fn pop_line(&mut self, place: usize) -> Option<Crossing<P>> {
        let waiting = &mut self.hops[self.lines[place].link].line;
        let (_, packet) = waiting.pop_front()?;
        match waiting.front() {
            Some(&(due, _)) => {
                let serial = self.next_serial();
                self.lines[place] = Line { due, serial, ..self.lines[place] };
            }
            None => {
                self.lines.swap_remove(place);
            }
        }
        Some(packet)
    }

    fn plan(&mut self, due: Instant, packet: Crossing<P>, held: Option<Ticket>) {
        let serial = self.next_serial();
        self.events.push(Reverse(Event { due, serial, packet, held }));
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }
}

impl<P> Ord for Event<P> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.serial).cmp(&(other.due, other.serial))
    }
}

impl<P> PartialOrd for Event<P> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for Event<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P> Eq for Event<P> {}

#[cfg(test)]
mod tests {
    use unruffled_path::{Applies, Impairment, LinkConfig, Route, Spread};
    use unruffled_resequence::{Flow, Protocol, Role};
    use unruffled_units::{Duration, Rate};

    use super::*;
    use crate::{DirectedLink, Paths, SourceRoutes};

    impl Carried for usize {
        fn facts(&self) -> Option<Facts> {
            None
        }
    }

    const fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// A link that takes 1 ms for every 1000 octets, then 10 ms.
    fn hop(impairments: Vec<Impairment>) -> SeededLink {
        let link = LinkConfig {
            rate: Rate::from_bps(8e6),
            delay: Duration::from_millis(10),
            queue: Some(3),
            impairments,
            ..LinkConfig::default()
        };
        SeededLink { link, resequence: None, seed: 1 }
    }

    fn every_second_late() -> Impairment {
        Impairment::Alternate {
            every: 2,
            extra: Duration::from_millis(100),
            applies: Applies::Data,
        }
    }

    /// Offers packets 0, 1, 2 … of 1000 octets at `times`, and returns those that leave.
    fn trace(chain: &mut Chain<usize>, times: &[u64]) -> Vec<(Instant, usize)> {
        let mut out = Vec::new();
        for (packet, &time) in times.iter().enumerate() {
            out.extend(std::iter::from_fn(|| chain.take(at(time))));
            chain.offer(packet, 1000, at(time));
        }
        out.extend(std::iter::from_fn(|| chain.take(at(100_000))));
        out
    }

    #[test]
    fn packets_cross_link_after_link() {
        let mut chain = Chain::new(&[hop(vec![]), hop(vec![])], Direction::Forward).unwrap();
        assert_eq!(chain.due(), None);
        chain.offer(0, 1000, at(0));
        assert_eq!(chain.due(), Some(at(22)));
        assert_eq!(chain.take(at(21)), None);
        assert_eq!(chain.take(at(22)), Some((at(22), 0)));
        assert_eq!(chain.due(), None);
    }

    #[test]
    fn a_path_without_links_passes_everything_at_once() {
        let mut chain = Chain::new(&[], Direction::Forward).unwrap();
        assert_eq!(trace(&mut chain, &[0, 5]), [(at(0), 0), (at(5), 1)]);
    }

    #[test]
    fn late_packets_are_offered_to_the_next_link_when_they_arrive_there() {
        let hops = [hop(vec![every_second_late()]), hop(vec![])];
        let mut chain = Chain::new(&hops, Direction::Forward).unwrap();
        let late = trace(&mut chain, &[0, 1, 2]);
        // The second link is idle again long before the late packet arrives.
        assert_eq!(late, [(at(22), 0), (at(24), 2), (at(123), 1)]);
        assert_eq!((chain.counts().delayed, chain.counts().overtaken), (1, 1));
    }

    #[test]
    fn acknowledgements_cross_the_links_backwards_without_the_impairments_of_data() {
        let slow = SeededLink {
            link: LinkConfig { rate: Rate::from_bps(8e5), ..hop(vec![]).link },
            ..hop(vec![])
        };
        let hops = [slow, hop(vec![every_second_late()])];
        let mut chain = Chain::new(&hops, Direction::Reverse).unwrap();
        // 1 ms and 10 ms on the second link, then 10 ms and 10 ms on the slow one.
        assert_eq!(trace(&mut chain, &[0, 0]), [(at(31), 0), (at(41), 1)]);
    }

    #[test]
    fn every_packet_is_counted() {
        let doubling = Impairment::Duplicate { fraction: 1.0, applies: Applies::Both };
        let mut chain = Chain::new(&[hop(vec![doubling])], Direction::Forward).unwrap();
        assert_eq!(trace(&mut chain, &[0, 0, 0, 0]).len(), 6);
        let expected =
            Counts { offered: 4, delivered: 6, dropped: 1, duplicated: 3, ..Counts::default() };
        assert_eq!(chain.counts(), expected);
    }

    #[test]
    fn a_damaged_packet_is_sent_again_at_the_same_hop() {
        let applies = Applies::Data;
        let after = Duration::from_millis(4);
        let damaged = Impairment::Resend { errors: 1.0, after, attempts: Some(1), applies };
        let until = at(1);
        let once = Impairment::During { from: at(0), until, impairment: Box::new(damaged) };
        let hops = [hop(vec![once]), hop(vec![])];
        let mut chain = Chain::new(&hops, Direction::Forward).unwrap();
        // Sent from 0 to 1 ms and from 5 to 6 ms; the other from 2 to 3 ms.
        assert_eq!(trace(&mut chain, &[0, 2]), [(at(24), 1), (at(27), 0)]);
        assert_eq!((chain.counts().delayed, chain.counts().overtaken), (1, 1));
        // The same without a poll in between.
        let mut chain = Chain::new(&hops, Direction::Forward).unwrap();
        chain.offer(0, 1000, at(0));
        chain.offer(1, 1000, at(2));
        let late: Vec<_> = std::iter::from_fn(|| chain.take(at(500))).collect();
        assert_eq!(late, [(at(24), 1), (at(27), 0)]);
    }

    #[test]
    fn packets_are_shown_between_the_links_when_they_pass_there() {
        // Each link takes 11 ms. From the right, the place is behind two of them.
        for (direction, passed) in [(Direction::Forward, 11), (Direction::Reverse, 22)] {
            let hops = [hop(vec![]), hop(vec![]), hop(vec![])];
            let mut chain = Chain::new(&hops, direction).unwrap();
            chain.show_between();
            chain.offer(7, 1000, at(0));
            assert_eq!(chain.take(at(10)), None);
            assert_eq!(chain.shown().count(), 0);
            assert_eq!(chain.take(at(40)), Some((at(33), 7)));
            let shown: Vec<_> = chain.shown().collect();
            assert_eq!(shown, [Departure { at: at(passed), direction, packet: 7 }]);
        }
    }

    /// Returns paths over `links`, of which all lead to the right, with these ways.
    fn paths(links: Vec<SeededLink>, forward: Route<usize>, reverse: Vec<usize>) -> Paths {
        let directed = |link| DirectedLink { link, direction: Direction::Forward };
        let source = SourceRoutes { port: 0, forward, reverse: reverse.into() };
        let links = links.into_iter().map(directed).collect();
        Paths { links, sources: vec![source], tunnels: Vec::new() }
    }

    /// Returns a route over these ways in turn.
    fn turns(ways: &[(&[usize], f64)]) -> Route<usize> {
        let paths = ways.iter().map(|(links, weight)| (links.to_vec(), *weight)).collect();
        Route { paths, spread: Spread::RoundRobin, seed: 0 }
    }

    /// Packets 1 and 4 take the second way, which is 100 ms longer.
    #[test]
    fn packets_take_the_ways_in_turn_by_their_weights() {
        let far = LinkConfig { delay: Duration::from_millis(110), ..hop(vec![]).link };
        let links = vec![hop(vec![]), SeededLink { link: far, ..hop(vec![]) }];
        let paths = paths(links, turns(&[(&[0], 2.0), (&[1], 1.0)]), vec![]);
        let mut chain = Chain::over(&paths, &[Direction::Forward]).unwrap();
        let late = trace(&mut chain, &[0, 10, 20, 30, 40]);
        assert_eq!(late, [(at(11), 0), (at(31), 2), (at(41), 3), (at(121), 1), (at(151), 4)]);
        assert_eq!(chain.taken(Direction::Forward), [[3, 2]]);
        assert_eq!((chain.counts().overtaken, chain.counts().delayed), (1, 0));
    }

    /// Three packets at once arrive at the common link at 11, 11 and 12 ms: two by the first way and one by
    /// the second. The common link sends them one after another.
    #[test]
    fn ways_that_meet_share_the_rest_of_their_links() {
        let links = vec![hop(vec![]), hop(vec![]), hop(vec![])];
        let paths = paths(links, turns(&[(&[0, 2], 1.0), (&[1, 2], 1.0)]), vec![]);
        let mut chain = Chain::over(&paths, &[Direction::Forward]).unwrap();
        let out = trace(&mut chain, &[0, 0, 0]);
        assert_eq!(out, [(at(22), 0), (at(23), 1), (at(24), 2)]);
    }

    /// Data take links 0 and 1, acknowledgements 2, 1 and 3. Each link takes 11 ms, so both reach link 1 at 11
    /// ms, and the acknowledgement waits for the data there.
    #[test]
    fn packets_of_both_directions_wait_for_each_other_on_a_common_link() {
        let links = vec![hop(vec![]), hop(vec![]), hop(vec![]), hop(vec![])];
        let paths = paths(links, vec![0, 1].into(), vec![2, 1, 3]);
        assert!(paths.share_links());
        let both = [Direction::Forward, Direction::Reverse];
        let mut chain = Chain::over(&paths, &both).unwrap();
        chain.offer_in(Direction::Forward, 1, 1000, at(0));
        chain.offer_in(Direction::Reverse, 2, 1000, at(0));
        let out: Vec<_> = std::iter::from_fn(|| chain.depart(at(500))).collect();
        let expected = [(22, Direction::Forward, 1), (34, Direction::Reverse, 2)];
        let expected =
            expected.map(|(ms, direction, packet)| Departure { at: at(ms), direction, packet });
        assert_eq!(out, expected);
        for direction in both {
            assert_eq!(chain.counts_in(direction).delivered, 1);
        }
    }

    /// The second way returns to the left end, so that its packets enter the first link after a later packet
    /// has been offered, if the path is not polled in between.
    #[test]
    fn packets_that_return_to_an_end_enter_its_links_in_the_order_of_time() {
        let links = || vec![hop(vec![]), hop(vec![]), hop(vec![])];
        let route = || turns(&[(&[1, 2, 0], 1.0), (&[0], 1.0)]);
        let polled = |poll: u64| {
            let paths = paths(links(), route(), vec![]);
            let mut chain = Chain::over(&paths, &[Direction::Forward]).unwrap();
            let mut out = Vec::new();
            for (packet, time) in [0, 21, 22, 44].into_iter().enumerate() {
                if time >= poll {
                    out.extend(std::iter::from_fn(|| chain.take(at(time))));
                }
                chain.offer(packet, 1000, at(time));
            }
            out.extend(std::iter::from_fn(|| chain.take(at(500))));
            out
        };
        // The first is at the left end again at 22 ms, when packet 1 leaves the transmitter there.
        let expected = [(at(32), 1), (at(33), 0), (at(55), 2), (at(56), 3)];
        assert_eq!(polled(0), expected);
        assert_eq!(polled(1000), expected);
    }

    /// Ports of a packet stand for its source. The second source has the far way.
    #[test]
    fn each_source_has_its_own_routes() {
        #[derive(Clone, Copy, Debug, PartialEq)]
        struct Ports(u16, u16);
        impl Carried for Ports {
            fn facts(&self) -> Option<Facts> {
                let host = std::net::IpAddr::from([10, 0, 0, 1]);
                let flow = Flow {
                    protocol: Protocol::Tcp,
                    interface: 0,
                    source: host,
                    destination: host,
                    ports: (self.0, self.1),
                    context: 0,
                };
                Some(Facts { flow, role: Role::Acknowledgement, octets: 0 })
            }
        }
        let far = LinkConfig { delay: Duration::from_millis(110), ..hop(vec![]).link };
        let links = vec![hop(vec![]), SeededLink { link: far, ..hop(vec![]) }];
        let mut paths = paths(links, vec![0].into(), vec![0]);
        let second = SourceRoutes { port: 80, forward: vec![1].into(), reverse: vec![1].into() };
        paths.sources.push(second);
        for (direction, ports) in
            [(Direction::Forward, Ports(9, 80)), (Direction::Reverse, Ports(80, 9))]
        {
            let mut chain = Chain::over(&paths, &[direction]).unwrap();
            for packet in [ports, Ports(9, 81), Ports(81, 9)] {
                chain.offer(packet, 1000, at(0));
            }
            let out: Vec<_> = std::iter::from_fn(|| chain.take(at(500))).collect();
            assert_eq!(out, [(at(11), Ports(9, 81)), (at(12), Ports(81, 9)), (at(111), ports)]);
            assert_eq!(chain.taken(direction), [[2], [1]]);
        }
    }

    #[test]
    fn a_late_poll_changes_nothing() {
        let hops = [hop(vec![every_second_late()]), hop(vec![])];
        let mut chain = Chain::new(&hops, Direction::Forward).unwrap();
        chain.offer(0, 1000, at(0));
        chain.offer(1, 1000, at(0));
        assert_eq!(chain.take(at(500)), Some((at(22), 0)));
        assert_eq!(chain.take(at(500)), Some((at(123), 1)));
    }
}
