//! The traffic of a scenario: which sources send what to which node, and when.

use unruffled_path::Distribution;
use unruffled_sim::{App, Arrivals, LinkId, NodeId, Route, Size, Spread, Topology};
use unruffled_tcp::Variant;
use unruffled_units::{Duration, Instant, hint};

use super::keys::Keys;
use super::network::Network;
use super::{Hop, links, tcp};
use crate::error::Error;
use crate::streams::{Purpose, stream};

/// A group of sources of the same kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The group's name.
    pub name: String,
    /// The indices of the sending and of the receiving node.
    pub ends: (usize, usize),
    /// The access links of the sending and of the receiving host. Each source has its own copies.
    pub access: (Option<String>, Option<String>),
    /// The ways that packets may take. If empty, packets take the shortest way.
    pub ways: Vec<Way>,
    /// How packets are spread over the ways.
    pub spread: Spread,
    /// Whether acknowledgements are spread over the ways, too. Otherwise they take the first way
    /// back.
    pub spread_acks: bool,
    /// The number of sources.
    pub count: u32,
    /// The times at which the sources start.
    pub arrivals: Arrivals,
    /// The time at which all sources stop.
    pub stop: Option<Instant>,
    /// The application of each source.
    pub app: App,
    /// The sender; none stands for the variant that is compared.
    pub sender: Option<String>,
    /// The receiver's window in segments, if it differs from `tcp.window`.
    pub window: Option<u64>,
}

/// A way from one node to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// The indices of the nodes along the way.
    pub nodes: Vec<usize>,
    /// The weight: the way's share of the packets is proportional to it.
    pub weight: f64,
}

/// Reads the groups, in the order of the file. Without any, there is one transfer over the whole
/// path.
pub(super) fn read(
    k: &mut Keys,
    network: &Network,
    bytes: Option<u64>,
    mss: u32,
) -> Result<Vec<Traffic>, Error> {
    let names = k.tables("traffic");
    if names.is_empty() {
        if k.string("topology.kind")?.is_some_and(|kind| kind != "chain") {
            return Err(k.missing("traffic", "a table such as [[traffic]]"));
        }
        if bytes == Some(0) {
            return Err(k.wrong("flow.bytes", "expected 1 B or more"));
        }
        return Ok(vec![Traffic::single(network, bytes)]);
    }
    if bytes.is_some() {
        let message = "expected traffic.NAME.bytes, where there is other traffic";
        return Err(k.wrong("flow.bytes", message));
    }
    let groups = names.iter().map(|name| group(k, network, mss, name));
    let groups = groups.collect::<Result<Vec<_>, _>>()?;
    let sources: u64 = groups.iter().map(|group| u64::from(group.count)).sum();
    if sources > 1_000_000 {
        let message = format!("expected at most 1000000 sources in all, found {sources}");
        return Err(k.wrong(&format!("traffic.{}.count", names[0]), message));
    }
    // The default access links may stay unused.
    let takes = |hop: &Hop| {
        let access = groups.iter().flat_map(|group| [&group.access.0, &group.access.1]);
        let mut names = access.flatten().map(String::as_str).chain([SOURCE, SINK]);
        names.any(|name| name == hop.name)
    };
    if let Some(hop) = network.access.iter().find(|hop| !takes(hop)) {
        let message = "no traffic takes it: expected its name in path.hops, or as access or egress";
        return Err(k.wrong(&format!("link.{}", hop.name), message));
    }
    Ok(groups)
}

/// The default access links: of the sending and of the receiving host.
const SOURCE: &str = "source";
const SINK: &str = "sink";

/// The links of a way and of its way back, and the way's weight.
pub type Links = (Vec<LinkId>, Vec<LinkId>, f64);

/// The two directions of a source's own access link, if it has one.
pub type Own = Option<(LinkId, LinkId)>;

impl Traffic {
    /// Returns the links of each way through the network, without access links.
    pub fn routes(&self, topology: &Topology) -> Vec<Links> {
        let (from, to) = (NodeId(self.ends.0 as u32), NodeId(self.ends.1 as u32));
        let shortest = |from, to| topology.shortest(from, to).unwrap_or_default();
        let links = |way: &Way| {
            let there: Vec<NodeId> = way.nodes.iter().map(|&node| NodeId(node as u32)).collect();
            let back: Vec<NodeId> = there.iter().rev().copied().collect();
            let back = topology.along(&back).unwrap_or_else(|| shortest(to, from));
            (topology.along(&there).unwrap_or_default(), back, way.weight)
        };
        match self.ways.is_empty() {
            true => vec![(shortest(from, to), shortest(to, from), 1.0)],
            false => self.ways.iter().map(links).collect(),
        }
    }

    /// Returns the routes of a source's data and of its acknowledgements in a run with `seed`. The
    /// source has this `number` among all sources, and its own links before its first node and
    /// behind its last.
    pub fn routes_of_source(
        &self,
        topology: &Topology,
        (access, egress): (Own, Own),
        seed: u64,
        number: u64,
    ) -> (Route, Route) {
        let ways = self.routes(topology);
        let mut forward = Vec::with_capacity(ways.len());
        let mut reverse = Vec::with_capacity(ways.len());
        for (there, back, weight) in ways {
            let there = access.iter().map(|l| l.0).chain(there).chain(egress.iter().map(|l| l.0));
            forward.push((there.collect(), weight));
            let back = egress.iter().map(|l| l.1).chain(back).chain(access.iter().map(|l| l.1));
            reverse.push((back.collect(), weight));
        }
        if !self.spread_acks {
            reverse.truncate(1);
            reverse[0].1 = 1.0;
        }
        let seed = stream(seed, Purpose::Spread, number);
        let route = |paths, seed| Route { paths, spread: self.spread, seed };
        (route(forward, seed), route(reverse, !seed))
    }

    /// Returns the weight of each way; 1 for the shortest way if none is named.
    pub fn weights(&self) -> Vec<f64> {
        match self.ways.as_slice() {
            [] => vec![1.0],
            ways => ways.iter().map(|way| way.weight).collect(),
        }
    }

    /// The transfer of a scenario without groups of traffic.
    fn single(network: &Network, bytes: Option<u64>) -> Self {
        let last = network.nodes.len() - 1;
        Self {
            name: "flow".to_owned(),
            ends: (0, last),
            access: (None, None),
            ways: Vec::new(),
            spread: Spread::RoundRobin,
            spread_acks: false,
            count: 1,
            arrivals: Arrivals::At(Instant::ZERO),
            stop: None,
            app: App::Bulk { bytes },
            sender: None,
            window: None,
        }
    }

    /// Returns whether the sender is the variant that is compared.
    pub(super) fn is_of_variant(&self) -> bool {
        self.sender.is_none() && !matches!(self.app, App::Datagrams { .. })
    }
}

fn group(k: &mut Keys, network: &Network, mss: u32, name: &str) -> Result<Traffic, Error> {
    let at = format!("traffic.{name}");
    let key = |field: &str| format!("{at}.{field}");
    let node = |k: &mut Keys, field: &str, default: usize| -> Result<usize, Error> {
        let Some(name) = k.string(&key(field))? else { return Ok(default) };
        network.node(&name).ok_or_else(|| {
            let known = network.nodes.join(", ");
            k.wrong(&key(field), format!("no node {name}: expected one of {known}"))
        })
    };
    let ends = (node(k, "from", 0)?, node(k, "to", network.nodes.len() - 1)?);
    if ends.0 == ends.1 {
        return Err(k.wrong(&key("to"), "expected another node than from"));
    }
    let (topology, node) = (network.topology(), |node: usize| NodeId(node as u32));
    for (from, to) in [ends, (ends.1, ends.0)] {
        if topology.shortest(node(from), node(to)).is_none() {
            let (from, to) = (&network.nodes[from], &network.nodes[to]);
            let message = format!("expected links all the way, found none from {from} to {to}");
            return Err(k.wrong(&key("to"), message));
        }
    }
    let access = |k: &mut Keys, field: &str, default: &str| -> Result<Option<String>, Error> {
        match k.string(&key(field))? {
            Some(none) if none == "none" => Ok(None),
            Some(name) if network.access(&name).is_some() => Ok(Some(name)),
            Some(name) => {
                let known: Vec<&str> = network.access.iter().map(|hop| hop.name.as_str()).collect();
                let or = if known.is_empty() { "" } else { " or one of " };
                let known = known.join(", ");
                let message = format!("no access link {name}: expected none{or}{known}");
                Err(k.wrong(&key(field), message))
            }
            None => Ok(network.access(default).map(|hop| hop.name.clone())),
        }
    };
    let access = (access(k, "access", SOURCE)?, access(k, "egress", SINK)?);
    let (ways, spread) = ways(k, network, &at, ends)?;
    let spread_acks = k.switch(&key("spread_acks"))?.unwrap_or(false);
    let count = k.count(&key("count"), 1, 1_000_000)?.unwrap_or(1) as u32;
    let arrivals = arrivals(k, &at)?;
    let stop = k.duration(&key("stop"))?.map(|stop| Instant::ZERO + stop);
    let last = match arrivals {
        Arrivals::At(at) => at,
        Arrivals::Staggered { first, gap } => first + gap * u64::from(count - 1),
        Arrivals::Random { until, .. } => until,
    };
    if stop.is_some_and(|stop| stop <= last) {
        let which = if count > 1 { "last start" } else { "start" };
        return Err(k.wrong(&key("stop"), format!("expected a time after {last}, the {which}")));
    }
    let app = app(k, &at)?;
    if matches!(app, App::Datagrams { .. })
        && let keys = ["sender", "window", "spread_acks"].map(key)
        && let Some(key) = keys.into_iter().find(|key| k.has(key))
    {
        return Err(k.wrong(&key, "expected only for traffic with TCP, not for udp"));
    }
    let sender = match k.string(&key("sender"))?.as_deref() {
        None | Some("$variant") => None,
        Some(name) => {
            Variant::parse(name).map_err(|reason| k.wrong(&key("sender"), reason.to_string()))?;
            Some(name.to_owned())
        }
    };
    let window = k.count(&key("window"), 1, tcp::most_segments(u64::from(mss)))?;
    Ok(Traffic {
        name: name.to_owned(),
        ends,
        access,
        ways,
        spread,
        spread_acks,
        count,
        arrivals,
        stop,
        app,
        sender,
        window,
    })
}

/// Reads the ways, given by their nodes, and how packets are spread over them.
fn ways(
    k: &mut Keys,
    network: &Network,
    at: &str,
    ends: (usize, usize),
) -> Result<(Vec<Way>, Spread), Error> {
    let key = |field: &str| format!("{at}.{field}");
    let spread =
        [("round-robin", Spread::RoundRobin), ("runs", Spread::Runs), ("random", Spread::Random)];
    let spread = k.choice(&key("spread"), &spread)?.unwrap_or(Spread::RoundRobin);
    let Some(texts) = k.list(&key("ways"))? else {
        // Keys about spreading are invalid without ways.
        const ALONE: [&str; 4] = ["weights", "epsilon", "spread", "spread_acks"];
        return match ALONE.map(&key).into_iter().find(|key| k.has(key)) {
            Some(alone) => Err(k.wrong(&alone, format!("expected {} beside it", key("ways")))),
            None => Ok((Vec::new(), spread)),
        };
    };
    let mut ways = Vec::new();
    for text in &texts {
        let nodes = text.split_whitespace().map(|name| {
            network.node(name).ok_or_else(|| {
                let known = network.nodes.join(", ");
                let meant = hint(name, network.nodes.iter().map(String::as_str));
                let message = format!("no node {name}: expected names among: {known}{meant}");
                k.wrong(&key("ways"), message)
            })
        });
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        if nodes.len() < 2 || nodes[0] != ends.0 || nodes[nodes.len() - 1] != ends.1 {
            let (from, to) = (&network.nodes[ends.0], &network.nodes[ends.1]);
            let message = format!("{text:?}: expected names from {from} to {to}, with spaces");
            return Err(k.wrong(&key("ways"), message));
        }
        for pair in nodes.windows(2) {
            if network.between(pair[0], pair[1]).is_none() {
                let (from, to) = (&network.nodes[pair[0]], &network.nodes[pair[1]]);
                let message =
                    format!("{text:?}: expected links all along, none from {from} to {to}");
                return Err(k.wrong(&key("ways"), message));
            }
        }
        ways.push(nodes);
    }
    let weights = k.numbers(&key("weights"), ways.len())?;
    let epsilon = k.number(&key("epsilon"))?;
    if epsilon.is_some_and(|epsilon| epsilon < 0.0) {
        return Err(k.wrong(&key("epsilon"), "expected a number from 0 on"));
    }
    let weights = match (weights, epsilon) {
        (Some(_), Some(_)) => {
            return Err(k.wrong(&key("epsilon"), "expected either weights or epsilon"));
        }
        (Some(weights), None) => weights,
        (None, epsilon) => {
            let delays: Vec<f64> = ways.iter().map(|way| network.delay_s(way)).collect();
            let shortest = delays.iter().copied().fold(f64::INFINITY, f64::min);
            // Longer ways are taken less often: at 0 all ways are taken alike, at infinity only the
            // shortest one (TCP-PR, section 6; the paper's source for this family is not public).
            let weight = |delay: &f64| libm::exp(-epsilon.unwrap_or(0.0) * (delay - shortest));
            delays.iter().map(weight).collect()
        }
    };
    let total: f64 = weights.iter().sum();
    if !total.is_finite() || weights.iter().any(|w| *w < 0.0) || total <= 0.0 {
        return Err(k.wrong(&key("weights"), "expected numbers from 0 on, not all 0"));
    }
    let ways = ways.into_iter().zip(weights).map(|(nodes, weight)| Way { nodes, weight });
    Ok((ways.collect(), spread))
}

fn arrivals(k: &mut Keys, at: &str) -> Result<Arrivals, Error> {
    let key = |field: &str| format!("{at}.{field}");
    let first = Instant::ZERO + k.duration(&key("start"))?.unwrap_or_default();
    let (gap, until) = (k.duration(&key("gap"))?, k.duration(&key("until"))?);
    match (gap, until.map(|until| Instant::ZERO + until)) {
        (None, None) => Ok(Arrivals::At(first)),
        (Some(gap), None) => Ok(Arrivals::Staggered { first, gap }),
        (None, Some(until)) if until >= first => Ok(Arrivals::Random { from: first, until }),
        (None, Some(_)) => Err(k.wrong(&key("until"), format!("expected not before {first}"))),
        (Some(_), Some(_)) => {
            let message = "expected either gap (one after the other) or until (at random)";
            Err(k.wrong(&key("until"), message))
        }
    }
}

fn app(k: &mut Keys, at: &str) -> Result<App, Error> {
    let key = |field: &str| format!("{at}.{field}");
    let kind = k.string(&key("app"))?;
    match kind.as_deref().unwrap_or("bulk") {
        "bulk" => match k.bytes(&key("bytes"))? {
            Some(0) => Err(k.wrong(&key("bytes"), "expected 1 B or more")),
            bytes => Ok(App::Bulk { bytes }),
        },
        "web" => Ok(App::Web { size: size(k, at)?, think: pause(k, at)? }),
        "on-off" => Ok(App::OnOff { size: size(k, at)?, off: pause(k, at)? }),
        "requests" => {
            let every = links::distribution(k, &key("every"))?;
            Ok(App::Requests { size: size(k, at)?, every })
        }
        "udp" => {
            let size = k.bytes(&key("size"))?;
            let size = k.required(&key("size"), size, "\"500 B\"")?;
            if !(1..=65_495).contains(&size) {
                return Err(k.wrong(&key("size"), "expected 1 B to 65495 B"));
            }
            let interval = k.duration(&key("interval"))?;
            let interval = k.required(&key("interval"), interval, "\"10 ms\"")?;
            if interval < Duration::from_micros(1) {
                return Err(k.wrong(&key("interval"), "expected 1 us or more"));
            }
            Ok(App::Datagrams { size: size as u32, interval })
        }
        other => {
            let meant = hint(other, ["bulk", "web", "on-off", "requests", "udp"]);
            let message =
                format!("expected bulk, web, on-off, requests or udp, found {other:?}{meant}");
            Err(k.wrong(&key("app"), message))
        }
    }
}

/// Reads the size of a transfer: octets, or a range of segments.
fn size(k: &mut Keys, at: &str) -> Result<Size, Error> {
    let (octets, segments) = (format!("{at}.size"), format!("{at}.segments"));
    match (k.bytes(&octets)?, k.numbers(&segments, 2)?) {
        (Some(size), None) if size > 0 => Ok(Size::Octets(size)),
        (None, Some(range)) => match range.as_slice() {
            &[low, high]
                if low >= 1.0
                    && high >= low
                    && high <= 1e9
                    && low.fract() + high.fract() == 0.0 =>
            {
                Ok(Size::Segments(low as u64, high as u64))
            }
            _ => {
                let message = "expected two whole numbers, the smaller first, such as [10, 20]";
                Err(k.wrong(&segments, message))
            }
        },
        (None, None) => Err(k.missing(&octets, "a value such as \"10 kB\"")),
        _ => Err(k.wrong(&octets, "expected either size (more than 0 B) or segments")),
    }
}

fn pause(k: &mut Keys, at: &str) -> Result<Distribution, Error> {
    links::distribution(k, &format!("{at}.pause"))
}
