//! The network of a scenario: named nodes, and links between them.

use unruffled_measure::LinkId;
use unruffled_path::{Direction, LinkConfig};
use unruffled_resequence::Config as Resequence;
use unruffled_sim::{NodeId, Topology};
use unruffled_units::hint;

use super::keys::Keys;
use super::{Hop, links};
use crate::error::Error;

/// Nodes and the links that join them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// The nodes' names. Links and traffic refer to a node by its index.
    pub nodes: Vec<String>,
    /// The links, in the order of the file.
    pub links: Vec<NetLink>,
    /// Links of which each source of traffic may have its own copy, between its host and the
    /// network.
    pub access: Vec<Hop>,
}

impl Network {
    /// Returns whether the far end of a link may drop packets.
    pub fn may_drop_at_exits(&self) -> bool {
        let links = self.links.iter().map(|link| &link.link);
        links.chain(self.access.iter().map(|hop| &hop.link)).any(LinkConfig::may_drop_at_exit)
    }
}

/// A link of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetLink {
    /// The link's name in the file.
    pub name: String,
    /// The indices of the node that the link starts at and of the node that it ends at.
    pub ends: (usize, usize),
    /// Whether the link also leads back, with the same rate, delay and queue.
    pub both_ways: bool,
    /// The link's configuration.
    pub link: LinkConfig,
    /// Bounds of the resequencer at the node that the link ends at, if it has one.
    pub resequence: Option<Resequence>,
    /// The index of the node at which the tunnel begins that ends at the link's far end. `None` if it
    /// begins at the link.
    pub replay_from: Option<usize>,
}

/// A tunnel over several links, which are identified by their index among the directed links of the
/// [topology](Network::topology).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// The links that lead away from the tunnel's beginning.
    pub opens: Vec<usize>,
    /// The link at whose far end the tunnel ends.
    pub closes: usize,
}

impl NetLink {
    /// Returns the directions of the link.
    pub fn directions(&self) -> &'static [Direction] {
        match self.both_ways {
            true => &[Direction::Forward, Direction::Reverse],
            false => &[Direction::Forward],
        }
    }

    /// Returns the name of a direction in results.
    pub fn name_of(&self, direction: Direction) -> String {
        match direction {
            Direction::Forward => self.name.clone(),
            Direction::Reverse => format!("{}-reverse", self.name),
        }
    }
}

impl Network {
    /// Returns the topology of a simulation to which the links' directions are added in their
    /// order, before any others.
    pub fn topology(&self) -> Topology {
        let mut topology = Topology::new();
        let nodes: Vec<NodeId> = self.nodes.iter().map(|_| topology.add_node()).collect();
        let mut next = 0;
        for link in &self.links {
            let (from, to) = (nodes[link.ends.0], nodes[link.ends.1]);
            for direction in link.directions() {
                let (from, to) = match direction {
                    Direction::Forward => (from, to),
                    Direction::Reverse => (to, from),
                };
                topology.join(from, to, LinkId(next));
                next += 1;
            }
        }
        topology
    }

    /// Returns the tunnels over several links, for packets in the direction of the links that end them.
    pub fn tunnels(&self) -> Vec<Tunnel> {
        let directed: Vec<(usize, &NetLink, Direction)> = self
            .links
            .iter()
            .flat_map(|link| link.directions().iter().map(move |direction| (link, *direction)))
            .enumerate()
            .map(|(index, (link, direction))| (index, link, direction))
            .collect();
        let begins_at = |node: usize| {
            directed.iter().filter(move |(_, link, direction)| match direction {
                Direction::Forward => link.ends.0 == node,
                Direction::Reverse => link.ends.1 == node,
            })
        };
        let tunnel = |(index, link, direction): &(usize, &NetLink, Direction)| {
            let node = link.replay_from.filter(|_| *direction == Direction::Forward)?;
            let opens = begins_at(node).map(|(index, ..)| *index).collect();
            Some(Tunnel { opens, closes: *index })
        };
        directed.iter().filter_map(tunnel).collect()
    }

    /// Returns the index of the node of that name.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node == name)
    }

    /// Returns the access link of that name.
    pub fn access(&self, name: &str) -> Option<&Hop> {
        self.access.iter().find(|hop| hop.name == name)
    }

    /// Returns the link from one node to another.
    pub fn between(&self, from: usize, to: usize) -> Option<&NetLink> {
        let leads = |link: &&NetLink| {
            link.ends == (from, to) || (link.both_ways && link.ends == (to, from))
        };
        self.links.iter().find(leads)
    }

    /// Returns the names of the nodes along a way, with spaces, as a scenario file has them.
    pub fn way_in_words(&self, way: &[usize]) -> String {
        let names: Vec<&str> = way.iter().map(|&node| self.nodes[node].as_str()).collect();
        names.join(" ")
    }

    /// Returns the propagation delay of a way over these nodes, in seconds.
    pub fn delay_s(&self, way: &[usize]) -> f64 {
        let links = way.windows(2).filter_map(|pair| self.between(pair[0], pair[1]));
        links.map(|link| link.link.delay.as_secs_f64()).sum()
    }

    /// A chain of links between the nodes `r1`, `r2` and so on.
    fn row(hops: &[Hop]) -> Self {
        let link = |(i, hop): (usize, &Hop)| NetLink {
            name: hop.name.clone(),
            ends: (i, i + 1),
            both_ways: true,
            link: hop.link.clone(),
            resequence: hop.resequence,
            replay_from: None,
        };
        Self {
            nodes: (1..=hops.len() + 1).map(|i| format!("r{i}")).collect(),
            links: hops.iter().enumerate().map(link).collect(),
            access: Vec::new(),
        }
    }
}

/// Reads the network. The hops are empty unless it is a chain of links without hosts of their own.
pub(super) fn read(k: &mut Keys) -> Result<(Network, Vec<Hop>), Error> {
    let (mut network, hops) = of_its_kind(k)?;
    tunnels(k, &mut network)?;
    let back = network.links.iter().filter(|link| link.both_ways);
    let back: Vec<String> = back.map(|link| link.name_of(Direction::Reverse)).collect();
    let names = network.links.iter().map(|link| &link.name);
    if let Some(name) =
        names.chain(network.access.iter().map(|hop| &hop.name)).find(|name| back.contains(name))
    {
        let message = "expected another name: results call another link's way back so";
        return Err(k.wrong(&format!("link.{name}"), message));
    }
    Ok((network, hops))
}

/// Reads the nodes at which tunnels begin.
fn tunnels(k: &mut Keys, network: &mut Network) -> Result<(), Error> {
    for index in 0..network.links.len() {
        let at = format!("link.{}", network.links[index].name);
        let key = format!("{at}.replay_from");
        let Some(name) = k.name(&key)? else { continue };
        let Some(node) = network.node(&name) else {
            let nodes = network.nodes.iter().map(String::as_str);
            let meant = hint(&name, nodes);
            let nodes = network.nodes.join(", ");
            let message = format!("expected one of the nodes {nodes}, found {name:?}{meant}");
            return Err(k.wrong(&key, message));
        };
        if !k.has(&format!("{at}.replay_window")) {
            return Err(k.wrong(&key, format!("expected {at}.replay_window as well")));
        }
        network.links[index].replay_from = Some(node);
    }
    Ok(())
}

fn of_its_kind(k: &mut Keys) -> Result<(Network, Vec<Hop>), Error> {
    let kind = k.string("topology.kind")?;
    let kind = kind.as_deref().unwrap_or("chain");
    match kind {
        "chain" => {
            let hops = links::hops(k, "path.hops")?;
            Ok((Network { access: access(k, &hops)?, ..Network::row(&hops) }, hops))
        }
        "dumbbell" | "parking-lot" => {
            let key = "topology.hops";
            let hops = match k.has(key) || kind == "parking-lot" {
                true => links::hops(k, key)?,
                false => vec![links::hop(k, "bottleneck")?],
            };
            if kind == "dumbbell" && hops.len() > 1 {
                return Err(k.wrong(key, "expected one link: a dumbbell has one in its middle"));
            }
            Ok((Network { access: access(k, &hops)?, ..Network::row(&hops) }, Vec::new()))
        }
        "explicit" => Ok((explicit(k)?, Vec::new())),
        other => {
            let meant = hint(other, ["chain", "dumbbell", "parking-lot", "explicit"]);
            let message = format!(
                "expected chain, dumbbell, parking-lot or explicit, found {other:?}{meant}"
            );
            Err(k.wrong("topology.kind", message))
        }
    }
}

/// The links of the file that are not among `used`: access links for traffic. Without traffic they
/// stay unread, and are reported as unused.
fn access(k: &mut Keys, used: &[Hop]) -> Result<Vec<Hop>, Error> {
    if !k.has("traffic") {
        return Ok(Vec::new());
    }
    let names = k.tables("link");
    let free = names.iter().filter(|name| used.iter().all(|hop| hop.name != **name));
    free.map(|name| links::hop(k, name)).collect()
}

/// Reads links that name the nodes they join.
fn explicit(k: &mut Keys) -> Result<Network, Error> {
    let mut network = Network::default();
    for name in k.tables("link") {
        let at = format!("link.{name}");
        let hop = links::hop(k, &name)?;
        let (from, to) = (k.name(&format!("{at}.from"))?, k.name(&format!("{at}.to"))?);
        let (from, to) = match (from, to) {
            (None, None) => {
                network.access.push(hop);
                continue;
            }
            (from, to) => (
                k.required(&format!("{at}.from"), from, "\"r1\"")?,
                k.required(&format!("{at}.to"), to, "\"r2\"")?,
            ),
        };
        if from == to {
            return Err(k.wrong(&format!("{at}.to"), "expected another node than from"));
        }
        let mut node = |name: String| match network.node(&name) {
            Some(node) => node,
            None => {
                network.nodes.push(name);
                network.nodes.len() - 1
            }
        };
        let ends = (node(from), node(to));
        let both_ways = !k.switch(&format!("{at}.one_way"))?.unwrap_or(false);
        let beside = network.between(ends.0, ends.1);
        let beside = beside.or_else(|| network.between(ends.1, ends.0).filter(|_| both_ways));
        if let Some(other) = beside {
            let message = format!("expected other nodes than those that {} joins", other.name);
            return Err(k.wrong(&format!("{at}.to"), message));
        }
        let Hop { name, link, resequence } = hop;
        let replay_from = None;
        network.links.push(NetLink { name, ends, both_ways, link, resequence, replay_from });
    }
    if network.links.is_empty() {
        let message =
            "expected links with from and to, such as [link.a] from = \"r1\", to = \"r2\"";
        return Err(k.wrong("topology.kind", message));
    }
    Ok(network)
}
