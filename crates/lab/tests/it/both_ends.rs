//! Matching of captures at both ends, compared with the ground truth: simulator runs over paths of all
//! kinds, captured at both ends with clocks that differ.

use std::collections::HashMap;
use std::io::Cursor;
use std::net::SocketAddr;

use unruffled_capture::{Match, MatchedFlow, Packet, Source, Trace, decode, match_traces, read};
use unruffled_lab::cancel::never;
use unruffled_lab::capture::Capture;
use unruffled_lab::run;
use unruffled_measure::{End, FlowId, Monitor, Passage};
use unruffled_tcp::{Segment, Variant};
use unruffled_units::Instant;

use super::one_link::scenario;
use super::paths::{CASES, Case};

/// Packets of one direction: when each departed, and when it arrived, by the simulator's clock.
#[derive(Default)]
struct Way {
    departed: Vec<Instant>,
    /// Arrivals: time and number of the departure.
    arrived: Vec<(Instant, usize)>,
    /// Departures of each packet that have not arrived.
    under_way: HashMap<(u32, u32), Vec<(Segment, usize)>>,
    /// Packets that look like one under way, so that nothing distinguishes their arrivals.
    alike: usize,
    lens: Vec<u32>,
}

impl Way {
    fn depart(&mut self, now: Instant, segment: &Segment) {
        let segment = on_the_wire(segment);
        let similar = self.under_way.entry((segment.seq.0, segment.ack.0)).or_default();
        self.alike += usize::from(similar.iter().any(|(other, _)| *other == segment));
        similar.push((segment, self.departed.len()));
        self.departed.push(now);
        self.lens.push(segment.len);
    }

    fn arrive(&mut self, now: Instant, segment: &Segment) {
        let segment = on_the_wire(segment);
        let similar = self.under_way.get_mut(&(segment.seq.0, segment.ack.0));
        let similar = similar.expect("has departed");
        let place = similar.iter().position(|(other, _)| *other == segment);
        let (_, number) = similar.remove(place.expect("has departed"));
        self.arrived.push((now, number));
    }
}

/// Returns the segment without what only the simulator has.
fn on_the_wire(segment: &Segment) -> Segment {
    Segment { rtx: false, packet: unruffled_tcp::Packet::NONE, ..*segment }
}

/// The ground truth of both directions of the first connection.
#[derive(Default)]
struct Truth {
    data: Way,
    acks: Way,
}

impl Monitor for Truth {
    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        if flow != FlowId(0) {
            return;
        }
        match (end, way) {
            (End::Sender, Passage::Out) => self.data.depart(now, segment),
            (End::Receiver, Passage::In) => self.data.arrive(now, segment),
            (End::Receiver, Passage::Out) => self.acks.depart(now, segment),
            (End::Sender, Passage::In) => self.acks.arrive(now, segment),
        }
    }
}

/// What a matching has to say of one direction.
struct Expected {
    packets: u64,
    lost: u64,
    unsettled: u64,
    data_lost: u64,
    late: u64,
    max_extent: u64,
    sum_extents: u64,
    late_ms: Vec<f64>,
    delays_ms: Vec<f64>,
}

impl Way {
    /// Returns the expectation for a capture of the arrivals that ends at `end`.
    fn expected(&self, end: Instant) -> Expected {
        let delays = self.arrived.iter().map(|&(at, n)| at.since(self.departed[n]));
        let longest = delays.clone().max().expect("packets arrived");
        let mut delays_ms: Vec<f64> = delays.map(|delay| delay.as_millis_f64()).collect();
        delays_ms.sort_by(f64::total_cmp);
        let mut has_arrived = vec![false; self.departed.len()];
        let mut late_ms = Vec::new();
        let mut max_extent = 0;
        let mut sum_extents = 0;
        // Arrivals that raised the highest number, as (number, arrival, time).
        let mut records: Vec<(usize, usize, Instant)> = Vec::new();
        for (arrival, &(at, n)) in self.arrived.iter().enumerate() {
            has_arrived[n] = true;
            let first_above = records.partition_point(|&(highest, _, _)| highest < n);
            match records.get(first_above) {
                Some(&(_, first, overtaken)) => {
                    late_ms.push(at.since(overtaken).as_millis_f64());
                    let extent = (arrival - first) as u64;
                    max_extent = max_extent.max(extent);
                    sum_extents += extent;
                }
                None => records.push((n, arrival, at)),
            }
        }
        let missing: Vec<usize> = (0..has_arrived.len()).filter(|&n| !has_arrived[n]).collect();
        let is_settled = |&&n: &&usize| self.departed[n] + longest <= end;
        let lost = missing.iter().filter(is_settled).count() as u64;
        Expected {
            packets: self.departed.len() as u64,
            lost,
            unsettled: missing.len() as u64 - lost,
            data_lost: missing.iter().filter(is_settled).filter(|&&n| self.lens[n] > 0).count()
                as u64,
            late: late_ms.len() as u64,
            max_extent,
            sum_extents,
            late_ms,
            delays_ms,
        }
    }
}

/// Clock and addresses at the receiver, relative to those of the sender.
#[derive(Clone, Copy)]
struct Far {
    offset_ms: i64,
    skew_ppm: f64,
    is_behind_nat: bool,
}

impl Far {
    fn time(self, at: Instant) -> Instant {
        let begin = 1_000_000_000_000_000_i64;
        let elapsed = at.as_nanos() as f64 * (1.0 + self.skew_ppm * 1e-6);
        Instant::from_nanos((begin + self.offset_ms * 1_000_000 + elapsed.round() as i64) as u64)
    }

    /// Returns the address and port that the receiver sees of `end`.
    fn address(self, end: SocketAddr) -> SocketAddr {
        match end.port() {
            49_152 if self.is_behind_nat => ([203, 0, 113, 9], 1024).into(),
            _ => end,
        }
    }
}

const NEAR: Far = Far { offset_ms: 0, skew_ppm: 0.0, is_behind_nat: false };

fn trace(capture: &[u8], far: Far) -> Trace {
    let source = Source::new(Box::new(Cursor::new(capture.to_vec())), None).expect("a capture");
    let mut trace = Trace::new(usize::MAX);
    let damage = read(source, |frame| {
        let packet = decode(frame).expect("TCP");
        let from = far.address(packet.from);
        let to = far.address(packet.to);
        trace.packet(&Packet { at: far.time(packet.at), from, to, ..packet });
    });
    assert_eq!(damage, Ok(None));
    trace
}

/// Returns both captures of a case, and the truth.
fn captured(case: &Case, timestamps: bool) -> (Vec<u8>, Vec<u8>, Truth) {
    let scenario = scenario(case, timestamps);
    let variant = Variant::parse(case.sender).expect("a sender");
    let mut near = Vec::new();
    let mut far = Vec::new();
    let mut captures = (
        Capture::at(End::Sender, &mut near).expect("writes"),
        Capture::at(End::Receiver, &mut far).expect("writes"),
    );
    let mut truth = Truth::default();
    run::run(&scenario, &variant, 1, Some(&mut (&mut truth, &mut captures)), never())
        .expect("runs");
    captures.0.finish().expect("writes");
    captures.1.finish().expect("writes");
    (near, far, truth)
}

fn flow(found: &Match, departs_at: usize) -> &MatchedFlow {
    let mut flows = found.flows.iter().filter(|flow| flow.departs_at == departs_at);
    flows.next().expect("packets depart at both captures")
}

/// Returns the differences between a flow and its truth; delays may be off by `tolerance_ms`.
fn faults(flow: &MatchedFlow, way: &Way, end: Instant, tolerance_ms: f64) -> Vec<String> {
    let expected = way.expected(end);
    let order = &flow.reordering;
    let mut faults = Vec::new();
    let mut same = |what: &str, found: u64, expected: u64| {
        if found != expected {
            faults.push(format!("{what}: {found}, expected {expected}"));
        }
    };
    same("packets", flow.packets, expected.packets);
    same("missing", flow.lost + flow.unsettled, expected.lost + expected.unsettled);
    same("others", flow.uncaptured + flow.undeparted + flow.duplicated, 0);
    same("arrived", flow.arrived, expected.delays_ms.len() as u64);
    // Without timestamps, the captures do not show which of two equal packets arrived.
    if way.alike == 0 {
        same("lost", flow.lost, expected.lost);
        same("lost with data", flow.data_lost, expected.data_lost);
        same("late", order.reordered, expected.late);
        same("largest extent", order.max_extent, expected.max_extent);
        let sum = order.mean_extent.unwrap_or(0.0) * order.reordered as f64;
        same("sum of extents", sum.round() as u64, expected.sum_extents);
    }
    let mut near = |what: &str, found: f64, expected: f64, tolerance: f64| {
        if (found - expected).abs() > tolerance {
            faults.push(format!("{what}: {found} ms, expected {expected} ms"));
        }
    };
    let delay = flow.delay.expect("packets arrived");
    let last = expected.delays_ms.len() - 1;
    let quantile = |q: f64| expected.delays_ms[(q * last as f64).round() as usize];
    near("smallest delay", delay.min_ms, quantile(0.0), tolerance_ms);
    if way.alike == 0 {
        near("median delay", delay.median_ms, quantile(0.5), tolerance_ms);
        near("delay at 99 %", delay.p99_ms, quantile(0.99), tolerance_ms);
        near("largest delay", delay.max_ms, quantile(1.0), tolerance_ms);
        let most = expected.late_ms.iter().copied().fold(0.0, f64::max);
        let found = order.late_time.as_ref().map_or(0.0, |time| time.max_ms);
        near("latest", found, most, most * 0.01 + 0.01);
    }
    faults
}

/// The path's minimum delays differ by the time of a full segment on the link, and half of this is taken
/// for offset.
fn tolerance_ms(case: &Case) -> f64 {
    let rate: f64 = case.rate.split(' ').next().expect("a word").parse().expect("a number");
    let segment = 1500.0 * 8.0 / (rate * 1000.0);
    segment / 2.0 + 0.1
}

/// Checks each case with each relation of the clocks and addresses of both ends.
fn check(fars: &[Far], timestamps: bool) {
    let mut all = Vec::new();
    for case in &CASES {
        let captures = captured(case, timestamps);
        for &far in fars {
            let faults = faults_of(case, &captures, far);
            all.extend(faults.into_iter().map(|fault| format!("{}: {fault}", case.name)));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

fn faults_of(case: &Case, captures: &(Vec<u8>, Vec<u8>, Truth), far: Far) -> Vec<String> {
    let (near_capture, far_capture, truth) = captures;
    let near_trace = trace(near_capture, NEAR);
    let far_trace = trace(far_capture, far);
    let found = match_traces(&near_trace, &far_trace).expect("the same transfer");
    let ends = |way: &Way, other: &Way| {
        let arrived = way.arrived.last().expect("arrivals").0;
        arrived.max(*other.departed.last().expect("departures"))
    };
    let tolerance = tolerance_ms(case);
    let data = flow(&found, 0);
    let acks = flow(&found, 1);
    let mut of_case = faults(data, &truth.data, ends(&truth.data, &truth.acks), tolerance);
    let of_acks = faults(acks, &truth.acks, ends(&truth.acks, &truth.data), tolerance);
    of_case.extend(of_acks.into_iter().map(|fault| format!("acks, {fault}")));
    let clocks = found.clocks;
    if (clocks.skew_ppm - far.skew_ppm).abs() > 5.0 {
        of_case.push(format!("skew {} ppm", clocks.skew_ppm));
    }
    let offset = far.offset_ms as f64 - clocks.offset_ms;
    if offset.abs() > clocks.uncertainty_ms.expect("both directions") {
        of_case.push(format!("offset off by {offset} ms: {clocks:?}"));
    }
    let nat = (data.arrives_from != data.from, acks.arrives_to != acks.to);
    if nat != (far.is_behind_nat, far.is_behind_nat) || found.flows.len() != 2 {
        of_case.push(format!("addresses {data:?}"));
    }
    of_case
}

/// The clock at the receiver is off by the same as that at the sender, ahead and fast, or behind and slow; the
/// receiver sees the sender's address, or that of a NAT.
const FARS: [Far; 4] = [
    NEAR,
    Far { offset_ms: 3_456, skew_ppm: 50.0, is_behind_nat: false },
    Far { offset_ms: -98_765, skew_ppm: -50.0, is_behind_nat: false },
    Far { offset_ms: 700, skew_ppm: 50.0, is_behind_nat: true },
];

#[test]
fn captures_at_both_ends_show_the_true_loss_lateness_and_delays() {
    check(&FARS, true);
}

/// Without timestamps, the captures do not show which of two transmissions arrived, but they show how many.
#[test]
fn losses_are_exact_without_timestamps_too() {
    check(&FARS[3..], false);
}

#[test]
fn captures_of_different_transfers_do_not_match() {
    let (near, _, _) = captured(&CASES[0], true);
    let mut other = Trace::new(1000);
    let source = Source::new(Box::new(Cursor::new(near.clone())), None).expect("a capture");
    read(source, |frame| {
        let packet = decode(frame).expect("TCP");
        let from = ([192, 0, 2, 77], packet.from.port()).into();
        let mut moved = Packet { from, ..packet };
        if let unruffled_capture::Transport::Tcp(segment) = &mut moved.transport {
            segment.seq = segment.seq.wrapping_add(1 << 30);
            segment.ack = segment.ack.map(|ack| ack.wrapping_add(3 << 29));
        }
        other.packet(&moved);
    })
    .expect("a capture");
    assert_eq!(match_traces(&trace(&near, NEAR), &other), None);
}
