//! The links and routes of a scenario, for the emulator.

use unruffled_measure::LinkId;
use unruffled_net::{DirectedLink, Paths, SeededLink, SourceRoutes, Tunnel};
use unruffled_path::{Direction, Route};
use unruffled_scenario::{Hop, Purpose, Scenario, Traffic, stream};

/// Returns the links of a scenario in a run with `seed`, and the routes of these sources: the traffic that
/// each belongs to, and its port at the right end. Links, routes and seeds are those of the simulation of the
/// same sources.
pub fn paths<'a>(
    scenario: &Scenario,
    seed: u64,
    sources: impl IntoIterator<Item = (&'a Traffic, u16)>,
) -> Paths {
    let topology = scenario.network.topology();
    let mut links = Vec::new();
    for (link, seed) in scenario.network.links.iter().zip(scenario.link_seeds(seed)) {
        let seeded = SeededLink { link: link.link.clone(), resequence: link.resequence, seed };
        let directed = |&direction| DirectedLink { link: seeded.clone(), direction };
        links.extend(link.directions().iter().map(directed));
    }
    let mut copies = 0;
    let mut own = |name: Option<&str>, links: &mut Vec<DirectedLink>| {
        let Hop { link, resequence, .. } = scenario.network.access(name?)?;
        let seed = stream(seed, Purpose::Access, copies);
        copies += 1;
        let seeded = SeededLink { link: link.clone(), resequence: *resequence, seed };
        let there = LinkId(links.len() as u32);
        links.push(DirectedLink { link: seeded.clone(), direction: Direction::Forward });
        links.push(DirectedLink { link: seeded, direction: Direction::Reverse });
        Some((there, LinkId(there.0 + 1)))
    };
    let source = |((group, port), number): ((&Traffic, u16), u64)| {
        let access = own(group.access.0.as_deref(), &mut links);
        let egress = own(group.access.1.as_deref(), &mut links);
        let (forward, reverse) = group.routes_of_source(&topology, (access, egress), seed, number);
        SourceRoutes { port, forward: by_index(forward), reverse: by_index(reverse) }
    };
    let sources = sources.into_iter().zip(0..).map(source).collect();
    let tunnels = scenario.network.tunnels().into_iter();
    let tunnels = tunnels.map(|tunnel| Tunnel { opens: tunnel.opens, closes: tunnel.closes });
    Paths { links, sources, tunnels: tunnels.collect() }
}

/// Returns a route over links that are identified by their index.
fn by_index(route: Route<LinkId>) -> Route<usize> {
    let index = |link: LinkId| link.0 as usize;
    let paths = route.paths.into_iter();
    let paths = paths.map(|(links, weight)| (links.into_iter().map(index).collect(), weight));
    Route { paths: paths.collect(), spread: route.spread, seed: route.seed }
}

/// Numbers of packets that took each of several ways, by the names of the ways.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WayCounts(Vec<(String, u64)>);

impl WayCounts {
    /// Adds the packets of a source of `group` that took each of its ways.
    pub fn add(&mut self, scenario: &Scenario, group: &Traffic, taken: &[u64]) {
        for (way, taken) in group.ways.iter().zip(taken) {
            let name = scenario.network.way_in_words(&way.nodes);
            match self.0.iter_mut().find(|(known, _)| *known == name) {
                Some((_, packets)) => *packets += taken,
                None => self.0.push((name, *taken)),
            }
        }
    }

    /// Returns the share of each way in one line; none if there are fewer than two ways, or no packets.
    pub fn in_words(&self) -> Option<String> {
        let all: u64 = self.0.iter().map(|(_, packets)| packets).sum();
        let share = |(name, packets): &(String, u64)| {
            format!("{:.1} % by {name}", 100.0 * *packets as f64 / all as f64)
        };
        let shares = self.0.iter().map(share).collect::<Vec<_>>().join(", ");
        (self.0.len() > 1 && all > 0).then_some(shares)
    }
}
