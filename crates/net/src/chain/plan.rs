//! Construction of the links and ways from their description.

use std::collections::VecDeque;

use unruffled_path::{Applies, Chooser, ConfigError, Direction, Link, Route};

use super::{Agenda, Carried, Chain, Gateway, Hop, Source, Step, Traffic, Tunnels, Ways, index};
use crate::Paths;

/// Origin of the packets of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Unknown,
    End,
    Only(usize),
    Several,
}

/// A link as it is used by all ways.
#[derive(Clone, Copy, Debug)]
struct Usage {
    feeder: Feeder,
    /// Directions of the packets that cross the link.
    carries: Option<Applies>,
}

const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Reverse];

impl<P: Carried> Chain<P> {
    /// Creates empty `paths`, for packets of these directions, at least one. Without the other direction, no
    /// link may carry packets of both.
    ///
    /// # Errors
    /// If the configuration of a link is invalid.
    ///
    /// # Panics
    /// If a route refers to a link that does not exist, or has no path with a weight above zero.
    pub fn over(paths: &Paths, directions: &[Direction]) -> Result<Self, ConfigError> {
        let mut steps = Vec::new();
        let mut usage = vec![Usage { feeder: Feeder::Unknown, carries: None }; paths.links.len()];
        // The links that packets of these directions cross, in the order in which they do.
        let mut crossed: Vec<usize> = Vec::new();
        let mut sources = Vec::with_capacity(paths.sources.len());
        for source in &paths.sources {
            let routes = DIRECTIONS.map(|direction| {
                let route = source.route(direction);
                for (links, _) in &route.paths {
                    cross(&mut usage, links, direction);
                    if directions.contains(&direction) {
                        crossed.extend(links);
                    }
                }
                ways(route, &mut steps)
            });
            sources.push(Source { port: source.port, routes });
        }
        let mut hops: Vec<Hop<P>> = Vec::with_capacity(paths.links.len());
        for (number, directed) in paths.links.iter().enumerate() {
            let hop = &directed.link;
            let carries = usage[number].carries.unwrap_or_default();
            let link = Link::carrying(&hop.link, directed.direction, carries, hop.seed)?;
            let is_forward = directed.direction == Direction::Forward;
            let bounds = hop.resequence.filter(|_| is_forward);
            let gateway = Gateway::new(&hop.link, carries, bounds).map(Box::new);
            hops.push(Hop { link, gateway });
        }
        let mut gateways: Vec<usize> = Vec::new();
        for link in crossed {
            if hops[link].gateway.is_some() && !gateways.contains(&link) {
                gateways.push(link);
            }
        }
        for i in 1..steps.len() {
            let next = steps[i].link;
            let step: &mut Step = &mut steps[i - 1];
            let hop = &hops[step.link];
            step.runs_on = !step.last
                && hop.gateway.is_none()
                && hop.link.keeps_order()
                && usage[next].feeder == Feeder::Only(step.link);
        }
        Ok(Self {
            tunnels: Tunnels::new(&paths.tunnels, &steps),
            hops,
            gateways,
            steps,
            sources,
            direction: directions[0],
            lanes: [Traffic::default(); 2],
            agenda: Agenda::new(paths.links.len()),
            left: VecDeque::new(),
            shown: Vec::new(),
        })
    }
}

/// Records that packets of `direction` cross these links, one after another.
fn cross(usage: &mut [Usage], links: &[usize], direction: Direction) {
    let way = [Applies::Data, Applies::Acks][index(direction)];
    let mut from = Feeder::End;
    for &link in links {
        let Usage { feeder, carries } = &mut usage[link];
        *feeder = match *feeder {
            Feeder::Unknown => from,
            known if known == from => known,
            _ => Feeder::Several,
        };
        *carries = match *carries {
            None => Some(way),
            Some(known) if known == way => Some(way),
            Some(_) => Some(Applies::Both),
        };
        from = Feeder::Only(link);
    }
}

/// Appends the steps of a route's ways to `steps`, and returns the ways.
fn ways(route: &Route<usize>, steps: &mut Vec<Step>) -> Ways {
    let mut first = Vec::with_capacity(route.paths.len());
    for (links, _) in &route.paths {
        first.push((!links.is_empty()).then_some(steps.len()));
        let number = links.len();
        let step = |(i, &link): (usize, &usize)| Step {
            link,
            last: i + 1 == number,
            runs_on: false,
            shown: false,
        };
        steps.extend(links.iter().enumerate().map(step));
    }
    Ways { chooser: Chooser::new(route), taken: vec![0; first.len()], first }
}
