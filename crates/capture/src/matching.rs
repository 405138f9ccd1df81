//! Matching of two captures of the same transfers, made at different places: one-way delays, and which
//! packets were lost or late between both.

mod assign;
mod flows;
mod offset;
mod trace;
mod units;

use std::net::SocketAddr;

use serde::Serialize;
use unruffled_units::{Duration, Instant};

use crate::reordering::{Arrivals, Reordering, SendIndex};
use assign::{Fate, assign, for_each_packet};
use offset::{Clocks, Origin, Sample};
pub use trace::Trace;
use units::{Positions, Unit, full_segment, units};

/// Tolerance for the smallest delay, in nanoseconds: the error of the relation of both clocks.
const DELAY_TOLERANCE_NS: f64 = 200_000.0;

/// Two captures of the same transfers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Match {
    /// Relation of the clocks of both captures.
    pub clocks: ClockRelation,
    /// Flows that both captures have, those with the most packets first.
    pub flows: Vec<MatchedFlow>,
    /// Packets of each capture that exceeded the memory for matching, and were left out.
    pub left_out: [u64; 2],
}

/// Relation of the clocks of two captures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClockRelation {
    /// Time of the second capture's clock less that of the first one's when the first matched packet
    /// passed, in milliseconds. It is estimated from the minimum delays of both directions, which are taken
    /// as equal. If packets of one direction only passed, their minimum delay is taken as zero.
    pub offset_ms: f64,
    /// Rate at which the second clock gains on the first, in parts per million. 0 if the captures have less
    /// than five seconds in common.
    pub skew_ppm: f64,
    /// Largest error of the offset, in milliseconds: half of the smallest round trip between both
    /// captures. `None` if packets of one direction only passed, and the offset is not known.
    pub uncertainty_ms: Option<f64>,
}

/// A flow that two captures have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchedFlow {
    /// Transport: "tcp" or "udp".
    pub transport: &'static str,
    /// Capture that the packets passed first: 0 for the first one, 1 for the second one.
    pub departs_at: usize,
    /// Source, where the packets depart.
    pub from: SocketAddr,
    /// Destination, where the packets depart.
    pub to: SocketAddr,
    /// Source, where the packets arrive. It differs from `from` behind a NAT.
    pub arrives_from: SocketAddr,
    /// Destination, where the packets arrive.
    pub arrives_to: SocketAddr,
    /// Packets that departed while the other capture ran, as they cross the network: segments that a card
    /// cuts up or joins count one by one.
    pub packets: u64,
    /// Packets of these that carry data.
    pub data_packets: u64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that departed and never arrived.
    pub lost: u64,
    /// Packets with data that departed and never arrived.
    pub data_lost: u64,
    /// Arrivals of packets that had arrived before: copies that the network made.
    pub duplicated: u64,
    /// Packets that may have been under way when the capture at the other place ended.
    pub unsettled: u64,
    /// Packets that the other capture lacks, although their receiver acknowledged them: the capture lost
    /// them, and not the network.
    pub uncaptured: u64,
    /// Packets that arrived, and that the capture where they depart lacks.
    pub undeparted: u64,
    /// Arrivals of packets sent several times of which neither timestamps, identifications nor times show
    /// the right one. Delay and lateness of these are not certain.
    pub ambiguous: u64,
    /// One-way delays, by the relation of both clocks. `None` if nothing arrived.
    pub delay: Option<DelaySummary>,
    /// Order of arrival of the packets by the order of departure. Retransmissions count as packets.
    pub reordering: Reordering,
}

/// Distribution of one-way delays. All are exact to the error of the clocks' relation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DelaySummary {
    /// Packets with a known delay.
    pub packets: u64,
    /// Smallest delay, in milliseconds.
    pub min_ms: f64,
    /// Mean, in milliseconds.
    pub mean_ms: f64,
    /// Quantile 0.1, in milliseconds.
    pub p10_ms: f64,
    /// Median, in milliseconds.
    pub median_ms: f64,
    /// Quantile 0.9, in milliseconds.
    pub p90_ms: f64,
    /// Quantile 0.99, in milliseconds.
    pub p99_ms: f64,
    /// Largest delay, in milliseconds.
    pub max_ms: f64,
}

impl DelaySummary {
    fn new(mut delays: Vec<f64>) -> Option<Self> {
        delays.sort_unstable_by(f64::total_cmp);
        let last = delays.len().checked_sub(1)?;
        let ms = |ns: f64| ns / 1e6;
        let quantile = |q: f64| ms(delays[(q * last as f64).round() as usize]);
        Some(Self {
            packets: delays.len() as u64,
            min_ms: quantile(0.0),
            mean_ms: ms(delays.iter().sum::<f64>() / delays.len() as f64),
            p10_ms: quantile(0.1),
            median_ms: quantile(0.5),
            p90_ms: quantile(0.9),
            p99_ms: quantile(0.99),
            max_ms: quantile(1.0),
        })
    }
}

/// A pair of flows with their packets.
struct Pair {
    /// Places of the flow in both traces.
    places: [usize; 2],
    /// Packets at each capture.
    units: [Vec<Unit>; 2],
    /// Packets of the usual length that passed each capture once.
    samples: Vec<Sample>,
    /// Median of how many routers the packets passed from the first capture to the second.
    hops: i32,
}

/// Finds the flows that both traces have, and what became of their packets between both.
///
/// Returns `None` if they have no flow in common.
pub fn match_traces(first: &Trace, second: &Trace) -> Option<Match> {
    let mut origin = None;
    let mut pairs: Vec<Pair> = Vec::new();
    for places in flows::pairs(first, second) {
        pairs.extend(Pair::new(first, second, places, &mut origin));
    }
    let origin = origin?;
    let upstream: Vec<usize> = pairs.iter().map(|pair| departs_at(first, &pairs, pair)).collect();
    let of = |at: usize| -> Vec<Sample> {
        let pairs = pairs.iter().zip(&upstream).filter(|&(_, &upstream)| upstream == at);
        pairs.flat_map(|(pair, _)| pair.samples.iter().copied()).collect()
    };
    let clocks = Clocks::estimate(origin, &of(0), &of(1));
    let mut flows: Vec<MatchedFlow> = pairs
        .iter()
        .zip(&upstream)
        .map(|(pair, &departs_at)| pair.outcome([first, second], departs_at, &clocks))
        .collect();
    flows.sort_by_key(|flow| std::cmp::Reverse(flow.packets));
    Some(Match {
        clocks: ClockRelation {
            offset_ms: clocks.offset() / 1e6,
            skew_ppm: clocks.skew / 1e3,
            uncertainty_ms: clocks.round_trip.map(|ns| (ns / 2e6).max(0.0)),
        },
        flows,
        left_out: [first.dropped(), second.dropped()],
    })
}

impl Pair {
    /// Pairs two flows. `origin` is set by the first packet that both have.
    fn new(
        first: &Trace,
        second: &Trace,
        places: (usize, usize),
        origin: &mut Option<Origin>,
    ) -> Option<Self> {
        let flows = [&first.flows[places.0], &second.flows[places.1]];
        let reverse =
            [first, second].map(|trace| |key| trace.flow(key).map(|place| &trace.flows[place]));
        let reverse = [reverse[0](flows[0].key.reversed()), reverse[1](flows[1].key.reversed())];
        let full = full_segment(flows, reverse);
        let begin = flows[0].records.first()?.seq;
        let units = |with_stamps: bool| {
            flows.map(|flow| {
                let mut positions = Positions::near(begin);
                units(flow, full, with_stamps, &mut positions)
            })
        };
        let once = |units: &[Vec<Unit>; 2]| {
            let mut once: Vec<(u32, u32)> = Vec::new();
            for_each_packet(&units[0], &units[1], |first, second| {
                if let (&[first], &[second]) = (first, second) {
                    once.push((first, second));
                }
            });
            once.sort_unstable();
            once
        };
        let mut packets = units(true);
        let mut matched = once(&packets);
        // Something on the path rewrites or removes timestamps if most match only without them.
        if matched.len() * 2 < packets[0].len().min(packets[1].len()) {
            let without = units(false);
            let matched_without = once(&without);
            if matched_without.len() > matched.len() * 2 {
                packets = without;
                matched = matched_without;
            }
        }
        let at =
            |&(here, there): &(u32, u32)| (&packets[0][here as usize], &packets[1][there as usize]);
        let (here, there) = at(matched.first()?);
        let origin = *origin.get_or_insert(Origin::new(here.at, there.at));
        let hops = matched.iter().map(|matched| {
            let (here, there) = at(matched);
            i32::from(here.ttl) - i32::from(there.ttl)
        });
        let mut hops: Vec<i32> = hops.collect();
        // A smaller packet takes less time on the same path, so packets of one length are compared.
        let mut lengths: Vec<u32> = matched.iter().map(|matched| at(matched).0.len).collect();
        let middle = lengths.len() / 2;
        let usual = *lengths.select_nth_unstable(middle).1;
        let usual = matched.iter().map(at).filter(|(here, _)| here.len == usual);
        let samples = usual.map(|(here, there)| origin.sample(here.at, there.at)).collect();
        let middle = hops.len() / 2;
        let hops = *hops.select_nth_unstable(middle).1;
        Some(Self { places: [places.0, places.1], units: packets, samples, hops })
    }

    /// Returns what became of the packets, which depart at capture `departs_at`.
    fn outcome(&self, traces: [&Trace; 2], departs_at: usize, clocks: &Clocks) -> MatchedFlow {
        let arrives_at = 1 - departs_at;
        let time = |capture: usize, at: Instant| match capture {
            0 => clocks.first(at),
            _ => clocks.second(at),
        };
        let departed = |unit: &Unit| time(departs_at, unit.at);
        let arrived = |unit: &Unit| time(arrives_at, unit.at);
        let departures = &self.units[departs_at];
        let arrivals = &self.units[arrives_at];
        let mut shortest = f64::INFINITY;
        let mut longest: f64 = 0.0;
        for_each_packet(departures, arrivals, |sent, received| {
            if let (&[sent], &[received]) = (sent, received) {
                let sent = departed(&departures[sent as usize]);
                let delay = arrived(&arrivals[received as usize]) - sent;
                shortest = shortest.min(delay);
                longest = longest.max(delay);
            }
        });
        let least = shortest - DELAY_TOLERANCE_NS;
        let assignment = assign(departures, arrivals, departed, arrived, least);
        let key = |capture: usize| traces[capture].flows[self.places[capture]].key;
        let mut flow = MatchedFlow {
            transport: if key(departs_at).is_tcp { "tcp" } else { "udp" },
            departs_at,
            from: key(departs_at).from,
            to: key(departs_at).to,
            arrives_from: key(arrives_at).from,
            arrives_to: key(arrives_at).to,
            packets: 0,
            data_packets: 0,
            arrived: 0,
            lost: 0,
            data_lost: 0,
            duplicated: assignment.duplicated,
            unsettled: 0,
            uncaptured: 0,
            undeparted: 0,
            ambiguous: assignment.ambiguous,
            delay: None,
            reordering: Reordering::default(),
        };
        let receiver =
            Receiver::new(traces[arrives_at], key(arrives_at).reversed(), self, arrives_at);
        let begin = traces[arrives_at].first.map_or(0.0, |first| time(arrives_at, first));
        let end = time(arrives_at, traces[arrives_at].last);
        let mut delays = Vec::new();
        let mut order: Vec<(u32, u64)> = Vec::new();
        for (unit, &fate) in departures.iter().zip(&assignment.fates) {
            let sent = departed(unit);
            match fate {
                Fate::Arrived(arrival) => {
                    order.push((arrival, flow.packets));
                    let delay = arrived(&arrivals[arrival as usize]) - sent;
                    longest = longest.max(delay);
                    delays.push(delay);
                    flow.arrived += 1;
                }
                Fate::Missing if sent + longest < begin => continue,
                Fate::Missing if sent + longest > end => flow.unsettled += 1,
                Fate::Missing if receiver.acknowledged_unseen(unit) => flow.uncaptured += 1,
                Fate::Missing => {
                    flow.lost += 1;
                    flow.data_lost += u64::from(unit.len > 0);
                }
            }
            flow.packets += 1;
            flow.data_packets += u64::from(unit.len > 0);
        }
        let began = traces[departs_at].first.map_or(0.0, |first| time(departs_at, first));
        let after_begin = |&&place: &&u32| arrived(&arrivals[place as usize]) - longest >= began;
        flow.undeparted = assignment.undeparted.iter().filter(after_begin).count() as u64;
        order.sort_unstable();
        let mut arrived_order = Arrivals::default();
        for (arrival, index) in order {
            let at = arrivals[arrival as usize].at;
            arrived_order.arrive(SendIndex::new(index, index), at, Duration::ZERO);
        }
        flow.reordering = arrived_order.summary(None);
        flow.delay = DelaySummary::new(delays);
        flow
    }
}

/// Packets that arrived at a receiver, and what it acknowledged.
struct Receiver {
    /// First octets of the packets that the capture has, in ascending order.
    starts: Vec<u64>,
    /// Highest position that the receiver acknowledged.
    acknowledged: u64,
}

impl Receiver {
    /// Creates the receiver of the arrivals of `pair`; `key` is its own flow in `trace`.
    fn new(trace: &Trace, key: trace::FlowKey, pair: &Pair, arrives_at: usize) -> Self {
        let mut starts: Vec<u64> = pair.units[arrives_at].iter().map(|unit| unit.start).collect();
        starts.sort_unstable();
        let mut acknowledged = 0;
        if let (true, Some(place), Some(&first)) = (key.is_tcp, trace.flow(key), starts.first()) {
            let mut positions = Positions::near(first as u32);
            let acks = trace.flows[place]
                .records
                .iter()
                .filter(|record| record.flags & trace::ACK != 0 && record.flags & trace::RST == 0);
            let begin = positions.get();
            let last = acks.map(|record| positions.extend(record.ack)).max();
            // Positions of the data may have wrapped before the first packet that arrived.
            acknowledged = last.map_or(0, |last| first.wrapping_add(last.wrapping_sub(begin)));
        }
        Self { starts, acknowledged }
    }

    /// Returns whether the receiver acknowledged data of which the capture has no transmission.
    fn acknowledged_unseen(&self, unit: &Unit) -> bool {
        unit.end > unit.start
            && unit.end <= self.acknowledged
            && self.starts.binary_search(&unit.start).is_err()
    }
}

/// Returns the capture that the packets of `pair` pass first.
///
/// Between both captures, packets take some time in either direction. So the clock of the later capture is
/// further ahead for packets in one direction than for those in the other, whatever its offset.
fn departs_at(first: &Trace, pairs: &[Pair], pair: &Pair) -> usize {
    let key = first.flows[pair.places[0]].key;
    let reverse = first.flow(key.reversed());
    let reverse = pairs.iter().find(|other| Some(other.places[0]) == reverse);
    let gap = reverse.and_then(|reverse| median_gap(&pair.samples, &reverse.samples));
    match gap {
        Some(gap) if gap != 0.0 => usize::from(gap < 0.0),
        // Both captures were made at the same place, so any order serves.
        Some(_) => usize::from(key.from > key.to),
        None => usize::from(pair.hops < 0),
    }
}

/// Returns the median by which the delta of a packet exceeds that of the last packet before it in the other
/// direction.
fn median_gap(there: &[Sample], back: &[Sample]) -> Option<f64> {
    let gap = |sample: &Sample| {
        let before = back.partition_point(|other| other.t <= sample.t);
        let other = back.get(before.saturating_sub(1))?;
        Some(sample.delta - other.delta)
    };
    let mut gaps: Vec<f64> = there.iter().filter_map(gap).collect();
    if gaps.is_empty() {
        return None;
    }
    let middle = gaps.len() / 2;
    Some(*gaps.select_nth_unstable_by(middle, f64::total_cmp).1)
}
