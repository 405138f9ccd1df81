//! How packets get from one node to another: over one path, or spread over several.

use rand::SeedableRng as _;
use rand::distr::Distribution as _;
use rand::distr::weighted::WeightedIndex;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_measure::LinkId;

use crate::network::PathId;

/// The paths that a source's packets may take. `Route::from(links)` is a single one; several, with
/// weights, let packets overtake each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The links of each path, in order, with its weight: a share of the packets proportional to it
    /// takes the path. There must be at least one path with a weight above zero, and each must have
    /// at least one link.
    pub paths: Vec<(Vec<LinkId>, f64)>,
    /// How the path of the next packet is chosen.
    pub spread: Spread,
    /// Feeds random choices.
    pub seed: u64,
}

/// How packets are spread over the paths of a [`Route`]: use `RoundRobin` for two paths in turn,
/// `Random` for a lottery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// In turn, as evenly as the weights allow.
    #[default]
    RoundRobin,
    /// Each packet at random.
    Random,
}

impl From<Vec<LinkId>> for Route {
    /// All packets over the same links.
    fn from(links: Vec<LinkId>) -> Self {
        Self { paths: vec![(links, 1.0)], spread: Spread::RoundRobin, seed: 0 }
    }
}

/// Chooses a path for each packet.
#[derive(Clone, Debug)]
pub(crate) enum Chooser {
    Only(PathId),
    /// Each path's credit grows by its weight with every packet; the one with most is taken and
    /// pays for all (smooth weighted round robin).
    RoundRobin {
        paths: Vec<(PathId, f64, f64)>,
        total: f64,
    },
    Random {
        paths: Vec<PathId>,
        weights: WeightedIndex<f64>,
        rng: Box<Xoshiro256PlusPlus>,
    },
}

impl Chooser {
    /// For a route whose paths are known by `paths`, in its order.
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
            (_, Spread::Random) => Self::Random {
                weights: WeightedIndex::new(used.iter().map(|(_, weight)| *weight))
                    .expect("weights are positive and finite"),
                paths: used.into_iter().map(|(path, _)| path).collect(),
                rng: Box::new(Xoshiro256PlusPlus::seed_from_u64(route.seed)),
            },
        }
    }

    /// The path of the next packet.
    #[inline]
    pub(crate) fn next(&mut self) -> PathId {
        match self {
            Self::Only(path) => *path,
            _ => self.choose(),
        }
    }

    #[inline(never)]
    fn choose(&mut self) -> PathId {
        match self {
            Self::Only(path) => *path,
            Self::RoundRobin { paths, total } => {
                let mut best = 0;
                for i in 0..paths.len() {
                    paths[i].2 += paths[i].1;
                    // Among equals the first; rounding must not decide.
                    if paths[i].2 > paths[best].2 + 1e-9 {
                        best = i;
                    }
                }
                paths[best].2 -= *total;
                paths[best].0
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

    #[test]
    fn a_path_without_weight_is_not_taken() {
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
