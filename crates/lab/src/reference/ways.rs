//! The ways of a traffic group: their capacity and the packets that they hold.

use unruffled_measure::LinkId;
use unruffled_path::{Direction, LinkConfig};

use unruffled_scenario::{NetLink, Scenario, Traffic};

/// The ways of a group with their weights.
#[derive(Debug)]
pub(super) struct Ways {
    /// The weight of each way, in the order of the group.
    pub(super) weights: Vec<f64>,
    /// The share of the packets that cross each direction of each link.
    pub(super) crossed: Vec<f64>,
    /// The capacity without losses, including headers, in bits per second.
    pub(super) bps: f64,
    /// The segments of one round trip at that rate, including those whose acknowledgement is in flight.
    pub(super) pipe: f64,
    /// The indices of the links of each way.
    links: Vec<Vec<usize>>,
    /// The rate of each link of the network, in bits per second.
    rates: Vec<f64>,
    /// The capacity of the access links, in bits per second.
    own_bps: f64,
}

impl Ways {
    /// Returns the ways of `group` with these weights.
    pub(super) fn of(scenario: &Scenario, group: &Traffic, weights: Vec<f64>) -> Self {
        let routes = group.routes(&scenario.network.topology());
        let links = directed(scenario);
        let number = |link: &LinkId| link.0 as usize;
        let there: Vec<Vec<usize>> =
            routes.iter().map(|(there, ..)| there.iter().map(number).collect()).collect();
        let total: f64 = weights.iter().sum();
        let mut crossed = vec![0.0; links.len()];
        for (way, weight) in there.iter().zip(&weights) {
            way.iter().for_each(|&link| crossed[link] += weight / total);
        }
        let rates: Vec<f64> = links.iter().map(|(link, _)| rate(&link.link)).collect();
        let own_bps = own(scenario, group).map(rate).fold(f64::INFINITY, f64::min);
        let own_bps = own_bps * f64::from(group.count);
        let shared = rates.iter().zip(&crossed).filter(|(_, share)| **share > 0.0);
        let bps = shared.map(|(rate, share)| rate / share).fold(own_bps, f64::min);
        let octets = scenario.header + scenario.sender.mss;
        let service =
            |link: &LinkConfig| link.rate.map_or(0.0, |r| r.time_for(octets).as_secs_f64());
        let delay = |link: &LinkConfig| link.delay.as_secs_f64();
        let own_s: f64 = own(scenario, group).map(|l| 2.0 * delay(l) + service(l)).sum();
        let taken = routes.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
        let round_trips = taken.map(|((there, back, _), _)| {
            let link = |id: &LinkId| &links[number(id)].0.link;
            let there = there.iter().map(link).map(|link| delay(link) + service(link));
            there.chain(back.iter().map(link).map(delay)).sum::<f64>()
        });
        let longest = round_trips.fold(0.0, f64::max) + own_s;
        let pipe = bps * longest / (8.0 * f64::from(octets)) + 1.0;
        Self { weights, crossed, bps, pipe, links: there, rates, own_bps }
    }

    /// Returns the weights with which each way carries as much as it can, if packets that exceed its
    /// capacity are lost. The load of all ways grows in proportion to their weights; a way stops
    /// growing when one of its links is full. If ways without a limit remain, only they get a weight.
    pub(super) fn filled(&self) -> Vec<f64> {
        let mut carried = vec![0.0; self.weights.len()];
        let mut grows: Vec<bool> = self.weights.iter().map(|weight| *weight > 0.0).collect();
        let cross = |way: usize, link: usize| self.links[way].contains(&link);
        while grows.contains(&true) {
            let sum = |link: usize, of: &dyn Fn(usize) -> f64| -> f64 {
                (0..carried.len()).filter(|&way| cross(way, link)).map(of).sum()
            };
            let room = |link: usize| {
                let growth = sum(link, &|way| if grows[way] { self.weights[way] } else { 0.0 });
                let room = (self.rates[link] - sum(link, &|way| carried[way])).max(0.0);
                if growth > 0.0 { room / growth } else { f64::INFINITY }
            };
            let least = (0..self.rates.len()).map(|link| (room(link), link));
            let Some((step, full)) = least.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            if step.is_infinite() {
                let weight = |way: usize| if grows[way] { self.weights[way] } else { 0.0 };
                return (0..carried.len()).map(weight).collect();
            }
            for way in 0..carried.len() {
                if grows[way] {
                    carried[way] += step * self.weights[way];
                    grows[way] = !cross(way, full);
                }
            }
        }
        let scale = self.weights.iter().sum::<f64>() / carried.iter().sum::<f64>();
        carried.into_iter().map(|bps| bps * scale).collect()
    }

    /// Returns the capacity with other weights, in bits per second.
    pub(super) fn carried(&self, weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        let share = |link: usize| -> f64 {
            let ways = self.links.iter().zip(weights).filter(|(way, _)| way.contains(&link));
            ways.map(|(_, weight)| weight / total).sum()
        };
        let links = (0..self.rates.len()).filter(|&link| share(link) > 0.0);
        links.map(|link| self.rates[link] / share(link)).fold(self.own_bps, f64::min)
    }
}

/// Returns the links of the network in each direction, in the order of the indices in routes.
pub(super) fn directed(scenario: &Scenario) -> Vec<(&NetLink, Direction)> {
    let links = scenario.network.links.iter();
    links.flat_map(|link| link.directions().iter().map(move |&way| (link, way))).collect()
}

/// Returns the access links of a source of the group.
pub(super) fn own<'a>(
    scenario: &'a Scenario,
    group: &'a Traffic,
) -> impl Iterator<Item = &'a LinkConfig> {
    let names = [&group.access.0, &group.access.1].into_iter().flatten();
    names.filter_map(|name| scenario.network.access(name)).map(|hop| &hop.link)
}

/// Returns the share of payload in a full packet.
pub(super) fn payload(scenario: &Scenario) -> f64 {
    let mss = f64::from(scenario.sender.mss);
    mss / (mss + f64::from(scenario.header))
}

/// Returns the rate of a link in bits per second; infinite if it has none.
fn rate(link: &LinkConfig) -> f64 {
    link.rate.map_or(f64::INFINITY, |rate| rate.bps())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the load of each way in Mb/s. All ways share a link of the rate `shared`; each has
    /// another link of its own, with a rate of `rates`.
    fn filled(shared: f64, rates: &[f64], weights: &[f64]) -> Vec<f64> {
        let links = |way: usize| vec![0, way + 1];
        let ways = Ways {
            weights: weights.to_vec(),
            crossed: Vec::new(),
            bps: 0.0,
            pipe: 0.0,
            links: (0..rates.len()).map(links).collect(),
            rates: [&[shared], rates].concat(),
            own_bps: f64::INFINITY,
        };
        let filled = ways.filled();
        let bps = ways.carried(&filled);
        let total: f64 = filled.iter().sum();
        filled.into_iter().map(|weight| weight / total * bps).collect()
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9 * b.max(1.0));
        assert!(near && found.len() == expected.len(), "{found:?} in place of {expected:?}");
    }

    #[test]
    fn ways_are_filled_in_proportion_to_their_weights() {
        let none = f64::INFINITY;
        assert_near(&filled(none, &[20.0, 10.0], &[1.0, 1.0]), &[20.0, 10.0]);
        assert_near(&filled(none, &[20.0, 10.0], &[2.0, 1.0]), &[20.0, 10.0]);
        // A way with the weight 0 stays unused.
        assert_near(&filled(none, &[20.0, 10.0], &[1.0, 0.0]), &[20.0, 0.0]);
        // The shared link carries 15: the slow way is full at 5, and 10 remain for the other.
        assert_near(&filled(15.0, &[20.0, 5.0], &[1.0, 1.0]), &[10.0, 5.0]);
        assert_near(&filled(15.0, &[20.0, 5.0], &[1.0, 4.0]), &[10.0, 5.0]);
        assert_near(&filled(8.0, &[20.0, 5.0], &[3.0, 1.0]), &[6.0, 2.0]);
    }
}
