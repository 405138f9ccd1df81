//! Construction of the network: links and paths, before anything is sent.

use std::sync::Arc;

use unruffled_measure::{End, LinkId};
use unruffled_path::{Applies, ConfigError, Direction, Link, LinkConfig};
use unruffled_resequence::Config as Resequence;

use super::{Gateway, LinkState, NONE, Network, PathId, Step};

/// A link as it was added. It is created when all paths are known, since its random streams depend on the
/// directions that it carries.
#[derive(Debug)]
pub(super) struct Blueprint {
    config: Arc<LinkConfig>,
    direction: Direction,
    seed: u64,
    /// Bounds of the resequencer at its far end, if it has one.
    resequence: Option<Resequence>,
    /// Directions of the packets that cross the link.
    carries: Option<Applies>,
}

/// Number of the latest links with one of which a new link shares an equal configuration: both directions of
/// both access links of a flow.
const RECENT_LINKS: usize = 4;

/// Origin of a link's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feeder {
    Unknown,
    Endpoint,
    Only(LinkId),
    Several,
}

impl Network {
    pub(crate) fn add_link(
        &mut self,
        config: &LinkConfig,
        direction: Direction,
        seed: u64,
    ) -> Result<LinkId, ConfigError> {
        assert!(self.hops.is_empty(), "links are added before anything is sent");
        let id = LinkId(self.blueprints.len() as u32);
        Link::carrying(config, direction, Applies::Both, seed)?;
        // Access links of many flows have the same configuration, which takes more memory than the link.
        let recent = self.blueprints.iter().rev().take(RECENT_LINKS);
        let same = recent.map(|recent| &recent.config).find(|recent| ***recent == *config);
        let config = same.map_or_else(|| Arc::new(config.clone()), Arc::clone);
        let blueprint = Blueprint { config, direction, seed, resequence: None, carries: None };
        self.blueprints.push(blueprint);
        self.feeders.push(Feeder::Unknown);
        Ok(id)
    }

    /// Adds a resequencer at the far end of a link.
    pub(crate) fn add_resequencer(&mut self, link: LinkId, bounds: Resequence) {
        assert!(self.hops.is_empty(), "resequencers are added before anything is sent");
        self.blueprints[link.0 as usize].resequence = Some(bounds);
    }

    /// Adds a tunnel: packets are numbered where they enter one of the links `opens`, if their path leads over
    /// `closes` later, and the anti-replay window at the far end of `closes` uses these numbers.
    pub(crate) fn add_tunnel(&mut self, opens: &[LinkId], closes: LinkId) {
        assert!(self.hops.is_empty(), "tunnels are added before anything is sent");
        self.tunnels.plans.push((opens.to_vec(), closes));
    }

    /// Adds a path for packets to that end.
    pub(crate) fn add_path(&mut self, links: &[LinkId], to: End) -> PathId {
        assert!(self.hops.is_empty(), "paths are added before anything is sent");
        assert!(!links.is_empty(), "a path has at least one link");
        let way = if to == End::Receiver { Applies::Data } else { Applies::Acks };
        let mut from = Feeder::Endpoint;
        for &id in links {
            let carries = &mut self.blueprints[id.0 as usize].carries;
            *carries = match *carries {
                None => Some(way),
                Some(known) if known == way => Some(way),
                Some(_) => Some(Applies::Both),
            };
            let feeder = &mut self.feeders[id.0 as usize];
            *feeder = match *feeder {
                Feeder::Unknown => from,
                known if known == from => known,
                _ => Feeder::Several,
            };
            from = Feeder::Only(id);
        }
        let path = PathId(self.steps.len() as u32);
        let last = links.len() - 1;
        let steps = links.iter().enumerate();
        let step = |(i, &link)| Step {
            link,
            runs_on: false,
            delivers: false,
            gateway: false,
            exit: false,
            opens: false,
            last: i == last,
            delays: false,
            queues: false,
            plain: 0,
        };
        self.steps.extend(steps.map(step));
        path
    }

    /// Creates the links. Afterwards packets may be sent, and nothing can be added. `is_watched` returns whether
    /// a monitor watches crossings of a link.
    pub(crate) fn seal(&mut self, is_watched: impl Fn(LinkId) -> bool) {
        let blueprints = std::mem::take(&mut self.blueprints);
        let feeders = std::mem::take(&mut self.feeders);
        self.hops.reserve_exact(blueprints.len());
        self.gateways.reserve_exact(blueprints.len());
        for (blueprint, number) in blueprints.iter().zip(0..) {
            let watched = is_watched(LinkId(number));
            let Blueprint { config, direction, seed, resequence, carries } = blueprint;
            let carries = carries.unwrap_or_default();
            let link = Link::carrying(config, *direction, carries, *seed)
                .expect("links are checked when they are added");
            let link = if watched { link } else { link.without_backlog() };
            self.hops.push(LinkState { link, line: (NONE, NONE), held: Vec::new(), watched });
            self.gateways.push(Gateway::new(config, carries, *resequence).map(Box::new));
        }
        self.tunnels.seal(&mut self.steps);
        for step in &mut self.steps {
            let gateway = &self.gateways[step.link.0 as usize];
            step.gateway = gateway.is_some();
            step.exit = gateway.as_ref().is_some_and(|gateway| gateway.has_exit());
            step.delivers = step.last && !step.gateway;
        }
        for i in 1..self.steps.len() {
            let (previous, next) = (self.steps[i - 1].link, self.steps[i].link);
            self.steps[i - 1].runs_on = !self.steps[i - 1].last
                && !self.steps[i - 1].gateway
                && feeders[next.0 as usize] == Feeder::Only(previous)
                && self.hops[previous.0 as usize].link.keeps_order();
        }
        for step in &mut self.steps {
            let hop = &self.hops[step.link.0 as usize];
            let unseen = !hop.watched && !step.opens && !step.exit;
            step.delays = unseen && hop.link.only_delays() && !step.runs_on;
            step.queues = unseen && hop.link.only_queues() && !hop.link.is_plain();
        }
        let mut behind = 0;
        for step in self.steps.iter_mut().rev() {
            let hop = &self.hops[step.link.0 as usize];
            let plain = !hop.watched && hop.link.is_plain() && !step.opens;
            let run = if step.runs_on { behind } else { 0 };
            step.plain = if plain { run + 1 } else { 0 };
            behind = step.plain;
        }
    }
}
