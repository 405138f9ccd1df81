//! What befalls packets after the bottleneck: delay, loss, another path, duplication.

use rand::distr::{Bernoulli, Distribution as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant};

use crate::{ConfigError, Direction, Distribution, Sampler};

/// Something that befalls packets on their way. Fractions are from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Impairment {
    /// A share of the packets takes extra time after the link; the others pass them.
    Delay {
        /// The share of packets delayed, each at random.
        fraction: f64,
        /// The extra time.
        delay: Distribution,
        /// Which packets it touches.
        applies: Applies,
    },
    /// Packets are lost at random, after the bottleneck has sent them.
    Loss {
        /// The share of packets lost.
        fraction: f64,
        /// Which packets it touches.
        applies: Applies,
    },
    /// Every `every`-th packet takes another, longer path; 2 means two paths in turn.
    Alternate {
        /// The number of packets in a turn; its last one takes the longer path.
        every: u32,
        /// How much longer that path takes.
        extra: Duration,
        /// Which packets it touches.
        applies: Applies,
    },
    /// An extra copy of a packet is delivered at the same time.
    Duplicate {
        /// The share of packets duplicated, each at random.
        fraction: f64,
        /// Which packets it touches.
        applies: Applies,
    },
    /// Another impairment, at work for a time only.
    During {
        /// When it begins.
        from: Instant,
        /// When it has ended.
        until: Instant,
        /// What it is.
        impairment: Box<Impairment>,
    },
}

/// Which packets an impairment touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Applies {
    /// Those that travel forward in their flow.
    Data,
    /// Those that travel back in their flow.
    Acks,
    /// All.
    #[default]
    Both,
}

impl Applies {
    /// Whether it touches packets that travel `way` within their flow.
    pub fn to(self, way: Direction) -> bool {
        match self {
            Self::Data => way == Direction::Forward,
            Self::Acks => way == Direction::Reverse,
            Self::Both => true,
        }
    }

    /// Whether it touches any of the packets that `other` names.
    fn meets(self, other: Self) -> bool {
        self == Self::Both || other == Self::Both || self == other
    }
}

/// What the impairments together do to one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) lost: bool,
    pub(crate) duplicated: bool,
    pub(crate) extra: Duration,
}

/// An impairment at work, with a stream of random numbers of its own.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    effect: Effect,
    applies: Applies,
    from: Instant,
    until: Instant,
    rng: Xoshiro256PlusPlus,
}

#[derive(Clone, Debug)]
enum Effect {
    Delay { coin: Bernoulli, delay: Sampler },
    Loss { coin: Bernoulli },
    Alternate { every: u32, passed: u32, extra: Duration },
    Duplicate { coin: Bernoulli },
}

impl Impairment {
    fn applies(&self) -> Applies {
        match *self {
            Self::Delay { applies, .. }
            | Self::Loss { applies, .. }
            | Self::Alternate { applies, .. }
            | Self::Duplicate { applies, .. } => applies,
            Self::During { ref impairment, .. } => impairment.applies(),
        }
    }

    /// When it is at work: from the first of the two instants up to the second.
    fn span(&self) -> (Instant, Instant) {
        match self {
            Self::During { from, until, impairment } => {
                let (inner_from, inner_until) = impairment.span();
                (inner_from.max(*from), inner_until.min(*until))
            }
            _ => (Instant::ZERO, Instant::MAX),
        }
    }

    fn effect(&self) -> Result<Effect, ConfigError> {
        Ok(match *self {
            Self::Delay { fraction, ref delay, .. } => Effect::Delay {
                coin: coin(fraction)?,
                delay: delay.sampler().map_err(|error| error.within("delay"))?,
            },
            Self::Loss { fraction, .. } => Effect::Loss { coin: coin(fraction)? },
            Self::Alternate { every: 0, .. } => {
                return Err(ConfigError::new("every", "at least 1", 0));
            }
            Self::Alternate { every, extra, .. } => Effect::Alternate { every, passed: 0, extra },
            Self::Duplicate { fraction, .. } => Effect::Duplicate { coin: coin(fraction)? },
            Self::During { ref impairment, .. } => impairment.effect()?,
        })
    }
}

impl Effect {
    /// Whether it can never touch a packet.
    fn is_idle(&self) -> bool {
        match self {
            Self::Delay { coin, .. } | Self::Loss { coin } | Self::Duplicate { coin } => {
                coin.p() == 0.0
            }
            Self::Alternate { .. } => false,
        }
    }
}

impl Stage {
    /// Puts `impairment` to work on the packets that `carries` names; `None` when it touches none of
    /// them.
    pub(crate) fn new(
        impairment: &Impairment,
        carries: Applies,
        rng: Xoshiro256PlusPlus,
    ) -> Result<Option<Self>, ConfigError> {
        let effect = impairment.effect()?;
        let applies = impairment.applies();
        let touches = applies.meets(carries) && !effect.is_idle();
        let (from, until) = impairment.span();
        Ok(touches.then_some(Self { effect, applies, from, until, rng }))
    }

    /// Whether it neither delays nor doubles packets.
    pub(crate) fn keeps_order(&self) -> bool {
        matches!(self.effect, Effect::Loss { .. })
    }

    /// Adds to the fate of a packet that travels `way` and came at `now`.
    pub(crate) fn touch(&mut self, fate: &mut Fate, way: Direction, now: Instant) {
        if now < self.from || now >= self.until || !self.applies.to(way) {
            return;
        }
        let rng = &mut self.rng;
        match &mut self.effect {
            Effect::Delay { coin, delay } => {
                if coin.sample(rng) {
                    fate.extra += delay.draw(rng);
                }
            }
            Effect::Loss { coin } => fate.lost |= coin.sample(rng),
            Effect::Alternate { every, passed, extra } => {
                *passed += 1;
                if passed == every {
                    *passed = 0;
                    fate.extra += *extra;
                }
            }
            Effect::Duplicate { coin } => fate.duplicated |= coin.sample(rng),
        }
    }
}

fn coin(fraction: f64) -> Result<Bernoulli, ConfigError> {
    Bernoulli::new(fraction).map_err(|_| ConfigError::new("fraction", "between 0 and 1", fraction))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn stage(impairment: &Impairment) -> Option<Stage> {
        let rng = Xoshiro256PlusPlus::seed_from_u64(1);
        Stage::new(impairment, Applies::Data, rng).unwrap()
    }

    #[test]
    fn an_impairment_keeps_to_its_packets() {
        use Direction::{Forward, Reverse};
        assert!(Applies::Data.to(Forward) && !Applies::Data.to(Reverse));
        assert!(!Applies::Acks.to(Forward) && Applies::Acks.to(Reverse));
        assert!(Applies::Both.to(Forward) && Applies::Both.to(Reverse));
        let of_acks = Impairment::Loss { fraction: 1.0, applies: Applies::Acks };
        assert!(stage(&of_acks).is_none());

        let rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut on_both = Stage::new(&of_acks, Applies::Both, rng).unwrap().unwrap();
        let lost = [Forward, Reverse].map(|way| {
            let mut fate = Fate::default();
            on_both.touch(&mut fate, way, Instant::ZERO);
            fate.lost
        });
        assert_eq!(lost, [false, true]);
    }

    #[test]
    fn a_fraction_of_zero_costs_nothing() {
        assert!(stage(&Impairment::Loss { fraction: 0.0, applies: Applies::Both }).is_none());
    }

    #[test]
    fn an_impairment_is_at_work_during_its_time_only() {
        let loss = Impairment::Loss { fraction: 1.0, applies: Applies::Both };
        let (from, until) = (Instant::from_millis(10), Instant::from_millis(20));
        let during = Impairment::During { from, until, impairment: Box::new(loss) };
        let mut stage = stage(&during).unwrap();
        let lost = [9, 10, 19, 20].map(|ms| {
            let mut fate = Fate::default();
            stage.touch(&mut fate, Direction::Forward, Instant::from_millis(ms));
            fate.lost
        });
        assert_eq!(lost, [false, true, true, false]);
    }

    #[test]
    fn every_third_packet_takes_the_longer_path() {
        let extra = Duration::from_millis(100);
        let impairment = Impairment::Alternate { every: 3, extra, applies: Applies::Both };
        let mut stage = stage(&impairment).unwrap();
        let late: Vec<bool> = (0..7)
            .map(|_| {
                let mut fate = Fate::default();
                stage.touch(&mut fate, Direction::Forward, Instant::ZERO);
                fate.extra == extra
            })
            .collect();
        assert_eq!(late, [false, false, true, false, false, true, false]);
    }
}
