//! Application of impairments to packets.

use rand::distr::Distribution as _;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant};

use super::effect::{Choice, Effect};
use super::{Advance, Applies, Impairment, Times};
use crate::{ConfigError, Direction};

/// Crossing of a link by a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub(crate) direction: Direction,
    /// Flow of the packet; see [`Packet`](crate::Packet).
    pub(crate) flow: u32,
    /// Size in octets.
    pub(crate) bytes: u32,
    /// Time at which the packet arrived at the link, or could be resent.
    pub(crate) ready: Instant,
    /// Beginning of the transmission.
    pub(crate) begun: Instant,
    /// End of the transmission.
    pub(crate) departed: Instant,
}

/// Combined effect of all impairments on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) lost: bool,
    pub(crate) duplicated: bool,
    /// Extra delay of this packet alone.
    pub(crate) detour: Duration,
    /// Extra delay that the packets around it have as well.
    pub(crate) shift: Duration,
    /// Number of packets that it waits for at the far end; see [`Outcome`](crate::Outcome).
    pub(crate) late_by: u32,
    /// Whether it leaves its order at the far end.
    pub(crate) reordered: bool,
}

/// Impairment of a link, with its own stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    effect: Effect,
    applies: Applies,
    from: Instant,
    until: Instant,
    rng: Xoshiro256PlusPlus,
}

impl Stage {
    /// Creates the stage of an impairment on a link with the packets in `carries`. Returns `None` if it never
    /// has an effect on them.
    pub(crate) fn new(
        impairment: &Impairment,
        carries: Applies,
        rng: Xoshiro256PlusPlus,
    ) -> Result<Option<Self>, ConfigError> {
        let effect = Effect::new(impairment)?;
        let applies = impairment.applies();
        let has_effect = applies.overlaps(carries) && !effect.is_idle();
        let (from, until) = impairment.active_time();
        Ok(has_effect.then_some(Self { effect, applies, from, until, rng }))
    }

    /// Returns whether the stage neither delays nor duplicates packets.
    pub(crate) fn keeps_order(&self) -> bool {
        matches!(
            self.effect,
            Effect::Loss { .. }
                | Effect::Periodic { .. }
                | Effect::Burst { .. }
                | Effect::Blackout { .. }
        )
    }

    /// Returns whether the effect depends on the flows of packets.
    pub(crate) fn reads_flows(&self) -> bool {
        matches!(&self.effect, Effect::Workers { pool } if pool.reads_flows())
    }

    /// Returns whether the stage applies to a packet in `direction` that was ready at `ready`.
    fn applies_to(&self, direction: Direction, ready: Instant) -> bool {
        ready >= self.from && ready < self.until && self.applies.to(direction)
    }

    /// Returns whether its only effect is to delay random packets.
    pub(crate) fn delays(&self) -> bool {
        matches!(self.effect, Effect::Delay { .. })
    }

    /// Returns the extra delay of a packet in `direction` that was ready at `ready`, if the stage only
    /// [delays](Self::delays).
    #[inline]
    pub(crate) fn delay(&mut self, direction: Direction, ready: Instant) -> Duration {
        let applies = self.applies_to(direction, ready);
        match &mut self.effect {
            Effect::Delay { coin, delay } if applies && coin.sample(&mut self.rng) => {
                delay.draw(&mut self.rng)
            }
            _ => Duration::ZERO,
        }
    }

    /// Applies the impairment to a packet and updates its fate.
    #[inline]
    pub(crate) fn apply(&mut self, fate: &mut Fate, packet: &Crossing) {
        if !self.applies_to(packet.direction, packet.ready) {
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
            _ => self.apply_uncommon(fate, packet),
        }
    }

    /// Applies the less common effects, in a separate function to keep the common ones fast.
    #[inline(never)]
    fn apply_uncommon(&mut self, fate: &mut Fate, packet: &Crossing) {
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
                    *drawn = delay.draw(&mut generator_of(current, rng));
                }
                fate.shift += *drawn;
            }
            Effect::Overhead { delay, last } => {
                *last = packet.departed.max(*last) + delay.draw(rng);
                fate.shift += last.since(packet.departed);
            }
            Effect::Workers { pool } => fate.shift += pool.delay(packet, rng),
            Effect::Netem { line } => line.enqueue(fate, packet.bytes, packet.departed, rng),
            Effect::Burst { coin, length, until } => {
                if coin.sample(rng) && packet.departed >= *until {
                    *until = packet.departed + length.draw(rng);
                    fate.lost = true;
                }
                fate.lost |= packet.departed < *until;
            }
            Effect::Blackout { times, length } => {
                fate.lost |= is_blackout(times, *length, packet.departed);
            }
            Effect::Resend { coin } => fate.lost |= coin.sample(rng),
            Effect::Behind { coin, packets } => {
                // The number is drawn for every packet, so that later draws do not depend on the fraction.
                let late_by = packets.sample(rng);
                if coin.sample(rng) {
                    fate.late_by = late_by;
                    fate.reordered = true;
                }
            }
            Effect::Early { choice, by } => {
                let is_early = match choice {
                    Choice::Random(coin) => coin.sample(rng),
                    Choice::Periodic { every, passed } => is_last(passed, *every),
                };
                match *by {
                    Advance::Time(_) if is_early => {}
                    Advance::Time(by) => fate.shift += by,
                    Advance::Packets { .. } if is_early => fate.reordered = true,
                    Advance::Packets { count, .. } => fate.late_by = count,
                }
            }
            Effect::Replay { lateness, passed } => {
                fate.detour += lateness[*passed];
                *passed = (*passed + 1) % lateness.len();
            }
        }
    }
}

/// Counts a packet, and returns whether it is the last one of its period.
fn is_last(passed: &mut u32, every: u32) -> bool {
    *passed = (*passed + 1) % every;
    *passed == 0
}

/// Returns the random generator of interval `n`. Its numbers depend on `n` and on the initial state of
/// `rng`, not on the packets before.
fn generator_of(n: u64, rng: &Xoshiro256PlusPlus) -> Xoshiro256PlusPlus {
    let seed: u64 = rng.clone().random();
    Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(n))
}

/// Returns whether `at` is less than `length` after one of `times`, which are sorted.
fn is_blackout(times: &Times, length: Duration, at: Instant) -> bool {
    match times {
        Times::At(times) => {
            let begun = times.partition_point(|&time| time <= at);
            begun > 0 && at.since(times[begun - 1]) < length
        }
        Times::Every(every) => {
            let at = at.as_nanos();
            let every = every.as_nanos();
            at >= every && at % every < length.as_nanos()
        }
    }
}

#[cfg(test)]
mod tests;
