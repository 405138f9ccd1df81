//! The queueing discipline netem of Linux, as `tc` configures it.
//!
//! The rules are those of `net/sched/sch_netem.c` in Linux 6.12. What is left out is rejected when a command
//! line is read: `slot`, the loss models `state` and `ecn`, and the tables of delays other than `normal`. A
//! damaged packet counts as lost, since its receiver discards it. A duplicate arrives with its original;
//! netem draws a delay of its own for it.

mod line;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant, Rate};

use super::Fate;
use crate::{ConfigError, Distribution, Sampler};

/// Most packets in the queue if the command line names no `limit`.
const DEFAULT_LIMIT: u32 = 1000;

/// Longest jitter: the kernel computes with 32 bits of nanoseconds.
const MAX_JITTER: Duration = Duration::from_millis(2147);

/// Settings of netem. `FromStr` reads the words that follow `netem` on a command line of `tc`.
///
/// ```
/// use unruffled_path::Netem;
/// use unruffled_units::Duration;
///
/// let netem: Netem = "delay 10ms reorder 25% 50%".parse()?;
/// assert_eq!(netem.latency, Duration::from_millis(10));
/// assert_eq!((netem.reorder.share, netem.reorder.correlation, netem.gap), (0.25, 0.5, 1));
/// # Ok::<(), unruffled_path::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Netem {
    /// Delay of packets that do not overtake others.
    pub latency: Duration,
    /// Largest deviation of the delay from `latency`; with `normal`, its standard deviation.
    pub jitter: Duration,
    /// Whether the deviation is normal instead of uniform.
    pub normal: bool,
    /// Correlation of a delay with the one before. In the kernel it acts on the 32 random bits whose remainder
    /// is the delay, so it has hardly any effect on delays.
    pub delay_correlation: f64,
    /// Packets that are lost.
    pub loss: Share,
    /// Packets that arrive twice.
    pub duplicate: Share,
    /// Packets that are damaged, and therefore lost.
    pub corrupt: Share,
    /// Packets that are sent at once and overtake the delayed ones, among those that `gap` selects.
    pub reorder: Share,
    /// Number of packets from one that overtakes to the next candidate: 1 makes each packet a candidate, and 0
    /// none.
    pub gap: u32,
    /// Rate at which packets leave the delay line.
    pub rate: Option<Rate>,
    /// Most packets in the delay line. Others are lost.
    pub limit: u32,
}

/// Random share of packets, each decided in correlation with the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Probability, from 0 to 1. With a correlation the share of packets is another one, since netem's draws
    /// are then no longer uniform.
    pub share: f64,
    /// Weight of the draw before, from 0 to 1.
    pub correlation: f64,
}

impl Default for Netem {
    fn default() -> Self {
        Self {
            latency: Duration::ZERO,
            jitter: Duration::ZERO,
            normal: false,
            delay_correlation: 0.0,
            loss: Share::default(),
            duplicate: Share::default(),
            corrupt: Share::default(),
            reorder: Share::default(),
            gap: 0,
            rate: None,
            limit: DEFAULT_LIMIT,
        }
    }
}

impl Netem {
    /// Returns whether at least one in a million packets is delayed or lost.
    pub(super) fn may_hinder(&self) -> bool {
        let often = |share: &Share| share.share > super::MAX_NEGLIGIBLE_FRACTION;
        self.latency > Duration::ZERO
            || self.jitter > Duration::ZERO
            || self.rate.is_some()
            || often(&self.loss)
            || often(&self.corrupt)
    }
}

/// Draws 32 random bits in correlation with those before (`get_crandom`).
#[derive(Clone, Debug)]
struct Bits {
    /// Weight of the draw before, in units of 2^-32.
    rho: u32,
    last: u32,
}

impl Bits {
    fn new(correlation: f64) -> Self {
        Self { rho: scaled(correlation), last: 0 }
    }

    fn draw(&mut self, rng: &mut Xoshiro256PlusPlus) -> u32 {
        let value: u32 = rng.random();
        if self.rho == 0 {
            return value;
        }
        let rho = u64::from(self.rho);
        let sum = u64::from(value) * ((1 << 32) - rho) + u64::from(self.last) * rho;
        self.last = (sum >> 32) as u32;
        self.last
    }
}

/// Returns a share in units of 2^-32, of which the largest is 1.
fn scaled(share: f64) -> u32 {
    // Saturates, as `tc` does.
    (share * f64::from(u32::MAX)).round() as u32
}

/// A random choice for each packet.
#[derive(Clone, Debug)]
struct Choice {
    threshold: u32,
    bits: Bits,
}

impl Choice {
    fn new(share: Share) -> Self {
        Self { threshold: scaled(share.share), bits: Bits::new(share.correlation) }
    }

    fn draw(&mut self, rng: &mut Xoshiro256PlusPlus) -> bool {
        self.threshold > 0 && self.threshold >= self.bits.draw(rng)
    }
}

/// Netem at work on a link.
#[derive(Clone, Debug)]
pub(super) struct DelayLine {
    loss: Choice,
    duplicate: Choice,
    corrupt: Choice,
    reorder: Choice,
    gap: u32,
    /// Packets delayed since the last one that overtook others.
    delayed: u32,
    latency: Duration,
    jitter: Duration,
    normal: Option<Sampler>,
    delays: Bits,
    rate: Option<Rate>,
    limit: usize,
    /// Latest time at which a packet leaves.
    latest: Instant,
    /// Times at which the packets in the line leave.
    queue: BinaryHeap<Reverse<Instant>>,
}

impl DelayLine {
    pub(super) fn new(config: &Netem) -> Result<Self, ConfigError> {
        let &Netem { latency, jitter, normal, rate, limit, gap, .. } = config;
        if jitter > MAX_JITTER {
            return Err(ConfigError::new("jitter", "at most 2147 ms", jitter));
        }
        for share in [config.loss, config.duplicate, config.corrupt, config.reorder] {
            for value in [share.share, share.correlation, config.delay_correlation] {
                if !(0.0..=1.0).contains(&value) {
                    return Err(ConfigError::new("share", "between 0 and 1", value));
                }
            }
        }
        let normal = (normal && jitter > Duration::ZERO)
            .then(|| Distribution::Normal { mean: latency, deviation: jitter }.sampler());
        Ok(Self {
            loss: Choice::new(config.loss),
            duplicate: Choice::new(config.duplicate),
            corrupt: Choice::new(config.corrupt),
            reorder: Choice::new(config.reorder),
            gap,
            delayed: 0,
            latency,
            jitter,
            normal: normal.transpose()?,
            delays: Bits::new(config.delay_correlation),
            rate,
            limit: limit as usize,
            latest: Instant::ZERO,
            queue: BinaryHeap::new(),
        })
    }

    /// Applies netem to a packet of `bytes` octets that enters at `now` (`netem_enqueue`).
    pub(super) fn enqueue(
        &mut self,
        fate: &mut Fate,
        bytes: u32,
        now: Instant,
        rng: &mut Xoshiro256PlusPlus,
    ) {
        let duplicated = self.duplicate.draw(rng);
        let lost = self.loss.draw(rng);
        let damaged = self.corrupt.draw(rng);
        while self.queue.peek().is_some_and(|&Reverse(leaves)| leaves <= now) {
            self.queue.pop();
        }
        // A loss takes one of two copies.
        if (lost && !duplicated) || self.queue.len() >= self.limit {
            fate.lost = true;
            return;
        }
        fate.lost |= damaged;
        fate.duplicated |= duplicated && !lost;
        let leaves = if self.overtakes(rng) {
            self.delayed = 0;
            now
        } else {
            self.delayed = self.delayed.saturating_add(1);
            self.leave(bytes, now, rng)
        };
        self.queue.push(Reverse(leaves));
        fate.shift += leaves.since(now);
    }

    /// Returns whether the packet is sent at once.
    fn overtakes(&mut self, rng: &mut Xoshiro256PlusPlus) -> bool {
        self.gap > 0 && self.delayed + 1 >= self.gap && self.reorder.draw(rng)
    }

    /// Returns the time at which a delayed packet leaves the line.
    fn leave(&mut self, bytes: u32, now: Instant, rng: &mut Xoshiro256PlusPlus) -> Instant {
        let due = now + self.delay(rng);
        let Some(rate) = self.rate else { return due };
        // With a rate the packet leaves after those in the line, so that it keeps its place.
        self.latest = self.latest.max(due) + rate.time_for(bytes);
        self.latest
    }

    /// Draws a delay (`tabledist`).
    fn delay(&mut self, rng: &mut Xoshiro256PlusPlus) -> Duration {
        if self.jitter == Duration::ZERO {
            return self.latency;
        }
        if let Some(normal) = &self.normal {
            return normal.draw(rng);
        }
        let bits = u64::from(self.delays.draw(rng));
        let deviation = bits % (2 * self.jitter.as_nanos());
        (self.latency + Duration::from_nanos(deviation)).saturating_sub(self.jitter)
    }
}

#[cfg(test)]
mod tests;
