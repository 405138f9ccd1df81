//! Random early detection (Floyd and Jacobson 1993), computed as in ns-2.35 (`queue/red.cc`, with the
//! defaults of `tcl/lib/ns-default.tcl`).
//!
//! By default, `use_mark_p_` and `wait_` are true in ns-2, and `adaptive_`, `cautious_` and `setbit_`
//! are off. So an average above the upper threshold causes random drops with probability 1, and random
//! drops keep a distance from each other. [`Red::ecn`] is `setbit_`: the queue marks an ECN-capable packet
//! where it would drop another at random, while the share of packets to be dropped is below `mark_p_`
//! (RFC 3168, section 7).

mod settings;

use std::collections::VecDeque;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant, Rate};

use super::Admission;
use crate::{ConfigError, Packet};
pub use settings::Red;

/// RED queue. Sizes are in octets or in packets, depending on its settings.
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
    /// Share of packets to be dropped from which on all of them are dropped, or 0 if none is marked.
    mark_p: f64,
    /// Packets of `mean_packet` octets that the link sends per second (`ptc`).
    packets_per_second: f64,
    waiting: Waiting,
    average: f64,
    /// Packets since the last random drop or mark, the current one included.
    count: u64,
    /// Octets of these packets.
    count_bytes: u64,
    /// Whether the average was above `min` at the last packet.
    above: bool,
    rng: Xoshiro256PlusPlus,
}

/// Packets that wait, without the one in service.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// Beginning of the transmission and octets of each packet that may still wait.
    packets: VecDeque<(Instant, u32)>,
    bytes: u64,
}

impl Waiting {
    /// Removes the packets whose transmission has begun by `now`.
    fn advance(&mut self, now: Instant) {
        while let Some(&(begun, bytes)) = self.packets.front()
            && begun <= now
        {
            self.packets.pop_front();
            self.bytes -= u64::from(bytes);
        }
    }
}

impl RedQueue {
    /// Creates an empty queue of at most `limit` waiting packets, on a link with that rate and delay.
    pub(crate) fn new(
        red: &Red,
        rate: Option<Rate>,
        delay: Duration,
        limit: Option<u32>,
        rng: Xoshiro256PlusPlus,
    ) -> Result<Self, ConfigError> {
        red.check().map_err(|error| error.within("red"))?;
        let &Red { min, max, weight, gentle, bytes, mean_packet, max_p, ecn, mark_p } = red;
        let Some(rate) = rate else {
            return Err(ConfigError::new("rate", "given for a RED queue", "infinite"));
        };
        let packets_per_second = rate.bps() / (8.0 * f64::from(mean_packet));
        let unit = if bytes { f64::from(mean_packet) } else { 1.0 };
        Ok(Self {
            min: min * unit,
            max: max * unit,
            limit: limit.map_or(f64::INFINITY, |limit| f64::from(limit) * unit),
            weight: weight
                .unwrap_or_else(|| automatic_weight(packets_per_second, delay.as_secs_f64())),
            gentle,
            bytes,
            mean_packet,
            max_p,
            mark_p: if ecn { mark_p } else { 0.0 },
            packets_per_second,
            waiting: Waiting::default(),
            average: 0.0,
            count: 0,
            count_bytes: 0,
            above: false,
            rng,
        })
    }

    /// Decides about a packet that arrives at `now` (`REDQueue::enque`). The packets admitted before have
    /// been sent by `busy_until`.
    #[inline]
    pub(crate) fn admit(&mut self, packet: Packet, now: Instant, busy_until: Instant) -> Admission {
        let Packet { bytes, ect, .. } = packet;
        let queue = self.queue(now);
        let missed = match now.since(busy_until) {
            Duration::ZERO => 0.0,
            idle => (self.packets_per_second * idle.as_secs_f64()).floor(),
        };
        self.estimate(queue, missed);
        self.count += 1;
        self.count_bytes += u64::from(bytes);

        let mut chosen = false;
        if self.average >= self.min && queue > 1.0 {
            if self.above {
                chosen = self.chooses(bytes);
            } else {
                // The first packet above the threshold is admitted.
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
            return Admission::Refused;
        }
        let marked = chosen && ect && self.share() < self.mark_p;
        if chosen && !marked { Admission::Refused } else { Admission::Admitted { marked } }
    }

    /// Records a packet of `bytes` octets that waits until its transmission begins at `begun`.
    #[inline]
    pub(crate) fn push(&mut self, bytes: u32, begun: Instant) {
        self.waiting.packets.push_back((begun, bytes));
        self.waiting.bytes += u64::from(bytes);
    }

    /// Returns the length of the queue at `now`.
    fn queue(&mut self, now: Instant) -> f64 {
        self.waiting.advance(now);
        if self.bytes { self.waiting.bytes as f64 } else { self.waiting.packets.len() as f64 }
    }

    /// Updates the average with `queue`, after `missed` packets that the idle link could have sent
    /// (`REDQueue::estimator`).
    fn estimate(&mut self, queue: f64, missed: f64) {
        // The power is expensive, and superfluous if its exponent is 1 or the average is 0.
        let kept = match missed {
            _ if self.average == 0.0 => 0.0,
            0.0 => self.average * (1.0 - self.weight),
            _ => self.average * libm::pow(1.0 - self.weight, missed + 1.0),
        };
        self.average = kept + self.weight * queue;
    }

    /// Returns the share of packets to be dropped at the current average (`calculate_p_new`).
    fn share(&self) -> f64 {
        let Self { min, max, max_p, average, .. } = *self;
        let share = if average < max {
            (average - min) / (max - min) * max_p
        } else if self.gentle {
            // Linear from max_p at max to 1 at twice max.
            (1.0 - max_p) / max * average + 2.0 * max_p - 1.0
        } else {
            1.0
        };
        share.min(1.0)
    }

    /// Returns the probability of dropping a packet of `bytes` octets, with which gaps between drops are
    /// uniform on [1, 2] / share (`modify_p`).
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

    /// Draws whether a packet of `bytes` octets is dropped or marked at random (`drop_early`).
    fn chooses(&mut self, bytes: u32) -> bool {
        let probability = self.probability(bytes);
        let chosen = self.rng.random::<f64>() <= probability;
        if chosen {
            self.count = 0;
            self.count_bytes = 0;
        }
        chosen
    }
}

/// Returns the weight with which the average covers ten round trips of at least 100 ms (`q_weight_` −1
/// in `REDQueue::initParams`).
fn automatic_weight(packets_per_second: f64, delay_s: f64) -> f64 {
    let round_trip_s = (3.0 * (delay_s + 1.0 / packets_per_second)).max(0.1);
    1.0 - libm::exp(-1.0 / (10.0 * round_trip_s * packets_per_second))
}

#[cfg(test)]
mod tests;
