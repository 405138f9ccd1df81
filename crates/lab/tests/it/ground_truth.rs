//! Comparison of the analysis of a capture with the ground truth: simulator runs over paths of all
//! kinds, captured at both ends.

use std::collections::{BTreeMap, HashMap};

use super::expected::{Expected, faults_of_captures, late_times};
use super::one_link::scenario;
use super::paths::{CASES, analysed};
use unruffled_lab::cancel::never;
use unruffled_lab::capture::Capture;
use unruffled_lab::run;
use unruffled_measure::{End, FlowId, Monitor, Passage};
use unruffled_tcp::{Segment, Variant};
use unruffled_units::{Duration, Instant};

/// The ground truth: the transmissions and arrivals of each data segment.
#[derive(Default)]
struct Truth {
    sent: HashMap<u32, Vec<Instant>>,
    /// The arrivals: sequence number, time, and number of transmissions by then.
    arrived: Vec<(u32, Instant, usize)>,
    end: Instant,
}

impl Monitor for Truth {
    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        if flow != FlowId(0) || segment.len == 0 {
            return;
        }
        self.end = now;
        match (end, way) {
            (End::Sender, Passage::Out) => self.sent.entry(segment.seq.0).or_default().push(now),
            (End::Receiver, Passage::In) => {
                let times = self.sent.get(&segment.seq.0).map_or(0, Vec::len);
                self.arrived.push((segment.seq.0, now, times));
            }
            _ => {}
        }
    }
}

impl Truth {
    fn expected(&self) -> Expected {
        let since_sent = |&(seq, at, _): &(u32, Instant, usize)| at.since(self.sent[&seq][0]);
        let least = self.arrived.iter().map(since_sent).min().unwrap_or_default();
        // The arrivals of originals. An arrival is the original if a retransmission could not have
        // arrived so early. Otherwise the last arrival is the original, if all copies arrived.
        let mut by_segment: BTreeMap<u32, Vec<(Instant, usize)>> = BTreeMap::new();
        for &(seq, at, times) in &self.arrived {
            by_segment.entry(seq).or_default().push((at, times));
        }
        // Segments of the last second may still be in flight.
        let done = |sent: &&Vec<Instant>| self.end.since(sent[0]) > Duration::from_secs(1);
        let sends: usize = self.sent.values().filter(done).map(Vec::len).sum();
        let mut originals = Vec::new();
        let mut arrived = 0;
        let mut spurious = 0;
        let mut unreported = 0;
        for (seq, arrivals) in &by_segment {
            let sent = &self.sent[seq];
            arrived += if done(&sent) { arrivals.len() } else { 0 };
            let first = arrivals[0];
            let original = if first.1 == 1 || first.0 < sent[1] + least {
                Some(first.0)
            } else {
                (arrivals.len() == sent.len()).then(|| arrivals[arrivals.len() - 1].0)
            };
            originals.extend(original.map(|at| (at, *seq)));
            spurious += arrivals.len() as u64 - 1;
            let recent =
                |&&(at, _): &&(Instant, usize)| self.end.since(at) < Duration::from_secs(1);
            unreported += arrivals.iter().skip(1).filter(recent).count() as u64;
        }
        let late_times = late_times(&mut originals);
        Expected {
            late: late_times.len() as f64 / originals.len() as f64,
            late_times,
            blur_ms: 0.05,
            spurious,
            unreported,
            in_flight: 0,
            discarded: 0,
            unclear: 0,
            lost: (sends - arrived) as f64,
            latest: 0,
        }
    }
}

#[test]
fn the_analysis_agrees_with_the_ground_truth_at_both_ends_of_twenty_paths() {
    let mut faults_of_all = Vec::new();
    for (case, timestamps) in CASES.iter().flat_map(|case| [(case, false), (case, true)]) {
        let scenario = scenario(case, timestamps);
        let variant = Variant::parse(case.sender).unwrap();
        let mut near = Vec::new();
        let mut far = Vec::new();
        let mut captures = (
            Capture::at(End::Sender, &mut near).unwrap(),
            Capture::at(End::Receiver, &mut far).unwrap(),
        );
        let mut truth = Truth::default();
        run::run(&scenario, &variant, 1, Some(&mut (&mut truth, &mut captures)), never()).unwrap();
        captures.0.finish().unwrap();
        captures.1.finish().unwrap();
        let expected = truth.expected();
        let name = format!("{}{}", case.name, if timestamps { ", timestamps" } else { "" });
        // At the receiver, only timestamps show when a packet was sent.
        let far = timestamps.then(|| analysed(far));
        let ends = [("sender", Some(analysed(near))), ("receiver", far)];
        faults_of_all.extend(faults_of_captures(&name, &expected, ends));
    }
    assert!(faults_of_all.is_empty(), "{}", faults_of_all.join("\n"));
}
