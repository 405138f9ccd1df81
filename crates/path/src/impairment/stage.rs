//! An impairment at work: what becomes of each packet.

use rand::distr::Distribution as _;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant};

use super::effect::Effect;
use super::{Applies, Impairment, Times};
use crate::{ConfigError, Direction};

/// A packet that crosses a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    /// Which way it travels within its flow.
    pub(crate) way: Direction,
    /// When it came to the link, or could be sent again.
    pub(crate) came: Instant,
    /// When its transmission began.
    pub(crate) begun: Instant,
    /// When it ended.
    pub(crate) departed: Instant,
}

/// What the impairments together do to one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) lost: bool,
    pub(crate) duplicated: bool,
    /// It takes so much longer than those around it.
    pub(crate) detour: Duration,
    /// It takes so much longer, and so do those around it.
    pub(crate) shift: Duration,
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

impl Stage {
    /// Puts `impairment` to work on the packets that `carries` names; `None` when it touches none of
    /// them.
    pub(crate) fn new(
        impairment: &Impairment,
        carries: Applies,
        rng: Xoshiro256PlusPlus,
    ) -> Result<Option<Self>, ConfigError> {
        let effect = Effect::of(impairment)?;
        let applies = impairment.applies();
        let touches = applies.meets(carries) && !effect.is_idle();
        let (from, until) = impairment.span();
        Ok(touches.then_some(Self { effect, applies, from, until, rng }))
    }

    /// Whether it neither delays nor doubles packets.
    pub(crate) fn keeps_order(&self) -> bool {
        matches!(
            self.effect,
            Effect::Loss { .. }
                | Effect::Periodic { .. }
                | Effect::Burst { .. }
                | Effect::Blackout { .. }
        )
    }

    /// Whether it is at work for a packet that travels `way` and came at `came`.
    fn reaches(&self, way: Direction, came: Instant) -> bool {
        came >= self.from && came < self.until && self.applies.to(way)
    }

    /// Adds to the fate of a packet.
    #[inline]
    pub(crate) fn touch(&mut self, fate: &mut Fate, packet: &Crossing) {
        if !self.reaches(packet.way, packet.came) {
            return;
        }
        let rng = &mut self.rng;
        match &mut self.effect {
            Effect::Delay { coin, delay } => {
                if coin.sample(rng) {
                    fate.detour += delay.draw(rng);
                }
            }
            Effect::Loss { coin } => fate.lost |= coin.sample(rng),
            _ => self.touch_otherwise(fate, packet),
        }
    }

    /// The same for the less common effects, out of the others' way.
    #[inline(never)]
    fn touch_otherwise(&mut self, fate: &mut Fate, packet: &Crossing) {
        let rng = &mut self.rng;
        match &mut self.effect {
            Effect::Delay { .. } | Effect::Loss { .. } => {}
            Effect::Periodic { every, passed } => fate.lost |= is_last(passed, *every),
            Effect::Alternate { every, passed, extra } => {
                if is_last(passed, *every) {
                    fate.detour += *extra;
                }
            }
            Effect::Duplicate { coin } => fate.duplicated |= coin.sample(rng),
            Effect::Redrawn { every, delay, interval, drawn } => {
                let current = packet.begun.as_nanos() / every.as_nanos();
                if *interval != Some(current) {
                    *interval = Some(current);
                    *drawn = delay.draw(&mut nth(rng, current));
                }
                fate.shift += *drawn;
            }
            Effect::Overhead { delay, last } => {
                *last = packet.departed.max(*last) + delay.draw(rng);
                fate.shift += last.since(packet.departed);
            }
            Effect::Burst { coin, length, until } => {
                if coin.sample(rng) && packet.departed >= *until {
                    *until = packet.departed + length.draw(rng);
                    fate.lost = true;
                }
                fate.lost |= packet.departed < *until;
            }
            Effect::Blackout { times, length } => {
                fate.lost |= is_dark(times, *length, packet.departed);
            }
            Effect::Resend { coin } => fate.lost |= coin.sample(rng),
            Effect::Replay { lateness, passed } => {
                fate.detour += lateness[*passed];
                *passed = (*passed + 1) % lateness.len();
            }
        }
    }
}

/// Counts a packet, and whether it is the last one of its turn of `every`.
fn is_last(passed: &mut u32, every: u32) -> bool {
    *passed = (*passed + 1) % every;
    *passed == 0
}

/// The `n`-th of the generators that belong to `rng`: what is drawn for an interval depends on its
/// number alone, not on the packets before it.
fn nth(rng: &Xoshiro256PlusPlus, n: u64) -> Xoshiro256PlusPlus {
    let seed: u64 = rng.clone().random();
    Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(n))
}

/// Whether `at` is less than `length` after one of `times`, which are sorted.
fn is_dark(times: &Times, length: Duration, at: Instant) -> bool {
    match times {
        Times::At(times) => {
            let begun = times.partition_point(|&time| time <= at);
            begun > 0 && at.since(times[begun - 1]) < length
        }
        Times::Every(every) => {
            let (at, every) = (at.as_nanos(), every.as_nanos());
            at >= every && at % every < length.as_nanos()
        }
    }
}

#[cfg(test)]
mod tests;
