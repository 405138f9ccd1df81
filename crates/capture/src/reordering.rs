//! Packet reordering (RFC 4737) of one stream, packet by packet.

use std::collections::VecDeque;

use serde::Serialize;
use unruffled_lateness::Lateness;
use unruffled_units::{Duration, Instant};

use crate::behind::{Behind, ReplayWindows};
use crate::cutoff::{Cutoff, Cutoffs};
use crate::density::Densities;
use crate::histogram::{DurationHistogram, DurationSummary};
use crate::round_robin::{RoundRobin, RoundRobinDetector};

/// Largest n of n-reordering that is counted separately (MAXN in RFC 4737, appendix A).
const MAX_N: usize = 100;

/// Maximum number of discontinuities kept. The late time of a packet that was overtaken before all
/// of them is unknown.
const MAX_DISCONTINUITIES: usize = 4096;

/// Minimum time for which a lateness counts in the time that a resequencer holds, as in `resequence`.
const MIN_AGE: Duration = Duration::from_secs(10);

/// Maximum time for which a resequencer holds a packet, as in `resequence`.
const MAX_HOLD: Duration = Duration::from_secs(1);

/// Position of a segment in the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SendIndex {
    /// Index among first transmissions.
    original: u64,
    /// Index among all transmissions, retransmissions included.
    overall: u64,
}

impl SendIndex {
    pub(crate) fn new(original: u64, overall: u64) -> Self {
        Self { original, overall }
    }

    /// Returns the index among first transmissions.
    pub(crate) fn original(self) -> u64 {
        self.original
    }

    /// Returns the index among all transmissions, retransmissions included.
    pub(crate) fn overall(self) -> u64 {
        self.overall
    }

    /// Returns the index that many segments later.
    pub(crate) fn plus(self, segments: u64) -> Self {
        Self { original: self.original + segments, overall: self.overall + segments }
    }
}

/// Facts of a path that decide how long a resequencer holds packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathFacts {
    /// Shortest round trip between the ends.
    pub(crate) round_trip: Duration,
    /// Number of losses; those that one recovery repairs count once.
    pub(crate) loss_events: u64,
}

/// Arrivals of first transmissions, and what they show of reordering.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    /// NextExp: one more than the highest index that arrived.
    next: u64,
    /// L: the number of packets that arrived.
    arrived: u64,
    reordered: u64,
    discontinuities: VecDeque<Discontinuity>,
    late_times: DurationHistogram,
    extents: Extents,
    /// Number of n-reordered packets, by the largest n for which they are.
    n_reordered: Option<Box<[u64; MAX_N]>>,
    last: LastIndices,
    /// r: packets in order since the last that was reordered.
    run: u64,
    /// q: the sum of the squares of the runs.
    squares: f64,
    densities: Densities,
    /// The highest index among all transmissions that arrived.
    newest: u64,
    behind: Behind,
    cutoffs: Option<Box<Cutoffs>>,
    round_robin: RoundRobinDetector,
    /// Reordered packets whose late time is unknown.
    untimed: u64,
    lateness: RecentLateness,
}

/// An arrival that skipped indices: the first to overtake each of them.
#[derive(Clone, Copy, Debug)]
struct Discontinuity {
    /// First index skipped.
    from: u64,
    /// Index that arrived.
    to: u64,
    /// Number of arrivals before this one.
    arrival: u64,
    at: Instant,
}

/// Whether a packet arrived in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The packet arrived in order.
    InOrder,
    /// The packet is reordered (RFC 4737, section 3.3). `None` where it is not known how late it is,
    /// or where the clock does not show it.
    Reordered(Option<Late>),
}

/// The recent lateness of packets, as a resequencer and the detector of `unruffled` model it.
#[derive(Clone, Debug)]
struct RecentLateness(Lateness);

impl Default for RecentLateness {
    fn default() -> Self {
        // Neither the budget nor the margin matters to the cheapest wait.
        Self(Lateness::new(MIN_AGE, 0.0, 1.0))
    }
}

impl RecentLateness {
    /// Returns the wait that costs least on a path of which `lost` losses per packet are known.
    fn hold(&self, lost: f64, round_trip: Duration) -> Duration {
        let mut model = self.0.clone();
        let losses = (lost * f64::from(model.samples())).round() as u64;
        (0..losses).for_each(|_| model.lost());
        model.worthwhile_wait(round_trip, MAX_HOLD)
    }
}

/// Lateness of a reordered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    /// Reordering extent, in packets (RFC 4737, section 4.2).
    extent: u64,
    /// Late time (RFC 4737, section 4.3).
    by: Duration,
}

#[derive(Clone, Debug, Default)]
struct Extents {
    sum: f64,
    max: u64,
    /// Packets with an extent of at least 3, which causes three duplicate ACKs.
    at_least_3: u64,
}

/// The last arrivals, for n-reordering.
#[derive(Clone, Debug, Default)]
struct LastIndices {
    indices: Vec<u64>,
    at: usize,
}

impl LastIndices {
    fn push(&mut self, index: u64) {
        if self.indices.len() < MAX_N {
            self.indices.push(index);
        } else {
            self.indices[self.at] = index;
        }
        self.at = (self.at + 1) % MAX_N;
    }

    /// Returns how many consecutive arrivals right before this one have a larger index (RFC 4737,
    /// section 5.3).
    fn larger(&self, index: u64) -> usize {
        let len = self.indices.len();
        let back = (1..=len).map(|back| self.indices[(self.at + MAX_N - back) % MAX_N]);
        back.take_while(|&earlier| earlier > index).count()
    }
}

impl Arrivals {
    /// Records the first arrival of a packet, and returns whether it is in order.
    ///
    /// A late time of at most `clock_step` counts as unknown.
    pub(crate) fn arrive(
        &mut self,
        index: SendIndex,
        at: Instant,
        clock_step: Duration,
    ) -> Arrival {
        let number = index.original;
        let arrival = self.arrived;
        self.arrived += 1;
        self.lateness.0.refresh(at);
        self.densities.arrive(number);
        self.newest = self.newest.max(index.overall);
        if let Some(cutoffs) = &mut self.cutoffs {
            cutoffs.arrive(self.newest, at);
        }
        if arrival == 0 || number >= self.next {
            if arrival > 0 && number > self.next {
                self.skip(number, arrival, at);
            }
            self.next = number + 1;
            self.run += 1;
            self.last.push(number);
            self.lateness.0.in_order();
            return Arrival::InOrder;
        }
        self.reordered += 1;
        self.round_robin.record_late(index.overall);
        let behind = self.newest - index.overall;
        self.behind.record(behind);
        self.cutoffs.get_or_insert_with(|| Box::new(Cutoffs::new(self.newest))).late(behind);
        self.squares += (self.run as f64).powi(2);
        self.run = 0;
        let n = self.last.larger(number);
        if let Some(slot) = n.checked_sub(1) {
            self.n_reordered.get_or_insert_with(|| Box::new([0; MAX_N]))[slot] += 1;
        }
        self.last.push(number);
        let late = self.lateness(number, arrival, at).filter(|late| late.by > clock_step);
        match late {
            Some(late) => {
                self.late_times.record(late.by);
                self.lateness.0.late(late.by);
                self.extents.sum += late.extent as f64;
                self.extents.max = self.extents.max.max(late.extent);
                self.extents.at_least_3 += u64::from(late.extent >= 3);
            }
            None => self.untimed += 1,
        }
        Arrival::Reordered(late)
    }

    /// Records a packet that is not counted, but shows that all packets before `index` were sent.
    pub(crate) fn overtake(&mut self, index: SendIndex, at: Instant) {
        if self.arrived > 0 && index.original > self.next {
            self.skip(index.original, self.arrived - 1, at);
            self.next = index.original;
        }
    }

    /// Records that arrival number `arrival` skips the packets before `to`.
    fn skip(&mut self, to: u64, arrival: u64, at: Instant) {
        if self.discontinuities.len() == MAX_DISCONTINUITIES {
            self.discontinuities.pop_front();
        }
        self.discontinuities.push_back(Discontinuity { from: self.next, to, arrival, at });
    }

    /// Returns how late packet `number` is, if the first packet that overtook it is still known.
    fn lateness(&self, number: u64, arrival: u64, at: Instant) -> Option<Late> {
        let overtaking = self.discontinuities.partition_point(|d| d.to <= number);
        let overtaking = self.discontinuities.get(overtaking).filter(|d| d.from <= number)?;
        Some(Late { extent: arrival - overtaking.arrival, by: at.since(overtaking.at) })
    }

    /// Returns the late times of the reordered packets.
    pub(crate) fn late_times(&self) -> &DurationHistogram {
        &self.late_times
    }

    /// Returns whether the last two arrivals were in order.
    pub(crate) fn is_in_order(&self) -> bool {
        self.run >= 2
    }

    /// Returns the number of packets that arrived reordered.
    pub(crate) fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Returns the summary of a stream over a path, if that is known.
    pub(crate) fn summary(&self, path: Option<PathFacts>) -> Reordering {
        let Self { arrived, reordered, .. } = *self;
        let timed = reordered - self.untimed;
        let in_order = arrived - reordered;
        let share = |part: u64| if arrived == 0 { 0.0 } else { part as f64 / arrived as f64 };
        // A packet that is n-reordered is also m-reordered for every m < n.
        let at_least =
            |n: usize| self.n_reordered.as_ref().map_or(0, |by| by[n - 1..].iter().sum());
        let largest = self.n_reordered.as_ref();
        let largest = largest.and_then(|by| by.iter().rposition(|&count| count > 0));
        let mean_run = in_order as f64 / reordered as f64;
        let hold = |path: PathFacts| {
            self.lateness.hold(share(path.loss_events), path.round_trip).as_millis_f64()
        };
        Reordering {
            packets: arrived,
            reordered,
            ratio: share(reordered),
            mean_extent: (timed > 0).then(|| self.extents.sum / timed as f64),
            max_extent: self.extents.max,
            extent_at_least_3: self.extents.at_least_3,
            late_time: self.late_times.summary(),
            n_reordered: (1..=largest.map_or(0, |n| n + 1)).map(at_least).collect(),
            free_runs: reordered,
            mean_free_run: (reordered > 0).then_some(mean_run),
            free_run_variation: (reordered > 0 && in_order > 0)
                .then(|| self.squares / in_order as f64 / mean_run),
            density: density(self.densities.displacement()),
            buffer_density: density(self.densities.occupancy()),
            hold_ms: path.map(hold),
            in_turn: self.round_robin.pattern(share(reordered)),
            replay: self.behind.summary(arrived),
            cutoffs: self
                .cutoffs
                .as_ref()
                .map_or_else(Vec::new, |cutoffs| cutoffs.summary(&self.late_times)),
        }
    }
}

fn density(shares: Vec<(i32, f64)>) -> Vec<Density> {
    shares.into_iter().map(|(value, share)| Density { value, share }).collect()
}

/// Reordering of a stream (RFC 4737, RFC 5236).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reordering {
    /// Packets that arrived, without copies and retransmissions (L).
    pub packets: u64,
    /// Reordered packets: those that another had overtaken (RFC 4737, section 3.3).
    pub reordered: u64,
    /// Share of reordered packets, from 0 to 1 (section 4.1).
    pub ratio: f64,
    /// Mean reordering extent, in packets (section 4.2).
    pub mean_extent: Option<f64>,
    /// Largest reordering extent, in packets.
    pub max_extent: u64,
    /// Packets with a reordering extent of three or more, which causes three duplicate ACKs.
    pub extent_at_least_3: u64,
    /// Late times (section 4.3).
    pub late_time: Option<DurationSummary>,
    /// Numbers of n-reordered packets, for n from 1 (section 5.3).
    pub n_reordered: Vec<u64>,
    /// Runs of packets in order, between those that are not (section 4.6): x.
    pub free_runs: u64,
    /// Mean length of a run, in packets: a/x.
    pub mean_free_run: Option<f64>,
    /// Variation of the lengths: (q/a)/(a/x), which is 1 if all are equal.
    pub free_run_variation: Option<f64>,
    /// RD: shares by displacement, negative for early packets (RFC 5236, section 3.6).
    pub density: Vec<Density>,
    /// RBD: shares by occupancy of the buffer that restores order (RFC 5236, section 3.11).
    pub buffer_density: Vec<Density>,
    /// Time for which `unruffled resequence` holds an early packet, at most, in milliseconds, less its
    /// margin: the wait that costs least at the end of the stream, if a packet that comes later costs the
    /// sender ten round trips, and each loss costs the wait. 0 where nothing came late. `None` if the round
    /// trip is unknown.
    pub hold_ms: Option<f64>,
    /// Round-robin pattern of the late packets, as packet-by-packet load balancing causes it.
    pub in_turn: Option<RoundRobin>,
    /// Distances of the late packets behind the newest one, and what replay windows would drop.
    /// Retransmissions count as packets.
    pub replay: ReplayWindows,
    /// Evidence that a replay window dropped late packets before they came here. Empty if nothing came
    /// late.
    pub cutoffs: Vec<Cutoff>,
}

/// Share of the packets with one value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Density {
    /// Displacement or occupancy, in packets.
    pub value: i32,
    /// Share, from 0 to 1.
    pub share: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records packets that arrive a millisecond apart; returns the late ones.
    fn arrivals(numbers: &[u64]) -> (Arrivals, Vec<(u64, Late)>) {
        let mut arrivals = Arrivals::default();
        let mut late = Vec::new();
        for (i, &number) in numbers.iter().enumerate() {
            let at = Instant::from_millis(i as u64);
            let arrival = arrivals.arrive(SendIndex::new(number, number), at, Duration::ZERO);
            if let Arrival::Reordered(Some(how)) = arrival {
                late.push((number, how));
            }
        }
        (arrivals, late)
    }

    fn late(extent: u64, ms: u64) -> Late {
        Late { extent, by: Duration::from_millis(ms) }
    }

    /// RFC 4737, section 7.1, figures 2 to 4.
    #[test]
    fn lateness_counts_from_the_first_packet_that_overtook() {
        assert_eq!(arrivals(&[1, 2, 3, 5, 4, 6]).1, [(4, late(1, 1))]);
        assert_eq!(arrivals(&[1, 2, 3, 5, 6, 7, 4]).1, [(4, late(3, 3))]);
        assert_eq!(arrivals(&[1, 2, 4, 5, 7, 3, 6]).1, [(3, late(3, 3)), (6, late(2, 2))]);
    }

    /// RFC 4737, section 5.3: within the block, only packet 4 is n-reordered, with n = 3.
    #[test]
    fn only_the_first_of_a_block_is_n_reordered() {
        let (arrivals, late) = arrivals(&[1, 2, 3, 7, 8, 9, 4, 5, 6]);
        let summary = arrivals.summary(None);
        assert_eq!((summary.reordered, late.len()), (3, 3));
        assert_eq!(summary.n_reordered, [1, 1, 1]);
    }

    /// RFC 4737, section 4.6.4, the second illustration: runs of 1, 1 and 31.
    #[test]
    fn free_runs_match_the_illustration() {
        let mut numbers = vec![2, 1, 4, 3];
        numbers.extend(6..37);
        numbers.push(5);
        let summary = arrivals(&numbers).0.summary(None);
        assert_eq!((summary.packets, summary.free_runs), (36, 3));
        assert_eq!(summary.mean_free_run, Some(11.0));
        assert!((summary.free_run_variation.unwrap() - 2.65).abs() < 0.005);
    }

    /// Returns the hold after 2000 packets, a millisecond apart, of which every `every`-th is late by 40 ms, on
    /// a path with a round trip of 50 ms and that many losses.
    fn hold_ms(every: u64, loss_events: u64) -> Option<f64> {
        let mut arrivals = Arrivals::default();
        let late = |n: u64| n % every == every - 1;
        let mut packets: Vec<(u64, u64)> =
            (0..2000).map(|n| (if late(n) { n + 41 } else { n }, n)).collect();
        packets.sort_unstable();
        for (ms, n) in packets {
            arrivals.arrive(SendIndex::new(n, n), Instant::from_millis(ms), Duration::ZERO);
        }
        let round_trip = Duration::from_millis(50);
        arrivals.summary(Some(PathFacts { round_trip, loss_events })).hold_ms
    }

    /// Where one packet is late, beyond the wait it costs a round trip of 50 ms, and within it its lateness, in
    /// the bin that ends at 41.9 ms. A loss costs the wait.
    #[test]
    fn the_hold_covers_late_packets_while_that_costs_less_than_it_saves() {
        assert_eq!(hold_ms(5000, 0), Some(0.0), "all are in order");
        assert_eq!(hold_ms(10, 0), Some(40.0));
        assert_eq!(hold_ms(1500, 0), Some(40.0));
        assert_eq!(hold_ms(1500, 1), Some(0.0));
        assert_eq!(arrivals(&[2, 1]).0.summary(None).hold_ms, None, "the round trip is unknown");
    }

    #[test]
    fn losses_without_reordering_are_not_reordering() {
        let numbers: Vec<u64> = (1..1000).filter(|n| n % 5 != 0).collect();
        let summary = arrivals(&numbers).0.summary(None);
        assert_eq!((summary.packets, summary.reordered, summary.ratio), (800, 0, 0.0));
        assert_eq!(summary.late_time, None);
    }
}
