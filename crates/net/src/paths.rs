//! Description of the links between the two ends, and of the routes over them.

use std::collections::BTreeSet;

use unruffled_path::{Direction, LinkConfig, Route};
use unruffled_resequence::Config as Resequence;

/// A link, and the seed of its random decisions.
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

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectedLink {
    /// The link.
    pub link: SeededLink,
    /// Direction within the link: `Forward` from its left end to its right one. Packets of either direction
    /// may cross it.
    pub direction: Direction,
}

/// The routes of a source's packets. They refer to a link by its index in [`Paths::links`].
#[derive(Clone, Debug, PartialEq)]
pub struct SourceRoutes {
    /// Port at the right end by which packets are assigned to this source.
    pub port: u16,
    /// Route of packets to the right end.
    pub forward: Route<usize>,
    /// Route of packets to the left end.
    pub reverse: Route<usize>,
}

impl SourceRoutes {
    /// Returns the route of packets in `direction`.
    pub fn route(&self, direction: Direction) -> &Route<usize> {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }
}

/// Links between the two ends, and the routes over them.
///
/// Links in a row are the simplest case: `Paths::from(hops)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Paths {
    /// The links, each in one direction.
    pub links: Vec<DirectedLink>,
    /// The sources, at least one. Packets of all other ports belong to the first.
    pub sources: Vec<SourceRoutes>,
    /// Tunnels over several links.
    pub tunnels: Vec<Tunnel>,
}

/// A tunnel whose packets are numbered where they enter it. It refers to links by their index in
/// [`Paths::links`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// The links at which packets enter the tunnel, if their way leads over `closes` later.
    pub opens: Vec<usize>,
    /// The link whose anti-replay window uses these numbers.
    pub closes: usize,
}

impl Paths {
    /// Returns whether packets of both directions cross a link, so that they delay each other there.
    pub fn share_links(&self) -> bool {
        let crossed = |direction| {
            let routes = self.sources.iter().map(move |source| source.route(direction));
            let paths = routes.flat_map(|route| &route.paths);
            paths.flat_map(|(links, _)| links).copied().collect::<BTreeSet<usize>>()
        };
        !crossed(Direction::Forward).is_disjoint(&crossed(Direction::Reverse))
    }
}

impl From<&[SeededLink]> for Paths {
    /// Returns the path over links in a row, which are listed from left to right.
    fn from(hops: &[SeededLink]) -> Self {
        let directions = [Direction::Forward, Direction::Reverse];
        let directed = |hop: &SeededLink| {
            directions.map(|direction| DirectedLink { link: hop.clone(), direction })
        };
        let forward: Vec<usize> = (0..hops.len()).map(|hop| 2 * hop).collect();
        let reverse: Vec<usize> = (0..hops.len()).rev().map(|hop| 2 * hop + 1).collect();
        let source = SourceRoutes { port: 0, forward: forward.into(), reverse: reverse.into() };
        let links = hops.iter().flat_map(directed).collect();
        Self { links, sources: vec![source], tunnels: Vec::new() }
    }
}

impl<const N: usize> From<&[SeededLink; N]> for Paths {
    fn from(hops: &[SeededLink; N]) -> Self {
        Self::from(hops.as_slice())
    }
}
