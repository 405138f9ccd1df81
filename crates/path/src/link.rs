//! One directed link, from its queue to the far end.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant, Rate};

use crate::discipline::{Discipline, Red};
use crate::impairment::{Fate, Stage};
use crate::transmitter::{Sent, Transmitter};
use crate::{Applies, ConfigError, DropCause, Impairment, Outcome, Verdict};

/// Which way a packet travels within its own flow. With flows both ways, a link carries packets of
/// either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the end that sends data.
    Forward,
    /// To the end that sends data: acknowledgements.
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
    /// Drops packets at random before the queue is full; its `queue` counts those that wait only, as
    /// [`Red`] says.
    pub red: Option<Red>,
    /// What befalls packets after the bottleneck; the order matters only to the random streams.
    pub impairments: Vec<Impairment>,
}

/// A directed link at work.
///
/// Offer it packets in the order of time, and it says at once what becomes of each.
#[derive(Clone, Debug)]
pub struct Link {
    discipline: Discipline,
    transmitter: Transmitter,
    delay: Duration,
    stages: Vec<Stage>,
}

impl Link {
    /// An idle link that carries packets of `direction` only: [`carrying`](Self::carrying) with no
    /// others.
    ///
    /// # Errors
    ///
    /// When a value is out of its range; the error names it.
    pub fn new(config: &LinkConfig, direction: Direction, seed: u64) -> Result<Self, ConfigError> {
        let carries = match direction {
            Direction::Forward => Applies::Data,
            Direction::Reverse => Applies::Acks,
        };
        Self::carrying(config, direction, carries, seed)
    }

    /// An idle link that the packets named by `carries` cross, all of whose randomness comes from
    /// `seed`: `direction` picks one of the seed's two sets of streams. So the two links that join the
    /// same nodes may share a seed; any others need different ones to be independent of each other.
    ///
    /// Every impairment draws from a stream of its own, numbered by its place in the list, so that
    /// another fraction of one, be it 0, does not change what the others do to the packets that leave
    /// the queue.
    ///
    /// # Errors
    ///
    /// When a value is out of its range; the error names it. Impairments that touch no packet of this
    /// link are checked, too.
    pub fn carrying(
        config: &LinkConfig,
        direction: Direction,
        carries: Applies,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        let mut stages = Vec::with_capacity(config.impairments.len());
        let mut streams = Streams::new(seed);
        for (index, impairment) in config.impairments.iter().enumerate() {
            let rng = streams.next_for(direction);
            let stage = Stage::new(impairment, carries, rng)
                .map_err(|error| error.within(format_args!("impairments[{index}]")))?;
            stages.extend(stage);
        }
        Ok(Self {
            // After those of the impairments, which thus draw the same with any queue.
            discipline: Discipline::new(config, streams.next_for(direction))?,
            transmitter: Transmitter::new(config.rate),
            delay: config.delay,
            stages,
        })
    }

    /// Offers a packet of `bytes` octets that travels `way` within its flow at `now`, which must not
    /// go backwards.
    pub fn offer(&mut self, bytes: u32, way: Direction, now: Instant) -> Outcome {
        let found = self.transmitter.occupancy(now);
        if !self.discipline.admits(bytes, now, &mut self.transmitter) {
            return Outcome::refused(now, found);
        }
        let sent = self.transmitter.send(bytes, now);
        self.discipline.admitted(bytes, now, sent);
        let Sent { waited, departed } = sent;
        let mut fate = Fate::default();
        for stage in &mut self.stages {
            // A lost packet passes the later stages too, or loss would shift what they draw.
            stage.touch(&mut fate, way, now);
        }
        let (verdict, duplicate, detoured) = match fate.lost {
            true => (Verdict::Drop(DropCause::Loss), false, false),
            false => {
                let arrival = departed + self.delay + fate.extra;
                (Verdict::Deliver(arrival), fate.duplicated, fate.extra > Duration::ZERO)
            }
        };
        Outcome { verdict, duplicate, detoured, found: found as u32, waited, departed }
    }

    /// Whether the packets it carries leave it in the order in which they came, each once.
    pub fn keeps_order(&self) -> bool {
        self.stages.iter().all(Stage::keeps_order)
    }

    /// How many packets wait or are in service at `now`, which must not go backwards.
    pub fn occupancy(&mut self, now: Instant) -> usize {
        self.transmitter.occupancy(now)
    }
}

/// Random streams, one per impairment and direction of the link: stretches of 2^128 draws of one
/// generator.
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
