//! Routes from one node to another, over one path or spread over several.

use rand::distr::Distribution as _;
use rand::distr::weighted::WeightedIndex;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_measure::LinkId;

use crate::network::PathId;

/// The paths of a source's packets. `Route::from(links)` is a single path. On several paths, with weights,
/// packets may overtake each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The links of each path in order, and its weight, to which its share of the packets is proportional. At
    /// least one weight must be above zero, and each path must have at least one link.
    pub paths: Vec<(Vec<LinkId>, f64)>,
    /// Rule that selects the path of the next packet.
    pub spread: Spread,
    /// Seed of random choices, and of the position at which the first round of `Runs` starts.
    pub seed: u64,
}

/// Rule that spreads packets over the paths of a [`Route`]. `RoundRobin` uses two paths alternately; `Runs`
/// sends, for example, 7 packets over one and then 3 over the other; `Random` selects a path at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// In turn, as evenly as the weights allow.
    #[default]
    RoundRobin,
    /// In rounds. In each round, a path carries as many consecutive packets as its weight; the fraction of a
    /// packet is kept for the next round. If all weights are below one, the greatest counts as one. The first
    /// packet is at a random position in the round.
    Runs,
    /// Each packet at random.
    Random,
}

impl From<Vec<LinkId>> for Route {
    /// Returns a route with a single path.
    fn from(links: Vec<LinkId>) -> Self {
        Self { paths: vec![(links, 1.0)], spread: Spread::RoundRobin, seed: 0 }
    }
}

/// Selects a path for each packet.
#[derive(Clone, Debug)]
pub(crate) enum Chooser {
    Only(PathId),
    /// The credit of each path grows by its weight with every packet. The path with the most credit is
    /// selected, and its credit is reduced by all weights (smooth weighted round robin).
    RoundRobin {
        paths: Vec<(PathId, f64, f64)>,
        total: f64,
    },
    /// The path at `at` is selected until its weight is used up, then the next path (classic weighted round
    /// robin).
    Runs {
        paths: Vec<(PathId, f64, f64)>,
        at: usize,
    },
    Random {
        paths: Vec<PathId>,
        weights: WeightedIndex<f64>,
        rng: Box<Xoshiro256PlusPlus>,
    },
}

impl Chooser {
    /// Creates a chooser for a route, whose paths have the ids `paths` in order.
    pub(crate) fn new(route: &Route, paths: &[PathId]) -> Self {
        let weights = || route.paths.iter().map(|(_, weight)| *weight);
        let used = paths.iter().zip(weights()).filter(|(_, weight)| *weight > 0.0);
        let used: Vec<(PathId, f64)> = used.map(|(&path, weight)| (path, weight)).collect();
        match (used.as_slice(), route.spread) {
            ([], _) => panic!("a route has a path with a weight above zero"),
            ([(path, _)], _) => Self::Only(*path),
            (_, Spread::RoundRobin) => Self::RoundRobin {
                total: used.iter().map(|(_, weight)| weight).sum(),
                paths: used.into_iter().map(|(path, weight)| (path, weight, 0.0)).collect(),
            },
            (_, Spread::Runs) => Self::runs(used, route.seed),
            (_, Spread::Random) => Self::Random {
                weights: WeightedIndex::new(used.iter().map(|(_, weight)| *weight))
                    .expect("weights are positive and finite"),
                paths: used.into_iter().map(|(path, _)| path).collect(),
                rng: Box::new(Xoshiro256PlusPlus::seed_from_u64(route.seed)),
            },
        }
    }

    /// Creates [`Chooser::Runs`] at a random position in the round.
    fn runs(used: Vec<(PathId, f64)>, seed: u64) -> Self {
        let greatest = used.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
        let unit = if greatest < 1.0 { greatest } else { 1.0 };
        let mut paths: Vec<_> =
            used.into_iter().map(|(path, weight)| (path, weight / unit, 0.0)).collect();
        let round: f64 = paths.iter().map(|(_, weight, _)| *weight).sum();
        let mut spread = round * Xoshiro256PlusPlus::seed_from_u64(seed).random::<f64>();
        let mut at = 0;
        while at + 1 < paths.len() && spread >= paths[at].1 {
            spread -= paths[at].1;
            at += 1;
        }
        paths[at].2 = paths[at].1 - spread.floor();
        Self::Runs { paths, at }
    }

    /// Returns the path of all packets, if there is a single one.
    pub(crate) fn only(&self) -> Option<PathId> {
        match self {
            Self::Only(path) => Some(*path),
            _ => None,
        }
    }

    /// Returns the path of the next packet.
    #[inline(never)]
    pub(crate) fn next(&mut self) -> PathId {
        match self {
            Self::Only(path) => *path,
            Self::RoundRobin { paths, total } => {
                let mut best = 0;
                for i in 0..paths.len() {
                    paths[i].2 += paths[i].1;
                    // The first of equal paths, independent of rounding.
                    if paths[i].2 > paths[best].2 + 1e-9 * *total {
                        best = i;
                    }
                }
                paths[best].2 -= *total;
                paths[best].0
            }
            Self::Runs { paths, at } => {
                // Tolerates rounding, so that three weights of 1/3 are one packet.
                while paths[*at].2 < 1.0 - 1e-9 {
                    *at = (*at + 1) % paths.len();
                    paths[*at].2 += paths[*at].1;
                }
                paths[*at].2 -= 1.0;
                paths[*at].0
            }
            Self::Random { paths, weights, rng } => paths[weights.sample(rng)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(weights: &[f64], spread: Spread, packets: usize) -> Vec<u32> {
        let paths: Vec<PathId> = (0..weights.len() as u32).map(PathId).collect();
        let route = Route {
            paths: weights.iter().map(|&weight| (vec![LinkId(0)], weight)).collect(),
            spread,
            seed: 1,
        };
        let mut chooser = Chooser::new(&route, &paths);
        (0..packets).map(|_| chooser.next().0).collect()
    }

    #[test]
    fn equal_paths_take_turns() {
        assert_eq!(chosen(&[1.0, 1.0], Spread::RoundRobin, 4), [0, 1, 0, 1]);
    }

    #[test]
    fn weighted_turns_are_spread_evenly() {
        assert_eq!(chosen(&[3.0, 1.0], Spread::RoundRobin, 8), [0, 0, 1, 0, 0, 0, 1, 0]);
        let tenth = chosen(&[0.9, 0.1], Spread::RoundRobin, 1000);
        assert_eq!(tenth.iter().filter(|&&path| path == 1).count(), 100);
    }

    /// Returns the lengths of the runs, without the first and the last, which are incomplete.
    fn runs(weights: &[f64], packets: usize) -> Vec<(u32, usize)> {
        let paths = chosen(weights, Spread::Runs, packets);
        let runs = paths.chunk_by(|a, b| a == b).map(|run| (run[0], run.len()));
        let runs: Vec<_> = runs.collect();
        runs[1..runs.len() - 1].to_vec()
    }

    #[test]
    fn runs_are_as_long_as_the_weights() {
        let seven_three = runs(&[7.0, 3.0], 1000);
        assert!(seven_three.len() > 190);
        assert!(seven_three.iter().all(|run| [(0, 7), (1, 3)].contains(run)), "{seven_three:?}");
        // The fraction of a packet is kept for the next round.
        let lengths: Vec<usize> = runs(&[1.5, 1.0], 100).iter().map(|run| run.1).collect();
        assert!(lengths.windows(4).all(|four| four.iter().sum::<usize>() == 5), "{lengths:?}");
    }

    #[test]
    fn the_greatest_weight_below_one_is_a_packet() {
        let paths = chosen(&[1e-300, 3e-300], Spread::Runs, 4000);
        let first = paths.iter().filter(|&&path| path == 0).count();
        assert!((999..=1001).contains(&first), "{first}");
    }

    #[test]
    fn a_round_starts_at_a_random_position() {
        let paths = [PathId(0), PathId(1)];
        let firsts = (0..1000).filter(|&seed| {
            let paths_and_weights = vec![(vec![LinkId(0)], 14.0), (vec![LinkId(0)], 6.0)];
            let route = Route { paths: paths_and_weights, spread: Spread::Runs, seed };
            Chooser::new(&route, &paths).next() == PathId(1)
        });
        // 300 ± 4 standard deviations of 14.5.
        let second = firsts.count();
        assert!((242..=358).contains(&second), "{second}");
    }

    #[test]
    fn a_path_without_weight_is_not_taken() {
        assert!(!chosen(&[7.0, 0.0, 3.0], Spread::Runs, 100).contains(&1));
        assert_eq!(chosen(&[0.0, 1.0], Spread::Random, 3), [1, 1, 1]);
    }

    #[test]
    fn random_paths_are_taken_in_proportion() {
        let paths = chosen(&[3.0, 1.0], Spread::Random, 10_000);
        let second = paths.iter().filter(|&&path| path == 1).count();
        // 2500 ± 4 standard deviations of 43.
        assert!((2_327..=2_673).contains(&second), "{second}");
    }
}
