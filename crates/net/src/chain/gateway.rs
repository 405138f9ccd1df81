//! The resequencer at the far end of a link.

use unruffled_resequence::{Config, Counters, Packet, Resequencer};
use unruffled_units::Instant;

/// A resequencer of values of type `T`, with the time of the latest event at it.
#[derive(Debug)]
pub(super) struct Gateway<T> {
    resequencer: Resequencer<T>,
    latest: Instant,
}

impl<T> Gateway<T> {
    pub(super) fn new(config: Config) -> Self {
        Self { resequencer: Resequencer::new(config), latest: Instant::ZERO }
    }

    /// Takes a packet that arrives at `at`, and returns the time at which packets are released.
    pub(super) fn arrive(&mut self, facts: &Packet, packet: T, at: Instant) -> Instant {
        self.latest = self.latest.max(at);
        self.resequencer.handle(facts, packet, self.latest);
        self.latest
    }

    /// Ends the waits that are over at `at`, and returns the time at which packets are released.
    pub(super) fn end_waits(&mut self, at: Instant) -> Instant {
        self.latest = self.latest.max(at);
        self.resequencer.handle_timeout(self.latest);
        self.latest
    }

    /// Returns the time at which [`end_waits`](Self::end_waits) is due, if any packet is held. A wait that
    /// a packet cut short is due at once.
    pub(super) fn timeout(&self) -> Option<Instant> {
        self.resequencer.poll_timeout().map(|at| at.max(self.latest))
    }

    /// Returns the next packet that goes on.
    pub(super) fn release(&mut self) -> Option<T> {
        self.resequencer.poll_release()
    }

    /// Returns the counts so far.
    pub(super) fn counters(&self) -> Counters {
        self.resequencer.counters()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use proptest::prelude::*;
    use unruffled_path::{Applies, Direction, Impairment, LinkConfig};
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
        let resequence = Config { max_hold: MAX_HOLD, ..Config::default() };
        SeededLink { link, resequence: Some(resequence), seed: 1 }
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
