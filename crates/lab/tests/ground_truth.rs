//! What the analysis of a capture says, against what happened: runs of the simulator, captured at
//! either end, over paths of all kinds.

mod paths;

use std::collections::{BTreeMap, HashMap};

use paths::{CASES, analysed, scenario};
use unruffled_capture::Direction;
use unruffled_lab::capture::Capture;
use unruffled_lab::run;
use unruffled_measure::{End, FlowId, Monitor, Passage};
use unruffled_tcp::{Segment, Variant};
use unruffled_units::{Duration, Instant};

/// What happened to each data segment.
#[derive(Default)]
struct Truth {
    sent: HashMap<u32, Vec<Instant>>,
    /// Arrivals, with how often the segment had been sent by then.
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

/// What an analysis should find.
struct Expected {
    late: f64,
    late_times: Vec<f64>,
    /// Retransmissions whose original arrived too, and how many of them lately.
    spurious: u64,
    unsettled: u64,
    lost: f64,
}

impl Truth {
    fn expected(&self) -> Expected {
        let since_sent = |&(seq, at, _): &(u32, Instant, usize)| at.since(self.sent[&seq][0]);
        let least = self.arrived.iter().map(since_sent).min().unwrap_or_default();
        // The originals in the order of their arrival: those that came sooner than a retransmission
        // could have, and of the others the last to come.
        let mut by_segment: BTreeMap<u32, Vec<(Instant, usize)>> = BTreeMap::new();
        for &(seq, at, times) in &self.arrived {
            by_segment.entry(seq).or_default().push((at, times));
        }
        // What was sent in the last second may be on its way yet.
        let done = |sent: &&Vec<Instant>| self.end.since(sent[0]) > Duration::from_secs(1);
        let sends: usize = self.sent.values().filter(done).map(Vec::len).sum();
        let (mut originals, mut arrived, mut spurious, mut unsettled) = (Vec::new(), 0, 0, 0);
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
            let lately =
                |&&(at, _): &&(Instant, usize)| self.end.since(at) < Duration::from_secs(1);
            unsettled += arrivals.iter().skip(1).filter(lately).count() as u64;
        }
        originals.sort_unstable();
        let mut highest: Vec<(u32, Instant)> = Vec::new();
        let mut late_times = Vec::new();
        for &(at, seq) in &originals {
            match highest.last() {
                Some(&(top, _)) if seq < top => {
                    let overtaken = highest.partition_point(|&(top, _)| top < seq);
                    late_times.push(at.since(highest[overtaken].1).as_millis_f64());
                }
                _ => highest.push((seq, at)),
            }
        }
        late_times.sort_unstable_by(f64::total_cmp);
        Expected {
            late: late_times.len() as f64 / originals.len() as f64,
            late_times,
            spurious,
            unsettled,
            lost: (sends - arrived) as f64,
        }
    }
}

/// What differs by more than it may.
fn faults(expected: &Expected, found: &Direction, place: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |what: &str, truth: f64, found: f64, share: f64, least: f64| {
        if (found - truth).abs() > (share * truth).max(least) {
            faults.push(format!("{place}: {what}: {truth:.4}, found {found:.4}"));
        }
    };
    let late = found.reordering();
    check("late", expected.late, late.ratio, 0.05, 0.001);
    let spurious = found.retransmissions.spurious as f64;
    check("spurious", expected.spurious as f64, spurious, 0.0, expected.unsettled as f64);
    check("lost", expected.lost, found.losses.lost as f64, 0.1, 3.0);
    if let (Some(times), 100..) = (&late.late_time, expected.late_times.len()) {
        let truth = |p: usize| expected.late_times[(expected.late_times.len() - 1) * p / 100];
        for p in [10, 25, 50, 75, 90] {
            check(&format!("p{p} (ms)"), truth(p), times.percentiles_ms[p], 0.05, 0.05);
        }
    }
    if expected.late_times.is_empty() && late.reordered > 0 {
        faults.push(format!("{place}: {} late where all is in order", late.reordered));
    }
    faults
}

#[test]
fn an_analysis_says_what_happened_at_both_ends_of_twenty_paths() {
    let mut faults_of_all = Vec::new();
    for (case, timestamps) in CASES.iter().flat_map(|case| [(case, false), (case, true)]) {
        let scenario = scenario(case, timestamps);
        let variant = Variant::parse(case.sender).unwrap();
        let (mut near, mut far) = (Vec::new(), Vec::new());
        let captures = (
            Capture::at(End::Sender, &mut near).unwrap(),
            Capture::at(End::Receiver, &mut far).unwrap(),
        );
        let monitors = (Truth::default(), captures);
        let (_, (truth, captures)) = run::run(&scenario, &variant, 1, monitors).unwrap();
        captures.0.finish().unwrap();
        captures.1.finish().unwrap();
        let expected = truth.expected();
        let name = format!("{}{}", case.name, if timestamps { ", timestamps" } else { "" });
        println!(
            "{name}: {:.2} % late, {} spurious, {} lost",
            expected.late * 100.0,
            expected.spurious,
            expected.lost
        );
        // At the receiver, nothing but timestamps tells when a packet was sent.
        let ends = [("sender", near), ("receiver", far)];
        for (place, capture) in ends.into_iter().take(1 + usize::from(timestamps)) {
            let found = analysed(capture);
            println!(
                "  {place}: {:.2} % late, {} spurious, {} lost",
                found.reordering().ratio * 100.0,
                found.retransmissions.spurious,
                found.losses.lost
            );
            let faults = faults(&expected, &found, place);
            faults_of_all.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
        }
    }
    assert!(faults_of_all.is_empty(), "{}", faults_of_all.join("\n"));
}
