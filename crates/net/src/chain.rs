//! One direction of a path of several links, and the packets on it, without a clock.
//!
//! A [`Link`] expects its packets in order of time. While a link keeps order, a packet is offered to
//! the next link at once. Behind a link that reorders, packets wait here until they are due, and are then
//! offered to the next link in the order of their arrival. They are offered *at* the instant at which they
//! were due, even if [`Chain::take`] is called later, so lateness does not accumulate over hops.
//!
//! A link may have a gateway at its far end. Packets wait until they arrive there, pass through it in the
//! order of their arrival, and go on when it releases them.

mod gateway;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use unruffled_path::{
    ConfigError, Direction, DropCause, Leaving, Link, LinkConfig, Outcome, Packet, Ticket, Verdict,
};
use unruffled_resequence::{Config as Resequence, Counters as Resequenced, Packet as Facts};
use unruffled_units::Instant;

use gateway::Gateway;

/// A link of the path, and the seed of its random decisions.
#[derive(Clone, Debug, PartialEq)]
pub struct SeededLink {
    /// Configuration of the link. Both directions have the same rate, delay and queue.
    pub link: LinkConfig,
    /// Bounds of the resequencer at its right end, for packets that travel from left to right. `None`:
    /// packets leave the link as they arrive.
    pub resequence: Option<Resequence>,
    /// Seed of the link. The two directions use different random streams of it.
    pub seed: u64,
}

impl From<(&LinkConfig, Option<Resequence>, u64)> for SeededLink {
    fn from((link, resequence, seed): (&LinkConfig, Option<Resequence>, u64)) -> Self {
        Self { link: link.clone(), resequence, seed }
    }
}

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
}

/// Counts of the packets so far.
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
}

impl Counts {
    fn record_drop(&mut self, cause: DropCause) {
        match cause {
            DropCause::Queue => self.dropped += 1,
            DropCause::Loss => self.lost += 1,
            DropCause::Replay => self.replay_drops += 1,
            DropCause::Ranges => self.range_drops += 1,
        }
    }
}

/// Packets of type `P` on one direction of a path.
#[derive(Debug)]
pub struct Chain<P> {
    hops: Vec<Hop<P>>,
    direction: Direction,
    waiting: BinaryHeap<Reverse<Waiting<P>>>,
    /// Orders packets that are due at the same instant.
    serial: u64,
    /// Highest number among the packets that have left; see [`Crossing::number`].
    last_out: u64,
    counts: Counts,
    /// Hop before which packets are shown.
    shown_before: Option<usize>,
    /// Packets that passed there since the last call of [`Chain::shown`].
    shown: Vec<(Instant, P)>,
}

/// A link, and the gateway at its far end.
#[derive(Debug)]
struct Hop<P> {
    link: Link,
    gateway: Option<Box<Gateway<Crossing<P>>>>,
}

#[derive(Debug)]
struct Waiting<P> {
    due: Instant,
    serial: u64,
    next: Next,
    packet: Crossing<P>,
}

/// Next step of a waiting packet.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// The packet arrives at this hop. The number of hops stands for the far end.
    Hop(usize),
    /// This hop damaged it and may send it again.
    Again(usize, Ticket),
    /// The packet arrives at the gateway of this hop.
    Gateway(usize),
}

/// A packet on its way.
#[derive(Clone, Debug)]
struct Crossing<P> {
    /// Number of the packet in the order of entry, from 1.
    number: u64,
    /// Number of the packet on the link that it crosses; see [`Link::offered`].
    number_on_link: u64,
    /// Number of packets for which it waits at the far end of this link; see [`Outcome::late_by`].
    late_by: u32,
    bytes: u32,
    packet: P,
}

impl<P: Carried> Chain<P> {
    /// Creates an empty path through `hops`, which are listed from left to right, in `direction`.
    ///
    /// # Errors
    /// If the configuration of a link is invalid.
    pub fn new(hops: &[SeededLink], direction: Direction) -> Result<Self, ConfigError> {
        let hop = |hop: &SeededLink| {
            let link = Link::new(&hop.link, direction, hop.seed)?;
            let bounds = hop.resequence.filter(|_| direction == Direction::Forward);
            let gateway = Gateway::new(&hop.link, direction, bounds).map(Box::new);
            Ok(Hop { link, gateway })
        };
        let mut hops = hops.iter().map(hop).collect::<Result<Vec<_>, _>>()?;
        if direction == Direction::Reverse {
            hops.reverse();
        }
        Ok(Self {
            hops,
            direction,
            waiting: BinaryHeap::new(),
            serial: 0,
            last_out: 0,
            counts: Counts::default(),
            shown_before: None,
            shown: Vec::new(),
        })
    }

    /// Enables [`shown`](Self::shown), which then returns the packets that pass between the leftmost link
    /// and the others. A path of one link has no such place.
    pub fn show_between(&mut self) {
        let before = match self.direction {
            Direction::Forward => 1,
            Direction::Reverse => self.hops.len().saturating_sub(1),
        };
        self.shown_before = (self.hops.len() > 1).then_some(before);
    }

    /// Returns the packets that passed there since the last call, each with its time.
    pub fn shown(&mut self) -> impl Iterator<Item = (Instant, P)> {
        self.shown.drain(..)
    }

    /// Enters a packet of `bytes` octets at `now`, which must not be earlier than the time of any earlier
    /// call of this method or of [`take`](Self::take).
    pub fn offer(&mut self, packet: P, bytes: u32, now: Instant) {
        self.counts.offered += 1;
        let number = self.counts.offered;
        self.cross(Crossing { number, number_on_link: 0, late_by: 0, bytes, packet }, 0, now);
    }

    /// Returns the time of the next event on the path, if any.
    pub fn due(&self) -> Option<Instant> {
        let arrival = self.waiting.peek().map(|Reverse(first)| first.due);
        let timeout = self.timeout().map(|(at, _)| at);
        arrival.into_iter().chain(timeout).min()
    }

    /// Returns the time at which the next wait in a gateway ends, and its hop.
    fn timeout(&self) -> Option<(Instant, usize)> {
        let gateways = self.hops.iter().enumerate();
        let gateways =
            gateways.filter_map(|(hop, Hop { gateway, .. })| Some((hop, gateway.as_ref()?)));
        gateways.filter_map(|(hop, gateway)| Some((gateway.timeout()?, hop))).min()
    }

    /// Returns the next packet that has left the path by `now`, with the time at which it left.
    pub fn take(&mut self, now: Instant) -> Option<(Instant, P)> {
        loop {
            if self.due()? > now {
                return None;
            }
            // A packet that arrives at the instant at which a wait ends is in time.
            let arrival = self.waiting.peek().map(|Reverse(first)| first.due);
            if let Some((at, hop)) = self.timeout()
                && arrival.is_none_or(|arrival| at < arrival)
            {
                self.gateway(hop, |gateway| gateway.end_waits(at));
                continue;
            }
            let Reverse(first) = self.waiting.pop()?;
            let next = match first.next {
                Next::Again(hop, ticket) => {
                    if let Some(outcome) = self.hops[hop].link.resume(ticket) {
                        self.travel(first.packet, hop, outcome);
                    }
                    continue;
                }
                Next::Gateway(hop) => {
                    let facts = first.packet.packet.facts();
                    self.gateway(hop, |gateway| {
                        let number = (first.packet.number_on_link, first.packet.late_by);
                        gateway.arrive(facts, number, first.packet, first.due)
                    });
                    continue;
                }
                Next::Hop(next) => next,
            };
            if next == self.hops.len() {
                let Crossing { number, packet, .. } = first.packet;
                self.counts.delivered += 1;
                self.counts.overtaken += u64::from(number < self.last_out);
                self.last_out = self.last_out.max(number);
                return Some((first.due, packet));
            }
            if self.shown_before == Some(next) {
                self.shown.push((first.due, first.packet.packet.clone()));
            }
            self.cross(first.packet, next, first.due);
        }
    }

    /// Returns the counts of the packets so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the counts of the resequencers, in the order in which packets cross them.
    pub fn resequenced(&self) -> Vec<Resequenced> {
        self.hops.iter().filter_map(|hop| hop.gateway.as_ref()?.counters()).collect()
    }

    /// Moves the packet to hop `next` at `at`, and on while links keep order.
    fn cross(&mut self, mut packet: Crossing<P>, mut next: usize, mut at: Instant) {
        while let Some(hop) = self.hops.get_mut(next) {
            let ect = packet.packet.is_ect();
            let offered = Packet { bytes: packet.bytes, direction: self.direction, ect };
            let outcome = hop.link.offer_packet(offered, at);
            packet.number_on_link = hop.link.offered();
            if outcome.marked {
                packet.packet.mark();
                self.counts.marked += 1;
            }
            match outcome.verdict {
                Verdict::Deliver(arrival) if hop.passes_at_once() => at = arrival,
                _ => return self.travel(packet, next, outcome),
            }
            next += 1;
            if self.shown_before == Some(next) {
                break;
            }
        }
        self.wait(packet, Next::Hop(next), at);
    }

    /// Handles the outcome of the packet at `hop`.
    fn travel(&mut self, mut packet: Crossing<P>, hop: usize, outcome: Outcome) {
        packet.late_by = outcome.late_by;
        let arrival = match outcome.verdict {
            Verdict::Drop(cause) => return self.counts.record_drop(cause),
            Verdict::Held { until, ticket } => {
                return self.wait(packet, Next::Again(hop, ticket), until);
            }
            Verdict::Deliver(arrival) => arrival,
        };
        self.counts.delayed += u64::from(outcome.detoured);
        let next = match self.hops[hop].gateway {
            Some(_) => Next::Gateway(hop),
            None => Next::Hop(hop + 1),
        };
        if outcome.duplicate {
            self.counts.duplicated += 1;
            self.wait(packet.clone(), next, arrival);
        }
        self.wait(packet, next, arrival);
    }

    /// Calls `act` with the gateway of `hop`, and handles the packets that leave it.
    fn gateway(&mut self, hop: usize, act: impl FnOnce(&mut Gateway<Crossing<P>>) -> Instant) {
        let Some(mut gateway) = self.hops[hop].gateway.take() else { return };
        let at = act(&mut gateway);
        while let Some(leaving) = gateway.release() {
            match leaving {
                Leaving::Passes(packet) => self.wait(packet, Next::Hop(hop + 1), at),
                Leaving::Dropped(_, cause) => self.counts.record_drop(cause),
            }
        }
        self.hops[hop].gateway = Some(gateway);
    }

    fn wait(&mut self, packet: Crossing<P>, next: Next, due: Instant) {
        let serial = self.serial;
        self.serial += 1;
        self.waiting.push(Reverse(Waiting { due, serial, next, packet }));
    }
}

impl<P> Hop<P> {
    /// Returns whether a packet may be offered to the next hop as soon as this one has it: packets leave
    /// this hop in the order and at the times of the link's verdicts.
    fn passes_at_once(&self) -> bool {
        self.link.keeps_order() && self.gateway.is_none()
    }
}

impl<P> Ord for Waiting<P> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.serial).cmp(&(other.due, other.serial))
    }
}

impl<P> PartialOrd for Waiting<P> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for Waiting<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P> Eq for Waiting<P> {}

#[cfg(test)]
mod tests {
    use unruffled_path::{Applies, Impairment};
    use unruffled_units::{Duration, Rate};

    use super::*;

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
            assert_eq!(chain.shown().collect::<Vec<_>>(), [(at(passed), 7)]);
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
