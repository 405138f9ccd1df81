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
    Impairment::Alternate { every: 2, extra: Duration::from_millis(100), applies: Applies::Data }
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
