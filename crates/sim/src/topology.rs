//! Nodes, directed links between them, and shortest paths.

use std::collections::VecDeque;

use unruffled_measure::LinkId;

/// A node, numbered in the order of addition. [`Topology::add_node`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A graph of nodes and directed links, which finds the [`Route`](crate::Route) of a source.
///
/// ```
/// use unruffled_sim::{LinkId, Topology};
///
/// let mut topology = Topology::new();
/// let [a, b, c] = [(); 3].map(|()| topology.add_node());
/// topology.join(a, b, LinkId(0));
/// topology.join(b, c, LinkId(1));
/// assert_eq!(topology.shortest(a, c), Some(vec![LinkId(0), LinkId(1)]));
/// assert_eq!(topology.shortest(c, a), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// The neighbours of each node, and the links to them.
    links: Vec<Vec<(NodeId, LinkId)>>,
}

impl Topology {
    /// Creates a graph without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node.
    pub fn add_node(&mut self) -> NodeId {
        self.links.push(Vec::new());
        NodeId(self.links.len() as u32 - 1)
    }

    /// Adds `link` from the node `from` to the node `to`, which must exist.
    pub fn join(&mut self, from: NodeId, to: NodeId, link: LinkId) {
        self.links[from.0 as usize].push((to, link));
    }

    /// Returns the first link from one node to another, if any.
    pub fn link(&self, from: NodeId, to: NodeId) -> Option<LinkId> {
        let links = self.links.get(from.0 as usize)?;
        links.iter().find(|(node, _)| *node == to).map(|(_, link)| *link)
    }

    /// Returns the links of the path over these nodes. `None` if two consecutive nodes have no link.
    pub fn along(&self, nodes: &[NodeId]) -> Option<Vec<LinkId>> {
        nodes.windows(2).map(|pair| self.link(pair[0], pair[1])).collect()
    }

    /// Returns the links of the path with the fewest hops, or `None` if there is no path. Among equal paths it
    /// prefers links that were added first, as ns-2's static routing does.
    pub fn shortest(&self, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let mut came: Vec<Option<(NodeId, LinkId)>> = vec![None; self.links.len()];
        let mut reached = VecDeque::from([from]);
        while let Some(node) = reached.pop_front() {
            if node == to {
                break;
            }
            for &(next, link) in &self.links[node.0 as usize] {
                if next != from && came[next.0 as usize].is_none() {
                    came[next.0 as usize] = Some((node, link));
                    reached.push_back(next);
                }
            }
        }
        let mut way = Vec::new();
        let mut node = to;
        while node != from {
            let (previous, link) = came[node.0 as usize]?;
            way.push(link);
            node = previous;
        }
        way.reverse();
        Some(way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the paths 0 – 1 – 3 and 0 – 2 – 4 – 3, and the isolated node 5.
    fn diamond() -> (Topology, Vec<NodeId>) {
        let mut topology = Topology::new();
        let nodes: Vec<NodeId> = (0..6).map(|_| topology.add_node()).collect();
        for (i, (from, to)) in [(0, 2), (0, 1), (1, 3), (2, 4), (4, 3)].into_iter().enumerate() {
            topology.join(nodes[from], nodes[to], LinkId(i as u32));
        }
        (topology, nodes)
    }

    #[test]
    fn the_path_with_the_fewest_hops_is_found() {
        let (topology, n) = diamond();
        assert_eq!(topology.shortest(n[0], n[3]), Some(vec![LinkId(1), LinkId(2)]));
        assert_eq!(topology.shortest(n[0], n[0]), Some(vec![]));
        assert_eq!(topology.shortest(n[0], n[5]), None);
        assert_eq!(topology.shortest(n[3], n[0]), None, "links lead one way");
    }

    #[test]
    fn a_path_can_be_given_by_its_nodes() {
        let (topology, n) = diamond();
        let way = topology.along(&[n[0], n[2], n[4], n[3]]);
        assert_eq!(way, Some(vec![LinkId(0), LinkId(3), LinkId(4)]));
        assert_eq!(topology.along(&[n[0], n[3]]), None);
    }
}
