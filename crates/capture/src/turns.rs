//! Whether late packets come in turn, as where packets are spread over paths one by one.

use std::collections::VecDeque;

use serde::Serialize;

/// The longest turn that is recognised, in packets.
const LONGEST: usize = 32;

/// Late packets remembered: those of the longest turn, and some that are in disorder.
const REMEMBERED: usize = 48;

/// Fewer late packets than this say nothing.
const ENOUGH: u64 = 50;

/// This share of the late packets has another one turn before it: in other turns it was lost, a
/// retransmission, or late without being overtaken.
const SHARE: f64 = 0.5;

/// By so much more of them have one a turn before than have one at other distances: at random, all
/// distances are alike.
const CLEARLY: f64 = 0.25;

/// Counts the distances between late packets, by their numbers in the order of sending,
/// retransmissions counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    recent: VecDeque<u64>,
    /// How many pairs are so many numbers apart.
    apart: Option<Box<[u64; LONGEST + 1]>>,
    late: u64,
}

impl Turns {
    /// Packet `number` is late.
    pub(crate) fn late(&mut self, number: u64) {
        self.late += 1;
        let apart = self.apart.get_or_insert_with(|| Box::new([0; LONGEST + 1]));
        for &other in &self.recent {
            if let Some(pairs) = apart.get_mut(number.abs_diff(other) as usize) {
                *pairs += 1;
            }
        }
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(number);
    }

    /// The turn, if there is one; `share` of the packets are late.
    pub(crate) fn told(&self, share: f64) -> Option<InTurn> {
        let apart = self.apart.as_ref().filter(|_| self.late >= ENOUGH)?;
        let having = |distance: usize| apart[distance] as f64 / self.late as f64;
        let every = (2..=LONGEST).find(|&every| {
            let others = (1..every).map(having).sum::<f64>() / (every - 1) as f64;
            having(every) >= SHARE && having(every) >= others + CLEARLY
        })?;
        let late = (share * every as f64).round().clamp(1.0, every as f64 - 1.0);
        Some(InTurn { every: every as u32, late: late as u32 })
    }
}

/// A turn of packets, some of which take a longer path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InTurn {
    /// Packets in a turn.
    pub every: u32,
    /// Those of them that are late.
    pub late: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(late: impl Iterator<Item = u64>, share: f64) -> Option<InTurn> {
        let mut turns = Turns::default();
        late.for_each(|number| turns.late(number));
        turns.told(share)
    }

    #[test]
    fn packets_in_turn_are_told_from_packets_at_random() {
        let of = |every, late| Some(InTurn { every, late });
        assert_eq!(told((0..400).step_by(2), 0.5), of(2, 1));
        assert_eq!(told((0..4000).step_by(10), 0.1), of(10, 1));
        // Three of four take the longer path.
        assert_eq!(told((0..400).filter(|n| n % 4 > 0), 0.75), of(4, 3));
        assert_eq!(told((0..90).step_by(2), 0.5), None);
        // A linear congruential generator's upper bits.
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        for share in [10, 30, 50, 80, 95] {
            let late: Vec<u64> = (0..20_000).filter(|_| random() % 100 < share).collect();
            assert_eq!(told(late.into_iter(), share as f64 / 100.0), None, "{share} %");
        }
    }

    #[test]
    fn a_turn_is_seen_past_losses_and_retransmissions() {
        // Now and then another packet takes a turn.
        let late = (0..1000).map(|i| i * 2 + i / 15);
        assert_eq!(told(late, 0.5), Some(InTurn { every: 2, late: 1 }));
        // A third of the turns fall to packets that nobody can tell to be late.
        let late = (0..300).filter(|i| i % 3 > 0).map(|i| i * 10);
        assert_eq!(told(late, 0.07), Some(InTurn { every: 10, late: 1 }));
    }
}
