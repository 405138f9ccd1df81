//! Packet reordering (RFC 4737) of one stream, packet by packet.

use std::collections::VecDeque;

use serde::Serialize;
use unruffled_units::{Duration, Instant};

use crate::density::Densities;
use crate::lateness::{Lateness, Spans};
use crate::outstanding::Number;
use crate::turns::{InTurn, Turns};

/// The largest n of n-reordering that is told apart (MAXN in RFC 4737, appendix A).
const LARGEST_N: usize = 100;

/// Discontinuities remembered: a packet later than all of them counts as late by an unknown time.
const DISCONTINUITIES: usize = 4096;

/// What has arrived so far, by the numbers that packets have in the order of sending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    /// NextExp.
    next: u64,
    /// L: packets that arrived.
    arrived: u64,
    reordered: u64,
    discontinuities: VecDeque<Discontinuity>,
    late_times: Spans,
    extents: Extents,
    /// n-reordered packets, by the largest such n.
    n_reordered: Option<Box<[u64; LARGEST_N]>>,
    recent: Recent,
    /// r: packets in order since the last that was not.
    run: u64,
    /// q: the sum of the squares of the runs.
    squares: f64,
    densities: Densities,
    turns: Turns,
    untimed: u64,
}

/// An arrival that left numbers out: the first to overtake each of them.
#[derive(Clone, Copy, Debug)]
struct Discontinuity {
    /// The first number left out.
    from: u64,
    /// The number that arrived.
    to: u64,
    /// Its arrival index.
    index: u64,
    at: Instant,
}

/// How late a reordered packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    /// Its reordering extent, in packets (RFC 4737, section 4.2).
    pub(crate) extent: u64,
    /// Its late time (RFC 4737, section 4.3).
    pub(crate) by: Duration,
}

#[derive(Clone, Debug, Default)]
struct Extents {
    sum: f64,
    max: u64,
    /// Packets with an extent of at least 3: as many as three duplicate ACKs.
    beyond_three: u64,
}

/// The last arrivals, for n-reordering.
#[derive(Clone, Debug, Default)]
struct Recent {
    numbers: Vec<u64>,
    at: usize,
}

impl Recent {
    fn push(&mut self, number: u64) {
        if self.numbers.len() < LARGEST_N {
            self.numbers.push(number);
        } else {
            self.numbers[self.at] = number;
        }
        self.at = (self.at + 1) % LARGEST_N;
    }

    /// How many right before this one have a larger number (RFC 4737, section 5.3).
    fn larger(&self, number: u64) -> usize {
        let len = self.numbers.len();
        let back = (1..=len).map(|back| self.numbers[(self.at + LARGEST_N - back) % LARGEST_N]);
        back.take_while(|&earlier| earlier > number).count()
    }
}

impl Arrivals {
    /// Packet `number` arrives, the first time that it does. Says how late it is if it is
    /// reordered (RFC 4737, section 3.3), and by more than a step of the clock.
    pub(crate) fn arrive(&mut self, number: Number, at: Instant, tick: Duration) -> Option<Late> {
        let Number { new: number, any } = number;
        let index = self.arrived;
        self.arrived += 1;
        self.densities.arrive(number);
        if index == 0 || number >= self.next {
            if index > 0 && number > self.next {
                if self.discontinuities.len() == DISCONTINUITIES {
                    self.discontinuities.pop_front();
                }
                let from = self.next;
                self.discontinuities.push_back(Discontinuity { from, to: number, index, at });
            }
            self.next = number + 1;
            self.run += 1;
            self.recent.push(number);
            return None;
        }
        self.reordered += 1;
        self.turns.late(any);
        self.squares += (self.run as f64).powi(2);
        self.run = 0;
        let n = self.recent.larger(number);
        if let Some(slot) = n.checked_sub(1) {
            self.n_reordered.get_or_insert_with(|| Box::new([0; LARGEST_N]))[slot] += 1;
        }
        self.recent.push(number);
        // The first that overtook it is the one that left it out.
        let overtaken = self.discontinuities.partition_point(|d| d.to <= number);
        let overtaken = self.discontinuities.get(overtaken).filter(|d| d.from <= number);
        let Some(overtaken) = overtaken else {
            self.untimed += 1;
            return None;
        };
        let late = Late { extent: index - overtaken.index, by: at.since(overtaken.at) };
        if late.by <= tick {
            self.untimed += 1;
            return None;
        }
        self.late_times.record(late.by);
        self.extents.sum += late.extent as f64;
        self.extents.max = self.extents.max.max(late.extent);
        self.extents.beyond_three += u64::from(late.extent >= 3);
        Some(late)
    }

    pub(crate) fn late_times(&self) -> &Spans {
        &self.late_times
    }

    /// Whether the last arrival was in order, and so was the one before it.
    pub(crate) fn whole(&self) -> bool {
        self.run >= 2
    }

    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.arrived, self.reordered)
    }

    pub(crate) fn summary(&self) -> Reordering {
        let Self { arrived, reordered, .. } = *self;
        let timed = reordered - self.untimed;
        let in_order = arrived - reordered;
        let share = |part: u64| if arrived == 0 { 0.0 } else { part as f64 / arrived as f64 };
        // m for n: those n-reordered, for every n up to their largest.
        let at_least =
            |n: usize| self.n_reordered.as_ref().map_or(0, |by| by[n - 1..].iter().sum());
        let largest = self.n_reordered.as_ref();
        let largest = largest.and_then(|by| by.iter().rposition(|&count| count > 0));
        let mean_run = in_order as f64 / reordered as f64;
        Reordering {
            packets: arrived,
            reordered,
            ratio: share(reordered),
            mean_extent: (timed > 0).then(|| self.extents.sum / timed as f64),
            max_extent: self.extents.max,
            extent_at_least_3: self.extents.beyond_three,
            late_time: self.late_times.summary(),
            n_reordered: (1..=largest.map_or(0, |n| n + 1)).map(at_least).collect(),
            free_runs: reordered,
            mean_free_run: (reordered > 0).then_some(mean_run),
            free_run_variation: (reordered > 0 && in_order > 0)
                .then(|| self.squares / in_order as f64 / mean_run),
            density: density(self.densities.displacement()),
            buffer_density: density(self.densities.occupancy()),
            in_turn: self.turns.told(share(reordered)),
        }
    }
}

fn density(shares: Vec<(i32, f64)>) -> Vec<Density> {
    shares.into_iter().map(|(value, share)| Density { value, share }).collect()
}

/// How packets were reordered.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reordering {
    /// Packets that arrived, without copies and retransmissions (L).
    pub packets: u64,
    /// Those that another had overtaken (RFC 4737, section 3.3).
    pub reordered: u64,
    /// Their share (section 4.1).
    pub ratio: f64,
    /// The mean reordering extent, in packets (section 4.2).
    pub mean_extent: Option<f64>,
    /// The largest.
    pub max_extent: u64,
    /// How many had an extent of three or more: enough for three duplicate ACKs.
    pub extent_at_least_3: u64,
    /// The late time (section 4.3).
    pub late_time: Option<Lateness>,
    /// How many were n-reordered, for n from 1 (section 5.3).
    pub n_reordered: Vec<u64>,
    /// Runs in order between those that were not (section 4.6): x.
    pub free_runs: u64,
    /// Their mean length: a/x.
    pub mean_free_run: Option<f64>,
    /// How their lengths vary, 1 where all are alike: (q/a)/(a/x).
    pub free_run_variation: Option<f64>,
    /// RD: shares by displacement, negative for early ones (RFC 5236, section 3.6).
    pub density: Vec<Density>,
    /// RBD: shares by what the buffer that restores order holds (RFC 5236, section 3.11).
    pub buffer_density: Vec<Density>,
    /// Whether late packets come in turn, as over paths that packets are spread over one by one.
    pub in_turn: Option<InTurn>,
}

/// The share of packets with one value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Density {
    /// A displacement or an occupancy.
    pub value: i32,
    /// From 0 to 1.
    pub share: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets that arrive a millisecond apart.
    fn arrivals(numbers: &[u64]) -> (Arrivals, Vec<(u64, Late)>) {
        let mut arrivals = Arrivals::default();
        let mut late = Vec::new();
        for (i, &number) in numbers.iter().enumerate() {
            let (at, number_of) =
                (Instant::from_millis(i as u64), Number { new: number, any: number });
            let how = arrivals.arrive(number_of, at, Duration::ZERO);
            late.extend(how.map(|how| (number, how)));
        }
        (arrivals, late)
    }

    fn late(extent: u64, ms: u64) -> Late {
        Late { extent, by: Duration::from_millis(ms) }
    }

    /// RFC 4737, section 7.1 (figures 2 to 4): 4 is late by one, then by two and three.
    #[test]
    fn a_packet_is_late_since_the_first_that_overtook_it() {
        assert_eq!(arrivals(&[1, 2, 3, 5, 4, 6]).1, [(4, late(1, 1))]);
        assert_eq!(arrivals(&[1, 2, 3, 5, 6, 7, 4]).1, [(4, late(3, 3))]);
        assert_eq!(arrivals(&[1, 2, 4, 5, 7, 3, 6]).1, [(3, late(3, 3)), (6, late(2, 2))]);
    }

    /// RFC 4737, section 5.3: of the block only packet 4 is n-reordered, with n = 3.
    #[test]
    fn only_the_first_of_a_block_is_n_reordered() {
        let (arrivals, late) = arrivals(&[1, 2, 3, 7, 8, 9, 4, 5, 6]);
        let summary = arrivals.summary();
        assert_eq!((summary.reordered, late.len()), (3, 3));
        assert_eq!(summary.n_reordered, [1, 1, 1]);
    }

    /// RFC 4737, section 4.6.4, the second illustration: runs of 1, 1 and 31.
    #[test]
    fn free_runs_are_those_of_the_illustration() {
        let mut numbers = vec![2, 1, 4, 3];
        numbers.extend(6..37);
        numbers.push(5);
        let summary = arrivals(&numbers).0.summary();
        assert_eq!((summary.packets, summary.free_runs), (36, 3));
        assert_eq!(summary.mean_free_run, Some(11.0));
        assert!((summary.free_run_variation.unwrap() - 2.65).abs() < 0.005);
    }

    #[test]
    fn losses_alone_reorder_nothing() {
        let numbers: Vec<u64> = (1..1000).filter(|n| n % 5 != 0).collect();
        let summary = arrivals(&numbers).0.summary();
        assert_eq!((summary.packets, summary.reordered, summary.ratio), (800, 0, 0.0));
        assert_eq!(summary.late_time, None);
    }
}
