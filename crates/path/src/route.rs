//! Routes from one end to the other, over one path or spread over several.

use rand::distr::Distribution as _;
use rand::distr::weighted::WeightedIndex;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The paths of a source's packets over links that `L` identifies. `Route::from(links)` is a single path. On
/// several paths, with weights, packets may overtake each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Route<L> {
    /// The links of each path in order, and its weight, to which its share of the packets is proportional. At
    /// least one weight must be above zero.
    pub paths: Vec<(Vec<L>, f64)>,
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

impl<L> From<Vec<L>> for Route<L> {
    /// Returns a route with a single path.
    fn from(links: Vec<L>) -> Self {
        Self { paths: vec![(links, 1.0)], spread: Spread::RoundRobin, seed: 0 }
    }
}

/// Selects a path of a [`Route`] for each packet, by its index.
///
/// ```
/// use unruffled_path::{Chooser, Route, Spread};
///
/// let paths = vec![(vec!["near"], 2.0), (vec!["far"], 1.0)];
/// let route = Route { paths, spread: Spread::RoundRobin, seed: 1 };
/// let mut chooser = Chooser::new(&route);
/// let chosen: Vec<usize> = (0..6).map(|_| chooser.choose()).collect();
/// assert_eq!(chosen, [0, 1, 0, 0, 1, 0]);
/// ```
#[derive(Clone, Debug)]
pub struct Chooser(Rule);

/// The rule of a chooser, with its state. Paths without weight are left out.
#[derive(Clone, Debug)]
enum Rule {
    /// A single path.
    Only(usize),
    /// The credit of each path grows by its weight with every packet. The path with the most credit is
    /// selected, and its credit is reduced by all weights (smooth weighted round robin).
    RoundRobin { paths: Vec<Weighted>, total: f64 },
    /// The path at `at` is selected until its credit is used up, then the next path (classic weighted round
    /// robin).
    Runs { paths: Vec<Weighted>, at: usize },
    /// A path at random.
    Random { paths: Vec<usize>, weights: WeightedIndex<f64>, rng: Box<Xoshiro256PlusPlus> },
}

/// A path with its weight, and its credit in packets.
#[derive(Clone, Copy, Debug)]
struct Weighted {
    index: usize,
    weight: f64,
    credit: f64,
}

impl Chooser {
    /// Creates a chooser among the paths of `route`.
    ///
    /// # Panics
    /// If no weight is above zero, or if a weight is not finite.
    pub fn new<L>(route: &Route<L>) -> Self {
        let weights = route.paths.iter().map(|(_, weight)| *weight).enumerate();
        let used = weights.filter(|(_, weight)| *weight > 0.0);
        let mut paths: Vec<Weighted> =
            used.map(|(index, weight)| Weighted { index, weight, credit: 0.0 }).collect();
        let rng = || Xoshiro256PlusPlus::seed_from_u64(route.seed);
        Self(match (paths.as_slice(), route.spread) {
            ([], _) => panic!("a route has a path with a weight above zero"),
            ([only], _) => Rule::Only(only.index),
            (_, Spread::RoundRobin) => {
                let total = paths.iter().map(|path| path.weight).sum();
                Rule::RoundRobin { paths, total }
            }
            (_, Spread::Runs) => {
                let at = begin_round(&mut paths, rng().random());
                Rule::Runs { paths, at }
            }
            (_, Spread::Random) => Rule::Random {
                weights: WeightedIndex::new(paths.iter().map(|path| path.weight))
                    .expect("weights are positive and finite"),
                paths: paths.into_iter().map(|path| path.index).collect(),
                rng: Box::new(rng()),
            },
        })
    }

    /// Returns the path of all packets, if there is a single one.
    pub fn only(&self) -> Option<usize> {
        match self.0 {
            Rule::Only(index) => Some(index),
            _ => None,
        }
    }

    /// Returns the path of the next packet.
    pub fn choose(&mut self) -> usize {
        match &mut self.0 {
            Rule::Only(index) => *index,
            Rule::RoundRobin { paths, total } => {
                let mut best = 0;
                for i in 0..paths.len() {
                    paths[i].credit += paths[i].weight;
                    // The first of equal paths, independent of rounding.
                    if paths[i].credit > paths[best].credit + 1e-9 * *total {
                        best = i;
                    }
                }
                paths[best].credit -= *total;
                paths[best].index
            }
            Rule::Runs { paths, at } => {
                // Tolerates rounding, so that three weights of 1/3 are one packet.
                while paths[*at].credit < 1.0 - 1e-9 {
                    *at = (*at + 1) % paths.len();
                    paths[*at].credit += paths[*at].weight;
                }
                paths[*at].credit -= 1.0;
                paths[*at].index
            }
            Rule::Random { paths, weights, rng } => paths[weights.sample(rng)],
        }
    }
}

/// Turns the weights of [`Spread::Runs`] into packets, and begins a round at `position`, from 0 to 1. Returns
/// the path at which it begins.
fn begin_round(paths: &mut [Weighted], position: f64) -> usize {
    let greatest = paths.iter().map(|path| path.weight).fold(0.0, f64::max);
    let unit = if greatest < 1.0 { greatest } else { 1.0 };
    paths.iter_mut().for_each(|path| path.weight /= unit);
    let round: f64 = paths.iter().map(|path| path.weight).sum();
    let mut passed = round * position;
    let mut at = 0;
    while at + 1 < paths.len() && passed >= paths[at].weight {
        passed -= paths[at].weight;
        at += 1;
    }
    paths[at].credit = paths[at].weight - passed.floor();
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a route over paths with these weights, whose links do not matter.
    fn route(weights: &[f64], spread: Spread, seed: u64) -> Route<()> {
        let paths = weights.iter().map(|&weight| (Vec::new(), weight)).collect();
        Route { paths, spread, seed }
    }

    fn chosen(weights: &[f64], spread: Spread, packets: usize) -> Vec<usize> {
        let mut chooser = Chooser::new(&route(weights, spread, 1));
        (0..packets).map(|_| chooser.choose()).collect()
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
    fn runs(weights: &[f64], packets: usize) -> Vec<(usize, usize)> {
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
        let firsts = (0..1000)
            .filter(|&seed| Chooser::new(&route(&[14.0, 6.0], Spread::Runs, seed)).choose() == 1);
        // 300 ± 4 standard deviations of 14.5.
        let second = firsts.count();
        assert!((242..=358).contains(&second), "{second}");
    }

    #[test]
    fn a_path_without_weight_is_not_taken() {
        assert!(!chosen(&[7.0, 0.0, 3.0], Spread::Runs, 100).contains(&1));
        assert_eq!(chosen(&[0.0, 1.0], Spread::Random, 3), [1, 1, 1]);
        assert_eq!(Chooser::new(&route(&[0.0, 1.0], Spread::Runs, 1)).only(), Some(1));
    }

    #[test]
    fn random_paths_are_taken_in_proportion() {
        let paths = chosen(&[3.0, 1.0], Spread::Random, 10_000);
        let second = paths.iter().filter(|&&path| path == 1).count();
        // 2500 ± 4 standard deviations of 43.
        assert!((2_327..=2_673).contains(&second), "{second}");
    }
}
