//! Random early detection (Floyd and Jacobson 1993), step by step as ns-2.35 computes it
//! (`queue/red.cc`, with the defaults of `tcl/lib/ns-default.tcl`).
//!
//! ns-2's `use_mark_p_` and `wait_` are true and its `adaptive_`, `cautious_` and `setbit_` off, as
//! they are by default there: an average above the upper end drops by lot as well, with
//! probability 1, and drops by lot keep a distance from each other.

use std::collections::VecDeque;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::Instant;

use crate::{ConfigError, LinkConfig};

/// A RED queue's settings, by default those of ns-2.35 with its thresholds of old, 5 and 15.
///
/// The queue never includes the packet in service. [`LinkConfig::queue`] limits how many may wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    /// The average queue from which packets are dropped, in packets (`thresh_`).
    pub min: f64,
    /// The average queue at which `max_p` of them are dropped, in packets (`maxthresh_`).
    pub max: f64,
    /// The weight of a new sample in the average (`q_weight_`); `None`: from the link's speed and
    /// delay, ns-2's −1.
    pub weight: Option<f64>,
    /// Between `max` and twice that, the probability grows on to 1 (`gentle_`); else it is 1 there.
    pub gentle: bool,
    /// Queue, thresholds and limit are counted in octets, a packet being `mean_packet` of them, and
    /// a packet is dropped in proportion to its size (`queue_in_bytes_` and `bytes_`); else in
    /// packets.
    pub bytes: bool,
    /// The typical packet, in octets (`mean_pktsize_`).
    pub mean_packet: u32,
    /// The share of packets dropped when the average is `max` (1 / `linterm_`).
    pub max_p: f64,
}

impl Default for Red {
    fn default() -> Self {
        Self {
            min: 5.0,
            max: 15.0,
            weight: None,
            gentle: true,
            bytes: true,
            mean_packet: 500,
            max_p: 0.1,
        }
    }
}

impl Red {
    /// Whether the settings make sense.
    ///
    /// # Errors
    ///
    /// When one is out of its range; the error names it.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |field, expected, found: f64| Err(ConfigError::new(field, expected, found));
        let &Self { min, max, weight, mean_packet, max_p, .. } = self;
        if !(min >= 0.0 && min.is_finite()) {
            return wrong("min", "at least 0 packets", min);
        }
        if !(max > min && max.is_finite()) {
            return wrong("max", "greater than min", max);
        }
        if let Some(weight) = weight
            && !(weight > 0.0 && weight <= 1.0)
        {
            return wrong("weight", "greater than 0 and at most 1", weight);
        }
        if mean_packet == 0 {
            return wrong("mean_packet", "at least 1 octet", 0.0);
        }
        if !(max_p > 0.0 && max_p <= 1.0) {
            return wrong("max_p", "greater than 0 and at most 1", max_p);
        }
        Ok(())
    }
}

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
        let missed = self.per_second * now.since(busy_until).as_secs_f64();
        self.estimate(queue, missed.floor());
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
        self.average = self.average * (1.0 - self.weight).powf(missed + 1.0) + self.weight * queue;
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
mod tests {
    use rand::SeedableRng;
    use unruffled_units::{Duration, Rate};

    use super::*;

    const fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// 4 Mbit/s: 1 ms for a packet of 500 octets, 1000 of them a second.
    fn link(queue: Option<u32>) -> LinkConfig {
        let (rate, delay) = (Rate::from_bps(4e6), Duration::from_millis(10));
        LinkConfig { rate, delay, queue, ..LinkConfig::default() }
    }

    fn red(red: Red) -> RedQueue {
        RedQueue::new(&red, &link(None), Xoshiro256PlusPlus::seed_from_u64(1)).unwrap()
    }

    fn in_packets() -> Red {
        Red { bytes: false, ..Red::default() }
    }

    /// A queue in packets whose average is `average` and whose last drop was `count` packets ago.
    fn standing(settings: Red, average: f64, count: u64) -> RedQueue {
        RedQueue { average, count, count_bytes: 500 * count, above: true, ..red(settings) }
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found}, {expected}");
    }

    #[test]
    fn the_share_grows_to_max_p_and_gently_on_to_one() {
        let share = |settings: Red, average| standing(settings, average, 0).share();
        close(share(in_packets(), 5.0), 0.0);
        close(share(in_packets(), 10.0), 0.05);
        close(share(in_packets(), 15.0), 0.1);
        close(share(in_packets(), 22.5), 0.55);
        close(share(in_packets(), 30.0), 1.0);
        close(share(in_packets(), 40.0), 1.0);
        let steep = Red { gentle: false, ..in_packets() };
        close(share(steep.clone(), 14.0), 0.09);
        close(share(steep, 15.0), 1.0);
        // In octets, thresholds are 2500 and 7500.
        close(share(Red::default(), 5000.0), 0.05);
    }

    #[test]
    fn drops_keep_a_distance() {
        // A share of 0.05: nothing before the 20th packet, the 40th for certain.
        let probability = |count| standing(in_packets(), 10.0, count).probability(1000);
        close(probability(19), 0.0);
        close(probability(20), 0.05);
        close(probability(30), 0.1);
        close(probability(39), 1.0);
        close(probability(40), 1.0);
    }

    #[test]
    fn in_octets_a_packet_counts_for_its_size() {
        let probability = |bytes| standing(Red::default(), 5000.0, 30).probability(bytes);
        close(probability(500), 0.1);
        close(probability(1000), 0.2);
        close(probability(40), 0.008);
        close(probability(9000), 1.0);
    }

    #[test]
    fn the_weight_follows_from_the_link() {
        // The red.cc formula for 5 Mbit/s, 350 ms and 500 octets.
        let weight = automatic_weight(1250.0, 0.35);
        close(weight, 1.0 - (-1.0 / (10.0 * 3.0 * 0.3508 * 1250.0_f64)).exp());
        assert!((weight - 7.6014e-5).abs() < 1e-9, "{weight}");
        // Round trips count as 100 ms at least.
        close(automatic_weight(1000.0, 0.01), 1.0 - (-0.001_f64).exp());
        close(red(Red::default()).weight, 1.0 - (-0.001_f64).exp());
    }

    #[test]
    fn the_average_moves_by_the_weight_and_fades_while_the_link_is_idle() {
        let mut queue = red(Red { weight: Some(0.5), ..in_packets() });
        for sent in 1..=3 {
            queue.push(1000, at(sent));
        }
        assert!(queue.admits(1000, at(0), at(4)));
        close(queue.average, 1.5);
        assert!(queue.admits(1000, at(1), at(4)));
        close(queue.average, 0.75 + 1.0);
        // Idle from 4 ms on: two packets of 500 octets could have been sent, and a half.
        assert!(queue.admits(1000, Instant::from_nanos(6_500_000), at(4)));
        close(queue.average, 1.75 / 8.0);
    }

    #[test]
    fn only_those_that_wait_are_in_the_queue() {
        let mut queue = red(Red::default());
        queue.push(1000, at(0));
        queue.push(1000, at(2));
        queue.push(40, at(4));
        close(queue.queue(at(0)), 1040.0);
        close(queue.queue(at(2)), 40.0);
        close(queue.queue(at(4)), 0.0);
    }

    #[test]
    fn the_first_packet_above_the_threshold_is_spared() {
        let settings = Red { weight: Some(1.0), gentle: false, ..in_packets() };
        let mut queue = red(settings);
        for _ in 0..20 {
            queue.push(1000, at(10));
        }
        assert!(queue.admits(1000, at(0), at(11)));
        assert!(!queue.admits(1000, at(0), at(11)), "an average of 20 drops all others");
        assert!(!queue.admits(1000, at(0), at(11)));
    }

    #[test]
    fn a_single_packet_that_waits_is_never_too_many() {
        // One more has to wait, however small the thresholds.
        let mut queue = red(Red { weight: Some(1.0), min: 0.0, max: 0.1, ..in_packets() });
        queue.push(1000, at(10));
        assert!((0..100).all(|_| queue.admits(1000, at(0), at(11))));
    }

    #[test]
    fn a_full_queue_drops_everybody_and_counts_anew() {
        let rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut queue = RedQueue::new(&in_packets(), &link(Some(3)), rng).unwrap();
        for _ in 0..3 {
            assert!(queue.admits(1000, at(0), at(11)));
            queue.push(1000, at(10));
        }
        assert!(!queue.admits(1000, at(0), at(11)));
        assert_eq!((queue.count, queue.count_bytes), (0, 0));
        assert!(queue.admits(1000, at(10), at(11)));
    }

    #[test]
    fn gaps_between_drops_are_uniform() {
        // With a share of 0.1, gaps are uniform on 10 to 19 packets: p / (2 − c p) at the c-th.
        let mut queue = standing(in_packets(), 15.0, 0);
        let mut gaps = Vec::new();
        while gaps.len() < 10_000 {
            queue.count += 1;
            let count = queue.count;
            if queue.drops_early(1000) {
                gaps.push(count);
            }
        }
        assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&10), Some(&19)));
        for gap in 10..=19 {
            let share = gaps.iter().filter(|&&g| g == gap).count() as f64 / 10_000.0;
            // Four standard deviations of a binomial share.
            assert!((share - 0.1).abs() < 4.0 * (0.09_f64 / 10_000.0).sqrt(), "{gap}: {share}");
        }
    }

    #[test]
    fn a_setting_out_of_range_is_named() {
        let error = |red: Red, link: LinkConfig| {
            let rng = Xoshiro256PlusPlus::seed_from_u64(1);
            RedQueue::new(&red, &link, rng).unwrap_err().to_string()
        };
        let of = |red| error(red, link(None));
        let default = Red::default;
        assert_eq!(
            of(Red { min: -1.0, ..default() }),
            "red.min must be at least 0 packets, not -1"
        );
        assert_eq!(of(Red { max: 5.0, ..default() }), "red.max must be greater than min, not 5");
        assert_eq!(
            of(Red { weight: Some(0.0), ..default() }),
            "red.weight must be greater than 0 and at most 1, not 0"
        );
        assert_eq!(
            of(Red { max_p: f64::NAN, ..default() }),
            "red.max_p must be greater than 0 and at most 1, not NaN"
        );
        assert_eq!(
            of(Red { mean_packet: 0, ..default() }),
            "red.mean_packet must be at least 1 octet, not 0"
        );
        let fast = LinkConfig { rate: None, ..link(None) };
        assert_eq!(error(default(), fast), "rate must be given for a RED queue, not infinite");
    }
}
