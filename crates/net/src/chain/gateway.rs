//! Gateway at the far end of a link: an exit that may drop packets, then a resequencer.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use unruffled_path::{Applies, Arrival, Exit, Leaving, Link, LinkConfig, Outcome, Piece, Span};
use unruffled_resequence::{Config, Counters, Packet, Protocol, Resequencer, Role};
use unruffled_units::Instant;

/// An exit or a resequencer, or both, of values of type `T`, with the time of the latest event at it.
#[derive(Debug)]
pub(super) struct Gateway<T> {
    exit: Option<Exit<(Option<Packet>, T)>>,
    resequencer: Option<Resequencer<T>>,
    /// Packets that leave without the resequencer.
    leaving: VecDeque<Leaving<T>>,
    latest: Instant,
}

impl<T> Gateway<T> {
    /// Creates the gateway of a link with the packets in `carries` and the bounds of its resequencer. Returns
    /// `None` if packets leave the link as they arrive.
    pub(super) fn new(
        config: &LinkConfig,
        carries: Applies,
        bounds: Option<Config>,
    ) -> Option<Self> {
        let exit = Exit::carrying(config, carries);
        if exit.is_none() && bounds.is_none() {
            return None;
        }
        let resequencer = bounds.map(Resequencer::new);
        Some(Self { exit, resequencer, leaving: VecDeque::new(), latest: Instant::ZERO })
    }

    /// Records the arrivals of the fragments of the packet that was offered to `link` last; see [`Exit::expect`].
    pub(super) fn expect(&mut self, link: &Link, outcome: &Outcome, now: Instant) {
        if let Some(exit) = &mut self.exit {
            exit.expect(link, outcome, now);
        }
    }

    /// Takes a packet that arrives at `at`, and returns the time at which packets are released. `arrival` lacks
    /// its piece. A packet without `facts` passes the resequencer at once.
    pub(super) fn arrive(
        &mut self,
        facts: Option<Packet>,
        arrival: Arrival,
        packet: T,
        at: Instant,
    ) -> Instant {
        self.latest = self.latest.max(at);
        match &mut self.exit {
            Some(exit) => {
                let piece = if exit.reads_pieces() { facts.as_ref().and_then(piece) } else { None };
                exit.handle(Arrival { piece, ..arrival }, (facts, packet), self.latest);
                self.leave_exit();
            }
            None => self.resequence(facts, packet),
        }
        self.latest
    }

    /// Passes on all packets that leave the exit.
    fn leave_exit(&mut self) {
        while let Some(leaving) = self.exit.as_mut().and_then(Exit::poll) {
            match leaving {
                Leaving::Passes((facts, packet)) => self.resequence(facts, packet),
                Leaving::Dropped((_, packet), cause) => {
                    self.leaving.push_back(Leaving::Dropped(packet, cause));
                }
            }
        }
    }

    /// Passes a packet to the resequencer, if there is one that can order it.
    fn resequence(&mut self, facts: Option<Packet>, packet: T) {
        match (&mut self.resequencer, facts) {
            (Some(resequencer), Some(facts)) => resequencer.handle(&facts, packet, self.latest),
            _ => self.leaving.push_back(Leaving::Passes(packet)),
        }
    }

    /// Ends the waits that are over at `at`, and returns the time at which packets are released.
    pub(super) fn end_waits(&mut self, at: Instant) -> Instant {
        self.latest = self.latest.max(at);
        if let Some(exit) = &mut self.exit {
            exit.handle_timeout(self.latest);
            self.leave_exit();
        }
        if let Some(resequencer) = &mut self.resequencer {
            resequencer.handle_timeout(self.latest);
        }
        self.latest
    }

    /// Returns the time at which [`end_waits`](Self::end_waits) is due, if any packet is held. A wait that
    /// a packet cut short is due at once.
    pub(super) fn timeout(&self) -> Option<Instant> {
        let exit = self.exit.as_ref().and_then(Exit::poll_timeout);
        let resequencer = self.resequencer.as_ref().and_then(Resequencer::poll_timeout);
        exit.into_iter().chain(resequencer).min().map(|at| at.max(self.latest))
    }

    /// Returns the next packet that goes on or is dropped.
    pub(super) fn release(&mut self) -> Option<Leaving<T>> {
        let released = || Some(Leaving::Passes(self.resequencer.as_mut()?.poll_release()?));
        self.leaving.pop_front().or_else(released)
    }

    /// Returns the counts of the resequencer so far, if there is one.
    pub(super) fn counters(&self) -> Option<Counters> {
        self.resequencer.as_ref().map(Resequencer::counters)
    }
}

/// Returns the TCP octets of a packet.
fn piece(facts: &Packet) -> Option<Piece> {
    if facts.flow.protocol != Protocol::Tcp {
        return None;
    }
    let span = match facts.role {
        Role::Open { next } => Span::Opens(next),
        Role::Data { number, span, .. } => Span::Octets { first: number as u32, len: span },
        Role::Acknowledgement => return None,
        Role::Close => Span::Closes,
    };
    let mut hasher = DefaultHasher::new();
    facts.flow.hash(&mut hasher);
    Some(Piece { flow: hasher.finish(), span })
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use proptest::prelude::*;
    use unruffled_path::{Direction, ExitConfig, Impairment, ReplayWindow};
    use unruffled_resequence::{Flow, Protocol, Role};
    use unruffled_units::{Duration, Rate};

    use super::*;
    use crate::{Carried, Chain, SeededLink};

    const MAX_HOLD: Duration = Duration::from_millis(150);

    const fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// A packet on the test path.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Sent {
        /// The SYN of the flow.
        Syn,
        /// Its n-th packet of 1000 octets.
        Data(u64),
        /// A packet that cannot be read.
        Unknown(u64),
    }

    impl Carried for Sent {
        fn facts(&self) -> Option<Packet> {
            let host = |n| IpAddr::V4(Ipv4Addr::new(10, 0, 0, n));
            let flow = Flow {
                protocol: Protocol::Tcp,
                interface: 0,
                source: host(1),
                destination: host(2),
                ports: (1000, 80),
                context: 0,
            };
            let role = match *self {
                Self::Syn => Role::Open { next: 0 },
                Self::Data(n) => Role::Data { number: 1000 * n, span: 1000, timestamp: None },
                Self::Unknown(_) => return None,
            };
            Some(Packet { flow, role, octets: 2000 })
        }
    }

    /// A link that takes 1 ms for every 1000 octets and then 10 ms, or 110 ms for every second packet, with
    /// a resequencer at its end.
    fn hop() -> SeededLink {
        let extra = Duration::from_millis(100);
        let link = LinkConfig {
            rate: Rate::from_bps(8e6),
            delay: Duration::from_millis(10),
            impairments: vec![Impairment::Alternate { every: 2, extra, applies: Applies::Data }],
            ..LinkConfig::default()
        };
        SeededLink { link, resequence: Some(bounds(MAX_HOLD)), seed: 1 }
    }

    fn bounds(max_hold: Duration) -> Config {
        Config { max_hold, ..Config::default() }
    }

    /// A link that takes 1 ms for every 1000 octets and then 10 ms.
    fn even_hop() -> SeededLink {
        let link = LinkConfig { impairments: Vec::new(), ..hop().link };
        SeededLink { link, resequence: None, seed: 1 }
    }

    /// Offers five packets of data at 200 ms. The second and the fourth, packets 1 and 3, are late: they
    /// leave the link at 312 and 314 ms, and the others at 211, 213 and 215. The SYN leaves it at 11 ms, so
    /// the round trip of the handshake seems to be 200 ms. It bounds the first wait, as `MAX_HOLD` does.
    fn five_packets(hops: &[SeededLink]) -> Vec<(u64, u64)> {
        let mut chain = Chain::new(hops, Direction::Forward).unwrap();
        chain.offer(Sent::Syn, 1000, at(0));
        chain.offer(Sent::Unknown(0), 1000, at(0));
        assert_eq!(take(&mut chain, 199).len(), 2);
        for n in 0..5 {
            chain.offer(Sent::Data(n), 1000, at(200));
        }
        let name = |(time, packet): (Instant, Sent)| match packet {
            Sent::Data(n) => (time.as_nanos() / 1_000_000, n),
            other => panic!("{other:?} leaves the path at {time}"),
        };
        take(&mut chain, 1000).into_iter().map(name).collect()
    }

    #[test]
    fn early_packets_wait_for_the_late_ones_that_they_overtook() {
        let expected = [(211, 0), (312, 1), (312, 2), (314, 3), (314, 4)];
        assert_eq!(five_packets(&[hop()]), expected);
    }

    #[test]
    fn packets_leave_without_a_resequencer_as_they_arrive() {
        let hop = SeededLink { resequence: None, ..hop() };
        assert_eq!(five_packets(&[hop]), [(211, 0), (213, 2), (215, 4), (312, 1), (314, 3)]);
    }

    /// The first gap is seen at 213 ms and the second at 215.
    #[test]
    fn a_packet_waits_for_the_bound_at_most() {
        let hop = SeededLink { resequence: Some(bounds(Duration::from_millis(50))), ..hop() };
        assert_eq!(five_packets(&[hop]), [(211, 0), (263, 2), (265, 4), (312, 1), (314, 3)]);
    }

    /// The waits would end at 312 and 314 ms.
    #[test]
    fn a_packet_that_arrives_as_the_wait_ends_is_in_time() {
        let hop = SeededLink { resequence: Some(bounds(Duration::from_millis(99))), ..hop() };
        let expected = [(211, 0), (312, 1), (312, 2), (314, 3), (314, 4)];
        assert_eq!(five_packets(&[hop]), expected);
    }

    /// The second link transmits the packets one after another, in the order in which they are released.
    #[test]
    fn packets_cross_the_next_link_in_order() {
        let expected = [(222, 0), (323, 1), (324, 2), (325, 3), (326, 4)];
        assert_eq!(five_packets(&[hop(), even_hop()]), expected);
    }

    /// The resequencer is behind the second link: packets 2 and 4 reach it at 224 and 226 ms, packets 1 and
    /// 3 at 323 and 325.
    #[test]
    fn a_resequencer_orders_what_an_earlier_link_has_reordered() {
        let first = SeededLink { resequence: None, ..hop() };
        let second = SeededLink { resequence: Some(bounds(MAX_HOLD)), ..even_hop() };
        let expected = [(222, 0), (323, 1), (323, 2), (325, 3), (325, 4)];
        assert_eq!(five_packets(&[first, second]), expected);
    }

    /// Returns what leaves the path by `now`.
    fn take(chain: &mut Chain<Sent>, now: u64) -> Vec<(Instant, Sent)> {
        std::iter::from_fn(|| chain.take(at(now))).collect()
    }

    #[test]
    fn a_packet_in_order_and_a_packet_that_cannot_be_read_pass_at_once() {
        let mut chain = Chain::new(&[hop()], Direction::Forward).unwrap();
        chain.offer(Sent::Syn, 1000, at(0));
        chain.offer(Sent::Unknown(1), 1000, at(0));
        chain.offer(Sent::Data(0), 1000, at(0));
        let expected = [(at(11), Sent::Syn), (at(13), Sent::Data(0)), (at(112), Sent::Unknown(1))];
        assert_eq!(take(&mut chain, 500), expected);
        assert_eq!(chain.resequenced()[0].packets, 2);
    }

    #[test]
    fn packets_cross_the_path_backwards_without_the_resequencer() {
        let mut chain = Chain::new(&[hop()], Direction::Reverse).unwrap();
        chain.offer(Sent::Data(1), 1000, at(0));
        chain.offer(Sent::Data(0), 1000, at(0));
        assert_eq!(take(&mut chain, 500), [(at(11), Sent::Data(1)), (at(12), Sent::Data(0))]);
        assert_eq!(chain.resequenced(), []);
    }

    /// Packet 0 is the third that the link carries, after the SYN and the unknown one. Packets 1 and 3 are
    /// overtaken by three and by one.
    #[test]
    fn a_replay_window_drops_late_packets_before_the_resequencer() {
        let hop = |behind| {
            let replay = Some(ReplayWindow::new(behind));
            let link = LinkConfig { exit: ExitConfig { replay, ranges: None }, ..hop().link };
            SeededLink { link, resequence: None, seed: 1 }
        };
        let all = [(211, 0), (213, 2), (215, 4), (312, 1), (314, 3)];
        assert_eq!(five_packets(&[hop(4)]), all);
        // Packet 1 is 3 behind packet 4.
        assert_eq!(five_packets(&[hop(3)]), [(211, 0), (213, 2), (215, 4), (314, 3)]);
        assert_eq!(five_packets(&[hop(1)]), [(211, 0), (213, 2), (215, 4)]);
        // Packet 2 waits for packet 1 until the bound.
        let ordered = SeededLink { resequence: Some(bounds(MAX_HOLD)), ..hop(3) };
        let left = five_packets(&[ordered]);
        assert_eq!(left[..2], [(211, 0), (363, 2)]);
        assert_eq!(left[2..].iter().map(|(_, n)| *n).collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn drops_of_a_replay_window_are_counted_by_themselves() {
        let replay = Some(ReplayWindow::new(1));
        let link = LinkConfig { exit: ExitConfig { replay, ranges: None }, ..hop().link };
        let hop = SeededLink { link, resequence: None, seed: 1 };
        let mut chain = Chain::new(&[hop], Direction::Forward).unwrap();
        for n in 0..10 {
            chain.offer(Sent::Data(n), 1000, at(0));
        }
        // The last packet is late as well, but none overtakes it.
        assert_eq!(take(&mut chain, 1000).len(), 6);
        let counts = chain.counts();
        assert_eq!((counts.offered, counts.delivered, counts.replay_drops), (10, 6, 4));
        assert_eq!((counts.lost, counts.dropped, counts.range_drops), (0, 0, 0));
    }

    #[test]
    fn a_limit_on_ranges_drops_data_beyond_a_gap() {
        let exit = ExitConfig { replay: None, ranges: Some(1) };
        let link = LinkConfig { exit, ..hop().link };
        let hop = SeededLink { link, resequence: None, seed: 1 };
        let mut chain = Chain::new(&[hop], Direction::Forward).unwrap();
        chain.offer(Sent::Syn, 1000, at(0));
        assert_eq!(take(&mut chain, 100).len(), 1);
        // Every second one is late: 0, 2 and 4. Packet 1 is the first range, and 3 and 5 would be others.
        for n in 0..6 {
            chain.offer(Sent::Data(n), 1000, at(200));
        }
        let numbers: Vec<Sent> = take(&mut chain, 1000).into_iter().map(|(_, sent)| sent).collect();
        assert_eq!(numbers, [1, 0, 2, 4].map(Sent::Data));
        assert_eq!(chain.counts().range_drops, 2);
    }

    proptest! {
        /// However often the path is polled, the same packets leave it at the same times: each once, and
        /// none later than the bound of every resequencer that it crosses.
        #[test]
        fn polls_change_nothing_and_every_packet_leaves_in_time(
            gaps in prop::collection::vec((0_u64..60, 0_u64..10), 1..60),
            hops in 1_usize..3,
            polls in prop::collection::vec(1_u64..80, 1..200),
        ) {
            let hops = vec![hop(); hops];
            let mut sent = vec![(at(0), Sent::Syn)];
            let mut now = 0;
            for (n, &(gap, kind)) in (0..).zip(&gaps) {
                now += gap;
                let packet = if kind == 0 { Sent::Unknown(n) } else { Sent::Data(n) };
                sent.push((at(now), packet));
            }
            let mut rarely = Chain::new(&hops, Direction::Forward).unwrap();
            let mut often = Chain::new(&hops, Direction::Forward).unwrap();
            let mut polls = polls.into_iter().scan(0, |at, gap| {
                *at += gap;
                Some(*at)
            }).peekable();
            let mut out = Vec::new();
            for &(time, packet) in &sent {
                while let Some(poll) = polls.next_if(|&poll| at(poll) <= time) {
                    out.extend(take(&mut often, poll));
                }
                rarely.offer(packet, 1000, time);
                often.offer(packet, 1000, time);
            }
            for poll in polls {
                out.extend(take(&mut often, poll));
            }
            out.extend(take(&mut often, 100_000));
            prop_assert_eq!(often.due(), None);
            let expected = take(&mut rarely, 100_000);
            prop_assert_eq!(&out, &expected);
            prop_assert!(out.is_sorted_by_key(|(time, _)| *time));

            // The links take at most 110 ms and the service of all packets.
            let link = Duration::from_millis(110 + sent.len() as u64);
            for &(time, packet) in &sent {
                let left = out.iter().find(|(_, p)| *p == packet).map(|(left, _)| *left);
                let bound = time + (link + MAX_HOLD) * hops.len() as u64;
                prop_assert!(left.is_some_and(|left| left <= bound), "{packet:?}: {left:?}");
            }
            prop_assert_eq!(out.len(), sent.len());
        }
    }
}
