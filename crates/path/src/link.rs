//! One direction of a path, from its queue to the far end.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant, Rate};

use crate::discipline::DropTail;
use crate::impairment::{Fate, Stage};
use crate::transmitter::Transmitter;
use crate::{ConfigError, DropCause, Impairment, Outcome, Verdict};

/// Which way packets travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Carries data.
    Forward,
    /// Carries acknowledgements.
    Reverse,
}

/// What a link is made of. The default lets everything through at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkConfig {
    /// How fast packets are sent; `None`: infinitely fast.
    pub rate: Option<Rate>,
    /// How long a packet travels after its last bit has been sent.
    pub delay: Duration,
    /// How many packets may be there, the one in service included; `None`: any number.
    pub queue: Option<u32>,
    /// What befalls packets after the bottleneck; the order matters only to the random streams.
    pub impairments: Vec<Impairment>,
}

/// One direction of a path at work.
///
/// Offer it packets in the order of time, and it says at once what becomes of each.
#[derive(Clone, Debug)]
pub struct Link {
    discipline: DropTail,
    transmitter: Transmitter,
    delay: Duration,
    stages: Vec<Stage>,
}

impl Link {
    /// An idle link, all of whose randomness comes from `seed`. The two directions of a path may share
    /// a seed; any other links need different ones to be independent of each other.
    ///
    /// Every impairment draws from a stream of its own, numbered by its place in the list, so that
    /// another fraction of one, be it 0, does not change what the others do to the packets that leave
    /// the queue.
    ///
    /// # Errors
    ///
    /// When a value is out of its range; the error names it. Impairments of the other direction are
    /// checked, too.
    pub fn new(config: &LinkConfig, direction: Direction, seed: u64) -> Result<Self, ConfigError> {
        let mut stages = Vec::with_capacity(config.impairments.len());
        let mut streams = Streams::new(seed);
        for (index, impairment) in config.impairments.iter().enumerate() {
            let rng = streams.next_for(direction);
            let stage = Stage::new(impairment, direction, rng)
                .map_err(|error| error.within(format_args!("impairments[{index}]")))?;
            stages.extend(stage);
        }
        Ok(Self {
            discipline: DropTail::new(config.queue)?,
            transmitter: Transmitter::new(config.rate),
            delay: config.delay,
            stages,
        })
    }

    /// Offers a packet of `bytes` octets at `now`, which must not go backwards.
    pub fn offer(&mut self, bytes: u32, now: Instant) -> Outcome {
        if !self.discipline.admits(self.transmitter.occupancy(now)) {
            return Outcome::drop(DropCause::Queue);
        }
        let arrival = self.transmitter.send(bytes, now) + self.delay;
        let mut fate = Fate::default();
        for stage in &mut self.stages {
            // A lost packet passes the later stages too, or loss would shift what they draw.
            stage.touch(&mut fate, now);
        }
        if fate.lost {
            return Outcome::drop(DropCause::Loss);
        }
        Outcome {
            verdict: Verdict::Deliver(arrival + fate.extra),
            duplicate: fate.duplicated,
            detoured: fate.extra > Duration::ZERO,
        }
    }

    /// Whether packets leave it in the order in which they came, each once.
    pub fn keeps_order(&self) -> bool {
        self.stages.iter().all(Stage::keeps_order)
    }

    /// How many packets wait or are in service at `now`, which must not go backwards.
    pub fn occupancy(&mut self, now: Instant) -> usize {
        self.transmitter.occupancy(now)
    }
}

/// Random streams, one per impairment and direction: stretches of 2^128 draws of one generator.
struct Streams(Xoshiro256PlusPlus);

impl Streams {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The stream of the next impairment in `direction`.
    fn next_for(&mut self, direction: Direction) -> Xoshiro256PlusPlus {
        let forward = self.0.clone();
        self.0.jump();
        let reverse = self.0.clone();
        self.0.jump();
        match direction {
            Direction::Forward => forward,
            Direction::Reverse => reverse,
        }
    }
}
