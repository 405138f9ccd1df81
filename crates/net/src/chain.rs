//! One direction of a path of several links, and the packets on it; clock-free.
//!
//! A [`Link`] wants its packets in the order of time. As long as a link keeps order, the next one
//! can be asked at once; behind a link that shuffles, packets wait here until they are due and go
//! on in the order of their arrival. They go on *at* the instant they were due, however late
//! anybody asked, so being late at one hop does not add up over the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use unruffled_path::{
    ConfigError, Direction, DropCause, Link, LinkConfig, Outcome, Ticket, Verdict,
};
use unruffled_units::Instant;

/// A link of the path, and the seed of all that is random on it.
#[derive(Clone, Debug, PartialEq)]
pub struct SeededLink {
    /// The link; both directions have the same rate, delay and queue.
    pub link: LinkConfig,
    /// Its seed; the two directions draw from different streams of it.
    pub seed: u64,
}

impl From<(&LinkConfig, u64)> for SeededLink {
    fn from((link, seed): (&LinkConfig, u64)) -> Self {
        Self { link: link.clone(), seed }
    }
}

/// What became of the packets so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that came to the path.
    pub offered: u64,
    /// Packets that have left it at its far end, copies included.
    pub delivered: u64,
    /// Those of them that left behind one that had come later.
    pub overtaken: u64,
    /// Packets that a full queue dropped.
    pub dropped: u64,
    /// Packets lost behind a queue.
    pub lost: u64,
    /// Times that a packet left the order at a link: delayed, sent again, or ahead of others.
    pub delayed: u64,
    /// Copies that a link made.
    pub duplicated: u64,
}

/// Packets of type `P` on one direction of a path.
#[derive(Debug)]
pub struct Chain<P> {
    hops: Vec<Link>,
    direction: Direction,
    waiting: BinaryHeap<Reverse<Waiting<P>>>,
    /// Orders packets that are due at the same instant.
    serial: u64,
    /// The latest to come among those that have left, counted from 1.
    last_out: u64,
    counts: Counts,
    /// The hop before which packets are shown, and those that came there.
    shown_before: Option<usize>,
    shown: Vec<(Instant, P)>,
}

#[derive(Debug)]
struct Waiting<P> {
    due: Instant,
    serial: u64,
    next: Next,
    packet: Crossing<P>,
}

/// The next step of a packet that waits.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// It comes to this hop; the number of hops stands for the far end.
    Hop(usize),
    /// This hop damaged it, and may send it again.
    Again(usize, Ticket),
}

/// A packet on its way.
#[derive(Clone, Debug)]
struct Crossing<P> {
    /// Which of those that came it is, counted from 1.
    number: u64,
    bytes: u32,
    packet: P,
}

impl<P: Clone> Chain<P> {
    /// An empty path through `hops`, which are listed from left to right, in `direction`.
    ///
    /// # Errors
    /// A link's configuration that makes no sense.
    pub fn new(hops: &[SeededLink], direction: Direction) -> Result<Self, ConfigError> {
        let link = |hop: &SeededLink| Link::new(&hop.link, direction, hop.seed);
        let mut hops = hops.iter().map(link).collect::<Result<Vec<_>, _>>()?;
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

    /// From now on, [`shown`](Self::shown) gives the packets that pass between the leftmost link
    /// and the others. A path of one link has no such place.
    pub fn show_between(&mut self) {
        let before = match self.direction {
            Direction::Forward => 1,
            Direction::Reverse => self.hops.len().saturating_sub(1),
        };
        self.shown_before = (self.hops.len() > 1).then_some(before);
    }

    /// The packets that have passed there since this was last asked, and when each did.
    pub fn shown(&mut self) -> impl Iterator<Item = (Instant, P)> {
        self.shown.drain(..)
    }

    /// Takes a packet of `bytes` octets at `now`, which must not go backwards, neither here nor
    /// behind what [`take`](Self::take) was told.
    pub fn offer(&mut self, packet: P, bytes: u32, now: Instant) {
        self.counts.offered += 1;
        let number = self.counts.offered;
        self.cross(Crossing { number, bytes, packet }, 0, now);
    }

    /// When something happens next on the path.
    pub fn due(&self) -> Option<Instant> {
        self.waiting.peek().map(|Reverse(first)| first.due)
    }

    /// The next packet that has left the path by `now`, and when it did.
    pub fn take(&mut self, now: Instant) -> Option<(Instant, P)> {
        loop {
            if self.due()? > now {
                return None;
            }
            let Reverse(first) = self.waiting.pop()?;
            let next = match first.next {
                Next::Again(hop, ticket) => {
                    if let Some(outcome) = self.hops[hop].resume(ticket) {
                        self.travel(first.packet, hop, outcome);
                    }
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

    /// What became of the packets so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The packet comes to hop `next` at `at`.
    fn cross(&mut self, packet: Crossing<P>, mut next: usize, mut at: Instant) {
        while let Some(hop) = self.hops.get_mut(next) {
            let outcome = hop.offer(packet.bytes, self.direction, at);
            match outcome.verdict {
                Verdict::Deliver(arrival) if hop.keeps_order() => at = arrival,
                _ => return self.travel(packet, next, outcome),
            }
            next += 1;
            if self.shown_before == Some(next) {
                break;
            }
        }
        self.wait(packet, Next::Hop(next), at);
    }

    /// What became of the packet at `hop`.
    fn travel(&mut self, packet: Crossing<P>, hop: usize, outcome: Outcome) {
        let arrival = match outcome.verdict {
            Verdict::Drop(DropCause::Queue) => return self.counts.dropped += 1,
            Verdict::Drop(DropCause::Loss) => return self.counts.lost += 1,
            Verdict::Held { until, ticket } => {
                return self.wait(packet, Next::Again(hop, ticket), until);
            }
            Verdict::Deliver(arrival) => arrival,
        };
        self.counts.delayed += u64::from(outcome.detoured);
        let next = Next::Hop(hop + 1);
        if outcome.duplicate {
            self.counts.duplicated += 1;
            self.wait(packet.clone(), next, arrival);
        }
        self.wait(packet, next, arrival);
    }

    fn wait(&mut self, packet: Crossing<P>, next: Next, due: Instant) {
        let serial = self.serial;
        self.serial += 1;
        self.waiting.push(Reverse(Waiting { due, serial, next, packet }));
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

    const fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// 1 ms for every 1000 octets, then 10 ms.
    fn hop(impairments: Vec<Impairment>) -> SeededLink {
        let (rate, delay) = (Rate::from_bps(8e6), Duration::from_millis(10));
        SeededLink {
            link: LinkConfig { rate, delay, queue: Some(3), red: None, impairments },
            seed: 1,
        }
    }

    fn every_second_late() -> Impairment {
        let (extra, applies) = (Duration::from_millis(100), Applies::Data);
        Impairment::Alternate { every: 2, extra, applies }
    }

    /// Offers packets 0, 1, 2 … of 1000 octets at `times`, and takes all that comes out.
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
    fn late_packets_come_to_the_next_link_when_they_get_there() {
        let hops = [hop(vec![every_second_late()]), hop(vec![])];
        let mut chain = Chain::new(&hops, Direction::Forward).unwrap();
        let late = trace(&mut chain, &[0, 1, 2]);
        // The second link is free again long before the late packet gets there.
        assert_eq!(late, [(at(22), 0), (at(24), 2), (at(123), 1)]);
        assert_eq!((chain.counts().delayed, chain.counts().overtaken), (1, 1));
    }

    #[test]
    fn acknowledgements_cross_the_links_backwards_and_are_spared_what_befalls_data() {
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
        // No poll came in between.
        let mut chain = Chain::new(&hops, Direction::Forward).unwrap();
        chain.offer(0, 1000, at(0));
        chain.offer(1, 1000, at(2));
        let late: Vec<_> = std::iter::from_fn(|| chain.take(at(500))).collect();
        assert_eq!(late, [(at(24), 1), (at(27), 0)]);
    }

    #[test]
    fn packets_are_shown_between_the_links_when_they_pass_there() {
        // 11 ms each; from the right, the place is behind two of them.
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
    fn asking_late_changes_nothing() {
        let hops = [hop(vec![every_second_late()]), hop(vec![])];
        let mut chain = Chain::new(&hops, Direction::Forward).unwrap();
        chain.offer(0, 1000, at(0));
        chain.offer(1, 1000, at(0));
        assert_eq!(chain.take(at(500)), Some((at(22), 0)));
        assert_eq!(chain.take(at(500)), Some((at(123), 1)));
    }
}
