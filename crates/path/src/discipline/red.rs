//! Random early detection (Floyd and Jacobson 1993), step by step as ns-2.35 computes it
//! (`queue/red.cc`, with the defaults of `tcl/lib/ns-default.tcl`).
//!
//! ns-2's `use_mark_p_` and `wait_` are true and its `adaptive_`, `cautious_` and `setbit_` off, as
//! they are by default there: an average above the upper end drops by lot as well, with
//! probability 1, and drops by lot keep a distance from each other.

mod settings;

use std::collections::VecDeque;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant};

use crate::{ConfigError, LinkConfig};
pub use settings::Red;

/// A RED queue at work. Sizes are in octets or packets, as its settings say.
#[derive(Clone, Debug)]
pub(crate) struct RedQueue {
    min: f64,
    max: f64,
    limit: f64,
    weight: f64,
    gentle: bool,
    bytes: bool,
    mean_packet: u32,
    max_p: f64,
    /// Packets of `mean_packet` octets that the link sends in a second (`ptc`).
    per_second: f64,
    /// When each packet that may still wait begins to be sent, and its octets.
    waiting: VecDeque<(Instant, u32)>,
    waiting_bytes: u64,
    average: f64,
    /// Packets that came since the last drop, this one included.
    count: u64,
    /// Their octets.
    count_bytes: u64,
    /// The average was above `min` when the last packet came.
    above: bool,
    rng: Xoshiro256PlusPlus,
}

impl RedQueue {
    pub(crate) fn new(
        red: &Red,
        link: &LinkConfig,
        rng: Xoshiro256PlusPlus,
    ) -> Result<Self, ConfigError> {
        red.check().map_err(|error| error.within("red"))?;
        let &Red { min, max, weight, gentle, bytes, mean_packet, max_p } = red;
        let Some(rate) = link.rate else {
            return Err(ConfigError::new("rate", "given for a RED queue", "infinite"));
        };
        let per_second = rate.bps() / (8.0 * f64::from(mean_packet));
        let unit = if bytes { f64::from(mean_packet) } else { 1.0 };
        Ok(Self {
            min: min * unit,
            max: max * unit,
            limit: link.queue.map_or(f64::INFINITY, |limit| f64::from(limit) * unit),
            weight: weight
                .unwrap_or_else(|| automatic_weight(per_second, link.delay.as_secs_f64())),
            gentle,
            bytes,
            mean_packet,
            max_p,
            per_second,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            average: 0.0,
            count: 0,
            count_bytes: 0,
            above: false,
            rng,
        })
    }

    /// Whether a packet of `bytes` octets that comes at `now` is let in (`REDQueue::enque`). What was
    /// let in before has been sent by `busy_until`.
    #[inline(never)]
    pub(crate) fn admits(&mut self, bytes: u32, now: Instant, busy_until: Instant) -> bool {
        let queue = self.queue(now);
        let missed = match now.since(busy_until) {
            Duration::ZERO => 0.0,
            idle => (self.per_second * idle.as_secs_f64()).floor(),
        };
        self.estimate(queue, missed);
        self.count += 1;
        self.count_bytes += u64::from(bytes);

        let mut dropped = false;
        if self.average >= self.min && queue > 1.0 {
            if self.above {
                dropped = self.drops_early(bytes);
            } else {
                // The first one above the threshold is spared.
                self.above = true;
                self.count = 1;
                self.count_bytes = u64::from(bytes);
            }
        } else {
            self.above = false;
        }
        if queue >= self.limit {
            self.count = 0;
            self.count_bytes = 0;
            dropped = true;
        }
        !dropped
    }

    /// A packet of `bytes` octets waits until it begins to be sent at `begun`.
    #[inline(never)]
    pub(crate) fn push(&mut self, bytes: u32, begun: Instant) {
        self.waiting.push_back((begun, bytes));
        self.waiting_bytes += u64::from(bytes);
    }

    /// What waits at `now`.
    fn queue(&mut self, now: Instant) -> f64 {
        while let Some(&(begun, bytes)) = self.waiting.front()
            && begun <= now
        {
            self.waiting.pop_front();
            self.waiting_bytes -= u64::from(bytes);
        }
        if self.bytes { self.waiting_bytes as f64 } else { self.waiting.len() as f64 }
    }

    /// Averages `queue` in, after `missed` packets that the idle link could have sent
    /// (`REDQueue::estimator`).
    fn estimate(&mut self, queue: f64, missed: f64) {
        // The power is not computed where it is the number itself, or multiplies nothing.
        let kept = match missed {
            _ if self.average == 0.0 => 0.0,
            0.0 => self.average * (1.0 - self.weight),
            _ => self.average * (1.0 - self.weight).powf(missed + 1.0),
        };
        self.average = kept + self.weight * queue;
    }

    /// The share of packets that the average calls to drop (`calculate_p_new`).
    fn share(&self) -> f64 {
        let Self { min, max, max_p, average, .. } = *self;
        let share = if average < max {
            (average - min) / (max - min) * max_p
        } else if self.gentle {
            // From max_p at max to 1 at twice max.
            (1.0 - max_p) / max * average + 2.0 * max_p - 1.0
        } else {
            1.0
        };
        share.min(1.0)
    }

    /// The probability of dropping a packet of `bytes` octets, so that gaps between drops are uniform
    /// on [1, 2] / share (`modify_p`).
    fn probability(&self, bytes: u32) -> f64 {
        let share = self.share();
        let passed =
            if self.bytes { self.count_bytes / u64::from(self.mean_packet) } else { self.count };
        let due = passed as f64 * share;
        let mut probability = if due < 1.0 {
            0.0
        } else if due < 2.0 {
            share / (2.0 - due)
        } else {
            1.0
        };
        if self.bytes && probability < 1.0 {
            probability *= f64::from(bytes) / f64::from(self.mean_packet);
        }
        probability.min(1.0)
    }

    /// Draws whether the packet is dropped by lot (`drop_early`).
    fn drops_early(&mut self, bytes: u32) -> bool {
        let probability = self.probability(bytes);
        let dropped = self.rng.random::<f64>() <= probability;
        if dropped {
            self.count = 0;
            self.count_bytes = 0;
        }
        dropped
    }
}

/// The average reaches over ten round trips, which are at least 100 ms (`q_weight_` −1 in
/// `REDQueue::initParams`).
fn automatic_weight(per_second: f64, delay: f64) -> f64 {
    let round_trip = (3.0 * (delay + 1.0 / per_second)).max(0.1);
    1.0 - (-1.0 / (10.0 * round_trip * per_second)).exp()
}

#[cfg(test)]
mod tests;
