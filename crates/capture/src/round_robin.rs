//! Detection of round-robin load balancing, from the distances between late packets.
//!
//! Where packets are spread over paths of different lengths one by one, those that take a longer path
//! are late, and they follow each other at a fixed distance.

use std::collections::VecDeque;

use serde::Serialize;

/// Longest period that is recognised, in packets.
const MAX_PERIOD_PACKETS: usize = 32;

/// Number of late packets kept: those of the longest period, and some more because arrivals are out of
/// order.
const MAX_RECENT_PACKETS: usize = 48;

/// Number of late packets below which no pattern is reported.
const MIN_LATE_PACKETS: u64 = 50;

/// Smallest share of the late packets that must follow another by one period. The others follow a
/// packet that was lost, retransmitted, or late without being overtaken.
const MIN_PERIODIC_SHARE: f64 = 0.5;

/// Smallest excess of that share over the mean share at shorter distances. At random, the shares are
/// alike at all distances.
const MIN_SHARE_EXCESS: f64 = 0.25;

/// Counts of the distances between late packets.
///
/// Packets are numbered in the order of sending, retransmissions included.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundRobinDetector {
    recent: VecDeque<u64>,
    /// Number of pairs by distance.
    pairs: Option<Box<[u64; MAX_PERIOD_PACKETS + 1]>>,
    late: u64,
}

impl RoundRobinDetector {
    /// Records that packet `number` is late.
    pub(crate) fn record_late(&mut self, number: u64) {
        self.late += 1;
        let pairs = self.pairs.get_or_insert_with(|| Box::new([0; MAX_PERIOD_PACKETS + 1]));
        for &other in &self.recent {
            if let Some(count) = pairs.get_mut(number.abs_diff(other) as usize) {
                *count += 1;
            }
        }
        if self.recent.len() == MAX_RECENT_PACKETS {
            self.recent.pop_front();
        }
        self.recent.push_back(number);
    }

    /// Returns the pattern, if there is one; `late_share` is the share of all packets that are late.
    pub(crate) fn pattern(&self, late_share: f64) -> Option<RoundRobin> {
        let pairs = self.pairs.as_ref().filter(|_| self.late >= MIN_LATE_PACKETS)?;
        let share_at = |distance: usize| pairs[distance] as f64 / self.late as f64;
        let period = (2..=MAX_PERIOD_PACKETS).find(|&period| {
            let shorter = (1..period).map(share_at).sum::<f64>() / (period - 1) as f64;
            let share = share_at(period);
            share >= MIN_PERIODIC_SHARE && share >= shorter + MIN_SHARE_EXCESS
        })?;
        let late = (late_share * period as f64).round().clamp(1.0, period as f64 - 1.0);
        Some(RoundRobin { every: period as u32, late: late as u32 })
    }
}

/// Pattern of round-robin load balancing: a fixed number of the packets in each period take a longer
/// path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RoundRobin {
    /// Period, in packets.
    pub every: u32,
    /// Late packets in each period.
    pub late: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(late: impl Iterator<Item = u64>, late_share: f64) -> Option<RoundRobin> {
        let mut detector = RoundRobinDetector::default();
        late.for_each(|number| detector.record_late(number));
        detector.pattern(late_share)
    }

    #[test]
    fn a_round_robin_is_distinguished_from_chance() {
        let of = |every, late| Some(RoundRobin { every, late });
        assert_eq!(pattern((0..400).step_by(2), 0.5), of(2, 1));
        assert_eq!(pattern((0..4000).step_by(10), 0.1), of(10, 1));
        // Three of four take the longer path.
        assert_eq!(pattern((0..400).filter(|n| n % 4 > 0), 0.75), of(4, 3));
        assert_eq!(pattern((0..90).step_by(2), 0.5), None);
        // The upper bits of a linear congruential generator.
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        for share in [10, 30, 50, 80, 95] {
            let late: Vec<u64> = (0..20_000).filter(|_| random() % 100 < share).collect();
            assert_eq!(pattern(late.into_iter(), share as f64 / 100.0), None, "{share} %");
        }
    }

    #[test]
    fn a_round_robin_is_found_despite_losses_and_retransmissions() {
        // One packet in 15 periods shifts the pattern by one.
        let late = (0..1000).map(|i| i * 2 + i / 15);
        assert_eq!(pattern(late, 0.5), Some(RoundRobin { every: 2, late: 1 }));
        // In a third of the periods, the late packet is not recognised as late.
        let late = (0..300).filter(|i| i % 3 > 0).map(|i| i * 10);
        assert_eq!(pattern(late, 0.07), Some(RoundRobin { every: 10, late: 1 }));
    }
}
